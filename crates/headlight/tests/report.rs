//! `headlight report`, and results files that it and `merge` read: figures that can be checked by hand, and
//! damaged files.
//!
//! One file, because all its tests read the same sweeps.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::sweeps::{rows, sweep};
use crate::common::{
    Finished, ended, folder, mentions, refused, refuses, run, run_in, text, typed,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A row with two positions and two epochs.
fn row(seed: u64, point: Option<(usize, f64)>, loss: f64, step: Option<u32>) -> String {
    let place = point.map_or_else(String::new, |(point, rate)| {
        format!("\"point\":{point},\"training.learning_rate\":{rate},\"model.d_model\":4,")
    });
    let step = step.map_or_else(|| "null".to_owned(), |step| step.to_string());
    let (low, high) = (0.5 - loss / 10.0, 0.5 + loss / 10.0);
    format!(
        "{{\"seed\":{seed},{place}\"epoch_loss\":[{},{loss}],\"final_loss\":{loss},\"accuracy\":1.0,\
         \"attention_positive\":[{low},{high}],\"attention_negative\":[0.75,0.25],\"learned_at_step\":{step},\
         \"weights_sha256\":\"w\",\"config_sha256\":\"c\"}}\n",
        10.0 * loss
    )
}

fn failed(seed: u64, error: &str) -> String {
    format!("{{\"seed\":{seed},\"error\":\"{error}\",\"config_sha256\":\"c\"}}\n")
}

fn report(path: &Path, more: &[&str]) -> Finished {
    run(&[&["report", text(path)], more].concat())
}

/// The cells of a table's row, by its first cell.
fn cells(finished: &Finished, name: &str) -> Vec<String> {
    let line = finished.stdout.lines().find(|line| {
        let first = line
            .strip_prefix('|')
            .and_then(|rest| rest.split('|').next());
        first.is_some_and(|first| first.trim() == name)
    });
    let line = line.unwrap_or_else(|| panic!("no line `{name}` in {}", finished.stdout));
    let cells = line.trim_matches('|').split('|').skip(1);
    cells.map(|cell| cell.trim().to_owned()).collect()
}

/// Losses 1, 2, 4 and 8: mean 3.75 and quantiles are `numpy.mean` and `numpy.quantile`, the deviation
/// `numpy.std(ddof=1)`, the share's interval `proportion_confint(3, 6, method="wilson")` of statsmodels.
#[test]
fn figures_are_numpys() {
    let folder = folder("report_figures");
    let path = folder.join("rows.jsonl");
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
    fs::write(&path, all).unwrap();
    let finished = report(&path, &["--position", "1"]).done();
    for part in ["6", "2", "3", "50.0%", "18.76%", "81.24%", "position 1"] {
        assert!(mentions(&finished.stdout, part), "{}", finished.stdout);
    }
    let all_runs = |name: &str| cells(&finished, name);
    assert_eq!(
        all_runs("final loss"),
        [
            "3.75000 in 4 of 6",
            "3.09570",
            "1.00000",
            "1.15000",
            "3.00000",
            "7.40000",
            "8.00000"
        ]
    );
    assert_eq!(all_runs("learned at step")[..2], ["23 in 3 of 6", "15"]);
    assert_eq!(
        all_runs("label 1 or more: attention on position 1")[..3],
        ["0.875 in 4 of 6", "0.310", "0.600"]
    );
    assert_eq!(
        cells(&finished, "training diverged: NaN at step 7"),
        ["2", "4"]
    );
    // Epoch 1: runs, mean, 5%, 25%, median, 75%, 95%.
    assert_eq!(
        cells(&finished, "1")[..7],
        [
            "4", "37.50000", "11.50000", "17.50000", "30.00000", "50.00000", "74.00000"
        ]
    );
    // Position 0 of positives: 0.4, 0.3, 0.1, -0.3.
    assert_eq!(cells(&finished, "0")[..2], ["0.125 in 4 of 6", "0.310"]);
    let other = report(&path, &["--position", "0"]).done();
    assert_eq!(
        cells(&other, "label 0: attention on position 0")[0],
        "0.750 in 4 of 6"
    );
}

/// Two learning rates with four runs each; 3.182446 is `scipy.stats.t.ppf(0.975, 3)`, intervals of shares are
/// Wilson's of 4 and of 2 out of 4.
#[test]
fn a_key_of_the_grid_is_compared_with_intervals() {
    let folder = folder("report_by");
    let path = folder.join("rows.jsonl");
    let mut all = String::new();
    for (seed, loss) in (0..).zip([1.0, 2.0, 4.0, 8.0]) {
        all += &row(seed, Some((0, 1e-3)), loss, Some(10));
        let step = (seed < 2).then_some(30);
        all += &row(seed, Some((1, 1e-2)), loss / 2.0, step);
    }
    // The scatter plot shows the attention on the positions that decide.
    let deciding = "\"deciding_attention_positive\":0.75,\"deciding_attention_negative\":0.25,\
                    \"deciding_uniform_positive\":0.5,\"deciding_uniform_negative\":0.5,\"learned_at_step\"";
    fs::write(&path, all.replace("\"learned_at_step\"", deciding)).unwrap();
    let [svg, html] = ["report.svg", "report.html"].map(|name| folder.join(name));
    let by = ["--by", "training.learning_rate"];
    let files = ["--svg", text(&svg), "--html", text(&html)];
    let finished = report(&path, &[&by[..], &files[..]].concat()).done();
    // 3.182446 * 3.095696 / sqrt(4) = 4.925943, and half of it.
    assert_eq!(
        cells(&finished, "0.001")[..6],
        ["4", "0", "100.0%", "51.0–100.0%", "10", "3.75000 ± 4.92594"]
    );
    assert_eq!(
        cells(&finished, "0.01")[..6],
        ["4", "0", "50.0%", "15.0–85.0%", "30", "1.87500 ± 2.46297"]
    );
    // A key that varies is shown without --by, one that does not with it.
    assert_eq!(report(&path, &[]).done().stdout, finished.stdout);
    let same = report(&path, &["--by", "model.d_model"]).done();
    assert_eq!(cells(&same, "4")[0], "8");

    let picture = fs::read_to_string(&svg).unwrap();
    for part in [">0.001</text>", ">0.01</text>"] {
        assert!(picture.contains(part), "{part}");
    }
    // Eight runs, but two did not learn: no point in the scatter plot.
    assert_eq!(picture.matches("class=\"dot\"").count(), 6);
    let page = fs::read_to_string(&html).unwrap();
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
    let path = folder("report_json").join("rows.jsonl");
    let mut all = String::new();
    for (seed, loss) in (0..).zip([1.0, 2.0, 4.0, 8.0]) {
        all += &row(seed, Some((0, 1e-3)), loss, Some(10));
        all += &row(seed, Some((1, 1e-2)), loss / 2.0, (seed < 2).then_some(30));
    }
    let large = (1 << 53) + 1;
    all += &row(large, Some((0, 1e-3)), 16.0, None);
    fs::write(&path, all).unwrap();
    let printed = report(&path, &["--json"]).done().stdout;
    let values: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (&values["runs"], &values["learned"]),
        (&9.into(), &6.into())
    );
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value - expected).abs() < 1e-5, "{value} {expected}");
    };
    near(&values["learned_share"], 6.0 / 9.0);
    let group = &values["groups"][1];
    assert_eq!(group["settings"]["training.learning_rate"], 1e-2);
    assert_eq!((&group["runs"], &group["learned"]), (&4.into(), &2.into()));
    near(&group["final_loss"]["mean"], 1.875);
    near(&group["final_loss"]["margin"], 2.462_971_5);
    near(&group["learned_interval"][0], 0.150_036);
    near(&group["learned_at_step"]["median"], 30.0);
    let first = &values["stand_outs"][0];
    assert_eq!(
        (&first["seed"], &first["why"]),
        (&large.into(), &"never_learned".into())
    );
    assert_eq!(first["learned_at_step"], Value::Null);
}

/// Rows with these losses and steps; the lists of the first one hold two numbers that float32 cannot hold.
fn extreme(name: &str, rows: &[(f64, u64)]) -> PathBuf {
    let path = folder(name).join("rows.jsonl");
    let mut all = String::new();
    for (seed, (loss, step)) in rows.iter().enumerate() {
        let [high, low] = if seed == 0 {
            ["1e308", "-1e-300"]
        } else {
            ["0.75", "0"]
        };
        writeln!(
            all,
            "{{\"seed\":{seed},\"epoch_loss\":[{high},0.25],\"final_loss\":{loss:e},\"learned_at_step\":{step},\
             \"attention_positive\":[0.5,{low}],\"attention_negative\":[0.5,0.5],\"config_sha256\":\"c\"}}"
        )
        .unwrap();
    }
    fs::write(&path, all).unwrap();
    path
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
        let path = extreme(
            &format!("report_extreme_{place}"),
            &[(losses[0], steps[0]), (losses[1], steps[1])],
        );
        let printed = report(&path, &["--json"]).done().stdout;
        let values: Value = serde_json::from_str(&printed).unwrap();
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

        let [svg, html] = ["all.svg", "all.html"].map(|name| path.with_file_name(name));
        let shown = report(&path, &["--svg", text(&svg), "--html", text(&html)]).done();
        for cell in shown
            .stdout
            .lines()
            .flat_map(|line| line.split(['|', '–', ' ']))
        {
            let is_number = cell.contains(|c: char| c.is_ascii_digit());
            assert!(!is_number || cell.len() <= 14, "{losses:?}: {cell}");
        }
        let drawn = fs::read_to_string(&svg).unwrap();
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
    let out = folder.join("rows.jsonl");
    let swept = sweep(&out, "0..12", &[]).done().stdout;
    let reported = report(&out, &[]).done().stdout;
    assert!(swept.contains(&reported), "{swept}\n{reported}");
    let picture = folder.join("report.svg");
    report(&out, &["--svg", text(&picture)]).done();
    let panels = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        text.split_once("<g ").unwrap().1.to_owned()
    };
    assert_eq!(panels(&picture), panels(&folder.join("rows.svg")));
}

#[test]
fn files_without_results_are_refused() {
    let folder = folder("report_refused");
    let file = |name: &str, bytes: &str| -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let good = row(0, None, 1.0, None) + &row(1, None, 2.0, None);
    let other = row(2, None, 1.0, None).replace("\"c\"", "\"d\"");
    let changed = row(0, Some((0, 1.0)), 1.0, None) + &row(1, Some((0, 2.0)), 1.0, None);
    let csv = "seed,final_loss\n0,0.1\n";
    let doubled = good.clone() + &good;
    let foreign = good.clone() + &other;
    for (name, bytes, parts) in [
        ("empty.jsonl", String::new(), &[][..]),
        ("table.csv", csv.to_owned(), &["line 1"]),
        ("others.jsonl", foreign, &["line 3"]),
        (
            "twice.jsonl",
            doubled,
            &["line 3", "seed 0", "headlight merge"],
        ),
        (
            "words.jsonl",
            good.replace("2,\"acc", "\"two\",\"acc"),
            &["line 2", "`final_loss`"],
        ),
        (
            "list.jsonl",
            good.replace("[20,2]", "[true]"),
            &["line 2", "`epoch_loss`"],
        ),
        (
            "no_list.jsonl",
            good.replace("[20,2]", "7"),
            &["line 2", "`epoch_loss`"],
        ),
        ("changed.jsonl", changed, &["line 2"]),
    ] {
        let path = file(name, &bytes);
        refuses(
            &folder,
            &["report", text(&path)],
            &[parts, &[name]].concat(),
        );
    }
    refused(&report(&folder.join("none.jsonl"), &[]), &["none.jsonl"]);
    let path = file("good.jsonl", &good);
    let refused = |more: &[&str], parts: &[&str]| {
        let arguments = [&["report", text(&path)][..], more].concat();
        refuses(&folder, &arguments, parts);
    };
    refused(&["--by", "model.d_model"], &["model.d_model"]);
    refused(&["--position", "2"], &["2", "0", "1"]);
    refused(&["--html", text(&path)], &[text(&path)]);
    let grid = file("grid.jsonl", &row(0, Some((0, 1.0)), 1.0, None));
    refuses(
        &folder,
        &["report", text(&grid), "--by", "model.depth"],
        &["model.depth", "model.d_model", "training.learning_rate"],
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
}

/// A last line that a kill cut short is reported, and the rest is read; the file is not changed.
#[test]
fn a_last_line_that_was_cut_short_is_left_out() {
    let folder = folder("report_cut");
    let path = folder.join("rows.jsonl");
    let whole = row(0, None, 1.0, None) + &row(1, None, 2.0, None);
    let cut = &whole[..whole.len() - 9];
    fs::write(&path, cut).unwrap();
    let finished = report(&path, &[]).done();
    ended(&finished, 0, &["rows.jsonl"]);
    assert_eq!(cells(&finished, "final loss")[0], "1.00000");
    let out = folder.join("merged.jsonl");
    let finished = run(&["merge", text(&path), "--out", text(&out)]).done();
    ended(&finished, 0, &["rows.jsonl"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), row(0, None, 1.0, None));
    assert_eq!(fs::read_to_string(&path).unwrap(), cut);
}

/// Rows that come twice are written once, an empty shard and a missing row are reported, and without rows no file is written.
#[test]
fn doubled_and_empty_shards_are_reported() {
    let folder = folder("merge_doubled");
    let [one, empty, out] = ["one.jsonl", "empty.jsonl", "all.jsonl"].map(|name| folder.join(name));
    let rows_of_one = row(0, None, 1.0, None) + &failed(1, "diverged") + &row(3, None, 1.0, None);
    fs::write(&one, &rows_of_one).unwrap();
    fs::write(&empty, "").unwrap();
    let all = [text(&one), text(&empty), text(&one), "--out", text(&out)];
    let finished = run(&[&["merge"], &all[..]].concat()).done();
    for part in ["all.jsonl", "3", "1"] {
        assert!(mentions(&finished.stdout, part), "{}", finished.stdout);
    }
    ended(&finished, 0, &["empty.jsonl", "seed 2"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), rows_of_one);
    assert_eq!(rows(&out).len(), 3);
    fs::remove_file(&out).unwrap();
    let nothing = ["merge", text(&empty), "--out", text(&out)];
    refuses(&folder, &nothing, &["empty.jsonl"]);
}

/// Runs of different settings are no sample of one distribution, so they have no interval.
#[test]
fn settings_are_not_pooled_into_an_interval() {
    let folder = folder("report_pooled");
    let sweep = "sweep quick --seeds 0..3 --set training.epochs=1 --out g.jsonl --grid model.d_model=2,4 --grid";
    let sweep = format!("{sweep} training.learning_rate=0.001,0.01");
    typed(&folder, &sweep).done();
    let printed = typed(&folder, "report g.jsonl --json").done().stdout;
    let values: Value = serde_json::from_str(&printed).unwrap();
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
        run_in(&folder, &["sweep", config, "--seeds", "0..4", "--grid", grid, "--set", "training.epochs=1", "--out", &out]).done();
        let found = rows_with_late(&folder.join(&out));
        let told = typed(&folder, &format!("report {out}")).done().stdout;
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
    let said = typed(&folder, sweep).done().stdout;
    let again = typed(&folder, "report l.jsonl").done().stdout;
    let first = |text: &str| text.trim_start().lines().next().unwrap().to_owned();
    assert_eq!(first(&said), first(&again));
    assert!(mentions(&first(&again), "0.3"), "{again}");
}
