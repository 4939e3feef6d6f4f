//! Draws experiments: a source of samples first, then values of any other keys, as long as they go together. The keys and their
//! choices come from their descriptions, the numbers and texts from a table here.

use std::fs;
use std::path::Path;

use headlight_experiment::config::ExperimentConfig;
use headlight_schema::{ConfigSection, Key, Kind, Variant, paths};
use headlight_trainer::files::config;

use super::definition::draw::Draw;

/// The values of keys that are numbers or texts. The first row counts that has the end of a key's name.
const VALUES: &[(&str, &str)] = &[
    (".seed seed", "0 1 4294967296 9223372036854775807"),
    (".name", r#""a" "b-1""#),
    (".file .start", r#""missing.jsonl""#),
    ("dump.samples", "[] [0] [0,0] [0,2]"),
    (".samples", "1 7 9 20 30"),
    (".held_out", "0 1 5 0.3 0.9"),
    (".text .label", r#""text" "label" "two""#),
    (".sample_weight", r#""one" "weight""#),
    (".class_weights", "{1=3.0} {0=0.0,1=0.5}"),
    (".features", r#"["one"] ["text"] []"#),
    (".vocab_size", "2 3 4 5 5 6 8"),
    (".seq_len", "1 1 2 3 4 5 6"),
    (".n_classes", "2 3 4 5 7"),
    (".classes", r#"["no","yes"] ["x","y","z"] ["a","b"]"#),
    (".fold", r#""1/2" "2/2" "1/3""#),
    (".max_words .min_count", "1 2 99"),
    (".vocabulary", r#"["a"] ["b","a"] []"#),
    (".modulus", "2 3 5"),
    ("rule.positions", "[0] [1] [1,2] [0,2]"),
    (".kinds period", "1 2 3"),
    (
        ".token .position .first .second .opening .closing",
        "0 1 2 3",
    ),
    (
        ".padding .end .padding_token _shared_from .pooling",
        "0 1 2 3 4",
    ),
    (".d_model", "1 2 4 6 8 8 12 16"),
    (".n_heads .d_head .n_layers .epochs", "1 2 3"),
    (".layer_norm_eps", "1e-6 1e-3 1.0"),
    (".d_ff .classifier_hidden", "0 1 5"),
    (".scale .positive_rate .rate .learned", "0.0 0.3 1.0"),
    (".temperature", "0.2 1.0 5.0"),
    (
        ".all _embedding .query .key .value",
        r#"0.1 "1/sqrt(d_model)""#,
    ),
    (
        "_output _hidden .classifier",
        r#"0.02 1.0 "1/sqrt(d_model)""#,
    ),
    ("training.steps .batch_size", "1 3 9 30"),
    (".learning_rate", "1e-6 1e-3 0.03 0.5 1e9"),
    (".warmup_steps", "0 1 50"),
    (".beta_1 .beta_2 .momentum .label_noise", "0.0 0.5 0.999"),
    (".epsilon .max_grad_norm", "1e-8 1e-3 1.0"),
    (
        "_decay _smoothing _dropout .embedding .attention .hidden .residual",
        "0.0 0.1 0.9",
    ),
    (".evaluate_at", "[1] [0,2] [] [99]"),
    (".evaluate_every .patience .evaluations_per_decade", "0 1 4"),
    (".positives .negatives .every_epochs", "0 1 3"),
    (".every_steps .every_seconds", "0 1 3"),
    (".device", r#""flex" "ndarray""#),
];

/// An experiment in `case.toml`.
pub(super) struct Drawn {
    /// Whether the config can be read. What else is wrong, such as too few samples, is known when samples are drawn.
    pub is_valid: bool,
    /// What draws from here on.
    pub draw: Draw,
}

/// Whether a key is left alone: a part of a rule, or the parameters of another run.
fn is_part(path: &str) -> bool {
    path.starts_with("data.rule.") || path == "training.start"
}

/// Settings in the order in which they are made, each as a line of TOML.
struct Settings<'a> {
    draw: Draw,
    folder: &'a Path,
    keys: Vec<(String, Key)>,
    lines: Vec<(String, String)>,
}

pub(super) fn experiment(number: u64, folder: &Path) -> Drawn {
    let mut own = Settings {
        draw: Draw(number.wrapping_mul(0x2545_f491_4f6c_dd1d)),
        folder,
        keys: paths(ExperimentConfig::keys()),
        lines: Vec::new(),
    };
    // A key without values fails each case.
    for (path, key) in own.keys.clone() {
        own.value(&path, &key.kind);
    }
    own.source();
    // Changes most keys, or so few that models stay plain.
    let (often, is_wrong) = ([0, 0, 1, 1, 3, 9][own.below(6)], own.below(10) == 0);
    let mut others = own.keys.clone();
    let mut is_valid = true;
    // Some configs stay as they are, to be refused.
    while is_valid && !others.is_empty() {
        let (path, _) = others.swap_remove(own.below(others.len()));
        let is_set = own.lines.iter().any(|(name, _)| *name == path);
        if is_set || is_part(&path) || own.below(20) >= often {
            continue;
        }
        own.set_any(&path);
        is_valid = own.is_valid();
        if !is_valid && !is_wrong {
            own.lines.pop();
            is_valid = true;
        }
    }
    own.write();
    Drawn {
        is_valid,
        draw: own.draw,
    }
}

impl Settings<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.draw.below(end)
    }

    fn one<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn set(&mut self, path: &str, value: &str) {
        self.lines.push((path.to_owned(), value.to_owned()));
    }

    /// Sets any value of a key.
    fn set_any(&mut self, path: &str) {
        let (_, key) = self.keys.iter().find(|(own, _)| own == path).unwrap();
        let kind = key.kind.clone();
        let value = self.value(path, &kind);
        self.set(path, &value);
    }

    /// Sets one of some keys, or none.
    fn may_set(&mut self, paths: &[&str]) {
        if self.below(2) == 0 {
            let path = self.one(paths);
            self.set_any(path);
        }
    }

    fn write(&self) {
        let lines = self.lines.iter();
        let lines = lines.map(|(name, value)| format!("{name} = {value}\n"));
        fs::write(self.folder.join("case.toml"), lines.collect::<String>()).unwrap();
    }

    fn is_valid(&self) -> bool {
        self.write();
        config::load(&self.folder.join("case.toml"), &[]).is_ok()
    }

    /// Where samples come from, and the least that a config needs beside it.
    fn source(&mut self) {
        let has_rule = self.below(5) < 3;
        loop {
            self.lines.clear();
            self.set_any("model.d_model");
            if has_rule {
                self.rule();
            } else {
                self.file();
            }
            if self.is_valid() {
                return;
            }
        }
    }

    fn rule(&mut self) {
        self.set_any("data.rule");
        if !self.lines[1].1.contains("sentence") {
            self.set_any("data.vocab_size");
            self.set_any("data.seq_len");
        }
        for path in ["data.samples", "data.held_out", "data.cls", "data.task"] {
            self.set_any(path);
        }
        let is_fresh = self.lines.iter().any(|(_, value)| value.contains("fresh"));
        self.set_any(["training.epochs", "training.steps"][usize::from(is_fresh)]);
        if self.lines.iter().any(|(_, value)| value.contains("next")) {
            self.set("model.attention.mask", "\"causal\"");
        }
        self.may_set(&["data.balanced", "data.positive_rate", "data.n_classes"]);
        self.may_set(&["data.generator"]);
        self.may_set(&["model.pooling", "model.attention.padding_token"]);
    }

    /// Writes a file of few samples: token ids with a label each or one per position, texts, categories, or texts without labels.
    fn file(&mut self) {
        let (rows, length, kind) = (1 + self.below(20), 1 + self.below(4), self.below(5));
        // Rarely, one class of labels.
        let (has_padding, classes) = (self.below(2) == 0, [1, 2, 2, 2, 3, 3][self.below(6)]);
        let mut lines = Vec::new();
        for row in 0..rows {
            // Of padding alone, if it is 0.
            let held = if has_padding {
                self.below(length + 1)
            } else {
                length
            };
            let mut tokens = vec![4; length];
            let mut words = Vec::new();
            for token in &mut tokens[..held] {
                *token = 1 + self.below(3);
                words.push(self.one(&["a", "b", "Bee", "cat,", "é"]));
            }
            let names = ["\"a\"", "\"b\"", "\"c\""];
            let (words, label) = (words.join(" "), names[row % classes]);
            lines.push(match kind {
                0 => format!("{{\"tokens\": {tokens:?}, \"label\": {label}}}"),
                1 => {
                    let mut labels = vec!["null"; length];
                    for label in &mut labels[..held] {
                        *label = self.one(&[names[row % classes], "null", names[0]]);
                    }
                    let labels = labels.join(", ");
                    format!("{{\"tokens\": {tokens:?}, \"labels\": [{labels}]}}")
                }
                2 => format!("\"{words}\",{label}"),
                3 => format!("{},{},{label}", tokens[0], tokens[length - 1]),
                _ => words,
            });
        }
        let (name, header, more) = [
            ("data.jsonl", "", ""),
            ("data.jsonl", "", "token-classification"),
            ("data.csv", "text,label\n", ""),
            ("data.csv", "one,two,label\n", ""),
            ("data.txt", "", "next-token"),
        ][kind];
        let path = self.folder.join(name);
        fs::write(&path, format!("{header}{}\n", lines.join("\n"))).unwrap();
        self.set("data.file", &format!("{:?}", path.display().to_string()));
        self.set_any("training.epochs");
        self.may_set(&["data.cls"]);
        match kind {
            0 | 1 if has_padding => self.set("model.attention.padding_token", "4"),
            3 => self.set("data.features", r#"["one","two"]"#),
            4 => self.set("model.attention.mask", "\"causal\""),
            _ => {}
        }
        if !more.is_empty() {
            self.set("data.task", &format!("{more:?}"));
        }
    }

    /// A value of a key as TOML writes it.
    fn value(&mut self, path: &str, kind: &Kind) -> String {
        match kind {
            Kind::Switch => self.one(&["true", "false"]).to_owned(),
            Kind::Choice(choices) => format!("{:?}", choices[self.below(choices.len())].name),
            Kind::Either(kinds) => {
                let kind = &kinds[self.below(kinds.len())];
                self.value(path, kind)
            }
            Kind::Variants(variants) => {
                let Variant { name, keys, .. } = &variants[self.below(variants.len())];
                self.table(path, &format!("kind = {name:?}"), keys)
            }
            Kind::List(of) => match &**of {
                Kind::Section(keys) => format!("[{}]", self.table(path, "", keys)),
                Kind::Choice(_) => format!("[{}]", self.value(path, of)),
                Kind::List(_) => self.matrix(),
                _ => self.known(path),
            },
            _ => self.known(path),
        }
    }

    fn table(&mut self, path: &str, start: &str, keys: &[Key]) -> String {
        let mut parts = vec![start.to_owned()];
        parts.retain(|part| !part.is_empty());
        for key in keys {
            if key.is_required || self.below(3) == 0 {
                let value = self.value(&format!("{path}.{}", key.name), &key.kind);
                parts.push(format!("{} = {value}", key.name));
            }
        }
        format!("{{ {} }}", parts.join(", "))
    }

    /// Rows of 0 and 1, for as many positions as samples have.
    fn matrix(&mut self) -> String {
        let config = config::load(&self.folder.join("case.toml"), &[]);
        let positions = config.map_or(2, |config| config.inputs().positions);
        let mut cell = |_| usize::from(self.draw.below(3) > 0);
        let mut row = |_| (0..positions).map(&mut cell).collect();
        format!(
            "{:?}",
            (0..positions).map(&mut row).collect::<Vec<Vec<usize>>>()
        )
    }

    /// A value from the table, which has one for each key that is a number or a text.
    fn known(&mut self, path: &str) -> String {
        let file = self.folder.join("data.jsonl");
        if path == "tests.file" && file.exists() {
            return format!("{:?}", file.display().to_string());
        }
        let mut rows = VALUES.iter();
        let found = rows.find(|(ends, _)| ends.split(' ').any(|end| path.ends_with(end)));
        let (_, values) = found.unwrap_or_else(|| panic!("{path} has no values in the table"));
        self.one(&values.split(' ').collect::<Vec<_>>()).to_owned()
    }
}
