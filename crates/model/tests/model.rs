//! The model's shapes, parameters and initial weights, and properties of any attention.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../architecture/tests/common/mod.rs"]
mod common;

use burn::tensor::{Device, Int, Tensor, TensorData};
use common::inputs;
use headlight_architecture::{ModelConfig, Parameter};
use headlight_model::TransformerClassifier;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The notebook's initial parameters, and the model built from them.
fn notebook(seed: u64) -> (Vec<Parameter>, TransformerClassifier) {
    let (config, inputs) = (ModelConfig::new(8, 1, 1), inputs(51, 7));
    let start = config.initial_parameters(inputs, &mut ChaCha8Rng::seed_from_u64(seed));
    let model = TransformerClassifier::new(&config, inputs, start.clone(), &Device::flex());
    (start, model.unwrap())
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

#[test]
fn parameters_go_in_and_come_out() {
    let (start, model) = notebook(0);
    assert_eq!(model.parameters(), start);
}

#[test]
fn parameters_of_another_model_are_refused() {
    let (mut start, _) = notebook(0);
    start.pop();
    let config = ModelConfig::new(8, 1, 1);
    let refused = TransformerClassifier::new(&config, inputs(51, 7), start, &Device::flex());
    assert!(!refused.unwrap_err().contains(';'));
}

/// A model with every parameter drawn from `±scale`, and random samples for it.
fn random_case(
    config: &ModelConfig,
    (vocab_size, positions, batch): (usize, usize, usize),
    scale: f32,
    seed: u64,
) -> (TransformerClassifier, Tensor<2, Int>) {
    let device = Device::flex();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let inputs = inputs(vocab_size, positions);
    let mut parameters = config.initial_parameters(inputs, &mut rng);
    for value in parameters
        .iter_mut()
        .flat_map(|parameter| &mut parameter.values)
    {
        *value = (rng.next_u32() as f32 / u32::MAX as f32 * 2.0 - 1.0) * scale;
    }
    let tokens: Vec<i32> = (0..batch * positions)
        .map(|index| {
            if index % positions == 0 {
                0
            } else {
                (rng.next_u32() % vocab_size as u32).cast_signed()
            }
        })
        .collect();
    let tokens = Tensor::from_data(TensorData::new(tokens, [batch, positions]), &device);
    let model = TransformerClassifier::new(config, inputs, parameters, &device);
    (model.unwrap(), tokens)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_row_of_attention_sums_to_one(
        d_head in 1_usize..17,
        n_heads in 1_usize..5,
        n_layers in 1_usize..4,
        vocab_size in 2_usize..100,
        positions in 2_usize..40,
        batch in 1_usize..9,
        scale in 0.01_f32..8.0,
        seed in any::<u64>(),
    ) {
        let config = ModelConfig::new(d_head * n_heads, n_heads, n_layers);
        let (model, tokens) = random_case(&config, (vocab_size, positions, batch), scale, seed);
        let output = model.forward(tokens);
        prop_assert_eq!(output.logits.dims(), [batch, 1]);
        prop_assert_eq!(output.layers.len(), n_layers);
        for layer in output.layers {
            prop_assert_eq!(layer.attention.scores.dims(), [batch, n_heads, positions, positions]);
            prop_assert_eq!(layer.attention.context.dims(), [batch, n_heads, positions, d_head]);
            prop_assert_eq!(layer.residual.dims(), [batch, positions, d_head * n_heads]);
            for row in values(layer.attention.weights).chunks(positions) {
                let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
                prop_assert!((sum - 1.0).abs() < 1e-6, "{}", sum);
                prop_assert!(row.iter().all(|weight| (0.0..=1.0).contains(weight)));
            }
        }
    }
}
