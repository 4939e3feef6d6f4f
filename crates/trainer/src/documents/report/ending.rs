//! How training ended, and what came of it.

use headlight_data::DatasetConfig;
use headlight_experiment::best::BestTracker;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::StepMetrics;
use headlight_experiment::outcome::Outcome;
use headlight_experiment::train::Progress;
use headlight_inspector::{Section, counted};

use super::names::answer;

/// Whether the model learned its task, as a paragraph.
pub fn outcome_text(outcome: &Outcome, data: &DatasetConfig) -> String {
    outcome.sentences(|class| quoted_answer(data, class))
}

/// The name of a class in a sentence, in quotation marks.
pub fn quoted_answer(data: &DatasetConfig, class: u8) -> String {
    format!("\"{}\"", answer(data, class.into()))
}

/// [`outcome_text`] as a section.
pub(super) fn outcome(outcome: &Outcome, data: &DatasetConfig) -> Section {
    Section::of_paragraph(outcome_text(outcome, data))
}

/// That training was interrupted.
pub(super) fn interrupted(
    Progress { step, epoch, .. }: Progress,
    config: &ExperimentConfig,
) -> Section {
    let epochs = config.training.epochs;
    Section::of_paragraph(format!(
        "Interrupted after {step} steps ({epoch} of {epochs} epochs finished); all figures are from that step."
    ))
}

/// Which model is the best, and whether training stopped because no later one was better.
pub(super) fn best(tracker: &BestTracker, metrics: &[StepMetrics]) -> Option<Section> {
    let (best, name) = (tracker.best.as_ref()?, tracker.measure.name());
    let stopped = tracker.is_out_of_patience().then(|| {
        let step = metrics.last().map_or(0, |last| last.step);
        let evaluations = counted(best.waited, "evaluation");
        format!("Stopped after {step} steps, because {name} had not improved for {evaluations}.")
    });
    let best = format!(
        "Best {name}: {:.6} at step {}; that model is in best.safetensors.",
        best.value, best.step
    );
    Some(Section {
        paragraphs: stopped.into_iter().chain([best]).collect(),
        ..Section::default()
    })
}
