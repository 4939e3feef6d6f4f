//! Is the first symbol of a string 1, and does a model know it of longer strings? Chiang and Cholak 2022.

use headlight_experiment::metrics::wilson;
use headlight_inspector::Plot;

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
        seconds: 1.9,
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

fn page(parts: &[Rows]) -> Page {
    let rows = &parts[0];
    let mut lengths = sorted(&rows.numbers(LENGTH));
    lengths.dedup();
    let of = |length: f64, scaled: usize| {
        let own = rows.with(LENGTH, |other| other == length);
        own.with(SCALED, |other| other == scaled as f64)
    };
    let (mut compared, mut findings) = (Vec::new(), Vec::new());
    for (scaled, name) in NAMES.iter().enumerate() {
        let own = rows.with(SCALED, |other| other == scaled as f64);
        let (know, count) = (knowing(&own), own.len());
        if count == 0 {
            continue;
        }
        let interval = percents(wilson(know, count), 1);
        findings.push(format!(
            "With {} scores, {know} of {count} models know the first symbol of at least 99% of the strings of 1,000 symbols ({interval}).",
            ["plain", "log-length"][scaled],
        ));
        let claim = ["trained on short strings, fail", "generalise"][scaled];
        compared.push(Compared {
            quantity: format!("models that know 1,000 symbols, scores {name}"),
            published: Some(format!("“{claim}”")),
            ours: format!("{:.1}%", 100.0 * know as f64 / count as f64),
            interval,
            verdict: Verdict::NotComparable,
        });
    }
    if let (Some(&shortest), Some(&longest)) = (lengths.first(), lengths.last()) {
        let share = |length: f64, field: &str| {
            let own = of(length, 0);
            let know = own.with(field, |accuracy| accuracy >= KNOWS).len();
            format!("{:.0}%", 100.0 * know as f64 / own.len().max(1) as f64)
        };
        let best = lengths
            .iter()
            .copied()
            .max_by_key(|&length| knowing(&of(length, 0)));
        let best = best.unwrap_or(shortest);
        findings.push(format!(
            "With plain scores, the share depends on the training length: {} at {shortest}, most at {best} ({}), and {} at {longest}. Longer \
             strings are also harder to learn within 10,000 steps: {} of these models know 99% of held-out strings of {longest} symbols, \
             and {} at {shortest}.",
            share(shortest, ACCURACY),
            share(best, ACCURACY),
            share(longest, ACCURACY),
            share(longest, "held_out_accuracy"),
            share(shortest, "held_out_accuracy"),
        ));
    }
    let figure = |name: &str, range: &dyn Fn(&Rows) -> Option<[f64; 3]>| {
        let set = |scaled: usize| {
            let ranges = lengths.iter().map(|&length| range(&of(length, scaled)));
            (NAMES[scaled].to_owned(), ranges.collect())
        };
        Plot::Ranges {
            labels: ["training length, in symbols".to_owned(), name.to_owned()],
            groups: lengths.iter().map(f64::to_string).collect(),
            sets: vec![set(0), set(1)],
            mark: None,
        }
    };
    let header = [
        "trained at length",
        "scores",
        "runs",
        "know their own length",
        "know 1,000 symbols",
        "accuracy, median",
        "cross-entropy, median",
        "95% interval",
        "attention on the first symbol, block 0",
        "block 1",
    ];
    let mut cells_of_all = Vec::new();
    for &length in &lengths {
        cells_of_all.extend((0..2).map(|scaled| cells(length, scaled, &of(length, scaled))));
    }
    Page {
        findings,
        compared,
        how: vec![
            "The model and the recipe are the published ones: two blocks of width 16 with one head, trained on 10,000 fresh strings of one \
             length, one per step. At the end each model classifies the same 1,000 strings of 1,000 symbols. The paper shows 20 trials in \
             figures, without a table; its claims are in the column of published values."
                .to_owned(),
            "Their code multiplies the query's input by ln(n + 1); here scores are multiplied by the logarithm of the number of keys, which \
             also scales the query's bias."
                .to_owned(),
        ],
        figures: vec![
            figure("share of models that know 1,000 symbols, with its 95% interval", &|own| {
                let [low, high] = wilson(knowing(own), own.len());
                let share = knowing(own) as f64 / own.len() as f64;
                (!own.is_empty()).then_some([low, share, high])
            }),
            figure("cross-entropy on 1,000 symbols, quartiles", &|own| quartiles(own, LOSS)),
            figure("attention on the first symbol in block 1, quartiles", &|own| {
                quartiles(own, "deciding_attention/1/0")
            }),
        ],
        tables: vec![table("By training length", "", &header, cells_of_all).left_aligned(&["scores"])],
    }
}

/// How many models know the longer strings.
fn knowing(rows: &Rows) -> usize {
    rows.with(ACCURACY, |accuracy| accuracy >= KNOWS).len()
}

fn quartiles(rows: &Rows, field: &str) -> Option<[f64; 3]> {
    let values = rows.numbers(field);
    let quartiles = [0.25, 0.5, 0.75].map(|share| quantile(&values, share));
    quartiles[1].is_finite().then_some(quartiles)
}

fn cells(length: f64, scaled: usize, own: &Rows) -> Vec<String> {
    let losses = own.numbers(LOSS);
    let attention = |block: usize| {
        let attention = own.numbers(&format!("deciding_attention/{block}/0"));
        format!("{:.3}", median(&attention))
    };
    vec![
        format!("{length:.0}"),
        NAMES[scaled].to_owned(),
        own.len().to_string(),
        own.with("held_out_accuracy", |accuracy| accuracy >= KNOWS)
            .len()
            .to_string(),
        knowing(own).to_string(),
        format!("{:.3}", median(&own.numbers(ACCURACY))),
        format!("{:.4}", median(&losses)),
        between(interval_of_median(&losses), 4),
        attention(0),
        attention(1),
    ]
}
