//! The config of dropout in training.

use headlight_architecture::DropoutRates;
use headlight_schema::{ConfigSection, InvalidValue, Range, choices, section};

/// The values of a rate.
const RATE: Range = Range::BELOW_ONE
    .in_float32()
    .hint("0.1 leaves out a tenth of the values, and 0 none");

section! {
    /// The `[training.dropout]` section: what each step leaves out of the model's values at random. Kept values are divided by
    /// the share that is kept; evaluations and dumps leave out nothing.
    pub struct DropoutConfig {
        /// Where values are left out. Without it, `embedding`, `attention`, `hidden` and `residual` say so alone.
        #[omit(default)]
        pub preset: Option<DropoutPreset> = None,
        /// The rate of the preset's places; if unset, 0.1.
        #[range(RATE)]
        #[omit(default)]
        pub rate: Option<f64> = None,
        /// The rate for the first layer's input: the sums of token and position embeddings, after their norm if the model has one.
        #[range(RATE)]
        #[omit(default)]
        pub embedding: Option<f64> = None,
        /// The rate for attention weights.
        #[range(RATE)]
        #[omit(default)]
        pub attention: Option<f64> = None,
        /// The rate for the feed-forward layer's hidden values, after the activation.
        #[range(RATE)]
        #[omit(default)]
        pub hidden: Option<f64> = None,
        /// The rate for what attention and the feed-forward layer add to the residual stream, after their biases.
        #[range(RATE)]
        #[omit(default)]
        pub residual: Option<f64> = None,
    }
}

choices! {
    /// A known set of places.
    pub enum DropoutPreset {
        /// `residual`, as in the Transformer block of Keras's examples.
        Keras = "keras",
        /// `attention`, `hidden` and `residual`, as in PyTorch's `nn.TransformerEncoderLayer`.
        PyTorch = "pytorch",
    }
}

impl DropoutConfig {
    /// The rate of each place: its own, or else that of the preset.
    pub fn rates(&self) -> DropoutRates {
        let [inside, residual] = match self.preset {
            None => [false, false],
            Some(DropoutPreset::Keras) => [false, true],
            Some(DropoutPreset::PyTorch) => [true, true],
        };
        let rate = self.rate.unwrap_or(0.1);
        let of = |given: Option<f64>, is_in: bool| given.unwrap_or(if is_in { rate } else { 0.0 });
        DropoutRates {
            embedding: of(self.embedding, false),
            attention: of(self.attention, inside),
            hidden: of(self.hidden, inside),
            residual: of(self.residual, residual),
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// Names the first invalid value, with its key within `[training.dropout]`.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        self.check_ranges()?;
        if self.rate.is_some() && self.preset.is_none() {
            return Err(InvalidValue::new(
                "rate",
                "rate applies only with a preset; set preset = \"pytorch\" or \"keras\", or set the rates of embedding, attention, \
                 hidden or residual",
            ));
        }
        Ok(())
    }
}
