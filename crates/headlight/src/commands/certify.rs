//! `headlight certify`: how a run's model answers every possible input.

use std::path::Path;

use clap::Args;
use headlight_analysis::certificate::{self, Certificate, SampleEstimate};
use headlight_architecture::Parameter;
use headlight_experiment::Error;
use headlight_report::Document;
use headlight_trainer::show::certificate::{sampled_section, section};
use headlight_trainer::{Failure, Signals, shown};
use serde::Serialize;

use crate::arguments::{Form, threads, whole};
use crate::model::{ModelArguments, RunModel};
use crate::printing::{print, print_json};
use crate::terminal::{self, set_share, share_bar};

/// Count how a run's model answers every possible input
///
/// The count of the fused engine's answers is exact. The model must have one layer and one readout position. The config must have a
/// rule that gives every input a label.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight certify runs/notebook-1\nWith more of the worst inputs: headlight certify runs/notebook-1 --examples 50\nFor other models, an estimate: headlight certify runs/equal_positions-1 --sample 1000000"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// For each label, list the K inputs with the smallest margins; 0 lists none
    #[arg(
        long,
        value_name = "K",
        allow_negative_numbers = true,
        default_value_t = 10,
        value_parser = whole::<u16>(0, 10_000),
        conflicts_with = "sample"
    )]
    examples: u16,
    /// Ask the model about N random inputs instead of all, and estimate the share of wrong answers
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, 1_000_000_000))]
    sample: Option<u64>,
    #[command(flatten)]
    form: Form,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Line<'a> {
    run: &'a Path,
    #[serde(flatten)]
    found: Found,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found {
    Counted(Certificate),
    Sampled { sampled: SampleEstimate },
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = RunModel::open(&arguments.model, None, None)?;
    let weights = Parameter::weights(&model.parameters);
    let config = &model.config;
    if let (Err(reason), None) = (certificate::check(config), arguments.sample) {
        let instead = match certificate::check_rule(config) {
            Ok(_) => "; give --sample N to ask the model about N random inputs instead",
            Err(_) => "",
        };
        return Err(Failure::Input(format!("a certificate {reason}{instead}")));
    }

    let signals = Signals::listen()?;
    let bar = share_bar();
    let watch = |share: f64| {
        set_share(&bar, share);
        match signals.received() {
            None => Ok(()),
            Some(_) => Err(Error::Input("interrupted".to_owned())),
        }
    };
    let threads = threads(None);
    let found = match arguments.sample {
        Some(count) => certificate::sample(config, &weights, count, config.seed, &watch)
            .map(|sampled| Found::Sampled { sampled }),
        None => certificate::certify(config, &weights, arguments.examples.into(), threads, &watch)
            .map(Found::Counted),
    };
    bar.finish_and_clear();
    if let Some(signal) = signals.received() {
        let message = match (arguments.sample, arguments.examples) {
            (Some(_), _) => "interrupted before the model had answered all random inputs",
            (None, 0) => {
                "interrupted before the count had ended; --sample N asks about N random inputs"
            }
            (None, _) => {
                "interrupted before the count and the search for the smallest margins had ended; --examples 0 gives the count alone"
            }
        };
        let message = message.to_owned();
        return Err(Failure::Interrupted { signal, message });
    }
    let found = found?;
    if arguments.form.json {
        return print_json(&Line {
            run: &arguments.model.run,
            found,
        });
    }
    let section = match &found {
        Found::Counted(certificate) => section(certificate, config),
        Found::Sampled { sampled } => sampled_section(sampled),
    };
    let rule = config.data.rule.as_ref();
    let question = rule.map_or_else(String::new, |rule| rule.question());
    let document = Document {
        title: format!("{}: {question}", shown(&arguments.model.run)),
        sections: vec![section],
        ..Document::default()
    };
    print(&terminal::written(&document))
}
