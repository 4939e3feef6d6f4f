//! The commands of all shards, one per line: for GNU parallel, xargs, or a script over hosts.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::Path;

use headlight_trainer::Failure;
use headlight_trainer::storage::standard::shown;

use crate::shard::Shard;

/// The flags of the listing command that are removed; the command of a shard gets its own `--out`.
const REPLACED: [&str; 2] = ["--shards", "--out"];

/// Turns `arguments`, the command line of `sweep --shards N --list --out FILE`, into the command of each
/// shard.
///
/// All other arguments are kept, and quoted for a shell if necessary.
///
/// # Errors
/// When an argument is not valid Unicode or holds a control character, so that no line of text can hold it.
pub fn commands(
    arguments: impl IntoIterator<Item = OsString>,
    count: NonZeroUsize,
    out: &Path,
) -> Result<Vec<String>, Failure> {
    let mut kept = Vec::new();
    // Arguments after `--` are not flags.
    let mut after = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let text = unicode(&argument)?;
        if text == "--" {
            after.push(text);
            for argument in arguments.by_ref() {
                after.push(unicode(&argument)?);
            }
        } else if REPLACED.contains(&text.as_str()) {
            arguments.next();
        } else if text != "--list" && !REPLACED.iter().any(|flag| assigns(&text, flag)) {
            kept.push(text);
        }
    }
    Shard::all(count)
        .map(|shard| {
            let mut file = unicode(shard.file(out).as_os_str())?;
            if file.starts_with('-') {
                // It is not a flag.
                file.insert_str(0, "./");
            }
            let flags = [
                "--shard".to_owned(),
                shard.to_string(),
                "--out".to_owned(),
                file,
            ];
            let words = kept.iter().chain(&flags).chain(&after);
            shlex::try_join(words.map(String::as_str))
                .map_err(|error| Failure::Input(format!("an argument cannot be quoted: {error}")))
        })
        .collect()
}

/// Whether `text` is `FLAG=VALUE` for this flag.
fn assigns(text: &str, flag: &str) -> bool {
    text.strip_prefix(flag)
        .is_some_and(|rest| rest.starts_with('='))
}

fn unicode(text: &OsStr) -> Result<String, Failure> {
    let listed = text
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    listed.map(str::to_owned).ok_or_else(|| {
        Failure::Input(format!(
            "`{}` is not valid Unicode or holds a control character, and cannot be listed; rename the file",
            shown(Path::new(text))
        ))
    })
}
