//! Studies: the list, the rows of a plan, its reports, and plans of one's own.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::{folder, printed, refused, refuses_typed, run, text, typed};

#[test]
fn without_a_name_the_studies_are_listed() {
    let listed = run(&["reproduce"]).done().stdout;
    let studies = "max-of-four clock-and-pizza brackets first explanation second-way every-input";
    for name in studies.split(' ') {
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
    fs::write(folder.join("plan.toml"), PLAN).unwrap();
    let out = folder.join("results");
    let study = "reproduce plan.toml --out results";
    let quick = printed(&folder, &format!("{study} --quick"));
    assert!(quick.contains("| rates"), "{quick}");
    let rows =
        |part: &str| fs::read_to_string(out.join(format!("{part}.jsonl"))).unwrap_or_default();
    assert_eq!(rows("rates").lines().count(), 2);
    assert_eq!(rows("built-in"), "");
    typed(&folder, study).done();
    assert_eq!(rows("rates").lines().count(), 6);
    assert_eq!(rows("built-in").lines().count(), 2);
    let report = || fs::read_to_string(out.join("rates.html")).unwrap();
    let first = report();
    assert!(first.contains("rates: 6 runs"));
    let again = typed(&folder, study).done();
    assert!(again.stderr.contains("rates.jsonl"), "{}", again.stderr);
    assert_eq!(report(), first);
}

#[test]
fn wrong_names_and_foreign_files_are_refused() {
    let folder = folder("reproduce_foreign");
    fs::write(folder.join("seeds.toml"), "mine = true\n").unwrap();
    refuses_typed(&folder, "reproduce max-of-five", &["max-of-four"]);
    let study = "reproduce second-way --shard 1/50000 --out .";
    refuses_typed(&folder, study, &["seeds.toml"]);
}

#[test]
fn bad_plans_and_rows_of_others_are_refused() {
    let folder = folder("reproduce_bad_plans");
    fs::write(folder.join("mine.toml"), QUICK).unwrap();
    let study = "reproduce plan.toml --quick --out results";
    let tried = |from: &str, to: &str| {
        fs::write(folder.join("plan.toml"), PLAN.replacen(from, to, 1)).unwrap();
        typed(&folder, study)
    };
    for (from, to, parts) in [
        ("seeds = 3", "sedes = 3", &["plan.toml:10:1", "sedes"][..]),
        (
            "question",
            "questoin",
            &["plan.toml:", "`questoin`", "`question`"],
        ),
        ("seeds = 3", "seeds = 0", &["plan.toml", "seeds"]),
        ("quick = 1", "quick = 4", &["plan.toml", "quick"]),
        ("\"mine\"", "\"../mine\"", &["plan.toml", "../mine"]),
        ("mine.toml", "yours.toml", &["rates", "yours.toml"]),
        ("\"quick\"", "\"quik\"", &["built-in", "quik"]),
        ("training.epochs=1", "model.d_mode=8", &["`d_model`"]),
        ("=1e-3,3e-3", "", &["training.learning_rate"]),
        ("1e-3,3e-3", "fast", &["rates", "training.learning_rate"]),
    ] {
        refused(&tried(from, to), parts);
        assert!(!folder.join("results").exists(), "{to}");
    }
    tried("", "").done();
    refused(&tried("1e-3,3e-3", "1e-3,4e-3"), &["rates.jsonl"]);
}
