//! Published studies: the list, the rows of a plan, and its page.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::{folder, refused, run, text};

#[test]
fn without_a_name_the_studies_are_listed() {
    let listed = run(&["reproduce"]).done().stdout;
    for name in [
        "max-of-four",
        "clock-and-pizza",
        "brackets",
        "first",
        "explanation",
        "second-way",
        "every-input",
    ] {
        assert!(listed.contains(name), "{listed}");
    }
}

/// Shards of `--quick` hold the first rows of the whole plan, and those of a sweep of the same config.
#[test]
fn rows_are_those_of_sweeps() {
    let folder = folder("reproduce_rows");
    let rows = |name: &str, arguments: &[&str]| {
        let out = folder.join(name);
        let study = ["reproduce", "second-way", "--out", text(&out)];
        run(&[&study, arguments].concat()).done();
        let files = fs::read_dir(&out).unwrap().map(|file| file.unwrap().path());
        let mut files = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
        fs::read_to_string(files.next().unwrap()).unwrap()
    };
    let quick = rows("quick", &["--quick", "--shard", "1/800"]);
    assert_eq!(quick.lines().count(), 5);
    let whole = rows("whole", &["--shard", "1/50000"]);
    assert_eq!(whole.lines().count(), 2);
    assert!(quick.starts_with(&whole));
    let out = folder.join("sweep.jsonl");
    let config = "studies/second-way/seeds.toml";
    run(&["sweep", config, "--seeds", "0..5", "--out", text(&out)]).done();
    assert_eq!(fs::read_to_string(out).unwrap(), quick);
}

/// The page is made of the rows that the folder holds, and runs that it holds are skipped.
#[test]
fn a_page_is_made_of_the_rows() {
    let folder = folder("reproduce_page");
    let out = folder.join("study");
    let study = ["reproduce", "second-way", "--quick", "--out", text(&out)];
    run(&study).done();
    let files = [
        "seeds.jsonl",
        "seeds.toml",
        "page.html",
        "page.md",
        "figures.svg",
    ];
    let read = || files.map(|file| fs::read(out.join(file)).unwrap());
    let first = read();
    assert!(first.iter().all(|content| content.len() > 300));
    let again = run(&study).done();
    assert!(again.stderr.contains("seeds.jsonl"), "{}", again.stderr);
    assert!(read() == first);
}

#[test]
fn wrong_names_and_foreign_files_are_refused() {
    let unknown = run(&["reproduce", "max-of-five"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("max-of-four"), "{}", unknown.stderr);
    let folder = folder("reproduce_foreign");
    fs::write(folder.join("seeds.toml"), "mine = true\n").unwrap();
    let study = ["reproduce", "second-way", "--shard", "1/50000", "--out"];
    refused(
        &run(&[&study[..], &[text(&folder)]].concat()),
        &["seeds.toml"],
    );
    let mine = fs::read_to_string(folder.join("seeds.toml")).unwrap();
    assert_eq!(mine, "mine = true\n");
}
