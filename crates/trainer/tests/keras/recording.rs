//! A run recorded elsewhere: a file of `data`, whose arrays `scripts/evidence/keras_reference.py` describes.

use std::fs;
use std::path::Path;

use headlight_architecture::Parameter;
use headlight_experiment::config::ExperimentConfig;
use safetensors::tensor::{Dtype, SafeTensors};

pub(crate) struct Recording<'a>(SafeTensors<'a>);

pub(crate) fn read(name: &str) -> Vec<u8> {
    fs::read(Path::new("data").join(format!("{name}.safetensors"))).unwrap()
}

impl<'a> Recording<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(SafeTensors::deserialize(bytes).unwrap())
    }

    pub(crate) fn floats(&self, name: &str) -> Vec<f32> {
        let tensor = self.0.tensor(name).unwrap();
        assert_eq!(tensor.dtype(), Dtype::F32, "{name}");
        let (numbers, rest) = tensor.data().as_chunks();
        assert!(rest.is_empty());
        numbers
            .iter()
            .map(|&bytes| f32::from_le_bytes(bytes))
            .collect()
    }

    /// Indices of samples, of two bytes or four.
    pub(crate) fn indices(&self, name: &str) -> Vec<u32> {
        let tensor = self.0.tensor(name).unwrap();
        let width = match tensor.dtype() {
            Dtype::U16 => 2,
            Dtype::I32 => 4,
            other => panic!("{name} has the type {other:?}"),
        };
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0, |value, &byte| value << 8 | u32::from(byte))
        };
        tensor.data().chunks_exact(width).map(number).collect()
    }

    /// All parameters of a config's model: `initial`, `final`, or their `gradient` of the first batch.
    pub(crate) fn parameters(&self, which: &str, config: &ExperimentConfig) -> Vec<Parameter> {
        let layout = config.model.layout(config.inputs()).into_iter();
        let own = layout.map(|layout| {
            let name = format!("{which}.{}", layout.name);
            assert_eq!(
                self.0.tensor(&name).unwrap().shape(),
                layout.shape,
                "{name}"
            );
            Parameter {
                values: self.floats(&name),
                name: layout.name,
                shape: layout.shape,
            }
        });
        own.collect()
    }

    /// The samples of each epoch in their order.
    pub(crate) fn order(&self, samples: usize) -> Vec<Vec<u32>> {
        let order = self.indices("batch_order");
        order.chunks_exact(samples).map(<[u32]>::to_vec).collect()
    }
}
