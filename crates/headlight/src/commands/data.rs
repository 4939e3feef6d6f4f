//! `headlight data`: writes a config's dataset to a file.

use std::ffi::OsStr;

use clap::Args;
use headlight_data::files::{self, DatasetToWrite, Format};
use headlight_data::{ClsPlace, Dataset, DatasetConfig, SampleShape, Source, Splits, Task, Words};
use headlight_experiment::config::ExperimentConfig;
use headlight_report::counted;
use headlight_trainer::session::dataset::{dataset, fit};
use headlight_trainer::{DatasetFiles, Destination, Failure, Output, shell_word};

use crate::arguments::{ConfigArguments, Force};
use crate::printing::tell;

/// Write a config's dataset as .npz, .csv or .jsonl
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight data --out notebook.npz")]
pub(crate) struct Arguments {
    /// The experiment
    #[command(flatten)]
    config: ConfigArguments,
    /// The file to write; its extension selects the format: .npz, .csv or .jsonl
    #[arg(long, value_name = "FILE")]
    out: Destination,
    #[command(flatten)]
    output: Force,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let files = DatasetFiles::default();
    let config = arguments.config.load_with(&files)?;
    let out = Output::new(&arguments.out, arguments.output.force)?;
    let format = Format::of(out.named("-.csv"))?;
    let rows = match &config.data.source {
        Source::File(path) => Some(files.rows(path, &config.data)?),
        Source::Generated(_) if config.data.is_fresh() => {
            return Err(Failure::Input(
                "`data.samples`: with \"fresh\", each step draws its own samples, so there is no dataset to write; set it to a \
                 number"
                    .to_owned(),
            ));
        }
        Source::Generated(_) => None,
    };
    if config.data.task == Task::NextToken && config.data.words.is_some() && format == Format::Npz {
        return Err(Failure::Input(format!(
            "--out {}: an .npz holds only tokens, so texts would lose the end that follows their last token; write .csv or .jsonl",
            out.display_name()
        )));
    }
    let splits = match &rows {
        Some(rows) => fit(rows, &config)?,
        None => dataset(&config)?,
    };
    let contents = DatasetToWrite {
        splits: &splits,
        config: &config.data,
        padding_token: config.model.attention.padding_token,
        rows: rows.as_ref(),
    };
    out.write(|file| files::write(contents, format, file))?;
    let to_train = match &keys_beside(&config, &splits, format)[..] {
        [] => String::new(),
        keys => format!("; train on it with {}", keys.join(" ")),
    };
    let is_of_grammar = rows.is_none() && config.data.words.is_some() && format != Format::Npz;
    let numbered = if is_of_grammar {
        "; read from a file, the words get other numbers"
    } else {
        ""
    };
    tell(
        out,
        &format!(
            "{} training samples ({}), {} held out ({}){numbered}{to_train}",
            splits.train.len(),
            by_class(&splits.train, &config.data),
            splits.held_out.len(),
            by_class(&splits.held_out, &config.data),
        ),
    )
}

/// What the samples depend on and a file of them does not hold, as options.
fn keys_beside(experiment: &ExperimentConfig, splits: &Splits, format: Format) -> Vec<String> {
    let config = &experiment.data;
    let mut keys = Vec::new();
    let padding = experiment.model.attention.padding_token;
    let parts = [&splits.train, &splits.held_out];
    // The samples may lack a class, the largest token, or the greatest length.
    let counts = parts.map(|part| part.class_counts(config.n_classes));
    let is_missing = |class: usize| counts.iter().all(|counts| counts[class] == 0);
    let lacks_class = config.task == Task::Classification && (0..config.n_classes).any(is_missing);
    if lacks_class && config.classes.is_empty() {
        keys.push(format!("data.n_classes={}", config.n_classes));
    }
    let tokens = parts.iter().flat_map(|part| part.all_tokens()).copied();
    let largest = tokens.chain(padding).max().unwrap_or(0);
    if (config.words.is_none() || format == Format::Npz) && largest + 1 < config.vocab_size {
        keys.push(format!("data.vocab_size={}", config.vocab_size));
    }
    let shape = SampleShape::new(config, padding);
    let length = |part: &Dataset, sample| shape.without_padding(part.tokens(sample)).count();
    let lengths = |part: &Dataset| (0..part.len()).map(|sample| length(part, sample)).max();
    let longest = parts.into_iter().filter_map(lengths).max();
    if longest.unwrap_or(0) < config.cls.positions(config.seq_len) {
        keys.push(format!("data.seq_len={}", config.seq_len));
    }
    // An archive of arrays has these two.
    if format != Format::Npz && config.words.is_none() {
        keys.extend(padding.map(|token| format!("model.attention.padding_token={token}")));
        // A file's classes are in the order of their names.
        if !config.classes.is_sorted() || lacks_class && !config.classes.is_empty() {
            keys.push(format!("data.classes={:?}", config.classes));
        }
    }
    if config.task != Task::Classification {
        keys.push(format!("data.task={}", config.task.name()));
    }
    // Rules may have classes that the samples lack.
    if config.task == Task::TokenClassification && config.classes.is_empty() {
        keys.push(format!("data.n_classes={}", config.n_classes));
    }
    if config.cls != ClsPlace::default() {
        keys.push(format!("data.cls={}", config.cls.name()));
    }
    if let (Some(words), Source::File(_)) = (&config.words, &config.source) {
        let listed = |words: &Words| {
            [
                format!("data.words.min_count={}", words.min_count),
                format!("data.words.max_words={}", words.max_words),
                format!("data.words.lowercase={}", words.lowercase),
            ]
        };
        let usual = listed(&Words::default());
        let changed = listed(words).into_iter().filter(|key| !usual.contains(key));
        // Values of columns are as they are.
        let is_text = config.columns.features.is_empty();
        keys.extend(changed.filter(|key| is_text || !key.contains("lowercase")));
    }
    let option = |key: &String| format!("--set {}", shell_word(OsStr::new(key)));
    keys.iter().map(option).collect()
}

/// How many samples there are of each class.
fn by_class(dataset: &Dataset, config: &DatasetConfig) -> String {
    let counts = dataset.class_counts(config.n_classes);
    if config.task == Task::NextToken {
        return counted(counts.iter().sum(), "token");
    }
    if let ([_, positive], []) = (&counts[..], &config.classes[..]) {
        return format!("{positive} positive");
    }
    let counts = counts.iter().enumerate().map(|(class, count)| {
        let name = config.classes.get(class);
        name.map_or_else(|| count.to_string(), |name| format!("{name} {count}"))
    });
    let unit = if config.task.is_per_position() {
        "labels "
    } else {
        ""
    };
    format!("{unit}by class: {}", counts.collect::<Vec<_>>().join(", "))
}
