//! `headlight init`: writes a built-in config, with the sentence of each key, to a file.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::printing::{note, print};
use clap::Args;
use headlight_experiment::config::explained;
use headlight_trainer::Failure;
use headlight_trainer::storage::built_in::{self, CONFIGS};
use headlight_trainer::storage::data_file;
use headlight_trainer::storage::outputs::Output;
use headlight_trainer::storage::standard::shown;

use crate::arguments::{ColumnArguments, Force, data_stem};

/// Write a built-in config to a file in the current folder, for you to edit
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight init token_anywhere")]
pub(crate) struct Arguments {
    /// The built-in config; or a file of data, whose config is written
    #[arg(value_name = "NAME|FILE", default_value = built_in::DEFAULT)]
    name: PathBuf,
    #[command(flatten)]
    columns: ColumnArguments,
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
    let (name, content) = if let Some(stem) = data_stem(&arguments.name) {
        let columns = arguments.columns.named();
        let config = data_file::config(&arguments.name, &columns)?;
        note(&format!("{}: {}", shown(&arguments.name), config.choice));
        (stem.into_owned(), config.text)
    } else {
        let config = built_in::config(&arguments.name)?;
        let name = Path::new(config.name).file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        (name, config.content.to_owned())
    };
    let path = PathBuf::from(name + ".toml");
    Output::new(&path, &[], arguments.output.force)?.write_all(explained(&content).as_bytes())?;
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
