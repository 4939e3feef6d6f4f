//! Samples from the user: a dataset file, lines of text, or one line of token ids.

use std::io::{BufRead, BufReader};
use std::path::Path;

use headlight_data::Dataset;
use headlight_data::files::{self, FileError, Format};
use headlight_experiment::check_sample;
use headlight_experiment::config::ExperimentConfig;
use headlight_input::{FILE_LIMIT, LINE_LIMIT, Lines};

use crate::Failure;
use crate::files::{STANDARD, open};

/// Reads samples from a dataset file (both splits, training first), or from a text file or standard input (`-`). Also returns whether
/// their labels are known.
///
/// # Errors
/// When the file cannot be read, or a sample does not match the config.
pub fn read(path: &Path, config: &ExperimentConfig) -> Result<(Dataset, bool), Failure> {
    if path == Path::new(STANDARD) || path.extension().is_some_and(|extension| extension == "txt") {
        return text_samples(path, config);
    }
    let invalid = |error: FileError| Failure::Input(error.to_string());
    let format = Format::of(path).map_err(invalid)?;
    let file = open(path, FILE_LIMIT)?;
    let splits = files::read(file, format, path.display()).map_err(invalid)?;
    let mut dataset = Dataset::empty(config.data.seq_len);
    for split in [&splits.train, &splits.held_out] {
        for sample in 0..split.len() {
            let tokens = split.tokens(sample);
            check_sample(tokens, config)
                .map_err(|reason| Failure::reading(path, format!("sample {sample}: {reason}")))?;
            let (label, n_classes) = (split.label(sample), config.data.n_classes);
            if usize::from(label) >= n_classes {
                let reason = format!(
                    "sample {sample} is labelled {label}; this model has classes 0 to {}",
                    n_classes - 1
                );
                return Err(Failure::reading(path, reason));
            }
            dataset.push(tokens, label);
        }
    }
    Ok((dataset, true))
}

/// One sample per line of token ids; labels come from the config's rule, if it has one.
fn text_samples(path: &Path, config: &ExperimentConfig) -> Result<(Dataset, bool), Failure> {
    let file = open(path, FILE_LIMIT)?;
    let dataset = parse_lines(BufReader::new(file), config)
        .map_err(|reason| Failure::reading(path, reason))?;
    Ok((dataset, config.data.rule.is_some()))
}

/// Samples from lines of token ids, labelled by the config's rule if it has one.
///
/// # Errors
/// When a line is invalid; the message names the line and the reason.
pub fn parse_lines(reader: impl BufRead, config: &ExperimentConfig) -> Result<Dataset, String> {
    let rule = config.data.rule.as_ref();
    let mut dataset = Dataset::empty(config.data.seq_len);
    let mut lines = Lines::new(reader, LINE_LIMIT);
    for number in 1.. {
        let in_line = |reason: String| format!("line {number}: {reason}");
        let Some(line) = lines
            .next_line()
            .map_err(|error| in_line(error.to_string()))?
        else {
            break;
        };
        let tokens = token_ids(&line.text).map_err(in_line)?;
        if tokens.is_empty() {
            continue;
        }
        check_sample(&tokens, config).map_err(in_line)?;
        let label = rule.map_or(0, |rule| rule.label_for(&tokens, config.data.n_classes));
        dataset.push(&tokens, label);
    }
    if dataset.is_empty() {
        return Err("it holds no samples".to_owned());
    }
    Ok(dataset)
}

/// Reads token ids and checks them against the config's vocabulary and length.
///
/// # Errors
/// When they are invalid; the message gives the reason.
pub fn parse_tokens(text: &str, config: &ExperimentConfig) -> Result<Vec<u32>, String> {
    let tokens = token_ids(text)?;
    check_sample(&tokens, config)?;
    Ok(tokens)
}

fn token_ids(text: &str) -> Result<Vec<u32>, String> {
    let invalid = |word| format!("`{word}` is not a token id; write whole numbers");
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    words
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().map_err(|_| invalid(word)))
        .collect()
}
