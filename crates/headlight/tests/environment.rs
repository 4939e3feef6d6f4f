//! Surroundings that are against a command: limits of the system, names of files, folders that cannot be read.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{
    Finished, QUICK, ended, folder, headlight, limited, refused, refuses_typed, run_in, text,
    typed, unprivileged,
};

/// TOML could not name the dataset of such a run.
#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_config_cannot_name_its_dataset_does_not_begin() {
    let folder = folder("not_unicode").join(OsStr::from_bytes(b"x\xff"));
    fs::create_dir(&folder).unwrap();
    typed(&folder, "data quick --out mine.csv").done();
    refuses_typed(
        &folder,
        "train mine.csv --run run",
        &["mine.csv", "Unicode"],
    );
    // Without a file to name, the folder's name does not matter.
    let train = format!("train {QUICK} --run run");
    typed(&folder, &train).done();
    typed(&folder, &format!("{train} --resume")).done();
}

/// Names that would colour a terminal, ring its bell, or start a line.
#[test]
fn names_do_not_steer_a_terminal() {
    const STEERING: &str = "x\u{1b}[31m\u{7}\ny\u{9b}1m";
    let folder = folder("steering");
    typed(&folder, "init quick").done();
    let config = folder.join(format!("{STEERING}.toml"));
    fs::rename(folder.join("quick.toml"), config).unwrap();
    let short = QUICK.trim_start_matches("quick");
    for line in [
        &format!("train @.toml --run @ {short}"),
        "train --resume --run @ --verbose",
        "data quick --out @.csv",
        "predict @ @.csv --out @-predicted.csv",
        "evaluate @ @.csv",
        "evaluate @ --svg @-evaluated.svg",
        "compare @ @",
        "inspect @",
        "inspect @ --svg @-heads.svg",
        "inspect @ --html @.html",
        &format!("sweep {QUICK} --seeds 0..2 --out @.jsonl"),
        "merge @.jsonl --out @-merged.jsonl",
        "report @.jsonl",
        "dump quick --weights @/model.safetensors --samples @.csv --out @.npz",
    ] {
        let words = line.split_whitespace();
        let words: Vec<String> = words.map(|word| word.replace('@', STEERING)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = run_in(&folder, &words).done();
        for text in [done.stdout, done.stderr] {
            let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(steers), "{line}: {text:?}");
            assert!(!text.contains("\ny"), "{line}: {text:?}");
        }
    }
    // The file itself is written as it is.
    let printed = run_in(&folder, &["inspect", STEERING, "--svg", "-"]).done();
    let svg = fs::read_to_string(folder.join(format!("{STEERING}-heads.svg")));
    assert_eq!(printed.stdout, svg.unwrap());
}

/// Bash runs the command that a failed run prints.
#[test]
fn the_command_that_resumes_a_run_can_be_pasted() {
    let folder = folder("hints");
    for name in "-dash,a b,it's,new\nline,\u{1b}[31m,\\$HOME*,ü".split(',') {
        let run = format!("--run={name}");
        let train = format!("train {QUICK}");
        let arguments: Vec<&str> = train.split(' ').chain([run.as_str()]).collect();
        let stopped = limited(&folder, "-f 1", &arguments);
        ended(&stopped, 1, &["ulimit -f"]);
        refused(&run_in(&folder, &["verify", "--", name]), &["--resume"]);
        let hint = stopped.stderr.rsplit_once("resume with: headlight ");
        let script = format!("\"$0\" {}", hint.unwrap().1);
        let mut bash = Command::new("bash");
        let bash = bash.current_dir(&folder).args(["-c", &script]);
        let resumed = bash.arg(headlight().get_program()).output().unwrap();
        Finished::from(resumed).done();
        assert!(folder.join(name).join("report.md").is_file(), "{name}");
    }
}

/// A run that another user may not read is not called something else. The superuser may read all, so that for it the
/// command runs as nobody, where `setpriv` can do that.
#[test]
fn a_run_without_permission_is_the_machines_fault() {
    let folder = folder("permission");
    typed(&folder, &format!("train {QUICK} --run run")).done();
    let run = folder.join("run");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o000)).unwrap();
    let Some(mut command) = unprivileged(&run).map(|command| command()) else {
        return;
    };
    let inspected = command.args(["inspect", text(&run)]).output();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
    let finished = inspected.unwrap().into();
    ended(&finished, 1, &[text(&run), "Permission denied"]);
}
