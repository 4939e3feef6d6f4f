//! The files that a command reads: no output may take the place of one, not even with `--force`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};
use headlight_input::TEXT_LIMIT;
use headlight_sweep::config_beside;
use headlight_trainer::files::access::read_text;
use headlight_trainer::files::outputs::target;
use headlight_trainer::{Failure, STANDARD, shown};
use toml::{Table, Value};

use crate::arguments::is_output;

/// Checks the outputs of a command line before the command runs.
pub(crate) fn check_outputs(program: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(());
    };
    let command = program.find_subcommand(name);
    let arguments = command.into_iter().flat_map(Command::get_arguments);
    let (outputs, others): (Vec<&Arg>, Vec<&Arg>) = arguments.partition(|arg| is_output(arg));
    let values = |argument: &Arg| {
        let values = matches.try_get_raw(argument.get_id().as_str());
        values.ok().flatten().into_iter().flatten().map(Path::new)
    };
    let outputs: Vec<&Path> = outputs.into_iter().flat_map(values).collect();
    if outputs.is_empty() {
        return Ok(());
    }
    let mut inputs = BTreeSet::new();
    for value in others.into_iter().flat_map(values) {
        // Some arguments hold a file after a name: `--set data.file=FILE`.
        let text = value.to_str().unwrap_or_default();
        let after = text.rsplit_once('=').map(|(_, file)| Path::new(file));
        for path in [Some(value), after].into_iter().flatten() {
            inputs.extend(files_of(path).iter().map(|path| target(path)));
        }
    }
    let mut named = BTreeSet::new();
    let (standard, files): (Vec<&Path>, Vec<&Path>) = outputs
        .into_iter()
        .partition(|path| *path == Path::new(STANDARD));
    if standard.len() > 1 {
        let message =
            "two outputs are `-`, but standard output holds one file; write the other to a file";
        return Err(Failure::Input(message.to_owned()));
    }
    for output in files {
        let reason = if inputs.contains(&target(output)) {
            "is an input of this command"
        } else if !named.insert(target(output)) {
            "is named twice"
        } else {
            continue;
        };
        return Err(Failure::Input(format!(
            "{} {reason}; choose another output file",
            shown(output)
        )));
    }
    Ok(())
}

/// The files that are read where a user names `path`: the file, and those that it names as a config, a run, or the results
/// of a sweep.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let config = if path.is_dir() {
        path.join("config.toml")
    } else if path.extension().is_some_and(|ending| ending == "jsonl") {
        config_beside(path)
    } else {
        path.to_owned()
    };
    let is_config = config.extension().is_some_and(|ending| ending == "toml");
    let text = is_config.then(|| read_text(&config, TEXT_LIMIT).unwrap_or_default());
    let table: Table = text.unwrap_or_default().parse().unwrap_or_default();
    let mut files = vec![path.to_owned(), config];
    let tests = table.get("tests").and_then(Value::as_array);
    let sections = tests.into_iter().flatten().chain(table.get("data"));
    let named = sections.filter_map(|section| section.get("file"));
    let named = named.filter_map(Value::as_str);
    files.extend(named.map(PathBuf::from));
    files
}
