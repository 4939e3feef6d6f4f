//! The dumps of a run, or of several, as one page to look around in.

mod fallback;
mod html;
mod pack;
mod recording;
mod seeds;
mod selection;
mod series;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod text85;

use headlight_dump::AttentionDump;
use serde::Serialize;

pub use recording::Recording;
pub use seeds::{OwnRow, SeedRow, Seeds};

/// The loss at a moment of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LossPoint {
    /// Training steps taken.
    pub step: usize,
    /// Mean cross-entropy over the training samples, in nats.
    pub loss: f64,
}

/// Something that says what the numbers are of: its name and itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// What it is.
    pub name: String,
    /// What it says; may be of several lines.
    pub text: String,
}

/// A page that shows where attention looks, for each run, recorded step, sample and head.
#[derive(Clone, Debug, Default)]
pub struct Viewer {
    runs: Vec<Recording>,
    /// A sweep's seeds, to see the runs among.
    pub seeds: Option<Seeds>,
}

impl Viewer {
    /// Adds a run; one without dumps is left out.
    ///
    /// # Errors
    /// When its attention is of another shape than that of the runs before: says so.
    pub fn add(&mut self, run: Recording) -> Result<(), String> {
        let Some(dump) = run.dumps.last() else {
            return Ok(());
        };
        if let Some((first, other)) = self.first() {
            let shape = |dims: headlight_dump::Dims| {
                let plural = |count, one: &str| {
                    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
                };
                format!(
                    "{} of {} over {}",
                    plural(dims.layers, "block"),
                    plural(dims.heads, "head"),
                    plural(dims.positions, "position")
                )
            };
            let (has, had) = (shape(dump.dims), shape(other.dims));
            if has != had {
                return Err(format!(
                    "it has {has}, and {} has {had}; runs of one page have attention of one shape",
                    first.name
                ));
            }
        }
        self.runs.push(run);
        Ok(())
    }

    /// How much the page holds, in words.
    pub fn extent(&self) -> String {
        let steps: Vec<String> = self
            .runs
            .iter()
            .map(|run| run.dumps.len().to_string())
            .collect();
        match steps.as_slice() {
            [steps] => format!("{steps} steps"),
            _ => format!("{} runs of {} steps", steps.len(), steps.join(", ")),
        }
    }

    fn first(&self) -> Option<(&Recording, &AttentionDump)> {
        let first = self.runs.first()?;
        Some((first, first.dumps.last()?))
    }

    /// What the page is called.
    fn title(&self) -> String {
        match self.runs.as_slice() {
            [only] => format!("Attention of {}", only.name),
            [one, other] => format!("Attention of {} and {}", one.name, other.name),
            runs => format!("Attention of {} runs", runs.len()),
        }
    }

    /// Why a mean over the runs would be of nothing, where it would.
    fn apart(&self) -> Option<&'static str> {
        let (_, first) = self.first()?;
        let steps =
            |run: &Recording| -> Vec<_> { run.dumps.iter().map(|dump| dump.meta.step).collect() };
        let same = |is: fn(&AttentionDump, &AttentionDump) -> bool| {
            let last = |run: &Recording| run.dumps.last().is_some_and(|dump| is(dump, first));
            self.runs.iter().all(last)
        };
        if !same(|one, other| one.tokens == other.tokens && one.meta.samples == other.meta.samples)
        {
            Some("their samples differ")
        } else if !same(|one, other| {
            let bits = |dump: &AttentionDump| -> Vec<u32> {
                dump.labels.iter().map(|label| label.to_bits()).collect()
            };
            bits(one) == bits(other) && one.meta.label_positions == other.meta.label_positions
        }) {
            Some("their labels differ")
        } else if !same(|one, other| one.attention_mask == other.attention_mask) {
            Some("their masks differ")
        } else if self
            .runs
            .iter()
            .any(|run| steps(run) != steps(&self.runs[0]))
        {
            Some("their recorded steps differ")
        } else {
            None
        }
    }
}
