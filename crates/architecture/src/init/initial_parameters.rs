//! The initial weights of a model.

use rand::Rng;

use crate::{Inputs, ModelConfig, Parameter};

impl ModelConfig {
    /// Initial weights from `rng`, drawn in the model's order.
    pub fn initial_parameters(&self, inputs: Inputs, rng: &mut impl Rng) -> Vec<Parameter> {
        let mut drawn: Vec<Parameter> = Vec::new();
        for layout in self.layout(inputs) {
            let first = self.init.copy_blocks.then(|| of_first_block(&layout.name));
            let copied = first.flatten().and_then(|first| {
                let first = drawn.iter().find(|other| other.name == first)?;
                Some(first.values.clone())
            });
            let values = copied.unwrap_or_else(|| layout.initial.draw(layout.size(), rng));
            drawn.push(Parameter {
                name: layout.name,
                shape: layout.shape,
                values,
            });
        }
        drawn
    }
}

/// The name of the same parameter in the first block; `None` for one that is in no other block.
fn of_first_block(name: &str) -> Option<String> {
    let (layer, part) = name.strip_prefix("blocks.")?.split_once('.')?;
    (layer != "0").then(|| format!("blocks.0.{part}"))
}
