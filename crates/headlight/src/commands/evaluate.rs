//! `headlight evaluate`: evaluates a run's model on labelled samples.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use headlight_analysis::measures::{MeasureValue, compute_measures};
use headlight_architecture::Parameter;
use headlight_data::files::Rows;
use headlight_data::{Dataset, Task};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::evaluate::assess;
use headlight_experiment::metrics::Assessment;
use headlight_report::counted;
use headlight_trainer::files::samples;
use headlight_trainer::session::dataset;
use headlight_trainer::session::test_sets::check_samples;
use headlight_trainer::show::assessment::document;
use headlight_trainer::show::measures::section;
use headlight_trainer::{DatasetFiles, Failure, RunDir, shown};
use serde::Serialize;

use crate::arguments::{DeviceArgument, DocumentArguments};
use crate::interventions::InterventionArguments;
use crate::model::{ModelArguments, RunModel};
use crate::printing::{print_beside, print_json};
use crate::terminal;

/// Evaluate a run's model on labelled samples: confusion matrix, F1, ROC-AUC, thresholds, calibration
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight evaluate runs/notebook-1\nOn other samples, with curves: headlight evaluate runs/notebook-1 samples.csv --html evaluation.html\nFor a script: headlight evaluate runs/notebook-1 --json"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// A dataset file with labels; if its `split` holds samples out, only these count [default: the run's own held-out
    /// samples, or its training samples if it holds out none]
    data: Option<PathBuf>,
    /// Evaluate on this split of the file, or of the run's own samples
    #[arg(long)]
    split: Option<Split>,
    #[command(flatten)]
    interventions: InterventionArguments,
    #[command(flatten)]
    document: DocumentArguments,
    #[command(flatten)]
    device: DeviceArgument,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Line<'a> {
    run: Cow<'a, str>,
    weights: Option<Cow<'a, str>>,
    /// The dataset file, and the split of it, or else of the run's own samples.
    data: Option<Cow<'a, str>>,
    split: Option<Split>,
    /// The steps that the model was trained for, if they are known.
    step: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    interventions: Vec<&'a str>,
    /// In the order of the classes; empty if they have only numbers.
    class_names: &'a [String],
    #[serde(flatten)]
    assessment: &'a Assessment,
    /// What the config asks for in report.measures; without interventions alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    measures: BTreeMap<&'static str, &'a MeasureValue>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let ModelArguments { run, weights } = &arguments.model;
    let file = arguments.data.as_deref();
    let device = arguments.device.name.as_ref();
    let interventions = Some(&arguments.interventions);
    let model = RunModel::open(&arguments.model, device, interventions)?;
    let (dataset, split, trained) = if let Some(path) = file {
        let read = samples::read_labelled(path, &model.config)?;
        read.compare_with_rule(&model.config.data);
        let (rows, split) = of_file(path, &read.rows, arguments.split)?;
        let trained = model.trained_on(&read.rows, &rows);
        (read.dataset.select(&rows), split, trained)
    } else {
        let (dataset, split) = samples_of_run(&model.run, &model.config, arguments.split)?;
        (dataset, split, None)
    };
    let outputs = arguments.document.open()?;
    let interventions = &model.interventions;
    let model_session = model.session(dataset)?;
    let experiment = &model_session.session.experiment;
    let samples = &experiment.splits.train;
    let measures = if interventions.typed().is_empty() {
        let weights = Parameter::weights(&model.parameters);
        compute_measures(&experiment.config, &weights, samples, None)?
    } else {
        Vec::new()
    };
    let mut predictor = model_session.predictor()?;
    let data = &experiment.config.data;
    let assessment = assess(predictor.as_mut(), samples, data.n_classes)?;

    let mut document = document(
        &title(arguments, split, assessment.samples, data.task),
        about(
            arguments,
            split,
            [model.which(), interventions.text()],
            trained,
        ),
        data,
        &assessment,
    );
    document.sections.extend(section(&measures));
    outputs.write(&document)?;
    if !arguments.document.form.json {
        return print_beside(&outputs.0, &document.text(terminal::options()));
    }
    print_json(&Line {
        run: run.to_string_lossy(),
        weights: weights.as_ref().map(|path| path.to_string_lossy()),
        data: file.map(Path::to_string_lossy),
        split,
        step: model.step(),
        interventions: interventions.typed(),
        class_names: &data.classes,
        assessment: &assessment,
        measures: measures
            .iter()
            .map(|(name, value)| (name.name(), value))
            .collect(),
    })
}

/// The rows of a file that are of a split: by default the held-out ones, if it holds any out.
fn of_file(
    path: &Path,
    rows: &Rows,
    split: Option<Split>,
) -> Result<(Vec<usize>, Option<Split>), Failure> {
    let all = 0..rows.len();
    let split = split.or_else(|| {
        let mut all = all.clone();
        all.any(|row| rows.is_held_out(row))
            .then_some(Split::HeldOut)
    });
    let is_of =
        |&row: &usize| split.is_none_or(|split| rows.is_held_out(row) == (split == Split::HeldOut));
    let chosen: Vec<usize> = all.filter(is_of).collect();
    if chosen.is_empty() {
        let reason = "no row has the split that --split names; leave --split out";
        return Err(Failure::reading(path, reason));
    }
    Ok((chosen, split))
}

/// The run's own samples of a split: by default the held-out ones, if there are any.
fn samples_of_run(
    run: &RunDir,
    config: &ExperimentConfig,
    split: Option<Split>,
) -> Result<(Dataset, Option<Split>), Failure> {
    let remedy = ", or give a dataset file after the run";
    check_samples(run, config, remedy)?;
    let splits = dataset::dataset_with(config, &DatasetFiles::default())?;
    let none = splits.held_out.is_empty();
    let refused = match split {
        Some(Split::HeldOut) if none => Some(("held-out", "holds out no samples", "train")),
        Some(Split::Train) if config.data.is_fresh() => {
            let why = "drew its own samples for each step (data.samples = \"fresh\")";
            Some(("train", why, "held-out"))
        }
        _ => None,
    };
    if let Some((split, why, other)) = refused {
        return Err(Failure::Input(format!(
            "--split {split}: the run in {} {why}; use --split {other}, or give a dataset file",
            shown(run.path())
        )));
    }
    Ok(match split {
        None if none => (splits.train, Some(Split::Train)),
        Some(Split::Train) => (splits.train, split),
        _ => (splits.held_out, Some(Split::HeldOut)),
    })
}

fn title(arguments: &Arguments, split: Option<Split>, samples: usize, task: Task) -> String {
    let unit = if task.is_per_position() {
        "position"
    } else {
        "sample"
    };
    let samples = |kind| counted(samples, &format!("{kind}{unit}"));
    let samples = samples(match split {
        Some(Split::Train) => "training ",
        Some(Split::HeldOut) => "held-out ",
        None => "",
    });
    let samples = match &arguments.data {
        Some(data) => format!("{samples} of {}", shown(data)),
        None => samples,
    };
    format!("{} on {samples}", shown(&arguments.model.run))
}

/// What a reader must know about the model and the samples.
fn about(
    arguments: &Arguments,
    split: Option<Split>,
    of_model: [Option<String>; 2],
    trained: Option<usize>,
) -> Vec<String> {
    let [which, interventions] = of_model.map(|sentence| sentence.map(|sentence| sentence + "."));
    let weights = arguments.model.weights.as_ref();
    let weights = weights.map(|path| format!("The weights are those of {}.", shown(path)));
    let are_of_run = arguments.data.is_none();
    let none_held_out = (are_of_run && arguments.split.is_none() && split == Some(Split::Train))
        .then(|| "The run holds out no samples.".to_owned());
    let trained = trained.map(|trained| {
        let remedy = match split {
            Some(Split::HeldOut) => "",
            _ => " Without a file, `headlight evaluate` takes held-out samples.",
        };
        format!("{trained} of these samples are also training samples.{remedy}")
    });
    let left_out = (!are_of_run && arguments.split.is_none() && split.is_some()).then(|| {
        "Only the held-out samples of the file are evaluated; --split train evaluates the others."
            .to_owned()
    });
    let known = (are_of_run && split == Some(Split::Train)).then(|| {
        "The model was trained on these samples; on other samples it may be worse.".to_owned()
    });
    let all = [
        which,
        weights,
        interventions,
        none_held_out,
        left_out,
        known,
        trained,
    ];
    all.into_iter().flatten().collect()
}

/// A split of a run's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Split {
    /// The samples that the model was trained on
    Train,
    /// The samples that were held out
    HeldOut,
}
