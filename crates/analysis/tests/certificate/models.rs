//! Random models of one layer, of every architecture that has a certificate. Their inputs are few enough to ask about each.

use headlight_data::Stream;

use super::{ExperimentConfig, toml};

/// A model with random weights.
pub(crate) struct Model {
    pub(crate) config: ExperimentConfig,
    pub(crate) weights: Vec<f32>,
    /// Its settings, for messages.
    pub(crate) text: String,
}

/// Random choices.
pub(crate) struct Dice(Box<dyn FnMut(u32) -> u32>);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Box::new(Stream::Tests.numbers(seed)))
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.0)(count as u32) as usize
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// True once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// From -1 to 1.
    fn number(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Collects settings.
struct Settings {
    dice: Dice,
    lines: Vec<String>,
}

/// A model whose inputs are at most so many.
pub(crate) fn random(seed: u64, most_inputs: usize) -> Model {
    let mut settings = Settings {
        dice: Dice::new(seed),
        lines: Vec::new(),
    };
    let samples = settings.samples(most_inputs);
    let is_plain = settings.dice.once_in(4);
    settings.model(&samples, is_plain);
    let Settings { mut dice, lines } = settings;
    let changes = lines.iter().map(|line| ("--set", line.as_str()));
    let base = "data = { samples = 1, generator = \"chacha\" }\nmodel = { d_model = 1 }\ntraining = { epochs = 1, token_second_moment = \"per-token\" }\n";
    let text = format!("seed {seed}: {}", lines.join(" "));
    let config = toml::parse("base", base, changes, |_| Ok(()), |_| Ok(()));
    let config = config.unwrap_or_else(|error| panic!("{text}\n{error}"));
    let weights = weights(&config, &mut dice);
    Model {
        config,
        weights,
        text,
    }
}

/// What the model depends on.
struct Samples {
    cls: &'static str,
    vocab: usize,
    positions: usize,
    classes: usize,
}

impl Settings {
    fn set(&mut self, key: &str, value: impl std::fmt::Display) {
        self.lines.push(format!("{key}={value}"));
    }

    /// Sets a switch to what it is not by default, once in so many times.
    fn turn(&mut self, key: &str, value: bool, times: usize) -> bool {
        let turns = self.dice.once_in(times);
        if turns {
            self.set(key, value);
        }
        turns
    }

    fn samples(&mut self, most_inputs: usize) -> Samples {
        let dice = &mut self.dice;
        let cls = dice.one_of(&["first", "first", "last", "none"]);
        let (vocab, tokens, len) = loop {
            let (vocab, len) = (3 + dice.below(7), 2 + dice.below(5));
            let tokens = vocab - usize::from(cls != "none");
            // Enough to be divided, unless this seed wants a small space.
            let inputs = tokens.pow(len as u32);
            if inputs <= most_inputs && (inputs >= most_inputs / 40 || dice.once_in(8)) {
                break (vocab, tokens, len);
            }
        };
        let first = usize::from(cls == "first");
        let token = |dice: &mut Dice| dice.below(tokens) + vocab - tokens;
        let mut places: Vec<usize> = (first..first + len).collect();
        for index in 0..len {
            places.swap(index, index + dice.below(len - index));
        }
        let (token, other) = (token(dice), token(dice));
        let (place, second) = (places[0], places[1]);
        let some = &places[..=dice.below(len)];
        let modulus = 2 + dice.below(5.min(some.len() * (tokens - 1)));
        let count = 2 + dice.below(len.min(5));
        let (rule, classes) = match dice.below(10) {
            0 => (
                format!("token-at-position\", token = {token}, position = {place}"),
                2,
            ),
            1 => (format!("token-anywhere\", token = {token}"), 2),
            2 => (
                format!("token-before-token\", first = {token}, second = {other}"),
                2,
            ),
            3 => (
                format!("equal-positions\", first = {place}, second = {second}"),
                2,
            ),
            4 => (format!("count\", token = {token}"), count),
            5 => (
                format!("sum-mod\", modulus = {modulus}, positions = {some:?}"),
                modulus,
            ),
            6 => ("max\"".to_owned(), vocab),
            7 => ("most-frequent\"".to_owned(), vocab),
            8 => (format!("majority\", token = {token}"), 2),
            _ => (
                format!("parity\", token = {token}, positions = {some:?}"),
                2,
            ),
        };
        self.set("data.cls", format!("\"{cls}\""));
        self.set("data.vocab_size", vocab);
        self.set("data.seq_len", len);
        self.set("data.n_classes", classes);
        self.set("data.rule", format!("{{ kind = \"{rule} }}"));
        let positions = len + usize::from(cls != "none");
        Samples {
            cls,
            vocab,
            positions,
            classes,
        }
    }

    /// The notebook's kind of model, whose engine has a step of its own, or any other.
    fn model(&mut self, samples: &Samples, is_plain: bool) {
        let heads = 1 + self.dice.below(3);
        let mut d_model = 2 + self.dice.below(11);
        let mut d_head = d_model / heads;
        let is_divided = is_plain || !self.dice.once_in(3);
        if is_divided {
            d_model = d_model.next_multiple_of(heads);
            d_head = d_model / heads;
        } else {
            d_head = 1 + (d_head + self.dice.below(5)) % 6;
            self.set("model.d_head", d_head);
        }
        self.set("model.d_model", d_model);
        self.set("model.n_heads", heads);
        let eps = self.dice.one_of(&[1e-6, 1e-6, 1e-5, 1e-3, 1e-12, 0.1, 1.0]);
        self.set("model.layer_norm_eps", format!("{eps:e}"));
        let scale = self.dice.one_of(&["true", "true", "false", "0.3", "3.0"]);
        self.set("model.attention.scale", scale);
        let temperature = self.dice.one_of(&["1.0", "1.0", "0.5", "2.0", "0.05"]);
        self.set("model.attention.temperature", temperature);
        if is_plain {
            return;
        }
        self.attention(samples, is_divided);
        self.positions(samples, d_head);
        let has_hidden = self.layers(samples);
        self.norms();
        let is_tied = samples.classes == samples.vocab && !has_hidden;
        if is_tied {
            self.turn("model.tied_embeddings", true, 2);
        }
    }

    fn attention(&mut self, samples: &Samples, is_divided: bool) {
        let mut projections = "separate";
        if is_divided {
            projections = self
                .dice
                .one_of(&["separate", "separate", "shared", "none"]);
            self.set("model.attention.projections", format!("\"{projections}\""));
        }
        if projections != "none" {
            self.turn("model.attention.bias", false, 4);
        }
        if projections == "separate" && is_divided {
            self.turn("model.attention.value_projection", false, 5);
        }
        if !(is_divided && self.turn("model.attention.output_projection", false, 6)) {
            self.turn("model.attention.output_bias", false, 4);
        }
        self.turn("model.attention.log_length", true, 5);
        let n = samples.positions;
        match self.dice.below(6) {
            0 => self.set("model.attention.mask", "\"causal\""),
            1 => {
                // A query sees at least itself.
                let dice = &mut self.dice;
                let row = |query: usize, dice: &mut Dice| -> Vec<u8> {
                    (0..n)
                        .map(|key| u8::from(key == query || dice.once_in(2)))
                        .collect()
                };
                let rows: Vec<Vec<u8>> = (0..n).map(|query| row(query, dice)).collect();
                self.set("model.attention.mask", format!("{rows:?}"));
            }
            _ => {}
        }
        match self.dice.below(4) {
            0 => {
                let position = self.dice.below(n);
                self.set("model.pooling", position);
            }
            1 => self.set("model.pooling", "\"last\""),
            _ if samples.cls == "none" || self.dice.once_in(2) => {}
            _ => self.set("model.pooling", "\"cls\""),
        }
    }

    fn positions(&mut self, samples: &Samples, d_head: usize) {
        let positions = [
            "learned",
            "learned",
            "none",
            "sinusoidal",
            "first",
            "rotary",
        ];
        let positions = self
            .dice
            .one_of(&positions[..if d_head.is_multiple_of(2) { 6 } else { 5 }]);
        self.set("model.positions", format!("\"{positions}\""));
        if positions == "learned" && self.dice.once_in(4) {
            let from = self.dice.below(samples.positions);
            self.set("model.positions_shared_from", from);
        }
    }

    /// Whether the classifier has a hidden layer.
    fn layers(&mut self, samples: &Samples) -> bool {
        let d_ff = self.dice.one_of(&[0, 0, 8, 16]);
        let hidden = self.dice.one_of(&[0, 0, 0, 5, 8]);
        self.set("model.d_ff", d_ff);
        self.set("model.classifier_hidden", hidden);
        if d_ff > 0 {
            self.turn("model.feed_forward_bias", false, 4);
        }
        if d_ff + hidden > 0 {
            let activation = self.dice.one_of(&["relu", "gelu", "gelu-tanh", "silu"]);
            self.set("model.activation", format!("\"{activation}\""));
        }
        self.turn("model.classifier_bias", false, 6);
        if samples.classes == 2 && self.dice.once_in(3) {
            self.set("model.logits", "\"per-class\"");
        }
        hidden > 0
    }

    fn norms(&mut self) {
        let place = self.dice.one_of(&["post", "post", "pre", "none"]);
        self.set("model.norm", format!("\"{place}\""));
        let mut has_last = place == "pre";
        if self.dice.once_in(4) {
            has_last = !has_last;
            self.set("model.final_norm", has_last);
        }
        let has_first = self.turn("model.embedding_norm", true, 4);
        if place != "none" || has_last || has_first {
            let kind = self.dice.one_of(&["layer", "rms"]);
            self.set("model.norm_kind", format!("\"{kind}\""));
            self.turn("model.norm_gain", false, 4);
            self.turn("model.norm_bias", kind == "rms", 3);
        }
    }
}

/// Weights that are larger than initial ones. Some models have multiples of a half alone: their inputs have margins that are equal.
fn weights(config: &ExperimentConfig, dice: &mut Dice) -> Vec<f32> {
    let factor: f32 = dice.one_of(&[1.0, 2.0, 3.0, 6.0]);
    let is_coarse = dice.once_in(6);
    let mut weights = Vec::new();
    for parameter in config.model.layout(config.inputs()) {
        let fan: usize = parameter.shape.iter().sum();
        for _ in 0..parameter.size() {
            let number: f32 = match () {
                () if parameter.name.ends_with("gamma") => 1.0 + 0.7 * dice.number(),
                () if parameter.shape.len() == 1 => 0.5 * dice.number(),
                () if parameter.name.ends_with("embedding") => factor.min(2.0) * dice.number(),
                () => factor * f32::sqrt(6.0 / fan as f32) * dice.number(),
            };
            weights.push(if is_coarse {
                (2.0 * number).round() / 2.0
            } else {
                number
            });
        }
    }
    weights
}
