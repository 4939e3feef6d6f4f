//! Which models have a certificate.

use core::ops::Range;

use headlight_architecture::{Mask, Pooling};
use headlight_data::{LabelRule, Task};

use headlight_experiment::config::ExperimentConfig;

/// The tokens that each position of an input may hold.
pub(super) fn tokens(config: &ExperimentConfig) -> Vec<Range<u32>> {
    let (data, inputs) = (&config.data, config.inputs());
    let all = data.cls.first_token()..data.vocab_size;
    let held = |position: usize| match inputs.cls {
        Some(cls) if cls == position => 0..1,
        _ => all.clone(),
    };
    (0..inputs.positions).map(held).collect()
}

/// How many inputs are possible; `None` if they are too many to count.
pub fn inputs(config: &ExperimentConfig) -> Option<u64> {
    tokens(config).iter().try_fold(1_u64, |product, tokens| {
        product.checked_mul(tokens.len() as u64)
    })
}

/// The rule of a config whose inputs can be drawn at random: it gives every input its class.
///
/// # Errors
/// As the rest of a sentence about a certificate.
pub fn check_rule(config: &ExperimentConfig) -> Result<&LabelRule, String> {
    const NEEDS: &str = "needs a rule that labels every possible input (data.rule)";
    if config.data.task != Task::Classification {
        return Err("needs samples with one label (data.task = \"classification\")".to_owned());
    }
    match &config.data.rule {
        None => Err(format!("{NEEDS}; a file labels only its own samples")),
        Some(rule) if rule.generator().is_some() => {
            Err(format!("{NEEDS}; this config's rule labels only some"))
        }
        Some(rule) => Ok(rule),
    }
}

/// The rule of a config whose model has a certificate.
///
/// # Errors
/// As the rest of a sentence about a certificate.
#[allow(clippy::float_cmp)] // A rate of exactly one is none.
pub fn check(config: &ExperimentConfig) -> Result<&LabelRule, String> {
    let rule = check_rule(config)?;
    let (model, attention, inputs) = (&config.model, &config.model.attention, config.inputs());
    if model.n_layers != 1 {
        return Err(format!(
            "needs a model of one layer, and this one has {}",
            model.n_layers
        ));
    }
    if model.pooling == Some(Pooling::Mean) {
        return Err(
            "needs a model that reads one position, and this one reads the mean of all (model.pooling)"
                .to_owned(),
        );
    }
    if !attention.softmax || attention.rate != 1.0 || attention.padding_token.is_some() {
        return Err(
            "needs weights that are a softmax over keys, without an attention rate and without padding"
                .to_owned(),
        );
    }
    let read = inputs.read_position;
    let sees = |key: usize| attention.mask.allows(read, key);
    if attention.mask != Mask::None && !(0..inputs.positions).any(sees) {
        return Err("needs a query that may look at some key (model.attention.mask)".to_owned());
    }
    if self::inputs(config).is_none() {
        return Err(format!(
            "counts up to 10^19 inputs, and {} positions of {} tokens have more",
            config.data.seq_len,
            config.data.vocab_size - config.data.cls.first_token()
        ));
    }
    Ok(rule)
}
