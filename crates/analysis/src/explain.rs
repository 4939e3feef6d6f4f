//! Which words decided: a sample's prediction without each of its words (leave-one-out), and integrated gradients,
//! beside attention.
//!
//! `removal.rs` says what leaving a word out means.

use headlight_architecture::{ReadoutAttention, StrongestHead, is_uniform, strongest_head};
use headlight_data::Dataset;
use headlight_data::words::UNK;

use crate::removal::forward_without;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, FrozenModel, Recording};
use headlight_experiment::metrics::{cross_entropy, predicted_class};
use headlight_experiment::readout::head_note;

/// What each word of a sample does to its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The predicted class.
    pub predicted: u32,
    /// Its probability.
    pub probability: f64,
    /// The last layer.
    pub layer: usize,
    /// Its strongest head, whose attention is shown: that from `[CLS]`, or from the readout position
    /// ([`ExperimentConfig::readout_position`]). So are all weights below.
    pub head: StrongestHead,
    /// Which head that is, and why, as a sentence; `None` of a model with one.
    pub which_head: Option<String>,
    /// Whether this attention is close to uniform.
    pub is_uniform: bool,
    /// Uniform attention: 1 / the keys that this position may look at. `None` if there are none, or without a softmax.
    pub uniform: Option<f64>,
    /// The words, or the tokens of a sample without words; neither `[CLS]` nor padding.
    pub words: Vec<Word>,
    /// The words of the text that the sample has no room for.
    pub cut: Vec<String>,
    /// What integrated gradients explain, if they were asked for.
    pub gradients: Option<Gradients>,
}

/// A word of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// Its position, `[CLS]` counted.
    pub position: usize,
    /// Its token.
    pub token: u32,
    /// As the user wrote it, or else the token's text.
    pub text: String,
    /// Whether the vocabulary lacks it, so that the model sees `[UNK]`.
    pub is_unknown: bool,
    /// The weight that it gets.
    pub weight: f64,
    /// Whether it may be looked at.
    pub is_key: bool,
    /// The weight in multiples of uniform attention; `None` where it may not be looked at, or without a softmax.
    pub attention: Option<f64>,
    /// The probability of the predicted class if the word is left out.
    pub probability_without: f64,
    /// The class that is predicted if the word is left out.
    pub predicted_without: u32,
    /// What the word's input adds to the logit: integrated gradients, summed over the input's numbers; `None` if they were not asked
    /// for.
    pub gradient: Option<f64>,
}

/// Integrated gradients of a sample, from an input of zeros: `logit = baseline + cls + padding + the words' gradients`, up to the
/// error of the integral.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradients {
    /// The logit of the predicted class; of two classes, its log-odds.
    pub logit: f64,
    /// The same for an input of zeros.
    pub baseline: f64,
    /// What the input of `[CLS]` adds; 0 if samples do not have it.
    pub cls: f64,
    /// What the inputs of padding add; `None` if the sample has none.
    pub padding: Option<f64>,
}

/// Explains the prediction of a sample. `written` has the words of its text as the user wrote them, those that are cut
/// among them; for samples of tokens it is empty. `head` is the strongest one in the samples that the model's run shows, if it is
/// known. Without integrated gradients, it takes a small part of the time.
///
/// # Errors
/// When the weights do not match the config, or the model's output is not finite.
pub fn explain(
    config: &ExperimentConfig,
    weights: &[f32],
    dataset: &Dataset,
    sample: u32,
    written: &[String],
    head: Option<StrongestHead>,
    with_gradients: bool,
) -> Result<Explanation, Error> {
    if dataset.is_per_position() {
        return Err(Error::Input(
            "the model answers at each position; only a model with one answer per sample can be explained"
                .to_owned(),
        ));
    }
    let mut frozen = FrozenModel::new(config)?;
    let tokens = dataset.tokens(sample as usize);
    let (layer, inputs) = (config.model.n_layers - 1, config.inputs());
    let (read, cls) = (config.readout_position(tokens), inputs.cls);
    let whole = frozen.forward(weights, dataset, &[sample], &[], Recording::Attention)?;
    let logits = |logits: &[f32]| -> Vec<f64> { logits.iter().map(|&one| one.into()).collect() };
    let whole_logits = logits(&whole.predictions.logits);
    if !whole_logits.iter().all(|logit| logit.is_finite()) {
        return Err(Error::not_finite(""));
    }
    let predicted = predicted_class(&whole_logits);

    let row_of = |head: usize| whole.at(Array::Weights, &[0, layer, head, read]);
    let look = ReadoutAttention::alone(
        (0..config.model.n_heads).map(row_of).collect(),
        config.model.attention.keys(read, tokens),
    );
    let sample_head = || strongest_head(std::slice::from_ref(&look));
    let of_run = head.is_some();
    let head = head.or_else(sample_head).unwrap_or(StrongestHead::FIRST);
    let which_head = (config.model.n_heads > 1).then(|| head_note(layer, head, of_run));
    let row = look.weights[head.head];
    let uniform = look.keys.uniform_each();
    let is_uniform = is_uniform([(&look.keys, row)]);

    let gradients = with_gradients.then(|| gradients(config, weights, dataset, sample, predicted));
    let (gradients, per_position) = gradients.transpose()?.unzip();
    let padding = config.model.attention.padding_token;
    let positions = (0..tokens.len()).filter(|&position| Some(position) != cls);
    let mut words = Vec::new();
    for (index, position) in positions.enumerate() {
        let token = tokens[position];
        if Some(token) == padding {
            continue;
        }
        let only = Recording::Predictions;
        let model = (config, weights);
        let without = forward_without(&mut frozen, model, dataset, &[sample], &[position], only)?;
        let without = logits(&without.predictions.logits);
        let weight = f64::from(row[position]);
        let times = look.keys.times_uniform(weight);
        words.push(Word {
            position,
            token,
            text: match written.get(index) {
                Some(word) => word.clone(),
                None => config.data.token_text(token, padding),
            },
            is_unknown: config.data.words.is_some() && token == UNK,
            weight,
            is_key: look.keys.contains(position),
            attention: times.filter(|_| look.keys.contains(position)),
            probability_without: probability(&without, predicted),
            predicted_without: predicted_class(&without),
            gradient: per_position.as_ref().map(|gradients| gradients[position]),
        });
    }
    Ok(Explanation {
        predicted,
        probability: probability(&whole_logits, predicted),
        layer,
        head,
        which_head,
        is_uniform,
        uniform,
        cut: written.iter().skip(config.data.seq_len).cloned().collect(),
        words,
        gradients,
    })
}

/// The probability of a class. It keeps the digits of small ones, which one minus the other's would lose.
fn probability(logits: &[f64], class: u32) -> f64 {
    (-cross_entropy(logits, class)).exp()
}

/// Integrated gradients towards the predicted class, and what each position adds.
fn gradients(
    config: &ExperimentConfig,
    weights: &[f32],
    dataset: &Dataset,
    sample: u32,
    predicted: u32,
) -> Result<(Gradients, Vec<f64>), Error> {
    let frozen = FrozenModel::new(config)?;
    let slopes: Vec<f32> = match (frozen.logits(), predicted) {
        // One logit is the log-odds of class 1; those of two classes differ by it.
        (1, 0) => vec![-1.0],
        (1, _) => vec![1.0],
        (2, 0) => vec![1.0, -1.0],
        (2, _) => vec![-1.0, 1.0],
        _ => frozen.slopes_of(predicted as usize)?,
    };
    let found = frozen.attribute(weights, dataset, sample, &slopes)?;
    let positions = dataset.positions();
    let width = found.values.len() / positions;
    let per_position = found.values.chunks(width);
    let per_position = per_position.map(|values| values.iter().sum::<f64>());
    let per_position: Vec<f64> = per_position.collect();
    let [logit, baseline] = found.logits;
    let (cls, padding) = (config.inputs().cls, config.model.attention.padding_token);
    let tokens = dataset.tokens(sample as usize);
    let is_padding = |&position: &usize| Some(tokens[position]) == padding && Some(position) != cls;
    let padded = (0..positions)
        .filter(is_padding)
        .map(|position| per_position[position]);
    let cls = cls.map_or(0.0, |cls| per_position[cls]);
    let gradients = Gradients {
        logit,
        baseline,
        cls,
        padding: padded.reduce(|sum, value| sum + value),
    };
    Ok((gradients, per_position))
}
