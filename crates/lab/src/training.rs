//! A training, some steps at a time.

use headlight_architecture::Parameter;
use headlight_data::Dataset;
use headlight_experiment::train::{Next, Observer, Progress, train};
use headlight_experiment::{Engine, Error, Experiment, FusedEngine, TrainingState};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::look::{WATCHED, arrays, dataset, lengths};
use crate::message::Message;

/// The memory for rows of steps, in numbers: 64 MiB. Of a longer training or a larger model, only each step whose number
/// is a multiple of a power of two is kept, and the last.
const KEPT_LIMIT: usize = 16 << 20;

/// A training in progress.
#[derive(Debug)]
pub(crate) struct Training {
    experiment: Experiment,
    watched: Dataset,
    state: Option<TrainingState>,
    progress: Progress,
    steps: usize,
    kept_every: usize,
}

impl Training {
    /// Starts a training; the answer says what a row holds, and which steps have one.
    ///
    /// # Errors
    /// When the samples to watch do not suit the config.
    pub(crate) fn begin(
        experiment: Experiment,
        steps: Option<usize>,
        watched: &[Vec<u32>],
    ) -> Result<(Self, Message), String> {
        let watched = dataset(&experiment.config, watched)?;
        let steps = steps.unwrap_or(usize::MAX).min(experiment.steps());
        let weights = experiment
            .start
            .iter()
            .map(|parameter| parameter.values.len());
        let mut row = vec![("weights", weights.sum())];
        let (arrays, _) = arrays(&experiment.config, &experiment.start, &watched)?;
        row.extend(lengths(&arrays[..WATCHED]));
        let size: usize = row.iter().map(|(_, length)| length).sum();
        let mut kept_every = 1;
        while (steps / kept_every + 2) * size > KEPT_LIMIT && kept_every < steps {
            kept_every *= 2;
        }
        let rule = experiment.config.data.rule.as_ref();
        let question = rule.map(headlight_data::LabelRule::question);
        let head =
            json!({ "steps": steps, "kept_every": kept_every, "row": row, "question": question });
        let training = Self {
            experiment,
            watched,
            state: None,
            progress: Progress::default(),
            steps,
            kept_every,
        };
        Ok((training, Message::of(&head, Vec::new())))
    }

    /// Takes up to `steps` steps.
    ///
    /// # Errors
    /// When training diverges.
    pub(crate) fn advance(&mut self, steps: usize) -> Result<Message, String> {
        let told = |error: Error| error.to_string();
        let mut kept = Kept {
            training: self,
            until: self.steps.min(self.progress.step.saturating_add(steps)),
            progress: self.progress,
            losses: Vec::new(),
            steps: Vec::new(),
            rows: Vec::new(),
        };
        let mut engine = FusedEngine::new(&self.experiment).map_err(told)?;
        if let Some(state) = &self.state {
            engine.restore(state).map_err(told)?;
        }
        let never = || false;
        train(
            &self.experiment,
            &mut engine,
            self.progress,
            never,
            &mut kept,
        )
        .map_err(told)?;
        let Kept {
            progress,
            losses,
            steps,
            rows,
            ..
        } = kept;
        self.state = Some(engine.state());
        self.progress = progress;
        let head = json!({ "step": progress.step, "losses": losses.len(), "kept": steps });
        Ok(Message::of(&head, [losses, rows].concat()))
    }

    /// The hash of `model.safetensors` after the last step.
    ///
    /// # Errors
    /// When no step was taken.
    pub(crate) fn end(self) -> Result<Message, String> {
        let state = self.state.ok_or("no step was taken")?;
        let sha256 = format!("{:x}", Sha256::digest(safetensors(&state.parameters)?));
        Ok(Message::of(
            &json!({ "weights_sha256": sha256, "step": self.progress.step }),
            Vec::new(),
        ))
    }
}

/// The bytes of `model.safetensors`.
fn safetensors(parameters: &[Parameter]) -> Result<Vec<u8>, String> {
    let told = |error: safetensors::SafeTensorError| error.to_string();
    let bytes: Vec<Vec<u8>> = parameters
        .iter()
        .map(|parameter| {
            parameter
                .values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        })
        .collect();
    let tensors: Vec<(&str, TensorView<'_>)> = parameters
        .iter()
        .zip(&bytes)
        .map(|(parameter, bytes)| {
            let tensor =
                TensorView::new(Dtype::F32, parameter.shape.clone(), bytes).map_err(told)?;
            Ok((parameter.name.as_str(), tensor))
        })
        .collect::<Result<_, String>>()?;
    safetensors::serialize(tensors, None).map_err(told)
}

/// Keeps the loss of each step, and the rows of some.
struct Kept<'a> {
    training: &'a Training,
    until: usize,
    progress: Progress,
    losses: Vec<f32>,
    steps: Vec<usize>,
    rows: Vec<f32>,
}

impl Observer for Kept<'_> {
    type Failure = Error;

    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Error> {
        let training = self.training;
        self.progress = progress;
        self.losses.extend(progress.loss.map(|loss| loss as f32));
        if progress.step.is_multiple_of(training.kept_every) || progress.step == training.steps {
            let weights = engine.parameters();
            let config = &training.experiment.config;
            let (arrays, _) = arrays(config, &weights, &training.watched).map_err(Error::Input)?;
            let weights = weights.iter().flat_map(|parameter| &parameter.values);
            self.rows.extend(weights);
            let watched = arrays.iter().take(WATCHED);
            self.rows.extend(watched.flat_map(|(_, values)| values));
            self.steps.push(progress.step);
        }
        Ok(if progress.step == self.until {
            Next::Stop
        } else {
            Next::Step
        })
    }
}
