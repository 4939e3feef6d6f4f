//! safetensors: weights and checkpoints.

use std::sync::OnceLock;

use headlight_trainer::sessions::session::Session;

use super::quick;

fn session() -> &'static Session {
    static SESSION: OnceLock<Session> = OnceLock::new();
    SESSION.get_or_init(|| {
        let mut config = quick().clone();
        config.data.vocab_size = 43;
        Session::open(config).unwrap()
    })
}

/// A safetensors file: a header, and this many bytes of data.
fn file(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + data, 1);
    bytes
}

/// A model's weights.
pub(crate) mod model {
    use headlight_architecture::Parameter;
    use headlight_trainer::storage::weights::{decode, encode};

    use super::session;

    pub(crate) fn read(bytes: &[u8]) {
        let Ok(parameters) = decode(bytes) else {
            return;
        };
        let config = &session().experiment.config;
        let _ = Parameter::arrange(parameters, &config.model.layout(config.inputs()));
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        vec![
            encode(session().experiment.start.clone()).unwrap(),
            super::file(
                r#"{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#,
                8,
            ),
            super::file(
                r#"{"x":{"dtype":"BF16","shape":[0,4294967296],"data_offsets":[0,0]}}"#,
                0,
            ),
        ]
    }
}

/// A checkpoint.
pub(crate) mod checkpoint {
    use headlight_experiment::train::Progress;
    use headlight_trainer::storage::checkpoint::{Checkpoint, Counters};

    use super::session;

    pub(crate) fn read(bytes: &[u8]) {
        let Ok(checkpoint) = Checkpoint::decode(bytes) else {
            return;
        };
        // Restoring many steps takes long, as intended.
        if checkpoint.state.steps < 1000 {
            let _ = session().engine().unwrap().restore(&checkpoint.state);
        }
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        let mut checkpoint = Checkpoint {
            counters: Counters {
                progress: Progress {
                    step: 7,
                    loss: Some(0.25),
                    ..Progress::default()
                },
                metrics_bytes: 100,
                config: serde_json::Value::Null,
                inputs_sha256: "0".repeat(64),
            },
            state: session().engine().unwrap().state(),
            best: None,
        };
        checkpoint.state.steps = 7;
        let encoded = checkpoint.encode().unwrap();
        let counters = r#"{"__metadata__":{"headlight":"{\"progress\":{\"epoch\":0,\"step\":1,\"at_epoch_end\":false,\"loss\":null,\"losses\":{\"sum\":0,\"count\":0}},\"metrics_bytes\":0,\"config\":null,\"inputs_sha256\":\"\",\"adam_steps\":1,\"parameters\":[],\"best\":null}"},"adam.first":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"adam.second":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#;
        vec![encoded, super::file(counters, 0)]
    }
}
