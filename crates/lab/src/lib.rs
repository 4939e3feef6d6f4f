//! The experiment as WebAssembly, for the page: trains a run again, and computes what its model computes.
//!
//! The page and this module exchange messages: a request names one `Operation`, and gets one answer.
//! The page holds the weights of each step, and sends those that it asks about. So only a training in progress is
//! kept here.

mod exports;
mod look;
mod message;
mod training;

use std::cell::RefCell;

use headlight_experiment::Experiment;
use headlight_experiment::config::ExperimentConfig;
use serde::Deserialize;

use crate::look::{look, watch};
use crate::message::Message;
use crate::training::Training;

/// What the page asks for. One struct, since a tagged enum would double the code that reads a config.
#[derive(Debug, Deserialize)]
struct Request {
    operation: Operation,
    config: Option<Box<ExperimentConfig>>,
    /// The steps to train, or to take.
    #[serde(default)]
    steps: Option<usize>,
    /// Samples, with `[CLS]`. `[sample][position]`
    #[serde(default)]
    tokens: Vec<Vec<u32>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    /// Starts a training of the config, in place of the one before, and watches the samples.
    Begin,
    /// Takes more steps of the training; the floats of the answer are the loss of each, and then a row for each step
    /// that is kept: its weights, and what they make of the samples.
    Advance,
    /// Ends the training; its weights are those after the last step.
    End,
    /// Computes all arrays of a dump of the samples; the floats of the request are the weights.
    Look,
    /// Computes what a training keeps of each step; the floats of the request are the weights of some steps, one after
    /// the other, and those of the answer the numbers of each.
    Watch,
}

thread_local! {
    static TRAINING: RefCell<Option<Training>> = const { RefCell::new(None) };
}

/// Answers a request. A failure is an answer, too: `{"error": "a sentence"}`.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let answered = Message::read(request).and_then(|message| respond(&message));
    let answer = answered
        .unwrap_or_else(|error| Message::of(&serde_json::json!({ "error": error }), Vec::new()));
    answer.write()
}

fn respond(message: &Message) -> Result<Message, String> {
    let request: Request = serde_json::from_str(&message.head)
        .map_err(|error| format!("the request cannot be read: {error}"))?;
    let Request {
        operation,
        config,
        steps,
        tokens,
    } = request;
    let config = || config.ok_or_else(|| "the request has no config".to_owned());
    TRAINING.with_borrow_mut(|training| {
        let begun = || "no training has begun".to_owned();
        match operation {
            Operation::Begin => {
                *training = None;
                let (begun, answer) = Training::begin(experiment(*config()?)?, steps, &tokens)?;
                *training = Some(begun);
                Ok(answer)
            }
            Operation::Advance => {
                let training = training.as_mut().ok_or_else(begun)?;
                training.advance(steps.unwrap_or(usize::MAX))
            }
            Operation::End => training.take().ok_or_else(begun)?.end(),
            Operation::Look => look(&*config()?, &tokens, &message.floats),
            Operation::Watch => watch(&*config()?, &tokens, &message.floats),
        }
    })
}

/// The experiment of a config whose samples are generated.
fn experiment(config: ExperimentConfig) -> Result<Experiment, String> {
    let invalid =
        |invalid: headlight_data::InvalidValue| format!("`{}`: {}", invalid.key, invalid.message);
    config.validate().map_err(invalid)?;
    let generated = config.data.generate();
    let splits = generated.map_err(|error| invalid(error.within("data")))?;
    Experiment::new(config, splits.into(), None).map_err(|error| error.to_string())
}
