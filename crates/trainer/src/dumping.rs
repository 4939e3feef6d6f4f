//! What a model computes for some samples, as an attention dump.

use std::collections::BTreeMap;

use burn::tensor::{Device, Tensor};
use headlight_data::{Batch, CLS, Dataset, LabelRule};
use headlight_dump::{AttentionDump, Dims, FeedForward, Meta, VERSION, axes};
use headlight_model::{BlockOutput, FeedForwardOutput, Mask, TransformerClassifier};

use crate::Failure;
use crate::config::{DumpConfig, ExperimentConfig};
use crate::experiment::{host, samples_at_once, token_tensor};
use crate::metrics::sigmoid;

/// The moment of training that a dump is of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Training steps taken; unknown for weights from elsewhere, like the other two.
    pub step: Option<usize>,
    /// Epochs finished.
    pub epoch: Option<usize>,
    /// Seed of the weights.
    pub seed: Option<u64>,
}

/// Which samples to record, and whose they are.
#[derive(Clone, Debug)]
pub struct Samples<'a> {
    /// Where they stand.
    pub dataset: &'a Dataset,
    /// Their indices.
    pub indices: Vec<usize>,
    /// Whether the dataset is the training set, so that indices mean something to others.
    pub from_training: bool,
    /// Whether labels are known.
    pub labelled: bool,
}

/// The training samples that a config asks for: named ones, then the first of each class.
pub fn chosen(config: &DumpConfig, train: &Dataset) -> Vec<usize> {
    let mut indices = config.samples.clone();
    indices.extend(train.positives().take(config.positives));
    indices.extend(train.negatives().take(config.negatives));
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// Runs a model without automatic differentiation over samples and keeps all it computes.
///
/// # Errors
/// When what it computes is not finite.
pub fn record(
    model: &TransformerClassifier,
    samples: &Samples<'_>,
    moment: Moment,
    config: &ExperimentConfig,
    device: &Device,
) -> Result<AttentionDump, Failure> {
    let dataset = samples.dataset;
    let mut dump = empty(samples, moment, config)?;
    for part in samples.indices.chunks(samples_at_once(config)) {
        let part: Vec<u32> = part.iter().map(|&sample| sample as u32).collect();
        let batch = Batch::gather(dataset, &part);
        let output = model.forward(token_tensor(&batch, device));
        dump.tokens
            .extend(batch.tokens.iter().map(|&token| i64::from(token)));
        dump.labels.extend(
            batch
                .labels
                .iter()
                .map(|&label| if samples.labelled { label } else { f32::NAN }),
        );
        let logits = host(output.logits);
        dump.probabilities
            .extend(logits.iter().map(|&logit| sigmoid(f64::from(logit)) as f32));
        dump.logits.extend(logits);
        dump.embeddings.extend(host(output.embeddings));
        let layers = output.layers;
        let over = |field: fn(&BlockOutput) -> Tensor<4>| {
            host(Tensor::stack::<5>(layers.iter().map(field).collect(), 1))
        };
        dump.attention_scores
            .extend(over(|layer| layer.attention.scores.clone()));
        dump.attention_weights
            .extend(over(|layer| layer.attention.weights.clone()));
        dump.query
            .extend(over(|layer| layer.attention.query.clone()));
        dump.key.extend(over(|layer| layer.attention.key.clone()));
        dump.value
            .extend(over(|layer| layer.attention.value.clone()));
        dump.context
            .extend(over(|layer| layer.attention.context.clone()));
        let residual = layers.iter().map(|layer| layer.residual.clone()).collect();
        dump.residual.extend(host(Tensor::stack::<4>(residual, 1)));
        if let (Some(values), Some(mask)) = (&mut dump.attention_mask, output.mask) {
            values.extend(mask.into_data().iter::<bool>());
        }
        if let Some(values) = &mut dump.feed_forward {
            let over = |field: fn(&FeedForwardOutput) -> Tensor<3>| {
                let layers = layers.iter().flat_map(|layer| &layer.feed_forward);
                host(Tensor::stack::<4>(layers.map(field).collect(), 1))
            };
            values.hidden.extend(over(|layer| layer.hidden.clone()));
            values.residual.extend(over(|layer| layer.residual.clone()));
        }
    }
    dump.check().map_err(|error| {
        let step = moment
            .step
            .map_or_else(String::new, |step| format!(" at step {step}"));
        Failure::Diverged(format!("attention{step} cannot be recorded: {error}"))
    })?;
    Ok(dump)
}

fn empty(
    samples: &Samples<'_>,
    moment: Moment,
    config: &ExperimentConfig,
) -> Result<AttentionDump, Failure> {
    let rule = config.data.rule.as_ref();
    let tokens = |&sample: &usize| samples.dataset.tokens(sample);
    let config_json = serde_json::to_value(config).map_err(|error| {
        Failure::System(format!("the config cannot be written as JSON: {error}"))
    })?;
    let dims = Dims {
        samples: samples.indices.len(),
        layers: config.model.n_layers,
        heads: config.model.n_heads,
        positions: samples.dataset.positions(),
        d_head: config.model.d_head(),
        d_model: config.model.d_model,
        d_ff: config.model.d_ff,
    };
    let attention = &config.model.attention;
    let masked = attention.mask != Mask::None || attention.padding_token.is_some();
    Ok(AttentionDump {
        dims,
        meta: Meta {
            version: VERSION,
            axes: axes(dims, masked),
            step: moment.step,
            epoch: moment.epoch,
            seed: moment.seed,
            samples: samples
                .indices
                .iter()
                .map(|&sample| samples.from_training.then_some(sample))
                .collect(),
            token_strings: samples
                .indices
                .iter()
                .flat_map(tokens)
                .map(|&token| (token, token_string(token)))
                .collect::<BTreeMap<_, _>>(),
            label_positions: samples
                .indices
                .iter()
                .map(|sample| {
                    rule.map_or_else(Vec::new, |rule: &LabelRule| {
                        rule.label_positions(tokens(sample))
                    })
                })
                .collect(),
            config: config_json,
        },
        tokens: Vec::new(),
        labels: Vec::new(),
        logits: Vec::new(),
        probabilities: Vec::new(),
        attention_scores: Vec::new(),
        attention_weights: Vec::new(),
        query: Vec::new(),
        key: Vec::new(),
        value: Vec::new(),
        context: Vec::new(),
        embeddings: Vec::new(),
        residual: Vec::new(),
        attention_mask: masked.then(Vec::new),
        feed_forward: (dims.d_ff > 0).then(FeedForward::default),
    })
}

/// What a token id is shown as.
pub fn token_string(token: u32) -> String {
    if token == CLS {
        "[CLS]".to_owned()
    } else {
        token.to_string()
    }
}
