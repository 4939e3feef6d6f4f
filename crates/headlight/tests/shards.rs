//! Sweeps in shards: the line of each scheduler in `docs/clusters.md` trains its shard, and all shards together are the
//! sweep.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::sweeps::sweep;
use crate::common::{Finished, contents, folder, refused, run_in, text};

/// The sweep of `docs/clusters.md`, and a small one in its place.
const DOCUMENTED: &str = "notebook --seeds 0..100000 --threads 4";
const SMALL: &str = "notebook --seeds 0..10 --threads 1 --set training.epochs=1";

/// The command that the document has for a scheduler, which writes the shard of `index`.
fn command(document: &str, index: &str) -> String {
    let lines = document.lines();
    let mut lines = lines.filter(|line| line.contains("headlight sweep") && line.contains(index));
    let line = lines
        .next()
        .unwrap_or_else(|| panic!("no line with {index}"));
    assert!(line.contains(DOCUMENTED), "{line}");
    let start = line.find("headlight sweep").unwrap();
    let end = line.find(".jsonl").unwrap() + ".jsonl".len();
    let quote = line[end..].starts_with('"');
    line[start..end + usize::from(quote)].replace(DOCUMENTED, SMALL)
}

#[test]
fn the_shards_of_each_scheduler_are_the_sweep() {
    let folder = folder("shards_recipes");
    let whole = folder.join("whole.jsonl");
    let small = format!("sweep {SMALL} --out whole.jsonl");
    run_in(&folder, &small.split(' ').collect::<Vec<_>>()).done();
    let whole = fs::read(whole).unwrap();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clusters.md");
    let document = fs::read_to_string(document).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_headlight"));
    let path = format!(
        "{}:{}",
        text(binary.parent().unwrap()),
        std::env::var("PATH").unwrap()
    );
    for (variable, first) in [
        ("SLURM_ARRAY_TASK_ID", 1),
        ("{}", 1),
        ("HQ_TASK_ID", 1),
        ("JOB_COMPLETION_INDEX", 0),
    ] {
        let line = command(&document, variable);
        let results = folder.join("results");
        fs::create_dir_all(&results).unwrap();
        for index in first..first + 8 {
            let index = index.to_string();
            let mut shell = Command::new("bash");
            // GNU parallel puts the index in place of `{}`, the others hand it over as a variable.
            shell.args(["-c", &line.replace("{}", &index)]);
            shell.env("PATH", &path).current_dir(&folder);
            if variable != "{}" {
                shell.env(variable, &index);
            }
            Finished::from(shell.output().unwrap()).done();
        }
        let merge = "headlight merge results/seeds-*-of-8.jsonl --out results/seeds.jsonl";
        assert!(document.contains(merge));
        let mut shell = Command::new("bash");
        shell
            .args(["-c", merge])
            .env("PATH", &path)
            .current_dir(&folder);
        Finished::from(shell.output().unwrap()).done();
        assert_eq!(
            fs::read(results.join("seeds.jsonl")).unwrap(),
            whole,
            "{variable}"
        );
        // A file for each shard, the merged one, and the config.
        assert_eq!(fs::read_dir(&results).unwrap().count(), 10, "{variable}");
        fs::remove_dir_all(&results).unwrap();
    }
}

/// With another number of shards, a shard's file is that of another shard: refused, and left alone.
#[test]
fn the_file_of_another_shard_is_refused() {
    let folder = folder("shards_refused");
    let out = folder.join("rows.jsonl");
    sweep(&out, "0..10", &["--shard", "2/3"]).done();
    let before = contents(&folder);
    refused(
        &sweep(&out, "0..10", &["--shard", "2/4"]),
        &["rows.jsonl", "line 1", "seed 3", "seed 2"],
    );
    assert!(contents(&folder) == before);
}
