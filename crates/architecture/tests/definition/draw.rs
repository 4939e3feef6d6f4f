//! Models of any kind, drawn from a seed.

use headlight_architecture::{
    Activation, Inputs, Logits, Mask, ModelConfig, NormKind, NormPlace, Pooling, Positions,
    ProjectionKind, Scale,
};

/// Draws choices, from a seed.
pub(crate) struct Draw(pub u64);

impl Draw {
    /// `SplitMix64` (Steele et al. 2014).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() >> 32) as usize % end
    }

    /// Whether one of so many draws is this one.
    fn rarely(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn one<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// A number from -1 to 1.
    pub(crate) fn number(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }

    /// A valid model, with its inputs.
    pub(crate) fn model(&mut self) -> (ModelConfig, Inputs) {
        loop {
            let (config, inputs) = self.combination();
            if config.validate().is_ok() && config.validate_for(inputs).is_ok() {
                return (config, inputs);
            }
        }
    }

    /// A model whose values may not go together. A norm with a larger epsilon keeps numerical slopes exact.
    fn combination(&mut self) -> (ModelConfig, Inputs) {
        let (n_heads, positions) = (1 + self.below(4), 2 + self.below(6));
        let cls = self.one(&[None, Some(0), Some(positions - 1)]);
        let (vocab_size, tied_embeddings) = (4 + self.below(6), self.rarely(4));
        let (d_model, n_layers) = (n_heads * (2 + self.below(5)), 1 + self.below(3));
        let at = Pooling::Position(self.below(positions));
        let pooling = [
            None,
            Some(Pooling::Cls),
            Some(Pooling::Last),
            Some(Pooling::Mean),
            Some(at),
        ];
        let mut config = ModelConfig {
            d_head: self.one(&[None, None, None, Some(2), Some(3), Some(4)]),
            norm: self.one(&[NormPlace::Post, NormPlace::Pre, NormPlace::None]),
            norm_kind: self.one(&[NormKind::Layer, NormKind::Rms]),
            norm_gain: !self.rarely(3),
            norm_bias: self.one(&[None, Some(true), Some(false)]),
            final_norm: self.one(&[None, Some(true), Some(false)]),
            embedding_norm: self.rarely(3),
            layer_norm_eps: 1e-3,
            d_ff: self.one(&[0, 3, 8, 17]),
            activation: self.one(&[
                Activation::Relu,
                Activation::Gelu,
                Activation::GeluTanh,
                Activation::Silu,
            ]),
            feed_forward_bias: !self.rarely(3),
            positions: self.one(&[
                Positions::Learned,
                Positions::None,
                Positions::Sinusoidal,
                Positions::Rotary,
                Positions::First,
            ]),
            pooling: self.one(&pooling),
            classifier_hidden: self.one(&[0, 0, 5, 9]),
            classifier_bias: !self.rarely(3),
            logits: self.one(&[Logits::LogOdds, Logits::PerClass]),
            tied_embeddings,
            ..ModelConfig::new(d_model, n_heads, n_layers)
        };
        if config.positions == Positions::Learned && self.rarely(2) {
            config.positions_shared_from = Some(self.below(positions));
        }
        self.attention(&mut config, positions);
        let inputs = Inputs {
            vocab_size,
            positions,
            cls,
            read_position: match config.pooling {
                Some(Pooling::Position(position)) => position,
                Some(Pooling::Last) => positions - 1,
                _ => cls.unwrap_or(positions - 1),
            },
            n_classes: if tied_embeddings {
                vocab_size
            } else {
                2 + self.below(4)
            },
            per_position: self.rarely(3),
        };
        (config, inputs)
    }

    fn attention(&mut self, config: &mut ModelConfig, positions: usize) {
        let mut row = || (0..positions).map(|_| !self.rarely(3)).collect();
        let matrix = Mask::Matrix((0..positions).map(|_| row()).collect());
        let attention = &mut config.attention;
        attention.mask = self.one(&[Mask::None, Mask::Causal, matrix]);
        attention.projections = self.one(&[
            ProjectionKind::Separate,
            ProjectionKind::Separate,
            ProjectionKind::Shared,
            ProjectionKind::None,
        ]);
        attention.bias = !self.rarely(3);
        attention.value_projection = !self.rarely(3);
        attention.output_projection = !self.rarely(3);
        attention.output_bias = !self.rarely(3);
        attention.scale = self.one(&[Scale::Root, Scale::Off, Scale::Factor(0.3)]);
        attention.log_length = self.rarely(3);
        attention.softmax = !self.rarely(3);
        attention.rate = self.one(&[1.0, 1.0, 0.7, 0.0]);
        attention.padding_token = self.one(&[None, Some(2)]);
    }

    /// Parameters around 0, and gains around 1. Without norms they are smaller, since vectors grow from block to block.
    pub(crate) fn parameters(&mut self, config: &ModelConfig, inputs: Inputs) -> Vec<f32> {
        let limit = if config.norm == NormPlace::None {
            0.3
        } else {
            0.7
        };
        let mut all = Vec::new();
        for parameter in config.layout(inputs) {
            let middle = f32::from(u8::from(parameter.name.ends_with("gamma")));
            let numbers = (0..parameter.size()).map(|_| middle + limit * self.number());
            all.extend(numbers);
        }
        all
    }

    /// A few samples, with `[CLS]` at its position, one after the other.
    pub(crate) fn samples(&mut self, inputs: Inputs, count: usize) -> Vec<u32> {
        let first = usize::from(inputs.cls.is_some());
        let token = |i: usize| match inputs.cls {
            Some(cls) if i % inputs.positions == cls => 0,
            _ => (first + self.below(inputs.vocab_size - first)) as u32,
        };
        (0..count * inputs.positions).map(token).collect()
    }
}
