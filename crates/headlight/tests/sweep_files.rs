//! Results files: their bytes depend on the plan alone, however often a sweep is killed, split or merged.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::sweeps::{rows, sweep};
use crate::common::{
    Delays, Finished, ended, folder, headlight, mentions, refused, refuses, run, send, text,
};

#[test]
fn bytes_depend_on_the_plan_alone() {
    let folder = folder("sweep_bytes");
    let of = |name: &str, more: &[&str]| {
        let out = folder.join(name);
        sweep(&out, "0..60", more).done();
        fs::read(out).unwrap()
    };
    let one = of("1.jsonl", &["--threads", "1"]);
    assert_eq!(one, of("2.jsonl", &["--threads", "2"]));
    assert_eq!(one, of("7.jsonl", &["--threads", "7"]));
    // More seeds later, in the same file, or in one go.
    let later = folder.join("1.jsonl");
    ended(&sweep(&later, "0..80", &[]), 0, &["60", "80"]);
    let once = folder.join("once.jsonl");
    sweep(&once, "0..80", &[]).done();
    assert_eq!(fs::read(&later).unwrap(), fs::read(&once).unwrap());
    assert!(fs::read(&once).unwrap().starts_with(&one));
    // A finished sweep succeeds again, and changes nothing.
    let before = fs::read(&once).unwrap();
    sweep(&once, "0..80", &[]).done();
    assert_eq!(before, fs::read(&once).unwrap());
}

/// Starts a sweep and kills it as soon as its file has this many bytes.
fn killed(out: &Path, arguments: &[&str], bytes: u64) -> bool {
    let mut child = headlight()
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    loop {
        if fs::metadata(out).is_ok_and(|file| file.len() >= bytes) {
            child.kill().unwrap(); // SIGKILL
            return !child.wait().unwrap().success();
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// 200 seeds in 7 shards, two of which are killed on the way and started again, merged in any order,
/// are the bytes of the single run.
#[test]
fn shards_killed_and_merged_are_the_single_run() {
    let folder = folder("sweep_shards");
    let whole = folder.join("whole.jsonl");
    sweep(&whole, "0..200", &[]).done();
    let mut parts: Vec<PathBuf> = Vec::new();
    let mut kills = 0;
    for shard in 1..=7 {
        let out = folder.join(format!("{shard}.jsonl"));
        let name = format!("{shard}/7");
        let arguments = [
            "sweep",
            "--seeds",
            "0..200",
            "--out",
            text(&out),
            "--set",
            "training.epochs=1",
            "--shard",
            &name,
            "--threads",
            "1",
        ];
        if shard == 2 || shard == 5 {
            kills += u32::from(killed(&out, &arguments, 5000));
            assert!(
                fs::read_to_string(&out).unwrap().lines().count() < 29,
                "it was killed on the way"
            );
        }
        run(&arguments).done();
        parts.push(out);
    }
    assert_eq!(kills, 2);
    parts.rotate_left(3);
    let merged = folder.join("merged.jsonl");
    let mut arguments = vec!["merge", "--out", text(&merged)];
    arguments.extend(parts.iter().map(|part| text(part)));
    let stdout = run(&arguments).done().stdout;
    assert!(mentions(&stdout, "200"), "{stdout}");
    assert_eq!(fs::read(&merged).unwrap(), fs::read(&whole).unwrap());
    // A merge of merges, with rows that come twice, is the same too.
    let again = folder.join("again.jsonl");
    let stdout = run(&[
        "merge",
        text(&parts[0]),
        text(&merged),
        "--out",
        text(&again),
    ])
    .done()
    .stdout;
    let doubled = ["28", "29"].map(|count| mentions(&stdout, count));
    assert!(doubled.contains(&true), "{stdout}");
    assert_eq!(fs::read(&again).unwrap(), fs::read(&whole).unwrap());
}

#[test]
fn a_line_that_was_cut_short_is_computed_again() {
    let folder = folder("sweep_torn");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..9", &[]).done();
    let whole = fs::read(&out).unwrap();
    for cut in [1, 2, 300, whole.len() / 2, whole.len() - 1] {
        fs::write(&out, &whole[..whole.len() - cut]).unwrap();
        ended(&sweep(&out, "0..9", &[]), 0, &["rows.jsonl"]);
        assert_eq!(fs::read(&out).unwrap(), whole, "{cut} bytes less");
    }
}

#[test]
fn a_signal_leaves_whole_rows_and_the_same_command_resumes() {
    let folder = folder("sweep_signal");
    let out = folder.join("rows.jsonl");
    for (signal, code) in [("INT", 130), ("TERM", 143), ("USR1", 138)] {
        let before = fs::metadata(&out).map_or(0, |file| file.len());
        let child = headlight()
            .args([
                "sweep",
                "--seeds",
                "0..5000",
                "--threads",
                "2",
                "--out",
                text(&out),
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while fs::metadata(&out).map_or(0, |file| file.len()) < before + 3000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let kill = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let finished = Finished::from(child.wait_with_output().unwrap());
        ended(&finished, code, &["5000", "rows.jsonl"]);
        let seeds: Vec<u64> = rows(&out)
            .iter()
            .map(|row| row["seed"].as_u64().unwrap())
            .collect();
        assert_eq!(seeds, (0..seeds.len() as u64).collect::<Vec<_>>());
    }
}

#[test]
fn rows_that_contradict_each_other_are_not_merged() {
    let folder = folder("merge_refused");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..3", &[]).done();
    let before = fs::read(&out).unwrap();
    let words = folder.join("words.jsonl");
    fs::write(&words, "once upon a time\n").unwrap();
    let all = folder.join("all.jsonl");
    let merge = |files: &[&Path], out: &Path, parts: &[&str]| {
        let mut arguments = vec!["merge", "--out", text(out)];
        arguments.extend(files.iter().map(|file| text(file)));
        refuses(&folder, &arguments, parts);
    };
    let table = folder.join("all.xlsx");
    merge(&[&out], &table, &["all.xlsx", ".jsonl", ".csv"]);
    merge(&[&folder.join("none.jsonl")], &all, &["none.jsonl"]);
    merge(&[&words], &all, &["words.jsonl", "line 1"]);
    let other = folder.join("other.jsonl");
    sweep(&other, "3..5", &["--set", "training.batch_size=32"]).done();
    merge(&[&out, &other], &all, &["other.jsonl", "line 1"]);
    let forged = folder.join("forged.jsonl");
    let before = String::from_utf8(before).unwrap();
    let spoiled = before.replace("\"accuracy\":0", "\"accuracy\":1");
    fs::write(&forged, spoiled).unwrap();
    merge(
        &[&out, &forged],
        &all,
        &["forged.jsonl", "rows.jsonl", "seed 0"],
    );
    // Rows that are missing in between are named.
    let gap = folder.join("gap.jsonl");
    sweep(&gap, "5..7", &[]).done();
    let arguments = ["merge", text(&gap), text(&out), "--out", text(&all)];
    ended(&run(&arguments), 0, &["2", "seed 3", "seed 4"]);
}

#[test]
fn two_sweeps_do_not_write_one_file() {
    let folder = folder("sweep_lock");
    let out = folder.join("rows.jsonl");
    let mut first = headlight()
        .args(["sweep", "--seeds", "0..5000", "--out", text(&out)])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while fs::metadata(&out).map_or(0, |file| file.len()) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let second = run(&["sweep", "--seeds", "0..5000", "--out", text(&out)]);
    first.kill().unwrap();
    first.wait().unwrap();
    refused(&second, &["rows.jsonl"]);
}

/// 5,000 runs in four shards, killed repeatedly at any moment: no row is lost, and none comes twice.
#[test]
fn a_long_sweep_survives_kills_at_any_moment() {
    let folder = folder("sweep_long");
    let arguments = |out: &Path, shard: Option<&str>| -> Vec<String> {
        let mut arguments = vec!["sweep", "configs/quick.toml", "--seeds", "0..5000"];
        arguments.extend(["--set", "training.epochs=1", "--out", text(out)]);
        arguments.extend(shard.iter().flat_map(|shard| ["--shard", shard]));
        arguments.into_iter().map(str::to_owned).collect()
    };
    let whole = folder.join("whole.jsonl");
    let finished = headlight().args(arguments(&whole, None)).output().unwrap();
    Finished::from(finished).done();
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |file| file.len());
    let of_shard = bytes(&whole) / 4;

    let mut delays = Delays(13);
    let mut kills = 0;
    let mut parts = Vec::new();
    for shard in ["1/4", "2/4", "3/4", "4/4"] {
        let out = folder.join(format!("{}.jsonl", &shard[..1]));
        loop {
            let mut child = headlight()
                .args(arguments(&out, Some(shard)))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // The file's length sets the time of the kill, so that the machine's speed does not matter.
            let enough = bytes(&out) + delays.below(of_shard / 5);
            while bytes(&out) < enough && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(100));
            }
            send(&child, "KILL");
            if child.wait().unwrap().success() {
                break;
            }
            kills += 1;
        }
        parts.push(out);
    }
    println!("{kills} kills");
    assert!(kills >= 12, "{kills} kills");
    let merged = folder.join("merged.jsonl");
    let mut merge = vec!["merge", "--out", text(&merged)];
    merge.extend(parts.iter().map(|part| text(part)));
    let stdout = run(&merge).done().stdout;
    assert!(mentions(&stdout, "5000"), "{stdout}");
    assert!(fs::read(&merged).unwrap() == fs::read(&whole).unwrap());
}

/// A results file that holds something else, or rows that no sweep writes, stays as it is.
#[test]
fn what_is_no_row_of_this_sweep_is_left_alone() {
    let folder = folder("sweep_foreign");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..2", &[]).done();
    let own = fs::read_to_string(&out).unwrap();
    let first = own.lines().next().unwrap();
    let value: serde_json::Value = serde_json::from_str(first).unwrap();
    let changed = |key: &str, to: Option<serde_json::Value>| {
        let mut row = value.as_object().unwrap().clone();
        row.remove(key);
        row.extend(to.map(|to| (key.to_owned(), to)));
        serde_json::to_string(&row).unwrap() + "\n"
    };
    let hash = value["config_sha256"].as_str().unwrap();
    let foreign = [
        "my notes".to_owned(),
        "a,b\r1,2\r".to_owned(),
        "{\"label\":1,\"tokens\":[1]}".to_owned(),
        "{\"seed\":7,".to_owned(),
        first.replace(hash, &hash.replace(['a', '1'], "0")),
        own.clone() + "my notes",
        "\0".repeat(512) + "my notes",
        changed("f1", None),
        changed("f1", Some("x".into())),
        changed("epoch_loss", Some("x".into())),
        changed("model.d_model", Some(4.into())),
    ];
    for foreign in foreign {
        fs::write(&out, &foreign).unwrap();
        refused(&sweep(&out, "0..3", &["--force"]), &["rows.jsonl"]);
        assert!(fs::read(&out).unwrap() == foreign.as_bytes(), "{foreign}");
    }
    // The beginning of a row may be dropped, however short.
    for length in [0, 1, 9, first.len()] {
        fs::write(&out, &first[..length]).unwrap();
        sweep(&out, "0..2", &[]).done();
        assert_eq!(fs::read_to_string(&out).unwrap(), own);
    }
}
