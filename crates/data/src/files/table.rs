//! Datasets as CSV: `split,label,token_0,token_1,...`.

use std::io::{self, Read, Write};

use csv::StringRecord;
use headlight_input::{LINE_LIMIT, Metered};

use super::builder::{Place, SplitsBuilder, held_out, named};
use crate::dataset::Splits;

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
            let label = dataset.label(sample).to_string();
            let tokens = dataset.tokens(sample).iter().map(u32::to_string);
            csv.write_record([split.to_owned(), label].into_iter().chain(tokens))?;
        }
    }
    csv.flush()
}

pub(super) fn read(reader: impl Read, builder: &mut SplitsBuilder) -> Result<(), String> {
    // A quoted record can span any number of lines, so each record gets a budget of bytes.
    let (reader, allowance) = Metered::new(reader, LINE_LIMIT, "a record");
    let mut csv = csv::Reader::from_reader(reader);
    let header = csv.headers().map_err(|error| error.to_string())?;
    if header.get(0) != Some("split") || header.get(1) != Some("label") {
        return Err("line 1: the header must read split,label,token_0,token_1,...".to_owned());
    }
    let mut record = StringRecord::new();
    let mut tokens: Vec<i64> = Vec::new();
    loop {
        allowance.set(LINE_LIMIT);
        if !csv
            .read_record(&mut record)
            .map_err(|error| error.to_string())?
        {
            return Ok(());
        }
        let place = Place::Line(record.position().map_or(0, csv::Position::line));
        let number = |field: &str| {
            field
                .trim()
                .parse::<i64>()
                .map_err(|_| format!("{place}: `{field}` is not a whole number"))
        };
        tokens.clear();
        for field in record.iter().skip(2) {
            tokens.push(number(field)?);
        }
        let held_out = held_out(&record[0], place)?;
        builder.push(place, held_out, number(&record[1])? as f64, &tokens)?;
    }
}
