//! Datasets as CSV: `split,label,token_0,token_1,...`.

use std::io::{self, Read, Write};

use super::{Row, held_out, named};
use crate::Splits;

pub(super) fn write(splits: &Splits, writer: impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    let tokens = (0..splits.train.positions()).map(|position| format!("token_{position}"));
    csv.write_record(
        ["split".to_owned(), "label".to_owned()]
            .into_iter()
            .chain(tokens),
    )?;
    for (split, dataset) in named(splits) {
        for sample in 0..dataset.len() {
            let label = u8::from(dataset.label(sample)).to_string();
            let tokens = dataset.tokens(sample).iter().map(u32::to_string);
            csv.write_record([split.to_owned(), label].into_iter().chain(tokens))?;
        }
    }
    csv.flush()
}

pub(super) fn read(reader: impl Read) -> Result<Vec<Row>, String> {
    let mut csv = csv::Reader::from_reader(reader);
    let header = csv.headers().map_err(|error| error.to_string())?;
    if header.get(0) != Some("split") || header.get(1) != Some("label") {
        return Err("line 1: the header must read split,label,token_0,token_1,...".to_owned());
    }
    let mut rows = Vec::new();
    for record in csv.records() {
        let record = record.map_err(|error| error.to_string())?;
        let place = format!("line {}", record.position().map_or(0, csv::Position::line));
        let number = |field: &str| {
            field
                .trim()
                .parse::<i64>()
                .map_err(|_| format!("{place}: `{field}` is not a whole number"))
        };
        rows.push(Row {
            held_out: held_out(&record[0], &place)?,
            label: number(&record[1])?,
            tokens: record
                .iter()
                .skip(2)
                .map(number)
                .collect::<Result<_, _>>()?,
            place,
        });
    }
    Ok(rows)
}
