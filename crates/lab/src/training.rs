//! A training, some steps at a time.

use headlight_architecture::Parameter;
use headlight_data::Dataset;
use headlight_experiment::best::Evaluations;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::Recording;
use headlight_experiment::outcome::Outcome;
use headlight_experiment::train::{Next, Observer, Progress, evaluation_is_due, measure, train};
use headlight_experiment::{Engine, Error, Experiment, FusedEngine, TrainingState};
use serde_json::{Value, json};

use crate::look::bits;
use crate::message::{Answer, Message};
use crate::results::{metrics, results};
use crate::samples::{Known, judged, known};
use crate::texts::repetitions;
use crate::view::View;

/// The memory for rows of steps, in numbers: 64 MiB. Of a longer training or a larger model, only each step whose number
/// is a multiple of a power of two is kept, the last, and the one that the page asks for.
const KEPT_LIMIT: usize = 16 << 20;

/// What a training is watched on.
#[derive(Debug)]
pub(crate) struct WatchedSamples {
    /// Samples with `[CLS]`; without any, those that a run dumps.
    pub(crate) tokens: Option<Vec<Vec<u32>>>,
    /// Of held-out texts, the words that the model does not know. `[sample][position]`
    pub(crate) unknown: Vec<Vec<String>>,
}

/// A training in progress.
#[derive(Debug)]
pub(crate) struct Training {
    experiment: Experiment,
    state: Option<TrainingState>,
    kept: Kept,
}

/// What is kept of a training: the loss of each step, and the rows of some.
#[derive(Debug)]
struct Kept {
    watched: View,
    /// The evaluations, if all steps are asked for; a caller that asks for fewer already knows the outcome.
    evaluations: Option<Evaluations>,
    /// Steps whose number is a multiple of this have a row, and so have the last and the wanted one.
    every: usize,
    last: usize,
    wanted: Option<usize>,
    /// The numbers of a row.
    row: usize,
    progress: Progress,
    /// Of the present part: its last step, how many losses it has, which steps have a row, and the numbers: the loss of each step, and
    /// the rows behind them.
    until: usize,
    losses: usize,
    steps: Vec<usize>,
    floats: Vec<f32>,
}

impl Training {
    /// Starts a training that watches samples, and keeps the step `wanted` in any case.
    /// The answer says what the samples are, what a row holds, and which steps have one.
    pub(crate) fn begin(
        experiment: Experiment,
        steps: Option<usize>,
        watched: &WatchedSamples,
        wanted: Option<usize>,
    ) -> Answer<(Self, Message)> {
        let config = &experiment.config;
        let (watched, samples) = match &watched.tokens {
            Some(tokens) => given(&experiment, tokens)?,
            None => dumped(&experiment, &watched.unknown)?,
        };
        let mut watched = View::new(config, watched, Vec::new())?;
        let evaluations = steps.is_none().then(|| Evaluations::new(&config.training));
        let last = steps.unwrap_or(usize::MAX).min(experiment.steps());
        let mut row = vec![("weights", watched.frozen.size())];
        row.extend(watched.row());
        let size: usize = row.iter().map(|(_, length)| length).sum();
        let mut every = 1;
        while (last / every + 2) * size > KEPT_LIMIT && every < last {
            every *= 2;
        }
        let start = Parameter::weights(&experiment.start);
        let parameters = experiment.start.iter();
        let parameters = parameters.map(|parameter| (&parameter.name, &parameter.shape));
        let inputs = config.inputs();
        let splits = &experiment.splits;
        let question = config.data.rule.as_ref().map(|rule| rule.question());
        let mask = watched.forward(&start, Recording::All)?.mask;
        let head = json!({
            "steps": last,
            "kept_every": every,
            "row": row,
            "question": question,
            "parameters": parameters.collect::<Vec<_>>(),
            "samples": samples,
            "inputs": {
                "positions": inputs.positions,
                "cls": inputs.cls,
                "read": inputs.read_position,
                "classes": inputs.n_classes,
                "vocab_size": inputs.vocab_size,
            },
            "counts": { "train": splits.train.len(), "held_out": splits.held_out.len() },
            "repetitions": repetitions(&config.data, splits),
            "mask": bits(mask),
        });
        let kept = Kept {
            watched,
            evaluations,
            every,
            last,
            wanted,
            row: size,
            progress: Progress::default(),
            until: 0,
            losses: 0,
            steps: Vec::new(),
            floats: Vec::new(),
        };
        let training = Self {
            experiment,
            state: None,
            kept,
        };
        Ok((training, Message::of(&head, Vec::new())))
    }

    /// Takes up to `steps` steps.
    pub(crate) fn advance(&mut self, steps: usize) -> Answer {
        let (experiment, kept) = (&self.experiment, &mut self.kept);
        let start = kept.progress;
        kept.until = kept.last.min(start.step.saturating_add(steps));
        let count = kept.until - start.step;
        kept.losses = 0;
        kept.steps.clear();
        kept.floats = Vec::with_capacity(count + (count / kept.every + 3) * kept.row);
        kept.floats.resize(count, 0.0);
        if count > 0 || self.state.is_none() {
            let mut engine = engine(experiment, self.state.as_ref())?;
            let mut observer = Keeping {
                experiment,
                has_first: self.state.is_some(),
                kept,
            };
            train(experiment, &mut engine, start, || false, &mut observer)?;
            self.state = Some(engine.state());
        }
        let evaluations = kept.evaluations.as_ref();
        if evaluations.is_some_and(Evaluations::is_out_of_patience) {
            kept.last = kept.progress.step;
        }
        // The losses of steps that were not taken.
        kept.floats.drain(kept.losses..count);
        let (step, steps) = (kept.progress.step, &kept.steps);
        let head = json!({ "step": step, "losses": kept.losses, "kept": steps, "done": step == kept.last });
        Ok(Message::of(&head, std::mem::take(&mut kept.floats)))
    }

    /// The results after the last step.
    pub(crate) fn end(self) -> Answer {
        let state = self.state.as_ref().ok_or("no step was taken")?;
        let mut engine = engine(&self.experiment, Some(state))?;
        let mut results = results(&self.experiment, &mut engine, self.kept.progress.step)?;
        if let Some(evaluations) = &self.kept.evaluations {
            describe(evaluations, &self.experiment, &mut results);
        }
        Ok(Message::of(&results, Vec::new()))
    }
}

/// What came of the training, as a report says it, and what the best model is.
fn describe(
    evaluations: &Evaluations,
    Experiment { config, splits, .. }: &Experiment,
    results: &mut Value,
) {
    let (data, step) = (&config.data, evaluations.best_step());
    let name = |class| format!("\"{}\"", data.answer(class as usize));
    let f1_of = (data.n_classes == 2 && !data.classes.is_empty()).then(|| name(1));
    let outcome = Outcome::of(config, splits, &evaluations.rows, step);
    let outcome =
        outcome.map(|outcome| outcome.sentences(name, f1_of.as_deref(), data.text_unit().name()));
    results["outcome"] = json!(outcome);
    if let Some(best) = evaluations.rows.iter().find(|row| Some(row.step) == step) {
        let held_out = best.held_out.as_ref().map(metrics);
        results["best"] = json!({ "step": step, "held_out": held_out });
    }
}

/// The engine at the start of a training, or in a later state.
fn engine<'a>(
    experiment: &'a Experiment,
    state: Option<&TrainingState>,
) -> Result<FusedEngine<'a>, Error> {
    let mut engine = FusedEngine::new(experiment)?;
    if let Some(state) = state {
        engine.restore(state)?;
    }
    Ok(engine)
}

/// Samples from the page, and what is known of each.
fn given(experiment: &Experiment, tokens: &[Vec<u32>]) -> Answer<(Dataset, Vec<Value>)> {
    let watched = experiment.config.unlabelled(tokens)?;
    let judged = judged(&experiment.config, &watched).unwrap_or_default();
    let samples = tokens.iter().enumerate().map(|(index, tokens)| {
        let each = judged.get(index).map_or(&[][..], Vec::as_slice);
        described(&experiment.config, None, tokens, each)
    });
    let samples = samples.collect();
    Ok((watched, samples))
}

/// The samples that a run dumps, and what is known of each; of texts of the reader, held-out ones.
fn dumped(experiment: &Experiment, unknown: &[Vec<String>]) -> Answer<(Dataset, Vec<Value>)> {
    experiment.check_recording()?;
    let (config, splits) = (&experiment.config, &experiment.splits);
    let is_held_out = splits.texts.is_some() && !splits.held_out.is_empty();
    let from = if is_held_out {
        &splits.held_out
    } else {
        splits.displayed_samples()
    };
    let (mut watched, mut samples) = (from.without_samples(), Vec::new());
    for number in config.dump.chosen(from) {
        let (tokens, labels) = (from.tokens(number), from.labels_of(number));
        watched.push_each(tokens, labels.iter().copied());
        // Only samples that a run dumps have numbers.
        let index = Some(number).filter(|_| !is_held_out);
        let mut sample = described(config, index, tokens, &known(config, tokens, labels));
        if let Some(words) = unknown.get(number) {
            sample["typed"] = json!(words);
        }
        samples.push(sample);
    }
    Ok((watched, samples))
}

/// What is known of a sample: its number among those of a run, and its class and the positions that decide it, or those of
/// each position.
fn described(
    config: &ExperimentConfig,
    number: Option<usize>,
    tokens: &[u32],
    each: &[Known],
) -> Value {
    if config.data.task.is_per_position() {
        return json!({ "number": number, "tokens": tokens, "each": each });
    }
    let (label, marked) = each.first().cloned().unwrap_or_default();
    json!({ "number": number, "tokens": tokens, "label": label, "marked": marked })
}

/// Keeps what each step gives.
struct Keeping<'a> {
    experiment: &'a Experiment,
    /// Whether an earlier part has the row before the first step.
    has_first: bool,
    kept: &'a mut Kept,
}

impl Observer for Keeping<'_> {
    type Failure = Error;

    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Error> {
        let (experiment, kept, step) = (self.experiment, &mut *self.kept, progress.step);
        kept.progress = progress;
        if let Some(loss) = progress.loss {
            kept.floats[kept.losses] = loss as f32;
            kept.losses += 1;
        }
        let mut is_kept =
            step.is_multiple_of(kept.every) || step == kept.last || Some(step) == kept.wanted;
        let mut is_last = step == kept.until;
        if let Some(evaluations) = &mut kept.evaluations
            && evaluation_is_due(experiment, progress)
        {
            evaluations.add(measure(experiment, engine, progress)?, engine);
            is_kept |= evaluations.best_step() == Some(progress.step);
            is_kept |= evaluations.is_out_of_patience();
            is_last |= evaluations.is_out_of_patience();
        }
        if is_kept && !(step == 0 && self.has_first) {
            let (weights, floats) = (engine.weights(), &mut kept.floats);
            floats.extend_from_slice(&weights);
            kept.watched
                .append(&weights, Recording::Attention, floats)?;
            kept.steps.push(step);
        }
        Ok(if is_last { Next::Stop } else { Next::Step })
    }
}
