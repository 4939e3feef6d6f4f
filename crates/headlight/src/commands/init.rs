//! `headlight init`: writes a built-in config, with the sentence of each key, or a walkthrough to a file.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use headlight_experiment::config::with_comments;
use headlight_trainer::files::built_in::{self, CONFIGS};
use headlight_trainer::files::config;
use headlight_trainer::{DatasetFiles, Destination, Failure, Output, shell_path, shown};

use crate::arguments::{ColumnArguments, Force, data_stem};
use crate::printing::{note, print};

/// Write a built-in config or walkthrough to a file in the current folder, for you to edit
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight init token_anywhere")]
pub(crate) struct Arguments {
    /// A built-in config, a walkthrough, or a data file, for which Headlight makes a config
    #[arg(value_name = "NAME|FILE", default_value = built_in::DEFAULT)]
    name: PathBuf,
    #[command(flatten)]
    columns: ColumnArguments,
    /// List the built-in configs with a sentence about each
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// The file to write [default: the name with .toml]
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    out: Option<Destination>,
    #[command(flatten)]
    output: Force,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.list {
        return print(&list());
    }
    let (name, text, use_it) = if let Some(stem) = data_stem(&arguments.name) {
        let columns = arguments.columns.changes();
        let columns = columns.iter().map(String::as_str);
        let (text, choice) = config::text_of(&arguments.name, columns, &DatasetFiles::default())?;
        let choice = choice.unwrap_or_default();
        note(&format!("{}: {choice}", shown(&arguments.name)));
        (stem, with_comments(&text), TRAIN)
    } else if let Some(Ok(found)) = arguments.name.to_str().map(headlight_walkthrough::built_in) {
        let use_it = "to compute it: headlight walkthrough";
        (found.name.to_owned(), found.text.to_owned(), use_it)
    } else {
        let config = built_in::config(&arguments.name).map_err(|failure| {
            match arguments.name.extension() {
                Some(ending) if ending == "toml" => Failure::Input(format!(
                    "{failure}; to write the notebook's config there: headlight init --out {}",
                    shell_path(&arguments.name)
                )),
                _ => failure,
            }
        })?;
        let name = Path::new(config.name).file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        (name, with_comments(config.content), TRAIN)
    };
    let default = Destination::from(PathBuf::from(name + ".toml"));
    let path = arguments.out.as_ref().unwrap_or(&default);
    let out = Output::new(path, arguments.output.force)?;
    out.write_all(text.as_bytes())?;
    if out.is_standard() {
        return Ok(());
    }
    let path = shell_path(out.path());
    print(&format!("wrote {}; {use_it} {path}\n", out.display_name()))
}

/// What a written config is for.
const TRAIN: &str = "to train with it: headlight train";

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
