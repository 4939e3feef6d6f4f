//! The model's shapes, parameters and initial weights, and properties of any attention.
#![allow(missing_docs, clippy::unwrap_used)]

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData};
use headlight_architecture::{Inputs, ModelConfig, Parameter};
use headlight_model::TransformerClassifier;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

fn inputs(vocab_size: usize, positions: usize) -> Inputs {
    Inputs {
        vocab_size,
        positions,
        cls: Some(0),
        read_position: 0,
        n_classes: 2,
        per_position: false,
    }
}

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
    assert_eq!(refused.unwrap_err().0.len(), 1);
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

    /// The forward pass against the formulas, written out in f64 for one sample and one query.
    #[test]
    fn logits_follow_from_the_formulas(
        // The norm of two features is little more than a sign, which rounding can flip.
        d_head in 3_usize..9,
        n_heads in 1_usize..4,
        positions in 2_usize..12,
        seed in any::<u64>(),
    ) {
        let config = ModelConfig::new(d_head * n_heads, n_heads, 1);
        let (model, tokens) = random_case(&config, (20, positions, 1), 1.0, seed);
        let ids: Vec<usize> = tokens.clone().into_data().iter::<i64>().map(|id| id as usize).collect();
        let logit = f64::from(values(model.forward(tokens).logits)[0]);
        prop_assert!((logit - by_the_formulas(&widened(&model), &ids, &config)).abs() < 1e-4);
    }

    /// Burn's gradients against central differences of the formulas, in f64.
    #[test]
    fn gradients_follow_from_the_formulas(
        d_head in 3_usize..6,
        n_heads in 1_usize..3,
        positions in 2_usize..6,
        seed in any::<u64>(),
    ) {
        let config = ModelConfig::new(d_head * n_heads, n_heads, 1);
        let (model, tokens) = random_case(&config, (6, positions, 1), 1.0, seed);
        let ids: Vec<usize> = tokens.clone().into_data().iter::<i64>().map(|id| id as usize).collect();
        let device = Device::flex().autodiff();
        let model = TransformerClassifier::new(&config, inputs(6, positions), model.parameters(), &device);
        let model = model.unwrap();
        let tokens = Tensor::<2, Int>::from_data(tokens.into_data(), &device);
        let gradients = model.forward(tokens).logits.sum().backward();
        let ours = gradients_of(&model, gradients);

        let parameters = widened(&model);
        let step = 1e-5;
        let shifted = |which: usize, element: usize, by: f64| {
            let mut parameters = parameters.clone();
            parameters[which].1[element] += by;
            by_the_formulas(&parameters, &ids, &config)
        };
        let steepest = ours.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (which, (gradient, (name, _))) in ours.iter().zip(&parameters).enumerate() {
            for (element, ours) in gradient.iter().enumerate() {
                let slope = (shifted(which, element, step) - shifted(which, element, -step)) / (2.0 * step);
                let difference = (ours - slope).abs();
                // Relative to the steepest slope, since slopes that cancel out are only rounding errors.
                prop_assert!(difference <= 1e-3 * slope.abs() + 1e-5 * steepest, "{} {}: {} {}", name, element, slope, difference);
            }
        }
    }
}

fn gradients_of(model: &TransformerClassifier, mut gradients: Gradients) -> Vec<Vec<f64>> {
    struct Collect<'a>(&'a mut Gradients, Vec<Vec<f64>>);
    impl ModuleVisitor for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let gradient = param.val().grad_remove(self.0).unwrap();
            self.1.push(gradient.into_data().iter::<f64>().collect());
        }
    }
    let mut collect = Collect(&mut gradients, Vec::new());
    model.visit(&mut collect);
    collect.1
}

/// Parameters by name, in f64.
type Wide = Vec<(String, Vec<f64>)>;

fn widened(model: &TransformerClassifier) -> Wide {
    let parameters = model.parameters().into_iter();
    let wide = |parameter: Parameter| parameter.values.into_iter().map(f64::from).collect();
    parameters
        .map(|parameter| (parameter.name.clone(), wide(parameter)))
        .collect()
}

/// The logit of one sample, by the formulas alone.
fn by_the_formulas(parameters: &Wide, ids: &[usize], config: &ModelConfig) -> f64 {
    let get = |name: &str| -> &Vec<f64> {
        let full = [name, &format!("blocks.0.{name}")].map(str::to_owned);
        &parameters
            .iter()
            .find(|(own, _)| full.contains(own))
            .unwrap()
            .1
    };
    let d = config.d_model;
    let (token, position) = (get("token_embedding"), get("position_embedding"));
    let x: Vec<Vec<f64>> = ids
        .iter()
        .enumerate()
        .map(|(at, &id)| {
            (0..d)
                .map(|i| token[id * d + i] + position[at * d + i])
                .collect()
        })
        .collect();
    let linear = |name: &str, input: &[f64], outputs: usize| -> Vec<f64> {
        let (weight, bias) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
        (0..outputs)
            .map(|o| {
                bias[o]
                    + input
                        .iter()
                        .enumerate()
                        .map(|(i, v)| v * weight[i * outputs + o])
                        .sum::<f64>()
            })
            .collect()
    };
    let query = linear("attention.query", &x[0], d);
    let mut context = vec![0.0; d];
    for head in 0..config.n_heads {
        let part = head * config.d_head()..(head + 1) * config.d_head();
        let scores: Vec<f64> = x
            .iter()
            .map(|x| {
                let key = linear("attention.key", x, d);
                let dot: f64 = part.clone().map(|i| query[i] * key[i]).sum();
                dot / (config.d_head() as f64).sqrt()
            })
            .collect();
        let total: f64 = scores.iter().map(|score| score.exp()).sum();
        for (x, score) in x.iter().zip(&scores) {
            let value = linear("attention.value", x, d);
            for i in part.clone() {
                context[i] += score.exp() / total * value[i];
            }
        }
    }
    let output = linear("attention.output", &context, d);
    let residual: Vec<f64> = x[0].iter().zip(output).map(|(x, o)| x + o).collect();
    let mean = residual.iter().sum::<f64>() / d as f64;
    let variance = residual.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / d as f64;
    let (gamma, beta) = (get("norm.gamma"), get("norm.beta"));
    let normalized: Vec<f64> = (0..d)
        .map(|i| {
            (residual[i] - mean) / (variance + config.layer_norm_eps).sqrt() * gamma[i] + beta[i]
        })
        .collect();
    linear("classifier", &normalized, 1)[0]
}
