//! The outcome of training: whether the model learned its task. Whatever states it takes it from here.

use headlight_data::Splits;

use crate::metrics::{Assessment, LEARNED, Metric, StepMetrics};

/// Attention to the deciding positions that is this close to even attention's says that nothing is looked for.
const CLOSE_TO_UNIFORM: f64 = 0.02;

/// What came of training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Whether the model learned its task, and how that shows.
    pub learning: Learning,
    /// Whether held-out samples judge the model; if there are none, the training samples do.
    pub is_held_out: bool,
    /// Whether attention from `[CLS]` to the deciding positions is still close to uniform. `false` if they are unknown.
    pub is_uniform: bool,
}

/// Whether a model learned its task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Learning {
    /// All training samples are of one class.
    NothingToLearn {
        /// The class.
        class: u8,
    },
    /// F1 is [`LEARNED`] or more at the end.
    Learned {
        /// The step of the first evaluation with such an F1.
        step: usize,
    },
    /// The model predicts one class for all samples, and not all samples are of this class.
    OneClass {
        /// The class.
        class: u8,
        /// The share of samples that are of this class.
        accuracy: f64,
    },
    /// F1 was [`LEARNED`] or more, but is less at the end.
    Unlearned {
        /// The step of the first evaluation with such an F1.
        step: usize,
        /// F1 at the end; `None` if it is not defined.
        f1: Option<f64>,
    },
    /// F1 was less than [`LEARNED`] at every evaluation.
    NotLearned {
        /// F1 at the end; `None` if it is not defined.
        f1: Option<f64>,
    },
}

impl Outcome {
    /// The outcome of training with these samples; `None` if there are no evaluations.
    ///
    /// The last of `metrics` measures the trained model. `assessment` is the trained model on
    /// [the judged samples](Splits::judged), `None` if its output is not a number.
    pub fn of(
        splits: &Splits,
        metrics: &[StepMetrics],
        assessment: Option<&Assessment>,
    ) -> Option<Self> {
        let last = metrics.last();
        let is_held_out = last.is_some_and(|last| last.held_out.is_some());
        if let Some(class) = only(splits.train.labels()) {
            return Some(Self {
                learning: Learning::NothingToLearn { class },
                is_held_out,
                is_uniform: false,
            });
        }
        Some(Self {
            learning: learning(metrics, assessment)?,
            is_held_out,
            is_uniform: last.is_some_and(is_uniform),
        })
    }

    /// Whether the model learned its task; `None` if there is nothing to learn.
    pub fn learned(&self) -> Option<bool> {
        match self.learning {
            Learning::NothingToLearn { .. } => None,
            Learning::Learned { .. } => Some(true),
            Learning::OneClass { .. }
            | Learning::Unlearned { .. }
            | Learning::NotLearned { .. } => Some(false),
        }
    }

    /// The outcome in one or two sentences; `class_name` names a class.
    pub fn sentences(&self, class_name: impl Fn(u8) -> String) -> String {
        let samples = if self.is_held_out {
            "held-out samples"
        } else {
            "training samples"
        };
        let decimals = |f1: Option<f64>| f1.map_or("–".to_owned(), |f1| format!("{f1:.3}"));
        let mut text = match self.learning {
            Learning::NothingToLearn { class } => format!(
                "Nothing to learn: all training samples are of class {}.",
                class_name(class)
            ),
            Learning::Learned { step } => format!(
                "Learned: F1 on the {samples} is {LEARNED} or more, first measured at step {step}."
            ),
            Learning::OneClass { class, accuracy } => format!(
                "Not learned: the model predicts class {} for all {samples}, which is right for {:.1}% of them.",
                class_name(class),
                100.0 * accuracy
            ),
            Learning::Unlearned { step, f1 } => format!(
                "Not learned: F1 on the {samples} reached {LEARNED} at step {step}, but is {} at the end.",
                decimals(f1)
            ),
            Learning::NotLearned { f1 } => format!(
                "Not learned: F1 on the {samples} is {}; a model has learned if it is {LEARNED} or more.",
                decimals(f1)
            ),
        };
        if self.is_uniform {
            text.push_str(" Attention from [CLS] is still close to uniform.");
        }
        text
    }
}

fn learning(metrics: &[StepMetrics], assessment: Option<&Assessment>) -> Option<Learning> {
    let f1 =
        |metrics: &StepMetrics| metrics.held_out.as_ref().unwrap_or(&metrics.train)[Metric::F1];
    let has_learned = |metrics: &&StepMetrics| f1(metrics) >= Some(LEARNED);
    let last = metrics.last()?;
    let first = metrics.iter().find(has_learned).map(|first| first.step);
    Some(match (assessment.and_then(one_class), first) {
        (Some(one_class), _) => one_class,
        (None, Some(step)) if has_learned(&last) => Learning::Learned { step },
        (None, Some(step)) => Learning::Unlearned { step, f1: f1(last) },
        (None, None) => Learning::NotLearned { f1: f1(last) },
    })
}

/// [`Learning::OneClass`] of a model that predicts one class for all samples, and not all are of this class.
fn one_class(assessment: &Assessment) -> Option<Learning> {
    let counts = assessment.confusion.counts();
    let predicted = (0..=u8::MAX).zip(&counts);
    let mut predicted = predicted.filter(|(_, counts)| counts.predicted() > 0);
    let (class, _) = predicted.next()?;
    let accuracy = assessment.accuracy;
    (predicted.next().is_none() && accuracy < 1.0).then_some(Learning::OneClass { class, accuracy })
}

/// Whether attention to the deciding positions is close to uniform: for positives, and for negatives if it is measured.
fn is_uniform(metrics: &StepMetrics) -> bool {
    let is_close = |measured, uniform| {
        let (measured, uniform) = (metrics.train[measured]?, metrics.train[uniform]?);
        (uniform > 0.0).then_some((measured - uniform).abs() < CLOSE_TO_UNIFORM)
    };
    let positive = is_close(Metric::AttentionPositive, Metric::UniformPositive);
    let negative = is_close(Metric::AttentionNegative, Metric::UniformNegative);
    positive == Some(true) && negative != Some(false)
}

/// The label of all samples, if it is one.
fn only(labels: &[u8]) -> Option<u8> {
    let first = *labels.first()?;
    let all = labels.iter().all(|&label| label == first);
    all.then_some(first)
}
