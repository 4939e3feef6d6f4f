//! Every kind of model against its definition in f64: all that a forward pass computes, and gradients by central
//! differences.
#![allow(missing_docs, clippy::unwrap_used)]

mod definition;

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData};
use definition::Definition;
use headlight_architecture::{
    Activation, Inputs, Logits, Mask, ModelConfig, NormKind, NormPlace, Parameter, Pooling,
    Positions, ProjectionKind, Scale,
};
use headlight_model::{AttentionOutput, ForwardOutput, TransformerClassifier};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Draws choices, and counts them by name.
struct Draw {
    rng: ChaCha8Rng,
    counts: BTreeMap<String, usize>,
}

impl Draw {
    fn new(seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            counts: BTreeMap::new(),
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.rng.next_u32() as usize % end
    }

    fn one<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// A number from -1 to 1.
    fn number(&mut self) -> f32 {
        self.rng.next_u32() as f32 / u32::MAX as f32 * 2.0 - 1.0
    }

    /// A valid model of any kind, with its inputs.
    fn model(&mut self) -> (ModelConfig, Inputs) {
        loop {
            let (config, inputs) = self.combination();
            if config.validate().is_ok() && config.validate_for(inputs).is_ok() {
                return (config, inputs);
            }
        }
    }

    /// A model whose values may not go together.
    fn combination(&mut self) -> (ModelConfig, Inputs) {
        let heads = 1 + self.below(3);
        let positions = 2 + self.below(5);
        let cls = self.one(&[None, Some(0), Some(positions - 1)]);
        let vocab_size = 5 + self.below(4);
        let tied = self.below(4) == 0;
        let mut config = ModelConfig::new(heads * (4 + self.below(3)), heads, 1 + self.below(3));
        config.d_head = self.one(&[None, None, Some(2), Some(3), Some(4)]);
        config.norm = self.one(&[NormPlace::Post, NormPlace::Pre, NormPlace::None]);
        config.norm_kind = self.one(&[NormKind::Layer, NormKind::Rms]);
        config.norm_gain = self.below(3) > 0;
        config.norm_bias = self.one(&[None, Some(true), Some(false)]);
        config.final_norm = self.one(&[None, Some(true), Some(false)]);
        config.embedding_norm = self.below(3) == 0;
        config.layer_norm_eps = 1e-3;
        config.d_ff = self.one(&[0, 3, 8]);
        config.activation = self.one(&[
            Activation::Relu,
            Activation::Gelu,
            Activation::GeluTanh,
            Activation::Silu,
        ]);
        config.feed_forward_bias = self.below(3) > 0;
        config.positions = self.one(&[
            Positions::Learned,
            Positions::None,
            Positions::Sinusoidal,
            Positions::Rotary,
            Positions::First,
        ]);
        if config.positions == Positions::Learned && self.below(2) == 0 {
            config.positions_shared_from = Some(self.below(positions));
        }
        let at = Pooling::Position(self.below(positions));
        config.pooling = self.one(&[
            None,
            Some(Pooling::Cls),
            Some(Pooling::Last),
            Some(Pooling::Mean),
            Some(at),
        ]);
        config.classifier_hidden = self.one(&[0, 0, 5]);
        config.classifier_bias = self.below(3) > 0;
        config.logits = self.one(&[Logits::LogOdds, Logits::PerClass]);
        config.tied_embeddings = tied;
        let n_classes = if tied { vocab_size } else { 2 + self.below(3) };
        self.attention(&mut config, positions);
        let read_position = match config.pooling {
            Some(Pooling::Position(position)) => position,
            Some(Pooling::Last) => positions - 1,
            _ => cls.unwrap_or(positions - 1),
        };
        let inputs = Inputs {
            vocab_size,
            positions,
            cls,
            read_position,
            n_classes,
            per_position: false,
        };
        (config, inputs)
    }

    fn attention(&mut self, config: &mut ModelConfig, positions: usize) {
        let matrix = (0..positions)
            .map(|_| (0..positions).map(|_| self.below(3) > 0).collect())
            .collect();
        let attention = &mut config.attention;
        attention.mask = self.one(&[Mask::None, Mask::Causal, Mask::Matrix(matrix)]);
        attention.projections = self.one(&[
            ProjectionKind::Separate,
            ProjectionKind::Separate,
            ProjectionKind::Shared,
            ProjectionKind::None,
        ]);
        attention.bias = self.below(3) > 0;
        attention.value_projection = self.below(3) > 0;
        attention.output_projection = self.below(3) > 0;
        attention.output_bias = self.below(3) > 0;
        attention.scale = self.one(&[Scale::Root, Scale::Off]);
        attention.log_length = self.below(3) == 0;
        attention.softmax = self.below(3) > 0;
        attention.rate = self.one(&[1.0, 1.0, 0.7, 0.0]);
        attention.padding_token = self.one(&[None, Some(2)]);
    }

    /// Parameters around 0, and gains around 1. Without norms they are smaller, since vectors grow from block to block.
    fn parameters(&mut self, config: &ModelConfig, inputs: Inputs) -> Vec<Parameter> {
        let mut parameters = config.initial_parameters(inputs, &mut self.rng);
        let limit = match config.norm {
            NormPlace::None => 0.3,
            _ => 0.7,
        };
        for parameter in &mut parameters {
            let middle = f32::from(u8::from(parameter.name.ends_with("gamma")));
            for value in &mut parameter.values {
                *value = middle + limit * self.number();
            }
        }
        parameters
    }

    /// A few samples, with `[CLS]` at its position.
    fn samples(&mut self, inputs: Inputs) -> Vec<Vec<u32>> {
        let first = usize::from(inputs.cls.is_some());
        let mut token = |position: usize| {
            if inputs.cls == Some(position) {
                return 0;
            }
            (first + self.below(inputs.vocab_size - first)) as u32
        };
        (0..3)
            .map(|_| (0..inputs.positions).map(&mut token).collect())
            .collect()
    }

    fn count(&mut self, config: &ModelConfig, inputs: Inputs) {
        let attention = &config.attention;
        let pooling = match config.pooling {
            Some(Pooling::Position(_)) => "a position".to_owned(),
            pooling => format!("{pooling:?}"),
        };
        let has_norms =
            config.norm != NormPlace::None || config.has_final_norm() || config.embedding_norm;
        let is_separate = attention.projections == ProjectionKind::Separate;
        for (counts, what) in [
            (true, format!("norm {:?}", config.norm)),
            (has_norms, format!("norm_kind {:?}", config.norm_kind)),
            (has_norms, format!("norm_gain {}", config.norm_gain)),
            (has_norms, format!("norm_bias {}", config.has_norm_bias())),
            (true, format!("final_norm {}", config.has_final_norm())),
            (true, format!("embedding_norm {}", config.embedding_norm)),
            (
                config.d_ff > 0,
                format!("activation {:?}", config.activation),
            ),
            (
                config.d_ff > 0,
                format!("feed_forward_bias {}", config.feed_forward_bias),
            ),
            (true, format!("positions {:?}", config.positions)),
            (
                true,
                format!("shared {}", config.positions_shared_from.is_some()),
            ),
            (true, format!("pooling {pooling}")),
            (
                true,
                format!("classifier_hidden {}", config.classifier_hidden > 0),
            ),
            (true, format!("classifier_bias {}", config.classifier_bias)),
            (inputs.n_classes == 2, format!("logits {:?}", config.logits)),
            (true, format!("tied_embeddings {}", config.tied_embeddings)),
            (true, format!("d_head {}", config.d_head.is_some())),
            (true, format!("cls {}", inputs.cls.is_some())),
            (is_separate, format!("bias {}", attention.bias)),
            (
                is_separate,
                format!("value_projection {}", attention.value_projection),
            ),
            (
                true,
                format!("output_projection {}", attention.output_projection),
            ),
            (
                attention.output_projection,
                format!("output_bias {}", attention.output_bias),
            ),
            (true, format!("log_length {}", attention.log_length)),
            (true, format!("softmax {}", attention.softmax)),
            (attention.softmax, format!("rate {}", attention.rate)),
            (
                true,
                format!("padding {}", attention.padding_token.is_some()),
            ),
        ] {
            if counts {
                *self.counts.entry(what).or_default() += 1;
            }
        }
    }

    /// Checks that each value was drawn often.
    fn check_counts(&self, values: usize, at_least: usize) {
        assert_eq!(self.counts.len(), values, "{:#?}", self.counts);
        let rare = self.counts.iter().find(|(_, count)| **count < at_least);
        assert_eq!(rare, None);
    }
}

fn tensor(samples: &[Vec<u32>], device: &Device) -> Tensor<2, Int> {
    let shape = [samples.len(), samples[0].len()];
    let tokens: Vec<i32> = samples.concat().into_iter().map(u32::cast_signed).collect();
    Tensor::from_data(TensorData::new(tokens, shape), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// What a block computes, as [`Definition`] names and orders it.
fn of_block(output: &ForwardOutput, layer: usize) -> Vec<(&'static str, Vec<f64>)> {
    let block = &output.layers[layer];
    let attention = |name, field: fn(&AttentionOutput) -> &Tensor<4>| {
        (name, values(field(&block.attention).clone()))
    };
    let mut all = vec![
        attention("query", |attention| &attention.query),
        attention("key", |attention| &attention.key),
        attention("value", |attention| &attention.value),
        attention("scores", |attention| &attention.scores),
        attention("weights", |attention| &attention.weights),
        attention("context", |attention| &attention.context),
        ("residual", values(block.residual.clone())),
    ];
    if let Some(feed_forward) = &block.feed_forward {
        all.push(("feed_forward.hidden", values(feed_forward.hidden.clone())));
        all.push((
            "feed_forward.residual",
            values(feed_forward.residual.clone()),
        ));
    }
    all.push(("output", values(block.output())));
    all
}

#[test]
fn forward_passes_follow_from_the_definition() {
    let mut draw = Draw::new(1);
    for case in 0..300 {
        let (config, inputs) = draw.model();
        draw.count(&config, inputs);
        let parameters = draw.parameters(&config, inputs);
        let samples = draw.samples(inputs);
        let definition = Definition::new(&config, inputs, &parameters);
        let model =
            TransformerClassifier::new(&config, inputs, parameters.clone(), &Device::flex());
        let model = model.unwrap();
        assert_eq!(model.parameters(), parameters, "{config:#?}");
        let output = model.forward(tensor(&samples, &Device::flex()));
        let expected: Vec<_> = samples
            .iter()
            .map(|sample| definition.forward(sample))
            .collect();

        let check = |what: &str, ours: &[f64], expected: Vec<f64>| {
            assert_eq!(ours.len(), expected.len(), "{case}: {what}: {config:#?}");
            let largest = expected.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            for (ours, expected) in ours.iter().zip(expected) {
                let apart = (ours - expected).abs() / largest;
                assert!(
                    apart < 1e-4,
                    "{case}: {what}: {ours} {expected} {config:#?}"
                );
            }
        };
        let joined = |of: &dyn Fn(&definition::Values) -> &[f64]| -> Vec<f64> {
            expected
                .iter()
                .flat_map(|values| of(values).iter().copied())
                .collect()
        };
        check(
            "embeddings",
            &values(output.embeddings.clone()),
            joined(&|all| &all.embeddings),
        );
        for layer in 0..config.n_layers {
            for (index, (name, ours)) in of_block(&output, layer).iter().enumerate() {
                let expected = joined(&|all| {
                    let (expected, values) = &all.blocks[layer][index];
                    assert_eq!(name, expected);
                    values
                });
                check(&format!("block {layer} {name}"), ours, expected);
            }
        }
        check("pooled", &values(output.pooled), joined(&|all| &all.pooled));
        let hidden = output.classifier_hidden.map(values).unwrap_or_default();
        check("hidden", &hidden, joined(&|all| &all.classifier_hidden));
        check("logits", &values(output.logits), joined(&|all| &all.logits));
    }
    draw.check_counts(60, 20);
}

/// The gradient of the sum of the logits' squares.
#[test]
fn gradients_follow_from_the_definition() {
    let mut draw = Draw::new(2);
    for case in 0..100 {
        let (config, inputs) = draw.model();
        draw.count(&config, inputs);
        let parameters = draw.parameters(&config, inputs);
        let samples = draw.samples(inputs);
        let device = Device::flex().autodiff();
        let model = TransformerClassifier::new(&config, inputs, parameters.clone(), &device);
        let model = model.unwrap();
        let loss = model
            .forward(tensor(&samples, &device))
            .logits
            .square()
            .sum();
        let gradients = gradients(&model, loss.backward());

        let mut definition = Definition::new(&config, inputs, &parameters);
        let steepest = gradients
            .iter()
            .flatten()
            .fold(1e-3_f64, |most, x| most.max(x.abs()));
        for (which, gradient) in gradients.iter().enumerate() {
            for _ in 0..6 {
                let element = draw.below(gradient.len());
                let mut loss_with = |change: f64| -> f64 {
                    definition.parameters[which].1[element] += change;
                    let logits = samples
                        .iter()
                        .flat_map(|sample| definition.forward(sample).logits);
                    let loss = logits.map(|z| z * z).sum();
                    definition.parameters[which].1[element] -= change;
                    loss
                };
                let slope = (loss_with(1e-6) - loss_with(-1e-6)) / 2e-6;
                let apart = (gradient[element] - slope).abs();
                assert!(
                    apart < 1e-3 * slope.abs() + 1e-5 * steepest,
                    "{case}: {}[{element}]: {} {slope} of {steepest} {config:#?}",
                    parameters[which].name,
                    gradient[element],
                );
            }
        }
    }
    draw.check_counts(60, 3);
}

fn gradients(model: &TransformerClassifier, mut gradients: Gradients) -> Vec<Vec<f64>> {
    struct Collect<'a>(&'a mut Gradients, Vec<Vec<f64>>);
    impl ModuleVisitor for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let parameter = param.val();
            // The logits do not depend on each parameter, such as the queries' where weights are constant.
            let gradient = parameter.grad_remove(self.0);
            let gradient = gradient.unwrap_or_else(|| parameter.inner().zeros_like());
            self.1.push(values(gradient));
        }
    }
    let mut collect = Collect(&mut gradients, Vec::new());
    model.visit(&mut collect);
    collect.1
}
