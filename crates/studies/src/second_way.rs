//! The notebook's second way: why some seeds look away from the position that decides.

use std::collections::BTreeMap;

use headlight_experiment::config::toml;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict};
use crate::regression::{Logistic, area};
use crate::rows::Rows;
use crate::start::{FEATURES, Start};
use crate::statistics::{interval_of_share, median, quantile};
use crate::{Part, Study};

const CONFIG: &str = include_str!("../../../studies/second-way/seeds.toml");

pub(crate) static STUDY: Study = Study {
    name: "second-way",
    question: "Why do some seeds of the notebook look away from the position that decides, and do their initial weights tell?",
    source: "EXPERIMENTS.md, a thousand seeds (33 of 1,000 look away); no paper",
    parts: &[Part {
        name: "seeds",
        config: CONFIG,
        changes: &[],
        grid: &[],
        seeds: 100_000,
        quick: 4000,
        seconds: 0.006,
        fields: &[
            "attention_positive",
            "attention_negative",
            "held_out_f1",
            "gap",
            "gap_by_weights",
            "gap_by_values",
            "gap_without_reader",
            "gap_without_others",
        ],
    }],
    page,
};

/// The share of seeds that fit the prediction; the others test it.
const FITTED: f64 = 0.7;

/// The area under the ROC curve from which the kind counts as predicted.
const PREDICTED: f64 = 0.9;

/// A way in which models answer.
struct Kind {
    name: &'static str,
    /// What was expected of it, from 2,000 seeds from 1,000,000 on.
    expected: &'static str,
    runs: Vec<usize>,
}

fn page(parts: &[Rows]) -> Page {
    let rows = &parts[0];
    let learned = rows.with("held_out_f1", |f1| f1 >= 0.99);
    let [on_it, without_it] =
        ["attention_positive/3", "attention_negative/3"].map(|path| learned.numbers(path));
    let by_values = learned.numbers("gap_by_values");
    let is_away: Vec<bool> = on_it.iter().zip(&without_it).map(|(a, b)| a < b).collect();
    let runs = |accepts: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..learned.len()).filter(|&run| accepts(run)).collect()
    };
    let kinds = [
        Kind {
            name: "look, and value",
            expected: "neither attention weights nor values alone carry half of the answer",
            runs: runs(&|run| !is_away[run] && by_values[run] < 0.5),
        },
        Kind {
            name: "value alone",
            expected: "values alone carry at least half of it, and the position gets more attention with token 42",
            runs: runs(&|run| !is_away[run] && by_values[run] >= 0.5),
        },
        Kind {
            name: "look away",
            expected: "the position gets less attention with token 42, and values alone carry at least 90% in 95% of the seeds",
            runs: runs(&|run| is_away[run]),
        },
    ];
    let columns = [
        "gap",
        "gap_by_weights",
        "gap_by_values",
        "gap_without_reader",
        "gap_without_others",
    ];
    let numbers: BTreeMap<&str, Vec<f64>> = columns
        .into_iter()
        .map(|name| (name, learned.numbers(name)))
        .collect();
    let mut table = vec![{
        let mut header = vec![
            "kind".to_owned(),
            "seeds".to_owned(),
            "share".to_owned(),
            "95% interval".to_owned(),
        ];
        header.extend(columns.map(|name| name.replace('_', " ")));
        header.push("what was expected".to_owned());
        header
    }];
    for kind in &kinds {
        let [low, high] = interval_of_share(kind.runs.len(), learned.len().max(1));
        let mut cells = vec![
            kind.name.to_owned(),
            kind.runs.len().to_string(),
            format!(
                "{:.2}%",
                100.0 * kind.runs.len() as f64 / learned.len().max(1) as f64
            ),
            format!("{:.2}% to {:.2}%", 100.0 * low, 100.0 * high),
        ];
        cells.extend(columns.map(|name| {
            let own: Vec<f64> = kind.runs.iter().map(|&run| numbers[name][run]).collect();
            let [low, middle, high] = [0.05, 0.5, 0.95].map(|share| quantile(&own, share));
            format!("{middle:.2} ({low:.2} to {high:.2})")
        }));
        cells.push(kind.expected.to_owned());
        table.push(cells);
    }
    let away = &kinds[2].runs;
    let carried = away.iter().filter(|&&run| by_values[run] >= 0.9).count();
    let [low, high] = interval_of_share(away.len(), learned.len().max(1));
    let mut compared = vec![Compared {
        quantity: "seeds that look away".to_owned(),
        published: Some("3.3% (33 of 1,000)".to_owned()),
        ours: format!(
            "{:.2}%",
            100.0 * away.len() as f64 / learned.len().max(1) as f64
        ),
        interval: format!("{:.2}% to {:.2}%", 100.0 * low, 100.0 * high),
        verdict: Verdict::of(0.033, Some([low, high])),
    }];
    let mut findings = vec![
        format!(
            "{} of {} seeds learn the task. In {} of them, {:.2}%, the position that decides gets less attention with token 42 than without.",
            learned.len(),
            rows.len(),
            away.len(),
            100.0 * away.len() as f64 / learned.len().max(1) as f64,
        ),
        format!(
            "These do not need attention: with the weights of a sample without token 42, the values alone carry at least 90% of the answer in \
             {carried} of {}, and {:.2} of it in the median. In the models that look, values alone carry {:.2} in the median, and weights \
             alone {:.2}: they need both.",
            away.len(),
            median(&away.iter().map(|&run| by_values[run]).collect::<Vec<_>>()),
            median(
                &kinds[0]
                    .runs
                    .iter()
                    .map(|&run| by_values[run])
                    .collect::<Vec<_>>()
            ),
            median(
                &kinds[0]
                    .runs
                    .iter()
                    .map(|&run| numbers["gap_by_weights"][run])
                    .collect::<Vec<_>>()
            ),
        ),
    ];
    let mut tables = vec![
        Table::of_text("Kinds", "medians, with 5% and 95% of the seeds", table)
            .left_aligned(&["what was expected"]),
    ];
    if let Some((prediction, table)) = predicted(&learned, &is_away) {
        findings.push(if prediction.area >= PREDICTED {
            format!(
                "The initial weights tell which seeds will look away: on {} seeds that were not used to fit, the area under the ROC curve \
                 is {:.3}.",
                prediction.tested, prediction.area
            )
        } else {
            format!(
                "The initial weights tell only in part which seeds will look away: on {} seeds that were not used to fit, the area under the \
                 ROC curve is {:.3}, below the threshold of {PREDICTED}.",
                prediction.tested, prediction.area
            )
        });
        compared.push(Compared {
            quantity: "area under the ROC curve, from initial weights".to_owned(),
            published: None,
            ours: format!("{:.3}", prediction.area),
            interval: format!(
                "{:.3} to {:.3}",
                prediction.interval[0], prediction.interval[1]
            ),
            verdict: Verdict::NotPublished,
        });
        tables.push(table);
    }
    Page {
        findings,
        compared,
        how: vec![
            "A pair is a sample with token 42 at position 3, and the same sample with another token there. The answer is the difference of \
             their logits. \"By values\": the context of the sample without 42 takes the other's values, and keeps its own weights; \"by \
             weights\" is the reverse. \"Without reader\" and \"without others\" hide [CLS], or all positions but it and position 3, from \
             every query."
                .to_owned(),
            "The kinds were found on 2,000 other seeds, from 1,000,000 on. So the table tests them. The prediction was fixed before these runs: \
             logistic regression on the features below, their squares and their products, fitted to the first 70% of the seeds and tested \
             on the others; predicted, if the area under the ROC curve is 0.9 or more. All sets of features that were tried are in its \
             table."
                .to_owned(),
        ],
        figures: vec![
            Plot::Histogram {
                label: "share of the answer that values alone carry".to_owned(),
                values: by_values.iter().map(|value| value.clamp(-0.2, 1.2)).collect(),
                mark: None,
            },
            Plot::Scatter {
                labels: [
                    "attention on position 3, with 42 less without".to_owned(),
                    "share of the answer that values alone carry".to_owned(),
                ],
                points: (0..learned.len().min(4000))
                    .map(|run| [on_it[run] - without_it[run], by_values[run].clamp(-0.2, 1.2)])
                    .collect(),
            },
        ],
        tables,
    }
}

struct Prediction {
    area: f64,
    interval: [f64; 2],
    tested: usize,
}

/// Whether initial weights tell which models will look away. `None` of too few seeds.
fn predicted(learned: &Rows, is_away: &[bool]) -> Option<(Prediction, Table)> {
    let config = toml::parse(
        "seeds.toml",
        CONFIG.to_owned(),
        std::iter::empty::<(&str, &str)>(),
        |_| Ok::<(), String>(()),
        |_| Ok(()),
    )
    .ok()?;
    let names: Vec<&str> = FEATURES.iter().map(|(name, _)| *name).collect();
    let mut features: Vec<Vec<f64>> = learned
        .seeds()
        .map(|seed| Some(Start::of(&config, seed)?.features()))
        .collect::<Option<_>>()?;
    let fitted = (FITTED * features.len() as f64) as usize;
    let has_both = |labels: &[bool]| labels.iter().filter(|&&label| label).count() >= 20;
    if !has_both(&is_away[..fitted]) || !has_both(&is_away[fitted..]) {
        return None;
    }
    standardise(&mut features, fitted);
    let linear = |row: &[f64]| [&[1.0], row].concat();
    let squares = |row: &[f64]| {
        let mut all = linear(row);
        for (index, a) in row.iter().enumerate() {
            all.extend(row[..=index].iter().map(|b| a * b));
        }
        all
    };
    let mut table = vec![
        ["features", "area under the ROC curve", "95% interval"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut add = |name: &str, (area, [low, high]): (f64, [f64; 2])| {
        table.push(vec![
            name.to_owned(),
            format!("{area:.3}"),
            format!("{low:.3} to {high:.3}"),
        ]);
    };
    let test = |expand: &dyn Fn(&[f64]) -> Vec<f64>| {
        let rows: Vec<Vec<f64>> = features.iter().map(|row| expand(row)).collect();
        let model = Logistic::fit(&rows[..fitted], &is_away[..fitted]);
        let odds: Vec<f64> = rows[fitted..].iter().map(|row| model.odds(row)).collect();
        area(&odds, &is_away[fitted..])
    };
    for (index, name) in names.iter().enumerate() {
        add(
            &format!("{name}, alone"),
            test(&|row| vec![1.0, row[index]]),
        );
    }
    add("all", test(&linear));
    let best = test(&squares);
    add("all, their squares and their products", best);
    let prediction = Prediction {
        area: best.0,
        interval: best.1,
        tested: features.len() - fitted,
    };
    let how = "on seeds that were not used to fit; 0.5 is chance";
    Some((
        prediction,
        Table::of_text(
            "Prediction of looking away, from initial weights",
            how,
            table,
        ),
    ))
}

/// Mean 0 and variance 1 over the first rows.
fn standardise(rows: &mut [Vec<f64>], fitted: usize) {
    for column in 0..rows.first().map_or(0, Vec::len) {
        let own: Vec<f64> = rows[..fitted].iter().map(|row| row[column]).collect();
        let mean = own.iter().sum::<f64>() / fitted as f64;
        let variance = own.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / fitted as f64;
        for row in rows.iter_mut() {
            row[column] = (row[column] - mean) / variance.sqrt().max(1e-12);
        }
    }
}
