//! What a model computes for some samples.

use headlight_architecture::{Layout, Parameter};
use headlight_data::Dataset;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::forward;
use headlight_experiment::metrics::probabilities;
use serde_json::json;

use crate::message::Message;

/// An array of a dump, by its name there.
pub(crate) type Array = (&'static str, Vec<f32>);

/// The first arrays, which a training keeps of each step.
pub(crate) const WATCHED: usize = 4;

/// The arrays of a dump of some samples.
///
/// # Errors
/// When the parameters do not suit the config.
pub(crate) fn arrays(
    config: &ExperimentConfig,
    parameters: &[Parameter],
    samples: &Dataset,
) -> Result<(Vec<Array>, Vec<bool>), String> {
    let chosen: Vec<u32> = (0..samples.len() as u32).collect();
    let all = forward(config, parameters, samples, &chosen, &[]);
    let all = all.map_err(|error| error.to_string())?;
    let logits = all.predictions.logits;
    // As in a dump: computed from the logits in float64.
    let wide: Vec<f64> = logits.iter().map(|&logit| logit.into()).collect();
    let each = wide
        .chunks(config.inputs().n_logits())
        .flat_map(probabilities);
    let arrays = vec![
        (
            "probabilities",
            each.map(|probability| probability as f32).collect(),
        ),
        ("logits", logits),
        ("attention_scores", all.scores),
        ("attention_weights", all.weights),
        ("query", all.query),
        ("key", all.key),
        ("value", all.value),
        ("context", all.context),
        ("embeddings", all.embeddings),
        ("residual", all.residual),
        ("feed_forward_hidden", all.hidden),
        ("feed_forward_residual", all.feed_forward_residual),
    ];
    Ok((arrays, all.mask))
}

/// Names and lengths of arrays.
pub(crate) fn lengths(arrays: &[Array]) -> Vec<(&'static str, usize)> {
    let lengths = arrays.iter().map(|(name, values)| (*name, values.len()));
    lengths.collect()
}

/// Samples with `[CLS]`, as a dataset whose labels mean nothing.
///
/// # Errors
/// When one does not suit the config.
pub(crate) fn dataset(config: &ExperimentConfig, tokens: &[Vec<u32>]) -> Result<Dataset, String> {
    let inputs = config.inputs();
    let mut samples = Dataset::empty(config.data.seq_len);
    for tokens in tokens {
        if tokens.len() != inputs.positions || tokens[inputs.cls_position] != 0 {
            let count = inputs.positions - 1;
            return Err(format!("a sample has {count} tokens and [CLS]"));
        }
        if let Some(token) = tokens
            .iter()
            .find(|&&token| token as usize >= inputs.vocab_size)
        {
            let size = inputs.vocab_size;
            return Err(format!(
                "token {token} is not below data.vocab_size, {size}"
            ));
        }
        samples.push(tokens, 0);
    }
    Ok(samples)
}

/// Computes samples with the given weights.
///
/// # Errors
/// When the weights or the samples do not suit the config.
pub(crate) fn look(
    config: &ExperimentConfig,
    tokens: &[Vec<u32>],
    weights: &[f32],
) -> Result<Message, String> {
    let samples = dataset(config, tokens)?;
    let (arrays, mask) = arrays(config, &parameters(config, weights)?, &samples)?;
    let mask: Vec<u8> = mask.into_iter().map(u8::from).collect();
    let head = json!({ "arrays": lengths(&arrays), "mask": mask });
    let floats = arrays.into_iter().flat_map(|(_, values)| values);
    Ok(Message::of(&head, floats.collect()))
}

/// Computes what a training keeps of some samples, with the weights of each of some steps. The answer also says what a
/// rule makes of the samples: the class of each, and the positions that decide it.
///
/// # Errors
/// As [`look`].
pub(crate) fn watch(
    config: &ExperimentConfig,
    tokens: &[Vec<u32>],
    weights: &[f32],
) -> Result<Message, String> {
    let samples = dataset(config, tokens)?;
    let layout = config.model.layout(config.inputs());
    let size: usize = layout.iter().map(Layout::size).sum();
    let (mut row, mut floats) = (Vec::new(), Vec::new());
    for weights in weights.chunks(size) {
        let (arrays, _) = arrays(config, &parameters(config, weights)?, &samples)?;
        row = lengths(&arrays[..WATCHED]);
        floats.extend(
            arrays
                .into_iter()
                .take(WATCHED)
                .flat_map(|(_, values)| values),
        );
    }
    let rule = config.data.rule.as_ref();
    let judged = rule.map(|rule| {
        let n_classes = config.data.n_classes;
        let judged = tokens.iter();
        let judged = judged.map(|tokens| {
            (
                rule.label_for(tokens, n_classes),
                rule.label_positions(tokens),
            )
        });
        judged.collect::<Vec<_>>()
    });
    Ok(Message::of(
        &json!({ "row": row, "judged": judged }),
        floats,
    ))
}

/// The weights of a config's model, by name.
fn parameters(config: &ExperimentConfig, weights: &[f32]) -> Result<Vec<Parameter>, String> {
    let layout = config.model.layout(config.inputs());
    let size: usize = layout.iter().map(Layout::size).sum();
    if weights.len() != size {
        let count = weights.len();
        return Err(format!(
            "{count} weights were given, and the model has {size}"
        ));
    }
    let mut rest = weights;
    let parameters = layout.iter().map(|own| {
        let (values, others) = rest.split_at(own.size());
        rest = others;
        Parameter {
            name: own.name.clone(),
            shape: own.shape.clone(),
            values: values.to_vec(),
        }
    });
    Ok(parameters.collect())
}
