//! What each step trains on: a batch of the training samples, or samples that it draws.

use std::borrow::Cow;

use headlight_data::{Batches, Dataset, FreshSamples, TokenDropout};

use crate::error::Error;
use crate::experiment::{Experiment, weigh};

impl Experiment {
    /// Whether each step draws its own samples, so that there are no epochs.
    pub fn is_fresh(&self) -> bool {
        self.fresh.is_some()
    }

    /// The samples that the training metrics after `step` steps are of: all training samples or, if they are fresh, the
    /// batch of the last step. Before the first step, they are of its batch.
    ///
    /// # Errors
    /// When no samples are left to draw.
    pub fn training_samples(&self, step: usize) -> Result<Cow<'_, Dataset>, Error> {
        match &self.fresh {
            Some(fresh) => Ok(Cow::Owned(drawn(self, fresh, step.saturating_sub(1))?)),
            None => Ok(Cow::Borrowed(&self.splits.train)),
        }
    }
}

/// Hands out the samples of one step after the other.
pub(crate) struct Feed<'a> {
    experiment: &'a Experiment,
    dropout: Option<TokenDropout>,
    /// The epoch, counted from 1, and its batches.
    epoch: Option<(usize, Batches)>,
    /// The batch of a step that draws its samples, and all of their indices.
    drawn: Dataset,
    all: Vec<u32>,
}

impl<'a> Feed<'a> {
    pub(crate) fn new(experiment: &'a Experiment) -> Self {
        Self {
            experiment,
            dropout: experiment.token_dropout(),
            epoch: None,
            drawn: experiment.splits.train.without_samples(),
            all: Vec::new(),
        }
    }

    /// The samples of the step after `step` steps, and the indices of its batch among them.
    pub(crate) fn batch(&mut self, step: usize) -> Result<(&Dataset, &[u32]), Error> {
        let experiment = self.experiment;
        let (train, batch) = if let Some(fresh) = &experiment.fresh {
            self.drawn = drawn(experiment, fresh, step)?;
            self.all = (0..self.drawn.len() as u32).collect();
            (&self.drawn, &self.all[..])
        } else {
            let per_epoch = experiment.steps_per_epoch();
            let (epoch, index) = (step / per_epoch + 1, step % per_epoch);
            if self.epoch.as_ref().is_none_or(|(held, _)| *held != epoch) {
                self.epoch = Some((epoch, experiment.batches(epoch)));
            }
            let batches = self.epoch.as_ref().map(|(_, batches)| batches);
            let batch = batches.and_then(|batches| batches.iter().nth(index));
            (&experiment.splits.train, batch.unwrap_or_default())
        };
        Ok(match &mut self.dropout {
            None => (train, batch),
            Some(dropout) => dropout.apply(train, step, batch),
        })
    }
}

/// The samples that a step draws, with their weights.
fn drawn(experiment: &Experiment, fresh: &FreshSamples, step: usize) -> Result<Dataset, Error> {
    let drawn = fresh.batch(step);
    let mut drawn = drawn.map_err(|invalid| Error::Input(invalid.within("data").to_string()))?;
    weigh(&mut drawn, &experiment.config)?;
    Ok(drawn)
}
