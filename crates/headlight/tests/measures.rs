//! Measures from outside: as columns of a sweep's rows, in its report, in `evaluate`, and refused before training.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::sweeps::rows;
use crate::common::{asked, folder, printed, refuses_each, refuses_typed, typed};

const CONFIG: &str = r#"
data = { generator = "all", samples = 90, held_out = 31, vocab_size = 11, seq_len = 2, cls = "none", rule = { kind = "sum-mod", modulus = 11 } }
model = { d_model = 8, n_heads = 2, norm = "none", d_ff = 16 }
training = { epochs = 4, batch_size = 16, learning_rate = 0.01 }
"#;

const MEASURES: &str = "--set 'report.measures=[\"kendall_removal\", \"deciding_attention\", \"kendall_gradient\", \"deciding_uniform\"]'";

/// A folder with the config.
fn with_config(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    fs::write(folder.join("sums.toml"), CONFIG).unwrap();
    folder
}

fn sweep(folder: &Path, more: &str) -> String {
    printed(folder, &format!("sweep sums.toml --out {more}"))
}

#[test]
fn rows_have_the_measures_that_the_config_names() {
    let folder = with_config("measures_rows");
    for more in ["one.jsonl --threads 1", "three.jsonl --threads 3"] {
        sweep(&folder, &format!("{more} --seeds 0..3 {MEASURES}"));
    }
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
    assert_eq!(bytes("one.jsonl"), bytes("three.jsonl"));
    // In the order of the table, between the step and the weights.
    let text = String::from_utf8(bytes("one.jsonl")).unwrap();
    let places = [
        "learned_at_step",
        "deciding_attention",
        "deciding_uniform",
        "kendall_gradient",
        "kendall_removal",
        "weights_sha256",
    ];
    let places = places.map(|name| text.find(&format!("\"{name}\"")).unwrap());
    assert!(places.is_sorted(), "{text}");
    // A run that `train` makes has the same values, also in its report.
    typed(
        &folder,
        &format!("train sums.toml --run run --set seed=2 {MEASURES}"),
    )
    .done();
    let evaluated = asked(&folder, "evaluate run");
    let row = &rows(&folder.join("one.jsonl"))[2];
    assert_eq!(evaluated["measures"].as_object().unwrap().len(), 4);
    for (name, value) in evaluated["measures"].as_object().unwrap() {
        assert_eq!(*value, row[name], "{name}");
    }
    let shown = printed(&folder, "evaluate run");
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    for text in [shown, report] {
        for part in ["Measures", "kendall_removal: Whether the words"] {
            assert!(text.contains(part), "{text}");
        }
    }
    // `evaluate` gives no measures of a changed model.
    let changed = asked(&folder, "evaluate run --without-head 0.1");
    assert!(changed.get("measures").is_none(), "{changed}");
    // The same rows, resumed and as CSV.
    sweep(&folder, &format!("one.jsonl --seeds 0..4 {MEASURES}"));
    assert_eq!(rows(&folder.join("one.jsonl")).len(), 4);
    typed(&folder, "merge one.jsonl --out all.csv").done();
    let table = fs::read_to_string(folder.join("all.csv")).unwrap();
    let header = table.lines().next().unwrap();
    let columns = "learned_at_step,deciding_attention_0_0,deciding_attention_0_1,deciding_uniform,kendall_gradient,kendall_removal,weights_sha256";
    assert!(header.contains(columns), "{header}");
}

/// Rows without measures have another config, and are those of earlier versions: no key more.
#[test]
fn rows_of_configs_with_and_without_measures_do_not_mix() {
    let folder = with_config("measures_mixed");
    sweep(&folder, "without.jsonl --seeds 0..2");
    let text = fs::read_to_string(folder.join("without.jsonl")).unwrap();
    for part in ["kendall_removal", "measures"] {
        assert!(!text.contains(part), "{text}");
    }
    // A row that lacks a measure is no row of this sweep.
    sweep(&folder, &format!("with.jsonl --seeds 0..1 {MEASURES}"));
    let row = fs::read_to_string(folder.join("with.jsonl")).unwrap();
    let row = row.replace("\"kendall_removal\"", "\"roundness\"");
    fs::write(folder.join("with.jsonl"), row).unwrap();
    let refused = "
without.jsonl | report.measures | without.jsonl
with.jsonl    | kendall_removal | missing
";
    let more = format!("sweep sums.toml --seeds 0..2 {MEASURES} --out");
    refuses_each(&folder, &more, refused);
}

#[test]
fn a_report_draws_curves_and_maps_of_measures() {
    let folder = with_config("measures_report");
    let grid = "grid.jsonl --seeds 0..2 --set 'report.measures=[\"kendall_removal\"]' \
                --grid model.d_ff=4,8,16 --grid training.learning_rate=0.003,0.01";
    let shown = sweep(&folder, grid);
    let map = "kendall_removal by training.learning_rate and model.d_ff";
    assert!(shown.contains(map), "{shown}");
    let picture = fs::read_to_string(folder.join("grid.svg")).unwrap();
    for part in [
        "mean kendall_removal",
        "model.d_ff = 8, training.learning_rate = 0.01: ",
    ] {
        assert!(picture.contains(part), "{part}");
    }
    // One number by one key: no map.
    let one = "report grid.jsonl --by model.d_ff --metric accuracy --svg -";
    let picture = printed(&folder, one);
    assert!(picture.contains("mean accuracy"), "{picture}");
    for other in ["kendall_removal", "model.d_ff = 8"] {
        assert!(!picture.contains(other), "{picture}");
    }
    let by = "--by training.learning_rate --by model.d_ff";
    let found = asked(
        &folder,
        &format!("report grid.jsonl --metric held_out_accuracy {by}"),
    );
    let grid = &found["grids"][0];
    assert_eq!(grid["metric"], "held_out_accuracy");
    assert_eq!(grid["values"][1], serde_json::json!([4, 8, 16]));
    assert_eq!(grid["cells"][2][1]["runs"], 2);
    let parts = ["--metric roundness", "grid.jsonl", "kendall_removal"];
    refuses_typed(&folder, "report grid.jsonl --metric roundness", &parts);
}

/// Before anything is trained.
#[test]
fn measures_that_a_model_lacks_are_refused() {
    let folder = with_config("measures_refused");
    let refused = r#"
train sums.toml --run run --set 'report.measures=["gap"]' | report.measures | gap | two classes
sweep sums.toml --seeds 0..2 --out x.jsonl --set 'report.measures=["gap"]' | report.measures | gap | two classes
sweep sums.toml --seeds 0..2 --out x.jsonl --set 'report.measures=["roundness"]' | roundness | kendall_removal
"#;
    refuses_each(&folder, "", refused);
}
