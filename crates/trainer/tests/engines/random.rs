//! 300 random experiments that use every value of every key of the model and of training steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use headlight_trainer::Session;
use headlight_trainer::files::config;

use crate::compare::{ANY, compare, configs};

/// Keys whose values are chosen by name, with all their values; at least 20 of the configs have each of them.
const VALUES: [(&str, &[&str]); 47] = [
    (
        "data.task",
        &["classification", "token-classification", "next-token"],
    ),
    ("data.cls", &["first", "last", "none"]),
    ("data.label_noise", &["0.2"]),
    ("model.d_head", &["2", "4", "5"]),
    ("model.norm", &["post", "pre", "none"]),
    ("model.norm_kind", &["layer", "rms"]),
    ("model.norm_gain", &["true", "false"]),
    ("model.norm_bias", &["true", "false"]),
    ("model.final_norm", &["true", "false"]),
    ("model.embedding_norm", &["true", "false"]),
    ("model.activation", &["relu", "gelu", "gelu-tanh", "silu"]),
    ("model.feed_forward_bias", &["true", "false"]),
    (
        "model.positions",
        &["learned", "none", "sinusoidal", "rotary", "first"],
    ),
    ("model.positions_shared_from", &["0", "1", "2"]),
    ("model.pooling", &["cls", "last", "mean", "0", "1"]),
    ("model.classifier_hidden", &["0", "7"]),
    ("model.classifier_bias", &["true", "false"]),
    ("model.logits", &["log-odds", "per-class"]),
    ("model.tied_embeddings", &["true", "false"]),
    ("model.attention.bias", &["true", "false"]),
    ("model.attention.value_projection", &["true", "false"]),
    ("model.attention.output_projection", &["true", "false"]),
    ("model.attention.output_bias", &["true", "false"]),
    ("model.attention.log_length", &["true", "false"]),
    ("model.attention.softmax", &["true", "false"]),
    ("model.attention.rate", &["0", "0.6", "1"]),
    (
        "model.init.scheme",
        &["keras", "pytorch", "transformer-lens", "normal"],
    ),
    ("model.init.std.all", &["0.3", "1/sqrt(d_model)"]),
    ("model.init.std.classifier", &["0.5/sqrt(d_model)"]),
    ("model.init.copy_blocks", &["true", "false"]),
    ("training.optimizer", &["adam", "adamw", "sgd"]),
    ("training.schedule", &["constant", "linear", "cosine"]),
    ("training.warmup_steps", &["0", "3"]),
    ("training.steps", &["12"]),
    ("training.weight_decay", &["0.0", "0.5"]),
    ("training.momentum", &["0.0", "0.9"]),
    ("training.max_grad_norm", &["0.1", "1.0"]),
    ("training.cross_entropy", &["plain", "accurate"]),
    ("training.label_smoothing", &["0.0", "0.1"]),
    ("training.loss_per_sample", &["true", "false"]),
    ("training.dropout.preset", &["keras", "pytorch"]),
    ("training.dropout.rate", &["0.3"]),
    ("training.dropout.embedding", &["0.0", "0.2"]),
    ("training.dropout.attention", &["0.0", "0.4"]),
    ("training.dropout.hidden", &["0.5"]),
    ("training.dropout.residual", &["0.0", "0.1"]),
    (
        "training.class_weights",
        &["balanced", "{ 1 = 3.0, 0 = 0.2 }"],
    ),
];

#[test]
fn random_experiments_take_the_same_course() {
    let notebook = configs().join("notebook.toml");
    let mut draw = Draw { state: 3 };
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut cases, mut refused) = (0, 0);
    while cases < 300 {
        let settings = draw.settings(cases);
        let sets = written(&settings);
        // Some draws do not go together, such as a norm's kind in a model without norms.
        let Ok(config) = config::load(&notebook, &sets) else {
            refused += 1;
            assert!(
                refused < 3000,
                "valid configs are rare: {cases} of {refused}"
            );
            continue;
        };
        for (key, value) in settings {
            *counts.entry((key.to_owned(), value)).or_default() += 1;
        }
        let mut session = Session::open(config).unwrap();
        if cases.is_multiple_of(5) {
            let train = &mut Arc::make_mut(&mut session.experiment.splits).train;
            train.weigh(|sample, _| (sample % 7) as f64 / 2.0);
        }
        compare(&session, &format!("{sets:?}"), 10, &ANY);
        cases += 1;
    }
    println!("{refused} draws were refused");
    for (key, values) in VALUES {
        for value in values {
            let count = counts.get(&(key.to_owned(), (*value).to_owned()));
            assert!(count >= Some(&20), "{key} = {value}: {count:?}");
        }
    }
}

/// `KEY=VALUE` of settings.
fn written(settings: &[(&'static str, String)]) -> Vec<String> {
    let settings = settings.iter();
    settings
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

/// Draws from a linear congruential generator (Knuth's MMIX).
struct Draw {
    state: u64,
}

impl Draw {
    fn below(&mut self, choices: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % choices
    }

    fn one<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// The settings of an experiment, which may not go together.
    fn settings(&mut self, seed: usize) -> Vec<(&'static str, String)> {
        let mut settings = Settings(vec![("seed", seed.to_string())]);
        let cls = self.any("data.cls");
        let is_tied = self.below(5) == 0;
        // A tied classifier has a class for each token.
        let vocab_size = if is_tied { 4 + self.below(3) } else { 9 };
        let fewest = if is_tied { vocab_size - 1 } else { 2 };
        let seq_len = fewest + self.below(8);
        let positions = seq_len + usize::from(cls != "none");
        let n_classes = match self.below(3) {
            _ if is_tied => vocab_size,
            0 => 2,
            _ => 2 + self.below(seq_len.min(9)),
        };
        settings.set("data.cls", cls);
        settings.set("data.seq_len", seq_len);
        settings.set("data.vocab_size", vocab_size);
        settings.set("data.samples", 100);
        settings.set("data.held_out", 0);
        settings.set("model.tied_embeddings", is_tied);
        let task = match self.below(2) {
            0 => "classification",
            _ => self.any("data.task"),
        };
        settings.set("data.task", task);
        match task {
            "classification" => {
                settings.set("data.rule", "{ kind = \"count\", token = 3 }");
                settings.set("data.n_classes", n_classes);
                if n_classes == 2 {
                    self.may_set(&mut settings, "model.logits");
                }
            }
            "next-token" => {
                settings.set("data.generator", "chacha");
                settings.set("data.rule", "{ kind = \"repeat\", period = 2 }");
            }
            _ => {
                let kind = if is_tied { "sort" } else { "histogram" };
                let padding = self.one(&["", ", padding = 2"]);
                settings.set("data.generator", "chacha");
                settings.set("data.rule", format!("{{ kind = \"{kind}\"{padding} }}"));
            }
        }
        if self.below(4) == 0 {
            settings.set("data.label_noise", "0.2");
        }
        self.sizes(&mut settings);
        self.norms(&mut settings);
        self.positions(&mut settings);
        self.attention(&mut settings, positions);
        self.classifier(&mut settings, is_tied);
        self.init(&mut settings);
        self.training(&mut settings, is_tied);
        // By draws of its own: every second config has none.
        if seed % 2 == 1 {
            let mut own = Self { state: seed as u64 };
            own.dropout(&mut settings);
        }
        if seed.is_multiple_of(4) {
            let mut own = Self { state: seed as u64 };
            own.below(2);
            own.set_any(&mut settings, "training.class_weights");
        }
        settings.0
    }

    /// Any value of a key.
    fn any(&mut self, key: &str) -> &'static str {
        let (_, values) = VALUES.iter().find(|(own, _)| *own == key).unwrap();
        self.one(values)
    }

    fn set_any(&mut self, settings: &mut Settings, key: &'static str) {
        let value = self.any(key);
        settings.set(key, value);
    }

    /// Sets any value in two of three draws; otherwise leaves the default.
    fn may_set(&mut self, settings: &mut Settings, key: &'static str) {
        if self.below(3) > 0 {
            self.set_any(settings, key);
        }
    }

    fn sizes(&mut self, settings: &mut Settings) {
        let heads = 1 + self.below(8);
        let d_head = (1 + self.below(6)).max(6_usize.div_ceil(heads));
        settings.set("model.n_heads", heads);
        settings.set("model.d_model", heads * d_head);
        if self.below(2) == 0 {
            self.set_any(settings, "model.d_head");
        }
        let d_ff = [0, 0, 5, 16, 64][self.below(5)];
        settings.set("model.d_ff", d_ff);
        if d_ff > 0 {
            self.set_any(settings, "model.activation");
            self.may_set(settings, "model.feed_forward_bias");
        }
    }

    fn norms(&mut self, settings: &mut Settings) {
        for key in ["model.norm", "model.final_norm", "model.embedding_norm"] {
            self.may_set(settings, key);
        }
        for key in ["model.norm_kind", "model.norm_gain", "model.norm_bias"] {
            if settings.value("model.norm") != Some("none") {
                self.may_set(settings, key);
            }
        }
        // Small variances make a norm steep, and rounding large.
        settings.set("model.layer_norm_eps", "1e-3");
    }

    fn positions(&mut self, settings: &mut Settings) {
        self.may_set(settings, "model.positions");
        let is_learned = matches!(settings.value("model.positions"), None | Some("learned"));
        if is_learned && self.below(3) > 0 {
            self.set_any(settings, "model.positions_shared_from");
        }
    }

    fn attention(&mut self, settings: &mut Settings, positions: usize) {
        let mask = match self.below(3) {
            _ if settings.value("data.task") == Some("next-token") => "causal".to_owned(),
            0 => "none".to_owned(),
            1 => "causal".to_owned(),
            _ => {
                let mut row = || -> Vec<usize> {
                    let cells = (0..positions).map(|_| usize::from(self.below(3) > 0));
                    cells.collect()
                };
                format!("{:?}", (0..positions).map(|_| row()).collect::<Vec<_>>())
            }
        };
        settings.set("model.attention.mask", mask);
        let projections = self.one(&["separate", "separate", "shared", "none"]);
        settings.set("model.attention.projections", projections);
        let temperature = self.one(&["1", "0.5", "2"]);
        settings.set("model.attention.temperature", temperature);
        if self.below(3) == 0 {
            settings.set("model.attention.padding_token", 2);
        }
        if projections != "none" {
            self.may_set(settings, "model.attention.bias");
        }
        if projections == "separate" {
            self.may_set(settings, "model.attention.value_projection");
        }
        self.may_set(settings, "model.attention.output_projection");
        if settings.value("model.attention.output_projection") != Some("false") {
            self.may_set(settings, "model.attention.output_bias");
        }
        self.may_set(settings, "model.attention.log_length");
        self.may_set(settings, "model.attention.softmax");
        let has_softmax = settings.value("model.attention.softmax") != Some("false");
        if has_softmax {
            self.may_set(settings, "model.attention.rate");
        }
        // Without a softmax, a layer's output grows with the third power of its input, and so does rounding.
        let scales = &["true", "0.3", "false"][..if has_softmax { 3 } else { 2 }];
        let scale = self.one(scales);
        settings.set("model.attention.scale", scale);
        // Weights that do not sum to 1 grow from layer to layer, too, where no norm follows.
        let sums_to_1 = matches!(settings.value("model.attention.rate"), None | Some("1"));
        let most = match (has_softmax, settings.value("model.norm")) {
            (true, Some("none")) if !sums_to_1 => 2,
            (true, _) => 4,
            (false, Some("none")) => 1,
            (false, _) => 2,
        };
        settings.set("model.n_layers", 1 + self.below(most));
    }

    fn classifier(&mut self, settings: &mut Settings, is_tied: bool) {
        if settings.value("data.task") == Some("classification") {
            self.set_any(settings, "model.pooling");
        } else {
            self.may_set(settings, "training.loss_per_sample");
        }
        self.may_set(settings, "model.classifier_bias");
        if !is_tied {
            self.may_set(settings, "model.classifier_hidden");
        }
    }

    fn init(&mut self, settings: &mut Settings) {
        self.set_any(settings, "model.init.scheme");
        self.may_set(settings, "model.init.copy_blocks");
        if settings.value("model.init.scheme") == Some("normal") {
            self.set_any(settings, "model.init.std.all");
            self.may_set(settings, "model.init.std.classifier");
        }
    }

    fn dropout(&mut self, settings: &mut Settings) {
        self.below(2);
        if self.below(2) == 0 {
            self.set_any(settings, "training.dropout.preset");
            self.may_set(settings, "training.dropout.rate");
        }
        for key in [
            "training.dropout.embedding",
            "training.dropout.attention",
            "training.dropout.residual",
        ] {
            self.may_set(settings, key);
        }
        if settings.value("model.d_ff") != Some("0") {
            self.may_set(settings, "training.dropout.hidden");
        }
    }

    fn training(&mut self, settings: &mut Settings, is_tied: bool) {
        settings.set("training.batch_size", 1 + self.below(20));
        // With a small epsilon, Adam moves a weight by the whole learning rate in the direction of a gradient that is rounding alone.
        settings.set("training.epsilon", "1e-4");
        for key in [
            "training.optimizer",
            "training.schedule",
            "training.warmup_steps",
            "training.cross_entropy",
            "training.label_smoothing",
        ] {
            self.may_set(settings, key);
        }
        if self.below(3) == 0 {
            settings.set("training.steps", 12);
        }
        if self.below(3) == 0 {
            self.set_any(settings, "training.max_grad_norm");
        }
        if self.below(4) == 0 {
            settings.set("training.norms", true);
        }
        let is_adam = match settings.value("training.optimizer") {
            Some("adamw") => {
                self.set_any(settings, "training.weight_decay");
                false
            }
            Some("sgd") => {
                self.set_any(settings, "training.momentum");
                settings.set("training.learning_rate", "0.001");
                false
            }
            _ => true,
        };
        let is_clipped = settings.value("training.max_grad_norm").is_some();
        let moments = if is_adam && !is_clipped && !is_tied {
            &["per-token", "per-occurrence"][..]
        } else {
            &["per-token"]
        };
        let moment = self.one(moments);
        settings.set("training.token_second_moment", moment);
    }
}

/// Keys with their values, as `--set` takes them.
struct Settings(Vec<(&'static str, String)>);

impl Settings {
    #[allow(clippy::needless_pass_by_value)] // Callers give numbers and words alike.
    fn set(&mut self, key: &'static str, value: impl ToString) {
        self.0.push((key, value.to_string()));
    }

    fn value(&self, key: &str) -> Option<&str> {
        let own = self.0.iter().find(|(own, _)| *own == key);
        own.map(|(_, value)| value.as_str())
    }
}
