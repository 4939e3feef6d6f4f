//! `headlight man`: manual pages, from the same source as `--help`.

use clap::Args;
use headlight_trainer::Failure;

use crate::printing::print;

/// Print the manual page of headlight or of a command, as roff
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight man train | man -l -")]
pub(crate) struct Arguments {
    /// The command [default: headlight itself]
    command: Option<String>,
}

pub(super) fn run(arguments: &Arguments, program: clap::Command) -> Result<(), Failure> {
    let mut command = program;
    command.build();
    if let Some(name) = &arguments.command {
        let found = command.find_subcommand(name).cloned();
        command = found.ok_or_else(|| {
            Failure::Input(format!(
                "there is no command `{name}`; `headlight --help` lists all"
            ))
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Failure::System(format!("the manual page cannot be made: {error}")))?;
    print(&String::from_utf8_lossy(&page))
}
