//! Samples with an answer per position: what the model says at each position of one that it answers rightly everywhere, and of
//! one that it does not.

use headlight_data::{Dataset, IGNORED};
use headlight_experiment::Error;
use headlight_experiment::fused::Recording;
use headlight_report::ScreenPart;

use super::model::{SamplePrediction, UsedModel};

/// The most samples that are asked about until one of each kind is found.
const ASKED: usize = 512;

/// The most positions that are listed.
const MOST: usize = 12;

/// A right sample and a wrong one, each with its labels and answers.
pub(super) fn parts(model: &mut UsedModel<'_>) -> Result<Vec<ScreenPart>, Error> {
    let judged = model.experiment.splits.judging_samples();
    let chosen: Vec<usize> = (0..judged.len().min(ASKED)).collect();
    let all = model.predict_without(judged, &chosen, &[], Recording::Predictions)?;
    let both = [("Correct", true), ("Wrong", false)];
    let listed = both.into_iter().filter_map(|(kind, is_right)| {
        let one = all
            .iter()
            .find(|one| model.is_right(judged, one) == is_right)?;
        Some(ScreenPart::Sentences(lines(model, judged, kind, one)))
    });
    Ok(listed.collect())
}

/// Tokens, labels and answers below each other.
fn lines(
    model: &UsedModel<'_>,
    judged: &Dataset,
    kind: &str,
    one: &SamplePrediction,
) -> Vec<String> {
    let data = &model.config().data;
    let padding = model.config().model.attention.padding_token;
    let tokens = judged.tokens(one.sample);
    let labels = judged.labels_of(one.sample);
    let held = (0..tokens.len()).filter(|&position| Some(tokens[position]) != padding);
    let all: Vec<usize> = held.collect();
    let shown = &all[..all.len().min(MOST)];
    let name = |class: u32| match class {
        IGNORED => "\u{b7}".to_owned(),
        class => data.class_name(class),
    };
    let columns = shown.iter().map(|&position| {
        let label = labels[position];
        let answer = if label == IGNORED {
            IGNORED
        } else {
            one.classes[position]
        };
        let token = data.token_text(tokens[position], padding);
        [token, name(label), name(answer)]
    });
    let columns: Vec<[String; 3]> = columns.collect();
    let row = |which: usize, title: &str| {
        let cells = columns.iter().map(|column| {
            let width = column
                .iter()
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0);
            let cell = &column[which];
            format!("{}{cell}", "\u{a0}".repeat(width - cell.chars().count()))
        });
        let more = if shown.len() < all.len() {
            "\u{a0}..."
        } else {
            ""
        };
        format!("{title}{}{more}", cells.collect::<Vec<_>>().join("\u{a0}"))
    };
    vec![
        format!(
            "{kind}: {}{}",
            model.sample_name(model.split(), "sample", one.sample, judged),
            model.noise_note(judged, one.sample)
        ),
        row(0, "tokens\u{a0}\u{a0}\u{a0}"),
        row(1, "labels\u{a0}\u{a0}\u{a0}"),
        row(2, "answers\u{a0}\u{a0}"),
    ]
}
