//! `headlight report`, and results files that it and `merge` read: figures that can be checked by hand, and
//! damaged files.
//!
//! One file, because all its tests read the same sweeps.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::sweeps::{rows, whole};
use crate::common::{asked, ended, folder, mentions, printed, refuses_each, refuses_typed, typed};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A row with two positions and two epochs.
fn row(seed: u64, point: Option<(usize, f64)>, loss: f64, step: Option<u32>) -> String {
    let place = point.map_or_else(String::new, |(point, rate)| {
        format!("\"point\":{point},\"training.learning_rate\":{rate},\"model.d_model\":4,")
    });
    let f1 = if step.is_some() { "1.0" } else { "0.5" };
    let step = step.map_or_else(|| "null".to_owned(), |step| step.to_string());
    let (low, high) = (0.5 - loss / 10.0, 0.5 + loss / 10.0);
    let row = format!(
        "{{\"seed\":{seed},{place}\"epoch_loss\":[{},{loss}],\"final_loss\":{loss},\"accuracy\":1.0,\"f1\":{f1},\
         \"attention_positive\":[{low},{high}],\"attention_negative\":[0.75,0.25],\"learned_at_step\":{step},\
         \"weights_sha256\":\"w\",\"config_sha256\":\"c\"}}",
        10.0 * loss
    );
    whole(&row) + "\n"
}

fn failed(seed: u64, error: &str) -> String {
    format!("{{\"seed\":{seed},\"error\":\"{error}\",\"config_sha256\":\"c\"}}\n")
}

/// A folder with such rows as `rows.jsonl`.
fn with_rows(name: &str, rows: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("rows.jsonl"), rows).unwrap();
    folder
}

/// The cells of a table's row, by its first cell.
fn cells(shown: &str, name: &str) -> Vec<String> {
    let mut lines = shown.lines().filter(|line| line.starts_with('|'));
    let line = lines.find(|line| line.split('|').nth(1).unwrap().trim() == name);
    let line = line.unwrap_or_else(|| panic!("no line `{name}` in {shown}"));
    let cells = line.trim_matches('|').split('|').skip(1);
    cells.map(|cell| cell.trim().to_owned()).collect()
}

/// Losses 1, 2, 4 and 8: mean 3.75 and quantiles are `numpy.mean` and `numpy.quantile`, the deviation
/// `numpy.std(ddof=1)`, the share's interval `proportion_confint(3, 6, method="wilson")` of statsmodels.
#[test]
fn figures_are_numpys() {
    let mut all = String::new();
    for (seed, loss, step) in [
        (0, 1.0, Some(10)),
        (1, 2.0, Some(20)),
        (2, 4.0, None),
        (3, 8.0, Some(40)),
    ] {
        all += &row(seed, None, loss, step);
    }
    all += &failed(4, "training diverged: NaN at step 7; try less");
    all += &failed(5, "training diverged: NaN at step 12; try something else");
    let folder = with_rows("report_figures", &all);
    let shown = printed(&folder, "report rows.jsonl --position 1");
    for part in ["6", "2", "3", "50.0%", "18.76%", "81.24%", "position 1"] {
        assert!(mentions(&shown, part), "{shown}");
    }
    let other = printed(&folder, "report rows.jsonl --position 0");
    // Epoch 1: runs, mean, 5%, 25%, median, 75%, 95%. Position 0 of positives: 0.4, 0.3, 0.1, -0.3.
    for (shown, name, expected) in [
        (
            &shown,
            "final loss",
            "3.75000 in 4 of 6 | 3.09570 | 1.00000 | 1.15000 | 3.00000 | 7.40000 | 8.00000",
        ),
        (&shown, "learned at step", "23 in 3 of 6 | 15"),
        (
            &shown,
            "label 1 or more: attention on position 1",
            "0.875 in 4 of 6 | 0.310 | 0.600",
        ),
        (&shown, "training diverged: NaN at step 7", "2 | 4"),
        (
            &shown,
            "1",
            "4 | 37.50000 | 11.50000 | 17.50000 | 30.00000 | 50.00000 | 74.00000",
        ),
        (&shown, "0", "0.125 in 4 of 6 | 0.310"),
        (
            &other,
            "label 0: attention on position 0",
            "0.750 in 4 of 6",
        ),
    ] {
        let found = cells(shown, name).join(" | ");
        assert!(found.starts_with(expected), "{name}: {found}");
    }
}

/// Two learning rates with four runs each; 3.182446 is `scipy.stats.t.ppf(0.975, 3)`, intervals of shares are
/// Wilson's of 4 and of 2 out of 4.
#[test]
fn a_key_of_the_grid_is_compared_with_intervals() {
    let mut all = String::new();
    for (seed, loss) in (0..).zip([1.0, 2.0, 4.0, 8.0]) {
        all += &row(seed, Some((0, 1e-3)), loss, Some(10));
        let step = (seed < 2).then_some(30);
        all += &row(seed, Some((1, 1e-2)), loss / 2.0, step);
    }
    // The scatter plot shows the attention on the positions that decide.
    let deciding = "\"deciding_attention_positive\":0.75,\"deciding_attention_negative\":0.25,\
                    \"deciding_uniform_positive\":0.5,\"deciding_uniform_negative\":0.5,\"learned_at_step\"";
    let folder = with_rows("report_by", &all.replace("\"learned_at_step\"", deciding));
    let by = "report rows.jsonl --by training.learning_rate --svg report.svg --html report.html";
    let shown = printed(&folder, by);
    // 3.182446 * 3.095696 / sqrt(4) = 4.925943, and half of it.
    for (rate, expected) in [
        (
            "0.001",
            "4 | 0 | 100.0% | 51.0–100.0% | 10 | 3.75000 ± 4.92594",
        ),
        (
            "0.01",
            "4 | 0 | 50.0% | 15.0–85.0% | 30 | 1.87500 ± 2.46297",
        ),
    ] {
        assert_eq!(cells(&shown, rate)[..6].join(" | "), expected);
    }
    // A key that varies is shown without --by, one that does not with it.
    assert_eq!(printed(&folder, "report rows.jsonl"), shown);
    let same = printed(&folder, "report rows.jsonl --by model.d_model");
    assert_eq!(cells(&same, "4")[0], "8");

    let picture = fs::read_to_string(folder.join("report.svg")).unwrap();
    for part in [">0.001</text>", ">0.01</text>"] {
        assert!(picture.contains(part), "{part}");
    }
    // Eight runs, but two did not learn: no point in the scatter plot.
    assert_eq!(picture.matches("class=\"dot\"").count(), 6);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    for part in ["default-src 'none'", "3.75000 ± 4.92594", "<svg "] {
        assert!(page.contains(part), "{part}");
    }
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for part in [
        "<script", "http:", "https:", "src=", "href=", "style=\"", "onload",
    ] {
        assert!(!page.contains(part), "{part}");
    }
}

/// The numbers of the test before, and a seed that no float can hold.
#[test]
fn json_has_numbers_that_are_not_rounded() {
    let mut all = String::new();
    for (seed, loss) in (0..).zip([1.0, 2.0, 4.0, 8.0]) {
        all += &row(seed, Some((0, 1e-3)), loss, Some(10));
        all += &row(seed, Some((1, 1e-2)), loss / 2.0, (seed < 2).then_some(30));
    }
    let large = (1 << 53) + 1;
    all += &row(large, Some((0, 1e-3)), 16.0, None);
    let values = asked(&with_rows("report_json", &all), "report rows.jsonl");
    assert_eq!([&values["runs"], &values["learned"]], [9, 6]);
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value - expected).abs() < 1e-5, "{value} {expected}");
    };
    near(&values["learned_share"], 6.0 / 9.0);
    let group = &values["groups"][1];
    assert_eq!(group["settings"]["training.learning_rate"], 1e-2);
    assert_eq!([&group["runs"], &group["learned"]], [4, 2]);
    near(&group["final_loss"]["mean"], 1.875);
    near(&group["final_loss"]["margin"], 2.462_971_5);
    near(&group["learned_interval"][0], 0.150_036);
    near(&group["learned_at_step"]["median"], 30.0);
    let first = &values["stand_outs"][0];
    assert_eq!(first["seed"], large);
    assert_eq!(first["why"], "never_learned");
    assert_eq!(first["learned_at_step"], Value::Null);
}

/// Rows with these losses and steps; the lists of the first one hold two numbers that float32 cannot hold.
fn extreme(name: &str, rows: &[(f64, u64)]) -> PathBuf {
    let mut all = String::new();
    for (seed, (loss, step)) in rows.iter().enumerate() {
        let [high, low] = if seed == 0 {
            ["1e308", "-1e-300"]
        } else {
            ["0.75", "0"]
        };
        let row = format!(
            "{{\"seed\":{seed},\"epoch_loss\":[{high},0.25],\"final_loss\":{loss:e},\"f1\":1,\"learned_at_step\":{step},\
             \"attention_positive\":[0.5,{low}],\"attention_negative\":[0.5,0.5],\"config_sha256\":\"c\"}}"
        );
        all += &(whole(&row) + "\n");
    }
    with_rows(name, &all)
}

/// No number becomes another one: JSON holds it as the row does, or counts it.
#[test]
fn no_number_becomes_another_one() {
    for (place, losses) in [
        [1e308, -1e308],
        [1e308, 1e308],
        [f64::MAX, 0.0],
        [1e39, 1e-300],
        [0.1, 0.1],
        [0.1, 0.3],
        [0.0, 0.0],
        [0.0, 5e-324],
        [1e18, 1e18 + 256.0],
    ]
    .into_iter()
    .enumerate()
    {
        let steps = [(1 << 24) + 1, (1 << 53) - 1];
        let name = format!("report_extreme_{place}");
        let folder = extreme(&name, &[(losses[0], steps[0]), (losses[1], steps[1])]);
        let values = asked(&folder, "report rows.jsonl");
        let loss = &values["samples"]["final_loss"];
        let figure = |name: &str| loss[name].as_f64().unwrap();
        let [low, high] = [losses[0].min(losses[1]), losses[0].max(losses[1])];
        assert_eq!((&loss["min"], &loss["max"]), (&low.into(), &high.into()));
        let near = |found: f64, expected: f64| {
            let error = (found / 2.0 - expected / 2.0).abs();
            assert!(
                error <= 1e-12 * expected.abs(),
                "{losses:?}: {found} {expected}"
            );
        };
        let middle = low / 2.0 + high / 2.0;
        near(figure("mean"), middle);
        near(figure("median"), middle);
        near(figure("sd"), (high / 2.0 - low / 2.0) * 2.0_f64.sqrt());
        let step = &values["samples"]["learned_at_step"];
        assert_eq!(
            [&step["min"], &step["max"]],
            steps.map(|step| step as f64).each_ref()
        );
        // Of the first row's lists, float32 takes one number as infinite, which no figure has, and one as 0.
        assert_eq!(values["epoch_loss"][0]["runs"], 1);
        assert_eq!(values["epoch_loss"][0]["max"], 0.75);
        assert_eq!(values["attention_positive"][1]["runs"], 2);
        assert_eq!(values["attention_positive"][1]["min"].as_f64(), Some(0.0));

        let shown = printed(&folder, "report rows.jsonl --svg all.svg --html all.html");
        for cell in shown.split(['|', '–', ' ', '\n']) {
            let is_number = cell.contains(|c: char| c.is_ascii_digit());
            assert!(!is_number || cell.len() <= 14, "{losses:?}: {cell}");
        }
        let drawn = fs::read_to_string(folder.join("all.svg")).unwrap();
        for number in ["NaN", "inf"] {
            assert!(!drawn.contains(number), "{losses:?}: {number}");
        }
        let labels = drawn
            .split("</text>")
            .filter_map(|part| part.rsplit('>').next());
        for label in labels.flat_map(|label| label.split(' ')) {
            let is_number = label.parse::<f64>().is_ok();
            assert!(!is_number || label.len() <= 14, "{losses:?}: {label}");
        }
    }
}

/// A sweep ends with the report of its file.
#[test]
fn a_sweep_ends_with_its_report() {
    let folder = folder("report_sweep");
    let sweep = "sweep --seeds 0..12 --out rows.jsonl --set training.epochs=1";
    let swept = printed(&folder, sweep);
    let reported = printed(&folder, "report rows.jsonl");
    assert!(swept.contains(&reported), "{swept}\n{reported}");
    typed(&folder, "report rows.jsonl --svg report.svg").done();
    let panels = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.split_once("<g ").unwrap().1.to_owned()
    };
    assert_eq!(panels("report.svg"), panels("rows.svg"));
}

#[test]
fn files_without_results_are_refused() {
    let good = row(0, None, 1.0, None) + &row(1, None, 2.0, None);
    let folder = with_rows("report_refused", &good);
    let other = row(2, None, 1.0, None).replace("\"c\"", "\"d\"");
    let changed = row(0, Some((0, 1.0)), 1.0, None) + &row(1, Some((0, 2.0)), 1.0, None);
    for (name, bytes) in [
        ("empty.jsonl", String::new()),
        ("table.csv", "seed,final_loss\n0,0.1\n".to_owned()),
        ("others.jsonl", good.clone() + &other),
        ("twice.jsonl", good.clone() + &good),
        ("words.jsonl", good.replace("2,\"acc", "\"two\",\"acc")),
        ("list.jsonl", good.replace("[20,2]", "[true]")),
        ("no_list.jsonl", good.replace("[20,2]", "7")),
        ("changed.jsonl", changed),
        ("cut.jsonl", good.replace(",\"held_out_f1\":null", "")),
        ("grid.jsonl", row(0, Some((0, 1.0)), 1.0, None)),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let refused = "
empty.jsonl                     | empty.jsonl
table.csv                       | table.csv | line 1
others.jsonl                    | others.jsonl | line 3
twice.jsonl                     | twice.jsonl | line 3 | seed 0 | headlight merge
words.jsonl                     | words.jsonl | line 2 | `final_loss`
list.jsonl                      | list.jsonl | line 2 | `epoch_loss`
no_list.jsonl                   | no_list.jsonl | line 2 | `epoch_loss`
changed.jsonl                   | changed.jsonl | line 2
cut.jsonl                       | cut.jsonl | line 1 | `held_out_f1`
none.jsonl                      | none.jsonl
rows.jsonl --by model.d_model   | model.d_model
rows.jsonl --position 2         | 2 | 0 | 1
rows.jsonl --html rows.jsonl    | rows.jsonl
grid.jsonl --by model.depth     | model.depth | model.d_model | training.learning_rate
";
    refuses_each(&folder, "report", refused);
}

/// A last line that a kill cut short is reported, and the rest is read; the file is not changed.
#[test]
fn a_last_line_that_was_cut_short_is_left_out() {
    let whole = row(0, None, 1.0, None) + &row(1, None, 2.0, None);
    let cut = &whole[..whole.len() - 9];
    let folder = with_rows("report_cut", cut);
    let finished = typed(&folder, "report rows.jsonl");
    ended(&finished, 0, &["rows.jsonl"]);
    assert_eq!(cells(&finished.stdout, "final loss")[0], "1.00000");
    let finished = typed(&folder, "merge rows.jsonl --out merged.jsonl");
    ended(&finished, 0, &["rows.jsonl"]);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("merged.jsonl"), row(0, None, 1.0, None));
    assert_eq!(read("rows.jsonl"), cut);
}

/// Rows that come twice are written once, an empty shard and a missing row are reported, and without rows no file is written.
#[test]
fn doubled_and_empty_shards_are_reported() {
    let own = row(0, None, 1.0, None) + &failed(1, "diverged") + &row(3, None, 1.0, None);
    let folder = with_rows("merge_doubled", &own);
    fs::write(folder.join("empty.jsonl"), "").unwrap();
    let finished = typed(
        &folder,
        "merge rows.jsonl empty.jsonl rows.jsonl --out all.jsonl",
    );
    for part in ["all.jsonl", "3", "1"] {
        assert!(mentions(&finished.stdout, part), "{}", finished.stdout);
    }
    ended(&finished, 0, &["empty.jsonl", "seed 2"]);
    let merged = fs::read_to_string(folder.join("all.jsonl")).unwrap();
    assert_eq!(merged, own);
    refuses_typed(
        &folder,
        "merge empty.jsonl --out none.jsonl",
        &["empty.jsonl"],
    );
}

/// Runs of different settings are no sample of one distribution, so they have no interval.
#[test]
fn settings_are_not_pooled_into_an_interval() {
    let folder = folder("report_pooled");
    let sweep = "sweep quick --seeds 0..3 --set training.epochs=1 --out g.jsonl --grid model.d_model=2,4 --grid";
    let sweep = format!("{sweep} training.learning_rate=0.001,0.01");
    typed(&folder, &sweep).done();
    let values = asked(&folder, "report g.jsonl");
    let groups = values["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2 + 2 + 4);
    let all = &values["samples"]["final_loss"];
    for (of, runs) in [(&values, 12), (&groups[0], 6), (&groups[4], 3)] {
        assert_eq!(of["runs"], runs);
        assert_eq!(of["learned_interval"].is_array(), runs == 3);
        let loss = of.get("final_loss").unwrap_or(all);
        assert_eq!(loss["margin"].is_number(), runs == 3);
    }
}

/// The settings of a run that stands out train it again when they are pasted, whatever the key's value.
#[test]
fn settings_of_a_report_run_when_pasted() {
    let folder = folder("report_settings");
    let row = |row: usize| format!("text {row},{}\n", ["no way", "it's"][row % 2]);
    let rows: String = (0..20).map(row).collect();
    fs::write(folder.join("t.csv"), format!("text,label\n{rows}")).unwrap();
    for (index, (config, grid)) in [
        ("quick", r#"data.rule={kind="token-anywhere",token=3},{kind="token-anywhere",token=4}"#),
        ("quick", "model.attention.mask=causal,[[1,0,1,1,1,1,1],[1,1,1,1,1,1,1],[1,0,1,1,1,1,1],[1,0,1,1,1,1,1],[1,0,1,1,1,1,1],[1,0,1,1,1,1,1],[1,0,1,1,1,1,1]]"),
        ("t.csv", r#"data.classes=["no way","it's"],["it's","no way"]"#),
        ("t.csv", "data.words.level=word,character"),
        ("quick", "dump.samples=[0],[1,2]"),
    ].into_iter().enumerate() {
        let out = format!("{index}.jsonl");
        let grid = shlex::try_quote(grid).unwrap();
        typed(&folder, &format!("sweep {config} --seeds 0..4 --grid {grid} --set training.epochs=1 --out {out}")).done();
        let found = rows_with_late(&folder.join(&out));
        let told = printed(&folder, &format!("report {out}"));
        let mut lines = told.lines();
        let how = lines.find(|line| line.starts_with("Seeds that stand out")).unwrap();
        let config = how.split("headlight train ").nth(1).unwrap().split(' ').next().unwrap();
        let cells = lines.filter(|line| line.contains("--set seed=")).map(|line| line.rsplit('|').nth(1).unwrap().trim().to_owned());
        let cells: Vec<String> = cells.collect();
        assert!(!cells.is_empty(), "{told}");
        for (place, settings) in cells.iter().enumerate() {
            let name = format!("run-{index}-{place}");
            typed(&folder, &format!("train {config} {settings} --run {name}")).done();
            let weights = fs::read(folder.join(&name).join("model.safetensors")).unwrap();
            let hash = format!("{:x}", Sha256::digest(weights));
            assert!(found.contains(&hash), "{settings}");
        }
    }
}

/// Gives the last run of each point a late step, so that it stands out; returns the hashes of all weights.
fn rows_with_late(path: &Path) -> Vec<String> {
    let mut all = rows(path);
    let last = all.last().unwrap()["seed"].clone();
    for row in &mut all {
        row["learned_at_step"] = if row["seed"] == last { 90 } else { 3 }.into();
        for f1 in ["f1", "held_out_f1"] {
            if row[f1].is_number() {
                row[f1] = 1.0.into();
            }
        }
    }
    let line = |row: &Value| format!("{row}\n");
    let lines: String = all.iter().map(line).collect();
    fs::write(path, lines).unwrap();
    let hash = |row: &Value| row["weights_sha256"].as_str().unwrap().to_owned();
    all.iter().map(hash).collect()
}

/// The report of a sweep whose runs all failed has the reasons alone.
#[test]
fn a_sweep_without_results_has_no_tables_of_them() {
    let folder = folder("report_failed");
    let sweep = "sweep quick --seeds 0..2 --set training.learning_rate=1e30 --out bad.jsonl";
    let told = typed(&folder, sweep);
    ended(&told, 3, &["2"]);
    let told = told.stdout;
    assert!(told.contains("NaN") && !told.contains("mean"), "{told}");
    typed(&folder, "report bad.jsonl --json").done();
}

/// `report` judges by the value that the sweep judged by.
#[test]
fn a_report_says_what_its_sweep_said() {
    let folder = folder("report_learned");
    let sweep =
        "sweep quick --seeds 0..4 --set training.epochs=1 --set report.learned=0.3 --out l.jsonl";
    let said = printed(&folder, sweep);
    let again = printed(&folder, "report l.jsonl");
    let first = |text: &str| text.trim_start().lines().next().unwrap().to_owned();
    assert_eq!(first(&said), first(&again));
    assert!(mentions(&first(&again), "0.3"), "{again}");
}
