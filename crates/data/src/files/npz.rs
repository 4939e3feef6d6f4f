//! Datasets as npz: `tokens` int64 `[sample, position]` and `labels` float32 `[sample]` for training,
//! `held_out_tokens` and `held_out_labels` for the held-out set.

use std::io::{self, Read, Seek, Write};

use headlight_npz::{NpzError, NpzReader, NpzWriter};

use super::builder::{HELD_OUT, Place, SplitsBuilder, TRAIN, named};
use crate::dataset::Splits;

fn array_names(split: &str) -> (String, String) {
    let prefix = if split == TRAIN {
        String::new()
    } else {
        format!("{split}_")
    };
    (format!("{prefix}tokens"), format!("{prefix}labels"))
}

pub(super) fn write(splits: &Splits, mut writer: impl Write) -> io::Result<()> {
    let mut npz = NpzWriter::new();
    for (split, dataset) in named(splits) {
        let (tokens, labels) = array_names(split);
        let ids: Vec<i64> = dataset
            .all_tokens()
            .iter()
            .map(|&id| i64::from(id))
            .collect();
        let targets: Vec<f32> = dataset
            .labels()
            .iter()
            .map(|&label| f32::from(label))
            .collect();
        npz.array(&tokens, &[dataset.len(), dataset.positions()], &ids)?;
        npz.array(&labels, &[dataset.len()], &targets)?;
    }
    writer.write_all(&npz.finish()?)?;
    writer.flush()
}

pub(super) fn read(reader: impl Read + Seek, builder: &mut SplitsBuilder) -> Result<(), String> {
    let message = |error: NpzError| error.to_string();
    let mut npz = NpzReader::new(reader).map_err(message)?;
    for split in [TRAIN, HELD_OUT] {
        let (tokens_name, labels_name) = array_names(split);
        if split == HELD_OUT && !npz.contains(&tokens_name) {
            continue;
        }
        let tokens = npz.integers(&tokens_name).map_err(message)?;
        // Labels are float32, as in the notebook, or integers.
        let labels: Vec<f64> = match npz.floats(&labels_name) {
            Err(NpzError::Unreadable { .. }) => {
                let labels = npz.integers(&labels_name).map_err(message)?.values;
                labels.into_iter().map(|label| label as f64).collect()
            }
            labels => {
                let labels = labels.map_err(message)?.values;
                labels.into_iter().map(f64::from).collect()
            }
        };
        let [count, positions] = tokens.shape[..] else {
            return Err(format!(
                "`{tokens_name}` has shape {:?}, not [sample, position]",
                tokens.shape
            ));
        };
        if labels.len() != count {
            return Err(format!(
                "`{tokens_name}` has {count} samples, but `{labels_name}` has {}",
                labels.len()
            ));
        }
        for (sample, label) in labels.into_iter().enumerate() {
            let place = Place::Row(&tokens_name, sample);
            let tokens = &tokens.values[sample * positions..][..positions];
            builder.push(place, split == HELD_OUT, label, tokens)?;
        }
    }
    Ok(())
}
