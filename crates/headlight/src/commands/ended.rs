//! What `headlight train` shows of a run that has ended: an object for programs, and pictures.

use std::fmt::Write;

use crate::printing::print_json;
use headlight_data::DatasetConfig;
use headlight_dump::AttentionDump;
use headlight_experiment::outcome::Outcome;
use headlight_inspector::{ColourMode, Heatmap, Quantity};
use headlight_trainer::Failure;
use headlight_trainer::documents::report::{WHOLE_MATRIX, outcome_text};
use headlight_trainer::storage::run_dir::RunDir;
use serde_json::json;

use crate::terminal;

/// A run that has ended or was interrupted.
pub(super) struct Ended<'a> {
    pub(super) run: &'a RunDir,
    /// Names the classes.
    pub(super) data: &'a DatasetConfig,
    pub(super) outcome: Option<Outcome>,
    /// The steps taken, of all `steps`.
    pub(super) step: usize,
    pub(super) steps: usize,
    /// The step of the best model, if the run keeps one.
    pub(super) best_step: Option<usize>,
    pub(super) was_interrupted: bool,
}

impl Ended<'_> {
    /// Prints where the run is, how far it came, whether it has learned, and its last evaluation.
    pub(super) fn print(&self) -> Result<(), Failure> {
        let (run, outcome) = (self.run, self.outcome.as_ref());
        let page = Some(run.page_path()).filter(|page| page.exists());
        let certificate = run.certificate()?;
        print_json(&json!({
            "run": run.path(),
            "step": self.step,
            "steps": self.steps,
            "best_step": self.best_step,
            "interrupted": self.was_interrupted,
            "class_names": self.data.classes,
            "learned": outcome.and_then(Outcome::learned),
            "wrong_inputs": certificate.as_ref().map(|certificate| certificate.wrong),
            "judgement": outcome,
            "outcome": outcome.map(|outcome| outcome_text(outcome, self.data)),
            "metrics": run.last_metrics()?,
            "report": run.report_path(),
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
        let _ = writeln!(text, "\n{}", heatmap.text(options, None));
        text
    })
}
