//! How a model answers all possible inputs.

use std::thread;

use headlight_analysis::certificate;
use headlight_experiment::Error;
use headlight_trainer::Failure;
use pyo3::prelude::*;

use crate::model::Model;
use crate::watched::{Listeners, Report, watched};

/// Progress is told in thousandths.
const WHOLE: u16 = 1000;

/// Counts the answers to all inputs; or to some random ones, if `sample` says how many. As JSON.
#[pyfunction]
pub(crate) fn certify(
    py: Python<'_>,
    model: &Model,
    examples: usize,
    sample: Option<u64>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (config, weights) = (&model.config, model.weights());
    let listeners = Listeners {
        progress: progress.as_ref(),
        ..Listeners::default()
    };
    watched(py, listeners, |sender, signals| {
        let sender = std::sync::Mutex::new(sender);
        let watch = |share: f64| {
            if let Ok(sender) = sender.lock() {
                #[allow(clippy::cast_sign_loss)] // Shares are from 0 to 1.
                let done = (share * f64::from(WHOLE)) as usize;
                let _ = sender.send(Report::Share(done, usize::from(WHOLE)));
            }
            match signals.received() {
                None => Ok(()),
                Some(_) => Err(Error::Input("interrupted".to_owned())),
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let of_given_model = |error| Failure::from(error).of_given_model();
        let json = if let Some(count) = sample {
            let sampled = certificate::sample(config, &weights, count, seed, &watch);
            serde_json::to_string(&sampled.map_err(of_given_model)?)
        } else {
            let found = certificate::certify(config, &weights, examples, threads, &watch);
            serde_json::to_string(&found.map_err(of_given_model)?)
        };
        json.map_err(|error| Failure::System(error.to_string()))
    })
}
