//! Models that tell balanced strings of brackets from others: what of their answer each head carries to the position that is read.
//!
//! A pair is a balanced string, and the same string with one bracket turned (its totals are unequal), or with an opening and a closing
//! bracket exchanged so that a prefix has more closing brackets than opening ones (its order is wrong). With `z` the log-odds of
//! "balanced", the gap is the mean over pairs of `z(balanced) - z(other)`. A head carries of it
//!
//! ```text
//! (z(balanced) - z(balanced, with the head's context from the other string)) / gap
//! ```
//!
//! where that context is the one at the position that is read. All that this position learns of a string comes through the contexts
//! of its heads there.

use headlight_data::rules::BalancedBrackets;
use headlight_data::{LabelRule, Stream};

use super::info::MeasureInfo;
use super::pairs::{MOST_PAIRS, Pairs, log_odds};
use super::subject::Subject;
use super::value::Measured;
use crate::config::ExperimentConfig;
use crate::error::Error;
use crate::fused::{Array, Intervention, Place, Recorded};

/// How the other string of a pair fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fails {
    /// It has more brackets of one kind.
    Totals,
    /// As many of each, and a prefix with more closing ones.
    Order,
}

fn rule(config: &ExperimentConfig) -> Result<BalancedBrackets, String> {
    match &config.data.rule {
        Some(LabelRule::BalancedBrackets(rule)) => Ok(*rule),
        _ => Err(
            "is a measure of strings of brackets; it needs data.rule.kind = \"balanced-brackets\""
                .to_owned(),
        ),
    }
}

fn check(config: &ExperimentConfig) -> Result<(), String> {
    rule(config).map(|_| ())
}

/// What is known of a measure of such pairs.
pub(super) const fn info(
    is_per_head: bool,
    value: fn(&mut Subject<'_>) -> Result<Measured, Error>,
) -> MeasureInfo {
    MeasureInfo {
        decimals: 3,
        range: [f64::NEG_INFINITY, f64::INFINITY],
        is_per_head,
        check,
        value,
    }
}

/// The pairs of the first balanced strings; `None` if there is none.
fn pairs(subject: &Subject<'_>, fails: Fails) -> Result<Option<Pairs>, Error> {
    let (config, samples) = (subject.config, subject.samples);
    let rule = rule(config).map_err(Error::Input)?;
    let is_balanced = |tokens: &[u32]| {
        let label = config.data.rule.as_ref();
        label.is_some_and(|label| label.label_for(tokens, config.data.cls, 2) == 1)
    };
    let mut number = Stream::Measures.numbers(config.data.seed);
    let mut pairs = Vec::new();
    for sample in 0..samples.len() {
        let tokens = samples.tokens(sample);
        if pairs.len() == MOST_PAIRS || !is_balanced(tokens) {
            continue;
        }
        let places = |bracket: u32| -> Vec<usize> {
            (0..tokens.len())
                .filter(|&place| tokens[place] == bracket)
                .collect()
        };
        let [openings, closings] = [places(rule.opening), places(rule.closing)];
        if openings.is_empty() {
            continue;
        }
        let mut drawn = |places: &[usize]| places[number(places.len() as u32) as usize];
        let mut other = tokens.to_vec();
        match fails {
            Fails::Totals => {
                let brackets = [&*openings, &closings].concat();
                let place = drawn(&brackets);
                other[place] = rule.opening + rule.closing - other[place];
            }
            Fails::Order => {
                while is_balanced(&other) {
                    other = tokens.to_vec();
                    other.swap(drawn(&openings), drawn(&closings));
                }
            }
        }
        pairs.push([tokens.to_vec(), other]);
    }
    Pairs::of(config, pairs)
}

/// The gap between balanced strings and such others.
pub(super) fn gap(subject: &mut Subject<'_>, fails: Fails) -> Result<Measured, Error> {
    match pairs(subject, fails)? {
        None => Ok(Measured::Undefined),
        Some(pairs) => Ok(Some(pairs.gap(subject, &[])?).into()),
    }
}

/// What each head carries of it.
pub(super) fn heads(subject: &mut Subject<'_>, fails: Fails) -> Result<Measured, Error> {
    let Some(pairs) = pairs(subject, fails)? else {
        return Ok(Measured::Undefined);
    };
    let model = &subject.config.model;
    let (layers, heads, d_head) = (model.n_layers, model.n_heads, model.d_head());
    let read = subject.config.inputs().read_position;
    let before = log_odds(&pairs.forward(subject, true, &[], Recorded::Predictions)?);
    let other = pairs.forward(subject, false, &[], Recorded::All)?;
    let gap = before - log_odds(&other);
    if gap == 0.0 {
        return Ok(Measured::Undefined);
    }
    let positions = subject.samples.positions();
    let contexts = &other.arrays[Array::Context];
    let mut carried = Vec::new();
    for layer in 0..layers {
        let mut of_layer = Vec::new();
        for head in 0..heads {
            let vector = (0..pairs.len()).flat_map(|pair| {
                let row = ((pair * layers + layer) * heads + head) * positions + read;
                contexts[row * d_head..][..d_head].iter().copied()
            });
            let replace = Intervention::Replace {
                place: Place::Head(layer, head),
                position: read,
                vector: vector.collect(),
            };
            let changed = pairs.forward(subject, true, &[replace], Recorded::Predictions)?;
            of_layer.push((before - log_odds(&changed)) / gap);
        }
        carried.push(of_layer);
    }
    Ok(Measured::PerHead(carried))
}
