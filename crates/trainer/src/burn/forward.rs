//! The forward pass whose values a dump holds.

use burn::tensor::Tensor;
use headlight_architecture::Parameter;
use headlight_data::{Batch, Dataset};
use headlight_dump::AttentionDump;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::samples_per_pass;
use headlight_model::{BlockOutput, FeedForwardOutput, TransformerClassifier};

use super::engine::{host, token_tensor};
use crate::Failure;
use crate::devices::OpenDevice;

/// Appends what a model computes for some samples of a dataset to the dump's arrays.
///
/// # Errors
/// When the parameters do not match the config.
pub fn fill(
    dump: &mut AttentionDump,
    config: &ExperimentConfig,
    parameters: &[Parameter],
    dataset: &Dataset,
    indices: &[usize],
    device: &OpenDevice,
) -> Result<(), Failure> {
    let classifier = TransformerClassifier::new(
        &config.model,
        config.inputs(),
        parameters.iter().cloned(),
        &device.device,
    )
    .map_err(|mismatch| Failure::Diverged(format!("training diverged: {mismatch}")))?;
    for chunk in indices.chunks(samples_per_pass(config)) {
        let chunk: Vec<u32> = chunk.iter().map(|&sample| sample as u32).collect();
        let batch = Batch::gather(dataset, &chunk);
        let output = classifier.forward(token_tensor(&batch, &device.device));
        dump.logits.extend(host(output.logits));
        dump.embeddings.extend(host(output.embeddings));
        let layers = output.layers;
        let all_layers = |field: fn(&BlockOutput) -> &Tensor<4>| {
            let stacked = layers.iter().map(|layer| field(layer).clone()).collect();
            host(Tensor::stack::<5>(stacked, 1))
        };
        dump.attention_scores
            .extend(all_layers(|layer| &layer.attention.scores));
        dump.attention_weights
            .extend(all_layers(|layer| &layer.attention.weights));
        dump.query
            .extend(all_layers(|layer| &layer.attention.query));
        dump.key.extend(all_layers(|layer| &layer.attention.key));
        dump.value
            .extend(all_layers(|layer| &layer.attention.value));
        dump.context
            .extend(all_layers(|layer| &layer.attention.context));
        let residual = layers.iter().map(|layer| layer.residual.clone()).collect();
        dump.residual.extend(host(Tensor::stack::<4>(residual, 1)));
        if let (Some(values), Some(mask)) = (&mut dump.attention_mask, output.mask) {
            values.extend(mask.into_data().iter::<bool>());
        }
        if let Some(values) = &mut dump.feed_forward {
            let all_layers = |field: fn(&FeedForwardOutput) -> &Tensor<3>| {
                let layers = layers.iter().flat_map(|layer| &layer.feed_forward);
                host(Tensor::stack::<4>(
                    layers.map(|layer| field(layer).clone()).collect(),
                    1,
                ))
            };
            values.hidden.extend(all_layers(|layer| &layer.hidden));
            values.residual.extend(all_layers(|layer| &layer.residual));
        }
    }
    Ok(())
}
