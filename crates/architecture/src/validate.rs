//! Which values of a model's config go together, and which suit the samples.

use headlight_schema::{ConfigSection, InvalidValue, require};

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
        let (d_model, n_heads) = (self.d_model, self.n_heads);
        let divides = d_model.is_multiple_of(n_heads);
        require(self.d_head.is_some() || divides, "n_heads", || {
            format!(
                "{n_heads} heads do not divide d_model = {d_model} evenly; set d_head, or change one of them"
            )
        })?;
        let attention = self.attention.check_ranges();
        let attention = attention.and_then(|()| self.check_attention());
        attention.map_err(|invalid| invalid.within("attention"))?;
        self.check_norms()?;
        self.check_parts()
    }

    fn check_attention(&self) -> Result<(), InvalidValue> {
        let (attention, d_model) = (&self.attention, self.d_model);
        let exact = attention.factor(self.d_head());
        let factor = exact as f32;
        let key = match attention.temperature {
            1.0 => "scale",
            _ => "temperature",
        };
        require(factor.is_finite(), key, || {
            format!("scale / temperature is {factor}; float32 holds up to 3.4e38")
        })?;
        require(factor.is_normal() || exact == 0.0, key, || {
            format!("scale / temperature is {exact:e}, but the smallest float32 is 1.2e-38")
        })?;
        let heads = self.n_heads * self.d_head();
        let is_direct = attention.projections == ProjectionKind::None;
        for (is_there, key) in [
            (!is_direct, "projections"),
            (attention.value_projection, "value_projection"),
            (attention.output_projection, "output_projection"),
        ] {
            require(is_there || heads == d_model, key, || {
                format!(
                    "without this projection the heads divide the vector, but n_heads * d_head is {heads} and d_model is \
                     {d_model}; remove d_head"
                )
            })?;
        }
        let is_separate = attention.projections == ProjectionKind::Separate;
        require(
            attention.value_projection || is_separate,
            "value_projection",
            || "value_projection = false needs separate projections; set projections = \"separate\"",
        )?;
        require(
            attention.bias || !is_direct,
            "bias",
            || "with projections = \"none\", queries, keys and values have no biases; remove this key",
        )?;
        require(
            attention.output_bias || attention.output_projection,
            "output_bias",
            || "without an output projection there is no output bias; remove this key",
        )?;
        require(
            attention.softmax || attention.rate >= 1.0,
            "rate",
            || "the rate mixes the softmax with constant weights, and softmax is false; remove one of the two",
        )
    }

    fn check_norms(&self) -> Result<(), InvalidValue> {
        let has_norms =
            self.norm != NormPlace::None || self.has_final_norm() || self.embedding_norm;
        for (is_default, key) in [
            (self.norm_kind == NormKind::Layer, "norm_kind"),
            (self.norm_gain, "norm_gain"),
            (self.norm_bias.is_none(), "norm_bias"),
        ] {
            require(
                is_default || has_norms,
                key,
                || "the model has no norms; remove this key, or set norm",
            )?;
        }
        Ok(())
    }

    fn check_parts(&self) -> Result<(), InvalidValue> {
        let is_used = self.d_ff > 0 || self.classifier_hidden > 0;
        require(
            is_used || self.activation == Activation::Relu,
            "activation",
            || "the model has no feed-forward layer that uses it; set d_ff, or remove this key",
        )?;
        require(
            self.d_ff > 0 || self.feed_forward_bias,
            "feed_forward_bias",
            || "the model has no feed-forward layer; set d_ff, or remove this key",
        )?;
        let d_head = self.d_head();
        let is_even = self.positions != Positions::Rotary || d_head.is_multiple_of(2);
        let key = self.d_head.map_or("positions", |_| "d_head");
        require(is_even, key, || {
            format!(
                "rotary positions pair the halves of a head, and d_head is {d_head}; make it even"
            )
        })?;
        require(
            self.positions_shared_from.is_none() || self.positions == Positions::Learned,
            "positions_shared_from",
            || "only learned positions can share a vector; set positions = \"learned\", or remove this key",
        )?;
        require(
            !self.tied_embeddings || self.classifier_hidden == 0,
            "tied_embeddings",
            || "a classifier with a hidden layer cannot share the token embedding; set classifier_hidden = 0",
        )
    }

    /// Checks the values that depend on the samples.
    ///
    /// # Errors
    /// Names the first value that is invalid for such samples.
    pub fn validate_for(&self, inputs: Inputs) -> Result<(), InvalidValue> {
        let (positions, vocab_size) = (inputs.positions, inputs.vocab_size);
        let mask = self.attention.mask.check(positions, positions);
        mask.map_err(|message| {
            let with_cls = inputs.cls.map_or("", |_| " including [CLS]");
            let message = format!("{message}, one per position{with_cls}");
            InvalidValue::new("attention.mask", message)
        })?;
        let tokens = usize::from(inputs.cls.is_some())..vocab_size;
        let (first, last) = (tokens.start, vocab_size - 1);
        let last_position = positions.saturating_sub(1);
        let padding = self.attention.padding_token;
        let outside = padding.filter(|&token| !tokens.contains(&(token as usize)));
        require(outside.is_none(), "attention.padding_token", || {
            let padding = outside.unwrap_or_default();
            format!(
                "padding token {padding} is outside the vocabulary; samples hold tokens {first} to {last}"
            )
        })?;
        require(
            self.pooling.is_none() || !inputs.per_position,
            "pooling",
            || "samples have a label per position, and the classifier reads each; remove pooling",
        )?;
        require(
            self.pooling != Some(Pooling::Cls) || inputs.cls.is_some(),
            "pooling",
            || "samples have no [CLS] (data.cls = \"none\"); set pooling to \"last\", \"mean\" or a position",
        )?;
        let read = match self.pooling {
            Some(Pooling::Position(position)) => position,
            _ => 0,
        };
        require(read < positions, "pooling", || {
            format!("samples have no position {read}; theirs are 0 to {last_position}")
        })?;
        let shared = self.positions_shared_from;
        require(
            shared.is_none_or(|from| from < positions),
            "positions_shared_from",
            || {
                format!(
                    "samples have positions 0 to {last_position} only; lower or remove this key"
                )
            },
        )?;
        let (n_classes, logits) = (inputs.n_classes, self.n_logits(inputs.n_classes));
        require(
            self.logits != Logits::PerClass || n_classes == 2,
            "logits",
            || {
                format!(
                    "a model of {n_classes} classes always has a logit for each; remove this key, which is for two classes"
                )
            },
        )?;
        require(
            !self.tied_embeddings || logits == vocab_size,
            "tied_embeddings",
            || {
                format!(
                    "class k must be token k, but the model has {logits} logits and {vocab_size} tokens; change \
                     data.n_classes, data.vocab_size or model.logits, or remove this key"
                )
            },
        )?;
        let missing = self.missing_std(inputs);
        let within = |invalid: InvalidValue| invalid.within("init");
        self.init.validate(missing).map_err(within)
    }
}
