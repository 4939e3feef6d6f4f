//! The notebook's second way: why some seeds look away from the position that decides.

use std::collections::BTreeMap;

use headlight_experiment::metrics::wilson;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict, percents, table};
use crate::prediction::predicted;
use crate::rows::Rows;
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
    let mut tables = vec![seeds.table(&kinds), seeds.by_change()];
    if let Some((prediction, table)) = predicted(CONFIG, &seeds.learned, &away) {
        findings.push(prediction.finding());
        compared.push(prediction.compared());
        tables.push(table);
    }
    Page {
        findings,
        compared,
        how: vec![
            "Of each seed, the model and the recipe are the notebook's. A pair is a held-out sample with token 42 at position 3, and the same \
             sample with another token there; there are up to 64, and about 44 in most seeds. A seed has learned if its held-out F1 is 0.99 or \
             more, which here means no error on 2,000 samples. The answer is the mean difference of their logits. \"By values\": in the \
             sample without 42, the context is computed with the other sample's values and its own attention weights; \"by weights\" is the \
             reverse. Both change the sample without 42, and not the other one. \"Without others\" masks all keys but [CLS] and position 3. Attention is that of [CLS] on position 3, over the training \
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

    /// What of the answer neither attention weights alone nor values alone give.
    fn needs_both(&self, runs: &[usize]) -> Vec<f64> {
        let parts = ["gap_by_weights", "gap_by_values"].map(|name| self.of(name, runs));
        let parts = parts[0].iter().zip(&parts[1]);
        parts
            .map(|(weights, values)| 1.0 - weights - values)
            .collect()
    }

    /// By the change of attention, what values alone give.
    fn by_change(&self) -> Table {
        const EDGES: [f64; 7] = [-1.0, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2];
        let header = ["attention with 42 less without", "seeds", "by values"];
        let ends = EDGES.iter().zip(EDGES[1..].iter().chain([&1.0]));
        let lines = ends.map(|(&low, &high)| {
            let runs = (0..self.turn.len()).filter(|&run| (low..high).contains(&self.turn[run]));
            let runs: Vec<usize> = runs.collect();
            let own = self.of("gap_by_values", &runs);
            let [low_value, middle, high_value] =
                [0.05, 0.5, 0.95].map(|share| quantile(&own, share));
            let name = match (low, high) {
                (-1.0, _) => format!("below {high:.2}"),
                (_, 1.0) => format!("{low:.2} or more"),
                _ => format!("{low:.2} to {high:.2}"),
            };
            vec![
                name,
                runs.len().to_string(),
                format!("{middle:.2} ({low_value:.2} to {high_value:.2})"),
            ]
        });
        table(
            "By change of attention",
            "median (5th to 95th percentile over seeds)",
            &header,
            lines,
        )
    }

    fn findings(&self, trained: usize, kinds: &[Kind; 3]) -> Vec<String> {
        let [look, _, away] = kinds;
        let by_values = self.of("gap_by_values", &away.runs);
        let carried = by_values.iter().filter(|&&value| value >= 0.9).count();
        let all = &self.numbers["gap_by_values"];
        let mut findings = vec![
            format!(
                "{} of {trained} seeds learn the task. {} of them, {:.2}%, look away: [CLS] attends less to position 3 when it holds token 42.",
                self.turn.len(),
                away.runs.len(),
                self.share(away),
            ),
            format!(
                "{}If a sample without token 42 keeps its attention weights and takes the values of its pair, its logit moves by at least 90% \
                 of the difference in {carried} of {}, and by {:.0}% in the median. They do attend to the position: {:.2} with token 42 and {:.2} \
                 without, in the median, where uniform attention is 0.14.",
                if median(&by_values) >= 0.9 {
                    "Their answer needs no change of attention. "
                } else {
                    ""
                },
                away.runs.len(),
                100.0 * median(&by_values),
                median(&self.of(COLUMNS[0].1, &away.runs)),
                median(&self.of(COLUMNS[1].1, &away.runs)),
            ),
            format!(
                "In {:.0}% of the seeds, neither attention weights nor values are enough. In the median, weights alone give {:.2} of the answer, values \
                 alone {:.2}, and {:.2} needs both: more attention on a value that has changed. Without attention to the other positions, {:.2} of \
                 the answer is left.",
                self.share(look),
                median(&self.of("gap_by_weights", &look.runs)),
                median(&self.of("gap_by_values", &look.runs)),
                median(&self.needs_both(&look.runs)),
                median(&self.of("gap_without_others", &look.runs)),
            ),
        ];
        let of_change = |accepts: &dyn Fn(f64) -> bool| {
            let runs = (0..self.turn.len()).filter(|&run| accepts(self.turn[run]));
            median(&self.of("gap_by_values", &runs.collect::<Vec<_>>()))
        };
        let (little, much) = (
            of_change(&|turn| turn < 0.05),
            of_change(&|turn| turn >= 0.15),
        );
        if little > much + 0.5 {
            findings.push(format!(
                "Looking away is one end of a range, not a separate mechanism: the less attention rises with token 42, the more of the answer \
                 values alone give. In the median, they give {little:.2} where attention rises by less than 0.05 or falls, and {much:.2} where \
                 it rises by 0.15 or more (see the table by change of attention). This says how models answer, and not why a seed takes one \
                 way."
            ));
        }
        if let Some(value) = one_mode(&all[..all.len().min(TESTED_MODES)]) {
            let verdict = if value < 0.05 {
                "gathers near 0 and near 1, with a bridge between: one mode is ruled out"
            } else {
                "may have one mode"
            };
            findings.push(format!(
                "What values alone give {verdict} (Silverman's test on the first {} seeds, {}); {:.2}% of the seeds that learned lie between \
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
            quantity: "look away, of the seeds from 1,000 on".to_owned(),
            published: Some("3.3% (earlier, of the first 1,000)".to_owned()),
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
