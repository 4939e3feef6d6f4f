//! Sweeps in shards: which one a process computes, which flag or variable decides that, and that all shards
//! together are the sweep.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::sweeps::{rows, sweep};
use crate::common::{
    Finished, contents, ended, folder, headlight, mentions, refused, run, send, text,
};

/// Names and values of environment variables.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// A sweep of ten runs, with variables that a scheduler sets.
fn task(out: &Path, variables: Variables<'_>, more: &[&str]) -> Finished {
    let mut command = headlight();
    command.args(["sweep", "--seeds", "0..10", "--out", text(out)]);
    command.args(["--set", "training.epochs=1"]).args(more);
    let output = command.envs(variables.iter().copied()).output();
    output.unwrap().into()
}

fn merged(parts: &[PathBuf], out: &Path) -> Vec<u8> {
    let mut arguments = vec!["merge", "--force", "--out", text(out)];
    arguments.extend(parts.iter().map(|part| text(part)));
    run(&arguments).done();
    fs::read(out).unwrap()
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
    assert!(!out.exists(), "--list trains nothing");
    assert_eq!(list.lines().count(), 11);
    let mut parts = Vec::new();
    for (line, shard) in list.lines().zip(1..) {
        let shell = Command::new("sh")
            .args(["-c", line])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .output();
        let finished = Finished::from(shell.unwrap()).done();
        let chosen = format!("{shard}/11");
        ended(&finished, 0, &[&chosen, "--shard"]);
        parts.push(folder.join(format!("it's-{shard:02}-of-11.jsonl")));
    }
    // One results file per shard, and no other.
    let made = contents(&folder).into_keys();
    let rows = |path: &PathBuf| {
        text(path).contains("it's") && path.extension().is_some_and(|end| end == "jsonl")
    };
    let made: Vec<PathBuf> = made.filter(rows).collect();
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
            ended(&finished, 0, &[&format!("{shard}/4"), variable]);
            parts.push(folder.join(format!("{variable}-{shard}-of-4.jsonl")));
        }
        assert!(!out.exists());
        assert_eq!(merged(&parts, &folder.join("merged.jsonl")), whole);
        // A task that is started again, as after a lost node, has nothing left to do.
        let id = (1 + first).to_string();
        task(&out, &[(variable, &id)], &["--shards", "4"]).done();
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
    let before = contents(&folder);
    let slurm = "SLURM_ARRAY_TASK_ID";
    let index = "JOB_COMPLETION_INDEX";
    let hq = "HQ_TASK_ID";
    let three = &["--shards", "3"][..];
    let first_of_three = &["--shard", "1/3"][..];
    let cases: [(Variables<'_>, &[&str], &[&str]); 12] = [
        (&[(slurm, "4")], three, &[slurm, "4", "1", "3"]),
        (&[(slurm, "0")], three, &[slurm, "0", "--array=1-3"]),
        (&[(slurm, "2")], first_of_three, &["SLURM_ARRAY_TASK_COUNT"]),
        (&[(slurm, "")], three, &[slurm, "``"]),
        (&[(hq, "9")], three, &[hq, "9", "--array 1-3"]),
        (&[(hq, "2")], &[], &[hq, "--shards"]),
        (&[(hq, "2")], first_of_three, &["1/3", hq]),
        (&[(index, "3")], three, &[index, "3", "0", "2"]),
        (&[(index, "0")], &[], &[index, "--shards", "--shard"]),
        (&[(index, "1"), (hq, "2")], three, &[index, hq]),
        (&[], three, &["3", "--shard"]),
        (&[], &["--shards", "11", "--list"], &["11", "10"]),
    ];
    for (variables, flags, parts) in cases {
        let finished = task(&out, variables, flags);
        refused(&finished, parts);
        assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    }
    for (flags, parts) in [
        (
            &["--shards", "3", "--shard", "1/3"][..],
            &["--shards", "--shard"][..],
        ),
        (&["--list"], &["--shards"]),
        (&["--shards", "0"], &["--shards", "'0'"]),
    ] {
        refused(&task(&out, &[], flags), parts);
    }
    // With another number of shards, a shard's file is that of another shard: refused, and left alone.
    let renamed = folder.join("rows-2-of-3.jsonl");
    refused(
        &task(&renamed, &[], &["--shard", "2/4"]),
        &["rows-2-of-3.jsonl", "line 1", "seed 3", "seed 2"],
    );
    assert!(contents(&folder) == before);
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

/// A scheduler that lost contact with a node starts its task again, while the first may still be running.
#[test]
fn a_task_waits_for_the_one_before_it() {
    let folder = folder("shards_wait");
    let out = folder.join("rows.jsonl");
    let part = folder.join("rows-1-of-2.jsonl");
    let error = || fs::read_to_string(folder.join("rows.err")).unwrap();
    let mut first = started(&out);
    until(|| fs::metadata(&part).is_ok_and(|file| file.len() > 3000));

    // A task names its file when it starts, and again when it waits for it. Waiting ends with a signal ...
    let named = || {
        error()
            .lines()
            .filter(|line| mentions(line, text(&part)))
            .count()
    };
    let waits = || named() == 2;
    let mut second = started(&out);
    until(waits);
    // Neither disturbs the other: two that write notice each other at the next row.
    let grown = fs::metadata(&part).unwrap().len() + 3000;
    until(|| fs::metadata(&part).unwrap().len() > grown);
    assert!(first.try_wait().unwrap().is_none());
    send(&second, "USR1");
    assert_eq!(second.wait().unwrap().code(), Some(138));

    // ... or with the end of the first task.
    let mut third = started(&out);
    until(waits);
    send(&first, "KILL");
    first.wait().unwrap();
    let before = fs::metadata(&part).unwrap().len();
    until(|| fs::metadata(&part).unwrap().len() > before + 3000);
    send(&third, "TERM");
    assert_eq!(third.wait().unwrap().code(), Some(143));
    let seeds: Vec<u64> = rows(&part)
        .iter()
        .map(|row| row["seed"].as_u64().unwrap())
        .collect();
    assert_eq!(seeds, (0..seeds.len() as u64).collect::<Vec<_>>());
}
