//! Trains one run of a sweep.

use std::path::Path;
use std::sync::Arc;

use headlight_analysis::measures::{certify_for_measures, compute_measures};
use headlight_data::{Dataset, IGNORED};
use headlight_experiment::evaluate::{Evaluation, evaluate};
use headlight_experiment::metrics::{Counts, Metric, f1, predicted_class};
use headlight_experiment::train::{Ending, Next, Observer, Progress, evaluation_is_due, train};
use headlight_experiment::{Engine, Error, Experiment, Predictions, test_metrics};
use headlight_trainer::files::weights;
use headlight_trainer::{Failure, Session, Signals};
use sha2::{Digest, Sha256};

use crate::outcome::RunOutcome;
use crate::parameters;
use crate::plan::Plan;
use crate::row::Row;

/// Trains run `index` of a plan; returns `None` if a signal interrupts it.
pub(crate) fn run(plan: &Plan, index: usize, signals: &Signals) -> Result<Option<Row>, Failure> {
    let (seed, point_index) = plan.seed_and_point(index);
    let point = &plan.points()[point_index];
    let session = point.session(seed)?;
    let kept = plan.weights_file(seed, point_index);
    let outcome = match outcome(&session, kept.as_deref(), signals) {
        Ok(None) => return Ok(None),
        Ok(Some(outcome)) => Ok(outcome),
        Err(Failure::Diverged(message)) => Err(message),
        Err(other) => return Err(other),
    };
    Ok(Some(Row {
        seed,
        point: plan.has_grid().then_some(point_index),
        values: point.values.clone(),
        config: Arc::clone(&point.config),
        outcome,
        config_sha256: plan.config_sha256.clone(),
    }))
}

fn outcome(
    session: &Session,
    kept: Option<&Path>,
    signals: &Signals,
) -> Result<Option<RunOutcome>, Failure> {
    let experiment = &session.experiment;
    let mut engine = session.engine()?;
    let engine = engine.as_mut();
    let mut learning = Learning::new(experiment, kept);
    let interrupted = || signals.received().is_some();
    let start = Progress::default();
    let ending = train(experiment, engine, start, interrupted, &mut learning)?;
    if ending == Ending::Interrupted {
        return Ok(None);
    }
    let (train, held_out) = evaluations(experiment, engine)?;
    if !train.metrics[Metric::Loss].is_some_and(f64::is_finite) {
        let message = "training diverged: the final weights give no finite loss";
        return Err(Failure::Diverged(message.to_owned()));
    }
    let is_attended = |_: &&Evaluation| experiment.is_fresh();
    let attended = held_out.as_ref().filter(is_attended).unwrap_or(&train);
    let attended = attended.clone();
    let (config, weights) = (&experiment.config, engine.weights());
    let watch = |_| {
        if interrupted() {
            return Err(Error::Input("interrupted".to_owned()));
        }
        Ok(())
    };
    let certificate = match certify_for_measures(config, &weights, 0, 1, &watch) {
        Err(_) if interrupted() => return Ok(None),
        certificate => certificate?,
    };
    let judging = experiment.splits.judging_samples();
    let measures = compute_measures(config, &weights, judging, certificate.as_ref())?;
    if let Some(path) = kept {
        let ends = parameters::first_and_last(&experiment.start, &engine.parameters());
        parameters::write(path.to_owned(), ends)?;
    }
    let file = weights::encode(engine.parameters())?;
    Ok(Some(RunOutcome {
        epoch_loss: learning.epoch_loss,
        train: train.metrics,
        held_out: held_out.map(|held_out| held_out.metrics),
        tests: test_metrics(experiment, engine, |_| true)?,
        attended,
        learned_at_step: learning.learned_at_step,
        measures,
        weights_sha256: format!("{:x}", Sha256::digest(file)),
    }))
}

/// The final model on training samples, and on held-out ones. Attention is measured on the training samples. Where each step draws
/// its own, the last batch is too small for that, and held-out ones tell.
fn evaluations(
    experiment: &Experiment,
    engine: &mut dyn Engine,
) -> Result<(Evaluation, Option<Evaluation>), Failure> {
    let n_classes = experiment.config.data.n_classes;
    let is_fresh = experiment.is_fresh();
    let attention_of = |held_out: bool| (held_out == is_fresh).then_some(&experiment.config);
    let train = experiment.training_samples(experiment.steps())?;
    let train = evaluate(engine, &train, n_classes, attention_of(false))
        .ok_or_else(|| Failure::Input("the dataset has no training samples".to_owned()))?;
    let held_out = &experiment.splits.held_out;
    let held_out = evaluate(engine, held_out, n_classes, attention_of(true));
    Ok((train, held_out))
}

/// Samples are checked in parts of this size; the first part is smaller.
const PART: usize = 64;
const FIRST_PART: usize = 8;

/// Collects the loss of each epoch, and the step after which the task is learned.
struct Learning<'a> {
    experiment: &'a Experiment,
    /// The file for the first and last parameters, if they are kept.
    kept: Option<&'a Path>,
    watched: &'a Dataset,
    /// `report.learned`.
    learned_from: f64,
    /// What F1 is computed from if all samples are classified correctly. `[class]`
    all_found: Vec<Counts>,
    /// All watched samples, starting with those that decided the last check.
    samples: Vec<u32>,
    predictions: Predictions,
    epoch_loss: Vec<f64>,
    learned_at_step: Option<usize>,
}

impl<'a> Learning<'a> {
    fn new(experiment: &'a Experiment, kept: Option<&'a Path>) -> Self {
        let (watched, config) = (experiment.splits.judging_samples(), &experiment.config);
        let n_classes = config.data.n_classes;
        // Those of every class but 0 first; with a label per position, all in their order.
        let all: Vec<usize> = if watched.is_per_position() {
            (0..watched.len()).collect()
        } else {
            watched.positives().chain(watched.of_class(0)).collect()
        };
        Self {
            experiment,
            kept: kept.filter(|_| config.training.save_weights),
            watched,
            learned_from: config.report.learned,
            all_found: watched
                .class_counts(n_classes)
                .into_iter()
                .map(|found| Counts {
                    found,
                    ..Counts::default()
                })
                .collect(),
            samples: all.into_iter().map(|sample| sample as u32).collect(),
            predictions: Predictions::default(),
            epoch_loss: Vec::new(),
            learned_at_step: None,
        }
    }

    /// Whether F1 on the watched samples is `report.learned` or more.
    ///
    /// The check ends as soon as F1 can no longer reach that value. The next check starts with the samples
    /// that decided this one, so that a few predictions are enough after most steps.
    fn is_learned(&mut self, engine: &mut dyn Engine) -> bool {
        let mut counts = self.all_found.clone();
        let (mut start, mut part) = (0, FIRST_PART);
        while start < self.samples.len() {
            let end = (start + part).min(self.samples.len());
            let checked = &self.samples[start..end];
            engine.predict(self.watched, checked, &mut self.predictions);
            let answers = self.watched.labels_per_sample();
            let n_logits = self.predictions.logits.len() / (checked.len() * answers);
            let logits = self.predictions.logits.chunks_exact(n_logits);
            let labels = checked
                .iter()
                .flat_map(|&sample| self.watched.labels_of(sample as usize));
            for (&label, logits) in labels.zip(logits) {
                if label == IGNORED {
                    continue;
                }
                let predicted = predicted_class(logits);
                if predicted != label {
                    let of_label = &mut counts[label as usize];
                    of_label.found -= 1;
                    of_label.missed += 1;
                    counts[predicted as usize].false_alarms += 1;
                }
            }
            if f1(&counts).is_none_or(|best| best < self.learned_from) {
                self.samples[..end].rotate_right(end - start);
                return false;
            }
            (start, part) = (end, PART.min(engine.samples_per_pass()));
        }
        !self.samples.is_empty()
    }
}

impl Observer for Learning<'_> {
    type Failure = Failure;

    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Failure> {
        let is_due = |_: &&Path| evaluation_is_due(self.experiment, progress);
        if let Some(run) = self.kept.filter(is_due) {
            let name = format!("step-{:06}.safetensors", progress.step);
            parameters::write(run.with_extension("").join(name), engine.parameters())?;
        }
        if self.learned_at_step.is_none() && self.is_learned(engine) {
            self.learned_at_step = Some(progress.step);
        }
        if progress.at_epoch_end {
            self.epoch_loss.extend(progress.losses.value());
        }
        Ok(Next::Step)
    }
}
