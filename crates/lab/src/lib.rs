//! The experiment as WebAssembly, for the page: trains a run again, and computes what its model computes.
//!
//! The page and this module exchange messages: a request names one `Operation`, and gets one answer.
//! The page holds the weights of each step, and sends those that it asks about. So only a training in progress is
//! kept here.

mod contexts;
mod exports;
mod generated;
mod interventions;
mod look;
mod message;
mod results;
mod samples;
mod texts;
mod training;
mod view;
mod weights;

use std::cell::RefCell;
use std::error::Error;

use headlight_data::ClsPlace;
use headlight_experiment::Experiment;
use headlight_experiment::config::ExperimentConfig;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::generated::{Drawing, generated};
use crate::interventions::{Change, interventions};
use crate::look::{look, watch};
use crate::message::{Answer, Message};
use crate::results::summary;
use crate::samples::{GivenSamples, splits};
use crate::training::{Training, WatchedSamples};
use crate::view::View;
use crate::weights::save;

/// What the page asks for. One struct, since a tagged enum would double the code that reads a config.
#[derive(Debug, Deserialize)]
struct Request {
    operation: Operation,
    config: Option<Box<ExperimentConfig>>,
    /// The samples of a config that names a file.
    samples: Option<GivenSamples>,
    /// The steps to train, or to take.
    steps: Option<usize>,
    /// Samples to look at, with `[CLS]`. `[sample][position]`
    tokens: Option<Vec<Vec<u32>>>,
    /// A step of the training that is kept in any case.
    keep: Option<usize>,
    /// Changes of what the model computes.
    #[serde(default)]
    interventions: Vec<Change>,
    /// How to continue the first of the tokens.
    drawing: Option<Drawing>,
    /// What the config calls the table of the samples.
    #[serde(default)]
    name: String,
    /// Where `[CLS]` stands beside the token ids of that table.
    #[serde(default)]
    cls: ClsPlace,
    /// The token whose occurrences are meant.
    #[serde(default)]
    token: u32,
    /// The most occurrences.
    #[serde(default)]
    most: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    /// Starts a training of the config, in place of the one before, and watches the samples; without any, those that a
    /// run dumps.
    Begin,
    /// Takes more steps of the training; the floats of the answer are the loss of each, and then a row for each step
    /// that is kept: its weights, and what they make of the samples.
    Advance,
    /// Ends the training, and measures the model after the last step.
    End,
    /// Trains without keeping anything, and measures the model.
    Summary,
    /// Computes all arrays of a dump of the samples; the floats of the request are the weights.
    Look,
    /// Computes what a training keeps of each step; the floats of the request are the weights of some steps, one after
    /// the other, and those of the answer the numbers of each.
    Watch,
    /// Says what `headlight train FILE` makes of a table of texts or token ids: the rest of its config, and what becomes of its
    /// words.
    Texts,
    /// Finds samples that hold a token.
    Find,
    /// Computes where the vectors of a token lie in samples that hold it; the floats of the request are the weights.
    Planes,
    /// Continues a prompt, the first of the tokens, which is without `[CLS]`; the floats of the request are the weights.
    Generate,
    /// Writes `model.safetensors`; the floats of the request are the weights, and those of the answer its bytes.
    Save,
}

thread_local! {
    static TRAINING: RefCell<Option<Training>> = const { RefCell::new(None) };
}

/// Answers a request. A failure is an answer, too: `{"error": "a sentence"}`.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let answered = Message::read(request).and_then(|message| respond(&message));
    let refused = |error: Box<dyn Error>| json!({ "error": error.to_string() });
    let answer = answered.unwrap_or_else(|error| Message::of(&refused(error), Vec::new()));
    answer.write()
}

fn respond(message: &Message) -> Answer {
    // By way of a value, which takes less code than to read each part of a config from text.
    let request = serde_json::from_str(&message.head)
        .and_then(|value: Value| Request::deserialize(&value))
        .map_err(|error| format!("the request cannot be read: {error}"))?;
    let Request {
        operation,
        config,
        samples,
        steps,
        tokens,
        keep,
        interventions: changes,
        drawing,
        name,
        cls,
        token,
        most,
    } = request;
    let config = || -> Answer<Box<ExperimentConfig>> {
        let config = config.ok_or("the request has no config")?;
        config.validate()?;
        Ok(config)
    };
    let begun = "no training has begun";
    let weights = &message.floats[..];
    match operation {
        Operation::Begin => begin(*config()?, samples, steps, tokens, keep),
        Operation::Advance => TRAINING.with_borrow_mut(|training| {
            let training = training.as_mut().ok_or(begun)?;
            training.advance(steps.unwrap_or(usize::MAX))
        }),
        Operation::End => TRAINING.take().ok_or(begun)?.end(),
        Operation::Summary => summary(&experiment(*config()?, samples.as_ref())?),
        Operation::Texts => {
            let table = samples.and_then(|given| given.table);
            texts::described(&table.ok_or("the request has no table")?, &name, cls)
        }
        Operation::Find => {
            let config = config()?;
            let splits = splits(&config, samples.as_ref())?;
            Ok(contexts::find(&config, &splits, token, most))
        }
        Operation::Planes => {
            contexts::planes(&*config()?, &tokens.unwrap_or_default(), token, weights)
        }
        Operation::Generate => generated(
            &*config()?,
            weights,
            tokens
                .unwrap_or_default()
                .first()
                .map_or(&[], Vec::as_slice),
            drawing.ok_or("the request does not say how to draw")?,
        ),
        Operation::Save => save(&*config()?, weights),
        Operation::Look | Operation::Watch => {
            let config = config()?;
            let samples = config.unlabelled(tokens.unwrap_or_default())?;
            let mut view = View::new(&config, samples, interventions(changes)?)?;
            match operation {
                Operation::Look => look(&config, &mut view, weights),
                _ => watch(&config, &mut view, weights),
            }
        }
    }
}

/// Starts a training of the config, in place of the one before.
fn begin(
    config: ExperimentConfig,
    samples: Option<GivenSamples>,
    steps: Option<usize>,
    tokens: Option<Vec<Vec<u32>>>,
    keep: Option<usize>,
) -> Answer {
    TRAINING.set(None);
    let experiment = experiment(config, samples.as_ref())?;
    let table = samples.and_then(|given| given.table);
    let unknown = table.map(|table| texts::unknown(&table, &experiment));
    let watched = WatchedSamples {
        tokens,
        unknown: unknown.unwrap_or_default(),
    };
    let (training, answer) = Training::begin(experiment, steps, &watched, keep)?;
    TRAINING.set(Some(training));
    Ok(answer)
}

/// The experiment of a config, whose samples are generated or given.
fn experiment(config: ExperimentConfig, given: Option<&GivenSamples>) -> Answer<Experiment> {
    let splits = splits(&config, given)?;
    Ok(Experiment::new(config, splits.into(), None)?)
}
