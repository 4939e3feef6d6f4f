//! `verify` names the files of a run that are missing or changed.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::runs::finish;
use crate::common::{Finished, contents, folder, mentions, refused, run, text};

fn verify(path: &Path) -> Finished {
    run(&["verify", text(path)])
}

/// Each file but the lock is listed; and each that is removed, emptied, cut short or has another bit is named.
#[test]
fn every_changed_file_is_named() {
    let path = folder("verify").join("run");
    finish(&path, "fused", "");
    let whole = contents(&path);
    let files = whole.iter().filter(|(path, _)| path.is_file());
    let files = files.filter(|(path, _)| !path.ends_with(".lock"));
    let mut count = 0;
    for (file, bytes) in files {
        let name = text(file.strip_prefix(&path).unwrap());
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        let half = &bytes[..bytes.len() / 2];
        for change in [None, Some(&b""[..]), Some(half), Some(&flipped)] {
            match change {
                Some(bytes) => fs::write(file, bytes).unwrap(),
                None => fs::remove_file(file).unwrap(),
            }
            let found = verify(&path);
            assert_eq!(found.code, Some(2), "{name}: {}", found.stderr);
            // Another bit of the manifest is another hash or name of some file.
            let is_manifest = name == "manifest.sha256";
            assert!(is_manifest || mentions(&found.stdout, name), "{name}");
            let stderr = found.stderr;
            // Another config trains another model.
            let can_repeat = name != "config.toml";
            assert_eq!(mentions(&stderr, "headlight train"), can_repeat, "{stderr}");
            assert!(mentions(&stderr, "config.toml"), "{stderr}");
            fs::write(file, bytes).unwrap();
        }
        count += usize::from(name != "manifest.sha256");
    }
    let sound = verify(&path).done().stdout;
    assert!(mentions(&sound, &count.to_string()), "{sound}");

    fs::write(path.join("report.md"), "").unwrap();
    let finished = run(&["verify", text(&path), "--json"]);
    assert_eq!(finished.code, Some(2));
    let found: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(found["damage"][0]["file"], "report.md");
    assert_eq!(found["damage"].as_array().unwrap().len(), 1);
    refused(&verify(&path.join("config.toml")), &[]);

    // A manifest that names files elsewhere is no manifest.
    fs::write(path.join("../mine"), "mine").unwrap();
    let hash = "0".repeat(64);
    let lines = format!("# 1 files, for sha256sum --check\n{hash}  attention/../../mine\n");
    fs::write(path.join("manifest.sha256"), lines).unwrap();
    let found = verify(&path);
    assert_eq!(found.code, Some(2));
    assert!(mentions(&found.stdout, "manifest.sha256"));
}

/// A run that has not ended has no hashes, and is not called whole.
#[test]
fn a_run_that_has_not_ended_is_not_verified() {
    let path = folder("verify_begun").join("run");
    finish(&path, "fused", "");
    for end in ["report.md", "manifest.sha256"] {
        fs::remove_file(path.join(end)).unwrap();
    }
    refused(&verify(&path), &["--resume"]);
    refused(&run(&["verify", text(&path), "--json"]), &["--resume"]);
}
