//! Texts or token ids of the reader's own: a table of them, and what `headlight train FILE` makes of its config.

use std::io::Cursor;

use headlight_data::files::{
    ChosenSamples, FileError, FileKeys, FitError, Format, HELD_OUT_PART, Rows, SampleTable,
};
use headlight_data::words::UNK;
use headlight_data::{CLS, ClsPlace, ColumnNames, Dataset, DatasetConfig, Splits};
use headlight_experiment::Experiment;
use serde_json::json;

use crate::message::{Answer, Message};

/// The part of a config that a table gives, and what becomes of its samples. `name` is what the config calls the table, and `cls`
/// the place of `[CLS]` beside token ids.
///
/// # Errors
/// When the table is damaged, its columns cannot be told, or its samples cannot be trained on.
pub(crate) fn described(table: &str, name: &str, cls: ClsPlace) -> Answer {
    let table = read(table, name).map_err(|error| error.message)?;
    let choice = table.choose(&ColumnNames::default()).map_err(|error| {
        let mut to_name = error.to_name.iter();
        let key = to_name.find(|key| !error.message.contains(&format!("`{key}`")));
        let remedy = key.map(|key| format!("; name the column of {key}s `{key}`"));
        error.message + &remedy.unwrap_or_default()
    })?;
    let unit = match choice.samples {
        ChosenSamples::Texts => "texts",
        ChosenSamples::Tokens => "samples",
        _ => {
            let message = "no column holds texts; name it `text` in the first line, and that of the labels `label`";
            return Err(message.into());
        }
    };
    let columns = choice.columns.clone();
    let rows = table.samples(&columns).map_err(|error| error.message)?;
    let has_own_split = (0..rows.len()).any(|row| rows.is_held_out(row));
    let keys = rows.complete(FileKeys {
        held_out: (!has_own_split).then_some(rows.len() / HELD_OUT_PART),
        cls,
        ..FileKeys::default()
    });
    let padding_token = keys.padding_token;
    // The keys of `[data]` that a run's own config would have.
    let mut data = json!(keys);
    data["text"] = json!(columns.text);
    data["label"] = json!(columns.label);
    data["held_out"] = json!(keys.held_out.unwrap_or_default());
    let config = keys.config(name, columns);
    let splits = fit(&rows, &config, padding_token)?;
    if splits.held_out.is_empty() {
        let count = rows.len();
        let remedy = "give 5 or more, of which a fifth is held out";
        return Err(format!("there are {count} {unit}, and none is held out; {remedy}").into());
    }
    let counts = |samples: &Dataset| samples.class_counts(config.n_classes);
    let losses = splits.texts.map(|texts| texts.sentences(config.seq_len));
    let mut notes = losses.unwrap_or_default();
    notes.extend(repetitions(&config, &splits));
    notes.extend(rows.notes(&[]));
    let head = json!({
        "choice": choice.describe(),
        "data": data,
        "padding_token": padding_token,
        "train": counts(&splits.train),
        "held_out": counts(&splits.held_out),
        "notes": notes,
    });
    Ok(Message::of(&head, Vec::new()))
}

/// Which samples are also training samples, a sentence each.
pub(crate) fn repetitions(config: &DatasetConfig, splits: &Splits) -> Vec<String> {
    let all = splits.repetitions(config, &[]).into_iter();
    all.map(|(what, count)| format!("{what}: {count}."))
        .collect()
}

/// The texts of a table, with their labels.
///
/// # Errors
/// When it is damaged; the message names the line.
pub(crate) fn rows(table: &str, columns: &ColumnNames, name: &str) -> Result<Rows, String> {
    let rows = read(table, name).and_then(|table| table.samples(columns));
    rows.map_err(|error| error.message)
}

fn read(table: &str, name: &str) -> Result<SampleTable, FileError> {
    SampleTable::read(Cursor::new(table), Format::Csv, name)
}

/// The samples of an experiment.
///
/// # Errors
/// When they do not fit the config.
pub(crate) fn fit(
    rows: &Rows,
    config: &DatasetConfig,
    padding_token: Option<u32>,
) -> Result<Splits, String> {
    rows.fit(config, padding_token)
        .map_err(|error| match error {
            FitError::Config(invalid) => invalid.within("data").to_string(),
            FitError::File(error) => error.message,
        })
}

/// What stands in the held-out texts of a table for the words that the model does not know: of each sample, for each position;
/// empty for all others.
pub(crate) fn unknown(table: &str, experiment: &Experiment) -> Vec<Vec<String>> {
    let (data, samples) = (&experiment.config.data, &experiment.splits.held_out);
    let rows = rows(table, &data.columns, "");
    let rows = rows.unwrap_or_default();
    let texts = rows.held_out_texts(data).into_iter().enumerate();
    let unknown = texts.map(|(sample, text)| {
        let mut words = data.words.as_ref().map(|words| words.split(text));
        let mut next = || words.as_mut().and_then(Iterator::next).unwrap_or_default();
        let tokens = samples.tokens(sample).iter();
        let typed = tokens.map(|&token| match token {
            CLS => String::new(),
            UNK => next().to_owned(),
            _ => {
                next();
                String::new()
            }
        });
        typed.collect()
    });
    unknown.collect()
}
