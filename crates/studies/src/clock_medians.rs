//! Medians of runs by attention rate, for `clock_and_pizza.rs`.

use crate::clock_published::{BINS, CIRCULAR, GROUPS, bin};
use crate::page::{Compared, Verdict, between};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, median, sorted};

pub(crate) const RATE: &str = "model.attention.rate";
pub(crate) const STEPS: &str = "training.steps";
pub(crate) const FIELDS: &[&str] = &[
    RATE,
    STEPS,
    "held_out_accuracy",
    "gradient_symmetricity",
    "distance_irrelevance",
    "circularity",
];

/// The two measures that are compared.
pub(crate) const NAMES: [&str; 2] = ["gradient_symmetricity", "distance_irrelevance"];

/// A measure at one attention rate: ours, its interval, and the published one. All are medians.
pub(crate) struct Beside {
    name: &'static str,
    pub(crate) rate: f64,
    pub(crate) ours: f64,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) published: f64,
    pub(crate) runs: usize,
    pub(crate) circular: usize,
}

impl Beside {
    pub(crate) fn interval(&self) -> String {
        between(self.interval, 3)
    }

    pub(crate) fn compared(&self) -> Compared {
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
pub(crate) fn beside(small: &Rows) -> Vec<[Beside; 2]> {
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

/// The attention rates of some runs, ascending.
pub(crate) fn rates(rows: &Rows) -> Vec<f64> {
    let mut rates = sorted(&rows.numbers(RATE));
    rates.dedup();
    rates
}

/// The median gradient symmetricity by attention rate.
pub(crate) fn medians(rows: &Rows) -> Vec<(f64, f64)> {
    let at = |rate: f64| {
        let own = rows.with(RATE, |other| other == rate);
        (rate, median(&own.numbers("gradient_symmetricity")))
    };
    rates(rows).into_iter().map(at).collect()
}

/// Where the medians by rate fall below 0.9, between two rates.
pub(crate) fn crossing(medians: &[(f64, f64)]) -> Option<f64> {
    const LIMIT: f64 = 0.9;
    medians.windows(2).find_map(|pair| {
        let [(low, above), (high, below)] = [pair[0], pair[1]];
        (above >= LIMIT && below < LIMIT)
            .then(|| low + (high - low) * (above - LIMIT) / (above - below))
    })
}
