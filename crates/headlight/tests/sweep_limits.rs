//! Sweeps with too much or too little of something: large seeds, more shards than runs, few open files, odd names.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{
    Finished, SHORT, contents, ended, folder, limited, mentions, refused, refuses_in, run_in,
};

/// The arguments of a short sweep.
fn sweep<'a>(out: &'a str, seeds: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let sweep = ["sweep", "quick", "--out", out, "--seeds", seeds];
    [&sweep, &SHORT[..], more].concat()
}

#[test]
fn every_seed_of_a_sweep_can_be_trained() {
    const LARGEST: &str = "9223372036854775807";
    let folder = folder("large_seeds");
    for number in [
        "9223372036854775808",
        "18446744073709551615",
        "99999999999999999999",
        "99999999999999999999999999999999999999999999999999",
    ] {
        let set = |key: &str| format!("{key}={number}");
        for change in [set("seed"), set("data.seed")] {
            let train = ["train", "quick", "--run", "run", "--set", &change];
            refuses_in(&folder, &train, &[LARGEST]);
            refuses_in(
                &folder,
                &sweep("a.jsonl", "0..2", &["--set", &change]),
                &[LARGEST],
            );
        }
        let grid = format!("data.seed=1,{number}");
        refuses_in(
            &folder,
            &sweep("a.jsonl", "0..2", &["--grid", &grid]),
            &[LARGEST],
        );
        for seeds in [format!("0..{number}0"), format!("{number}..{number}1")] {
            refuses_in(&folder, &sweep("a.jsonl", &seeds, &[]), &[LARGEST]);
        }
        run_in(&folder, &["init", "quick", "--force"]).done();
        let config = fs::read_to_string(folder.join("quick.toml")).unwrap();
        fs::write(
            folder.join("large.toml"),
            format!("seed = {number}\n{config}"),
        )
        .unwrap();
        let train = ["train", "large.toml", "--run", "run"];
        refuses_in(&folder, &train, &["large.toml:1:8", LARGEST]);
    }
    let refused = "9223372036854775807..9223372036854775809";
    refuses_in(&folder, &sweep("a.jsonl", refused, &[]), &[LARGEST]);
    let last = "9223372036854775806..9223372036854775808";
    run_in(&folder, &sweep("a.jsonl", last, &[])).done();
    let row = fs::read_to_string(folder.join("a.jsonl")).unwrap();
    assert!(mentions(row.lines().last().unwrap(), LARGEST));
    let seed = format!("seed={LARGEST}");
    let train = ["train", "quick", "--run", "run", "--set", &seed];
    run_in(&folder, &[&train[..], &SHORT].concat()).done();
}

#[test]
fn a_sweep_that_fails_before_its_first_row_leaves_no_file() {
    let folder = folder("no_first_row");
    for threads in ["1", "2"] {
        let arguments = sweep("rows.jsonl", "0..4", &["--threads", threads]);
        ended(&limited(&folder, "-f 0", &arguments), 1, &["ulimit -f"]);
        assert!(contents(&folder).is_empty());
    }
}

/// Shard `index` of three.
fn shard(folder: &Path, index: usize) -> Finished {
    let (shard, out) = (format!("{index}/3"), format!("rows-{index}-of-3.jsonl"));
    run_in(folder, &sweep(&out, "0..2", &["--shard", &shard]))
}

#[test]
fn a_shard_without_runs_is_done() {
    let folder = folder("empty_shard");
    run_in(&folder, &sweep("whole.jsonl", "0..2", &[])).done();
    let parts = [1, 2, 3].map(|shard| format!("rows-{shard}-of-3.jsonl"));
    // A task that is started again is done too.
    for index in [1, 2, 3, 1, 2, 3] {
        let done = shard(&folder, index).done();
        assert!(mentions(&done.stdout, &parts[index - 1]), "{}", done.stdout);
    }
    let length = |part: &String| folder.join(part).metadata().unwrap().len();
    let empty: Vec<&String> = parts.iter().filter(|part| length(part) == 0).collect();
    let [empty] = empty[..] else {
        panic!("{empty:?}");
    };
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let merge = [
        "merge",
        &parts[0],
        &parts[1],
        &parts[2],
        "--out",
        "merged.jsonl",
    ];
    run_in(&folder, &merge).done();
    assert!(read("merged.jsonl") == read("whole.jsonl"));
    run_in(&folder, &sweep("one.jsonl", "0..2", &["--shard", "1/3"])).done();

    refuses_in(
        &folder,
        &["merge", empty, "--out", "none.jsonl"],
        &[empty, "no rows"],
    );
    refuses_in(&folder, &["report", empty], &[empty, "no rows"]);
    // An empty shard has no place for rows.
    fs::copy(folder.join("whole.jsonl"), folder.join(empty)).unwrap();
    let before = contents(&folder);
    let index = parts.iter().position(|part| part == empty).unwrap();
    refused(&shard(&folder, index + 1), &[empty]);
    assert!(contents(&folder) == before);
}

#[test]
fn many_files_are_merged_with_few_open() {
    let folder = folder("few_open_files");
    run_in(&folder, &sweep("whole.jsonl", "0..60", &[])).done();
    let whole = fs::read_to_string(folder.join("whole.jsonl")).unwrap();
    run_in(&folder, &["merge", "whole.jsonl", "--out", "whole.csv"]).done();
    // Each file has two rows, from both halves, and one row of another file.
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let mut parts = Vec::new();
    for place in 0..30 {
        let part = format!("part-{place}.jsonl");
        let rows = [lines[place], lines[(place + 1) % 30], lines[place + 30]];
        fs::write(folder.join(&part), rows.concat()).unwrap();
        parts.push(part);
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    for out in ["merged.jsonl", "merged.csv"] {
        let merge = [&["merge", "--force", "--out", out][..], &parts].concat();
        let mut merged = 0;
        for limit in 4..14 {
            let ended = limited(&folder, &format!("-n {limit}"), &merge);
            let message = format!("{out} with {limit}: {}", ended.stderr);
            // 127: the system's loader cannot open a library.
            assert!(matches!(ended.code, Some(0 | 1 | 127)), "{message}");
            if ended.code == Some(0) {
                merged += 1;
                let expected = folder.join(out.replace("merged", "whole"));
                let made = fs::read(folder.join(out)).unwrap();
                assert!(made == fs::read(expected).unwrap(), "{message}");
            }
        }
        assert!(merged > 4, "{out}: {merged}");
    }
}
