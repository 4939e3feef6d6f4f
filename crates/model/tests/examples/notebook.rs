//! The notebook example beside the run recorded in Keras.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use safetensors::SafeTensors;

use super::*;

/// Largest difference of an epoch's loss.
const BOUND: f64 = 1e-4;

#[test]
fn losses_of_epochs_are_keras() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/keras_reference.safetensors");
    let bytes = fs::read(path).unwrap();
    let recorded = Recording(SafeTensors::deserialize(&bytes).unwrap());
    let device = Device::flex().autodiff();

    let batches = recorded.order(&device).split(BATCH_SIZE, 0);
    let model = recorded.model(&device);
    assert_eq!(model.num_params(), 777);
    let (_, ours) = train(model, &samples(&device), batches);
    let theirs = recorded.floats("losses");
    assert_eq!(ours.len(), theirs.len());
    let steps = ours.len() / EPOCHS;
    for (ours, theirs) in ours.chunks(steps).zip(theirs.chunks(steps)) {
        let ours = ours.iter().sum::<f64>() / steps as f64;
        let theirs = theirs.iter().copied().map(f64::from).sum::<f64>() / steps as f64;
        assert!((ours - theirs).abs() < BOUND, "{ours} is not {theirs}");
    }
}

/// A run recorded in Keras: `scripts/evidence/keras_reference.py` says how.
struct Recording<'a>(SafeTensors<'a>);

impl Recording<'_> {
    fn floats(&self, name: &str) -> Vec<f32> {
        let bytes = self.0.tensor(name).unwrap().data().chunks_exact(4);
        bytes
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    }

    /// The samples of all epochs, one epoch after the other.
    fn order(&self, device: &Device) -> Tensor<1, Int> {
        let bytes = self.0.tensor("batch_order").unwrap().data().chunks_exact(2);
        let indices = bytes.map(|b| i32::from(u16::from_le_bytes(b.try_into().unwrap())));
        Tensor::from_data(indices.collect::<Vec<i32>>().as_slice(), device)
    }

    fn parameter<const D: usize>(&self, name: &str, device: &Device) -> Param<Tensor<D>> {
        let name = format!("initial.{name}");
        let shape = self.0.tensor(&name).unwrap().shape().to_vec();
        let values = TensorData::new(self.floats(&name), shape);
        Param::from_data(values, device)
    }

    fn linear(&self, name: &str, device: &Device) -> Linear {
        Linear {
            weight: self.parameter(&format!("{name}.weight"), device),
            bias: Some(self.parameter(&format!("{name}.bias"), device)),
        }
    }

    /// The model with the recorded initial weights.
    fn model(&self, device: &Device) -> Classifier {
        let mut model = Classifier::new(device);
        model.tokens.weight = self.parameter("token_embedding", device);
        model.positions = self.parameter("position_embedding", device);
        let projection = |name| self.linear(&format!("blocks.0.attention.{name}"), device);
        model.attention = Attention {
            query: projection("query"),
            key: projection("key"),
            value: projection("value"),
            output: projection("output"),
        };
        model.norm.gamma = self.parameter("blocks.0.norm.gamma", device);
        model.norm.beta = Some(self.parameter("blocks.0.norm.beta", device));
        model.logit = self.linear("classifier", device);
        model
    }
}
