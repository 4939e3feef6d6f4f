//! The one rule that decides whether a model learned its task.

use headlight_data::{IGNORED, Splits, Task};
use serde::Serialize;

use super::baselines::{Baseline, baselines, bits_of_pairs, fitting_samples};
use crate::config::ExperimentConfig;
use crate::metrics::{Criterion, EvalMetrics, Metric, StepMetrics, wilson};

/// A model overfits if its training accuracy is above the held-out accuracy by this or more, the 95% intervals of the
/// two do not overlap, and that of training is above the accuracy of a constant answer.
const OVERFITTING: f64 = 0.05;

/// Fewer judged samples than these cannot show that a model is better than a guess: one sample that is classified
/// correctly by chance would do.
pub const FEWEST_JUDGED: usize = 10;

/// Attention to the deciding positions that is this close to uniform attention says that nothing is looked for.
const CLOSE_TO_UNIFORM: f64 = 0.02;

/// What came of training. Serialises to `judgement` in the JSON of `headlight train`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether held-out samples judge the model; if there are none, the training samples do.
    pub held_out: bool,
    /// The number of samples that judge it.
    pub samples: usize,
    /// The steps after which the model was taken.
    pub step: usize,
    /// The steps of the whole training.
    pub steps: usize,
    /// Its F1; `None` if it is not defined.
    pub f1: Option<f64>,
    /// Its accuracy.
    pub accuracy: f64,
    /// The 95% confidence interval of that accuracy (Wilson).
    pub accuracy_interval: [f64; 2],
    /// The share of samples whose every label that counts is predicted, if samples have a label per position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_samples: Option<f64>,
    /// Bits per token, if the model answers with the next one: the mean cross-entropy to the base 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<f64>,
    /// The same of counts of pairs of tokens in the samples that baselines are fitted on, with 0.1 added to each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_of_pairs: Option<f64>,
    /// The F1 from which it counts as learned: `report.learned`.
    pub learned_from: f64,
    /// The step of the first evaluation with such an F1, which may be later than the first such step.
    pub first_learned_at_step: Option<usize>,
    /// What it is compared with.
    pub baselines: Vec<Baseline>,
    /// The class, if the model predicts one class for all samples and not all are of this class; with
    /// [`Verdict::NothingToLearn`], that of all training samples; where each step draws its own, of all held-out ones.
    pub one_class: Option<u32>,
    /// Whether it knows its training samples better than others.
    pub overfitting: Option<Overfitting>,
    /// Whether attention to the deciding positions is still close to uniform. `false` if they are unknown, or if there are no
    /// other keys.
    pub uniform_attention: bool,
    /// The position whose attention that is, as sentences name it: [`ExperimentConfig::readout_name`].
    #[serde(skip)]
    pub reader: String,
    /// Who may look at no token but itself: [`ExperimentConfig::blind_readout`].
    #[serde(skip)]
    pub blind: Option<String>,
    /// The criterion of `training.keep_best` and `training.patience`, if training ended by it before the model learned.
    #[serde(skip)]
    pub stopped_by: Option<(Criterion, usize)>,
    /// Whether each step drew its own samples.
    #[serde(skip)]
    pub is_fresh: bool,
}

/// Whether a model learned its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All training samples, or the held-out ones where each step draws its own, are of one class.
    NothingToLearn,
    /// [`is_learned`], on ten samples or more.
    Learned,
    /// The lower end of the interval of its accuracy is above the accuracy of each baseline and above that of a guess among all
    /// classes, on ten samples or more. If it answers with the next token: its loss is below that of counts of pairs.
    BetterThanBaselines,
    /// It is not.
    NoBetterThanBaselines,
}

/// What a model scores on its training samples, where it scores less on held-out ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Overfitting {
    /// Accuracy on the training samples.
    pub train_accuracy: f64,
    /// F1 on the training samples.
    pub train_f1: Option<f64>,
}

/// Whether a model learned its task, by its metrics on the judged samples: F1 is `learned_from` or more, and not because
/// the model predicts one frequent class for all samples.
pub fn is_learned(metric: impl Fn(Metric) -> Option<f64>, learned_from: f64) -> bool {
    let is_constant = metric(Metric::Recall) == Some(1.0)
        && metric(Metric::Precision) == metric(Metric::Accuracy)
        && metric(Metric::Accuracy) < Some(1.0);
    metric(Metric::F1) >= Some(learned_from) && !is_constant
}

impl Outcome {
    /// The outcome of a training of these samples, for the model that is used: that of `step`, or else the last one.
    /// `None` if that model was not evaluated.
    pub fn of(
        config: &ExperimentConfig,
        splits: &Splits,
        metrics: &[StepMetrics],
        step: Option<usize>,
    ) -> Option<Self> {
        let used = match step {
            Some(step) => metrics.iter().rfind(|row| row.step == step)?,
            None => metrics.last()?,
        };
        let learned_from = config.report.learned;
        let judged = judged(used);
        let samples = splits.judging_samples().len();
        let is_enough = samples >= FEWEST_JUDGED;
        let accuracy = judged[Metric::Accuracy]?;
        let accuracy_interval = wilson(counted(accuracy, samples), samples);
        let n_classes = config.data.n_classes;
        let fitted = fitting_samples(config, splits);
        let texts = config.data.words.is_some();
        let baselines = baselines(splits, &fitted, n_classes, texts, judged);
        let is_fresh = config.data.is_fresh();
        let asks_next = config.data.task == Task::NextToken;
        let nats = judged[Metric::Loss].filter(|_| asks_next);
        let bits = nats.map(|nats| nats / std::f64::consts::LN_2);
        let of_pairs = asks_next.then(|| bits_of_pairs(splits, &fitted, n_classes));
        let bits_of_pairs = of_pairs.flatten();
        let only = only_label(splits.displayed_samples().labels());
        let mut has_learned = metrics.iter().filter(|row| {
            is_enough && is_learned(|metric| self::judged(row)[metric], learned_from)
        });
        // Of many classes, the most frequent one in training may be rare here.
        let mut rivals = baselines
            .iter()
            .map(|baseline| baseline.accuracy)
            .chain([1.0 / n_classes as f64]);
        let is_better = match (bits, bits_of_pairs) {
            // Where chance has a part in what follows, the loss tells, and accuracy little.
            (Some(bits), Some(of_pairs)) => bits < of_pairs,
            _ => rivals.all(|rival| accuracy_interval[0] > rival),
        };
        let verdict = match only {
            Some(_) => Verdict::NothingToLearn,
            None if !is_enough => Verdict::NoBetterThanBaselines,
            None if is_learned(|metric| judged[metric], learned_from) => Verdict::Learned,
            None if is_better => Verdict::BetterThanBaselines,
            None => Verdict::NoBetterThanBaselines,
        };
        Some(Self {
            verdict,
            held_out: used.held_out.is_some(),
            samples,
            step: used.step,
            steps: metrics.last()?.step,
            f1: judged[Metric::F1],
            accuracy,
            accuracy_interval,
            whole_samples: judged
                .whole_samples
                .filter(|_| config.data.task == Task::TokenClassification),
            bits,
            bits_of_pairs,
            learned_from,
            first_learned_at_step: has_learned.next().map(|first| first.step),
            baselines,
            one_class: only.or_else(|| one_class(judged, splits, n_classes)),
            overfitting: overfitting(used, splits, n_classes, accuracy_interval),
            uniform_attention: only.is_none()
                && is_uniform(if is_fresh { judged } else { &used.train }),
            reader: config.readout_name(),
            blind: config.blind_readout(),
            stopped_by: stopped_by(config, metrics, used.step)
                .filter(|_| verdict != Verdict::Learned),
            is_fresh,
        })
    }

    /// Whether the model learned its task; `None` if there is nothing to learn.
    pub fn learned(&self) -> Option<bool> {
        (self.verdict != Verdict::NothingToLearn).then_some(self.verdict == Verdict::Learned)
    }
}

/// The metrics on the judged samples.
fn judged(row: &StepMetrics) -> &EvalMetrics {
    row.held_out.as_ref().unwrap_or(&row.train)
}

/// The number of samples that a share is of.
fn counted(share: f64, samples: usize) -> usize {
    (share * samples as f64).round() as usize
}

fn overfitting(
    used: &StepMetrics,
    splits: &Splits,
    n_classes: usize,
    held_out: [f64; 2],
) -> Option<Overfitting> {
    // A batch that its step drew is too small to compare with.
    if splits.train.is_empty() {
        return None;
    }
    let accuracy = used.held_out.as_ref()?[Metric::Accuracy]?;
    let train_accuracy = used.train[Metric::Accuracy]?;
    let samples = splits.train.len();
    let [low, _] = wilson(counted(train_accuracy, samples), samples);
    // A constant answer knows nothing by heart.
    let counts = splits.train.class_counts(n_classes);
    let most = counts.iter().max().copied().unwrap_or(0);
    let constant = most as f64 / counts.iter().sum::<usize>() as f64;
    let is_more = train_accuracy - accuracy >= OVERFITTING && low > held_out[1] && low > constant;
    is_more.then(|| Overfitting {
        train_accuracy,
        train_f1: used.train[Metric::F1],
    })
}

/// What ended training before its last step: the evaluations after that of the kept model are as many as `training.patience`.
fn stopped_by(
    config: &ExperimentConfig,
    metrics: &[StepMetrics],
    kept: usize,
) -> Option<(Criterion, usize)> {
    let training = &config.training;
    let (criterion, patience) = (training.keep_best?, training.patience);
    let last = metrics.last()?;
    let is_last = Some(last.step) == training.steps
        || (!config.data.is_fresh() && Some(last.epoch) == training.epochs);
    let waited = metrics.iter().filter(|row| row.step > kept).count();
    (patience > 0 && waited >= patience && !is_last).then_some((criterion, patience))
}

/// The class of a model that predicts one class for all samples, if not all are of this class.
fn one_class(judged: &EvalMetrics, splits: &Splits, n_classes: usize) -> Option<u32> {
    if judged[Metric::Accuracy] == Some(1.0) {
        return None;
    }
    if n_classes == 2 {
        let counts = splits.judging_samples().class_counts(n_classes);
        let share = counts[1] as f64 / (counts[0] + counts[1]) as f64;
        return match (judged[Metric::Precision], judged[Metric::Recall]) {
            (None, _) => Some(0),
            (_, Some(1.0)) if judged[Metric::Accuracy] == Some(share) => Some(1),
            _ => None,
        };
    }
    judged.only_predicted()
}

/// Whether attention to the deciding positions is close to uniform: for positives, and for negatives if it is measured.
fn is_uniform(metrics: &EvalMetrics) -> bool {
    let is_close = |measured, uniform| {
        let (measured, uniform) = (metrics[measured]?, metrics[uniform]?);
        let has_others = uniform > 0.0 && uniform < 1.0 - CLOSE_TO_UNIFORM;
        has_others.then_some((measured - uniform).abs() < CLOSE_TO_UNIFORM)
    };
    let positive = is_close(Metric::AttentionPositive, Metric::UniformPositive);
    let negative = is_close(Metric::AttentionNegative, Metric::UniformNegative);
    positive == Some(true) && negative != Some(false)
}

/// The label of all samples, if it is one.
fn only_label(labels: &[u32]) -> Option<u32> {
    let mut counted = labels.iter().copied().filter(|&label| label != IGNORED);
    let first = counted.next()?;
    let all = counted.all(|label| label == first);
    all.then_some(first)
}
