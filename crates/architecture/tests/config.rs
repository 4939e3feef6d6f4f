//! Config keys of a model: defaults, limits, and what TOML or JSON may hold.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

mod common;

use common::inputs;
use headlight_architecture::{
    AttentionConfig, Mask, ModelConfig, Positions, ProjectionKind, Scale,
};
use headlight_schema::Value as _;
use serde_json::{Map, Value, from_str, from_value, json, to_value};

fn model(change: impl FnOnce(&mut ModelConfig)) -> ModelConfig {
    let mut config = ModelConfig::new(8, 2, 1);
    change(&mut config);
    config
}

#[test]
fn keys_that_are_left_out_have_the_notebooks_values() {
    let config: ModelConfig = from_value(json!({ "d_model": 8 })).unwrap();
    assert_eq!(config, ModelConfig::new(8, 1, 1));
    assert_eq!((config.layer_norm_eps, config.d_ff), (1e-6, 0));
    assert_eq!(config.positions, Positions::Learned);
    let attention = AttentionConfig::default();
    assert_eq!(config.attention, attention);
    assert_eq!((attention.scale, attention.temperature), (Scale::Root, 1.0));
    assert_eq!(attention.projections, ProjectionKind::Separate);
    assert!(from_value::<ModelConfig>(json!({ "d_model": 8, "heads": 2 })).is_err());
}

/// Keys beside eight components and two heads, and the key that is invalid, if one is.
const LIMITS: &str = r#"
{ "d_model": 4096 }                                        |
{ "d_model": 4097 }                                        | d_model
{ "d_model": 0 }                                           | d_model
{ "d_model": 4096, "n_heads": 4096 }                       |
{ "n_heads": 4097 }                                        | n_heads
{ "n_heads": 3 }                                           | n_heads
{ "n_heads": 0 }                                           | n_heads
{ "n_layers": 64 }                                         |
{ "n_layers": 65 }                                         | n_layers
{ "n_layers": 0 }                                          | n_layers
{ "d_ff": 16384 }                                          |
{ "d_ff": 16385 }                                          | d_ff
{ "layer_norm_eps": 1e-12 }                                |
{ "layer_norm_eps": 1e-46 }                                | layer_norm_eps
{ "layer_norm_eps": -1 }                                   | layer_norm_eps
{ "attention": { "temperature": 0.5 } }                    |
{ "attention": { "temperature": 0 } }                      | attention.temperature
{ "attention": { "temperature": -1 } }                     | attention.temperature
{ "attention": { "scale": 1e39 } }                         | attention.scale
{ "attention": { "scale": 1e39, "temperature": 10 } }      |
"#;

#[test]
fn limits_belong_to_the_valid_values() {
    for line in LIMITS.trim().lines() {
        let (keys, key) = line.split_once('|').unwrap();
        let mut all = json!({ "d_model": 8, "n_heads": 2 });
        let own: Map<String, Value> = from_str(keys).unwrap();
        all.as_object_mut().unwrap().extend(own);
        let config: ModelConfig = from_value(all).unwrap();
        let found = config.validate().err().map(|invalid| invalid.key);
        assert_eq!(found.unwrap_or_default(), key.trim(), "{line}");
    }
    for number in [f64::NAN, f64::INFINITY] {
        let eps = model(|own| own.layer_norm_eps = number);
        assert_eq!(eps.validate().unwrap_err().key, "layer_norm_eps");
        let temperature = model(|own| own.attention.temperature = number);
        assert_eq!(
            temperature.validate().unwrap_err().key,
            "attention.temperature"
        );
    }
}

#[test]
fn padding_is_a_token_other_than_cls() {
    for (token, valid) in [(0, false), (1, true), (19, true), (20, false)] {
        let config = model(|own| own.attention.padding_token = Some(token));
        let error = config.validate_for(inputs(20, 3)).err();
        assert_eq!(error.is_none(), valid, "{token}");
        if let Some(error) = error {
            assert_eq!(error.key, "attention.padding_token");
            assert!(error.message.contains("1 to 19"), "{error}");
        }
    }
}

#[test]
fn heads_divide_the_width_and_scores_the_root_of_it() {
    let config = ModelConfig::new(32, 2, 1);
    assert_eq!(config.d_head(), 16);
    let factor = |scale, temperature| {
        let attention = AttentionConfig {
            scale,
            temperature,
            ..AttentionConfig::default()
        };
        attention.factor(config.d_head())
    };
    assert_eq!(factor(Scale::Root, 1.0), 0.25);
    assert_eq!(factor(Scale::Root, 2.0), 0.125);
    assert_eq!(factor(Scale::Off, 4.0), 0.25);
    assert_eq!(factor(Scale::Factor(3.0), 0.5), 6.0);
}

#[test]
fn a_scale_is_a_switch_or_a_number() {
    for (written, scale) in [
        (json!(true), Scale::Root),
        (json!(false), Scale::Off),
        (json!(0.5), Scale::Factor(0.5)),
        (json!(2), Scale::Factor(2.0)),
        (json!(-2), Scale::Factor(-2.0)),
    ] {
        assert_eq!(from_value::<Scale>(written).unwrap(), scale);
        assert_eq!(
            from_value::<Scale>(to_value(scale).unwrap()).unwrap(),
            scale
        );
    }
    assert_eq!(to_value(Scale::Off).unwrap(), json!(false));
    let message = from_value::<Scale>(json!("root")).unwrap_err().to_string();
    assert!(message.contains("true, false or a number"), "{message}");
}

#[test]
fn a_mask_is_a_word_or_a_matrix() {
    let matrix = Mask::Matrix(vec![vec![true, false], vec![false, true]]);
    for (written, mask) in [
        (json!("none"), Mask::None),
        (json!("causal"), Mask::Causal),
        (json!([[1, 0], [false, true]]), matrix.clone()),
    ] {
        assert_eq!(from_value::<Mask>(written.clone()).unwrap(), mask);
        // TOML writes names as JSON does; a matrix has no short form.
        let name = written.is_string().then(|| written.to_string());
        assert_eq!(mask.written(), name);
        assert_eq!(from_value::<Mask>(to_value(&mask).unwrap()).unwrap(), mask);
    }
    assert_eq!(to_value(&matrix).unwrap(), json!([[1, 0], [0, 1]]));
    let refused = |written: Value| from_value::<Mask>(written).unwrap_err().to_string();
    assert!(refused(json!("all")).contains("\"causal\""));
    assert!(refused(json!(1)).contains("matrix of 0 or 1"));
    for cell in [json!(2), json!(-1), json!(u64::MAX), json!("1")] {
        let message = refused(json!([[cell]]));
        assert!(message.contains("0 or 1, true or false"), "{message}");
    }
}

#[test]
fn a_causal_mask_ends_at_the_query_itself() {
    assert_eq!(Mask::None.matrix(2, 3), Ok(None));
    let causal = [true, false, false, true, true, false];
    assert_eq!(Mask::Causal.matrix(2, 3), Ok(Some(causal.to_vec())));
    let matrix = Mask::Matrix(vec![vec![true, false, true], vec![false, true, false]]);
    let rows = [true, false, true, false, true, false];
    assert_eq!(matrix.matrix(2, 3), Ok(Some(rows.to_vec())));
}
