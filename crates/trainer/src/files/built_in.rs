//! The configs that are part of Headlight.

use std::path::{Path, PathBuf};

use headlight_input::TEXT_LIMIT;
use headlight_input::toml_message::nearest;

use crate::files::access::read_text;
use crate::{Failure, STANDARD, option, shown};

/// The config that a command uses if none is named.
pub const DEFAULT: &str = "notebook";

/// A file of the repository, compiled in.
#[derive(Debug)]
pub struct BuiltInConfig {
    /// The path below `configs` without its ending.
    pub name: &'static str,
    /// Its content.
    pub content: &'static str,
}

macro_rules! configs {
    ($($name:literal)*) => {
        [$(BuiltInConfig {
            name: $name,
            content: include_str!(concat!("../../../../configs/", $name, ".toml")),
        }),*]
    };
}

/// The configs that run without a file of their own.
pub static CONFIGS: [BuiltInConfig; 16] = configs!(
    "notebook"
    "quick"
    "token_anywhere"
    "token_before_token"
    "equal_positions"
    "count"
    "grokking"
    "negation"
    "pronoun"
    "bank"
    "apple"
    "sentiment"
    "names"
    "claims/causal_mask"
    "claims/scaling"
    "claims/without_positions"
);

/// The names of the configs of data files. None is chosen by its name, since both need a file.
const FILE_CONFIGS: [&str; 2] = ["texts", "samples"];

/// The data file that is part of Headlight, as a config names it.
const NAMES_FILE: &str = "built-in:names.txt";

/// The content of a data file that is part of Headlight; `None` if a path names another one.
pub(crate) fn data_file(path: &Path) -> Option<&'static [u8]> {
    (path == Path::new(NAMES_FILE)).then_some(include_bytes!("../../../../data/names.txt"))
}

/// Finds a built-in config by name.
///
/// # Errors
/// When there is none; the message names the most similar one.
pub fn config(name: &Path) -> Result<&'static BuiltInConfig, Failure> {
    let found = CONFIGS.iter().find(|config| name == Path::new(config.name));
    found.ok_or_else(|| {
        if FILE_CONFIGS.iter().any(|known| name == Path::new(known)) {
            return Failure::Input(format!(
                "`{}` is the config for data files; name the data file instead, such as `{}`",
                shown(name),
                option("headlight train reviews.csv", "hl.train(\"reviews.csv\")")
            ));
        }
        let name = name.display().to_string();
        let near = nearest(&name, CONFIGS.iter().map(|config| config.name));
        let list = option("headlight init --list", "hl.configs()");
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`{list}` lists the built-in ones"),
        };
        Failure::Input(format!(
            "there is no file and no built-in config `{name}`; {remedy}"
        ))
    })
}

/// The text of the config that a user names: of a file, of a file without its ending `.toml`, or of a built-in config;
/// `-` is standard input.
pub(crate) fn config_text(name: &Path) -> Result<String, Failure> {
    if name.is_file() || name == Path::new(STANDARD) {
        return read_text(name, TEXT_LIMIT);
    }
    let mut with_ending = PathBuf::from(name).into_os_string();
    with_ending.push(".toml");
    if Path::new(&with_ending).is_file() {
        return read_text(Path::new(&with_ending), TEXT_LIMIT);
    }
    match config(name) {
        // A folder may have the name of a built-in config.
        Err(_) if name.is_dir() => {
            let config = name.join("config.toml");
            let reason = if config.is_file() {
                format!(
                    "it is a run directory; give its config instead: {}",
                    shown(&config)
                )
            } else {
                "it is a folder; name a config, a TOML file".to_owned()
            };
            Err(Failure::reading(name, reason))
        }
        // The message is about the file.
        Err(_) if name.exists() || name.extension().is_some() => read_text(name, TEXT_LIMIT),
        found => found.map(|config| config.content.to_owned()),
    }
}
