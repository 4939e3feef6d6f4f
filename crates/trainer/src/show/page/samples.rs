//! The samples of a dataset file, as a page carries them.

use std::path::Path;

use headlight_data::files::{Rows, numbers_are_names};
use headlight_data::{CLS, Dataset, Task};
use headlight_experiment::config::ExperimentConfig;
use headlight_page::{OwnData, OwnLabel};

use crate::Failure;
use crate::files::{built_in, dataset_file};
use crate::session::dataset::fit;

/// The most bytes of samples in a page, as JSON.
const MOST: usize = 200_000;

/// A file of more bytes than this is not read: JSON has two bytes or more for each token, and the other formats seldom
/// have more than eight.
const LARGEST_FILE: u64 = 16 << 20;

/// The samples of a config's file; otherwise why a page cannot have them: the end of a sentence about the samples, without its
/// full stop.
pub(super) fn embedded_samples(
    config: &ExperimentConfig,
    path: &Path,
) -> Result<Result<OwnData, String>, Failure> {
    let bytes = match built_in::data_file(path) {
        Some(content) => Ok(content.len() as u64),
        None => path.metadata().map(|file| file.len()),
    };
    let bytes = bytes.map_err(|error| Failure::unreadable(path, &error))?;
    if bytes > LARGEST_FILE {
        return Ok(Err(too_large(
            "come from a file of",
            bytes as f64 / 1e6,
            "MB",
        )));
    }
    if config.data.task == Task::TokenClassification {
        let reason = "have a label per token, and a page carries one label per sample";
        return Ok(Err(reason.to_owned()));
    }
    if config
        .data
        .words
        .as_ref()
        .is_some_and(|words| words.one_text)
    {
        return Ok(Err(
            "are windows of one text, which a page does not carry".to_owned()
        ));
    }
    let rows = dataset_file::read(path, &config.data)?;
    let splits = fit(&rows, config)?;
    if splits.train.weights().is_some() {
        return Ok(Err("have weights, which a page does not carry".to_owned()));
    }
    let data = own_data(&rows, config)?;
    let json = serde_json::to_string(&data);
    let size = json.map_or(usize::MAX, |json| json.len());
    if size > MOST {
        return Ok(Err(too_large("take", size as f64 / 1e3, "kB")));
    }
    Ok(Ok(data))
}

fn too_large(verb: &str, size: f64, unit: &str) -> String {
    let most = MOST / 1000;
    format!("{verb} {size:.0} {unit}, and a page holds at most {most} kB of samples")
}

/// The samples in the file's order. A config adds `[CLS]` and padding to them, and holds some out.
fn own_data(rows: &Rows, config: &ExperimentConfig) -> Result<OwnData, Failure> {
    let shape = config.sample_shape();
    let has_cls = shape.cls.is_present();
    let samples = rows.dataset(&config.data, shape.padding_token)?;
    let tokens = (0..samples.len()).map(|row| {
        let tokens = shape.without_padding(samples.tokens(row));
        tokens.filter(|&token| !has_cls || token != CLS).collect()
    });
    let held_out: Vec<bool> = (0..rows.len()).map(|row| rows.is_held_out(row)).collect();
    let split = |&held_out: &bool| if held_out { "test" } else { "train" };
    let splits = if held_out.contains(&true) {
        held_out.iter().map(split).collect()
    } else {
        Vec::new()
    };
    let classes = &config.data.classes;
    let named = numbers_are_names(&config.data);
    let labels = match config.data.task {
        // What follows a text is no token of it.
        Task::NextToken if config.data.words.is_some() => last_labels(&samples),
        Task::NextToken => vec![0; samples.len()],
        _ => samples.labels().to_vec(),
    };
    let label = |&class: &u32| match classes.get(class as usize) {
        Some(name) if named => OwnLabel::Name(name.clone()),
        _ => OwnLabel::Class(class),
    };
    Ok(OwnData {
        tokens: tokens.collect(),
        labels: labels.iter().map(label).collect(),
        splits,
        classes: classes.clone(),
    })
}

/// The last label of each sample that counts.
fn last_labels(samples: &Dataset) -> Vec<u32> {
    let last = |sample| samples.counted_labels(sample).last();
    let labels = (0..samples.len()).map(|sample| last(sample).map_or(CLS, |(_, label)| label));
    labels.collect()
}
