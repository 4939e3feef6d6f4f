//! `--force` replaces no input: every pair of an input and an output of each command, from the description of the
//! command line. A new option is covered without an edit; a new kind of input says in `values` what it reads.
#![cfg(all(unix, feature = "burn"))]
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::common::{contents, folder, run_in};
use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use headlight::is_output;

/// A value of an argument.
struct Value {
    text: &'static str,
    /// The files that a command with this value reads, or that such a file names.
    reads: &'static [&'static str],
    /// Arguments that do not fit, or that it needs.
    without: &'static [&'static str],
    with: &'static [&'static str],
}

const fn value(text: &'static str, reads: &'static [&'static str]) -> Value {
    Value {
        text,
        reads,
        without: &[],
        with: &[],
    }
}

const CONFIG: Value = value("mine.toml", &["mine.toml", "samples.csv"]);
const DATA: Value = value("data.csv", &["data.csv"]);
const RUN: Value = Value {
    without: &["config"],
    ..value(
        "run",
        &["run/config.toml", "run/model.safetensors", "samples.csv"],
    )
};
const RESULTS: Value = value("seeds.jsonl", &["seeds.jsonl"]);
const DUMP: Value = Value {
    without: &["sweep"],
    ..value("own.npz", &["own.npz"])
};
const ENSEMBLE: Value = Value {
    without: &["weights"],
    with: &["config"],
    ..RESULTS
};

const PATCH: Value = Value {
    without: &["config", "explain"],
    ..value("embeddings:1=one.npz", &["one.npz"])
};

/// What an argument can be, by its name.
fn values(id: &str) -> &'static [Value] {
    match id {
        "config" => const { &[CONFIG, DATA] },
        "run" => const { &[RUN, ENSEMBLE] },
        "name" | "file" | "data" => const { &[DATA] },
        "tokens" => const { &[value("tokens.csv", &["tokens.csv"])] },
        "weights" => const { &[value("own.safetensors", &["own.safetensors"])] },
        "source" => const { &[RUN, DUMP] },
        "others" => const { &[DUMP] },
        "sweep" => const { &[RESULTS] },
        "results" => {
            const {
                &[value(
                    "seeds.jsonl",
                    &["seeds.jsonl", "seeds.config.toml", "samples.csv"],
                )]
            }
        }
        "patch" => const { &[PATCH] },
        "walkthrough" => const { &[value("walk.toml", &["walk.toml"])] },
        "words" => const { &[value("1", &[])] },
        "seeds" => const { &[value("0..2", &[])] },
        _ => panic!("say here what the argument `{id}` reads"),
    }
}

/// Whether an argument names a file that is read.
fn is_input(argument: &Arg) -> bool {
    let is_path = argument.get_value_parser().type_id() == ValueParser::path_buf().type_id();
    let names = argument.get_value_names().unwrap_or_default();
    !is_output(argument) && (is_path || names.iter().any(|name| name.contains("FILE")))
}

/// A call: the values of arguments, by name. That of an output has no name of a file yet.
type Call = BTreeMap<String, &'static Value>;

const OUTPUT: Value = value("new", &[]);
const FLAG: Value = value("", &[]);

/// The arguments of a call, with the name of its output.
fn line(command: &Command, call: &Call, output: &str) -> Vec<String> {
    let mut line = vec![command.get_name().to_owned()];
    let given = |argument: &Arg| call.get(argument.get_id().as_str()).copied();
    let of_output = |argument: &Arg, value: &Value| {
        let text = if is_output(argument) {
            output
        } else {
            value.text
        };
        text.to_owned()
    };
    for argument in command.get_positionals() {
        line.extend(given(argument).map(|value| of_output(argument, value)));
    }
    for argument in command.get_opts() {
        if let Some(value) = given(argument) {
            line.push(format!("--{}", argument.get_long().unwrap()));
            let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
            line.extend((!is_flag).then(|| of_output(argument, value)));
        }
    }
    line
}

/// Adds an argument to a call, with the first value that fits.
fn with(call: &Call, argument: &Arg) -> Option<Call> {
    let id = argument.get_id().as_str();
    let fits = |value: &&Value| !value.without.iter().any(|&other| call.contains_key(other));
    let value = match argument.get_action() {
        ArgAction::SetTrue => &FLAG,
        _ => values(id).iter().find(fits)?,
    };
    let is_unwanted = call.values().any(|value| value.without.contains(&id));
    let mut call = call.clone();
    call.insert(id.to_owned(), value);
    (!is_unwanted).then_some(call)
}

/// The call with an output, a value of an input, and all other inputs that fit; `None` if these two do not.
fn call(command: &Command, output: &Arg, input: &Arg, chosen: &'static Value) -> Option<Call> {
    let program = headlight::command();
    let problem = |call: &Call| {
        let line = line(command, call, OUTPUT.text).into_iter();
        let line = ["headlight".to_owned()].into_iter().chain(line);
        program.clone().try_get_matches_from(line).err()
    };
    let mut call = Call::from([
        (output.get_id().to_string(), &OUTPUT),
        (input.get_id().to_string(), chosen),
    ]);
    let arguments = || {
        command
            .get_arguments()
            .filter(|argument| !is_output(argument))
    };
    let is_needed = |argument: &&Arg| {
        let id = argument.get_id().as_str();
        let is_wanted = argument.is_required_set() || chosen.with.contains(&id);
        is_wanted && id != input.get_id()
    };
    for needed in arguments().filter(is_needed) {
        call = with(&call, needed)?;
    }
    while let Some(error) = problem(&call) {
        let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
            return None;
        };
        if error.kind() != ErrorKind::MissingRequiredArgument {
            return None;
        }
        let is_missing = |argument: &&Arg| {
            let shown = argument.to_string();
            missing.iter().any(|missing| missing.contains(&shown))
        };
        let is_new = |other: &&Arg| !call.contains_key(other.get_id().as_str());
        call = with(&call, arguments().filter(is_new).find(is_missing)?)?;
    }
    for other in arguments().filter(|other| is_input(other)) {
        let more = with(&call, other).filter(|_| !call.contains_key(other.get_id().as_str()));
        call = more.filter(|more| problem(more).is_none()).unwrap_or(call);
    }
    Some(call)
}

fn prepare(folder: &Path) {
    let samples = "label,token_0,token_1\n".to_owned() + &"0,3,1\n1,5,2\n".repeat(12);
    for name in ["samples.csv", "data.csv", "tokens.csv"] {
        fs::write(folder.join(name), &samples).unwrap();
    }
    symlink("samples.csv", folder.join("named.csv")).unwrap();
    let config = "data.file = \"named.csv\"\nmodel.d_model = 4\ntraining.epochs = 1\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let done = |arguments: &[&str]| run_in(folder, arguments).done();
    done(&["train", "mine.toml", "--run", "run"]);
    done(&[
        "sweep",
        "mine.toml",
        "--seeds",
        "0..2",
        "--out",
        "seeds.jsonl",
    ]);
    done(&["init", "she-did-not", "--out", "walk.toml"]);
    let dump = fs::read_dir(folder.join("run/attention")).unwrap().next();
    fs::copy(dump.unwrap().unwrap().path(), folder.join("own.npz")).unwrap();
    fs::copy(
        folder.join("run/model.safetensors"),
        folder.join("own.safetensors"),
    )
    .unwrap();
    fs::write(folder.join("one.txt"), "3 1\n").unwrap();
    let dump = ["dump", "mine.toml", "--weights", "own.safetensors"];
    done(&[&dump[..], &["--tokens", "one.txt", "--out", "one.npz"]].concat());
}

/// Removes what a call has written beside the files that were there before.
fn remove_new(folder: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let new: Vec<PathBuf> = entries.filter(|path| !before.contains_key(path)).collect();
    for path in &new {
        fs::remove_file(path).unwrap();
    }
    new
}

#[test]
fn force_replaces_no_input() {
    let folder = folder("force");
    prepare(&folder);
    let before = contents(&folder);
    let (mut lines, mut pairs) = (BTreeSet::new(), 0);
    let mut program = headlight::command();
    program.build();
    for command in program.get_subcommands() {
        let arguments = || command.get_arguments();
        for output in arguments().filter(|argument| is_output(argument)) {
            for input in arguments().filter(|argument| is_input(argument)) {
                let chosen = values(input.get_id().as_str()).iter();
                let calls = chosen.filter_map(|value| call(command, output, input, value));
                let mut failed = Some(Vec::new());
                let mut are_possible = false;
                for call in calls {
                    are_possible = true;
                    if !lines.insert(line(command, &call, output.get_id().as_str())) {
                        failed = None;
                        continue;
                    }
                    match try_pairs(&folder, &before, (command, output), &call) {
                        Ok(tried) => (pairs, failed) = (pairs + tried, None),
                        Err(message) => failed.iter_mut().for_each(|all| all.push(message.clone())),
                    }
                }
                let name = command.get_name();
                assert!(
                    !are_possible || failed.is_none(),
                    "{name} {output} {input}: {failed:?}"
                );
            }
        }
    }
    assert!(pairs > 80, "{pairs}");
}

/// Tries a call with each file that it writes as a link to each file that it reads; returns their number, or why no
/// such call works.
fn try_pairs(
    folder: &Path,
    before: &BTreeMap<PathBuf, Vec<u8>>,
    (command, output): (&Command, &Arg),
    call: &Call,
) -> Result<usize, String> {
    let mut message = String::new();
    // The first ending that the output may have.
    let working = [output.get_id().as_str(), "csv", "jsonl"]
        .into_iter()
        .find_map(|ending| {
            let name = format!("new.{ending}");
            let line = line(command, call, &name);
            let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
            let finished = run_in(folder, &arguments);
            message = format!("{line:?}: {}", finished.stderr);
            let written = remove_new(folder, before);
            (finished.code == Some(0) && !written.is_empty()).then_some((line, name, written))
        });
    let (mut line, name, written) = working.ok_or(message)?;
    line.push("--force".to_owned());
    let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
    let reads: BTreeSet<&str> = call
        .values()
        .flat_map(|value| value.reads)
        .copied()
        .collect();
    for place in &written {
        for input in &reads {
            symlink(input, place).unwrap();
            let finished = run_in(folder, &arguments);
            remove_new(folder, before);
            let now = contents(folder);
            let is_same = |(path, bytes): (&PathBuf, &Vec<u8>)| now.get(path) == Some(bytes);
            let what = format!("{line:?}, {} is {input}", place.display());
            assert!(before.iter().all(is_same), "{what}: {}", finished.stderr);
            // What stands beside an output need not be written.
            let is_beside = !place.ends_with(&name);
            let is_refused = finished.code == Some(2) || is_beside && finished.code == Some(0);
            assert!(
                is_refused,
                "{what}: {:?} {}",
                finished.code, finished.stderr
            );
        }
    }
    Ok(written.len() * reads.len())
}
