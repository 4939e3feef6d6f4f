//! Datasets as npz: `tokens` int64 `[sample, position]` and `labels` float32 `[sample]` for training, or int64 `[sample, position]`
//! with -100 where none counts, as PyTorch has it; `held_out_tokens` and `held_out_labels` for the held-out set. If classes have names, `classes` has them and labels are
//! their indices. If samples have padding, `padding_token` is its id.

use std::borrow::Cow;
use std::io::{self, Read, Seek, Write};

use headlight_npz::{NpzReader, NpzWriter};

use super::contents::DatasetFile;
use super::labels::Label;
use super::rows::{NOT_COUNTED, Place, Rows, SampleContent, token_id};
use crate::cls::CLS;
use crate::task::{IGNORED, Task};

/// The prefix of the held-out set's arrays.
const HELD_OUT: &str = "held_out_";

const CLASSES: &str = "classes";
const PADDING_TOKEN: &str = "padding_token";

/// Writes the samples with their padding.
pub(super) fn write(contents: DatasetFile<'_>, mut writer: impl Write) -> io::Result<()> {
    let mut npz = NpzWriter::new();
    let DatasetFile {
        splits,
        config,
        padding_token,
        ..
    } = contents;
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
    if let Some(token) = padding_token {
        npz.array(PADDING_TOKEN, &[], &[i64::from(token)])?;
    }
    writer.write_all(&npz.finish()?)?;
    writer.flush()
}

pub(super) fn read(reader: impl Read + Seek, name: &str) -> Result<Rows, String> {
    let mut rows = Rows::new(name);
    let mut npz = NpzReader::new(reader)?;
    let mut names: Vec<Label> = Vec::new();
    if npz.contains(CLASSES) {
        let texts = npz.strings(CLASSES)?;
        let labels = texts.iter().map(|name| Label::of_text(name));
        names = labels
            .collect::<Result<_, _>>()
            .map_err(|reason| format!("`{CLASSES}`: {reason}"))?;
        rows.classes = names.iter().map(Label::to_string).collect();
    }
    let mut padding_token = None;
    if npz.contains(PADDING_TOKEN) {
        let token = npz.integers(PADDING_TOKEN)?.values;
        let [token] = token[..] else {
            return Err(format!("`{PADDING_TOKEN}` must be one number"));
        };
        let id = token_id(token).map_err(|reason| format!("`{PADDING_TOKEN}`: {reason}"))?;
        padding_token = Some(token);
        rows.padding_token = Some(id);
    }
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
        let labels = if npz.contains(&labels_name) {
            Some(npz.numbers(&labels_name)?)
        } else {
            None
        };
        let are_each = labels
            .as_ref()
            .is_some_and(|own| own.shape == [count, positions]);
        if let Some(labels) = labels
            .as_ref()
            .filter(|own| !are_each && own.shape != [count])
        {
            let has: Vec<String> = labels.shape.iter().map(usize::to_string).collect();
            return Err(format!(
                "`{tokens_name}` has {count} samples of {positions} tokens, but `{labels_name}` has {}; give one for each sample, or for \
                 each token",
                has.join(" x ")
            ));
        }
        for row in 0..count {
            let place = Place::Row {
                held_out,
                row: row as u32,
            };
            let given = &tokens.values[row * positions..][..positions];
            let tokens = match padding_token {
                None => given.into(),
                Some(padding) => Cow::Owned(without_padding(given, padding)),
            };
            if let Some(labels) = labels.as_ref().filter(|_| are_each) {
                let own = &labels.values[row * positions..][..positions];
                let kept = tokens.len();
                let end = usize::from(kept < positions && ends_with_cls(given, padding_token));
                let mut of_padding = own[kept - end..positions - end].iter();
                if of_padding.any(|&own| Label::of_number(own) != Ok(Label::Number(NOT_COUNTED))) {
                    return Err(format!(
                        "{place}: padding has a label; write {NOT_COUNTED} where none counts"
                    ));
                }
                let own = own[..kept - end].iter().chain(&own[positions - end..]);
                let own: Vec<f64> = own.copied().collect();
                let own = own
                    .into_iter()
                    .map(|number| match Label::of_number(number) {
                        Ok(Label::Number(NOT_COUNTED)) => Ok(None),
                        _ => label(number, &names).map(Some),
                    });
                rows.push_each(place, held_out, own, &tokens)?;
                continue;
            }
            let label = labels
                .as_ref()
                .map(|labels| label(labels.values[row], &names));
            let label = label.transpose();
            let label = label.map_err(|reason| format!("{place}: {reason}"))?;
            rows.push(place, held_out, label, SampleContent::Tokens(&tokens))?;
        }
    }
    Ok(rows)
}

/// A label; where classes have names, it is the index of one.
fn label(number: f64, names: &[Label]) -> Result<Label, String> {
    let label = Label::of_number(number)?;
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

/// Whether a sample has padding before a `[CLS]` at its end, or could have.
fn ends_with_cls(sample: &[i64], padding: Option<i64>) -> bool {
    let cls = i64::from(CLS);
    sample.last() == Some(&cls) && padding != Some(cls)
}

/// A sample without the padding after its last token, also before a `[CLS]` at the end. It keeps at least one token.
fn without_padding(sample: &[i64], padding: i64) -> Vec<i64> {
    let cls = i64::from(CLS);
    let (own, end) = match sample {
        [own @ .., last] if ends_with_cls(sample, Some(padding)) => (own, Some(*last)),
        _ => (sample, None),
    };
    let kept = usize::from(own.first() == Some(&cls)) + 1;
    let last = own.iter().rposition(|&token| token != padding);
    let length = last.map_or(0, |last| last + 1).max(kept).min(own.len());
    own[..length].iter().copied().chain(end).collect()
}
