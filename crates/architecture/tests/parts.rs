//! The parts of a model beyond the notebook's: their parameters, their initial weights, and which go together.
#![allow(missing_docs, clippy::unwrap_used, clippy::too_many_lines)]

use headlight_architecture::{
    DropoutPlace, DropoutRates, Initializer, Inputs, ModelConfig, Parameter, Pooling, Positions,
    mathematics,
};
use headlight_data::Stream;
use serde_json::{Value, from_str, from_value, json, to_value};

fn inputs() -> Inputs {
    Inputs {
        vocab_size: 20,
        positions: 5,
        cls: None,
        read_position: 4,
        n_classes: 20,
        per_position: false,
    }
}

/// A model of width 8 with two heads and these keys.
fn model(keys: &Value) -> ModelConfig {
    let mut all = json!({ "d_model": 8, "n_heads": 2 });
    let own = keys.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(own);
    from_value(all).unwrap()
}

fn names(keys: &Value) -> Vec<String> {
    let layout = model(keys).layout(inputs());
    layout.into_iter().map(|own| own.name).collect()
}

#[test]
fn keys_that_are_unset_are_not_written() {
    let written = to_value(ModelConfig::new(8, 1, 1)).unwrap();
    let expected = json!({
        "d_model": 8, "n_heads": 1, "n_layers": 1, "layer_norm_eps": 1e-6, "d_ff": 0, "positions": true,
        "attention": { "projections": "separate", "scale": true, "temperature": 1.0, "mask": "none" },
    });
    assert_eq!(written, expected);
}

#[test]
fn each_part_has_its_parameters() {
    let table = r#"
        {} has norm.gamma
        { "norm": "none" } lacks norm
        { "norm": "pre" } has final_norm.beta
        { "norm": "pre", "final_norm": false } lacks final_norm
        { "norm_kind": "rms" } lacks norm.beta
        { "norm_kind": "rms", "norm_bias": true } has norm.beta
        { "norm_gain": false } lacks gamma
        { "embedding_norm": true } has embedding_norm.gamma
        { "d_ff": 4 } has feed_forward.hidden.bias
        { "d_ff": 4, "feed_forward_bias": false } lacks feed_forward.hidden.bias
        { "attention": { "bias": false } } lacks query.bias
        { "attention": { "bias": false } } has attention.output.bias
        { "attention": { "output_bias": false } } lacks attention.output.bias
        { "attention": { "value_projection": false } } lacks attention.value
        { "attention": { "output_projection": false } } lacks attention.output
        { "classifier_hidden": 3 } has classifier.hidden.weight
        { "classifier_bias": false } lacks classifier.bias
        { "tied_embeddings": true } lacks classifier.weight
        { "tied_embeddings": true } has classifier.bias
        { "positions": "rotary" } lacks position_embedding
        { "positions": "first" } lacks position_embedding
        { "positions": "learned" } has position_embedding
    "#;
    for line in table.trim().lines() {
        let exists = line.contains("} has ");
        let (keys, part) = line
            .rsplit_once(if exists { " has " } else { " lacks " })
            .unwrap();
        let found = names(&from_str(keys).unwrap());
        let found = found.iter().any(|name| name.contains(part));
        assert_eq!(found, exists, "{line}");
    }
    let shapes = |keys: &Value, name: &str| {
        let layout = model(keys).layout(inputs());
        layout
            .into_iter()
            .find(|own| own.name == name)
            .unwrap()
            .shape
    };
    let wide = json!({ "d_head": 3 });
    assert_eq!(shapes(&wide, "blocks.0.attention.key.weight"), [8, 6]);
    assert_eq!(shapes(&wide, "blocks.0.attention.output.weight"), [6, 8]);
    assert_eq!(
        shapes(&json!({ "positions_shared_from": 2 }), "position_embedding"),
        [3, 8]
    );
    assert_eq!(
        shapes(&json!({ "classifier_hidden": 3 }), "classifier.weight"),
        [3, 20]
    );
}

#[test]
fn a_model_of_two_classes_has_a_logit_for_each_if_it_is_asked_for() {
    assert_eq!(model(&json!({})).n_logits(2), 1);
    assert_eq!(model(&json!({ "logits": "per-class" })).n_logits(2), 2);
    assert_eq!(model(&json!({})).n_logits(3), 3);
}

fn drawn(init: &Value) -> Vec<Parameter> {
    let keys = json!({ "d_ff": 32, "n_layers": 2, "init": init });
    model(&keys).initial_parameters(inputs(), &mut Stream::Weights.rng(3))
}

/// The bounds and standard deviations of PyTorch are those of `reset_parameters` of its modules.
#[test]
fn each_scheme_has_its_distributions() {
    let initial = |init: Value, name: &str| {
        let layout = model(&json!({ "d_ff": 32, "init": init })).layout(inputs());
        layout
            .into_iter()
            .find(|own| own.name == name)
            .unwrap()
            .initial
    };
    let uniform = |limit: f64| Initializer::Uniform(limit as f32);
    let pytorch = || json!({ "scheme": "pytorch" });
    let query = "blocks.0.attention.query.weight";
    assert_eq!(
        initial(json!({ "scheme": "keras" }), query),
        uniform((6.0_f64 / 16.0).sqrt())
    );
    assert_eq!(initial(pytorch(), query), uniform((6.0_f64 / 32.0).sqrt()));
    assert_eq!(
        initial(pytorch(), "blocks.0.attention.output.bias"),
        Initializer::Constant(0.0)
    );
    assert_eq!(
        initial(pytorch(), "blocks.0.attention.output.weight"),
        uniform(8.0_f64.powf(-0.5))
    );
    assert_eq!(
        initial(pytorch(), "blocks.0.feed_forward.output.bias"),
        uniform(32.0_f64.powf(-0.5))
    );
    assert_eq!(
        initial(pytorch(), "token_embedding"),
        Initializer::Normal(1.0)
    );
    let lens = json!({ "scheme": "transformer-lens" });
    assert_eq!(
        initial(lens, "classifier.weight"),
        Initializer::Normal(0.8 / 8.0_f64.sqrt())
    );
    let normal = json!({ "scheme": "normal", "std": { "all": 0.5, "classifier": "2/sqrt(d_ff)" } });
    assert_eq!(initial(normal.clone(), query), Initializer::Normal(0.5));
    assert_eq!(
        initial(normal, "classifier.weight"),
        Initializer::Normal(2.0 / 32.0_f64.sqrt())
    );
}

#[test]
fn normal_draws_have_their_mean_variance_and_tails() {
    let config = from_value::<ModelConfig>(json!({
        "d_model": 100, "init": { "scheme": "normal", "std": { "all": 2.0 } },
    }));
    let inputs = Inputs {
        vocab_size: 1000,
        ..inputs()
    };
    let parameters = config
        .unwrap()
        .initial_parameters(inputs, &mut Stream::Weights.rng(0));
    let values: Vec<f64> = parameters[0]
        .values
        .iter()
        .map(|&value| f64::from(value) / 2.0)
        .collect();
    let count = values.len() as f64;
    let moment = |power: i32| values.iter().map(|value| value.powi(power)).sum::<f64>() / count;
    // Each within five standard errors of 100,000 draws.
    assert!(moment(1).abs() < 0.016, "{}", moment(1));
    assert!((moment(2) - 1.0).abs() < 0.023, "{}", moment(2));
    assert!((moment(4) - 3.0).abs() < 0.16, "{}", moment(4));
    let beyond = values.iter().filter(|value| value.abs() > 1.96).count() as f64 / count;
    assert!((beyond - 0.05).abs() < 0.0035, "{beyond}");
}

#[test]
fn blocks_start_as_copies_if_they_are_asked_to() {
    let of_block = |parameters: &[Parameter], block: usize| -> Vec<Vec<f32>> {
        let prefix = format!("blocks.{block}.");
        let own = parameters
            .iter()
            .filter(|own| own.name.starts_with(&prefix));
        own.map(|own| own.values.clone()).collect()
    };
    let copies = drawn(&json!({ "copy_blocks": true }));
    assert_eq!(of_block(&copies, 0), of_block(&copies, 1));
    let others = drawn(&json!({}));
    assert_ne!(of_block(&others, 0), of_block(&others, 1));
    assert_eq!(of_block(&others, 0), of_block(&copies, 0));
}

#[test]
fn tables_of_positions_are_the_definitions() {
    let table = Positions::Sinusoidal.table(6, 8).unwrap();
    for (position, row) in table.chunks(8).enumerate() {
        for (i, &value) in row.iter().enumerate() {
            let angle = position as f64 / 10_000_f64.powf((i / 2 * 2) as f64 / 8.0);
            let exact = if i % 2 == 0 { angle.sin() } else { angle.cos() };
            assert!((f64::from(value) - exact).abs() < 1e-7);
        }
    }
    let first = Positions::First.table(3, 2).unwrap();
    assert_eq!(first, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    let [cosines, sines] = Positions::Rotary.rotation(50, 6).unwrap();
    for (index, (cosine, sine)) in cosines.iter().zip(&sines).enumerate() {
        let (position, pair) = (index / 3, index % 3);
        let angle = position as f64 / 10_000_f64.powf(2.0 * pair as f64 / 6.0);
        assert!((f64::from(*cosine) - angle.cos()).abs() < 1e-7);
        assert!((f64::from(*sine) - angle.sin()).abs() < 1e-7);
    }
    assert!(Positions::Learned.table(3, 2).is_none() && Positions::First.rotation(3, 2).is_none());
    assert!((mathematics::exp(1.0) - std::f64::consts::E).abs() < 1e-15);
}

#[test]
fn names_and_older_switches_are_read() {
    for (written, positions) in [
        (json!(true), Positions::Learned),
        (json!("learned"), Positions::Learned),
        (json!(false), Positions::None),
        (json!("none"), Positions::None),
        (json!("rotary"), Positions::Rotary),
    ] {
        assert_eq!(from_value::<Positions>(written).unwrap(), positions);
    }
    assert_eq!(to_value(Positions::None).unwrap(), json!(false));
    assert_eq!(to_value(Positions::First).unwrap(), json!("first"));
    let message = from_value::<Positions>(json!("alibi"))
        .unwrap_err()
        .to_string();
    assert!(message.contains("sinusoidal"), "{message}");
    for (written, pooling) in [
        (json!("mean"), Pooling::Mean),
        (json!(2), Pooling::Position(2)),
    ] {
        assert_eq!(from_value::<Pooling>(written.clone()).unwrap(), pooling);
        assert_eq!(to_value(pooling).unwrap(), written);
    }
    assert!(from_value::<Pooling>(json!(-1)).is_err());
}

#[test]
fn combinations_that_mean_nothing_are_refused_by_key() {
    let table = r#"
        { "n_heads": 3 }: n_heads
        { "positions": "rotary", "d_head": 3 }: d_head
        { "positions": "rotary", "n_heads": 8 }: positions
        { "positions": "first", "positions_shared_from": 2 }: positions_shared_from
        { "positions_shared_from": 5 }: positions_shared_from
        { "norm": "none", "norm_kind": "rms" }: norm_kind
        { "norm": "none", "norm_bias": false }: norm_bias
        { "activation": "gelu" }: activation
        { "feed_forward_bias": false }: feed_forward_bias
        { "pooling": "cls" }: pooling
        { "pooling": 5 }: pooling
        { "logits": "per-class" }: logits
        { "tied_embeddings": true, "classifier_hidden": 2 }: tied_embeddings
        { "d_head": 3, "attention": { "projections": "none" } }: attention.projections
        { "d_head": 3, "attention": { "value_projection": false } }: attention.value_projection
        { "d_head": 3, "attention": { "output_projection": false } }: attention.output_projection
        { "attention": { "projections": "shared", "value_projection": false } }: attention.value_projection
        { "attention": { "rate": 0.5, "softmax": false } }: attention.rate
        { "attention": { "rate": 1.5 } }: attention.rate
        { "attention": { "output_projection": false, "output_bias": false } }: attention.output_bias
        { "attention": { "projections": "none", "bias": false } }: attention.bias
        { "attention": { "padding_token": 20 } }: attention.padding_token
        { "init": { "std": { "all": 0.1 } } }: init.std
        { "init": { "scheme": "normal" } }: init.std.token_embedding
    "#;
    for line in table.trim().lines() {
        let (keys, key) = line.rsplit_once(": ").unwrap();
        let config = model(&from_str(keys).unwrap());
        let checked = config
            .validate()
            .and_then(|()| config.validate_for(inputs()));
        let error = checked.unwrap_err();
        assert_eq!(error.key, key, "{line}: {error}");
    }
    let few = Inputs {
        n_classes: 3,
        ..inputs()
    };
    let tied = model(&json!({ "tied_embeddings": true }));
    assert_eq!(tied.validate_for(few).unwrap_err().key, "tied_embeddings");
    assert!(tied.validate_for(inputs()).is_ok());
    for std in [json!("1/sqrt(width)"), json!("one"), json!(-1), json!(true)] {
        let keys = json!({ "d_model": 8, "init": { "std": { "all": std } } });
        assert!(from_value::<ModelConfig>(keys).is_err());
    }
}

/// What is left out at times is larger when it is kept, so that its mean stays as it is, at any rate.
#[test]
fn dropout_keeps_the_mean() {
    for rate in [1e-6, 0.1, 0.5, 0.999, 0.999_99, 1.0 - 1e-7] {
        let rates = DropoutRates {
            hidden: rate,
            ..DropoutRates::default()
        };
        let dropped = rates.threshold_and_factor(DropoutPlace::Hidden(0));
        let mean = dropped.map_or(1.0, |(threshold, factor)| {
            (1.0 - f64::from(threshold) / 65_536.0) * f64::from(factor)
        });
        assert!((mean - 1.0).abs() < 1e-6, "{rate}: {mean}");
    }
}
