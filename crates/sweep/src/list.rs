//! The commands of all shards, for whatever runs commands: GNU parallel, xargs, a list of hosts.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::Path;

use headlight_trainer::Failure;

use crate::shard::Shard;

/// The flags of the listing command that the commands of shards have none of, or another value of.
const REPLACED: [&str; 2] = ["--shards", "--out"];

/// What `arguments`, the command line of `sweep --shards N --list --out FILE`, is for each shard.
///
/// Whatever else stands there is kept as it is, quoted for a shell where it has to be.
///
/// # Errors
/// When an argument is not Unicode, and so has no line.
pub fn commands(
    arguments: impl IntoIterator<Item = OsString>,
    count: NonZeroUsize,
    out: &Path,
) -> Result<Vec<String>, Failure> {
    let mut kept = Vec::new();
    // What stands behind `--` is no flag.
    let mut behind = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let text = unicode(&argument)?;
        if text == "--" {
            behind.push(text);
            for argument in arguments.by_ref() {
                behind.push(unicode(&argument)?);
            }
        } else if REPLACED.contains(&text.as_str()) {
            arguments.next();
        } else if text != "--list" && !REPLACED.iter().any(|flag| gives(&text, flag)) {
            kept.push(text);
        }
    }
    Shard::all(count)
        .map(|shard| {
            let flags = [
                "--shard".to_owned(),
                shard.to_string(),
                "--out".to_owned(),
                unicode(shard.file(out).as_os_str())?,
            ];
            let words = kept.iter().chain(&flags).chain(&behind);
            shlex::try_join(words.map(String::as_str))
                .map_err(|error| Failure::Input(format!("an argument cannot be quoted: {error}")))
        })
        .collect()
}

/// Whether `text` is `FLAG=VALUE`.
fn gives(text: &str, flag: &str) -> bool {
    text.strip_prefix(flag)
        .is_some_and(|rest| rest.starts_with('='))
}

fn unicode(text: &OsStr) -> Result<String, Failure> {
    text.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::Input(format!(
            "`{}` is not Unicode, so no line can hold it; rename the file",
            text.display()
        ))
    })
}
