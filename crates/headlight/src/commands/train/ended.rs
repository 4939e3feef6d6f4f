//! What `headlight train` shows of a run that has ended: an object for programs, and pictures.

use std::fmt::Write;

use headlight_dump::AttentionDump;
use headlight_experiment::Experiment;
use headlight_experiment::outcome::Outcome;
use headlight_report::{ColourMode, Heatmap, Quantity};
use headlight_trainer::files::run_files::{PAGE, REPORT};
use headlight_trainer::show::report::{WHOLE_MATRIX, outcome_text};
use headlight_trainer::{Failure, RunDir};
use serde_json::json;

use crate::commands::inspect::ALL_VALUES;
use crate::printing::print_json;
use crate::terminal;

/// How a training ended.
pub(super) struct Ended<'a> {
    pub(super) outcome: Option<&'a Outcome>,
    pub(super) step: usize,
    /// The step of the best model, if the run keeps one.
    pub(super) best_step: Option<usize>,
    pub(super) was_interrupted: bool,
}

impl Ended<'_> {
    /// Prints where the run is, how far it came, whether it has learned, and its last evaluation.
    pub(super) fn print(&self, run: &RunDir, experiment: &Experiment) -> Result<(), Failure> {
        let (data, outcome) = (&experiment.config.data, self.outcome);
        let page = Some(run.file(PAGE)).filter(|page| page.exists());
        let certificate = run.certificate()?;
        print_json(&json!({
            "run": run.path(),
            "step": self.step,
            "steps": experiment.steps(),
            "best_step": self.best_step,
            "interrupted": self.was_interrupted,
            "class_names": data.classes,
            "learned": outcome.and_then(Outcome::learned),
            "wrong_inputs": certificate.map(|certificate| certificate.wrong),
            "judgement": outcome,
            "outcome": outcome.map(|outcome| outcome_text(outcome, data)),
            "metrics": run.last_metrics()?,
            "report": run.file(REPORT),
            "page": page,
        }))
    }
}

/// Heatmaps of a head, one per sample of a dump; empty without colour, since the
/// report has the numbers, and for long samples.
pub(super) fn pictures(dump: &AttentionDump, (layer, head): (usize, usize)) -> String {
    let options = terminal::options();
    if options.colour == ColourMode::Plain || dump.dims.positions > WHOLE_MATRIX {
        return String::new();
    }
    (0..dump.dims.samples).fold(String::new(), |mut text, sample| {
        let heatmap = Heatmap::of(dump, sample, &[layer], &[head], Quantity::Weights);
        let _ = writeln!(text, "\n{}", heatmap.text(options, None, ALL_VALUES));
        text
    })
}
