//! All that the labels of samples say about a model's predictions.

use serde::Serialize;

use super::calibration::Calibration;
use super::confusion::{Confusion, Counts, mean, mean_over_classes};
use super::loss::predicted_class;
use super::ranking::RankingMetrics;
use super::table::Metric;
use super::tally::Tally;

/// The thresholds that are shown.
const THRESHOLDS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// The most classes whose rankings are kept, to draw their curves.
const MOST_RANKINGS: usize = 8;

/// A model's predictions beside the labels.
///
/// Serialises to the object that `headlight evaluate --json` prints. `None`, `null` in JSON, is a value that is not
/// defined, because no sample decides it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// The number of samples.
    pub samples: usize,
    /// Mean cross-entropy, in nats.
    pub loss: f64,
    /// Share of samples that are classified correctly.
    pub accuracy: f64,
    /// Share of samples whose every label that counts is predicted, if samples have a label per position; `samples` and the other
    /// values are then of positions.
    #[serde(rename = "sample_accuracy", skip_serializing_if = "Option::is_none")]
    pub whole_samples: Option<f64>,
    /// The ratios of class 1 of two; of more classes, the means.
    #[serde(flatten)]
    pub main: Ratios,
    /// The means over the classes: of precision, recall and F1 over the classes that samples have or are classified as,
    /// where a ratio that is not defined counts as 0; of the others over the classes for which they are defined.
    #[serde(rename = "macro")]
    pub means: Ratios,
    /// The classes.
    pub classes: Vec<ClassAssessment>,
    /// Labels against predicted classes; `null` in JSON with more than 256 classes.
    pub confusion: Confusion,
    /// The samples in the order of each class's probability; of two classes, the scores of class 0 are the
    /// probabilities of class 1 with a minus sign. Of many classes, only the first, since a ranking of many samples is
    /// large. `[class]`
    #[serde(skip)]
    pub rankings: Vec<RankingMetrics>,
    /// Thresholds for the probability of class 1, ascending; of two classes only.
    pub thresholds: Option<Vec<Threshold>>,
    /// The threshold with the highest F1, from [`RankingMetrics::best_f1`]; of two classes only.
    pub best_f1: Option<Threshold>,
    /// Of the probability of class 1; of more than two classes, of the predicted class's.
    pub calibration: Calibration,
    /// The Brier score: the mean squared difference between the probability of class 1 and the label. Of more than two
    /// classes, the squared differences of each class are added, with 1 for the label's class and 0 for others.
    pub brier: f64,
}

/// Ratios of a class against all others, or their means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratios {
    /// Share of samples of the class among those classified as it.
    pub precision: Option<f64>,
    /// Share of samples of the class that are classified as it.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// Area under the ROC curve, by the class's probability. See [`RankingMetrics::roc_auc`].
    pub roc_auc: Option<f64>,
    /// Average precision, by the class's probability. See [`RankingMetrics::average_precision`].
    pub average_precision: Option<f64>,
}

/// A class against all others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClassAssessment {
    /// The samples of the class.
    pub samples: usize,
    /// Its ratios.
    #[serde(flatten)]
    pub ratios: Ratios,
}

/// What follows if samples whose probability of class 1 is at least a threshold are classified as 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// The threshold.
    pub threshold: f64,
    /// The number of samples that are classified as 1.
    pub predicted_positives: usize,
    /// Share of samples of class 1 among these.
    pub precision: Option<f64>,
    /// Share of samples of class 1 that are among these.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
}

impl Threshold {
    fn of(threshold: f64, counts: Counts) -> Self {
        Self {
            threshold,
            predicted_positives: counts.predicted(),
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
        }
    }
}

/// Predictions beside labels, sample by sample.
#[derive(Clone, Debug)]
pub struct LabelledPredictions {
    tally: Tally,
    n_classes: usize,
    labels: Vec<u32>,
    predicted: Vec<u32>,
    /// Of class 1, or of each if there is a logit for each. `[sample, class]`
    probabilities: Vec<f64>,
}

impl LabelledPredictions {
    /// No samples yet.
    pub fn new(n_classes: usize) -> Self {
        Self {
            tally: Tally::new(n_classes),
            n_classes,
            labels: Vec::new(),
            predicted: Vec::new(),
            probabilities: Vec::new(),
        }
    }

    /// Adds a sample: its logits, their probabilities, its loss and its class.
    ///
    /// # Panics
    /// When there is no such class.
    pub fn add(&mut self, logits: &[f64], probabilities: &[f64], loss: f64, label: u32) {
        self.tally.add(logits, probabilities, loss, label);
        self.labels.push(label);
        self.predicted.push(predicted_class(logits));
        self.probabilities.extend(probabilities);
    }

    /// Counts a sample with labels per position, which were added one by one; `None` if none of them counts.
    pub fn add_whole(&mut self, is_right: Option<bool>) {
        self.tally.add_whole(is_right);
    }

    /// The assessment over all samples so far; `None` before the first.
    pub fn assess(&self) -> Option<Assessment> {
        let metrics = self.tally.metrics()?;
        let counts = self.tally.counts();
        let mut rankings = Vec::new();
        let mut classes = Vec::new();
        for (class, counts) in counts.iter().enumerate() {
            let ranking = self.ranking(class);
            classes.push(ClassAssessment {
                samples: counts.samples(),
                ratios: Ratios {
                    precision: counts.precision(),
                    recall: counts.recall(),
                    f1: counts.f1(),
                    roc_auc: ranking.roc_auc(),
                    average_precision: ranking.average_precision(),
                },
            });
            if class < MOST_RANKINGS {
                rankings.push(ranking);
            }
        }
        let mean_defined = |ratio: fn(&Ratios) -> Option<f64>| {
            mean(classes.iter().filter_map(|class| ratio(&class.ratios)))
        };
        let means = Ratios {
            precision: mean_over_classes(counts, Counts::precision),
            recall: mean_over_classes(counts, Counts::recall),
            f1: mean_over_classes(counts, Counts::f1),
            roc_auc: mean_defined(|ratios| ratios.roc_auc),
            average_precision: mean_defined(|ratios| ratios.average_precision),
        };
        let positive = (self.n_classes == 2).then(|| &rankings[1]);
        let threshold = |ranking: &RankingMetrics| {
            let threshold = |threshold| Threshold::of(threshold, ranking.at(threshold));
            THRESHOLDS.map(threshold).to_vec()
        };
        let best = |ranking: &RankingMetrics| {
            let (threshold, counts) = ranking.best_f1()?;
            Some(Threshold::of(threshold, counts))
        };
        Some(Assessment {
            samples: self.labels.len(),
            loss: metrics[Metric::Loss]?,
            accuracy: metrics[Metric::Accuracy]?,
            whole_samples: metrics.whole_samples,
            main: positive.map_or(means, |_| classes[1].ratios),
            means,
            thresholds: positive.map(threshold),
            best_f1: positive.and_then(best),
            calibration: self.calibration(),
            brier: self.brier()?,
            confusion: Confusion::of(
                self.n_classes,
                self.samples()
                    .map(|(label, predicted, _)| [label, predicted]),
            ),
            classes,
            rankings,
        })
    }

    /// Labels, predicted classes and probabilities of all samples.
    fn samples(&self) -> impl Iterator<Item = (u32, u32, &[f64])> {
        let per_sample = self.probabilities.len() / self.labels.len().max(1);
        let probabilities = self.probabilities.chunks(per_sample.max(1));
        let classes = self.labels.iter().zip(&self.predicted);
        let sample = |((&label, &predicted), probabilities)| (label, predicted, probabilities);
        classes.zip(probabilities).map(sample)
    }

    fn ranking(&self, class: usize) -> RankingMetrics {
        RankingMetrics::of(self.samples().map(|(label, _, probabilities)| {
            let score = match (probabilities, class) {
                (&([one] | [_, one]), 0) => -one,
                (&([one] | [_, one]), _) => one,
                (several, class) => several[class],
            };
            (score, label as usize == class)
        }))
    }

    fn calibration(&self) -> Calibration {
        let event = |(label, predicted, probabilities): (u32, u32, &[f64])| match probabilities {
            &([one] | [_, one]) => (one, label == 1),
            several => (several[predicted as usize], label == predicted),
        };
        Calibration::of(&self.samples().map(event).collect::<Vec<_>>())
    }

    fn brier(&self) -> Option<f64> {
        let squares = |(label, _, probabilities): (u32, u32, &[f64])| match probabilities {
            &([one] | [_, one]) => (one - f64::from(label)).powi(2),
            several => {
                let expected = |class| f64::from(class == label as usize);
                let classes = several.iter().enumerate();
                classes
                    .map(|(class, p)| (p - expected(class)).powi(2))
                    .sum()
            }
        };
        mean(self.samples().map(squares))
    }
}
