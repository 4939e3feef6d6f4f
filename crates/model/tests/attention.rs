//! Masks, padding, projections and feed-forward layers.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../architecture/tests/common/mod.rs"]
mod common;

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use common::inputs;
use headlight_architecture::{
    Inputs, Mask, ModelConfig, NormPlace, Parameter, Positions, ProjectionKind, Scale,
};
use headlight_model::{TransformerClassifier, attention_weights};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// A model with every parameter drawn from -1 to 1.
fn model(config: &ModelConfig, inputs: Inputs, seed: u64) -> TransformerClassifier {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    config.validate().unwrap();
    config.validate_for(inputs).unwrap();
    let mut parameters = config.initial_parameters(inputs, &mut rng);
    for value in parameters
        .iter_mut()
        .flat_map(|parameter| &mut parameter.values)
    {
        *value = rng.next_u32() as f32 / u32::MAX as f32 * 2.0 - 1.0;
    }
    TransformerClassifier::new(config, inputs, parameters, &Device::flex()).unwrap()
}

fn tokens(rows: &[Vec<i32>]) -> Tensor<2, Int> {
    let shape = [rows.len(), rows[0].len()];
    Tensor::from_data(TensorData::new(rows.concat(), shape), &Device::flex())
}

#[test]
fn rows_without_a_key_are_zero_and_gradients_stay_finite() {
    let device = Device::flex().autodiff();
    let scores =
        Tensor::<4>::from_data([[[[1.0, 2.0, 3.0], [0.5, -7.0, 2.0]]]], &device).require_grad();
    let mask =
        Tensor::<4, Bool>::from_data([[[[false, false, false], [true, false, true]]]], &device);
    let weights = attention_weights(scores.clone(), Some(mask));
    let row = values(weights.clone());
    // exp(0.5) / (exp(0.5) + exp(2)).
    let share = 0.182_425_52;
    for (ours, expected) in row.iter().zip([0.0, 0.0, 0.0, share, 0.0, 1.0 - share]) {
        assert!((ours - expected).abs() < 1e-6, "{row:?}");
    }
    let gradients = (weights * Tensor::from_data([[[[1.0, 2.0, 3.0]]]], &device))
        .sum()
        .backward();
    let gradient = values(scores.grad(&gradients).unwrap());
    // d/ds of w_1 * 1 + w_3 * 3 = -+ 2 w_1 w_3
    let slope = 2.0 * share * (1.0 - share);
    for (ours, expected) in gradient.iter().zip([0.0, 0.0, 0.0, -slope, 0.0, slope]) {
        assert!((ours - expected).abs() < 1e-6, "{gradient:?}");
    }
}

#[test]
fn parameters_are_named_after_their_place() {
    let config = ModelConfig {
        d_ff: 12,
        positions: Positions::None,
        ..ModelConfig::new(4, 2, 1)
    };
    let with = |projections| {
        let mut config = config.clone();
        config.attention.projections = projections;
        let model = model(&config, inputs(20, 5), 0);
        let listed = model.parameters();
        // The layout and the module tree list the same parameters.
        let drawn = config.initial_parameters(inputs(20, 5), &mut ChaCha8Rng::seed_from_u64(0));
        let shapes = |parameters: &[Parameter]| -> Vec<(String, Vec<usize>)> {
            let pair = |parameter: &Parameter| (parameter.name.clone(), parameter.shape.clone());
            parameters.iter().map(pair).collect()
        };
        assert_eq!(shapes(&drawn), shapes(&listed));
        let names = listed.into_iter().map(|parameter| parameter.name);
        names.collect::<Vec<_>>().join(" ")
    };
    let rest = "blocks.0.attention.output.weight blocks.0.attention.output.bias \
        blocks.0.norm.gamma blocks.0.norm.beta \
        blocks.0.feed_forward.hidden.weight blocks.0.feed_forward.hidden.bias \
        blocks.0.feed_forward.output.weight blocks.0.feed_forward.output.bias \
        blocks.0.feed_forward.norm.gamma blocks.0.feed_forward.norm.beta \
        classifier.weight classifier.bias";
    assert_eq!(
        with(ProjectionKind::Shared),
        format!(
            "token_embedding blocks.0.attention.shared.weight blocks.0.attention.shared.bias {rest}"
        )
    );
    assert_eq!(
        with(ProjectionKind::None),
        format!("token_embedding {rest}")
    );
    assert!(with(ProjectionKind::Separate).contains("blocks.0.attention.key.bias"));
}

#[test]
fn without_projections_queries_keys_and_values_are_the_input() {
    let mut config = ModelConfig::new(6, 2, 1);
    config.attention.projections = ProjectionKind::None;
    config.attention.scale = Scale::Off;
    let output = model(&config, inputs(20, 4), 3).forward(tokens(&[vec![0, 3, 9, 1]]));
    let attention = &output.layers[0].attention;
    assert_eq!(
        values(attention.query.clone()),
        values(attention.key.clone())
    );
    assert_eq!(
        values(attention.query.clone()),
        values(attention.value.clone())
    );
    let heads_first = output.embeddings.reshape([1, 4, 2, 3]).swap_dims(1, 2);
    assert_eq!(values(attention.query.clone()), values(heads_first));
}

fn any_projections() -> impl Strategy<Value = ProjectionKind> {
    prop_oneof![
        Just(ProjectionKind::Separate),
        Just(ProjectionKind::Shared),
        Just(ProjectionKind::None),
    ]
}

fn any_config() -> impl Strategy<Value = ModelConfig> {
    let sizes = (3_usize..6, 1_usize..4, 1_usize..4, 0_usize..9);
    let places = [NormPlace::Post, NormPlace::Pre, NormPlace::None];
    let positions = [
        Positions::Learned,
        Positions::None,
        Positions::Sinusoidal,
        Positions::First,
    ];
    let kinds = (
        prop::sample::select(places.to_vec()),
        prop::sample::select(positions.to_vec()),
    );
    (sizes, kinds, any_projections(), 0.2_f64..5.0).prop_map(
        |((d_head, n_heads, n_layers, d_ff), (norm, positions), projections, temperature)| {
            let mut config = ModelConfig {
                d_ff,
                norm,
                positions,
                ..ModelConfig::new(d_head * n_heads, n_heads, n_layers)
            };
            config.attention.projections = projections;
            config.attention.temperature = temperature;
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_mask_gives_rows_that_sum_to_one_or_are_empty(
        config in any_config(),
        mask in prop::collection::vec(prop::collection::vec(any::<bool>(), 5), 5),
        seed in any::<u64>(),
    ) {
        let mut config = config;
        config.attention.mask = Mask::Matrix(mask.clone());
        let output = model(&config, inputs(20, 5), seed).forward(tokens(&[vec![0, 1, 2, 3, 4]]));
        prop_assert!(values(output.logits)[0].is_finite());
        for layer in output.layers {
            let weights = values(layer.attention.weights);
            for (index, row) in weights.chunks(5).enumerate() {
                let may_look = &mask[index % 5];
                let expected = if may_look.contains(&true) { 1.0 } else { 0.0 };
                prop_assert!((row.iter().sum::<f32>() - expected).abs() < 1e-6);
                for (&weight, &may) in row.iter().zip(may_look) {
                    prop_assert!(may || weight == 0.0);
                }
            }
        }
    }

    /// Under a causal mask, no output depends on later positions.
    #[test]
    fn the_future_changes_nothing(
        config in any_config(),
        first in 1_i32..20,
        others in prop::collection::vec(1_i32..20, 8),
        seed in any::<u64>(),
    ) {
        let mut config = config;
        config.attention.mask = Mask::Causal;
        let model = model(&config, inputs(20, 6), seed);
        let sample = |rest: &[i32]| [&[0, first], rest].concat();
        let output = model.forward(tokens(&[sample(&others[..4]), sample(&others[4..])]));
        let logits = values(output.logits);
        prop_assert_eq!(logits[0].to_bits(), logits[1].to_bits());
        for layer in output.layers {
            let residual = layer.output();
            let early = residual.slice([0..2, 0..2]);
            let rows = values(early);
            let (one, other) = rows.split_at(rows.len() / 2);
            prop_assert_eq!(one, other);
        }
    }

    /// The logit of a sample does not depend on the padding after it.
    #[test]
    fn padding_changes_nothing(
        config in any_config(),
        sample in prop::collection::vec(1_i32..19, 1..5),
        seed in any::<u64>(),
    ) {
        let mut config = config;
        config.attention.padding_token = Some(19);
        let length = 1 + sample.len();
        let long = model(&config, inputs(20, 8), seed);
        let mut padded = [&[0], &sample[..]].concat();
        padded.resize(8, 19);
        let output = long.forward(tokens(&[padded]));
        let weights = values(output.layers[0].attention.weights.clone());
        for row in weights.chunks(8) {
            prop_assert!(row[length..].iter().all(|&weight| weight == 0.0));
        }
        // The same model for shorter samples: fewer positions, otherwise equal.
        let mut parameters = long.parameters();
        for parameter in &mut parameters {
            if parameter.name == "position_embedding" {
                parameter.shape[0] = length;
                parameter.values.truncate(length * config.d_model);
            }
        }
        let short = TransformerClassifier::new(&config, inputs(20, length), parameters, &Device::flex());
        let short = short.unwrap();
        let alone = short.forward(tokens(&[[&[0], &sample[..]].concat()]));
        let (padded, alone) = (values(output.logits)[0], values(alone.logits)[0]);
        prop_assert!((padded - alone).abs() <= 1e-4 * alone.abs().max(1.0), "{} {}", padded, alone);
    }

    /// If `[CLS]` is last, it sees all positions under a causal mask. With a single block, the logit is the same as
    /// without a mask.
    #[test]
    fn cls_at_the_end_sees_all(
        n_heads in 1_usize..4,
        sample in prop::collection::vec(1_i32..20, 5),
        seed in any::<u64>(),
    ) {
        let mut config = ModelConfig::new(4 * n_heads, n_heads, 1);
        let last = Inputs { cls: Some(5), read_position: 5, ..inputs(20, 6) };
        let sample = [&sample[..], &[0]].concat();
        let free = model(&config, last, seed).forward(tokens(std::slice::from_ref(&sample)));
        config.attention.mask = Mask::Causal;
        let causal = model(&config, last, seed).forward(tokens(&[sample]));
        let (free, causal) = (values(free.logits)[0], values(causal.logits)[0]);
        prop_assert!((free - causal).abs() < 1e-5 * free.abs().max(1.0), "{} {}", free, causal);
    }
}
