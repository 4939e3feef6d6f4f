//! What came of a run, which its report, its first screen and `headlight train` show.

use std::path::PathBuf;

use headlight_analysis::certificate::Certificate;
use headlight_analysis::measures::MeasureValue;
use headlight_architecture::{Parameter, StrongestHead};
use headlight_dump::AttentionDump;
use headlight_experiment::Experiment;
use headlight_experiment::best::Evaluations;
use headlight_experiment::config::MeasureName;
use headlight_experiment::metrics::{Assessment, StepMetrics, TestMetrics};
use headlight_experiment::outcome::Outcome;
use headlight_experiment::readout::head_note;
use headlight_experiment::train::Progress;
use headlight_report::counted;

use crate::run::RunState;

/// A run that has ended or was interrupted. The model that is used is the best one if the run keeps it, or else the last one.
#[derive(Debug)]
pub struct FinishedRun {
    /// The evaluations, and the best model if the config keeps one.
    pub evaluations: Evaluations,
    /// The step of the model that is used.
    pub step: usize,
    /// That model on the samples that judge it; `None` if its output is not a number.
    pub assessment: Option<Assessment>,
    /// Whether the model learned its task; `None` without an evaluation.
    pub outcome: Option<Outcome>,
    /// That model on all test sets.
    pub tests: Vec<TestMetrics>,
    /// What the config asks for in `report.measures`, of that model on the samples that judge it.
    pub measures: Vec<(MeasureName, MeasureValue)>,
    /// How that model answers all possible inputs, if a measure asks for it.
    pub certificate: Option<Certificate>,
    /// That model's dump of the samples in the report.
    pub dump: AttentionDump,
    /// The layer and the head to look at first, as the run's dumps say.
    pub strongest: (usize, StrongestHead),
    /// That model's parameters, in the model's order.
    pub parameters: Vec<Parameter>,
    /// The run's page; `None` if it was not written.
    pub page: Option<PathBuf>,
    /// The progress of training at its end.
    pub progress: Progress,
    /// Whether training was interrupted, or is complete.
    pub state: RunState,
    /// Whether the run lacks its certificate, since the count was interrupted or would take too long.
    pub is_uncounted: bool,
}

impl FinishedRun {
    /// Which of several heads is shown first, and why; without a full stop.
    pub(super) fn which_head(&self) -> Option<String> {
        let (layer, head) = self.strongest;
        (self.dump.dims.heads > 1).then(|| head_note(layer, head, true))
    }

    /// The last evaluation of the model that is used.
    pub(super) fn used_evaluation(&self) -> Option<&StepMetrics> {
        self.evaluations
            .rows
            .iter()
            .rfind(|row| row.step <= self.step)
    }

    /// Where training was interrupted, if it was; without a full stop.
    pub(super) fn interruption_sentence(&self, experiment: &Experiment) -> Option<String> {
        let Progress { step, epoch, .. } = self.progress;
        (self.state == RunState::Interrupted).then(|| {
            if experiment.is_fresh() {
                format!("Interrupted after step {step} of {}", experiment.steps())
            } else {
                let epochs = counted(experiment.epochs(), "epoch");
                format!("Interrupted after step {step}, with {epoch} of {epochs} finished")
            }
        })
    }
}
