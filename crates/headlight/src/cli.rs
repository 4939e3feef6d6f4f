//! The command line.

use std::borrow::Cow;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use headlight_experiment::config::toml;
use headlight_trainer::shortened;

use crate::commands::Command;
use crate::printing::{Verbosity, complain};

/// Reads the command line, also as clap matched it. Ends the program after `--help`, or with a message about a mistake.
pub(crate) fn parse() -> (Cli, ArgMatches) {
    let mut command = Cli::command();
    let matched = command.try_get_matches_from_mut(std::env::args_os());
    let parsed = matched.and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok((cli, matches))
    });
    parsed.unwrap_or_else(|mut error| {
        let (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) =
            (error.kind(), error.get(ContextKind::InvalidArg).cloned())
        else {
            end(&error)
        };
        // The tip to write `-- --epochs`: no command takes such a value.
        error.remove(ContextKind::Suggested);
        let name = unknown.trim_start_matches('-').replace('-', "_");
        let keys = toml::keys_of(&name);
        if !keys.is_empty() {
            error.remove(ContextKind::SuggestedArg);
            let _ = error.print();
            complain(&format!(
                "\n{unknown} is a key of the config; write --set {}=VALUE",
                keys.join("=VALUE or --set ")
            ));
            std::process::exit(error.exit_code());
        }
        end(&error)
    })
}

/// Prints the message of clap, and ends the program. A long message, which quotes an argument, is cut.
fn end(error: &clap::Error) -> ! {
    let message = error.render().to_string();
    match shortened(&message) {
        // Not a long `--help`.
        Cow::Owned(cut) if error.use_stderr() => complain(cut.trim_end()),
        _ => error.exit(),
    }
    std::process::exit(error.exit_code())
}

/// The heading in `--help` of what every command takes.
const EVERYWHERE: &str = "Options of every command";

/// Trains tiny transformer classifiers and shows where their attention looks.
#[derive(Debug, Parser)]
#[command(name = "headlight", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print only results and errors, without notes and progress
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = EVERYWHERE)]
    quiet: bool,
    /// Also print details, such as the engine and the time that the work took
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    verbose: bool,
    /// The command to run.
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// What the command prints besides its result.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Usual,
        }
    }
}
