//! Is the first symbol of a string 1, and does a model know it of longer strings? Chiang and Cholak 2022.

use headlight_experiment::metrics::wilson;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict, between, percents, table};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, median, quantile, sorted};
use crate::study::{Part, Study};

const LENGTH: &str = "data.seq_len";
const SCALED: &str = "model.attention.log_length";
const LOSS: &str = "tests/long/loss";
const ACCURACY: &str = "tests/long/accuracy";

pub(crate) static STUDY: Study = Study {
    name: "first",
    question: "Do models that know the first symbol of short strings know it of strings of 1,000 symbols?",
    source: "Published as Chiang and Cholak 2022, Overcoming a Theoretical Limitation of Self-Attention (arXiv 2202.12172)",
    parts: &[Part {
        name: "lengths",
        config: include_str!("../../../studies/first/lengths.toml"),
        changes: &[],
        grid: &[
            "data.seq_len=10,20,30,40,50,60,70,80,90,100",
            "model.attention.log_length=false,true",
        ],
        seeds: 50,
        quick: 1,
        seconds: 2.8,
        fields: &[
            LENGTH,
            SCALED,
            "tests",
            "deciding_attention",
            "held_out_accuracy",
        ],
    }],
    page,
};

/// The accuracy from which a model knows the longer strings.
const KNOWS: f64 = 0.99;

const NAMES: [&str; 2] = ["plain", "times log n"];

/// The runs by training length.
struct Lengths<'a> {
    rows: &'a Rows,
    /// Ascending.
    lengths: Vec<f64>,
}

fn page(parts: &[Rows]) -> Page {
    let rows = &parts[0];
    let mut lengths = sorted(&rows.numbers(LENGTH));
    lengths.dedup();
    let lengths = Lengths { rows, lengths };
    Page {
        findings: lengths.findings(),
        compared: lengths.compared(),
        how: how(),
        figures: lengths.figures(),
        tables: vec![lengths.table()],
    }
}

/// A count with its share and the 95% interval of that share.
fn share(know: usize, count: usize) -> String {
    format!(
        "{know} of {count} ({}%; {})",
        (100.0 * know as f64 / count.max(1) as f64).round(),
        percents(wilson(know, count), 1)
    )
}

impl Lengths<'_> {
    /// Those with plain scores, or with scores times log n.
    fn scaled(&self, scaled: usize) -> Rows {
        self.rows.with(SCALED, |other| other == scaled as f64)
    }

    fn of(&self, length: f64, scaled: usize) -> Rows {
        self.scaled(scaled).with(LENGTH, |other| other == length)
    }

    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (scaled, name) in ["plain", "log-length"].iter().enumerate() {
            let own = learned(&self.scaled(scaled));
            if !own.is_empty() {
                findings.push(format!(
                    "With {name} scores, {} models that answer 99% of held-out strings of their own length also answer 99% of 1,000 strings of \
                     1,000 symbols.",
                    share(knowing(&own), own.len())
                ));
            }
        }
        if !self.scaled(0).is_empty() {
            let by_length = self.lengths.iter().map(|&length| {
                let own = learned(&self.of(length, 0));
                format!("{} of {} at {length}", knowing(&own), own.len())
            });
            findings.push(format!(
                "With plain scores, this depends on the training length: {}.",
                by_length.collect::<Vec<_>>().join(", ")
            ));
        }
        if let Some(&longest) = self.lengths.last() {
            let [plain, scaled] = [0, 1].map(|scaled| {
                let own = self.of(longest, scaled);
                format!("{} of {}", learned(&own).len(), own.len())
            });
            findings.push(format!(
                "10,000 strings do not always teach the training length itself: at {longest} symbols, {plain} models learn with plain scores, \
                 and {scaled} with log-length scores."
            ));
        }
        findings
    }

    fn compared(&self) -> Vec<Compared> {
        let claims = ["fail if trained on short strings", "generalise"];
        let mut compared = Vec::new();
        for (scaled, claim) in claims.iter().enumerate() {
            let shortest = self.lengths.first().map(|&length| {
                let quantity = format!(
                    "know 1,000 symbols, scores {}, trained at {length}",
                    NAMES[scaled]
                );
                (quantity, learned(&self.of(length, scaled)))
            });
            let all = format!("know 1,000 symbols, scores {}, all lengths", NAMES[scaled]);
            let groups = shortest
                .into_iter()
                .chain([(all, learned(&self.scaled(scaled)))]);
            for (quantity, own) in groups.filter(|(_, own)| !own.is_empty()) {
                compared.push(Compared {
                    quantity,
                    published: Some((*claim).to_owned()),
                    ours: format!("{:.1}%", 100.0 * knowing(&own) as f64 / own.len() as f64),
                    interval: percents(wilson(knowing(&own), own.len()), 1),
                    verdict: Verdict::NotComparable,
                });
            }
        }
        compared
    }

    fn figures(&self) -> Vec<Plot> {
        let figure = |name: &str, range: &dyn Fn(&Rows) -> Option<[f64; 3]>| {
            let set = |scaled: usize| {
                let lengths = self.lengths.iter();
                let ranges = lengths.map(|&length| range(&self.of(length, scaled)));
                (NAMES[scaled].to_owned(), ranges.collect())
            };
            Plot::Ranges {
                labels: ["training length, in symbols".to_owned(), name.to_owned()],
                groups: self.lengths.iter().map(f64::to_string).collect(),
                sets: vec![set(0), set(1)],
                mark: None,
            }
        };
        vec![
            figure(
                "of the models that know their own length, the share that knows 1,000 symbols, with its 95% interval",
                &|own| {
                    let own = &learned(own);
                    let [low, high] = wilson(knowing(own), own.len());
                    let share = knowing(own) as f64 / own.len() as f64;
                    (!own.is_empty()).then_some([low, share, high])
                },
            ),
            figure("cross-entropy on 1,000 symbols, quartiles", &|own| {
                quartiles(&own.numbers(LOSS))
            }),
            figure(
                "attention on the first of 1,000 symbols in block 1, quartiles",
                &|own| quartiles(&attention(own)),
            ),
        ]
    }

    fn table(&self) -> Table {
        let header = [
            "trained at length",
            "scores",
            "runs",
            "know their own length",
            "know 1,000 symbols",
            "accuracy, median",
            "cross-entropy, median",
            "95% interval",
            "attention on the first symbol, block 0, own length",
            "block 1, own length",
            "block 1, of 1,000",
        ];
        let lengths = self.lengths.iter();
        let rows = lengths.flat_map(|&length| {
            (0..2).map(move |scaled| cells(length, scaled, &self.of(length, scaled)))
        });
        table("By training length", "", &header, rows).left_aligned(&["scores"])
    }
}

fn how() -> Vec<String> {
    vec![
        "The model and the recipe are the published ones: two blocks of width 16 with one head, trained on 10,000 fresh strings of one \
         length, one per step. At the end each model answers the same 1,000 strings of 1,000 symbols. The paper trains at 10 to 200 and shows means of 20 trials in \
         figures, without a table; we train at 10 to 100 and count models. The column of published values has its claims in our words."
            .to_owned(),
            "Their code multiplies the query's input by ln(n + 1); here scores are multiplied by the logarithm of the number of keys, which \
             also scales the query's bias."
                .to_owned(),
    ]
}

/// How many models know the longer strings.
fn knowing(rows: &Rows) -> usize {
    rows.with(ACCURACY, |accuracy| accuracy >= KNOWS).len()
}

/// Those that know strings of the length that they were trained on.
fn learned(rows: &Rows) -> Rows {
    rows.with("held_out_accuracy", |accuracy| accuracy >= KNOWS)
}

/// The attention on the first symbol of 1,000, in the last block: of each model, the mean over both classes.
fn attention(rows: &Rows) -> Vec<f64> {
    let classes = [
        "tests/long/attention_positive",
        "tests/long/attention_negative",
    ];
    let [ones, zeros] = classes.map(|class| rows.numbers(class));
    ones.iter()
        .zip(&zeros)
        .map(|(one, zero)| (one + zero) / 2.0)
        .collect()
}

fn quartiles(values: &[f64]) -> Option<[f64; 3]> {
    let quartiles = [0.25, 0.5, 0.75].map(|share| quantile(values, share));
    quartiles[1].is_finite().then_some(quartiles)
}

fn cells(length: f64, scaled: usize, own: &Rows) -> Vec<String> {
    let losses = own.numbers(LOSS);
    let at_own_length = |block: usize| {
        let attention = own.numbers(&format!("deciding_attention/{block}/0"));
        format!("{:.3}", median(&attention))
    };
    vec![
        format!("{length:.0}"),
        NAMES[scaled].to_owned(),
        own.len().to_string(),
        learned(own).len().to_string(),
        knowing(own).to_string(),
        format!("{:.3}", median(&own.numbers(ACCURACY))),
        format!("{:.5}", median(&losses)),
        between(interval_of_median(&losses), 5),
        at_own_length(0),
        at_own_length(1),
        format!("{:.3}", median(&attention(own))),
    ]
}
