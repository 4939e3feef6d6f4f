//! `headlight completions`: what a shell completes after `headlight`.

use clap::CommandFactory;
use headlight_trainer::Failure;
use headlight_trainer::printing::print;

use crate::cli::{Cli, CompletionsArguments};

/// Prints the completions of a shell.
///
/// # Errors
/// When standard output cannot be written to.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        "headlight",
        &mut script,
    );
    print(&String::from_utf8_lossy(&script))
}
