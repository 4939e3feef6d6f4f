//! Which values of a model's config go together, and which suit the samples.

use headlight_schema::{ConfigSection, InvalidValue};

use crate::{
    Activation, Inputs, Logits, ModelConfig, NormKind, NormPlace, Pooling, Positions,
    ProjectionKind,
};

/// A rule: whether a config breaks it, the key that is wrong, and the message.
type Rule<'a> = (bool, &'a str, String);

/// The first rule that is broken.
fn check<'a>(rules: impl IntoIterator<Item = Rule<'a>>) -> Result<(), InvalidValue> {
    match rules.into_iter().find(|(is_broken, ..)| *is_broken) {
        Some((_, key, message)) => Err(InvalidValue::new(key, message)),
        None => Ok(()),
    }
}

impl ModelConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// Names the first invalid value.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        self.check_ranges()?;
        let (d_model, n_heads) = (self.d_model, self.n_heads);
        check([(
            self.d_head.is_none() && !d_model.is_multiple_of(n_heads),
            "n_heads",
            format!(
                "{n_heads} heads do not divide d_model = {d_model} evenly; set d_head, or change one of them"
            ),
        )])?;
        let within = |invalid: InvalidValue| invalid.within("attention");
        self.attention.check_ranges().map_err(within)?;
        check(self.attention_rules())?;
        check(self.part_rules())
    }

    fn attention_rules(&self) -> [Rule<'static>; 8] {
        let (attention, d_model) = (&self.attention, self.d_model);
        let factor = attention.factor(self.d_head()) as f32;
        let heads = self.n_heads * self.d_head();
        let is_direct = attention.projections == ProjectionKind::None;
        let has_other_width = heads != d_model;
        let divided = format!(
            "without this projection the heads divide the vector, but n_heads * d_head is {heads} and d_model is {d_model}; \
             remove d_head"
        );
        [
            (
                !factor.is_finite(),
                match attention.temperature {
                    1.0 => "attention.scale",
                    _ => "attention.temperature",
                },
                format!("scale / temperature is {factor}; float32 holds up to 3.4e38"),
            ),
            (
                is_direct && has_other_width,
                "attention.projections",
                divided.clone(),
            ),
            (
                !attention.value_projection && has_other_width,
                "attention.value_projection",
                divided.clone(),
            ),
            (
                !attention.output_projection && has_other_width,
                "attention.output_projection",
                divided,
            ),
            (
                !attention.value_projection && attention.projections != ProjectionKind::Separate,
                "attention.value_projection",
                "value_projection = false needs separate projections; set projections = \"separate\"".into(),
            ),
            (
                !attention.bias && is_direct,
                "attention.bias",
                "projections = \"none\" has no biases of queries, keys and values; remove this key".into(),
            ),
            (
                !attention.output_bias && !attention.output_projection,
                "attention.output_bias",
                "output_projection = false has no bias either; remove this key".into(),
            ),
            (
                !attention.softmax && attention.rate < 1.0,
                "attention.rate",
                "the rate mixes the softmax with constant weights, and softmax is false; remove one of the two".into(),
            ),
        ]
    }

    fn part_rules(&self) -> [Rule<'static>; 8] {
        let has_norms =
            self.norm != NormPlace::None || self.has_final_norm() || self.embedding_norm;
        let no_norms = "the model has no norms; remove this key, or set norm";
        let d_head = self.d_head();
        [
            (self.norm_kind != NormKind::Layer && !has_norms, "norm_kind", no_norms.into()),
            (!self.norm_gain && !has_norms, "norm_gain", no_norms.into()),
            (self.norm_bias.is_some() && !has_norms, "norm_bias", no_norms.into()),
            (
                self.d_ff == 0 && self.classifier_hidden == 0 && self.activation != Activation::Relu,
                "activation",
                "the model has no feed-forward layer that uses it; set d_ff, or remove this key".into(),
            ),
            (
                self.d_ff == 0 && !self.feed_forward_bias,
                "feed_forward_bias",
                "the model has no feed-forward layer; set d_ff, or remove this key".into(),
            ),
            (
                self.positions == Positions::Rotary && !d_head.is_multiple_of(2),
                if self.d_head.is_some() { "d_head" } else { "positions" },
                format!("rotary positions pair the halves of a head, and d_head is {d_head}; make it even"),
            ),
            (
                self.positions_shared_from.is_some() && self.positions != Positions::Learned,
                "positions_shared_from",
                "only learned positions can share a vector; set positions = \"learned\", or remove this key".into(),
            ),
            (
                self.tied_embeddings && self.classifier_hidden > 0,
                "tied_embeddings",
                "a classifier with a hidden layer cannot share the token embedding; set classifier_hidden = 0".into(),
            ),
        ]
    }

    /// Checks the values that depend on the samples.
    ///
    /// # Errors
    /// Names the first value that is invalid for such samples.
    pub fn validate_for(&self, inputs: Inputs) -> Result<(), InvalidValue> {
        let (positions, vocab_size) = (inputs.positions, inputs.vocab_size);
        let mask = self.attention.mask.matrix(positions, positions);
        mask.map_err(|message| {
            let message = format!("{message}, one per position including [CLS]");
            InvalidValue::new("attention.mask", message)
        })?;
        let tokens = usize::from(inputs.cls.is_some())..vocab_size;
        let (first, last) = (tokens.start, vocab_size - 1);
        let last_position = positions.saturating_sub(1);
        let padding = self.attention.padding_token;
        let padding = padding.filter(|&token| !tokens.contains(&(token as usize)));
        let (outside, padding) = (padding.is_some(), padding.unwrap_or_default());
        let read = match self.pooling {
            Some(Pooling::Position(position)) => position,
            _ => 0,
        };
        let (n_classes, logits) = (inputs.n_classes, self.n_logits(inputs.n_classes));
        check([
            (
                outside,
                "attention.padding_token",
                format!("padding token {padding} is outside the vocabulary; samples hold tokens {first} to {last}"),
            ),
            (
                self.pooling.is_some() && inputs.per_position,
                "pooling",
                "samples have a label per position, and the classifier reads each; remove pooling".into(),
            ),
            (
                self.pooling == Some(Pooling::Cls) && inputs.cls.is_none(),
                "pooling",
                "samples have no [CLS] (data.cls = \"none\"); set pooling to \"last\", \"mean\" or a position".into(),
            ),
            (
                read >= positions,
                "pooling",
                format!("samples have no position {read}; theirs are 0 to {last_position}"),
            ),
            (
                self.positions_shared_from.is_some_and(|from| from >= positions),
                "positions_shared_from",
                format!("samples have positions 0 to {last_position} only; lower or remove this key"),
            ),
            (
                self.logits == Logits::PerClass && n_classes != 2,
                "logits",
                format!("{n_classes} classes have a logit each anyway; logits is for two classes; remove it"),
            ),
            (
                self.tied_embeddings && logits != vocab_size,
                "tied_embeddings",
                format!(
                    "class k must be token k, but the numbers of logits ({logits}) and tokens ({vocab_size}) differ; change \
                     data.n_classes, data.vocab_size or model.logits, or remove this key"
                ),
            ),
        ])?;
        let missing = self.missing_std(inputs);
        let within = |invalid: InvalidValue| invalid.within("init");
        self.init.validate(missing).map_err(within)
    }
}
