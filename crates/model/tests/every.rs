//! Every kind of model against its definition in f64: all that a forward pass computes, and gradients by central
//! differences.
#![allow(missing_docs, dead_code, clippy::unwrap_used)]

#[path = "../../architecture/tests/definition/mod.rs"]
mod definition;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Int, Tensor, TensorData};
use definition::{Definition, Values, draw::Draw};
use headlight_architecture::{Inputs, ModelConfig, Parameter, ParameterSpec};
use headlight_model::{BlockOutput, TransformerClassifier};

/// A drawn model with its parameters, samples and definition.
struct Case {
    config: ModelConfig,
    inputs: Inputs,
    parameters: Vec<f32>,
    samples: Vec<u32>,
}

impl Case {
    fn new(draw: &mut Draw) -> Self {
        let (config, inputs) = draw.model();
        Self {
            parameters: draw.parameters(&config, inputs),
            samples: draw.samples(inputs, 3),
            config,
            inputs,
        }
    }

    fn definition(&self) -> Definition<'_> {
        Definition::new(&self.config, self.inputs, &self.parameters)
    }

    fn samples(&self) -> impl Iterator<Item = &[u32]> {
        self.samples.chunks(self.inputs.positions)
    }

    fn model(&self, device: &Device) -> TransformerClassifier {
        let mut rest = &self.parameters[..];
        let parameters = self.config.layout(self.inputs).into_iter().map(|layout| {
            let (own, others) = rest.split_at(layout.size());
            rest = others;
            let ParameterSpec { name, shape, .. } = layout;
            Parameter {
                name,
                shape,
                values: own.to_vec(),
            }
        });
        let parameters: Vec<Parameter> = parameters.collect();
        let model =
            TransformerClassifier::new(&self.config, self.inputs, parameters.clone(), device);
        let model = model.unwrap();
        assert_eq!(model.parameters(), parameters, "{:#?}", self.config);
        model
    }

    fn tokens(&self, device: &Device) -> Tensor<2, Int> {
        let tokens: Vec<i32> = self
            .samples
            .iter()
            .map(|token| token.cast_signed())
            .collect();
        let shape = [3, self.inputs.positions];
        Tensor::from_data(TensorData::new(tokens, shape), device)
    }
}

#[test]
fn every_value_is_drawn() {
    let mut draw = Draw(1);
    let models: Vec<String> = (0..300).map(|_| format!("{:?}", draw.model())).collect();
    let values = "norm: Post, norm: Pre, norm: None, norm_kind: Layer, norm_kind: Rms, norm_gain: true, norm_gain: false, \
        norm_bias: Some(true), norm_bias: Some(false), final_norm: Some(true), final_norm: Some(false), embedding_norm: true, \
        activation: Relu, activation: Gelu, activation: GeluTanh, activation: Silu, feed_forward_bias: false, d_ff: 0, \
        positions: Learned, positions: None, positions: Sinusoidal, positions: Rotary, positions: First, \
        positions_shared_from: Some, pooling: Some(Cls), pooling: Some(Last), pooling: Some(Mean), pooling: Some(Position, \
        classifier_hidden: 0, classifier_hidden: 9, classifier_bias: false, logits: PerClass, tied_embeddings: true, \
        d_head: Some, cls: None, cls: Some, per_position: true, projections: Separate, projections: Shared, \
        projections: None, bias: false, value_projection: false, output_projection: false, output_bias: false, \
        log_length: true, softmax: false, rate: 0.0, rate: 0.7, padding_token: Some, mask: Causal, mask: Matrix";
    for value in values.split(", ") {
        let own = models
            .iter()
            .filter(|model| model.contains(&format!(" {value}")));
        let count = own.count();
        assert!(count >= 12, "{value}: {count}");
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// What a block computes, by the names of dumps.
fn of_block(block: &BlockOutput) -> Vec<(&'static str, Vec<f64>)> {
    let attention = &block.attention;
    let mut all = vec![
        ("query", values(attention.query.clone())),
        ("key", values(attention.key.clone())),
        ("value", values(attention.value.clone())),
        ("attention_scores", values(attention.scores.clone())),
        ("attention_weights", values(attention.weights.clone())),
        ("context", values(attention.context.clone())),
        ("residual", values(block.residual.clone())),
        ("output", values(block.output())),
    ];
    if let Some(fed) = &block.feed_forward {
        all.push(("feed_forward_hidden", values(fed.hidden.clone())));
        all.push(("feed_forward_residual", values(fed.residual.clone())));
    }
    all
}

#[test]
fn forward_passes_follow_from_the_definition() {
    let mut draw = Draw(1);
    for number in 0..300 {
        let case = Case::new(&mut draw);
        let output = case
            .model(&Device::flex())
            .forward(case.tokens(&Device::flex()));
        let definition = case.definition();
        let exact: Vec<Values> = case
            .samples()
            .map(|tokens| definition.forward(tokens))
            .collect();
        let check = |what: &str, ours: &[f64], of: &dyn Fn(&Values) -> &[f64]| {
            let expected: Vec<f64> = exact.iter().flat_map(of).copied().collect();
            assert_eq!(
                ours.len(),
                expected.len(),
                "{number}: {what}: {:#?}",
                case.config
            );
            let largest = expected.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            for (ours, expected) in ours.iter().zip(expected) {
                let apart = (ours - expected).abs() / largest;
                assert!(
                    apart < 1e-4,
                    "{number}: {what}: {ours} {expected} {:#?}",
                    case.config
                );
            }
        };
        check("embeddings", &values(output.embeddings), &|all| {
            &all.embeddings
        });
        for (layer, block) in output.layers.iter().enumerate() {
            let arrays = of_block(block);
            assert_eq!(arrays.len(), exact[0].blocks[layer].len());
            for (name, ours) in arrays {
                check(name, &ours, &|all| &all.blocks[layer][name]);
            }
        }
        check("read", &values(output.pooled), &|all| &all.read);
        let hidden = output.classifier_hidden.map(values).unwrap_or_default();
        check("hidden", &hidden, &|all| &all.classifier_hidden);
        check("logits", &values(output.logits), &|all| &all.logits);
    }
}

/// The gradient of the sum of the logits' squares.
#[test]
fn gradients_follow_from_the_definition() {
    let (mut draw, device) = (Draw(2), Device::flex().autodiff());
    for number in 0..100 {
        let case = Case::new(&mut draw);
        let model = case.model(&device);
        let loss = model.forward(case.tokens(&device)).logits.square().sum();
        let gradient = gradients(&model, loss.backward());
        let mut definition = case.definition();
        let steepest = gradient.iter().fold(1e-3_f64, |most, x| most.max(x.abs()));
        for _ in 0..40 {
            let element = draw.below(gradient.len());
            let mut loss_with = |change: f64| -> f64 {
                definition.parameters[element] += change;
                let logits = case
                    .samples()
                    .flat_map(|tokens| definition.forward(tokens).logits);
                let loss = logits.map(|z| z * z).sum();
                definition.parameters[element] -= change;
                loss
            };
            let slope = (loss_with(1e-6) - loss_with(-1e-6)) / 2e-6;
            let (ours, config) = (gradient[element], &case.config);
            assert!(
                (ours - slope).abs() < 1e-3 * slope.abs() + 1e-5 * steepest,
                "{number}: {element}: {ours} {slope} of {steepest} {config:#?}"
            );
        }
    }
}

/// Those of all parameters, one after the other.
fn gradients(model: &TransformerClassifier, mut gradients: Gradients) -> Vec<f64> {
    struct Collect<'a>(&'a mut Gradients, Vec<f64>);
    impl ModuleVisitor for Collect<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let parameter = param.val();
            // The logits do not depend on each parameter, such as the queries' where weights are constant.
            let gradient = parameter.grad_remove(self.0);
            let gradient = gradient.unwrap_or_else(|| parameter.inner().zeros_like());
            self.1.extend(values(gradient));
        }
    }
    let mut collect = Collect(&mut gradients, Vec::new());
    model.visit(&mut collect);
    collect.1
}
