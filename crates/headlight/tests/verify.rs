//! Damaged and missing files of a run: `verify` finds each, and `train --resume` writes again what it can.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::runs::{assert_same, attempt, command, copy, files, finish, newest};
use crate::common::{Finished, ended, folder, mentions, refused, run, text};

/// Ways to damage a file.
const WAYS: [&str; 4] = ["removed", "emptied", "truncated", "flipped"];

fn damage(path: &Path, way: &str) {
    let mut bytes = fs::read(path).unwrap();
    // Another digit in a line of the manifest would be damage of the file that the line names.
    let is_manifest = path.ends_with("manifest.sha256");
    let middle = bytes.len() / 2;
    match way {
        "removed" => return fs::remove_file(path).unwrap(),
        "emptied" => bytes.clear(),
        "truncated" => bytes.truncate(middle),
        _ => bytes[if is_manifest { 0 } else { middle }] ^= 1,
    }
    fs::write(path, bytes).unwrap();
}

fn verify(path: &Path) -> Finished {
    run(&["verify", text(path)])
}

/// The files that the manifest lists.
fn listed(path: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(path.join("manifest.sha256")).unwrap();
    let names = manifest
        .lines()
        .skip(1)
        .map(|line| line.split_once("  ").unwrap().1);
    names.map(str::to_owned).collect()
}

/// The bytes of a run without `left_out`, except for the files that hold dates.
fn kept(path: &Path, left_out: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = files(path);
    found.retain(|name, _| name != Path::new(left_out));
    found
}

#[test]
fn every_damaged_file_is_found_and_repaired_or_named() {
    let folder = folder("verify");
    let whole = folder.join("whole");
    finish(&whole, "fused", &[]);
    let undisturbed = files(&whole);
    verify(&whole).done();
    let names = listed(&whole);
    for name in [
        "config.toml",
        "environment.json",
        "inspector.html",
        "loss.npy",
        "report.md",
    ] {
        assert!(names.iter().any(|listed| listed == name), "{name}");
    }
    let damaged = folder.join("damaged");
    for name in names.iter().map(String::as_str).chain(["manifest.sha256"]) {
        for way in WAYS {
            let what = format!("{name} {way}");
            copy(&whole, &damaged);
            damage(&damaged.join(name), way);
            let found = verify(&damaged);
            assert_eq!(found.code, Some(2), "{what}: {}", found.stderr);
            assert!(mentions(&(found.stdout + &found.stderr), name), "{what}");
            let resumed = attempt(&damaged, "fused", &[]);
            match name {
                // Earlier dumps, which no checkpoint holds: the rest is as before, and the command says what is not.
                _ if name.starts_with("attention/step") && !name.contains("000200") => {
                    ended(&resumed, 2, &[name]);
                    let mut now = kept(&damaged, name);
                    now.retain(|name, _| !name.to_string_lossy().ends_with(".damaged"));
                    assert!(now == kept(&whole, name), "{what}");
                    assert_eq!(verify(&damaged).code, Some(2), "{what}");
                }
                // The evaluations and losses so far are nowhere else.
                "metrics.jsonl" | "checkpoint/losses.f32" => {
                    assert_eq!(resumed.code, Some(2), "{what}: {}", resumed.stderr);
                }
                _ => {
                    assert_eq!(resumed.code, Some(0), "{what}: {}", resumed.stderr);
                    let mut now = files(&damaged);
                    now.retain(|name, _| !name.to_string_lossy().ends_with(".damaged"));
                    let same = now == undisturbed;
                    assert!(same || name.starts_with("checkpoint"), "{what}");
                    ended(&verify(&damaged), 0, &[]);
                }
            }
            fs::remove_dir_all(&damaged).unwrap();
        }
    }
}

#[test]
fn an_unfinished_run_is_verified_until_its_last_checkpoint() {
    let folder = folder("verify-unfinished");
    let path = folder.join("run");
    // Killed after some dumps and checkpoints.
    loop {
        let mut child = command(&path, "fused", &[]).spawn().unwrap();
        while !path.join("attention/step-000060.npz").exists() {
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        child.kill().unwrap();
        if !child.wait().unwrap().success() {
            break;
        }
        fs::remove_dir_all(&path).unwrap();
    }
    verify(&path).done();
    let checkpoint = newest(&path);
    let checkpoint = text(checkpoint.strip_prefix(&path).unwrap());
    let dump = "attention/step-000030.npz";
    for name in [dump, "config.toml", "metrics.jsonl", checkpoint] {
        let damaged = folder.join("damaged");
        copy(&path, &damaged);
        damage(&damaged.join(name), "flipped");
        refused_with(&verify(&damaged), name);
        fs::remove_dir_all(&damaged).unwrap();
    }
    // A damaged dump does not stop the run, and is not called whole.
    let undisturbed = folder.join("undisturbed");
    finish(&undisturbed, "fused", &[]);
    let lost = "attention/step-000030.npz";
    damage(&path.join(lost), "truncated");
    ended(&attempt(&path, "fused", &[]), 2, &[lost]);
    let mut now = kept(&path, lost);
    assert!(
        now.remove(Path::new("attention/step-000030.npz.damaged"))
            .is_some()
    );
    assert!(now == kept(&undisturbed, lost));
}

/// Asserts that `verify` refused and named a file on standard output.
fn refused_with(finished: &Finished, name: &str) {
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    assert!(mentions(&finished.stdout, name), "{}", finished.stdout);
}

#[test]
fn the_manifest_is_that_of_sha256sum() {
    let path = folder("verify-sha256sum").join("run");
    finish(&path, "fused", &[]);
    let check = |arguments: &[&str]| {
        let mut command = std::process::Command::new("sha256sum");
        command.args(arguments).current_dir(&path).output().unwrap()
    };
    let checked = check(&["--check", "--strict", "manifest.sha256"]);
    assert!(checked.status.success(), "{checked:?}");
    // It lists every file but itself and the lock.
    let mut expected: Vec<String> = crate::common::contents(&path)
        .into_keys()
        .filter(|path| path.is_file())
        .map(|file| text(file.strip_prefix(&path).unwrap()).to_owned())
        .filter(|name| ![".lock", "manifest.sha256"].contains(&name.as_str()))
        .collect();
    expected.sort();
    assert_eq!(listed(&path), expected);
}

#[test]
fn the_result_as_json() {
    let path = folder("verify-json").join("run");
    finish(&path, "fused", &[]);
    fs::write(path.join("report.md"), "").unwrap();
    let finished = run(&["verify", text(&path), "--json"]);
    assert_eq!(finished.code, Some(2));
    let found: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(found["damage"][0]["file"], "report.md");
    assert_eq!(found["damage"].as_array().unwrap().len(), 1);
    refused(&run(&["verify", text(&newest(&path))]), &[]);
    // A whole run is the undisturbed one again.
    let undisturbed = path.with_file_name("undisturbed");
    finish(&undisturbed, "fused", &[]);
    finish(&path, "fused", &[]);
    assert_same(&path, &files(&undisturbed), "repaired");
}

/// A manifest that names files elsewhere is no manifest: it neither reads nor moves them.
#[test]
fn a_manifest_stays_in_its_run() {
    let folder = folder("verify-outside");
    let path = folder.join("run");
    finish(&path, "fused", &[]);
    let outside = folder.join("step-000001.npz");
    fs::write(&outside, "mine").unwrap();
    let name = "attention/../../step-000001.npz";
    let hash = "0".repeat(64);
    let lines = format!("# 1 files, for sha256sum --check\n{hash}  {name}\n");
    fs::write(path.join("manifest.sha256"), lines).unwrap();
    refused_with(&verify(&path), "manifest.sha256");
    finish(&path, "fused", &[]);
    assert_eq!(fs::read(&outside).unwrap(), b"mine");
    verify(&path).done();
}
