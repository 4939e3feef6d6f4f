//! Sweeps in parts: which one a process computes, who says so, and that all of them are one sweep.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::sweeps::{refused, rows, sweep};
use common::{Finished, folder, headlight, run, send, text};

/// Names and values.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// A sweep of ten runs, where a scheduler has set these variables.
fn task(out: &Path, variables: Variables<'_>, more: &[&str]) -> Finished {
    let mut command = headlight();
    command.args(["sweep", "--seeds", "0..10", "--out", text(out)]);
    command.args(["--set", "training.epochs=1"]).args(more);
    let output = command.envs(variables.iter().copied()).output();
    output.unwrap().into()
}

fn merged(parts: &[PathBuf], out: &Path) -> Vec<u8> {
    let mut arguments = vec!["merge", "--out", text(out)];
    arguments.extend(parts.iter().map(|part| text(part)));
    run(&arguments).done();
    fs::read(out).unwrap()
}

/// The files of a folder, and what is in them.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

#[test]
fn the_listed_commands_are_the_sweep() {
    let folder = folder("shards listed");
    let whole = folder.join("whole.jsonl");
    sweep(&whole, "0..10", &["--grid", "model.d_model=4,8"]).done();
    let whole = fs::read(whole).unwrap();

    let out = folder.join("it's.jsonl");
    let flags = ["--grid", "model.d_model=4,8", "--shards", "11", "--list"];
    let list = sweep(&out, "0..10", &flags).done().stdout;
    assert!(!out.exists(), "a list computes nothing");
    assert_eq!(list.lines().count(), 11);
    let mut parts = Vec::new();
    for (line, shard) in list.lines().zip(1..) {
        let shell = Command::new("sh")
            .args(["-c", line])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .output();
        let finished = Finished::from(shell.unwrap()).done();
        let said = format!("shard {shard}/11 by --shard: ");
        assert!(finished.stderr.starts_with(&said), "{}", finished.stderr);
        parts.push(folder.join(format!("it's-{shard:02}-of-11.jsonl")));
    }
    // A file each, and nothing beside it.
    let made = files(&folder).into_keys();
    let made: Vec<PathBuf> = made.filter(|path| text(path).contains("it's")).collect();
    assert_eq!(made, parts);
    assert_eq!(merged(&parts, &folder.join("merged.jsonl")), whole);
}

#[test]
fn the_tasks_of_each_scheduler_are_the_sweep() {
    let folder = folder("shards_tasks");
    let whole = folder.join("whole.jsonl");
    sweep(&whole, "0..10", &[]).done();
    let whole = fs::read(whole).unwrap();
    for (variable, first) in [
        ("SLURM_ARRAY_TASK_ID", 1),
        ("HQ_TASK_ID", 1),
        ("JOB_COMPLETION_INDEX", 0),
    ] {
        let out = folder.join(format!("{variable}.jsonl"));
        let mut parts = Vec::new();
        for shard in 1..=4 {
            let id = (shard - 1 + first).to_string();
            let finished = task(&out, &[(variable, &id)], &["--shards", "4"]).done();
            let said = format!("shard {shard}/4 by {variable}: ");
            assert!(finished.stderr.starts_with(&said), "{}", finished.stderr);
            parts.push(folder.join(format!("{variable}-{shard}-of-4.jsonl")));
        }
        assert!(!out.exists());
        assert_eq!(merged(&parts, &folder.join("merged.jsonl")), whole);
        // Done again, as after a node was lost: nothing is left to do.
        let again = task(&out, &[(variable, "2")], &["--shards", "4"]).done();
        assert!(again.stderr.contains("are in"), "{}", again.stderr);
        assert_eq!(merged(&parts, &folder.join("merged.jsonl")), whole);
    }
}

#[test]
fn contradictions_are_refused_and_nothing_is_lost() {
    let folder = folder("shards_refused");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..10", &[]).done();
    for shard in ["0", "1", "2"] {
        let index = [("JOB_COMPLETION_INDEX", shard)];
        task(&out, &index, &["--shards", "3"]).done();
    }
    let before = files(&folder);
    let slurm = "SLURM_ARRAY_TASK_ID";
    let index = "JOB_COMPLETION_INDEX";
    let cases: [(Variables<'_>, &[&str], &str); 12] = [
        (&[(slurm, "4")], &["--shards", "3"], "numbered 1 to 3"),
        (&[(slurm, "0")], &["--shards", "3"], "sbatch --array=1-3"),
        (
            &[(slurm, "2")],
            &["--shard", "1/3"],
            "SLURM_ARRAY_TASK_COUNT is not",
        ),
        (
            &[(slurm, "")],
            &["--shards", "3"],
            "SLURM_ARRAY_TASK_ID is ``",
        ),
        (
            &[("HQ_TASK_ID", "9")],
            &["--shards", "3"],
            "hq submit --array 1-3",
        ),
        (
            &[("HQ_TASK_ID", "2")],
            &[],
            "does not say of how many tasks",
        ),
        (
            &[("HQ_TASK_ID", "2")],
            &["--shard", "1/3"],
            "contradicts HQ_TASK_ID",
        ),
        (&[(index, "3")], &["--shards", "3"], "numbered 0 to 2"),
        (&[(index, "0")], &[], "pass --shards N, or --shard I/N"),
        (
            &[(index, "1"), ("HQ_TASK_ID", "2")],
            &["--shards", "3"],
            "are both set",
        ),
        (
            &[],
            &["--shards", "3"],
            "nothing says which of the 3 shards this is",
        ),
        (&[], &["--shards", "11", "--list"], "more than the 10 runs"),
    ];
    for (variables, flags, part) in cases {
        let finished = task(&out, variables, flags);
        refused(&finished, part);
        assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
    for (flags, part) in [
        (
            &["--shards", "3", "--shard", "1/3"][..],
            "cannot be used with",
        ),
        (&["--list"], "--shards <N>"),
        (&["--shards", "0"], "invalid value '0'"),
    ] {
        refused(&task(&out, &[], flags), part);
    }
    // A shard's file is another's where the number of shards was changed: refused, and left alone.
    let renamed = ["--shard", "2/4"];
    refused(
        &task(&folder.join("rows-2-of-3.jsonl"), &[], &renamed),
        "line 1: the row is of seed 3, where this sweep or shard has seed 2",
    );
    assert!(files(&folder) == before);
}

fn started(out: &Path) -> Child {
    headlight()
        .args(["sweep", "--seeds", "0..8000", "--shards", "2"])
        .args(["--threads", "1", "--out", text(out)])
        .env("HQ_TASK_ID", "1")
        .stdout(Stdio::null())
        .stderr(fs::File::create(out.with_extension("err")).unwrap())
        .spawn()
        .unwrap()
}

fn until(what: impl Fn() -> bool) {
    while !what() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A scheduler that lost a node from sight starts its task elsewhere, where it may still be running.
#[test]
fn a_task_waits_for_the_one_before_it() {
    let folder = folder("shards_wait");
    let out = folder.join("rows.jsonl");
    let part = folder.join("rows-1-of-2.jsonl");
    let error = || fs::read_to_string(folder.join("rows.err")).unwrap();
    let mut first = started(&out);
    until(|| fs::metadata(&part).is_ok_and(|file| file.len() > 3000));

    // Waiting ends with a signal ...
    let mut second = started(&out);
    until(|| error().contains("another sweep is writing"));
    send(&second, "USR1");
    assert_eq!(second.wait().unwrap().code(), Some(138));
    assert!(error().contains("this one waited for it"), "{}", error());

    // ... or with the other.
    let mut third = started(&out);
    until(|| error().contains("waiting for it"));
    send(&first, "KILL");
    first.wait().unwrap();
    let before = fs::metadata(&part).unwrap().len();
    until(|| fs::metadata(&part).unwrap().len() > before + 3000);
    send(&third, "TERM");
    assert_eq!(third.wait().unwrap().code(), Some(143));
    assert!(error().contains("runs are in"), "{}", error());
    let seeds: Vec<u64> = rows(&part)
        .iter()
        .map(|row| row["seed"].as_u64().unwrap())
        .collect();
    assert_eq!(seeds, (0..seeds.len() as u64).collect::<Vec<_>>());
}
