//! The `headlight` command.

mod arguments;
mod browser;
mod cli;
mod commands;
mod terminal;

use std::process::ExitCode;

use clap::CommandFactory;
use headlight_trainer::printing::{complain, set_verbosity};
use headlight_trainer::signals::survive_size_limit;

use cli::Cli;

fn main() -> ExitCode {
    survive_size_limit();
    let cli = cli::parse();
    set_verbosity(cli.verbosity());
    match cli.command.run(Cli::command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}
