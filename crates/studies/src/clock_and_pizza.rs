//! How do models add modulo 59? Zhong et al. 2023.

use headlight_inspector::{Curve, Plot};

use crate::clock_published::{BINS, CIRCULAR, GROUPS, ONE_MODE, bin, of_width};
use crate::clock_tables::{by_rate, by_steps, by_width};
use crate::page::{Compared, Page, Verdict, between};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, median, one_mode, probability, sorted, spearman};
use crate::study::{Part, Study};

/// The middles of the published table's bins.
const RATES: &str = "model.attention.rate=0.05,0.15,0.25,0.35,0.45,0.55,0.65,0.75,0.85,0.95";
pub(crate) const RATE: &str = "model.attention.rate";
const STEPS: &str = "training.steps";
pub(crate) const FIELDS: &[&str] = &[
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

pub(crate) const NAMES: [&str; 2] = ["gradient_symmetricity", "distance_irrelevance"];

/// A measure at one attention rate: ours, its interval, and the published one. All are medians.
pub(crate) struct Beside {
    name: &'static str,
    pub(crate) rate: f64,
    pub(crate) ours: f64,
    interval: Option<[f64; 2]>,
    pub(crate) published: f64,
    pub(crate) runs: usize,
    pub(crate) circular: usize,
}

impl Beside {
    pub(crate) fn interval(&self) -> String {
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
                published: GROUPS[0].medians[index][name],
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
            format!(
                "The published runs have width 128, 80% of the pairs to train on, weight decay 2, learning rate 0.001 and 20,000 steps. Their \
                 medians here are of the {} of {} with a circularity of {CIRCULAR} or more, by bins of the attention rate. Ours stop earlier: the small \
             recipe has width 64, half of the pairs, weight decay 1, learning rate 0.003 and 1,500 steps, and every run with a held-out \
             accuracy of 99% or more counts. So nothing is comparable in the strict sense; the part `longer` shows whether the measures \
             still move.",
                GROUPS[0].runs,
                of_width(128).map_or(0, |group| group.runs)
            ),
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
    findings.extend(explained(learned));
    if let Some(value) = one_mode(&irrelevance) {
        let mut text = if value < LEVEL {
            format!(
                "The test that was fixed before the runs rules out one mode of distance irrelevance (Silverman's test, {}). That speaks \
                 for two algorithms, but an S-shaped dependence on the attention rate alone would do the same.",
                probability(value)
            )
        } else {
            format!(
                "One boundary or a continuum? The test that was fixed before the runs does not rule out one mode of distance irrelevance \
                 (Silverman's test, {}, {} runs), which is what a continuum would give.",
                probability(value),
                small.len()
            )
        };
        let within = within_rates(small);
        text += &format!(
            " Added afterwards: the {} published runs that the authors look at rule out one mode ({}), and so do 150 of them drawn at random. \
             The recipe is the difference that is left; see the part `longer` for what more steps change. Within one attention rate, ours rule \
             it out at {} of {} rates.",
            GROUPS[0].runs,
            probability(ONE_MODE),
            within.iter().filter(|&&value| value < LEVEL).count(),
            within.len()
        );
        findings.push(text);
    }
    findings.push(format!(
        "The rank correlation of distance irrelevance with the attention rate is {:.2} over the runs of the small recipe.",
        spearman(&rates, &irrelevance)
    ));
    let names = ["64, small recipe", "128", "32"];
    let found: Vec<String> = names
        .iter()
        .zip(learned)
        .filter_map(|(name, rows)| Some(format!("{:.2} ({name})", crossing(&medians(rows))?)))
        .collect();
    if !found.is_empty() {
        let published = GROUPS.iter().filter(|group| !group.is_circular);
        let published = published.map(|group| {
            let medians = group.medians.iter().enumerate();
            let medians =
                medians.map(|(index, both)| ((index as f64 + 0.5) / BINS as f64, both[0]));
            let place = crossing(&medians.collect::<Vec<_>>());
            let place = place.map_or_else(|| "never".to_owned(), |place| format!("{place:.2}"));
            let [least, most] = group.widths;
            if least == most {
                format!("{place} ({least})")
            } else {
                format!("{place} ({least} to {most})")
            }
        });
        findings.push(format!(
            "The boundary moves up with the width. The attention rate at which the median gradient symmetricity falls below 0.9 is, by width, {}. \
             In the published table, whatever the circularity, it is {}.",
            found.join(", "),
            published.collect::<Vec<_>>().join(", ")
        ));
    }
    findings
}

/// Why distance irrelevance at the lowest rate differs from the published value; needs the parts that `--quick` leaves out.
fn explained(learned: &[Rows]) -> Option<String> {
    const LOWEST: f64 = 0.05;
    let at = |rows: &Rows, steps: Option<f64>| {
        let own = rows.with(RATE, |rate| rate == LOWEST);
        let own = own.with(STEPS, |own| steps.is_none_or(|steps| own == steps));
        let value = median(&own.numbers("distance_irrelevance"));
        value.is_finite().then_some(value)
    };
    let unfiltered = of_width(128)?.medians[0][1];
    Some(format!(
        "Ours differ most in the distance irrelevance at low rates: {:.2} at {LOWEST}, published {:.2}. Two causes are measured. The authors \
         look at circular runs alone: all published runs of width 128 have {unfiltered:.2}, and ours of their recipe and width {:.2}. And \
         ours stop early: in one seed of width 64, it falls from {:.2} after 1,500 steps to {:.2} after 20,000.",
        at(&learned[0], None)?,
        GROUPS[0].medians[0][1],
        at(&learned[1], None)?,
        at(&learned[3], Some(1500.0))?,
        at(&learned[3], Some(20_000.0))?,
    ))
}

/// The probability of one mode of distance irrelevance at each rate.
fn within_rates(rows: &Rows) -> Vec<f64> {
    let at = rates(rows).into_iter().map(|rate| {
        let own = rows.with(RATE, |other| other == rate);
        one_mode(&own.numbers("distance_irrelevance"))
    });
    at.flatten().collect()
}

/// The attention rates of some runs, ascending.
pub(crate) fn rates(rows: &Rows) -> Vec<f64> {
    let mut rates = sorted(&rows.numbers(RATE));
    rates.dedup();
    rates
}

/// The median gradient symmetricity by attention rate.
fn medians(rows: &Rows) -> Vec<(f64, f64)> {
    let at = |rate: f64| {
        let own = rows.with(RATE, |other| other == rate);
        (rate, median(&own.numbers("gradient_symmetricity")))
    };
    rates(rows).into_iter().map(at).collect()
}

/// Where the medians by rate fall below 0.9, between two rates.
fn crossing(medians: &[(f64, f64)]) -> Option<f64> {
    const LIMIT: f64 = 0.9;
    medians.windows(2).find_map(|pair| {
        let [(low, above), (high, below)] = [pair[0], pair[1]];
        (above >= LIMIT && below < LIMIT)
            .then(|| low + (high - low) * (above - LIMIT) / (above - below))
    })
}
