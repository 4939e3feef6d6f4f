//! The interactive page of a run, or of several: their dumps in one HTML file. Or of an experiment that the page trains
//! itself.

mod again;
mod attention;
mod facts;
mod html;
mod numbers;
mod run;
mod selection;
mod series;

use headlight_dump::AttentionDump;
use serde::Serialize;
use serde_json::Value;

use headlight_report::counted;

pub use again::{Lab, OwnData, OwnLabel, PageTraining};
pub use attention::OtherAttention;
pub use html::stepwise;
pub use run::PageRun;

/// The loss at a step of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LossPoint {
    /// Training steps taken.
    pub step: usize,
    /// Mean cross-entropy over the training samples, in nats.
    pub loss: f64,
}

/// A fact about the origin of the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Its name.
    pub name: String,
    /// Its value, which may have several lines.
    pub text: String,
    /// Inputs that it is about, which open as samples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
}

/// An input that a page can open as a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Its tokens, `[CLS]` among them. `[position]`
    pub tokens: Vec<u32>,
    /// What there is to know of it.
    pub about: String,
}

/// The interactive page: attention of each run, recorded step, sample and head.
#[derive(Clone, Debug, Default)]
pub struct Page {
    runs: Vec<PageRun>,
    /// The experiment of a page without a run.
    lab: Option<Lab>,
    /// The title of a page of attention alone.
    attention: Option<String>,
    /// The question that the classifier answers, if it is known.
    pub question: Option<String>,
}

impl Page {
    /// The page of an experiment, without a run.
    pub fn without_a_run(lab: Lab) -> Self {
        Self {
            lab: Some(lab),
            ..Self::default()
        }
    }

    /// Adds a run, unless it has no dumps.
    ///
    /// # Errors
    /// If the shape of its attention differs from that of the runs before: both shapes, in a sentence.
    pub fn add(&mut self, run: PageRun) -> Result<(), String> {
        let Some(dump) = run.dumps.last() else {
            return Ok(());
        };
        if let Some((first, other)) = self.first() {
            let shape = |dims: headlight_dump::Dims| {
                let classes = match dims.logits {
                    1 => String::new(),
                    several => format!(", with {several} classes"),
                };
                format!(
                    "{} of {} over {}{classes}",
                    counted(dims.layers, "layer"),
                    counted(dims.heads, "head"),
                    counted(dims.positions, "position")
                )
            };
            let (has, had) = (shape(dump.dims), shape(other.dims));
            if has != had {
                return Err(format!(
                    "it has {has}, and {} has {had}; all runs of a page must have the same shape",
                    first.name
                ));
            }
        }
        self.runs.push(run);
        Ok(())
    }

    /// The number of runs and of their steps, in words.
    pub fn extent(&self) -> String {
        let steps: Vec<usize> = self.runs.iter().map(|run| run.dumps.len()).collect();
        if let &[steps] = steps.as_slice() {
            return counted(steps, "step");
        }
        let list: Vec<String> = steps.iter().map(usize::to_string).collect();
        format!("{} runs of {} steps", steps.len(), list.join(", "))
    }

    fn first(&self) -> Option<(&PageRun, &AttentionDump)> {
        let first = self.runs.first()?;
        Some((first, first.dumps.last()?))
    }

    /// The config that the page trains, if it trains something.
    fn trained(&self) -> Option<&Value> {
        let of_lab = self.lab.as_ref().map(|lab| &lab.config);
        let mut of_runs = self.runs.iter().filter_map(|run| match &run.again {
            PageTraining::Live { config, .. } => Some(config),
            PageTraining::Recorded(_) => None,
        });
        of_lab.or_else(|| of_runs.next())
    }

    /// The title of the page.
    fn title(&self) -> String {
        if let Some(title) = &self.attention {
            return title.clone();
        }
        if let (Some(lab), []) = (&self.lab, &self.runs[..]) {
            return format!("Headlight lab: {}", lab.name);
        }
        match self.runs.as_slice() {
            [only] => format!("Attention of {}", only.name),
            [one, other] => format!("Attention of {} and {}", one.name, other.name),
            runs => format!("Attention of {} runs", runs.len()),
        }
    }
}
