//! `headlight completions`: what a shell completes after `headlight`.

use clap::{Arg, Args, ValueHint};
use clap_complete::Shell;
use headlight_trainer::Failure;

use crate::arguments::is_output;
use crate::printing::print;

/// Print a script that completes commands and options in a shell
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight completions bash > ~/.local/share/bash-completion/completions/headlight"
)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments, program: clap::Command) -> Result<(), Failure> {
    // A shell completes outputs as files, too; clap knows that of `PathBuf` alone.
    let completed = |argument: Arg| {
        if is_output(&argument) {
            argument.value_hint(ValueHint::AnyPath)
        } else {
            argument
        }
    };
    let mut program = program.mut_subcommands(|command| command.mut_args(completed));
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "headlight", &mut script);
    print(&String::from_utf8_lossy(&script))
}
