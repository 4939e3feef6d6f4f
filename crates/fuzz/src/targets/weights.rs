//! safetensors: weights and checkpoints.

use std::sync::OnceLock;

use headlight_architecture::Parameter;
use headlight_trainer::Session;
use headlight_trainer::files::{config, weights};
use headlight_trainer::run::checkpoint::Checkpoint;

use super::quick;

fn session() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    SESSION.get_or_init(|| {
        let overrides = ["data.vocab_size=43".to_owned()];
        Session::open(config::load(&quick(), &overrides).unwrap()).unwrap()
    })
}

/// A model's weights.
pub(crate) fn model(bytes: &[u8]) {
    let Ok(parameters) = weights::decode(bytes) else {
        return;
    };
    let config = &session().experiment.config;
    let _ = Parameter::arrange(parameters, &config.model.layout(config.inputs()));
}

/// A checkpoint.
pub(crate) fn checkpoint(bytes: &[u8]) {
    let Ok(checkpoint) = Checkpoint::decode(bytes) else {
        return;
    };
    // Restoring many steps takes long, as intended.
    if checkpoint.state.steps < 1000 {
        let _ = session().engine().unwrap().restore(&checkpoint.state);
    }
}
