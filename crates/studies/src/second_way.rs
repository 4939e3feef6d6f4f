//! The notebook's second way: why some seeds look away from the position that decides.

use std::collections::BTreeMap;

use headlight_experiment::config::toml;
use headlight_experiment::metrics::wilson;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict, between, percents, table};
use crate::regression::{Logistic, area};
use crate::rows::Rows;
use crate::start::{FEATURES, Start};
use crate::statistics::{median, one_mode, probability, quantile};
use crate::study::{Part, Study};

const CONFIG: &str = include_str!("../../../studies/second-way/seeds.toml");

pub(crate) static STUDY: Study = Study {
    name: "second-way",
    question: "Why do some seeds of the notebook attend to the deciding position less when it holds token 42, and do their initial weights \
               tell?",
    source: "Found in a thousand seeds of the notebook's experiment (EXPERIMENTS.md), 33 of which look away; no paper",
    parts: &[Part {
        name: "seeds",
        config: CONFIG,
        changes: &[],
        grid: &[],
        seeds: 100_000,
        quick: 4000,
        seconds: 0.004,
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

/// What is shown of each kind: its column, and its field.
const COLUMNS: [(&str, &str); 5] = [
    ("attention with 42", "attention_positive/3"),
    ("attention without", "attention_negative/3"),
    ("by weights", "gap_by_weights"),
    ("by values", "gap_by_values"),
    ("without others", "gap_without_others"),
];

/// Seeds of the published figure, which are among ours.
const PUBLISHED_SEEDS: u64 = 1000;

/// Of these seeds, as many as the test of one mode can take.
const TESTED_MODES: usize = 2000;

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
    let [with, without] = [COLUMNS[0].1, COLUMNS[1].1].map(|path| learned.numbers(path));
    let seeds = Seeds {
        turn: with.iter().zip(&without).map(|(a, b)| a - b).collect(),
        numbers: COLUMNS
            .into_iter()
            .map(|(_, field)| (field, learned.numbers(field)))
            .collect(),
        learned,
    };
    let kinds = seeds.kinds();
    let away = seeds.away();
    let mut findings = seeds.findings(rows.len(), &kinds);
    let mut compared: Vec<Compared> = seeds.compared().into_iter().collect();
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
            "Of each seed, the model and the recipe are the notebook's. A pair is a held-out sample with token 42 at position 3, and the same \
             sample with another token there; there are up to 64. The answer is the mean difference of their logits. \"By values\": in the \
             sample without 42, the context is computed with the other sample's values and its own attention weights; \"by weights\" is the \
             reverse. \"Without others\" masks all keys but [CLS] and position 3. Attention is that of [CLS] on position 3, over the training \
             samples."
                .to_owned(),
            "In the kind \"mostly values\", attention does not fall with token 42, and values alone give half of the answer or more. The kinds \
             were defined on 2,000 other seeds, from 1,000,000 on, where values alone gave at least 90% in 95% of the seeds that look away."
                .to_owned(),
            "Method and threshold of the prediction were committed before these runs: logistic regression on the 13 numbers below, their squares \
             and their products, fitted to the first 70% of the seeds and tested on the others. It counts as a prediction if the area under \
             the ROC curve is 0.9 or more. The batch order, which also depends on the seed, is not among the numbers."
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
                name: "weights and values",
                runs: runs(&|run| self.turn[run] >= 0.0 && by_values[run] < 0.5),
            },
            Kind {
                name: "mostly values",
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
        let all = &self.numbers["gap_by_values"];
        let near: Vec<f64> = self
            .turn
            .iter()
            .zip(all)
            .filter(|(turn, _)| (0.0..0.05).contains(*turn))
            .map(|(_, &value)| value)
            .collect();
        let mut findings = vec![
            format!(
                "{} of {trained} seeds learn the task. {} of them, {:.2}%, look away: position 3 gets less attention with token 42 than without.",
                self.turn.len(),
                away.runs.len(),
                self.share(away),
            ),
            format!(
                "{}With the weights of a sample without token 42, its values alone give at least 90% of \
                 the answer in {carried} of {}, and {:.2} of it in the median. They do attend to the position: {:.2} with token 42 and {:.2} \
                 without, where uniform attention is 0.14.",
                if median(&by_values) >= 0.9 {
                    "Their answer needs no change of attention. "
                } else {
                    ""
                },
                away.runs.len(),
                median(&by_values),
                median(&self.of(COLUMNS[0].1, &away.runs)),
                median(&self.of(COLUMNS[1].1, &away.runs)),
            ),
            format!(
                "In most seeds, values alone give {:.2} of the answer in the median and weights alone {:.2}. Without \
                 attention to the other positions, {:.2} of it is left.",
                median(&self.of("gap_by_values", &look.runs)),
                median(&self.of("gap_by_weights", &look.runs)),
                median(&self.of("gap_without_others", &look.runs)),
            ),
            format!(
                "{}In the {} seeds whose attention rises with token 42, but by less than 0.05, values alone \
                 give {:.2} in the median.",
                if median(&near) >= 0.9 {
                    "Looking away is no mechanism of its own. "
                } else {
                    ""
                },
                near.len(),
                median(&near),
            ),
        ];
        if let Some(value) = one_mode(&all[..all.len().min(TESTED_MODES)]) {
            let verdict = if value < 0.05 {
                "has more than one mode"
            } else {
                "may have one mode"
            };
            findings.push(format!(
                "What values alone give {verdict} (Silverman's test on the first {} seeds, {}); {:.2}% of all seeds lie between \
                 0.5 and 0.9.",
                all.len().min(TESTED_MODES),
                probability(value),
                100.0 * all.iter().filter(|value| (0.5..0.9).contains(*value)).count() as f64
                    / all.len().max(1) as f64,
            ));
        }
        findings
    }

    /// The published share, beside that of the seeds that were not published.
    fn compared(&self) -> Option<Compared> {
        let new = self.learned.seeds().zip(&self.turn);
        let new: Vec<bool> = new
            .filter(|(seed, _)| *seed >= PUBLISHED_SEEDS)
            .map(|(_, &turn)| turn < 0.0)
            .collect();
        let away = new.iter().filter(|&&away| away).count();
        (!new.is_empty()).then(|| Compared {
            quantity: "seeds that look away, of those from 1,000 on".to_owned(),
            published: Some("3.3% (33 of the first 1,000)".to_owned()),
            ours: format!("{:.2}%", 100.0 * away as f64 / new.len() as f64),
            interval: percents(wilson(away, new.len()), 2),
            verdict: Verdict::of_shares([33, 1000], [away, new.len()]),
        })
    }

    fn table(&self, kinds: &[Kind]) -> Table {
        let names = COLUMNS.map(|(name, _)| name);
        let header = [&["kind", "seeds", "share", "95% interval"], &names[..]].concat();
        let mut lines = Vec::new();
        for kind in kinds {
            let mut cells = vec![
                kind.name.to_owned(),
                kind.runs.len().to_string(),
                format!("{:.2}%", self.share(kind)),
                percents(wilson(kind.runs.len(), self.turn.len()), 2),
            ];
            cells.extend(COLUMNS.map(|(_, field)| {
                let own = self.of(field, &kind.runs);
                let [low, middle, high] = [0.05, 0.5, 0.95].map(|share| quantile(&own, share));
                format!("{middle:.2} ({low:.2} to {high:.2})")
            }));
            lines.push(cells);
        }
        table(
            "Kinds",
            "median (5th to 95th percentile over seeds)",
            &header,
            lines,
        )
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

/// How well initial weights predict that a model will look away.
struct Prediction {
    area: f64,
    interval: [f64; 2],
    tested: usize,
    /// The area of the value of the position alone.
    alone: f64,
}

impl Prediction {
    fn finding(&self) -> String {
        let Self { area, tested, .. } = self;
        let verdict = if *area >= PREDICTED {
            "predict"
        } else {
            "do not predict"
        };
        format!(
            "Thirteen numbers from the initial weights {verdict} which seeds will look away: on {tested} seeds that were not used to fit, the area \
             under the ROC curve is {area:.3}, and the threshold was {PREDICTED}. One number alone, the value of the position, has {:.3}.",
            self.alone
        )
    }

    fn compared(&self) -> Compared {
        Compared {
            quantity: "area under the ROC curve, from initial weights".to_owned(),
            published: None,
            ours: format!("{:.3}", self.area),
            interval: between(Some(self.interval), 3),
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
    let header = ["features", "area under the ROC curve", "95% interval"];
    let mut lines = Vec::new();
    let mut add = |name: &str, (area, interval): (f64, [f64; 2])| {
        lines.push(vec![
            name.to_owned(),
            format!("{area:.3}"),
            between(Some(interval), 3),
        ]);
    };
    let test = |expand: &dyn Fn(&[f64]) -> Vec<f64>| {
        let rows: Vec<Vec<f64>> = features.iter().map(|row| expand(row)).collect();
        let model = Logistic::fit(&rows[..fitted], &is_away[..fitted]);
        let odds: Vec<f64> = rows[fitted..].iter().map(|row| model.odds(row)).collect();
        area(&odds, &is_away[fitted..])
    };
    let mut alone = f64::NAN;
    for (index, name) in names.iter().enumerate() {
        let own = test(&|row| vec![1.0, row[index]]);
        if *name == "value of the position" {
            alone = own.0;
        }
        add(&format!("{name}, alone"), own);
    }
    add("all", test(&linear));
    let best = test(&squares);
    add("all, their squares and their products", best);
    let prediction = Prediction {
        area: best.0,
        interval: best.1,
        tested: features.len() - fitted,
        alone,
    };
    let how = "on seeds that were not used to fit; 0.5 is chance";
    Some((
        prediction,
        table(
            "Prediction of looking away, from initial weights",
            how,
            &header,
            lines,
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
