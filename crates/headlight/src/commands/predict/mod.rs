//! `headlight predict`: classifies one sample, or those of a file, with a run's model.

mod file;
mod positions;
mod predictions;
mod sample;

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use headlight_data::Task;
use headlight_trainer::files::samples;
use headlight_trainer::show::explanation;
use headlight_trainer::{Destination, Failure, Output, STANDARD, shown};
use serde_json::json;

use crate::arguments::{DeviceArgument, Force, Form};
use crate::interventions::InterventionArguments;
use crate::model::{ModelArguments, RunModel};
use crate::printing::{note, print, print_beside, print_json, tell};
use crate::terminal;

/// Classify one sample with a run's model and show where it looks, or classify the samples of a file
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight predict runs/notebook-1 --tokens \"0 45 48 1 4 4 40\"\nA file, with all its columns: headlight predict runs/reviews-1 new.csv --out predictions.csv"
)]
#[command(group = ArgGroup::new("sample").args(["file", "tokens", "text"]).required(true))]
pub(crate) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// A file of samples: .csv, .tsv, .jsonl or .npz, also with .gz; .txt with a sample per line; or - for standard input. Each row
    /// of a file with columns keeps them, and its prediction comes after them
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
        conflicts_with_all = ["file", "out", "without_head", "without_position", "without_layer", "patch"]
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
    #[command(flatten)]
    device: DeviceArgument,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let tokens = arguments.tokens.as_deref();
    let device = arguments.device.name.as_ref();
    let interventions = Some(&arguments.interventions);
    let model = RunModel::open(&arguments.model, device, interventions)?;
    if let Some(path) = &arguments.file {
        return classify(arguments, &model, path);
    }
    let config = &model.config;
    let text = arguments.text.as_deref();
    let dataset = match (text, tokens) {
        (Some(text), _) => samples::parse_texts([text], "--text", config)?,
        (None, tokens) => {
            let ids: Vec<&str> = tokens.unwrap_or_default().split_whitespace().collect();
            samples::parse(ids.join(" "), "--tokens", config)?
        }
    };
    if let Some(sentence) = model.unseen(&dataset) {
        note(sentence);
    }
    let rule = config.data.rule.as_ref();
    let known = rule.filter(|rule| rule.has_label(dataset.tokens(0), dataset.cls()));
    let is_labelled = known.is_some() || config.data.task == Task::NextToken;
    let label = known.filter(|_| !dataset.is_per_position());
    let label = label.map(|_| dataset.label(0));
    let [picture] = Output::all([("svg", arguments.svg.as_ref())], arguments.output.force)?;
    arguments.form.check(&[picture])?;
    let explained = arguments.explain.then(|| {
        let is_chosen = config.model.n_heads > 1 && model.has_own_samples();
        let head = is_chosen.then(|| explanation::head_of_run(config, &model.parameters));
        let explanation =
            explanation::of_sample(config, &model.parameters, &dataset, text, head.flatten())?;
        Ok::<_, Failure>((explanation::table(&explanation, config), explanation))
    });
    let explained = explained.transpose()?;
    let dump = sample::dump(&model, &dataset, is_labelled)?;
    if let (Some(out), Some((table, _))) = (picture, &explained) {
        out.write_all(table.svg().as_bytes())?;
    }
    if arguments.form.json {
        let mut line = sample::as_json(&dump, config, label);
        model.interventions.add_to(&mut line);
        if let Some((_, explanation)) = &explained {
            line["explanation"] = explanation::json(explanation, &config.data);
        }
        return print_json(&line);
    }
    let mut text = sample::describe(&dump, config, label);
    let line = |text: Option<String>| text.map_or_else(String::new, |text| text + "\n");
    text += &line(model.interventions.text());
    let which = line(model.which());
    if let Some((table, _)) = &explained {
        let table = table.text(terminal::options().width);
        return print_beside(&[picture], &format!("{text}{which}\n{table}"));
    }
    text += &sample::heads(&dump, &model.interventions);
    let gap = if which.is_empty() { "" } else { "\n" };
    print(&[&text, gap, &which].concat())
}

/// Classifies the samples of a file, and tells how many there were, and by which model.
fn classify(arguments: &Arguments, model: &RunModel, path: &Path) -> Result<(), Failure> {
    if path != Path::new(STANDARD) && !path.exists() && !path.is_symlink() {
        return Err(Failure::Input(format!(
            "there is no file {}; for one text, use --text, and for token ids --tokens",
            shown(path)
        )));
    }
    let out = match &arguments.out {
        Some(out) => Output::new(out, arguments.output.force)?,
        None => Output::standard(),
    };
    if arguments.form.json && out.is_standard() {
        let message =
            "--json prints one object, and a file has many samples; add --out predictions.jsonl";
        return Err(Failure::Input(message.to_owned()));
    }
    let count = file::write(model, path, out)?;
    if arguments.form.json {
        let mut line =
            json!({"samples": count.samples, "correct": count.correct, "step": model.step()});
        model.interventions.add_to(&mut line);
        return print_json(&line);
    }
    let trained = count.trained;
    let trained = trained.map(|trained| format!("{trained} of them are also training samples"));
    let more = [model.which(), model.interventions.text(), trained];
    let more = more.into_iter().flatten().map(|text| format!(". {text}"));
    tell(out, &format!("{count}{}", more.collect::<String>()))
}
