//! The `headlight` command.

mod browser;
mod cli;
mod commands;
mod terminal;

use std::process::ExitCode;

use headlight_trainer::printing::{complain, set_verbosity};
use headlight_trainer::signals::survive_size_limit;

use cli::Command;

fn main() -> ExitCode {
    survive_size_limit();
    let cli = cli::parse();
    set_verbosity(cli.verbosity());
    let result = match cli.command {
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Train(arguments) => commands::train::run(&arguments),
        Command::Data(arguments) => commands::data::run(&arguments),
        Command::Predict(arguments) => commands::predict::run(&arguments),
        Command::Evaluate(arguments) => commands::evaluate::run(&arguments),
        Command::Embed(arguments) => commands::embed::run(&arguments),
        Command::Dump(arguments) => commands::dump::run(&arguments),
        Command::Inspect(arguments) => commands::inspect::run(&arguments),
        Command::Lab(arguments) => commands::lab::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Sweep(arguments) => commands::sweep::run(&arguments),
        Command::Merge(arguments) => commands::merge::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Walkthrough(arguments) => commands::walkthrough::run(&arguments),
        Command::Devices(arguments) => commands::devices::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Man(arguments) => commands::man::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&format!("error: {failure}"));
            ExitCode::from(failure.exit_code())
        }
    }
}
