//! The table of fields in the row of a run that did not fail, in their order.
//!
//! All code that writes, reads, sorts or shows rows iterates over [`fields`]. Rows have those of the measures that their config asks
//! for, and all others.

use std::sync::LazyLock;

use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::measures::{MeasureName, Measured};
use headlight_experiment::metrics::{ByName, METRICS, Metric, TestMetrics};
use serde::{Serialize, Serializer};

use crate::outcome::Outcome;

/// A field of a row.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Its key.
    pub(crate) name: String,
    /// Its name in tables.
    pub(crate) label: String,
    /// Digits after the decimal point in tables.
    pub(crate) decimals: usize,
    pub(crate) quantity: Quantity,
}

/// The quantity that a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Mean loss over the batches of each epoch.
    EpochLoss,
    /// A metric of the final model.
    Metric { metric: Metric, held_out: bool },
    /// The share of samples whose every label is predicted; only of samples with a label per position.
    WholeSamples { held_out: bool },
    /// Attention of `[CLS]` to each position, of positives or of negatives.
    Attention { positive: bool },
    /// Attention of `[CLS]` on the positions that decide each sample's label, or what it would be if it were uniform; rows of
    /// configs without a rule do not have it.
    Deciding(Metric),
    /// The step after which the task was learned.
    LearnedAtStep,
    /// The metrics on each test set; rows of configs without any do not have it.
    Tests,
    /// A measure that the config asks for; rows of other configs do not have it.
    Measure(MeasureName),
    /// The hash of the final weights.
    WeightsSha256,
}

/// The shape of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    /// A list, and the number of its first element in the name of a CSV column.
    List {
        first: usize,
    },
    /// A list of lists, `[layer][head]`.
    PerHead,
    /// The metrics of each test set, by their names.
    ByName,
    Text,
}

/// A field's value.
pub(crate) enum FieldValue<'a> {
    Number(Option<f64>),
    Step(Option<usize>),
    List(Option<&'a [f64]>),
    Tests(&'a [TestMetrics]),
    Measured(&'a Measured),
    Text(&'a str),
}

/// The key of the metrics on test sets.
pub(crate) const TESTS: &str = "tests";

/// The fields of attention on the positions that decide the label: their keys, and their names in tables.
const DECIDING: [(&str, &str, Metric); 4] = [
    (
        "deciding_attention_positive",
        "attention on what decides, positives",
        Metric::AttentionPositive,
    ),
    (
        "deciding_attention_negative",
        "attention on what decides, negatives",
        Metric::AttentionNegative,
    ),
    (
        "deciding_uniform_positive",
        "uniform attention on what decides, positives",
        Metric::UniformPositive,
    ),
    (
        "deciding_uniform_negative",
        "uniform attention on what decides, negatives",
        Metric::UniformNegative,
    ),
];

/// All fields, in the order of a row.
pub(crate) fn fields() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(table);
    &FIELDS
}

fn table() -> Vec<Field> {
    let field = |name: &str, label: &str, decimals, quantity| Field {
        name: name.to_owned(),
        label: label.to_owned(),
        decimals,
        quantity,
    };
    let metrics = |is_ratio: bool, held_out: bool| {
        let chosen = METRICS.iter().filter(move |info| info.is_ratio == is_ratio);
        chosen.filter_map(move |info| {
            let [name, label] = info.row?;
            let (name, label) = if held_out {
                (
                    format!("held_out_{name}"),
                    format!("held-out {}", info.label),
                )
            } else {
                (name.to_owned(), label.to_owned())
            };
            let metric = info.metric;
            let quantity = Quantity::Metric { metric, held_out };
            Some(field(&name, &label, info.decimals, quantity))
        })
    };
    let attention = |name, positive| field(name, "", 3, Quantity::Attention { positive });
    let mut fields = vec![field("epoch_loss", "", 5, Quantity::EpochLoss)];
    fields.extend(metrics(true, false));
    fields.extend(metrics(true, true));
    for (name, label, held_out) in [
        ("sample_accuracy", "accuracy of whole samples", false),
        (
            "held_out_sample_accuracy",
            "held-out accuracy of whole samples",
            true,
        ),
    ] {
        fields.push(field(name, label, 5, Quantity::WholeSamples { held_out }));
    }
    fields.extend(metrics(false, false));
    fields.push(attention("attention_positive", true));
    fields.push(attention("attention_negative", false));
    for (name, label, metric) in DECIDING {
        fields.push(field(name, label, 3, Quantity::Deciding(metric)));
    }
    fields.push(field(
        "learned_at_step",
        "learned at step",
        0,
        Quantity::LearnedAtStep,
    ));
    fields.push(field(TESTS, "", 0, Quantity::Tests));
    fields.extend(MeasureName::ALL.map(|measure| {
        let (name, decimals) = (measure.name(), measure.info().decimals);
        field(name, name, decimals, Quantity::Measure(measure))
    }));
    fields.push(field("weights_sha256", "", 0, Quantity::WeightsSha256));
    fields
}

impl Field {
    /// The shape of its value.
    pub(crate) fn kind(&self) -> Kind {
        match self.quantity {
            Quantity::EpochLoss => Kind::List { first: 1 },
            Quantity::Attention { .. } => Kind::List { first: 0 },
            Quantity::Tests => Kind::ByName,
            Quantity::Measure(measure) if measure.info().is_per_head => Kind::PerHead,
            Quantity::Metric { .. }
            | Quantity::WholeSamples { .. }
            | Quantity::Deciding(_)
            | Quantity::LearnedAtStep
            | Quantity::Measure(_) => Kind::Number,
            Quantity::WeightsSha256 => Kind::Text,
        }
    }

    /// Whether the rows of a config have it.
    pub(crate) fn is_in_rows_of(&self, config: &ExperimentConfig) -> bool {
        match self.quantity {
            Quantity::WholeSamples { .. } => config.data.task.is_per_position(),
            Quantity::Deciding(_) => config.data.rule.is_some(),
            Quantity::Tests => !config.tests.is_empty(),
            Quantity::Measure(measure) => config.report.measures.contains(&measure),
            _ => true,
        }
    }

    /// Its value for a run; `None` for what the run's config does not ask for.
    pub(crate) fn value<'a>(&self, outcome: &'a Outcome) -> Option<FieldValue<'a>> {
        Some(match self.quantity {
            Quantity::EpochLoss => FieldValue::List(Some(&outcome.epoch_loss)),
            Quantity::Metric { metric, held_out } => FieldValue::Number(if held_out {
                outcome
                    .held_out
                    .as_ref()
                    .and_then(|metrics| metrics[metric])
            } else {
                outcome.train[metric]
            }),
            Quantity::WholeSamples { held_out } => {
                outcome.train.whole_samples?;
                FieldValue::Number(if held_out {
                    outcome.held_out.as_ref().and_then(|own| own.whole_samples)
                } else {
                    outcome.train.whole_samples
                })
            }
            Quantity::Attention { positive: true } => {
                FieldValue::List(outcome.attention_positive.as_deref())
            }
            Quantity::Attention { positive: false } => {
                FieldValue::List(outcome.attention_negative.as_deref())
            }
            Quantity::Deciding(metric) => FieldValue::Number(outcome.deciding.as_ref()?[metric]),
            Quantity::LearnedAtStep => FieldValue::Step(outcome.learned_at_step),
            Quantity::Tests if outcome.tests.is_empty() => return None,
            Quantity::Tests => FieldValue::Tests(&outcome.tests),
            Quantity::Measure(measure) => {
                let mut measures = outcome.measures.iter();
                FieldValue::Measured(&measures.find(|(own, _)| *own == measure)?.1)
            }
            Quantity::WeightsSha256 => FieldValue::Text(&outcome.weights_sha256),
        })
    }
}

impl Serialize for FieldValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::Step(step) => step.serialize(serializer),
            Self::List(list) => list.serialize(serializer),
            Self::Tests(tests) => ByName(tests).serialize(serializer),
            Self::Measured(measured) => measured.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
        }
    }
}
