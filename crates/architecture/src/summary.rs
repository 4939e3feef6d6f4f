//! The layers of a model, as in Keras's `model.summary()`.

use crate::{Inputs, ModelConfig, NormPlace, ParameterSpec, Pooling, Positions};

/// A layer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its name.
    pub name: String,
    /// The shape of its output after the axis of the batch.
    pub output: Vec<usize>,
    /// The number of its trainable parameters, counted as single numbers.
    pub parameters: usize,
}

impl ModelConfig {
    /// The number of trainable parameters, counted as single numbers.
    pub fn parameter_count(&self, inputs: Inputs) -> usize {
        self.layout(inputs).iter().map(ParameterSpec::size).sum()
    }

    /// The layers, from the tokens to the logits.
    pub fn layers(&self, inputs: Inputs) -> Vec<Layer> {
        let layout = self.layout(inputs);
        let layer = |name: String, prefix: &str, output: &[usize]| {
            let parts = layout.iter().filter(|part| part.name.starts_with(prefix));
            Layer {
                parameters: parts.map(ParameterSpec::size).sum(),
                output: output.to_vec(),
                name,
            }
        };
        let named = |name: &str, output: &[usize]| layer(name.to_owned(), name, output);
        let positions = inputs.positions;
        let without_parameters = |name: String, output: &[usize]| Layer {
            name,
            output: output.to_vec(),
            parameters: 0,
        };
        let stream = [positions, self.d_model];
        let mut layers = vec![
            without_parameters("tokens".to_owned(), &[positions]),
            named("token_embedding", &stream),
        ];
        if self.positions == Positions::Learned {
            layers.push(named("position_embedding", &stream));
        }
        if self.embedding_norm {
            layers.push(named("embedding_norm", &stream));
        }
        for block in 0..self.n_layers {
            let block = |part: &str| format!("blocks.{block}.{part}");
            let within = |part: &str| layer(block(part), &block(&format!("{part}.")), &stream);
            let weights = [self.n_heads, positions, positions];
            layers.push(within("attention"));
            layers.push(without_parameters(block("attention weights"), &weights));
            if self.norm != NormPlace::None {
                layers.push(within("norm"));
            }
            if self.d_ff > 0 {
                layers.push(within("feed_forward"));
            }
        }
        // A vector of a sample or, with a label per position, of each position.
        let answers = &[positions][..usize::from(inputs.per_position)];
        let each = |size: usize| [answers, &[size]].concat();
        if self.has_final_norm() {
            // A mean is of positions that are normalised.
            let of_each = self.pooling == Some(Pooling::Mean);
            let vector = each(self.d_model);
            layers.push(named("final_norm", if of_each { &stream } else { &vector }));
        }
        let logits = self.n_logits(inputs.n_classes);
        layers.push(named("classifier", &each(logits)));
        layers
    }
}
