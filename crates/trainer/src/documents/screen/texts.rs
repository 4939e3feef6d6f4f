//! Texts: the words that decided in one that the model classifies correctly, and in one that it does not.

use headlight_data::Dataset;
use headlight_experiment::Error;
use headlight_inspector::{Part, Word, shorten};

use super::model::{Said, UsedModel};
use crate::documents::report::quoted_answer;

/// The most texts that are asked about until one of each kind is found.
const ASKED: usize = 512;

/// Of so many correct texts, the one that a single word decides most is shown.
const CORRECT: usize = 15;

/// The most words of a text that are shown, and taken away: the longer a text, the fewer others are looked at.
const WORDS: usize = 4;
const MOST_REMOVED: usize = 64;

/// The columns of a text's start.
const START: usize = 40;

/// The words that decided in a correct text, and in a wrong one if there is one.
pub(super) fn parts(model: &mut UsedModel<'_>) -> Result<Vec<Part>, Error> {
    let experiment = model.experiment;
    let judged = experiment.splits.judged();
    let chosen: Vec<usize> = (0..judged.len().min(ASKED)).collect();
    let said = model.ask(judged, &chosen, &[])?;
    let is_right = |said: &&Said| said.class() == judged.label(said.sample) as usize;
    let right: Vec<&Said> = said.iter().filter(is_right).take(CORRECT).collect();
    let wrong = said.iter().find(|said| !is_right(said));
    let asked: Vec<&Said> = right.iter().copied().chain(wrong).collect();
    let mut words = removed(model, judged, &asked)?;
    let wrong = wrong.and_then(|said| Some((said, words.pop()?)));
    let strength = |words: &[(Word, f64)]| words.first().map_or(0.0, |(_, change)| *change);
    let right = right.into_iter().zip(words).reduce(|best, other| {
        if strength(&other.1) > strength(&best.1) {
            other
        } else {
            best
        }
    });
    let both = [("Correct", right), ("Wrong", wrong)];
    let parts = both.into_iter().filter_map(|(kind, found)| {
        let (said, words) = found?;
        let words = words.into_iter().take(WORDS).map(|(word, _)| word);
        Some(Part::Words {
            title: title(model, judged, kind, said),
            words: words.collect(),
        })
    });
    Ok(parts.collect())
}

fn title(model: &UsedModel<'_>, judged: &Dataset, kind: &str, said: &Said) -> String {
    let data = &model.config().data;
    let class = said.class();
    let label = judged.label(said.sample);
    let expected = if label as usize == class {
        String::new()
    } else {
        format!(", not {}", quoted_answer(data, label))
    };
    let row = if data.columns.features.is_empty() {
        "text"
    } else {
        "row"
    };
    let tokens = judged.tokens(said.sample).iter();
    let cls = model.config().inputs().cls;
    let words = tokens
        .enumerate()
        .filter(|&(position, _)| Some(position) != cls);
    let words: Vec<u32> = words.map(|(_, &token)| token).collect();
    let words = data.words.as_ref().map(|own| own.join(&words));
    let words = shorten(&words.unwrap_or_default(), START);
    format!(
        "{kind}: {} ({words}): {}{expected}, probability {:.3} (layer {}, head {})",
        model.named(model.split(), row, said.sample, judged),
        quoted_answer(data, class as u32),
        said.probabilities[class],
        model.config().model.n_layers - 1,
        model.head_of(judged, said)
    )
}

/// The words of each text, by how much the probability of the predicted class changes without them, and these changes.
fn removed(
    model: &mut UsedModel<'_>,
    judged: &Dataset,
    asked: &[&Said],
) -> Result<Vec<Vec<(Word, f64)>>, Error> {
    let config = model.config();
    let (positions, inputs) = (judged.positions(), config.inputs());
    let (read, cls) = (inputs.read_position, inputs.cls);
    let samples: Vec<usize> = asked.iter().map(|said| said.sample).collect();
    let heads: Vec<usize> = asked
        .iter()
        .map(|said| model.head_of(judged, said))
        .collect();
    let attention = |said: &Said, head: usize, key: usize| said.heads[head][read * positions + key];
    let mut keys: Vec<usize> = (0..positions).filter(|&key| Some(key) != cls).collect();
    if positions > MOST_REMOVED {
        let most = |key: usize| {
            let all = asked.iter().zip(&heads);
            let all = all.map(|(said, &head)| attention(said, head, key));
            all.fold(0.0, f32::max)
        };
        keys.sort_by(|&a, &b| most(b).total_cmp(&most(a)));
        keys.truncate(MOST_REMOVED);
    }
    let mut words: Vec<Vec<(Word, f64)>> = vec![Vec::new(); asked.len()];
    for key in keys {
        let without = model.ask(judged, &samples, &[key])?;
        let asked = asked.iter().zip(&heads);
        for (((said, &head), without), words) in asked.zip(&without).zip(&mut words) {
            let tokens = judged.tokens(said.sample);
            let allowed = config.model.attention.keys(read, tokens);
            let uniform = allowed.uniform(&[key]).filter(|&uniform| uniform > 0.0);
            let Some(uniform) = uniform else {
                continue;
            };
            let class = said.class();
            let (before, after) = (said.probabilities[class], without.probabilities[class]);
            let word = Word {
                word: model.word(tokens[key]),
                attention: f64::from(attention(said, head, key)) / uniform,
                without: after,
            };
            words.push((word, (before - after).abs()));
        }
    }
    for words in &mut words {
        words.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    }
    Ok(words)
}
