//! Which values of a model's config go together, and which suit the samples.

use headlight_schema::{ConfigSection, InvalidValue};

use crate::{
    Activation, Inputs, Logits, ModelConfig, NormKind, NormPlace, Pooling, Positions,
    ProjectionKind,
};

impl ModelConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// Names the first invalid value.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        self.check_ranges()?;
        if self.d_head.is_none() && !self.d_model.is_multiple_of(self.n_heads) {
            return invalid(
                "n_heads",
                format!(
                    "{} heads do not divide d_model = {} evenly; set d_head, or change one of them",
                    self.n_heads, self.d_model
                ),
            );
        }
        let attention = &self.attention;
        let within = |invalid: InvalidValue| invalid.within("attention");
        attention.check_ranges().map_err(within)?;
        let factor = attention.factor(self.d_head()) as f32;
        if !factor.is_finite() {
            return invalid(
                "attention.scale",
                format!("scale / temperature is {factor}; it must be a finite float32 number"),
            );
        }
        self.validate_attention()?;
        self.validate_norms()?;
        self.validate_positions()?;
        if self.tied_embeddings && self.classifier_hidden > 0 {
            return invalid(
                "tied_embeddings",
                "a classifier with a hidden layer cannot share the token embedding; set classifier_hidden = 0",
            );
        }
        Ok(())
    }

    fn validate_attention(&self) -> Result<(), InvalidValue> {
        let attention = &self.attention;
        let inner = self.n_heads * self.d_head();
        let is_direct = attention.projections == ProjectionKind::None;
        for (is_direct, key) in [
            (is_direct, "attention.projections"),
            (!attention.value_projection, "attention.value_projection"),
            (!attention.output_projection, "attention.output_projection"),
        ] {
            if is_direct && inner != self.d_model {
                return invalid(
                    key,
                    format!(
                        "without this projection the heads divide the vector, but n_heads * d_head is {inner} and d_model is {}; \
                         remove d_head",
                        self.d_model
                    ),
                );
            }
        }
        if !attention.value_projection && attention.projections != ProjectionKind::Separate {
            return invalid(
                "attention.value_projection",
                "value_projection = false needs separate projections; set projections = \"separate\"",
            );
        }
        if !attention.bias && is_direct {
            return invalid(
                "attention.bias",
                "projections = \"none\" has no biases of queries, keys and values; remove this key",
            );
        }
        if !attention.output_bias && !attention.output_projection {
            return invalid(
                "attention.output_bias",
                "output_projection = false has no bias either; remove this key",
            );
        }
        if !attention.softmax && attention.rate < 1.0 {
            return invalid(
                "attention.rate",
                "the rate mixes the softmax with constant weights, and softmax is false; remove one of the two",
            );
        }
        Ok(())
    }

    fn validate_norms(&self) -> Result<(), InvalidValue> {
        let has_norms =
            self.norm != NormPlace::None || self.has_final_norm() || self.embedding_norm;
        for (is_set, key) in [
            (self.norm_kind != NormKind::Layer, "norm_kind"),
            (!self.norm_gain, "norm_gain"),
            (self.norm_bias.is_some(), "norm_bias"),
        ] {
            if is_set && !has_norms {
                return invalid(key, "the model has no norms; remove this key, or set norm");
            }
        }
        if self.d_ff == 0 && self.classifier_hidden == 0 && self.activation != Activation::Relu {
            return invalid(
                "activation",
                "the model has no feed-forward layer that uses it; set d_ff, or remove this key",
            );
        }
        if self.d_ff == 0 && !self.feed_forward_bias {
            return invalid(
                "feed_forward_bias",
                "the model has no feed-forward layer; set d_ff, or remove this key",
            );
        }
        Ok(())
    }

    fn validate_positions(&self) -> Result<(), InvalidValue> {
        if self.positions == Positions::Rotary && !self.d_head().is_multiple_of(2) {
            let key = if self.d_head.is_some() {
                "d_head"
            } else {
                "positions"
            };
            return invalid(
                key,
                format!(
                    "rotary positions pair the halves of a head, and d_head is {}; make it even",
                    self.d_head()
                ),
            );
        }
        if self.positions_shared_from.is_some() && self.positions != Positions::Learned {
            return invalid(
                "positions_shared_from",
                "only learned positions can share a vector; set positions = \"learned\", or remove this key",
            );
        }
        Ok(())
    }

    /// Checks the values that depend on the samples.
    ///
    /// # Errors
    /// Names the first value that is invalid for such samples.
    pub fn validate_for(&self, inputs: Inputs) -> Result<(), InvalidValue> {
        let positions = inputs.positions;
        self.attention
            .mask
            .matrix(positions, positions)
            .map_err(|message| {
                let message = format!("{message}, one per position including [CLS]");
                InvalidValue::new("attention.mask", message)
            })?;
        let last = inputs.vocab_size - 1;
        let first = u32::from(inputs.cls.is_some());
        match self.attention.padding_token {
            Some(token) if token < first || token as usize > last => {
                let message = format!(
                    "padding token {token} is outside the vocabulary; samples hold tokens {first} to {last}"
                );
                return invalid("attention.padding_token", message);
            }
            _ => {}
        }
        match self.pooling {
            Some(_) if inputs.per_position => {
                return invalid(
                    "pooling",
                    "samples have a label per position, and the classifier reads each; remove pooling",
                );
            }
            Some(Pooling::Cls) if inputs.cls.is_none() => {
                return invalid(
                    "pooling",
                    "samples have no [CLS] (data.cls = \"none\"); set pooling to \"last\", \"mean\" or a position",
                );
            }
            Some(Pooling::Position(position)) if position >= positions => {
                let message = format!(
                    "samples have no position {position}; theirs are 0 to {}",
                    positions - 1
                );
                return invalid("pooling", message);
            }
            _ => {}
        }
        if self
            .positions_shared_from
            .is_some_and(|from| from >= positions)
        {
            let message = format!(
                "samples have positions 0 to {} only; lower or remove this key",
                positions - 1
            );
            return invalid("positions_shared_from", message);
        }
        let n_classes = inputs.n_classes;
        if self.logits == Logits::PerClass && n_classes != 2 {
            let message = format!(
                "{n_classes} classes have a logit each anyway; logits is for two classes; remove it"
            );
            return invalid("logits", message);
        }
        if self.tied_embeddings {
            let logits = self.n_logits(n_classes);
            if logits != inputs.vocab_size {
                let message = format!(
                    "class k must be token k, but the numbers of logits ({logits}) and tokens ({}) differ; change data.n_classes, \
                     data.vocab_size or model.logits, or remove this key",
                    inputs.vocab_size
                );
                return invalid("tied_embeddings", message);
            }
        }
        let missing = self.missing_std(inputs);
        self.init
            .validate(missing)
            .map_err(|invalid| invalid.within("init"))
    }
}

fn invalid(key: &str, message: impl Into<String>) -> Result<(), InvalidValue> {
    Err(InvalidValue::new(key, message))
}
