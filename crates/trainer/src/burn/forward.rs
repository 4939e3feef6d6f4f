//! The forward pass whose values a dump holds.

use burn::tensor::Tensor;
use headlight_architecture::Parameter;
use headlight_data::{Batch, Dataset};
use headlight_dump::{Array, AttentionDump};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::samples_per_pass;
use headlight_model::{AttentionOutput, BlockOutput, ForwardOutput, TransformerClassifier};

use super::engine::{host, token_tensor};
use crate::Failure;
use crate::devices::OpenDevice;

/// Appends what a model computes for some samples of a dataset to the dump's arrays.
pub(crate) fn fill(
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
    .map_err(Failure::Diverged)?;
    for chunk in indices.chunks(samples_per_pass(config)) {
        let chunk: Vec<u32> = chunk.iter().map(|&sample| sample as u32).collect();
        let batch = Batch::gather(dataset, &chunk);
        let output = classifier.forward(token_tensor(&batch, &device.device));
        dump.logits.extend(host(output.logits.clone()));
        let arrays = Array::ALL
            .into_iter()
            .filter(|array| array.exists(dump.dims));
        for array in arrays {
            dump.arrays[array].extend(values(array, &output));
        }
        if let (Some(values), Some(mask)) = (&mut dump.attention_mask, output.mask) {
            values.extend(mask.into_data().iter::<bool>());
        }
    }
    Ok(())
}

/// The values of an array in a forward pass.
fn values(array: Array, output: &ForwardOutput) -> Vec<f32> {
    let layers = &output.layers;
    let of_attention = |field: fn(&AttentionOutput) -> &Tensor<4>| {
        let layers = layers.iter().map(|layer| field(&layer.attention).clone());
        host(Tensor::stack::<5>(layers.collect(), 1))
    };
    let of_blocks = |field: fn(&BlockOutput) -> Option<Tensor<3>>| {
        host(Tensor::stack::<4>(
            layers.iter().filter_map(field).collect(),
            1,
        ))
    };
    match array {
        Array::Scores => of_attention(|attention| &attention.scores),
        Array::Weights => of_attention(|attention| &attention.weights),
        Array::Query => of_attention(|attention| &attention.query),
        Array::Key => of_attention(|attention| &attention.key),
        Array::Value => of_attention(|attention| &attention.value),
        Array::Context => of_attention(|attention| &attention.context),
        Array::Embeddings => host(output.embeddings.clone()),
        Array::Residual => of_blocks(|block| Some(block.residual.clone())),
        Array::FeedForwardHidden => {
            of_blocks(|block| Some(block.feed_forward.as_ref()?.hidden.clone()))
        }
        Array::FeedForwardResidual => {
            of_blocks(|block| Some(block.feed_forward.as_ref()?.residual.clone()))
        }
        Array::Output => of_blocks(|block| Some(block.output())),
    }
}
