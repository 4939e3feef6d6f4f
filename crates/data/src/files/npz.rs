//! Datasets as npz: `tokens` int64 `[sample, position]` and `labels` float32 `[sample]` for training, or int64 `[sample, position]`
//! with -100 where none counts, as PyTorch has it; `held_out_tokens` and `held_out_labels` for the held-out set. If classes have names, `classes` has them and labels are
//! their indices. If samples have padding, `padding_token` is its id. If training samples have weights, `sample_weight` has them, `[sample]`.

use std::io::{self, Read, Seek, Write};

use headlight_npz::{NpzReader, NpzWriter};

use super::contents::DatasetToWrite;
use super::labels::Label;
use super::rows::{FoundSample, NOT_COUNTED, Place, Rows, SampleContent, SampleLabels, token_id};
use crate::cls::CLS;
use crate::task::{IGNORED, Task};

/// The prefix of the held-out set's arrays.
const HELD_OUT: &str = "held_out_";

const CLASSES: &str = "classes";
const PADDING_TOKEN: &str = "padding_token";
const SAMPLE_WEIGHT: &str = "sample_weight";

/// All arrays of a dataset.
const KNOWN: [&str; 7] = [
    "tokens",
    "labels",
    "held_out_tokens",
    "held_out_labels",
    SAMPLE_WEIGHT,
    CLASSES,
    PADDING_TOKEN,
];

/// Writes the samples with their padding.
pub(super) fn write(contents: DatasetToWrite<'_>, mut writer: impl Write) -> io::Result<()> {
    let mut npz = NpzWriter::new();
    let (splits, config) = (contents.splits, contents.config);
    for (prefix, dataset) in [("", &splits.train), (HELD_OUT, &splits.held_out)] {
        let ids: Vec<i64> = dataset.all_tokens().iter().map(|&id| id.into()).collect();
        let tokens = [dataset.len(), dataset.positions()];
        npz.array(&format!("{prefix}tokens"), &tokens, &ids)?;
        let (name, labels) = (format!("{prefix}labels"), dataset.labels().iter());
        match config.task {
            Task::Classification => {
                let labels: Vec<f32> = labels.map(|&class| class as f32).collect();
                npz.array(&name, &[dataset.len()], &labels)?;
            }
            Task::TokenClassification => {
                let labels = labels.map(|&class| match class {
                    IGNORED => NOT_COUNTED,
                    class => i64::from(class),
                });
                npz.array(&name, &tokens, &labels.collect::<Vec<i64>>())?;
            }
            Task::NextToken => {}
        }
    }
    if !config.classes.is_empty() {
        npz.strings(CLASSES, &config.classes)?;
    }
    if let Some(token) = contents.padding_token {
        npz.array(PADDING_TOKEN, &[], &[i64::from(token)])?;
    }
    writer.write_all(&npz.finish()?)?;
    writer.flush()
}

pub(super) fn read(reader: impl Read + Seek, name: &str) -> Result<Rows, String> {
    let mut npz = NpzReader::new(reader)?;
    if let Some(name) = npz.names().find(|name| !KNOWN.contains(&&**name)) {
        return Err(format!(
            "its array {name:?} is unknown; a dataset has {}; remove the others",
            KNOWN.join(", ")
        ));
    }
    let mut names: Vec<Label> = Vec::new();
    if npz.contains(CLASSES) {
        let labels = npz.strings(CLASSES)?;
        let labels = labels.iter().map(|name| Label::of_text(name));
        let labels = labels.collect::<Result<_, _>>();
        names = labels.map_err(|reason| format!("`{CLASSES}`: {reason}"))?;
        let twice = (1..names.len()).find(|&index| names[..index].contains(&names[index]));
        if let Some(index) = twice {
            return Err(format!("`{CLASSES}` has the name `{}` twice", names[index]));
        }
    }
    let mut padding = None;
    if npz.contains(PADDING_TOKEN) {
        let token = npz.integers(PADDING_TOKEN)?.values;
        let [token] = token[..] else {
            return Err(format!("`{PADDING_TOKEN}` must be one number"));
        };
        let id = token_id(token).map_err(|reason| format!("`{PADDING_TOKEN}`: {reason}"))?;
        padding = Some((token, id));
    }
    let (mut found, mut weights) = (Vec::new(), None);
    for (held_out, prefix) in [(false, ""), (true, HELD_OUT)] {
        let (tokens_name, labels_name) = (format!("{prefix}tokens"), format!("{prefix}labels"));
        if held_out && !npz.contains(&tokens_name) {
            continue;
        }
        let tokens = npz.integers(&tokens_name)?;
        let [count, positions] = tokens.shape[..] else {
            return Err(format!(
                "`{tokens_name}` has shape {:?}, not [sample, position]",
                tokens.shape
            ));
        };
        if !held_out && npz.contains(SAMPLE_WEIGHT) {
            let array = npz.numbers(SAMPLE_WEIGHT)?;
            if array.shape != [count] {
                return Err(format!(
                    "`tokens` has {count} samples, but `{SAMPLE_WEIGHT}` has the shape {:?}; give one weight for each sample",
                    array.shape
                ));
            }
            weights = Some(array.values.iter().map(f64::to_string).collect());
        }
        let labels = if npz.contains(&labels_name) {
            Some(npz.numbers(&labels_name)?)
        } else {
            None
        };
        let shape = labels.as_ref().map(|labels| &labels.shape[..]);
        let are_per_token = shape == Some(&[count, positions]);
        if let Some(shape) = shape.filter(|&shape| !are_per_token && shape != [count]) {
            let has: Vec<String> = shape.iter().map(usize::to_string).collect();
            return Err(format!(
                "`{tokens_name}` has {count} samples of {positions} tokens, but `{labels_name}` has {}; give one for each sample, or for \
                 each token",
                has.join(" x ")
            ));
        }
        let per_sample = if are_per_token { positions } else { 1 };
        for row in 0..count {
            let place = Place::Row {
                held_out,
                row: row as u32,
            };
            let tokens = &tokens.values[row * positions..][..positions];
            let given = labels.as_ref();
            let given = given.map(|labels| &labels.values[row * per_sample..][..per_sample]);
            let kept = kept(tokens, padding.map(|(token, _)| token));
            let sample = || {
                let labels = match given {
                    Some(given) if are_per_token => token_labels(given, &kept, &names)?,
                    given => SampleLabels::One(given.map(|one| label(one[0], &names)).transpose()?),
                };
                Ok(FoundSample {
                    held_out,
                    labels,
                    content: SampleContent::of_ids(kept.iter().map(|&position| tokens[position]))?,
                })
            };
            found.push((place, sample()));
        }
    }
    let rows = Rows::collect(name, found.into_iter()).map_err(|error| error.message)?;
    Ok(Rows {
        classes: names.iter().map(Label::to_string).collect(),
        padding_token: padding.map(|(_, id)| id),
        weights,
        ..rows
    })
}

/// The labels of the tokens that a sample keeps; all others are padding, which has none.
fn token_labels(given: &[f64], kept: &[usize], names: &[Label]) -> Result<SampleLabels, String> {
    let mut labels = Vec::with_capacity(kept.len());
    for (position, &number) in given.iter().enumerate() {
        let is_counted = Label::of_number(number) != Ok(Label::Number(NOT_COUNTED));
        if kept.binary_search(&position).is_ok() {
            labels.push(is_counted.then(|| label(number, names)).transpose()?);
        } else if is_counted {
            return Err(format!(
                "padding has a label; write {NOT_COUNTED} where none counts"
            ));
        }
    }
    Ok(SampleLabels::PerToken(labels))
}

/// A label; where classes have names, it is the index of one.
fn label(number: f64, names: &[Label]) -> Result<Label, String> {
    let label = Label::of_number(number).map_err(|reason| format!("`labels`: {reason}"))?;
    match &label {
        Label::Number(index) if !names.is_empty() => {
            let name = usize::try_from(*index)
                .ok()
                .and_then(|index| names.get(index));
            name.cloned().ok_or_else(|| {
                format!(
                    "label {index} is not a class; `{CLASSES}` has {} names, so labels are 0 to {}",
                    names.len(),
                    names.len() - 1
                )
            })
        }
        _ => Ok(label),
    }
}

/// The places of a sample's tokens, without the padding after the last token or before a final `[CLS]`. At least one is kept.
fn kept(sample: &[i64], padding: Option<i64>) -> Vec<usize> {
    let cls = i64::from(CLS);
    let Some(padding) = padding else {
        return (0..sample.len()).collect();
    };
    let ends_in_cls = sample.last() == Some(&cls) && padding != cls;
    let end = sample.len() - usize::from(ends_in_cls);
    let before_end = &sample[..end];
    let least = usize::from(before_end.first() == Some(&cls)) + 1;
    let last = before_end.iter().rposition(|&token| token != padding);
    let length = last.map_or(0, |last| last + 1).max(least).min(end);
    (0..length).chain(end..sample.len()).collect()
}
