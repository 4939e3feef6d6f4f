//! `headlight predict`: classifies one sample, or those of a file, with a run's model.

mod explain;
mod file;
mod positions;
mod predictions;
mod sample;

use std::path::{Path, PathBuf};

use crate::printing::{note, print, print_json, tell};
use clap::{ArgGroup, Args};
use headlight_data::Task;
use headlight_trainer::Failure;
use headlight_trainer::documents::explanation;
use headlight_trainer::storage::outputs::{Destination, Output};
use headlight_trainer::storage::samples;
use headlight_trainer::storage::standard::{STANDARD, quoted, shown};
use serde_json::{Value, json};

use self::predictions::Count;
use super::interventions::{InterventionArguments, Interventions};
use super::model::RunModel;
use crate::arguments::{Force, Form, device};

/// Classify one sample with a run's model and show where it looks, or classify the samples of a file
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight predict runs/notebook-1 --tokens \"0 45 48 1 4 4 40\"\nA file, with all its columns: headlight predict runs/reviews-1 new.csv --out predictions.csv"
)]
#[command(group = ArgGroup::new("sample").args(["file", "tokens", "text"]).required(true))]
pub(crate) struct Arguments {
    /// A run directory
    run: PathBuf,
    /// A file of samples: .csv, .tsv or .jsonl with the columns that the run was trained on, each of whose rows is written as it is,
    /// with the prediction after its own columns; .npz; or .txt with a sample per line. Or one of these with .gz, or - for
    /// standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The token ids of one sample, separated by spaces or commas; Headlight adds `[CLS]`, which is 0, where
    /// the run's samples have it
    #[arg(long, value_name = "IDS")]
    tokens: Option<String>,
    /// The sample as text, for a run that was trained on texts; or a value of each column, separated by commas, for one that
    /// was trained on columns
    #[arg(long)]
    text: Option<String>,
    /// Write the predictions for FILE to this file, .csv, .tsv or .jsonl, instead of printing them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tokens", "text"])]
    out: Option<Destination>,
    /// Show which words decided: the prediction without each word, and integrated gradients, beside attention
    #[arg(
        long,
        conflicts_with_all = ["file", "out", "without_head", "without_position", "without_block", "patch"]
    )]
    explain: bool,
    /// Also write what --explain shows as an SVG picture
    #[arg(long, value_name = "FILE", requires = "explain")]
    svg: Option<Destination>,
    #[command(flatten)]
    interventions: InterventionArguments,
    #[command(flatten)]
    output: Force,
    #[command(flatten)]
    form: Form,
    /// Use these weights, a safetensors file, such as model.safetensors for those after the last step [default: those of
    /// the best model if the run keeps it, or else those after the last step]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Compute on this device (`headlight devices` lists them), instead of the device in the run's config
    #[arg(long, value_parser = device)]
    device: Option<String>,
}

/// Prints the probabilities, and the attention of the position that the class is read from.
///
/// # Errors
/// When the run or the tokens are invalid.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let weights = arguments.weights.as_deref();
    let tokens = arguments.tokens.as_deref();
    let is_id = |c: char| c.is_ascii_digit() || c.is_whitespace() || c == ',';
    let is_file = |tokens: &&str| *tokens == STANDARD || Path::new(tokens).exists();
    let files = tokens.filter(|tokens| !tokens.chars().all(is_id));
    if let Some(file) = files.filter(is_file) {
        return Err(Failure::Input(format!(
            "--tokens {0}: token ids are needed, such as \"3 7 4\"; a file stands after the run: `headlight predict {1} {0}`",
            quoted(Path::new(file)),
            quoted(&arguments.run)
        )));
    }
    let model = RunModel::open(&arguments.run, weights, arguments.device.as_ref())?
        .with(&arguments.interventions)?;
    if let Some(path) = &arguments.file {
        if path != Path::new(STANDARD) && !path.exists() {
            return Err(Failure::Input(format!(
                "there is no file {}; for one text, use --text, and for token ids --tokens",
                shown(path)
            )));
        }
        let out = output(arguments)?;
        let which = Which::of(&model);
        let count = file::write(model, path, out)?;
        return tell_count(arguments, out, &count, &which);
    }
    let config = model.config.clone();
    let dataset = match (&arguments.text, tokens) {
        (Some(text), _) => samples::parse_texts([text.as_str()], "--text", &config)?,
        (None, tokens) => {
            let ids: Vec<&str> = tokens.unwrap_or_default().split_whitespace().collect();
            samples::parse(ids.join(" "), "--tokens", &config)?
        }
    };
    if let Some(sentence) = model.unseen(&dataset) {
        note(sentence);
    }
    let rule = config.data.rule.as_ref();
    let known = rule.filter(|rule| rule.knows(dataset.tokens(0), dataset.cls()));
    let is_labelled = known.is_some() || config.data.task == Task::NextToken;
    let label = known.filter(|_| !dataset.is_per_position());
    let label = label.map(|_| dataset.label(0));
    let [picture] = Output::all([("svg", arguments.svg.as_ref())], arguments.output.force)?;
    arguments.form.check(&[picture])?;
    let explained = if arguments.explain {
        let text = arguments.text.as_deref();
        Some(explanation::of_sample(
            &config,
            &model.parameters,
            &dataset,
            text,
        )?)
    } else {
        None
    };
    let (which, interventions) = (model.which(), model.interventions.clone());
    let dump = sample::dump(model, &dataset, is_labelled)?;
    let mut described = sample::describe(&dump, &config, label);
    if let Some(text) = interventions.text() {
        described = format!("{described}{text}\n");
    }
    if let Some(explained) = explained {
        let json = || sample::as_json(&dump, &config, label);
        let described = format!(
            "{described}{}",
            which.map_or_else(String::new, |which| format!("{which}\n"))
        );
        return explain::show(
            &explained,
            &config,
            &described,
            json,
            arguments.form,
            picture,
        );
    }
    if arguments.form.json {
        let mut line = sample::as_json(&dump, &config, label);
        add_interventions(&mut line, &interventions);
        return print_json(&line);
    }
    let which = which.map(|which| format!("\n{which}\n"));
    let heads = sample::heads(&dump, &config, &interventions);
    print(&(described + &heads + &which.unwrap_or_default()))
}

/// Where the predictions for a file go.
fn output(arguments: &Arguments) -> Result<Output<'_>, Failure> {
    let out = match &arguments.out {
        Some(out) => Output::new(out, arguments.output.force)?,
        None => Output::standard(),
    };
    if arguments.form.json && out.is_standard() {
        let message =
            "--json prints one object, and a file has many samples; add --out predictions.jsonl";
        return Err(Failure::Input(message.to_owned()));
    }
    Ok(out)
}

/// Which model predicts: its step, that in words, and what is changed in it.
struct Which {
    step: Option<usize>,
    text: Option<String>,
    interventions: Interventions,
}

impl Which {
    fn of(model: &RunModel) -> Self {
        Self {
            step: model.step(),
            text: model.which(),
            interventions: model.interventions.clone(),
        }
    }
}

/// Adds the interventions to an object, if there are any.
fn add_interventions(line: &mut Value, interventions: &Interventions) {
    let typed = interventions.typed();
    if !typed.is_empty() {
        line["interventions"] = json!(typed);
    }
}

/// Tells how many samples were classified, and by which model.
fn tell_count(
    arguments: &Arguments,
    out: Output<'_>,
    count: &Count,
    which: &Which,
) -> Result<(), Failure> {
    if arguments.form.json {
        let mut line =
            json!({"samples": count.samples, "correct": count.correct, "step": which.step});
        add_interventions(&mut line, &which.interventions);
        return print_json(&line);
    }
    let trained = count.trained;
    let trained = trained.map(|trained| format!("{trained} of them are also training samples"));
    let more = [which.text.clone(), which.interventions.text(), trained];
    let more = more.into_iter().flatten().map(|text| format!("; {text}"));
    tell(out, &format!("{count}{}", more.collect::<String>()))
}
