//! `headlight init`: writes a built-in config to a file.

use std::fmt::Write;
use std::path::Path;

use headlight_trainer::Failure;
use headlight_trainer::built_in::{self, CONFIGS};
use headlight_trainer::outputs::Output;
use headlight_trainer::printing::print;
use headlight_trainer::standard::shown;

use crate::cli::InitArguments;

/// Writes the config as `NAME.toml` into the current folder, or lists all.
///
/// # Errors
/// When the name is unknown, or the file exists or cannot be written.
pub(crate) fn run(arguments: &InitArguments) -> Result<(), Failure> {
    if arguments.list {
        return print(&list());
    }
    let config = built_in::config(&arguments.name)?;
    let name = Path::new(config.name).file_name().unwrap_or_default();
    let path = Path::new(name).with_extension("toml");
    Output::new(&path, &[], arguments.output.force)?.write_all(config.content.as_bytes())?;
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
