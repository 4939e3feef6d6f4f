//! `headlight init`: writes a built-in config, with the sentence of each key, to a file.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::printing::print;
use clap::Args;
use headlight_experiment::config::explained;
use headlight_trainer::Failure;
use headlight_trainer::storage::built_in::{self, CONFIGS};
use headlight_trainer::storage::outputs::Output;
use headlight_trainer::storage::standard::shown;

use crate::arguments::Force;

/// Write a built-in config to a file in the current folder, for you to edit
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight init token_anywhere")]
pub(crate) struct Arguments {
    /// The built-in config
    #[arg(default_value = built_in::DEFAULT)]
    name: PathBuf,
    /// List the built-in configs with a sentence about each
    #[arg(long, conflicts_with = "name")]
    list: bool,
    #[command(flatten)]
    output: Force,
}

/// Writes the config as `NAME.toml` into the current folder, or lists all.
///
/// # Errors
/// When the name is unknown, or the file exists or cannot be written.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.list {
        return print(&list());
    }
    let config = built_in::config(&arguments.name)?;
    let name = Path::new(config.name).file_name().unwrap_or_default();
    let path = Path::new(name).with_extension("toml");
    Output::new(&path, &[], arguments.output.force)?
        .write_all(explained(config.content).as_bytes())?;
    let path = shown(&path);
    print(&format!(
        "wrote {path}; to train with it: headlight train {path}\n"
    ))
}

/// Each config with the first sentence of its comment.
fn list() -> String {
    CONFIGS.iter().fold(String::new(), |mut text, config| {
        let comment: Vec<&str> = config
            .content
            .lines()
            .map_while(|line| line.strip_prefix("# "))
            .collect();
        let comment = comment.join(" ");
        let end = comment
            .find(['.', '?'])
            .map_or(comment.len(), |end| end + 1);
        let _ = writeln!(text, "{:25} {}", config.name, &comment[..end]);
        text
    })
}
