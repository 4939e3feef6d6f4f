//! The table of fields in the row of a run that did not fail, in their order.
//!
//! Code that writes, reads, sorts or shows rows iterates over [`fields`]. [`Field::is_in_rows_of`] says which a row has.

use std::sync::LazyLock;

use headlight_analysis::measures::info;
use headlight_experiment::config::{ExperimentConfig, MeasureName};
use headlight_experiment::metrics::{ByName, METRICS, Metric, MetricKind};
use serde::ser::SerializeMap;
use serde_json::Value;

use crate::outcome::RunOutcome;

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
    /// A metric of the final model on the training samples; where each step draws its own, on the last batch.
    Train(Metric),
    /// The same on the held-out samples.
    HeldOut(Metric),
    /// The share of samples whose every label is predicted.
    WholeSamples { held_out: bool },
    /// Attention of the readout position to each position, of positives or of negatives.
    Attention { positive: bool },
    /// Attention of the readout position on the positions that decide each sample's label, or what it would be if it were uniform.
    Deciding(Metric),
    /// The step after which the task was learned.
    LearnedAtStep,
    /// The metrics on each test set.
    Tests,
    /// A measure of the final model.
    Measure(MeasureName),
    /// The hash of the final weights.
    WeightsSha256,
}

/// The keys of the metrics on test sets, and of the step after which the task was learned.
pub(crate) const TESTS: &str = "tests";
pub(crate) const LEARNED_STEP: &str = "learned_at_step";

/// All fields, in the order of a row.
pub(crate) fn fields() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(table);
    &FIELDS
}

/// The field of a row that holds a quantity.
pub(crate) fn field_of(quantity: Quantity) -> Option<&'static Field> {
    fields().iter().find(|field| field.quantity == quantity)
}

fn table() -> Vec<Field> {
    let mut fields = Vec::new();
    let mut add = |name: &str, label: &str, decimals, quantity| {
        fields.push(Field {
            name: name.to_owned(),
            label: label.to_owned(),
            decimals,
            quantity,
        });
    };
    let metrics = |kind| METRICS.iter().filter(move |info| info.kind == kind);
    add("epoch_loss", "", 5, Quantity::EpochLoss);
    for info in metrics(MetricKind::Ratio) {
        let [name, label] = info.row;
        add(name, label, info.decimals, Quantity::Train(info.metric));
    }
    for info in metrics(MetricKind::Ratio) {
        let name = format!("held_out_{}", info.row[0]);
        let label = format!("held-out {}", info.label);
        add(&name, &label, info.decimals, Quantity::HeldOut(info.metric));
    }
    for (held_out, [key, before]) in [(false, ["", ""]), (true, ["held_out_", "held-out "])] {
        let name = format!("{key}sample_accuracy");
        let label = format!("{before}accuracy of whole samples");
        add(&name, &label, 5, Quantity::WholeSamples { held_out });
    }
    for info in metrics(MetricKind::Extreme) {
        let [name, label] = info.row;
        add(name, label, info.decimals, Quantity::Train(info.metric));
    }
    for (name, positive) in [("attention_positive", true), ("attention_negative", false)] {
        add(name, "", 3, Quantity::Attention { positive });
    }
    for info in metrics(MetricKind::Attention) {
        let [name, label] = info.row;
        add(name, label, info.decimals, Quantity::Deciding(info.metric));
    }
    add(LEARNED_STEP, "learned at step", 0, Quantity::LearnedAtStep);
    add(TESTS, "", 0, Quantity::Tests);
    for measure in MeasureName::ALL {
        let (name, decimals) = (measure.name(), info(measure).decimals);
        add(name, name, decimals, Quantity::Measure(measure));
    }
    add("weights_sha256", "", 0, Quantity::WeightsSha256);
    fields
}

impl Field {
    /// Whether it is a share of samples, or a probability.
    pub(crate) fn is_share(&self) -> bool {
        match self.quantity {
            Quantity::Train(metric) | Quantity::HeldOut(metric) => metric != Metric::Loss,
            quantity => matches!(quantity, Quantity::WholeSamples { .. }),
        }
    }

    /// Whether a value that is not null has the form of this field.
    pub(crate) fn takes(&self, value: &Value) -> bool {
        let is_number = |value: &Value| value.is_number() || value.is_null();
        let are_numbers = |value: &Value| {
            let list = value.as_array();
            list.is_some_and(|list| list.iter().all(is_number))
        };
        let are_metrics = |value: &Value| {
            let metrics = value.as_object();
            metrics.is_some_and(|metrics| metrics.values().all(is_number))
        };
        match self.quantity {
            Quantity::EpochLoss | Quantity::Attention { .. } => are_numbers(value),
            Quantity::LearnedAtStep => value.is_u64(),
            Quantity::Tests => value
                .as_object()
                .is_some_and(|tests| tests.values().all(are_metrics)),
            Quantity::Measure(measure) if info(measure).is_per_head => value
                .as_array()
                .is_some_and(|layers| layers.iter().all(are_numbers)),
            Quantity::WeightsSha256 => value.is_string(),
            _ => value.is_number(),
        }
    }

    /// Whether the rows of a config have it; without a config, whether those of every config do.
    pub(crate) fn is_in_rows_of(&self, config: Option<&ExperimentConfig>) -> bool {
        match self.quantity {
            Quantity::WholeSamples { .. } => {
                config.is_some_and(|config| config.data.task.is_per_position())
            }
            Quantity::Deciding(_) => config.is_some_and(|config| config.data.rule.is_some()),
            Quantity::Tests => config.is_some_and(|config| !config.tests.is_empty()),
            Quantity::Measure(measure) => {
                config.is_some_and(|config| config.report.measures.contains(&measure))
            }
            _ => true,
        }
    }

    /// Adds its value for a run to a row.
    pub(crate) fn write<M: SerializeMap>(
        &self,
        outcome: &RunOutcome,
        row: &mut M,
    ) -> Result<(), M::Error> {
        let name = &*self.name;
        let held_out = outcome.held_out.as_ref();
        match self.quantity {
            Quantity::EpochLoss => row.serialize_entry(name, &outcome.epoch_loss),
            Quantity::Train(metric) => row.serialize_entry(name, &outcome.train[metric]),
            Quantity::HeldOut(metric) => {
                row.serialize_entry(name, &held_out.and_then(|metrics| metrics[metric]))
            }
            Quantity::WholeSamples { held_out: false } => {
                row.serialize_entry(name, &outcome.train.whole_samples)
            }
            Quantity::WholeSamples { held_out: true } => {
                row.serialize_entry(name, &held_out.and_then(|metrics| metrics.whole_samples))
            }
            Quantity::Attention { positive: true } => {
                row.serialize_entry(name, &outcome.attended.attention_positive)
            }
            Quantity::Attention { positive: false } => {
                row.serialize_entry(name, &outcome.attended.attention_negative)
            }
            Quantity::Deciding(metric) => {
                row.serialize_entry(name, &outcome.attended.metrics[metric])
            }
            Quantity::LearnedAtStep => row.serialize_entry(name, &outcome.learned_at_step),
            Quantity::Tests => row.serialize_entry(name, &ByName(&outcome.tests)),
            Quantity::Measure(measure) => {
                let found = outcome.measures.iter().find(|(known, _)| *known == measure);
                row.serialize_entry(name, &found.map(|(_, value)| value))
            }
            Quantity::WeightsSha256 => row.serialize_entry(name, &outcome.weights_sha256),
        }
    }
}
