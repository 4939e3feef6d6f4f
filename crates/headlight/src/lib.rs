//! The `headlight` command. It is a library so that tests can read the description of its command line.

mod arguments;
mod browser;
mod cli;
mod commands;
mod inputs;
mod interventions;
mod model;
mod printing;
mod rows;
mod terminal;
mod training_display;

use std::process::ExitCode;

pub use arguments::is_output;
use clap::CommandFactory;
use headlight_trainer::messages::notes;
use headlight_trainer::training::signals::survive_size_limit;

use cli::Cli;
use inputs::check_outputs;
use printing::{complain, note, set_verbosity};

/// Runs the command of this process's arguments.
pub fn run() -> ExitCode {
    survive_size_limit();
    let (cli, matches) = cli::parse();
    set_verbosity(cli.verbosity());
    notes::set_listener(note);
    let checked = check_outputs(&command(), &matches);
    match checked.and_then(|()| cli.command.run(command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}

/// The description of the command line.
pub fn command() -> clap::Command {
    Cli::command()
}
