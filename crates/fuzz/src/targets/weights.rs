//! safetensors: weights, and recorded runs.

use std::sync::OnceLock;

use headlight_trainer::experiment::Experiment;

use super::quick;

fn experiment() -> &'static Experiment {
    static EXPERIMENT: OnceLock<Experiment> = OnceLock::new();
    EXPERIMENT.get_or_init(|| {
        let mut config = quick().clone();
        config.data.vocab_size = 43;
        Experiment::new(config).unwrap()
    })
}

/// A file of tensors: a header and as many bytes of data.
fn file(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + data, 1);
    bytes
}

/// A model's weights.
pub(crate) mod model {
    use headlight_trainer::weights::{decode, encode};

    use super::experiment;

    pub(crate) fn read(bytes: &[u8]) {
        let Ok(parameters) = decode(bytes) else {
            return;
        };
        let experiment = experiment();
        let model = experiment.start_on(&experiment.device.device).unwrap();
        let _ = model.with_parameters(parameters);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        vec![
            encode(experiment().start.clone()).unwrap(),
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

/// A recorded run.
pub(crate) mod reference {
    use headlight_trainer::reference::Reference;

    use super::experiment;

    pub(crate) fn read(bytes: &[u8]) {
        let experiment = experiment();
        let (config, train) = (&experiment.config, &experiment.splits.train);
        let _ = Reference::decode(bytes, &experiment.start, config, train);
    }

    pub(crate) fn seeds() -> Vec<Vec<u8>> {
        vec![
            super::file(
                r#"{"samples":{"dtype":"U16","shape":[2],"data_offsets":[0,4]},"batch_order":{"dtype":"I32","shape":[1,2],"data_offsets":[4,12]}}"#,
                12,
            ),
            super::file(
                r#"{"batch_order":{"dtype":"U16","shape":[9223372036854775807,0],"data_offsets":[0,0]},"losses":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
                4,
            ),
        ]
    }
}
