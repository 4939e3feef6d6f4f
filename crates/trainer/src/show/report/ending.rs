//! How training ended, and what came of it.

use headlight_data::DatasetConfig;
use headlight_experiment::best::BestTracker;
use headlight_experiment::metrics::StepMetrics;
use headlight_experiment::outcome::Outcome;
use headlight_report::{Section, counted};

use super::names::answer;

/// Whether the model learned its task, as a paragraph.
pub fn outcome_text(outcome: &Outcome, data: &DatasetConfig) -> String {
    let name = |class| quoted_answer(data, class);
    outcome.sentences(name, f1_of(data).as_deref(), data.text_unit().name())
}

/// The name of a class in a sentence, in quotation marks.
pub(crate) fn quoted_answer(data: &DatasetConfig, class: u32) -> String {
    format!("\"{}\"", answer(data, class as usize))
}

/// The class whose F1 is that of a model, where two classes have names.
pub(crate) fn f1_of(data: &DatasetConfig) -> Option<String> {
    let named = data.n_classes == 2 && !data.classes.is_empty();
    named.then(|| quoted_answer(data, 1))
}

/// Which model is the best, and whether training stopped because no later one was better.
pub(super) fn best_model_section(
    tracker: &BestTracker,
    metrics: &[StepMetrics],
) -> Option<Section> {
    let (best, name) = (tracker.best.as_ref()?, tracker.criterion.name());
    let stopped = tracker.is_out_of_patience().then(|| {
        let step = metrics.last().map_or(0, |last| last.step);
        let evaluations = counted(best.waited, "evaluation");
        let steps = counted(step, "step");
        format!("Stopped after {steps}, because {name} had not improved for {evaluations}.")
    });
    let last = metrics.last().map_or(0, |last| last.step);
    let best = format!(
        "This report shows the best model, that of step {} of {last}, with {name} {:.6}. Its weights are in best.safetensors, \
         those of the last model in model.safetensors.",
        best.step, best.value
    );
    Some(Section::titled("", stopped.into_iter().chain([best]), []))
}
