//! Whether probabilities are as high as the shares of what they predict.

use serde::Serialize;

use super::confusion::mean;

/// The number of bins, all of the same width.
const BINS: usize = 10;

/// Probabilities of an event in bins, beside how often it occurred.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The bins, in ascending order.
    pub bins: Vec<CalibrationBin>,
    /// The mean over samples of the distance, in their bin, between mean probability and share.
    pub expected_error: Option<f64>,
}

/// The samples whose probability is above `from` and at most `to`; the first bin also has those of probability 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// The lower end.
    pub from: f64,
    /// The upper end.
    pub to: f64,
    /// The number of samples.
    pub samples: usize,
    /// Their mean probability.
    pub mean_probability: Option<f64>,
    /// The share of them for which the event occurred.
    pub share: Option<f64>,
}

impl Calibration {
    /// The calibration over samples: for each the probability of the event, and whether it occurred. The bins are those
    /// of scikit-learn's `calibration_curve(strategy="uniform")`.
    pub fn of(samples: &[(f64, bool)]) -> Self {
        let edge = |index: usize| index as f64 / BINS as f64;
        let mut bins = vec![Vec::new(); BINS];
        for &sample in samples {
            let below = (1..BINS).take_while(|&index| edge(index) < sample.0);
            bins[below.count()].push(sample);
        }
        let bins: Vec<CalibrationBin> = bins
            .iter()
            .enumerate()
            .map(|(index, members)| CalibrationBin {
                from: edge(index),
                to: edge(index + 1),
                samples: members.len(),
                mean_probability: mean(members.iter().map(|(probability, _)| *probability)),
                share: mean(members.iter().map(|(_, occurred)| f64::from(*occurred))),
            })
            .collect();
        let distance = |bin: &CalibrationBin| {
            Some((bin.mean_probability? - bin.share?).abs() * bin.samples as f64)
        };
        let distances: f64 = bins.iter().filter_map(distance).sum();
        Self {
            bins,
            expected_error: (!samples.is_empty()).then(|| distances / samples.len() as f64),
        }
    }
}
