//! `headlight embed`: the vectors of words, alone and in sentences.

mod table;

use clap::Args;
use headlight_analysis::contexts::{Separation, context_levels, occurrences};
use headlight_architecture::Parameter;
use headlight_data::DatasetConfig;
use headlight_data::words::{Encoder, UNK};
use headlight_input::toml_message::nearest;
use headlight_report::counted;
use headlight_trainer::session::dataset;
use headlight_trainer::session::test_sets::check_samples;
use headlight_trainer::{Destination, Failure, Output, shown};

use table::{Contexts, quoted};

use crate::arguments::{Force, Form, count};
use crate::model::{ModelArguments, RunModel};
use crate::printing::{print_beside, print_json};

/// Show how far a word's vectors move apart in its sentences, and write the vectors as CSV
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight embed runs/bank-1 --word bank\nThe vectors: headlight embed runs/bank-1 --word bank --word crane --csv vectors.csv"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// A word, or a token of a run whose samples are tokens; can be given several times
    #[arg(long = "word", value_name = "WORD", required = true)]
    words: Vec<String>,
    /// Take at most this many occurrences, in the order of the run's held-out samples
    #[arg(long, value_name = "COUNT", default_value = "40", value_parser = count)]
    occurrences: usize,
    /// Also write each vector and its place in the plane of its principal components, as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<Destination>,
    #[command(flatten)]
    output: Force,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let run = &arguments.model.run;
    let model = RunModel::open(&arguments.model, None, None)?;
    let (config, weights) = (&model.config, Parameter::weights(&model.parameters));
    if config.data.task.is_per_position() {
        return Err(Failure::Input(format!(
            "{}: its samples have a label per position; give a run with one label per sample",
            shown(run)
        )));
    }
    let tokens = arguments.words.iter().map(|word| token(word, &config.data));
    let tokens = tokens.collect::<Result<Vec<u32>, _>>()?;
    check_samples(&model.run, config, "")?;
    let splits = dataset::dataset(config)?;
    let dataset = splits.judging_samples();
    let split = if splits.held_out.is_empty() {
        "training"
    } else {
        "held-out"
    };
    let outputs = Output::all([("csv", arguments.csv.as_ref())], arguments.output.force)?;
    arguments.form.check(&outputs)?;
    let [csv] = outputs;
    let found = occurrences(config, dataset, &tokens, arguments.occurrences);
    if found.is_empty() {
        return Err(Failure::Input(format!(
            "--word: none of the {} of {} has {}; choose a more frequent word",
            counted(dataset.len(), &format!("{split} sample")),
            shown(run),
            quoted(&arguments.words)
        )));
    }
    let contexts = Contexts {
        levels: context_levels(config, &weights, dataset, &found)?,
        separation: Separation::of(&found, dataset),
        occurrences: found,
        dataset,
        config,
    };
    if let Some(out) = csv {
        out.write(|file| contexts.write(file))?;
    }
    if arguments.form.json {
        return print_json(&contexts.json(run, model.step(), &arguments.words, split));
    }
    let which = model.which().map(|which| format!("\n{which}\n"));
    let text = contexts.text(&arguments.words, split, arguments.occurrences);
    print_beside(&outputs, &(text + &which.unwrap_or_default()))
}

/// The token of a word.
fn token(word: &str, data: &DatasetConfig) -> Result<u32, Failure> {
    let Some(words) = &data.words else {
        let token = word.parse().ok().filter(|&token| token < data.vocab_size);
        return token.ok_or_else(|| {
            Failure::Input(format!(
                "--word {word}: the run's samples are tokens, not texts; give a number below {}",
                data.vocab_size
            ))
        });
    };
    let is_word = |&token: &u32| words.text(token) == word;
    if let Some(token) = (UNK + 1..words.vocab_size()).find(is_word) {
        return Ok(token);
    }
    match Encoder::new(words).encode(word)[..] {
        [token] if token != UNK => Ok(token),
        [_, _, ..] => Err(Failure::Input(format!(
            "--word {word:?}: this is more than one word; give each one with a --word of its own"
        ))),
        _ => {
            let known = words.vocabulary.iter().map(String::as_str);
            let of_column = |known: &&str| {
                let value = known.split_once('=').map(|(_, value)| value);
                value.is_some_and(|value| value.to_lowercase() == word.to_lowercase())
            };
            let same: Vec<String> = known
                .clone()
                .filter(of_column)
                .map(|known| format!("{known:?}"))
                .collect();
            let like = match &same[..] {
                [] => nearest(word, known).map(|like| format!("{like:?}")),
                _ => Some(same.join(" or ")),
            };
            let like = like.map(|like| format!("; did you mean {like}?"));
            Err(Failure::Input(format!(
                "--word {word:?}: it is not among the {} words of the run's vocabulary{}",
                words.vocabulary.len(),
                like.unwrap_or_default()
            )))
        }
    }
}
