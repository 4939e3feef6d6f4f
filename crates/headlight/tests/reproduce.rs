//! Studies: the list, the rows of a plan, its reports, and plans of one's own.
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

const QUICK: &str = include_str!("../../../configs/quick.toml");

const PLAN: &str = r#"
name = "mine"
question = "Does a higher rate learn faster?"

[[part]]
name = "rates"
config = "mine.toml"
set = ["training.epochs=1"]
grid = ["training.learning_rate=1e-3,3e-3"]
seeds = 3
quick = 1

[[part]]
name = "built-in"
config = "quick"
seeds = 2
"#;

/// A plan of one's own: its rows and reports, which a second call finds.
#[test]
fn a_plan_of_ones_own_is_run() {
    let folder = folder("reproduce_mine");
    fs::write(folder.join("mine.toml"), QUICK).unwrap();
    let plan = folder.join("plan.toml");
    fs::write(&plan, PLAN).unwrap();
    let out = folder.join("results");
    let study = ["reproduce", text(&plan), "--out", text(&out)];
    let quick = run(&[&study[..], &["--quick"]].concat()).done();
    assert!(quick.stdout.contains("| rates"), "{}", quick.stdout);
    let rows =
        |part: &str| fs::read_to_string(out.join(format!("{part}.jsonl"))).unwrap_or_default();
    assert_eq!(
        (rows("rates").lines().count(), rows("built-in")),
        (2, String::new())
    );
    run(&study).done();
    assert_eq!(rows("rates").lines().count(), 6);
    assert_eq!(rows("built-in").lines().count(), 2);
    let report = || fs::read_to_string(out.join("rates.html")).unwrap();
    let first = report();
    assert!(first.contains("rates: 6 runs"));
    let again = run(&study).done();
    assert!(again.stderr.contains("rates.jsonl"), "{}", again.stderr);
    assert_eq!(report(), first);
}

#[test]
fn wrong_names_and_foreign_files_are_refused() {
    let unknown = run(&["reproduce", "max-of-five"]);
    refused(&unknown, &["max-of-four"]);
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

#[test]
fn bad_plans_and_rows_of_others_are_refused() {
    let folder = folder("reproduce_bad_plans");
    fs::write(folder.join("mine.toml"), QUICK).unwrap();
    let plan = folder.join("plan.toml");
    let out = folder.join("results");
    let tried = |from: &str, to: &str| {
        fs::write(&plan, PLAN.replace(from, to)).unwrap();
        run(&["reproduce", text(&plan), "--quick", "--out", text(&out)])
    };
    refused(
        &tried("seeds = 3", "sedes = 3"),
        &["plan.toml:10:1", "sedes"],
    );
    refused(&tried("mine.toml", "yours.toml"), &["rates", "yours.toml"]);
    refused(
        &tried("1e-3,3e-3", "fast"),
        &["rates", "training.learning_rate"],
    );
    assert!(!out.exists());
    tried("", "").done();
    refused(&tried("1e-3,3e-3", "1e-3,4e-3"), &["rates.jsonl"]);
}
