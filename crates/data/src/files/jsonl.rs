//! Datasets as JSON lines, one per sample: `{"split":"train","label":0,"tokens":[0,45,...]}`.

use std::io::{self, BufRead, BufWriter, Write};

use headlight_input::{LINE_LIMIT, Lines};
use serde::{Deserialize, Serialize};

use super::builder::{Place, SplitsBuilder, TRAIN, held_out, named};
use crate::dataset::Splits;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default = "train")]
    split: String,
    label: i64,
    tokens: Vec<i64>,
}

fn train() -> String {
    TRAIN.to_owned()
}

pub(super) fn write(splits: &Splits, writer: impl Write) -> io::Result<()> {
    let mut writer = BufWriter::new(writer);
    for (split, dataset) in named(splits) {
        for sample in 0..dataset.len() {
            let row = Row {
                split: split.to_owned(),
                label: i64::from(dataset.label(sample)),
                tokens: dataset
                    .tokens(sample)
                    .iter()
                    .map(|&token| i64::from(token))
                    .collect(),
            };
            serde_json::to_writer(&mut writer, &row)?;
            writer.write_all(b"\n")?;
        }
    }
    writer.flush()
}

pub(super) fn read(reader: impl BufRead, builder: &mut SplitsBuilder) -> Result<(), String> {
    let mut lines = Lines::new(reader, LINE_LIMIT);
    for number in 1.. {
        let place = Place::Line(number);
        let next = lines.next_line();
        let Some(line) = next.map_err(|error| format!("{place}: {error}"))? else {
            break;
        };
        if line.text.trim().is_empty() {
            continue;
        }
        let row: Row =
            serde_json::from_str(&line.text).map_err(|error| format!("{place}: {error}"))?;
        let held_out = held_out(&row.split, place)?;
        builder.push(place, held_out, row.label as f64, &row.tokens)?;
    }
    Ok(())
}
