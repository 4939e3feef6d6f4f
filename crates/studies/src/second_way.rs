//! The notebook's second way: why some seeds look away from the position that decides.

use std::collections::BTreeMap;

use headlight_experiment::config::toml;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict};
use crate::regression::{Logistic, area};
use crate::rows::Rows;
use crate::start::{FEATURES, Start};
use crate::statistics::{interval_of_share, median, quantile};
use crate::study::{Part, Study};

const CONFIG: &str = include_str!("../../../studies/second-way/seeds.toml");

pub(crate) static STUDY: Study = Study {
    name: "second-way",
    question: "Why do some seeds of the notebook look away from the position that decides, and do their initial weights tell?",
    source: "Found in a thousand seeds of the notebook's experiment (EXPERIMENTS.md), 33 of which look away; no paper",
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
    runs: Vec<usize>,
}

/// What is shown of each kind.
const COLUMNS: [&str; 5] = [
    "gap",
    "gap_by_weights",
    "gap_by_values",
    "gap_without_reader",
    "gap_without_others",
];

/// The seeds that learned.
struct Seeds {
    learned: Rows,
    /// Attention on the position that decides, with token 42 less that without.
    turn: Vec<f64>,
    numbers: BTreeMap<&'static str, Vec<f64>>,
}

fn page(parts: &[Rows]) -> Page {
    let rows = &parts[0];
    let learned = rows.with("held_out_f1", |f1| f1 >= 0.99);
    let [with, without] =
        ["attention_positive/3", "attention_negative/3"].map(|path| learned.numbers(path));
    let seeds = Seeds {
        turn: with.iter().zip(&without).map(|(a, b)| a - b).collect(),
        numbers: COLUMNS
            .into_iter()
            .map(|name| (name, learned.numbers(name)))
            .collect(),
        learned,
    };
    let kinds = seeds.kinds();
    let away = seeds.away();
    let mut findings = seeds.findings(rows.len(), &kinds);
    let mut compared = vec![seeds.compared(&kinds[2])];
    let mut tables = vec![seeds.table(&kinds)];
    if let Some((prediction, table)) = predicted(&seeds.learned, &away) {
        findings.push(prediction.finding());
        compared.push(prediction.compared());
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
            "In \"look away\", the position gets less attention with token 42 than without; in \"value alone\", more, and values alone carry at \
             least half of the answer; in \"look, and value\", more, and they carry less. The kinds were found on 2,000 other seeds, from \
             1,000,000 on. There, values alone carried at least 90% in 95% of the seeds that look away, which these runs test."
                .to_owned(),
            "The prediction was fixed before these runs: logistic regression on the features below, their squares and their products, fitted to the first 70% of the seeds and tested \
             on the others; predicted, if the area under the ROC curve is 0.9 or more. All sets of features that were tried are in its \
             table."
                .to_owned(),
        ],
        figures: seeds.figures(),
        tables,
    }
}

impl Seeds {
    fn of(&self, name: &str, runs: &[usize]) -> Vec<f64> {
        runs.iter().map(|&run| self.numbers[name][run]).collect()
    }

    /// Whether each looks away.
    fn away(&self) -> Vec<bool> {
        self.turn.iter().map(|&turn| turn < 0.0).collect()
    }

    fn kinds(&self) -> [Kind; 3] {
        let by_values = &self.numbers["gap_by_values"];
        let runs = |accepts: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..self.turn.len()).filter(|&run| accepts(run)).collect()
        };
        [
            Kind {
                name: "look, and value",
                runs: runs(&|run| self.turn[run] >= 0.0 && by_values[run] < 0.5),
            },
            Kind {
                name: "value alone",
                runs: runs(&|run| self.turn[run] >= 0.0 && by_values[run] >= 0.5),
            },
            Kind {
                name: "look away",
                runs: runs(&|run| self.turn[run] < 0.0),
            },
        ]
    }

    /// The share of a kind, in percent.
    fn share(&self, kind: &Kind) -> f64 {
        100.0 * kind.runs.len() as f64 / self.turn.len().max(1) as f64
    }

    fn findings(&self, trained: usize, kinds: &[Kind; 3]) -> Vec<String> {
        let [look, _, away] = kinds;
        let by_values = self.of("gap_by_values", &away.runs);
        let carried = by_values.iter().filter(|&&value| value >= 0.9).count();
        vec![
            format!(
                "{} of {trained} seeds learn the task. In {} of them, {:.2}%, the position that decides gets less attention with token 42 \
                 than without.",
                self.turn.len(),
                away.runs.len(),
                self.share(away),
            ),
            format!(
                "These do not need attention: with the weights of a sample without token 42, the values alone carry at least 90% of the \
                 answer in {carried} of {}, and {:.2} of it in the median. In the models that look, values alone carry {:.2} in the median, \
                 and weights alone {:.2}: they need both.",
                away.runs.len(),
                median(&by_values),
                median(&self.of("gap_by_values", &look.runs)),
                median(&self.of("gap_by_weights", &look.runs)),
            ),
            format!(
                "Between the two lies a continuum, not a gap: {:.2}% of the seeds give the position more attention with token 42, and their \
                 values alone carry half of the answer or more.",
                self.share(&kinds[1]),
            ),
        ]
    }

    fn compared(&self, away: &Kind) -> Compared {
        let interval = interval_of_share(away.runs.len(), self.turn.len().max(1));
        Compared {
            quantity: "seeds that look away".to_owned(),
            published: Some("3.3% (33 of 1,000)".to_owned()),
            ours: format!("{:.2}%", self.share(away)),
            interval: percent(interval),
            verdict: match interval_of_share(33, 1000) {
                [low, high] if low < interval[1] && interval[0] < high => Verdict::Agrees,
                _ => Verdict::Differs,
            },
        }
    }

    fn table(&self, kinds: &[Kind]) -> Table {
        let mut header = vec![
            "kind".to_owned(),
            "seeds".to_owned(),
            "share".to_owned(),
            "95% interval".to_owned(),
        ];
        header.extend(COLUMNS.map(|name| name.replace('_', " ")));
        let mut table = vec![header];
        for kind in kinds {
            let mut cells = vec![
                kind.name.to_owned(),
                kind.runs.len().to_string(),
                format!("{:.2}%", self.share(kind)),
                percent(interval_of_share(kind.runs.len(), self.turn.len().max(1))),
            ];
            cells.extend(COLUMNS.map(|name| {
                let own = self.of(name, &kind.runs);
                let [low, middle, high] = [0.05, 0.5, 0.95].map(|share| quantile(&own, share));
                format!("{middle:.2} ({low:.2} to {high:.2})")
            }));
            table.push(cells);
        }
        Table::of_text("Kinds", "medians, with 5% and 95% of the seeds", table)
    }

    fn figures(&self) -> Vec<Plot> {
        let by_values = self.numbers["gap_by_values"]
            .iter()
            .map(|value| value.clamp(-0.2, 1.2));
        let by_values: Vec<f64> = by_values.collect();
        let label = "share of the answer that values alone carry";
        let points = self.turn.iter().zip(&by_values).take(4000);
        vec![
            Plot::Histogram {
                label: label.to_owned(),
                values: by_values.clone(),
                mark: None,
            },
            Plot::Scatter {
                labels: [
                    "attention on position 3, with 42 less without".to_owned(),
                    label.to_owned(),
                ],
                points: points.map(|(&a, &b)| [a, b]).collect(),
            },
        ]
    }
}

fn percent([low, high]: [f64; 2]) -> String {
    format!("{:.2}% to {:.2}%", 100.0 * low, 100.0 * high)
}

/// How well initial weights predict that a model will look away.
struct Prediction {
    area: f64,
    interval: [f64; 2],
    tested: usize,
}

impl Prediction {
    fn finding(&self) -> String {
        let Self { area, tested, .. } = self;
        let on = format!(
            "on {tested} seeds that were not used to fit, the area under the ROC curve is {area:.3}"
        );
        if *area >= PREDICTED {
            format!("The initial weights tell which seeds will look away: {on}.")
        } else {
            format!(
                "The initial weights tell only in part which seeds will look away: {on}, below the threshold of {PREDICTED}."
            )
        }
    }

    fn compared(&self) -> Compared {
        let [low, high] = self.interval;
        Compared {
            quantity: "area under the ROC curve, from initial weights".to_owned(),
            published: None,
            ours: format!("{:.3}", self.area),
            interval: format!("{low:.3} to {high:.3}"),
            verdict: Verdict::NotPublished,
        }
    }
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
