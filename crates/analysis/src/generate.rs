//! Texts from a model of the next token: each token is drawn from what the model says after those before it.

use headlight_architecture::mathematics::exp;
use headlight_data::words::UNK;
use headlight_data::{CLS, ClsPlace, Dataset, DatasetConfig, Stream, Task, order, uniform_unit};

use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{FrozenModel, Recording};
use headlight_experiment::metrics::cross_entropy;

/// How tokens are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Divides the logits: above 1, rare tokens are drawn more often; 0 takes the most probable token.
    pub temperature: f64,
    /// Only so many of the most probable tokens are drawn.
    pub top_k: Option<usize>,
    /// Seed of what is drawn.
    pub seed: u64,
    /// The most tokens of a sample, the prompt's among them; if unset, those of the run's samples. Only a model of one text, whose samples
    /// have no end, can go on after them.
    pub length: Option<usize>,
}

/// A sample that was generated.
#[derive(Clone, Debug, PartialEq)]
pub struct Generation {
    /// Its tokens, those of the prompt among them, without `[CLS]`.
    pub tokens: Vec<u32>,
    /// Whether the model ended it; if not, it has as many tokens as a sample may have.
    pub has_ended: bool,
    /// The logarithm of the probability of what follows the prompt, before temperature and `top_k`.
    pub log_probability: f64,
}

/// Generates samples that start with a prompt of tokens, without `[CLS]`.
///
/// # Errors
/// When the model does not answer with the next token, the prompt does not suit it, or an output is not finite.
pub fn generate(
    config: &ExperimentConfig,
    weights: &[f32],
    prompt: &[u32],
    count: usize,
    sampling: Sampling,
) -> Result<Vec<Generation>, Error> {
    let data = &config.data;
    let (most, longest) = (data.seq_len, sampling.length.unwrap_or(data.seq_len));
    check(config, prompt, longest)?;
    let mut frozen = FrozenModel::new(config)?;
    let logits = frozen.logits();
    let mut all = vec![
        Generation {
            tokens: prompt.to_vec(),
            has_ended: false,
            log_probability: 0.0,
        };
        count
    ];
    let mut rngs: Vec<_> = (0..count)
        .map(|sample| Stream::Generation.boxed_rng(sampling.seed, sample))
        .collect();
    // All have the same length until they end.
    for length in prompt.len()..=longest {
        let open: Vec<usize> = (0..count).filter(|&one| !all[one].has_ended).collect();
        // Without a place for another token, the model can only say that the sample ends.
        if open.is_empty() || length == longest && !(samples_end(data) && length == most) {
            break;
        }
        let dataset = windows(config, open.iter().map(|&one| &all[one].tokens[..]));
        let chosen: Vec<u32> = (0..open.len() as u32).collect();
        let only = Recording::Predictions;
        let forward = frozen.forward(weights, &dataset, &chosen, &[], only)?;
        let last = usize::from(data.cls == ClsPlace::First) + length.min(most) - 1;
        let positions = dataset.positions();
        for (index, &one) in open.iter().enumerate() {
            let start = (index * positions + last) * logits;
            let next_logits = &forward.predictions.logits[start..][..logits];
            if !next_logits.iter().all(|logit| logit.is_finite()) {
                return Err(Error::not_finite(""));
            }
            let may = |token: u32| may_follow(config, token);
            let (token, log_probability) =
                draw_token(next_logits, may, sampling, || uniform_unit(&mut rngs[one]));
            let sample = &mut all[one];
            if samples_end(data) && token == CLS {
                sample.log_probability += log_probability;
                sample.has_ended = true;
            } else if length < longest {
                sample.log_probability += log_probability;
                sample.tokens.push(token);
            }
        }
    }
    Ok(all)
}

/// Samples as the model sees them: of a longer text, the end.
fn windows<'a>(config: &ExperimentConfig, samples: impl Iterator<Item = &'a [u32]>) -> Dataset {
    let data = &config.data;
    let padding = config.model.attention.padding_token;
    let fill = padding.unwrap_or(data.cls.first_token());
    let mut dataset = data.no_samples();
    for tokens in samples {
        let mut row = vec![CLS; usize::from(data.cls == ClsPlace::First)];
        row.extend(&tokens[tokens.len().saturating_sub(data.seq_len)..]);
        row.resize(dataset.positions(), fill);
        dataset.push(&row, 0);
    }
    dataset
}

/// Rejects a model that cannot continue a text, a prompt that it cannot see, and samples of a length that it does not have.
fn check(config: &ExperimentConfig, prompt: &[u32], longest: usize) -> Result<(), Error> {
    let data = &config.data;
    if data.task != Task::NextToken {
        return Err(Error::Input(format!(
            "the model answers for the task \"{}\", and only a model of the task \"next-token\" can continue a text; train with \
             data.task = \"next-token\"",
            data.task.name()
        )));
    }
    if prompt.is_empty() && data.cls == ClsPlace::None {
        return Err(Error::Input(
            "without [CLS], the model needs a first token to start from; give a prompt".to_owned(),
        ));
    }
    if prompt.len() > data.seq_len {
        return Err(Error::Input(format!(
            "the prompt has {} tokens, and the model's samples have {} (data.seq_len); shorten it",
            prompt.len(),
            data.seq_len
        )));
    }
    let (first, size) = (data.cls.first_token(), data.vocab_size);
    let padding = config.model.attention.padding_token;
    if let Some(token) = prompt.iter().find(|&&token| Some(token) == padding) {
        return Err(Error::Input(format!(
            "token {token} of the prompt is padding, after which nothing follows; leave it out"
        )));
    }
    match prompt.iter().find(|token| !(first..size).contains(token)) {
        None if longest > data.seq_len && samples_end(data) => Err(Error::Input(format!(
            "{longest} is more than data.seq_len, {}; only a model of one text can go on",
            data.seq_len
        ))),
        None => Ok(()),
        Some(&CLS) => Err(Error::Input(
            "token 0 of the prompt is [CLS], which Headlight adds; leave it out".to_owned(),
        )),
        Some(token) => Err(Error::Input(format!(
            "token {token} of the prompt is outside the vocabulary; tokens are {first} to {}",
            size - 1
        ))),
    }
}

/// Whether the model says where a sample ends: of texts, unless they are parts of one.
fn samples_end(data: &DatasetConfig) -> bool {
    data.words.as_ref().is_some_and(|words| !words.one_text)
}

/// Whether a token may be drawn: neither padding nor an unknown word, and the end only of texts.
fn may_follow(config: &ExperimentConfig, token: u32) -> bool {
    let (data, padding) = (&config.data, config.model.attention.padding_token);
    match token {
        _ if Some(token) == padding => false,
        CLS if data.cls.is_present() => samples_end(data),
        UNK if data.words.is_some() => false,
        _ => true,
    }
}

/// Draws a token: with it, the logarithm of its probability.
fn draw_token(
    logits: &[f32],
    may: impl Fn(u32) -> bool,
    sampling: Sampling,
    unit: impl FnOnce() -> f64,
) -> (u32, f64) {
    let wide = |token: u32| f64::from(logits[token as usize]);
    let tokens = (0..logits.len() as u32).filter(|&token| may(token));
    let tokens: Vec<u32> = tokens.collect();
    // The most probable first; of equals, the smaller one.
    let by_logit = order(tokens.len(), &|one, other| {
        wide(tokens[other]).total_cmp(&wide(tokens[one]))
    });
    let taken = by_logit
        .into_iter()
        .take(sampling.top_k.unwrap_or(usize::MAX).max(1));
    let tokens: Vec<u32> = taken.map(|index| tokens[index]).collect();
    let most = tokens.first().map_or(0.0, |&token| wide(token));
    let token = if sampling.temperature > 0.0 {
        let weight = |&token: &u32| exp((wide(token) - most) / sampling.temperature);
        let total: f64 = tokens.iter().map(weight).sum();
        let mut left = unit() * total;
        let found = tokens.iter().find(|token| {
            left -= weight(token);
            left < 0.0
        });
        found.or(tokens.first()).copied().unwrap_or(0)
    } else {
        tokens.first().copied().unwrap_or(0)
    };
    let wide: Vec<f64> = logits.iter().map(|&logit| logit.into()).collect();
    (token, -cross_entropy(&wide, token))
}
