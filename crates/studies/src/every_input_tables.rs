//! The tables and figures of `every_input.rs`.

use headlight_experiment::metrics::wilson;
use headlight_experiment::outcome;
use headlight_inspector::{Plot, Table};

use crate::page::{between, percents, table};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, interval_of_spearman, median, quantile, spearman};

pub(crate) const WRONG: &str = "wrong_inputs";

/// Without token 42 at position 3, those with it at four or five of the other positions: 5 x 49^2 + 49.
pub(crate) const FOUR: f64 = 12_054.0;

/// At three or more: 10 x 49^3 more.
pub(crate) const THREE: f64 = 1_188_544.0;

/// Numbers of the rows of a usual sweep that could tell.
pub(crate) const CHEAP: [(&str, &str); 7] = [
    ("held-out loss", "held_out_final_loss"),
    ("training loss", "final_loss"),
    (
        "largest probability of a negative training sample",
        "max_negative",
    ),
    ("smallest probability of a positive one", "min_positive"),
    ("step at which held-out F1 was 0.99", "learned_at_step"),
    ("attention on position 3 with 42", "attention_positive/3"),
    ("attention without", "attention_negative/3"),
];

/// Seeds that were trained alike.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) rows: Rows,
}

/// Seeds that were trained on the same dataset.
pub(crate) struct Samples {
    /// Its seed.
    pub(crate) seed: f64,
    /// Its negative training samples with token 42 at two positions, and at three or more.
    pub(crate) crowded: [usize; 2],
    pub(crate) wrong: Vec<f64>,
}

pub(crate) fn conditions(groups: &[Group]) -> Table {
    let header = [
        "models",
        "seeds",
        "held-out F1 of 0.99",
        "right on every input",
        "95% interval",
        "wrong inputs, median",
        "95% interval",
        "5th to 95th percentile",
        "at most 12,054",
        "at most 1,188,544",
    ];
    let lines = groups.iter().map(|group| {
        let wrong = group.rows.numbers(WRONG);
        let learned = group.rows.numbers("held_out_f1");
        let perfect = perfect(&wrong);
        vec![
            group.name.clone(),
            wrong.len().to_string(),
            format!("{:.1}%", share_of(&learned, |f1| f1 >= 0.99)),
            format!("{:.1}%", share_of(&wrong, |wrong| wrong == 0.0)),
            percents(wilson(perfect, wrong.len()), 1),
            grouped(median(&wrong)),
            to(interval_of_median(&wrong)),
            to(Some([0.05, 0.95].map(|share| quantile(&wrong, share)))),
            format!("{:.0}%", share_of(&wrong, |wrong| wrong <= FOUR)),
            format!("{:.0}%", share_of(&wrong, |wrong| wrong <= THREE)),
        ]
    });
    table(
        "By training",
        "12,054 and 1,188,544: see How",
        &header,
        lines,
    )
}

pub(crate) fn of_datasets(datasets: &[Samples]) -> Table {
    let header = [
        "data.seed",
        "with two 42s",
        "with three or more",
        "seeds",
        "right on every input",
        "wrong inputs, median",
        "95% interval",
    ];
    let lines = datasets.iter().map(|own| {
        vec![
            format!("{:.0}", own.seed),
            own.crowded[0].to_string(),
            own.crowded[1].to_string(),
            own.wrong.len().to_string(),
            perfect(&own.wrong).to_string(),
            grouped(median(&own.wrong)),
            to(interval_of_median(&own.wrong)),
        ]
    });
    table(
        "By dataset",
        "with two 42s: negative training samples that hold token 42 twice",
        &header,
        lines,
    )
}

pub(crate) fn cheap(rows: &Rows, wrong: &[f64]) -> Table {
    let lines = CHEAP.iter().map(|(name, field)| {
        let values = rows.numbers(field);
        vec![
            (*name).to_owned(),
            format!("{:.3}", spearman(&values, wrong)),
            between(interval_of_spearman(&values, wrong), 3),
        ]
    });
    let header = ["number", "rank correlation", "95% interval"];
    table(
        "What tells the number of wrong inputs",
        "over the seeds of the notebook",
        &header,
        lines,
    )
}

/// The logarithm of a number of wrong inputs, with one more, so that it is there for none.
fn logarithm(wrong: f64) -> f64 {
    (wrong + 1.0).log10()
}

pub(crate) fn figures(wrong: &[f64], rows: &Rows, datasets: &[Samples]) -> Vec<Plot> {
    let label = "wrong inputs and 1, logarithm to base 10";
    let (name, field) = CHEAP[2];
    let points = rows.numbers(field).into_iter().zip(wrong);
    let quartiles = |own: &Samples| {
        let quartiles = [0.25, 0.5, 0.75].map(|share| logarithm(quantile(&own.wrong, share)));
        quartiles[1].is_finite().then_some(quartiles)
    };
    vec![
        Plot::Histogram {
            label: label.to_owned(),
            values: wrong.iter().map(|&wrong| logarithm(wrong)).collect(),
            mark: Some((
                logarithm(FOUR),
                "12,054: all with four 42s or more".to_owned(),
            )),
        },
        Plot::Scatter {
            labels: [name.to_owned(), label.to_owned()],
            points: points
                .map(|(value, &wrong)| [value, logarithm(wrong)])
                .collect(),
        },
        Plot::Ranges {
            labels: [
                "dataset, with its negative training samples that hold three 42s or more"
                    .to_owned(),
                format!("{label}, quartiles"),
            ],
            groups: datasets
                .iter()
                .map(|own| format!("{:.0}: {}", own.seed, own.crowded[1]))
                .collect(),
            sets: vec![(String::new(), datasets.iter().map(quartiles).collect())],
            mark: None,
        },
    ]
}

fn share_of(values: &[f64], accepts: impl Fn(f64) -> bool) -> f64 {
    let accepted = values.iter().filter(|&&value| accepts(value)).count();
    100.0 * accepted as f64 / values.len().max(1) as f64
}

pub(crate) fn perfect(wrong: &[f64]) -> usize {
    wrong.iter().filter(|&&wrong| wrong == 0.0).count()
}

/// A count, with commas.
pub(crate) fn grouped(count: f64) -> String {
    if !count.is_finite() {
        return "–".to_owned();
    }
    outcome::grouped(&format!("{count:.0}"))
}

pub(crate) fn to(interval: Option<[f64; 2]>) -> String {
    let Some([low, high]) = interval else {
        return "–".to_owned();
    };
    format!("{} to {}", grouped(low), grouped(high))
}
