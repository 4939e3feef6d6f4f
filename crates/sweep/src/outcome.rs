//! What a run found.

use headlight_analysis::measures::MeasureValue;
use headlight_experiment::config::MeasureName;
use headlight_experiment::evaluate::Evaluation;
use headlight_experiment::metrics::{EvalMetrics, TestMetrics};

/// The results of a run that did not fail.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// Mean loss over the batches of each epoch; none if each step draws its own samples.
    pub epoch_loss: Vec<f64>,
    /// On the training samples, with the final weights; if each step draws its own, on the batch of the last step.
    pub train: EvalMetrics,
    /// On the held-out samples, if the dataset has any.
    pub held_out: Option<EvalMetrics>,
    /// On the test sets.
    pub tests: Vec<TestMetrics>,
    /// On the samples on which attention is measured: those of training; if each step draws its own, held-out ones.
    pub attended: Evaluation,
    /// The first step after which F1 on the samples that judge a model was `report.learned` or more.
    pub learned_at_step: Option<usize>,
    /// The measures that `report.measures` asks for, of the final model on the held-out samples, or else on the training
    /// samples.
    pub measures: Vec<(MeasureName, MeasureValue)>,
    /// The hash of `model.safetensors`, as `headlight train` writes it.
    pub weights_sha256: String,
}
