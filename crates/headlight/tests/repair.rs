//! Repairs of ended runs: whatever stands in place of a file, whatever the machine cannot read, wherever a repair stops.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::runs::{assert_same, attempt, copy, files, finish, newest};
use crate::common::{
    Finished, contents, ended, folder, limited, mentions, refused, run, run_in, text, unprivileged,
};

/// An ended run of few files.
fn whole(folder: &Path) -> PathBuf {
    let path = folder.join("whole");
    finish(&path, "fused", &FEW);
    path
}

const FEW: [&str; 4] = ["--set", "data.samples=320", "--set", "dump.every_steps=0"];

fn verify(path: &Path) -> Finished {
    run(&["verify", text(path)])
}

fn resume(path: &Path) -> Finished {
    run(&["train", "--resume", "--run", text(path), "--quiet"])
}

fn manifest(path: &Path) -> String {
    fs::read_to_string(path.join("manifest.sha256")).unwrap()
}

/// The files that the manifest lists.
fn listed(path: &Path) -> BTreeSet<String> {
    let manifest = manifest(path);
    let names = manifest.lines().skip(1);
    names
        .map(|line| line.split_once("  ").unwrap().1.to_owned())
        .collect()
}

/// Asserts that a run has the files of an undisturbed one, but for those that were put aside.
fn repaired(path: &Path, undisturbed: &Path, what: &str) {
    ended(&verify(path), 0, &[]);
    assert_eq!(listed(path), listed(undisturbed), "{what}");
    let mut found = files(path);
    found.retain(|name, _| !name.to_string_lossy().ends_with(".damaged"));
    assert!(found == files(undisturbed), "{what}");
}

fn put(path: &Path, what: &str) {
    match what {
        "text" => fs::write(path, b"{\xff").unwrap(),
        "huge" => fs::File::create(path).unwrap().set_len(3 << 30).unwrap(),
        "pipe" => {
            fs::remove_file(path).unwrap();
            let made = Command::new("mkfifo").arg(path).status();
            assert!(made.unwrap().success());
        }
        _ => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
            fs::write(path.join("mine"), "mine").unwrap();
        }
    }
}

#[test]
fn whatever_stands_in_place_of_a_file_is_replaced() {
    let folder = folder("repair-place");
    let whole = whole(&folder);
    let damaged = folder.join("damaged");
    for (name, what) in [
        ("environment.json", "text"),
        ("environment.json", "huge"),
        ("environment.json", "pipe"),
        ("environment.json", "folder"),
        ("config.toml", "folder"),
        ("model.safetensors", "folder"),
        ("report.md", "folder"),
        ("manifest.sha256", "folder"),
        ("loss.npy", "pipe"),
        ("attention/best.npz", "huge"),
    ] {
        copy(&whole, &damaged);
        put(&damaged.join(name), what);
        let found = verify(&damaged);
        assert_eq!(found.code, Some(2), "{name} {what}: {}", found.stderr);
        assert!(mentions(&found.stdout, name), "{name} {what}");
        ended(&resume(&damaged), 0, &[]);
        repaired(&damaged, &whole, name);
        if what == "folder" {
            let aside = damaged.join(format!("{name}.damaged/mine"));
            assert_eq!(fs::read(aside).unwrap(), b"mine", "{name}");
        }
        fs::remove_dir_all(&damaged).unwrap();
    }
}

/// As a full disk, and as a kill would: what was whole stays, and is listed.
#[test]
fn a_repair_that_fails_destroys_nothing() {
    let folder = folder("repair-fails");
    let whole = whole(&folder);
    let damaged = folder.join("damaged");
    copy(&whole, &damaged);
    let names = ["environment.json", "best.safetensors", "report.md"];
    for name in names {
        fs::write(damaged.join(name), b"\xff").unwrap();
    }
    let before = contents(&damaged);
    for kilobytes in 0.. {
        let limit = format!("-f {kilobytes}");
        let arguments = ["train", "--resume", "--run", text(&damaged), "--quiet"];
        let finished = limited(&folder, &limit, &arguments);
        if finished.code == Some(0) {
            assert!(kilobytes > 1);
            break;
        }
        ended(&finished, 1, &["ulimit"]);
        assert_eq!(manifest(&damaged), manifest(&whole), "{limit}");
        let now = contents(&damaged);
        for (path, bytes) in &before {
            let is_damaged = names.iter().any(|name| path.ends_with(name));
            assert!(now.contains_key(path), "{limit}: {}", path.display());
            assert!(
                is_damaged || now[path] == *bytes,
                "{limit}: {}",
                path.display()
            );
        }
        assert_eq!(verify(&damaged).code, Some(2), "{limit}");
    }
    repaired(&damaged, &whole, "repaired");
}

#[test]
fn a_manifest_that_lacks_files_is_damage() {
    let folder = folder("repair-manifest");
    let whole = whole(&folder);
    let complete = manifest(&whole);
    let without = |part: &str| {
        let lines: Vec<&str> = complete.lines().skip(1).collect();
        let kept = lines.into_iter().filter(|line| !line.ends_with(part));
        let kept: Vec<&str> = kept.collect();
        let count = kept.len();
        format!(
            "# {count} files, for sha256sum --check\n{}\n",
            kept.join("\n")
        )
    };
    let upper: String = complete
        .lines()
        .map(|line| match line.split_once("  ") {
            Some((hash, name)) => format!("{}  {name}\n", hash.to_uppercase()),
            None => format!("{line}\n"),
        })
        .collect();
    let damaged = folder.join("damaged");
    for (manifest, named) in [
        (
            "# 0 files, for sha256sum --check\n".to_owned(),
            "manifest.sha256",
        ),
        (upper, "manifest.sha256"),
        (without("model.safetensors"), "model.safetensors"),
        (without("report.md"), "report.md"),
        (without("step-000000.npz"), "attention/step-000000.npz"),
        (
            without(".checkpoint"),
            text(newest(&whole).strip_prefix(&whole).unwrap()),
        ),
    ] {
        copy(&whole, &damaged);
        fs::write(damaged.join("manifest.sha256"), manifest).unwrap();
        let found = verify(&damaged);
        assert_eq!(found.code, Some(2), "{named}");
        assert!(mentions(&found.stdout, named), "{named}: {}", found.stdout);
        ended(&resume(&damaged), 0, &[]);
        repaired(&damaged, &whole, named);
        fs::remove_dir_all(&damaged).unwrap();
    }
    // A dump that no one asked for.
    copy(&whole, &damaged);
    let foreign = damaged.join("attention/step-000007.npz");
    fs::copy(damaged.join("attention/step-000000.npz"), &foreign).unwrap();
    assert!(mentions(
        &verify(&damaged).stdout,
        "attention/step-000007.npz"
    ));
    ended(&resume(&damaged), 0, &[]);
    repaired(&damaged, &whole, "a foreign dump");
    assert!(foreign.with_extension("npz.damaged").exists());
}

#[test]
fn a_run_without_its_config_is_verified() {
    let folder = folder("repair-config");
    let path = whole(&folder);
    fs::remove_file(path.join("config.toml")).unwrap();
    let found = verify(&path);
    assert_eq!(found.code, Some(2));
    assert!(mentions(&found.stdout, "config.toml"), "{}", found.stdout);
    ended(&resume(&path), 0, &[]);
    ended(&verify(&path), 0, &[]);
    refused(&verify(&folder), &[text(&folder)]);
}

/// What the machine does not let a process read is not damaged.
#[test]
fn what_cannot_be_read_is_not_damage() {
    let folder = folder("repair-permission");
    let whole = whole(&folder);
    let report = whole.join("report.md");
    fs::set_permissions(&report, fs::Permissions::from_mode(0o000)).unwrap();
    let Some(command) = unprivileged(&report) else {
        return;
    };
    let mut chmod = Command::new("chmod");
    let opened = chmod.args(["-R", "a+rwX"]).arg(&whole).status();
    assert!(opened.unwrap().success());
    let checkpoint = newest(&whole);
    let checkpoint = text(checkpoint.strip_prefix(&whole).unwrap());
    for name in [
        "attention/step-000000.npz",
        "metrics.jsonl",
        "checkpoint/losses.f32",
        checkpoint,
        "config.toml",
        "environment.json",
        "manifest.sha256",
    ] {
        let file = whole.join(name);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
        let before = contents(&whole);
        for arguments in [
            &["verify", text(&whole)][..],
            &["train", "--resume", "--run", text(&whole)],
        ] {
            let finished = command().args(arguments).output().unwrap().into();
            ended(&finished, 1, &[text(&file), "Permission denied"]);
            assert!(contents(&whole) == before, "{arguments:?}, {name}");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    }
    ended(&verify(&whole), 0, &[]);
}

/// The config that a run was begun with names its files; so do its dumps and checkpoints, from wherever it is resumed.
#[test]
fn a_run_is_resumed_from_any_folder() {
    let at = folder("repair-folder");
    let (here, elsewhere) = (at.join("here"), at.join("elsewhere"));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    let data = [
        "data",
        "quick",
        "--out",
        "x.csv",
        "--set",
        "data.samples=320",
    ];
    run_in(&here, &data).done();
    let mut train = vec!["train", "x.csv", "--engine", "fused", "--run", "run"];
    for set in [
        "training.epochs=2",
        "checkpoint.every_steps=3",
        "dump.every_steps=4",
    ] {
        train.extend(["--set", set]);
    }
    run_in(&here, &train).done();
    let path = here.join("run");
    let undisturbed = files(&path);
    let dumps = fs::read_dir(path.join("attention")).unwrap();
    let last = dumps.map(|entry| entry.unwrap().path());
    let last = last.max_by_key(|path| path.file_name().unwrap().to_owned());
    let resume = ["train", "--resume", "--run", "../here/run", "--quiet"];
    // Before its end, and before its first checkpoint.
    for lost in [
        vec![path.join("report.md"), newest(&path), last.unwrap()],
        [
            "checkpoint",
            "attention",
            "manifest.sha256",
            "model.safetensors",
            "report.md",
        ]
        .map(|name| path.join(name))
        .to_vec(),
    ] {
        for path in lost {
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        ended(&run_in(&elsewhere, &resume), 0, &[]);
        assert_same(&path, &undisturbed, "resumed from elsewhere");
    }
}

/// More epochs do not train a run whose patience has run out, but its files say that it may have had them.
#[test]
fn a_run_out_of_patience_is_extended() {
    let folder = folder("repair-patience");
    let sets = [
        "training.patience=2",
        "training.learning_rate=0.2",
        "training.evaluate_every=5",
        "training.keep_best=held_out_loss",
    ];
    let sets: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
    let with = |epochs: &'static str| [&FEW[..], &sets, &["--set", epochs]].concat();
    let (path, longer) = (folder.join("run"), folder.join("longer"));
    finish(&path, "fused", &with("training.epochs=4"));
    finish(&longer, "fused", &with("training.epochs=5"));
    let longer = files(&longer);
    let config = Path::new("config.toml");
    assert!(files(&path)[config] != longer[config]);
    ended(&attempt(&path, "fused", &with("training.epochs=5")), 0, &[]);
    let mut found = files(&path);
    for (name, bytes) in &longer {
        // Earlier dumps name the epochs of their time.
        let is_first = name.ends_with("step-000000.npz");
        let own = found.remove(name).unwrap();
        assert!(is_first || own == *bytes, "{}", name.display());
    }
    assert!(found.is_empty(), "{:?}", found.keys());
    ended(&verify(&path), 0, &[]);
}

/// The damage of a manifest of 7 MB is printed in little more memory than its names take.
#[test]
fn a_large_manifest_takes_little_memory() {
    let folder = folder("repair-large");
    let path = whole(&folder);
    let mut names: Vec<String> = (0..100_000).map(|number| format!("{number:x}")).collect();
    names.sort();
    let hash = "0".repeat(64);
    let lines = names.iter().map(|name| format!("{hash}  {name}\n"));
    let lines: String = lines.collect();
    let count = names.len();
    let manifest = format!("# {count} files, for sha256sum --check\n{lines}");
    fs::write(path.join("manifest.sha256"), manifest).unwrap();
    let finished = limited(&folder, "-v 90000", &["verify", text(&path), "--json"]);
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    let found: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    assert!(found["damage"].as_array().unwrap().len() > count);
}
