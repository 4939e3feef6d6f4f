//! How do models add modulo 59? Zhong et al. 2023.

use headlight_inspector::{Curve, Plot, Table};

use crate::clock_published::{BINS, CIRCULAR, PUBLISHED_MEDIANS, bin};
use crate::page::{Compared, Page, Verdict, between, table};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, median, one_mode, probability, spearman};
use crate::study::{Part, Study};

/// The middles of the published table's bins.
const RATES: &str = "model.attention.rate=0.05,0.15,0.25,0.35,0.45,0.55,0.65,0.75,0.85,0.95";
const RATE: &str = "model.attention.rate";
const STEPS: &str = "training.steps";
const FIELDS: &[&str] = &[
    RATE,
    STEPS,
    "held_out_accuracy",
    "gradient_symmetricity",
    "distance_irrelevance",
    "circularity",
];
const SMALL: &str = include_str!("../../../studies/clock-and-pizza/small.toml");
const PUBLISHED: &str = include_str!("../../../studies/clock-and-pizza/published.toml");

pub(crate) static STUDY: Study = Study {
    name: "clock-and-pizza",
    question: "Are there two algorithms of addition modulo 59, and what decides which one a model learns?",
    source: "Published as Zhong et al. 2023, The Clock and the Pizza (arXiv 2306.17844)",
    parts: &[
        Part {
            name: "small",
            config: SMALL,
            changes: &[],
            grid: &[RATES],
            seeds: 15,
            quick: 1,
            seconds: 5.9,
            fields: FIELDS,
        },
        Part {
            name: "width-128",
            config: PUBLISHED,
            changes: &[],
            grid: &["model.attention.rate=0.05,0.25,0.45,0.65,0.85,0.95"],
            seeds: 2,
            quick: 0,
            seconds: 33.5,
            fields: FIELDS,
        },
        Part {
            name: "width-32",
            config: PUBLISHED,
            changes: &["model.d_model=32", "model.d_ff=128"],
            grid: &[RATES],
            seeds: 10,
            quick: 1,
            seconds: 3.5,
            fields: FIELDS,
        },
        Part {
            name: "longer",
            config: PUBLISHED,
            changes: &["model.d_model=64", "model.d_ff=256"],
            grid: &[
                "training.steps=1500,5000,20000",
                "model.attention.rate=0.05,0.45,0.65,0.95",
            ],
            seeds: 1,
            quick: 0,
            seconds: 53.0,
            fields: FIELDS,
        },
    ],
    page,
};

/// The probability below which one mode is ruled out.
const LEVEL: f64 = 0.05;

const NAMES: [&str; 2] = ["gradient_symmetricity", "distance_irrelevance"];

/// A measure at one attention rate: ours, its interval, and the published one. All are medians.
struct Beside {
    name: &'static str,
    rate: f64,
    ours: f64,
    interval: Option<[f64; 2]>,
    published: f64,
    runs: usize,
    circular: usize,
}

impl Beside {
    fn interval(&self) -> String {
        between(self.interval, 3)
    }

    fn compared(&self) -> Compared {
        Compared {
            quantity: format!("{}, rate {:.2}", self.name.replace('_', " "), self.rate),
            published: Some(format!("{:.3}", self.published)),
            ours: format!("{:.3}", self.ours),
            interval: self.interval(),
            // Another width, split, weight decay and length.
            verdict: Verdict::NotComparable,
        }
    }
}

/// Both measures at each rate of which there are runs.
fn beside(small: &Rows) -> Vec<[Beside; 2]> {
    let of_rate = |index: usize| {
        let own = small.with(RATE, |rate| bin(rate) == index);
        let circular = own.with("circularity", |value| value >= CIRCULAR).len();
        let one = |name: usize| {
            let ours = own.numbers(NAMES[name]);
            Beside {
                name: NAMES[name],
                rate: (index as f64 + 0.5) / BINS as f64,
                ours: median(&ours),
                interval: interval_of_median(&ours),
                published: PUBLISHED_MEDIANS[index][name],
                runs: own.len(),
                circular,
            }
        };
        [one(0), one(1)]
    };
    let all = (0..BINS).map(of_rate);
    all.filter(|[first, _]| first.runs > 0).collect()
}

fn page(parts: &[Rows]) -> Page {
    let learned: Vec<Rows> = parts
        .iter()
        .map(|rows| rows.with("held_out_accuracy", |accuracy| accuracy >= 0.99))
        .collect();
    let beside = beside(&learned[0]);
    let compared: Vec<Compared> = beside.iter().flatten().map(Beside::compared).collect();
    let known = beside
        .iter()
        .flatten()
        .filter_map(|beside| Some((beside.published, beside.interval?)));
    let known: Vec<bool> = known
        .map(|(published, [low, high])| (low..=high).contains(&published))
        .collect();
    let within = (known.iter().filter(|&&within| within).count(), known.len());
    Page {
        findings: findings(parts, &learned, within),
        compared,
        how: vec![
            "The published runs have width 128, 80% of the pairs to train on, weight decay 2, learning rate 0.001 and 20,000 steps. Their medians \
             here are of the 817 of 2,383 with a circularity of 0.995 or more, by bins of the attention rate. Ours stop earlier: the small \
             recipe has width 64, half of the pairs, weight decay 1, learning rate 0.003 and 1,500 steps, and every run with a held-out \
             accuracy of 99% or more counts. So nothing is comparable in the strict sense; the part `longer` shows whether the measures \
             still move."
                .to_owned(),
            "Whether there are two algorithms or a continuum is judged by Silverman's test of one mode, over the distance irrelevance of all \
             runs of the small recipe that generalise: two, if it rules out one mode at the level 0.05. The attention rates of the runs are \
             spread evenly, so a quantity that moves evenly with the rate has one mode."
                .to_owned(),
        ],
        figures: figures(&learned[0], &beside),
        tables: [
            (by_rate(&beside), learned[0].len()),
            (by_steps(&parts[3]), parts[3].len()),
            (by_width(&learned), learned[1].len() + learned[2].len()),
        ]
        .into_iter()
        .filter(|(_, rows)| *rows > 0)
        .map(|(table, _)| table)
        .collect(),
    }
}

fn figures(small: &Rows, beside: &[[Beside; 2]]) -> Vec<Plot> {
    let curves = (0..2).map(|name| {
        let curve = |title: &str, value: fn(&Beside) -> f64| Curve {
            name: title.to_owned(),
            points: beside
                .iter()
                .map(|both| [both[name].rate, value(&both[name])])
                .collect(),
        };
        Plot::Curves {
            labels: [
                "attention rate".to_owned(),
                format!("{}, median", NAMES[name].replace('_', " ")),
            ],
            curves: vec![
                curve("ours, small recipe", |beside| beside.ours),
                curve("published", |beside| beside.published),
            ],
            mark: None,
        }
    });
    let mut figures: Vec<Plot> = curves.collect();
    let [symmetricity, irrelevance] = NAMES.map(|name| small.numbers(name));
    figures.push(Plot::Scatter {
        labels: NAMES.map(|name| name.replace('_', " ")),
        points: symmetricity
            .into_iter()
            .zip(irrelevance.iter().copied())
            .map(|(a, b)| [a, b])
            .collect(),
    });
    figures.push(Plot::Histogram {
        label: "distance irrelevance".to_owned(),
        values: irrelevance,
        mark: None,
    });
    figures
}

fn by_rate(beside: &[[Beside; 2]]) -> Table {
    let header = [
        "attention rate",
        "runs that generalise",
        "circular",
        "gradient symmetricity",
        "95% interval",
        "published",
        "distance irrelevance",
        "95% interval",
        "published",
    ];
    let lines = beside.iter().map(|both| {
        let mut cells = vec![
            format!("{:.2}", both[0].rate),
            both[0].runs.to_string(),
            both[0].circular.to_string(),
        ];
        for beside in both {
            cells.extend([
                format!("{:.3}", beside.ours),
                beside.interval(),
                format!("{:.3}", beside.published),
            ]);
        }
        cells
    });
    table(
        "Small recipe, by attention rate",
        "medians over runs",
        &header,
        lines,
    )
}

fn findings(parts: &[Rows], learned: &[Rows], (within, known): (usize, usize)) -> Vec<String> {
    let small = &learned[0];
    let rates = small.numbers(RATE);
    let irrelevance = small.numbers("distance_irrelevance");
    let mut findings = vec![format!(
        "{} of {} runs of the small recipe generalise to 99% of the other pairs.",
        small.len(),
        parts[0].len(),
    )];
    if known > 0 {
        findings.push(format!(
            "{within} of {known} published medians by attention rate lie in the 95% interval of ours, although the recipe is another one."
        ));
    }
    match one_mode(&irrelevance) {
        Some(value) if value < LEVEL => findings.push(format!(
            "The test that was fixed before the runs rules out one mode of distance irrelevance (Silverman's test, {}). \
             That speaks for two algorithms, but an S-shaped dependence on the attention rate alone would do the same.",
            probability(value)
        )),
        Some(value) => findings.push(format!(
            "The test that was fixed before the runs does not rule out one mode of distance irrelevance (Silverman's test, {}, {} \
             runs), which is what a continuum would give.",
            probability(value),
            small.len()
        )),
        None => {}
    }
    findings.push(format!(
        "The rank correlation of distance irrelevance with the attention rate is {:.2} over the runs of the small recipe.",
        spearman(&rates, &irrelevance)
    ));
    let boundary = |rows: &Rows| {
        let [rates, symmetric] = [RATE, "gradient_symmetricity"].map(|name| rows.numbers(name));
        crossing(&rates, &symmetric)
    };
    let names = ["64, small recipe", "128", "32"];
    let found: Vec<String> = names
        .iter()
        .zip(learned)
        .filter_map(|(name, rows)| Some(format!("{:.2} at width {name}", boundary(rows)?)))
        .collect();
    if !found.is_empty() {
        findings.push(format!(
            "The attention rate at which the median gradient symmetricity falls below 0.9: {}.",
            found.join(", ")
        ));
    }
    findings
}

/// Where the medians by rate fall below 0.9, between two rates.
fn crossing(rates: &[f64], values: &[f64]) -> Option<f64> {
    const LIMIT: f64 = 0.9;
    let mut different = crate::statistics::sorted(rates);
    different.dedup();
    let medians: Vec<(f64, f64)> = different
        .into_iter()
        .map(|rate| {
            let own = rates
                .iter()
                .zip(values)
                .filter(|(other, _)| **other == rate);
            let own: Vec<f64> = own.map(|(_, value)| *value).collect();
            (rate, median(&own))
        })
        .collect();
    medians.windows(2).find_map(|pair| {
        let [(low, above), (high, below)] = [pair[0], pair[1]];
        (above >= LIMIT && below < LIMIT)
            .then(|| low + (high - low) * (above - LIMIT) / (above - below))
    })
}

/// The runs of one seed at several lengths.
fn by_steps(rows: &Rows) -> Table {
    let header = [
        "attention rate",
        "steps",
        "held-out accuracy",
        "gradient symmetricity",
        "distance irrelevance",
        "circularity",
    ];
    let columns: Vec<Vec<f64>> = FIELDS.iter().map(|name| rows.numbers(name)).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| {
        (columns[0][a], columns[1][a])
            .partial_cmp(&(columns[0][b], columns[1][b]))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let lines = order.into_iter().map(|run| {
        let mut cells = vec![
            format!("{:.2}", columns[0][run]),
            format!("{}", columns[1][run]),
        ];
        cells.extend(
            columns[2..]
                .iter()
                .map(|column| format!("{:.3}", column[run])),
        );
        cells
    });
    table(
        "Width 64 and the published recipe, by steps",
        "one seed each",
        &header,
        lines,
    )
}

/// The runs of each width.
fn by_width(learned: &[Rows]) -> Table {
    let header = [
        "runs",
        "attention rate",
        "that generalise",
        "gradient symmetricity",
        "distance irrelevance",
        "circularity",
    ];
    let mut lines = Vec::new();
    for (name, rows) in [("width 128", &learned[1]), ("width 32", &learned[2])] {
        let mut rates = crate::statistics::sorted(&rows.numbers(RATE));
        rates.dedup();
        for rate in rates {
            let own = rows.with(RATE, |other| other == rate);
            let mut cells = vec![name.to_owned(), format!("{rate:.2}"), own.len().to_string()];
            cells.extend(
                FIELDS[3..]
                    .iter()
                    .map(|name| format!("{:.3}", median(&own.numbers(name)))),
            );
            lines.push(cells);
        }
    }
    table(
        "The published recipe, stopped at 1,500 of 20,000 steps, by width",
        "medians over runs that generalise",
        &header,
        lines,
    )
}
