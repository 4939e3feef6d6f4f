//! What a report says of a results file: `golden/report.txt`. `UPDATE_GOLDEN=1` writes the file anew.
//!
//! One file, because all its tests share the rows that they make.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{file, folder, whole};
use headlight_experiment::config::LEARNED;
use headlight_report::Plot;
use headlight_sweep::{ReportChoices, Summary};
use serde_json::{Value, json};

/// Two keys with two values each, and four seeds of each point. Every second run of point 3 failed, runs of
/// points 0 and 1 have one epoch, those of 2 and 3 have three.
fn rows() -> Vec<String> {
    let mut rows = Vec::new();
    for seed in 0..4_u32 {
        for point in 0..4_u32 {
            let width = [16, 4][point as usize / 2];
            let moment = ["per-token", "per-occurrence"][point as usize % 2];
            let mut row = json!({
                "seed": seed,
                "point": point,
                "model.d_model": width,
                "training.token_second_moment": moment,
                "config_sha256": "a",
            });
            let fields = row.as_object_mut().unwrap();
            if point == 3 && seed % 2 == 1 {
                let error = format!("the loss became NaN at step {seed}7; try a lower rate");
                fields.insert("error".to_owned(), json!(error));
            } else {
                let (s, p) = (f64::from(seed), f64::from(point));
                let epochs = [0.5, 0.25 + s / 16.0, s / 32.0];
                let epoch_count = if point < 2 { 1 } else { 3 };
                let unless = |is_missing, value| if is_missing { Value::Null } else { value };
                let f1 = unless(seed == 3, json!(1.0 - p / 8.0));
                let negative = unless(point == 1, json!([0.5, 0.25, s / 8.0]));
                let learned = unless(point == 2, json!(10 * (seed + 1) + point));
                let positive = [0.125, 0.25 + p / 16.0, 0.375 + s / 32.0];
                let more = json!({
                    "epoch_loss": epochs[..epoch_count],
                    "final_loss": 0.5 / (1.0 + s + p),
                    "accuracy": 1.0 - s / 64.0,
                    "held_out_final_loss": 0.75 / (1.0 + s),
                    "held_out_f1": f1,
                    "attention_positive": positive,
                    "attention_negative": negative,
                    "deciding_attention_positive": positive[2],
                    "deciding_attention_negative": negative[2],
                    "deciding_uniform_positive": 1.0 / 3.0,
                    "deciding_uniform_negative": 1.0 / 3.0,
                    "learned_at_step": learned,
                });
                fields.extend(more.as_object().unwrap().clone());
            }
            let is_failed = row.get("error").is_some();
            let row = row.to_string();
            rows.push(if is_failed { row } else { whole(&row) });
        }
    }
    rows
}

fn choices(positions: &[usize], by: &[&str]) -> ReportChoices {
    ReportChoices {
        positions: positions.to_vec(),
        by: by.iter().map(|key| (*key).to_owned()).collect(),
        ..ReportChoices::default()
    }
}

fn summary(path: &Path, positions: &[usize], by: &[&str]) -> Summary {
    Summary::read(path, &choices(positions, by)).unwrap()
}

/// Why a report of a file is refused.
fn refused(path: &Path) -> String {
    let read = Summary::read(path, &ReportChoices::default());
    read.unwrap_err().to_string()
}

/// Asserts that a text has all parts.
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

fn learned_from(path: &Path, positions: &[usize], learned: f64) -> Value {
    let choices = ReportChoices {
        learned: Some(learned),
        ..choices(positions, &[])
    };
    serde_json::to_value(Summary::read(path, &choices).unwrap().values()).unwrap()
}

/// The numbers of a plot, with four decimals.
fn numbers(plot: &Plot) -> String {
    let row = |values: &[f64]| {
        let values: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
        values.join(" ")
    };
    let mut text = String::new();
    match plot {
        Plot::Histogram {
            label,
            values,
            mark,
        } => {
            writeln!(text, "histogram {label} {mark:?}\n{}", row(values)).unwrap();
        }
        Plot::Scatter { labels, points } => {
            writeln!(text, "scatter {labels:?}").unwrap();
            for point in points {
                writeln!(text, "{}", row(point)).unwrap();
            }
        }
        Plot::Bands {
            labels,
            times,
            quantiles,
            names,
        } => {
            writeln!(text, "bands {labels:?} {names:?}").unwrap();
            for (time, quantiles) in times.iter().zip(quantiles) {
                writeln!(text, "{time}: {}", row(quantiles)).unwrap();
            }
        }
        Plot::Ranges {
            labels,
            groups,
            sets,
            mark,
            ..
        } => {
            writeln!(text, "ranges {labels:?} {mark:?}").unwrap();
            for (name, ranges) in sets {
                for (group, range) in groups.iter().zip(ranges) {
                    let range = range.map_or("none".to_owned(), |range| row(&range));
                    writeln!(text, "{name} {group}: {range}").unwrap();
                }
            }
        }
        Plot::Grid(grid) => {
            let (quantity, labels, names) = (&grid.quantity, &grid.labels, &grid.names);
            writeln!(text, "grid {quantity} {labels:?} {names:?}").unwrap();
            for cells in &grid.cells {
                let cell = |cell: &Option<(f64, usize)>| match cell {
                    Some((value, runs)) => format!("{value:.4} of {runs}"),
                    None => "none".to_owned(),
                };
                let cells: Vec<String> = cells.iter().map(cell).collect();
                writeln!(text, "{}", cells.join(", ")).unwrap();
            }
        }
        Plot::Curves { .. } | Plot::Matrix { .. } => unreachable!("a sweep has no such plot"),
    }
    text
}

#[test]
fn a_report_shows_all_runs_and_compares_the_grids_values() {
    let path = file(&folder("report golden"), "rows.jsonl", &rows());
    let summary = summary(&path, &[], &[]);
    assert_eq!((summary.runs(), summary.failures()), (16, 2));
    let document = summary.document("Title");
    assert_eq!(document.title, "Title");
    let plots: String = document.sections[0].plots.iter().map(numbers).collect();
    let found = format!("\n{}\n{plots}", summary.document("").markdown(120));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/report.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(golden).unwrap());
    assert!(summary.picture("Title").contains("<svg"));
}

/// Values for JSON: shares are fractions of the runs; two keys with two values each have four groups and four points.
#[test]
fn values_have_shares_groups_and_points() {
    let path = file(&folder("report_values"), "rows.jsonl", &rows());
    let values = summary(&path, &[], &[]);
    let values = serde_json::to_value(values.values()).unwrap();
    let counts = ["runs", "failed", "learned", "learned_share"].map(|key| values[key].clone());
    let expected = [json!(16), json!(2), json!(3), json!(3.0 / 16.0)];
    assert_eq!(counts, expected);
    let groups = values["groups"].as_array().unwrap();
    let keys = |group: &Value| group["settings"].as_object().unwrap().len();
    let keys: Vec<usize> = groups.iter().map(keys).collect();
    assert_eq!(keys, [1, 1, 1, 1, 2, 2, 2, 2]);
    // What decides gets 0.375 or more from positives in every run, and uniform attention is a third.
    let looks = ["looks_towards", "looks_away"].map(|key| values[key].clone());
    assert_eq!(looks, [json!(14), json!(0)]);
    // A position of the user's has its uniform attention from the config, which is not there.
    let values = learned_from(&path, &[0], 0.85);
    assert_eq!(values["looks_away"], Value::Null);
    let mean = &values["samples"]["attention_of_positives"]["mean"];
    assert_eq!(*mean, json!(0.125));
}

/// Runs that look away from what decides are counted in each group, and stand out.
#[test]
fn runs_that_look_away_are_counted() {
    let uniform = "\"deciding_uniform_positive\":0.3333333333333333";
    let rows = rows()
        .join("\n")
        .replace(uniform, "\"deciding_uniform_positive\":0.5");
    let path = file(&folder("report away"), "rows.jsonl", &[rows]);
    let values = learned_from(&path, &[], 0.85);
    assert_eq!(values["looks_away"], json!(14));
    let away = [0, 1].map(|group| values["groups"][group]["looks_away"].as_u64().unwrap());
    assert_eq!(away.iter().sum::<u64>(), 14);
    let stand_outs = values["stand_outs"].as_array().unwrap().iter();
    assert!(stand_outs.clone().any(|run| run["why"] == "looks_away"));
}

/// The means of attention of positives and negatives, and the note on the target.
fn attention(path: &Path, target: &[usize]) -> Vec<String> {
    let text = summary(path, target, &[]).document("").markdown(200);
    let row = |line: &&str| line.contains(": attention on ");
    let cells = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().filter(row).map(cells).collect()
}

#[test]
fn attention_is_measured_where_it_is_asked_for() {
    let path = file(&folder("report target"), "rows.jsonl", &rows()[..3]);
    let both = attention(&path, &[1, 2]);
    let on = "label 1 or more: attention on";
    has(&both[0], &[&format!("{on} positions 1 and 2"), "0.688"]);
    has(&both[1], &["label 0", "0.250"]);
    let one = attention(&path, &[1]);
    has(&one[0], &[&format!("{on} position 1"), "0.312"]);
    let deciding = attention(&path, &[]);
    has(&deciding[0], &[&format!("{on} the positions that decide")]);

    let marks = |target: &[usize]| {
        let document = summary(&path, target, &[]).document("");
        let mark = |plot: &Plot| match plot {
            Plot::Histogram { mark, .. } => mark.as_ref().map(|(value, _)| *value),
            _ => None,
        };
        document.sections[0].plots.iter().find_map(mark)
    };
    assert_eq!(marks(&[]), Some(1.0 / 3.0));
    // Nothing says which keys may be looked at.
    assert_eq!(marks(&[1, 2]), None);
}

/// Rows of a sweep that did not measure what decides: the report says so, and still has the attention by position.
#[test]
fn rows_without_the_columns_say_so() {
    let is_deciding = |key: &str| key.starts_with("deciding_");
    let older = rows().into_iter().map(|row| {
        let mut row: serde_json::Map<String, Value> = serde_json::from_str(&row).unwrap();
        row.retain(|key, _| !is_deciding(key));
        Value::from(row).to_string()
    });
    let older: Vec<String> = older.collect();
    let path = file(&folder("report older"), "rows.jsonl", &older);
    let summary = summary(&path, &[], &[]);
    let text = summary.document("").markdown(200);
    let by_position = "Attention of [CLS] on each position";
    has(
        &text,
        &["these rows do not hold it", "--position N", by_position],
    );
    let values = serde_json::to_value(summary.values()).unwrap();
    assert_eq!(values["looks_towards"], Value::Null);
    assert_eq!(values["samples"]["attention_of_positives"], Value::Null);
}

/// The final model decides: not the step at which one was good enough, and not an F1 of one class for all samples.
#[test]
fn a_run_learned_if_its_final_model_did() {
    let row = |seed: usize, f1: f64, precision: f64| {
        let row = json!({
            "seed": seed, "final_loss": 0.5, "f1": 1.0, "held_out_final_loss": 0.5, "held_out_accuracy": 0.995,
            "held_out_precision": precision, "held_out_recall": 1.0, "held_out_f1": f1, "learned_at_step": 7 + seed,
            "config_sha256": "a",
        });
        whole(&row.to_string())
    };
    let rows = [row(0, 0.99, 0.99), row(1, 0.95, 0.99), row(2, 0.997, 0.995)];
    let path = file(&folder("report learned"), "rows.jsonl", &rows);
    let learned = |from: f64| learned_from(&path, &[], from)["learned"].clone();
    assert_eq!(learned(LEARNED), json!(1));
    assert_eq!(learned(0.9), json!(2));
    // The others had such an F1 at a step, and lost it.
    let summary = summary(&path, &[], &[]);
    let values = serde_json::to_value(summary.values()).unwrap();
    assert_eq!(values["samples"]["learned_at_step"]["mean"], json!(7.0));
    let found = values["stand_outs"].as_array().unwrap().iter();
    let found = found.map(|run| json!([run["seed"], run["why"], run["held_out_f1"]]));
    let found: Vec<Value> = found.collect();
    // Rows have the step of the sweep's own bound, so a report of another bound says nothing about steps.
    let choices = ReportChoices {
        learned: Some(0.9),
        ..ReportChoices::default()
    };
    let other = Summary::read(&path, &choices).unwrap().document("");
    has(&other.paragraphs.join("\n"), &["only for an F1 of 0.99"]);
    let text = other.markdown(200);
    for said in ["median step", "learned at step", "lost it;", "learned late"] {
        assert!(!text.contains(said), "{text}");
    }
    // One lost it, the other predicts one class; each is counted.
    let document = summary.document("");
    assert_eq!(document.paragraphs[0].matches(" 1 ").count(), 3);
    let expected = [(1, 0.95), (2, 0.997)];
    assert_eq!(
        found,
        expected.map(|(seed, f1)| json!([seed, "never_learned", f1]))
    );
}

#[test]
fn the_user_names_the_keys_to_compare() {
    let folder = folder("report by");
    let path = file(&folder, "rows.jsonl", &rows());
    let compared = |by: &[&str]| {
        let text = summary(&path, &[], by).document("").markdown(200);
        let titles = [
            "model.d_model",
            "training.token_second_moment",
            "point of the grid",
        ];
        titles.map(|title| text.contains(&format!("By {title}")))
    };
    assert_eq!(compared(&[]), [true, true, true]);
    assert_eq!(compared(&["model.d_model"]), [true, false, false]);
    // A key that does not vary is compared only when it is named.
    let half = rows()
        .into_iter()
        .filter(|row| row.contains("\"model.d_model\":4,"));
    let half: Vec<String> = half.collect();
    let path = file(&folder, "half.jsonl", &half);
    let by = |by: &[&str]| summary(&path, &[], by).document("").markdown(200);
    assert!(!by(&[]).contains("By model.d_model"));
    assert!(by(&["model.d_model"]).contains("By model.d_model"));
}

/// Of more than 64 values, the report shows the first 64, and says so.
#[test]
fn a_key_of_many_values_is_cut() {
    let folder = folder("report many values");
    let document = |values: usize| {
        let row = |point: usize| {
            let row = json!({ "seed": 0, "point": point, "config_sha256": "a", "final_loss": 0.5, "x.y": point });
            whole(&row.to_string())
        };
        let rows: Vec<String> = (0..values).map(row).collect();
        let path = file(&folder, "rows.jsonl", &rows);
        summary(&path, &[], &["x.y"]).document("")
    };
    let [few, most, more] = [2, 64, 65].map(document);
    assert_eq!(most.paragraphs.len(), few.paragraphs.len());
    assert_eq!(more.paragraphs.len(), most.paragraphs.len() + 1);
    let told = more.paragraphs.iter().find(|text| text.contains("x.y"));
    has(told.unwrap(), &["65", "64"]);
}

/// A run that never learned is said to stand out for that, not also for where it looks.
#[test]
fn a_run_stands_out_for_what_it_did() {
    let row = |seed: usize, learned: Value, positive: f64| {
        let fields = json!({
            "seed": seed, "config_sha256": "a", "final_loss": 0.5, "f1": u8::from(learned.is_number()), "learned_at_step": learned,
            "attention_positive": [positive, 1.0 - positive], "attention_negative": [0.5, 0.5],
        });
        whole(&fields.to_string())
    };
    let document = |rows: &[String]| {
        let path = file(&folder("report standouts"), "rows.jsonl", rows);
        summary(&path, &[0], &[]).document("")
    };
    let usual = [row(0, json!(10), 0.9), row(1, json!(12), 0.8)];
    let unusual = [row(2, Value::Null, 0.2), row(3, json!(11), 0.25)];
    let table = |rows: &[String]| {
        let tables = document(rows).sections;
        let mut tables = tables.iter().flat_map(|section| &section.tables);
        tables.find_map(|table| {
            let text = format!("{table:?}");
            text.contains("stands out").then_some(text)
        })
    };
    assert_eq!(table(&usual), None);
    let found = table(&[usual, unusual].concat()).unwrap();
    assert_eq!(found.matches("had not learned").count(), 1, "{found}");
    assert_eq!(found.matches("is 0.250 and").count(), 1, "{found}");
    assert_eq!(found.matches("for label 1 or more").count(), 1, "{found}");
}

/// Of a run without F1 the held-out loss says that it did not learn; without one, the loss on training samples.
#[test]
fn a_run_without_f1_stands_out_with_its_loss() {
    let learned = json!({ "seed": 0, "config_sha256": "a", "final_loss": 0.5, "learned_at_step": 3, "f1": 1.0 });
    let text = |unlearned: Value| {
        let rows = [&learned, &unlearned].map(|row| whole(&row.to_string()));
        let path = file(&folder("report without f1"), "rows.jsonl", &rows);
        let summary = summary(&path, &[], &[]);
        // Attention is not measured, so nothing is known of where runs look.
        let values = serde_json::to_value(summary.values()).unwrap();
        assert_eq!(values["looks_towards"], Value::Null);
        summary.document("").markdown(200)
    };
    let mut row = json!({ "seed": 1, "config_sha256": "a", "final_loss": 0.625 });
    has(&text(row.clone()), &["training loss 0.625"]);
    row["held_out_final_loss"] = json!(0.75);
    has(&text(row), &["held-out loss 0.750"]);
}

/// Generated samples fill all positions, also where the model has a padding token; samples of a file may be shorter, so that
/// rows do not tell what uniform attention is.
#[test]
fn uniform_attention_is_known_where_no_sample_is_padded() {
    let looks_towards = |data: &str| {
        let folder = folder("report padded");
        let path = file(&folder, "rows.jsonl", &rows());
        let config = format!(
            "# The config of a sweep, whose rows have config_sha256 = a\n[data]\n{data}\nvocab_size = 9\nseq_len = 2\n\
             [model]\nd_model = 4\n[model.attention]\npadding_token = 8\n[training]\nepochs = 1\n"
        );
        file(&folder, "rows.config.toml", &[config]);
        let values = summary(&path, &[2], &[]);
        serde_json::to_value(values.values()).unwrap()["looks_towards"].clone()
    };
    let generated = "samples = 4\nrule = { kind = \"token-anywhere\", token = 3 }";
    assert_eq!(looks_towards(generated), json!(14));
    let samples = folder("report padded samples").join("samples.csv");
    fs::write(&samples, "token_0,token_1,label\n1,2,0\n3,8,1\n").unwrap();
    let file = format!("file = {:?}", samples.display().to_string());
    assert_eq!(looks_towards(&file), Value::Null);
}

fn failure(seed: usize, message: &str) -> String {
    json!({ "seed": seed, "error": message, "config_sha256": "a" }).to_string()
}

#[test]
fn failures_with_the_same_reason_are_counted_together() {
    let folder = folder("report failures");
    let rows = vec![
        failure(0, "lost at step 12; try 3"),
        failure(1, "lost at step 345; try 4"),
        failure(2, &"long ".repeat(60)),
    ];
    let table = |rows: &[String]| {
        let path = file(&folder, "rows.jsonl", rows);
        let summary = summary(&path, &[], &[]);
        assert_eq!([summary.runs(), summary.failures()], [rows.len(); 2]);
        let document = summary.document("");
        let tables = document.sections[0].tables.iter();
        let mut tables = tables.map(|table| format!("{table:?}"));
        tables.find(|table| table.contains("Failed runs")).unwrap()
    };
    let found = table(&rows);
    let [lost, long] = ["lost at step 12\"", "long long"].map(|text| found.find(text));
    assert!(lost.is_some() && lost < long, "{found}");
    assert!(!found.contains("345"), "{found}");
    let shown: String = "long ".repeat(60).chars().take(120).collect();
    has(&found, &[&shown]);
    assert!(!found.contains(&(shown + "long")), "{found}");
}

#[test]
fn rows_out_of_order_or_of_other_values_are_refused() {
    let folder = folder("report refused");
    let good = rows();
    let refuse = |lines: &[String]| {
        let path: PathBuf = file(&folder, "rows.jsonl", lines);
        refused(&path)
    };
    for lines in [[0, 1, 1], [0, 2, 1], [4, 5, 0]] {
        let message = refuse(&lines.map(|line| good[line].clone()));
        assert!(
            message.contains("line 3") && message.contains("seed 0") || message.contains("seed 1"),
            "{message}"
        );
    }
    let other = good[4].replace("\"model.d_model\":16", "\"model.d_model\":8");
    let message = refuse(&[good[0].clone(), other]);
    assert!(
        message.contains("line 2") && message.contains("point 0"),
        "{message}"
    );
    let message = refuse(&[good[0].replace("\"accuracy\":1.0", "\"accuracy\":7.0")]);
    assert!(
        message.contains("line 1") && message.contains("`accuracy`"),
        "{message}"
    );
    assert!(refuse(&[]).contains("rows.jsonl"));
    let row = |count: usize| {
        let row = json!({ "seed": 0, "epoch_loss": vec![1; count], "config_sha256": "a" });
        whole(&row.to_string())
    };
    let path = file(&folder, "long.jsonl", &[row(1 << 17)]);
    assert_eq!(summary(&path, &[], &[]).runs(), 1);
    has(&refuse(&[row(1 << 18)]), &["line 1", "262144"]);
}
