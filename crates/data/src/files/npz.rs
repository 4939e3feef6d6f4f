//! Datasets as npz: `tokens` int64 `[sample, position]` and `labels` float32 `[sample]` for training,
//! `held_out_tokens` and `held_out_labels` for the held-out set.

use std::io::{self, Read, Seek, Write};

use headlight_npz::{NpzError, NpzReader, NpzWriter};

use super::contents::Contents;
use super::labels::{Label, whole_number};
use super::rows::{Place, Rows};

/// The prefix of the held-out set's arrays.
const HELD_OUT: &str = "held_out_";

/// Writes the samples with their padding. Labels are numbers: the names of classes where these are numbers, or
/// else the classes.
pub(super) fn write(contents: Contents<'_>, mut writer: impl Write) -> io::Result<()> {
    let mut npz = NpzWriter::new();
    let names = contents.config.classes.iter();
    let numbers: Option<Vec<i64>> = names.map(|name| whole_number(name)).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty());
    let Contents { splits, .. } = contents;
    for (prefix, dataset) in [("", &splits.train), (HELD_OUT, &splits.held_out)] {
        let ids: Vec<i64> = dataset.all_tokens().iter().map(|&id| id.into()).collect();
        let tokens = [dataset.len(), dataset.positions()];
        npz.array(&format!("{prefix}tokens"), &tokens, &ids)?;
        let (name, labels) = (format!("{prefix}labels"), dataset.labels().iter());
        if let Some(numbers) = &numbers {
            let labels: Vec<i64> = labels.map(|&class| numbers[usize::from(class)]).collect();
            npz.array(&name, &[dataset.len()], &labels)?;
        } else {
            let labels: Vec<f32> = labels.map(|&class| class.into()).collect();
            npz.array(&name, &[dataset.len()], &labels)?;
        }
    }
    writer.write_all(&npz.finish()?)?;
    writer.flush()
}

pub(super) fn read(reader: impl Read + Seek, rows: &mut Rows) -> Result<(), String> {
    let message = |error: NpzError| error.to_string();
    let mut npz = NpzReader::new(reader).map_err(message)?;
    for (held_out, prefix) in [(false, ""), (true, HELD_OUT)] {
        let (tokens_name, labels_name) = (format!("{prefix}tokens"), format!("{prefix}labels"));
        if held_out && !npz.contains(&tokens_name) {
            continue;
        }
        let tokens = npz.integers(&tokens_name).map_err(message)?;
        let [count, positions] = tokens.shape[..] else {
            return Err(format!(
                "`{tokens_name}` has shape {:?}, not [sample, position]",
                tokens.shape
            ));
        };
        let labels = if npz.contains(&labels_name) {
            Some(numbers(&mut npz, &labels_name).map_err(message)?)
        } else {
            None
        };
        if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != count) {
            return Err(format!(
                "`{tokens_name}` has {count} samples, but `{labels_name}` has {}",
                labels.len()
            ));
        }
        for row in 0..count {
            let place = Place::Row {
                held_out,
                row: row as u64,
            };
            let label = labels.as_ref().map(|labels| Label::of_number(labels[row]));
            let label = label.transpose();
            let label = label.map_err(|reason| format!("{place}: {reason}"))?;
            let tokens = &tokens.values[row * positions..][..positions];
            rows.push(place, held_out, label, tokens)?;
        }
    }
    Ok(())
}

/// Labels: float32, as in the notebook, or integers.
fn numbers(npz: &mut NpzReader<impl Read + Seek>, name: &str) -> Result<Vec<f64>, NpzError> {
    match npz.floats(name) {
        Err(NpzError::Unreadable { .. }) => {
            let labels = npz.integers(name)?.values;
            Ok(labels.into_iter().map(|label| label as f64).collect())
        }
        labels => Ok(labels?.values.into_iter().map(f64::from).collect()),
    }
}
