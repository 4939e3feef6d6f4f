//! The `headlight` command.

mod arguments;
mod browser;
mod cli;
mod commands;
mod printing;
mod terminal;

use std::process::ExitCode;

use clap::CommandFactory;
use headlight_trainer::notes;
use headlight_trainer::sessions::signals::survive_size_limit;

use cli::Cli;
use printing::{complain, note, set_verbosity};

fn main() -> ExitCode {
    survive_size_limit();
    let cli = cli::parse();
    set_verbosity(cli.verbosity());
    notes::pass_on(note);
    match cli.command.run(Cli::command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}
