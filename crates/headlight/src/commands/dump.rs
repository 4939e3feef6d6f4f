//! `headlight dump`: given weights, given samples, all that is computed.

use std::io::{BufRead, BufReader};
use std::path::Path;

use headlight_data::{Dataset, files};
use headlight_input::{FILE_LIMIT, LINE_LIMIT, Lines};

use crate::Failure;
use crate::cli::DumpArguments;
use crate::config::{DumpFormat, ExperimentConfig};
use crate::experiment::{fits, init_model};
use crate::files::{open, print};
use crate::record::{Moment, Samples, record};
use crate::run_dir::write_dump;
use crate::weights;

/// Writes the dump.
///
/// # Errors
/// When the config, the weights or the samples cannot be used.
pub fn run(arguments: &DumpArguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let format = format_of(&arguments.out)?;
    let (dataset, labelled) = samples(&arguments.tokens, &config)?;
    let device = arguments
        .device
        .unwrap_or(config.compute.device)
        .open()?
        .device;
    let model = weights::load(init_model(&config, &device)?, &arguments.weights)?;
    let samples = Samples {
        indices: (0..dataset.len()).collect(),
        dataset: &dataset,
        from_training: false,
        labelled,
    };
    let dump = record(&model, &samples, Moment::default(), &config, &device)?;
    write_dump(&dump, format, &arguments.out)?;
    print(&format!(
        "{}: {} samples\n",
        arguments.out.display(),
        dataset.len()
    ))
}

fn format_of(path: &Path) -> Result<DumpFormat, Failure> {
    let ending = path.extension().unwrap_or_default();
    DumpFormat::ALL
        .into_iter()
        .find(|format| ending == format.ending())
        .ok_or_else(|| {
            Failure::Input(format!(
                "{}: the ending says no dump format; use .npz, .json or .csv",
                path.display()
            ))
        })
}

/// Samples from a dataset file (both splits, training first) or a text file, and whether their
/// labels are known.
fn samples(path: &Path, config: &ExperimentConfig) -> Result<(Dataset, bool), Failure> {
    if path.extension().is_some_and(|ending| ending == "txt") {
        return text_samples(path, config);
    }
    let splits = files::read(path).map_err(|error| Failure::Input(error.to_string()))?;
    let mut dataset = Dataset::empty(config.data.seq_len);
    for part in [&splits.train, &splits.held_out] {
        for sample in 0..part.len() {
            let tokens = part.tokens(sample);
            fits(tokens, config)
                .map_err(|reason| Failure::reading(path, format!("sample {sample}: {reason}")))?;
            dataset.push(tokens, part.label(sample));
        }
    }
    Ok((dataset, true))
}

/// A line of token ids a sample; the config's rule, where there is one, gives the labels.
fn text_samples(path: &Path, config: &ExperimentConfig) -> Result<(Dataset, bool), Failure> {
    let file = open(path, FILE_LIMIT)?;
    let dataset = parse_samples(BufReader::new(file), config)
        .map_err(|reason| Failure::reading(path, reason))?;
    Ok((dataset, config.data.rule.is_some()))
}

/// Samples from lines of token ids, labelled by the config's rule where there is one.
///
/// # Errors
/// Says where and what.
pub fn parse_samples(reader: impl BufRead, config: &ExperimentConfig) -> Result<Dataset, String> {
    let rule = config.data.rule.as_ref();
    let mut dataset = Dataset::empty(config.data.seq_len);
    let mut lines = Lines::new(reader, LINE_LIMIT);
    for number in 1.. {
        let at = |reason: String| format!("line {number}: {reason}");
        let Some(line) = lines.next_line().map_err(|error| at(error.to_string()))? else {
            break;
        };
        let tokens: Vec<u32> = line
            .text
            .split_whitespace()
            .map(|word| {
                word.parse()
                    .map_err(|_| at(format!("`{word}` is no token id")))
            })
            .collect::<Result<_, _>>()?;
        if tokens.is_empty() {
            continue;
        }
        fits(&tokens, config).map_err(at)?;
        dataset.push(&tokens, rule.is_some_and(|rule| rule.label_for(&tokens)));
    }
    if dataset.is_empty() {
        return Err("it holds no samples".to_owned());
    }
    Ok(dataset)
}
