//! The trained model, as the screen asks it.

use std::borrow::Cow;

use headlight_analysis::removal::forward_without;
use headlight_architecture::Parameter;
use headlight_data::{Dataset, Source};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, ForwardValues, FrozenModel, Recording};
use headlight_experiment::metrics::predicted_class;
use headlight_experiment::{Error, Experiment};

use crate::show::report::quoted_answer;

/// The most samples of one forward pass.
const PASS: usize = 64;

/// A model with its weights.
pub(super) struct UsedModel<'a> {
    pub(super) experiment: &'a Experiment,
    frozen: FrozenModel,
    pub(super) weights: Vec<f32>,
}

/// What the model says of a sample.
#[derive(Clone, Debug)]
pub(super) struct SamplePrediction {
    /// The sample's index in its dataset.
    pub(super) sample: usize,
    /// The predicted class; with an answer per position, each of them.
    pub(super) classes: Vec<u32>,
    /// The probability of each class. `[class]`
    pub(super) probabilities: Vec<f64>,
    /// The weights of the readout position in the last layer, if they were asked for. `[head][key]`
    pub(super) heads: Vec<Vec<f32>>,
}

impl<'a> UsedModel<'a> {
    pub(super) fn new(experiment: &'a Experiment, parameters: &[Parameter]) -> Result<Self, Error> {
        Ok(Self {
            experiment,
            frozen: FrozenModel::new(&experiment.config)?,
            weights: Parameter::weights(parameters),
        })
    }

    pub(super) fn config(&self) -> &'a ExperimentConfig {
        &self.experiment.config
    }

    /// The samples that judge the model, in a word.
    pub(super) fn split(&self) -> &'static str {
        if self.experiment.splits.held_out.is_empty() {
            "training"
        } else {
            "held-out"
        }
    }

    /// What it says of samples without the words at some positions.
    pub(super) fn predict_without(
        &mut self,
        dataset: &Dataset,
        samples: &[usize],
        without: &[usize],
        recorded: Recording,
    ) -> Result<Vec<SamplePrediction>, Error> {
        let config = self.config();
        let mut all = Vec::new();
        for samples in samples.chunks(PASS) {
            let chosen: Vec<u32> = samples.iter().map(|&sample| sample as u32).collect();
            let (frozen, parameters) = (&mut self.frozen, (config, &self.weights[..]));
            let forward = forward_without(frozen, parameters, dataset, &chosen, without, recorded)?;
            let predictions = samples.iter().enumerate().map(|(index, &sample)| {
                let read = config.readout_position(dataset.tokens(sample));
                prediction_of(&forward, index, sample, read)
            });
            all.extend(predictions);
        }
        Ok(all)
    }

    /// Whether each answer that counts is right: what the label was before noise, if that is known.
    pub(super) fn is_right(&self, dataset: &Dataset, prediction: &SamplePrediction) -> bool {
        let labels = self.true_labels(dataset, prediction.sample);
        let mut counted = dataset.counted_labels(prediction.sample);
        counted.all(|(position, _)| prediction.classes[position] == labels[position])
    }

    /// The labels of a sample without noise, which training samples alone have.
    fn true_labels<'d>(&self, dataset: &'d Dataset, sample: usize) -> Cow<'d, [u32]> {
        if self.is_noisy(dataset) {
            self.config().data.labels_without_noise(dataset, sample)
        } else {
            Cow::Borrowed(dataset.labels_of(sample))
        }
    }

    /// Whether labels of a dataset may be noise.
    fn is_noisy(&self, dataset: &Dataset) -> bool {
        self.config().data.label_noise > 0.0
            && std::ptr::eq(dataset, &raw const self.experiment.splits.train)
    }

    /// What a reader should know of a sample's label: that it is noise, or may be; after its name.
    pub(super) fn noise_note(&self, dataset: &Dataset, sample: usize) -> String {
        let (data, labels) = (&self.config().data, dataset.labels_of(sample));
        let by_rule = self.true_labels(dataset, sample);
        match (&data.rule, &*by_rule) {
            (Some(_), [label]) if by_rule != labels => {
                format!(" (noise; the rule says {})", quoted_answer(data, *label))
            }
            (Some(_), by_rule) if by_rule != labels => " (some labels are noise)".to_owned(),
            (None, _) if self.is_noisy(dataset) => " (may be noise)".to_owned(),
            _ => String::new(),
        }
    }

    /// Names a sample. Nothing but the file's own lines numbers samples of a file, so that others say what is counted.
    pub(super) fn sample_name(
        &self,
        split: &str,
        kind: &str,
        sample: usize,
        all: &Dataset,
    ) -> String {
        match self.config().data.source {
            Source::File(_) => format!("{split} {kind} {sample} of 0 to {}", all.len() - 1),
            Source::Generated(_) => {
                format!("{split} {kind} {sample}")
            }
        }
    }
}

/// What a forward pass says of its sample at an index; `read` is the readout position, or the position that
/// is shown.
fn prediction_of(
    forward: &ForwardValues,
    index: usize,
    sample: usize,
    read: usize,
) -> SamplePrediction {
    let dims = forward.dims;
    let (positions, logits) = (dims.positions, dims.logits);
    let (answers, answer) = if dims.per_position {
        (positions, read)
    } else {
        (1, 0)
    };
    let given = &forward.predictions.logits[index * answers * logits..][..answers * logits];
    let probabilities = &forward.predictions.probabilities;
    let probabilities = match probabilities[(index * answers + answer) * logits..][..logits] {
        [one] => vec![1.0 - f64::from(one), f64::from(one)],
        ref all => all.iter().map(|&one| f64::from(one)).collect(),
    };
    // [sample, layer, head, query, key]
    let weights = &forward.arrays[Array::Weights];
    let of_last = ((index + 1) * dims.layers - 1) * dims.heads;
    let row = |head| {
        let start = ((of_last + head) * positions + read) * positions;
        weights.get(start..start + positions).map(<[f32]>::to_vec)
    };
    SamplePrediction {
        sample,
        classes: given.chunks(logits).map(predicted_class).collect(),
        probabilities,
        heads: (0..dims.heads).filter_map(row).collect(),
    }
}
