//! Texts: the words that decided in one that the model classifies correctly, and in one that it does not.

use headlight_analysis::explain::{Explanation, explain};
use headlight_architecture::StrongestHead;
use headlight_data::Dataset;
use headlight_experiment::Error;
use headlight_experiment::fused::Recording;
use headlight_report::{ScreenPart, ScreenWord, shorten};

use super::model::{SamplePrediction, UsedModel};
use crate::show::report::quoted_answer;

/// The most texts that are asked about until one of each kind is found.
const ASKED: usize = 512;

/// Of so many correct texts, the one that a single word decides most is shown: the longer texts may be, the fewer.
const CORRECT: usize = 15;
const MOST_POSITIONS: usize = 512;

/// The most words of a text that are shown.
const WORDS: usize = 4;

/// The columns of a text's start.
const START: usize = 40;

/// The title of a text, and its words by how much the probability of its class changes without them, with these changes.
type Explained = (String, Vec<(ScreenWord, f64)>);

/// The words that decided in a correct text, and in a wrong one if there is one.
pub(super) fn parts(
    model: &mut UsedModel<'_>,
    head: StrongestHead,
) -> Result<Vec<ScreenPart>, Error> {
    let judged = model.experiment.splits.judging_samples();
    let chosen: Vec<usize> = (0..judged.len().min(ASKED)).collect();
    let predictions = model.predict_without(judged, &chosen, &[], Recording::Predictions)?;
    let (right, wrong): (Vec<&SamplePrediction>, Vec<&SamplePrediction>) = predictions
        .iter()
        .partition(|one| model.is_right(judged, one));
    let count = (MOST_POSITIONS / judged.positions()).clamp(1, CORRECT);
    let strength = |one: &Explained| one.1.first().map_or(0.0, |(_, change)| *change);
    let mut shown: Vec<Explained> = Vec::new();
    for prediction in right.into_iter().take(count) {
        let candidate = explained(model, judged, "Correct", prediction.sample, head)?;
        if shown
            .first()
            .is_none_or(|best| strength(&candidate) > strength(best))
        {
            shown = vec![candidate];
        }
    }
    if let Some(prediction) = wrong.first() {
        shown.push(explained(model, judged, "Wrong", prediction.sample, head)?);
    }
    let parts = shown.into_iter().map(|(title, words)| {
        let words = words
            .into_iter()
            .take(WORDS)
            .map(|(word, _)| word)
            .collect();
        ScreenPart::Words { title, words }
    });
    Ok(parts.collect())
}

fn explained(
    model: &UsedModel<'_>,
    judged: &Dataset,
    kind: &str,
    sample: usize,
    head: StrongestHead,
) -> Result<Explained, Error> {
    let (config, weights, head) = (model.config(), &model.weights, Some(head));
    let explanation = explain(config, weights, judged, sample as u32, &[], head, false)?;
    // Those alone that the model may look at.
    let mut words = Vec::new();
    for word in &explanation.words {
        if !word.is_key {
            continue;
        }
        let attention = match word.attention {
            Some(times) => format!("{times:>5.2}x uniform"),
            None => format!("{:>5.2}", word.weight),
        };
        let without = word.probability_without;
        let shown = ScreenWord {
            word: word.text.clone(),
            attention,
            without,
        };
        words.push((shown, (explanation.probability - without).abs()));
    }
    words.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    Ok((title(model, judged, kind, sample, &explanation), words))
}

fn title(
    model: &UsedModel<'_>,
    judged: &Dataset,
    kind: &str,
    sample: usize,
    explanation: &Explanation,
) -> String {
    let data = &model.config().data;
    let label = judged.label(sample);
    let noise = model.noise_note(judged, sample);
    let expected = if label == explanation.predicted {
        noise
    } else {
        format!(", not {}{noise}", quoted_answer(data, label))
    };
    let row = if data.columns.features.is_empty() {
        "text"
    } else {
        "row"
    };
    let mut tokens = judged.tokens(sample).to_vec();
    if let Some(cls) = model.config().inputs().cls {
        tokens.remove(cls);
    }
    let text = data.words.as_ref().map(|words| words.join(&tokens));
    let words = shorten(&text.unwrap_or_default(), START);
    format!(
        "{kind}: {} ({words}): {}{expected}, probability {:.3} (layer {}, head {})",
        model.sample_name(model.split(), row, sample, judged),
        quoted_answer(data, explanation.predicted),
        explanation.probability,
        explanation.layer,
        explanation.head.head
    )
}
