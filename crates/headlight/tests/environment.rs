//! Surroundings that are against a command: limits of the system, names of files, folders that cannot be read.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::common::runs::{assert_same, files, finish};
use crate::common::{
    Finished, SHORT, ended, folder, headlight, limited, refused, refuses_in, run_in, text,
    unprivileged,
};

/// A short run in a folder.
fn train(folder: &Path, run: &str, more: &[&str]) -> Finished {
    let train = ["train", "quick", "--run", run];
    run_in(folder, &[&train, &SHORT[..], more].concat())
}

/// A file that may not grow ends a run as a full disk does: at each limit, in another file.
#[test]
fn a_limit_on_the_size_of_files_loses_nothing() {
    let folder = folder("size_limit");
    let rows = [
        "training.evaluate_every=1",
        "dump.positives=0",
        "dump.negatives=0",
    ];
    let rows: Vec<&str> = rows.iter().flat_map(|set| ["--set", set]).collect();
    finish(&folder.join("undisturbed"), "fused", &rows);
    let undisturbed = files(&folder.join("undisturbed"));
    let run = folder.join("run");
    let command = crate::common::runs::command(&run, "fused", &rows);
    let arguments: Vec<&str> = command
        .get_args()
        .map(|text| text.to_str().unwrap())
        .collect();
    let root = command.get_current_dir().unwrap();
    for blocks in [0, 1, 3, 8, 16, 40] {
        let stopped = limited(root, &format!("-f {blocks}"), &arguments);
        ended(&stopped, 1, &["ulimit -f"]);
        assert_eq!(stopped.stderr.matches("error: ").count(), 1);
        let rows = fs::read(run.join("metrics.jsonl")).unwrap_or_default();
        assert!(rows.is_empty() || rows.ends_with(b"\n"));
    }
    finish(&run, "fused", &rows);
    assert_same(&run, &undisturbed, "size limit");
}

/// With too few files that may be open, a command succeeds or fails as the machine's fault, and no input is blamed.
#[test]
fn a_limit_on_open_files_is_no_fault_of_the_input() {
    let folder = folder("open_files");
    train(&folder, "run", &[]).done();
    run_in(&folder, &["data", "quick", "--out", "mine.csv"]).done();
    let own =
        "data = { file = \"mine.csv\" }\nmodel = { d_model = 4 }\ntraining = { epochs = 1 }\n";
    fs::write(folder.join("mine.toml"), own).unwrap();
    let commands: [&[&str]; 6] = [
        &[
            "train",
            "mine.toml",
            "--run",
            "new",
            "--set",
            "dump.every_epochs=0",
        ],
        &[
            "train",
            "--resume",
            "--run",
            "run",
            "--set",
            "training.epochs=2",
        ],
        &["evaluate", "run", "mine.csv"],
        &["predict", "run", "mine.csv"],
        &["inspect", "run"],
        &["compare", "run"],
    ];
    for arguments in commands {
        let mut succeeded = 0;
        for limit in 3..9 {
            let _ = fs::remove_dir_all(folder.join("new"));
            let ended = limited(&folder, &format!("-n {limit}"), arguments);
            let message = format!("{arguments:?} with {limit}: {}", ended.stderr);
            // 127: the system's loader cannot open a library.
            assert!(matches!(ended.code, Some(0 | 1 | 127)), "{message}");
            assert!(!ended.stderr.contains("panicked"), "{message}");
            succeeded += usize::from(ended.code == Some(0));
        }
        assert!(succeeded > 0, "{arguments:?}");
    }
}

/// TOML could not name the dataset of such a run.
#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_config_cannot_name_its_dataset_does_not_begin() {
    let folder = folder("not_unicode").join(OsStr::from_bytes(b"x\xff"));
    fs::create_dir(&folder).unwrap();
    run_in(&folder, &["data", "quick", "--out", "mine.csv"]).done();
    let config =
        "data = { file = \"mine.csv\" }\nmodel = { d_model = 4 }\ntraining = { epochs = 1 }\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let arguments = ["train", "mine.toml", "--run", "run"];
    refuses_in(&folder, &arguments, &["mine.csv", "Unicode"]);
    // Without a file to name, the folder's name does not matter.
    train(&folder, "run", &[]).done();
    train(&folder, "run", &["--resume"]).done();
}

/// Names that would colour a terminal, ring its bell, or start a line.
#[test]
fn names_do_not_steer_a_terminal() {
    const STEERING: &str = "x\u{1b}[31m\u{7}\ny\u{9b}1m";
    let folder = folder("steering");
    let named = |ending: &str| format!("{STEERING}{ending}");
    let (csv, jsonl, npz) = (named(".csv"), named(".jsonl"), named(".npz"));
    let (svg, html, toml) = (named("-heads.svg"), named(".html"), named(".toml"));
    let sweep = [
        &["sweep", "quick", "--seeds", "0..2", "--out", &jsonl][..],
        &SHORT,
    ]
    .concat();
    let merged = named("-merged.jsonl");
    let weights = format!("{STEERING}/model.safetensors");
    run_in(&folder, &["init", "quick"]).done();
    fs::rename(folder.join("quick.toml"), folder.join(&toml)).unwrap();
    let train = [&["train", &toml, "--run", STEERING][..], &SHORT].concat();
    let commands: [&[&str]; 13] = [
        &train,
        &["train", "--resume", "--run", STEERING, "--verbose"],
        &["data", "quick", "--out", &csv],
        &["predict", STEERING, &csv, "--out", &named("-predicted.csv")],
        &["evaluate", STEERING, &csv],
        &["evaluate", STEERING, "--svg", &named("-evaluated.svg")],
        &["compare", STEERING, STEERING],
        &["inspect", STEERING],
        &["inspect", STEERING, "--svg", &svg],
        &["inspect", STEERING, "--html", &html],
        &sweep,
        &["merge", &jsonl, "--out", &merged],
        &["report", &jsonl],
    ];
    let dump = [
        "dump",
        "quick",
        "--weights",
        &weights,
        "--tokens",
        &csv,
        "--out",
        &npz,
    ];
    for arguments in commands.into_iter().chain([&dump[..]]) {
        let done = run_in(&folder, arguments).done();
        for text in [done.stdout, done.stderr] {
            let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(steers), "{arguments:?}: {text:?}");
            assert!(!text.contains("\ny"), "{arguments:?}: {text:?}");
        }
    }
    // The file itself is written as it is.
    let printed = run_in(&folder, &["inspect", STEERING, "--svg", "-"]).done();
    assert_eq!(
        printed.stdout,
        fs::read_to_string(folder.join(&svg)).unwrap()
    );
}

/// Bash runs the command that a failed run prints.
#[test]
fn the_command_that_resumes_a_run_can_be_pasted() {
    let folder = folder("hints");
    for name in [
        "-dash",
        "a b",
        "it's",
        "new\nline",
        "\u{1b}[31m",
        "\\$HOME*",
        "ü",
    ] {
        let run = format!("--run={name}");
        let arguments = [&["train", "quick", &run][..], &SHORT].concat();
        let stopped = limited(&folder, "-f 1", &arguments);
        ended(&stopped, 1, &["ulimit -f"]);
        let (_, hint) = stopped
            .stderr
            .rsplit_once("resume with: headlight ")
            .unwrap();
        let script = format!("\"$0\" {hint}");
        let mut bash = Command::new("bash");
        let bash = bash.current_dir(&folder).args(["-c", &script]);
        let resumed = bash.arg(headlight().get_program()).output().unwrap();
        let resumed = Finished::from(resumed).done();
        assert!(
            folder.join(name).join("report.md").is_file(),
            "{}",
            resumed.stderr
        );
    }
}

#[test]
fn a_link_to_nothing_is_no_run() {
    let folder = folder("dangling");
    symlink("nothing", folder.join("link")).unwrap();
    let arguments = ["train", "quick", "--run", "link"];
    refuses_in(&folder, &arguments, &["link", "symbolic link"]);
    let resume = [&arguments[..], &["--resume"]].concat();
    refuses_in(&folder, &resume, &["link", "symbolic link"]);
    fs::create_dir(folder.join("nothing")).unwrap();
    train(&folder, "link", &["--resume"]).done();
}

/// A run that another user may not read is not called something else. The superuser may read all, so that for it the
/// command runs as nobody, where `setpriv` can do that.
#[test]
fn a_run_without_permission_is_the_machines_fault() {
    let folder = folder("permission");
    train(&folder, "run", &[]).done();
    let run = folder.join("run");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o000)).unwrap();
    let Some(command) = unprivileged(&run) else {
        return;
    };
    let finished = command()
        .args(["inspect", text(&run)])
        .output()
        .unwrap()
        .into();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
    ended(&finished, 1, &[text(&run), "Permission denied"]);
}

/// Many dumps are announced, with their number and size; too large ones are refused without `--force`.
#[test]
fn the_dumps_of_a_run_have_a_limit() {
    let folder = folder("dump_volume");
    let sets = |sets: &[&'static str]| -> Vec<&'static str> {
        sets.iter().flat_map(|set| ["--set", set]).collect()
    };
    // Of 501 epochs of four steps: 668 multiples of 3, 501 of 4, less 167 of 12; and step 0.
    let many = sets(&[
        "dump.every_steps=3",
        "dump.every_epochs=1",
        "training.epochs=501",
        "training.batch_size=16",
    ]);
    let arguments = [&["train", "quick", "--run", "many"][..], &SHORT, &many].concat();
    let stopped = limited(&folder, "-f 4", &arguments);
    ended(&stopped, 1, &["1003 dumps", "MB"]);

    let large = sets(&[
        "dump.every_steps=1",
        "dump.positives=800",
        "dump.negatives=800",
        "training.epochs=30",
        "dump.formats=[\"npz\", \"json\", \"csv\"]",
    ]);
    let arguments = [&["train", "quick", "--run", "large"], &large[..]].concat();
    let parts = ["3001 dumps", "MB", "dump.every_steps", "--force"];
    refuses_in(&folder, &arguments, &parts);
    // The limit of the system ends these before they write all of it.
    let forced = [&arguments[..], &["--force"]].concat();
    ended(&limited(&folder, "-f 64", &forced), 1, &["ulimit -f"]);
    let resume = ["train", "--resume", "--run", "large"];
    ended(&limited(&folder, "-f 64", &resume), 1, &["ulimit -f"]);
    let longer = [&resume[..], &["--set", "training.epochs=40"]].concat();
    refused(&limited(&folder, "-f 64", &longer), &["--force"]);
}
