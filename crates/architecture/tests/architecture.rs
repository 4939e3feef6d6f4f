//! Sizes and switches, parameters by name and shape, initial weights, masks.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::inputs;
use headlight_architecture::{
    Initializer, Inputs, Layer, Mask, ModelConfig, Parameter, Pooling, Positions, ProjectionKind,
};
use headlight_data::Stream;

fn notebook(seed: u64) -> Vec<Parameter> {
    ModelConfig::new(8, 1, 1).initial_parameters(inputs(51, 7), &mut Stream::Weights.rng(seed))
}

#[test]
fn the_notebooks_model_has_777_parameters_with_these_names() {
    let (config, inputs) = (ModelConfig::new(8, 1, 1), inputs(51, 7));
    assert_eq!(config.parameter_count(inputs), 777);
    let names: Vec<(String, Vec<usize>)> = notebook(0)
        .into_iter()
        .map(|parameter| (parameter.name, parameter.shape))
        .collect();
    let block = |part: &str, shape: &[usize]| (format!("blocks.0.{part}"), shape.to_vec());
    let expected = [
        ("token_embedding".to_owned(), vec![51, 8]),
        ("position_embedding".to_owned(), vec![7, 8]),
        block("attention.query.weight", &[8, 8]),
        block("attention.query.bias", &[8]),
        block("attention.key.weight", &[8, 8]),
        block("attention.key.bias", &[8]),
        block("attention.value.weight", &[8, 8]),
        block("attention.value.bias", &[8]),
        block("attention.output.weight", &[8, 8]),
        block("attention.output.bias", &[8]),
        block("norm.gamma", &[8]),
        block("norm.beta", &[8]),
        ("classifier.weight".to_owned(), vec![8, 1]),
        ("classifier.bias".to_owned(), vec![1]),
    ];
    assert_eq!(names, expected);
    let layer = |name: &str, output: &[usize], parameters| Layer {
        name: name.to_owned(),
        output: output.to_vec(),
        parameters,
    };
    assert_eq!(
        config.layers(inputs),
        [
            layer("tokens", &[7], 0),
            layer("token_embedding", &[7, 8], 408),
            layer("position_embedding", &[7, 8], 56),
            layer("blocks.0.attention", &[7, 8], 288),
            layer("blocks.0.attention weights", &[1, 7, 7], 0),
            layer("blocks.0.norm", &[7, 8], 16),
            layer("classifier", &[1], 9),
        ]
    );
}

#[test]
fn every_switch_has_its_parameters() {
    let mut config = ModelConfig::new(4, 2, 2);
    (config.d_ff, config.positions) = (6, Positions::None);
    config.attention.projections = ProjectionKind::Shared;
    let layout = config.layout(inputs(5, 3));
    let found: Vec<String> = layout
        .iter()
        .map(|own| format!("{} {:?} {}", own.name, own.shape, own.size()))
        .collect();
    let mut expected = vec!["token_embedding [5, 4] 20".to_owned()];
    for block in 0..2 {
        let parts = [
            "attention.shared.weight [4, 4] 16",
            "attention.shared.bias [4] 4",
            "attention.output.weight [4, 4] 16",
            "attention.output.bias [4] 4",
            "norm.gamma [4] 4",
            "norm.beta [4] 4",
            "feed_forward.hidden.weight [4, 6] 24",
            "feed_forward.hidden.bias [6] 6",
            "feed_forward.output.weight [6, 4] 24",
            "feed_forward.output.bias [4] 4",
            "feed_forward.norm.gamma [4] 4",
            "feed_forward.norm.beta [4] 4",
        ];
        expected.extend(parts.map(|part| format!("blocks.{block}.{part}")));
    }
    expected.extend(["classifier.weight [4, 1] 4", "classifier.bias [1] 1"].map(str::to_owned));
    assert_eq!(found, expected);
    let hidden = layout
        .iter()
        .find(|own| own.name.ends_with("hidden.weight"));
    let limit = (6.0_f32 / 10.0).sqrt();
    assert_eq!(hidden.unwrap().initial, Initializer::Uniform(limit));

    let layers = config.layers(inputs(5, 3));
    let feed_forward = Layer {
        name: "blocks.1.feed_forward".to_owned(),
        output: vec![3, 4],
        parameters: 66,
    };
    assert!(layers.contains(&feed_forward), "{layers:?}");
    let mut names = layers.iter().map(|layer| layer.name.as_str());
    assert!(!names.any(|name| name.contains("position_embedding")));

    config.attention.projections = ProjectionKind::None;
    let bare = config.layout(inputs(5, 3));
    assert!(!bare.iter().any(|own| own.name.contains("shared")));
    assert_eq!(bare.len(), layout.len() - 4);
}

#[test]
fn initial_weights_are_kerass() {
    let limit = |name: &str| match name {
        "token_embedding" | "position_embedding" => Some(0.05),
        "classifier.weight" => Some((6.0_f32 / 9.0).sqrt()),
        name if name.ends_with(".weight") => Some((6.0_f32 / 16.0).sqrt()),
        _ => None,
    };
    let models: Vec<Vec<Parameter>> = (0..20).map(notebook).collect();
    for (index, parameter) in models[0].iter().enumerate() {
        let over_seeds: Vec<f32> = models
            .iter()
            .flat_map(|model| model[index].values.clone())
            .collect();
        if let Some(limit) = limit(&parameter.name) {
            let largest = over_seeds
                .iter()
                .fold(0.0_f32, |most, value| most.max(value.abs()));
            assert!(
                largest <= limit && largest > 0.95 * limit,
                "{}: {largest}",
                parameter.name
            );
            let mean = over_seeds.iter().sum::<f32>() / over_seeds.len() as f32;
            let error = limit / (3.0 * over_seeds.len() as f32).sqrt();
            assert!(mean.abs() < 4.0 * error, "{}: mean {mean}", parameter.name);
        } else {
            let constant = if parameter.name.ends_with("gamma") {
                1.0
            } else {
                0.0
            };
            assert!(
                over_seeds
                    .iter()
                    .all(|&value| value.to_bits() == f32::to_bits(constant)),
                "{}",
                parameter.name
            );
        }
    }
    assert_eq!(notebook(3), notebook(3));
    assert_ne!(notebook(3), notebook(4));
}

#[test]
fn each_difference_is_listed() {
    let layout = ModelConfig::new(8, 1, 1).layout(inputs(51, 7));
    let mut parameters = notebook(0);
    parameters.reverse();
    let arranged = Parameter::arrange(parameters.clone(), &layout);
    assert_eq!(arranged.unwrap(), notebook(0));
    parameters.reverse();
    parameters.retain(|parameter| parameter.name != "classifier.bias");
    parameters[0].shape = vec![8, 51];
    parameters[2].values[5] = f32::INFINITY;
    parameters.push(Parameter {
        name: "pooler.weight".to_owned(),
        shape: vec![1],
        values: vec![0.0],
    });
    let message = Parameter::arrange(parameters, &layout).unwrap_err();
    assert_eq!(
        message,
        "`token_embedding` has shape [8, 51], not [51, 8]; \
         `blocks.0.attention.query.weight` holds NaN or infinity; \
         `classifier.bias` [1] is missing; \
         `pooler.weight` is not a parameter of this model; matrices are [in, out]: transpose each one, square ones too"
    );
}

#[test]
fn masks_that_do_not_fit_are_named() {
    for (rows, part) in [
        (vec![vec![true; 3]; 2], "2 rows; there are 3 queries"),
        (
            vec![vec![true; 3], vec![true; 2], vec![true; 3]],
            "row 1 of the mask has 2 columns",
        ),
    ] {
        let mut config = ModelConfig::new(4, 1, 1);
        config.attention.mask = Mask::Matrix(rows);
        let error = config.validate_for(inputs(20, 3)).unwrap_err();
        assert_eq!(error.key, "attention.mask");
        assert!(error.message.contains(part), "{error}");
    }
}

/// With a label per position, the classifier answers at each.
#[test]
fn a_summary_has_the_answers_of_each_position() {
    let one = inputs(5, 4);
    let each = Inputs {
        per_position: true,
        n_classes: 3,
        ..one
    };
    let model = ModelConfig {
        final_norm: Some(true),
        ..ModelConfig::new(8, 1, 1)
    };
    let last = |model: &ModelConfig, inputs: Inputs| {
        let layers = model.layers(inputs);
        let last = layers.iter().rev().take(2);
        last.map(|layer| layer.output.clone()).collect::<Vec<_>>()
    };
    assert_eq!(last(&model, one), [vec![1], vec![8]]);
    assert_eq!(last(&model, each), [vec![4, 3], vec![4, 8]]);
    let mean = ModelConfig {
        pooling: Some(Pooling::Mean),
        ..model
    };
    assert_eq!(last(&mean, one), [vec![1], vec![4, 8]]);
}
