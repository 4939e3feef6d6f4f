//! The settings that a dataset is made from.
//!
//! One file, because the keys of TOML and the config that they become are read side by side.

use std::path::PathBuf;

use headlight_keys::{InvalidValue, Kind, Range, Section, Value, section};
use serde::{Deserialize, Serialize};

use crate::cls::{CLS, ClsPlace};
use crate::fold::Fold;
use crate::generator::Generator;
use crate::rules::LabelRule;
use crate::sampler::Sampler;
use crate::words::Words;

/// The most classes: labels are bytes.
pub(crate) const CLASS_LIMIT: usize = 256;

/// The longest name of a class, in bytes.
const NAME_LIMIT: usize = 100;

/// The largest number of tokens in a generated dataset (4 bytes each).
const TOKEN_LIMIT: u64 = 1 << 30;

/// The `[data]` section of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Keys", into = "Keys")]
pub struct DatasetConfig {
    /// Seed of the generator and of the held-out split.
    pub seed: u64,
    /// The origin of the samples.
    pub source: Source,
    /// Where the file has texts and labels.
    pub columns: Columns,
    /// How texts become tokens, if samples are texts.
    pub words: Option<Words>,
    /// Number of different tokens, including `[CLS]` = 0. Samples hold 1 to `vocab_size - 1`; without `[CLS]`, 0 is one of
    /// them.
    pub vocab_size: u32,
    /// Tokens per sample, without `[CLS]`.
    pub seq_len: usize,
    /// Number of classes. Labels are 0 to `n_classes - 1`.
    pub n_classes: usize,
    /// The names of the classes, in their order; empty if they have none.
    pub classes: Vec<String>,
    /// The place of `[CLS]` in each sample.
    pub cls: ClsPlace,
    /// Number of samples that training never sees, to measure generalisation.
    pub held_out: usize,
    /// The part of the file's samples that is held out instead.
    pub fold: Option<Fold>,
    /// The rule that labels samples. Only a dataset from a file may omit it.
    pub rule: Option<LabelRule>,
}

/// The columns of a CSV file, or the keys of a JSONL file, that a config names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// That of texts; without a name, `text`, unless the file has tokens.
    pub text: Option<String>,
    /// That of labels; without a name, `label`.
    pub label: Option<String>,
    /// Those of categories, each a position of the samples; empty if samples are tokens or texts.
    pub features: Vec<String>,
}

/// The origin of samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Drawn from a seed.
    Generated {
        /// The generator that draws tokens.
        generator: Generator,
        /// Number of training samples.
        samples: usize,
        /// Share of positives, exact to the nearest sample; `None` leaves it to chance.
        positive_rate: Option<f64>,
    },
    /// Read from an npz, CSV, TSV or JSONL file.
    File(PathBuf),
}

impl Columns {
    /// The name of the column of texts.
    pub fn text_name(&self) -> &str {
        self.text.as_deref().unwrap_or("text")
    }

    /// The name of the column of labels.
    pub fn label_name(&self) -> &str {
        self.label.as_deref().unwrap_or("label")
    }
}

impl DatasetConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// Names the first invalid value.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        fn invalid(key: &str, message: impl Into<String>) -> Result<(), InvalidValue> {
            Err(InvalidValue::new(key, message))
        }
        let (vocab_size, seq_len) = (self.vocab_size, self.seq_len);
        let n_classes = self.n_classes;
        // The share of positives depends on the generator, and is checked with it.
        let keys = Keys {
            vocab_size: Some(vocab_size),
            seq_len: Some(seq_len),
            n_classes: Some(n_classes),
            samples: match self.source {
                Source::Generated { samples, .. } => Some(samples),
                Source::File(_) => None,
            },
            ..Keys::default()
        };
        keys.check_ranges()?;
        self.validate_classes()?;
        self.validate_words()?;
        if let Some(rule) = &self.rule {
            rule.validate(self.sampler())?;
            let most = rule.most_classes(seq_len);
            if n_classes > most {
                let message = format!(
                    "n_classes is {n_classes}, but the rule ({}) gives samples of this length at most {most} classes",
                    rule.describe()
                );
                return invalid("n_classes", message);
            }
        }
        if self.fold.is_some() && self.held_out > 0 {
            return invalid(
                "fold",
                "`fold` and `held_out` both choose the held-out samples; remove one of them",
            );
        }
        let Source::Generated {
            generator,
            samples,
            positive_rate,
        } = self.source
        else {
            return Ok(());
        };
        if self.fold.is_some() {
            return invalid(
                "fold",
                "folds divide the samples of a file, and these are generated; set held_out instead",
            );
        }
        let tokens = (samples as u64)
            .saturating_add(self.held_out as u64)
            .saturating_mul(self.cls.positions(seq_len) as u64);
        if tokens > TOKEN_LIMIT {
            let positions = if self.cls.is_somewhere() {
                "(seq_len + 1)"
            } else {
                "seq_len"
            };
            let message = format!(
                "(samples + held_out) * {positions} is over {TOKEN_LIMIT} tokens; ask for fewer or shorter samples"
            );
            return invalid("samples", message);
        }
        if generator == Generator::Numpy && u32::try_from(self.seed).is_err() {
            let message = format!(
                "np.random.seed takes 0 to 4294967295, not {}; use a smaller seed or generator = \"chacha\"",
                self.seed
            );
            return invalid("seed", message);
        }
        let needed = self.rule.as_ref().and_then(|rule| rule.generator());
        if (needed == Some(Generator::Sentences)) != (generator == Generator::Sentences) {
            return invalid(
                "generator",
                "generator = \"sentences\" and rule.kind = \"sentence\" belong together; set both or neither",
            );
        }
        match (positive_rate, generator) {
            (Some(_), Generator::Sentences) => invalid(
                "positive_rate",
                "in generated sentences, each class is as likely as the others; remove positive_rate",
            ),
            (Some(_), _) if n_classes > 2 => invalid(
                "positive_rate",
                format!(
                    "there are {n_classes} classes; the share of positives can be set for two only; remove it"
                ),
            ),
            (Some(_), Generator::Numpy) => invalid(
                "positive_rate",
                "the numpy generator leaves the share of positives to chance; set generator = \"chacha\" or remove positive_rate",
            ),
            // Every rule holds for a sample of one repeated token.
            (Some(rate), Generator::Chacha) if rate < 1.0 && self.sampler().n_tokens() == 1 => {
                invalid(
                    "positive_rate",
                    "with vocab_size = 2 only one sample is possible, and it is positive; raise vocab_size",
                )
            }
            (rate, _) => POSITIVE_RATE.check("positive_rate", &rate),
        }
    }
}

impl DatasetConfig {
    /// The name of a class: that of the config, or else its number.
    pub fn class_name(&self, class: u8) -> String {
        let name = self.classes.get(usize::from(class));
        name.map_or_else(|| class.to_string(), Clone::clone)
    }

    /// A class as a model's answer, in a sentence: its name, `yes` or `no` where a rule asks, or else its number.
    pub fn answer(&self, class: usize) -> String {
        match (self.classes.get(class), &self.rule, self.n_classes) {
            (Some(name), ..) => name.clone(),
            (None, Some(_), 2) => ["no", "yes"][class.min(1)].to_owned(),
            _ => format!("class {class}"),
        }
    }

    /// The text of a token: its word, or else its number.
    pub fn token_text(&self, token: u32, padding_token: Option<u32>) -> String {
        match &self.words {
            _ if token == CLS && self.cls.is_somewhere() => "[CLS]".to_owned(),
            Some(words) => words.text(token).to_owned(),
            None if Some(token) == padding_token => "[PAD]".to_owned(),
            None => token.to_string(),
        }
    }

    /// The vocabulary and the form of generated samples.
    pub(crate) fn sampler(&self) -> Sampler {
        Sampler {
            vocab_size: self.vocab_size,
            seq_len: self.seq_len,
            cls: self.cls,
        }
    }

    fn validate_words(&self) -> Result<(), InvalidValue> {
        let known = self.rule.as_ref().map_or(&[][..], |rule| rule.words());
        if cfg!(not(feature = "words")) {
            let message =
                "this page cannot train on texts; `headlight lab negation` writes one that can";
            return if self.words.is_some() || !known.is_empty() {
                Err(InvalidValue::new("words", message))
            } else {
                Ok(())
            };
        }
        if !known.is_empty() {
            let words = self.words.iter().flat_map(|words| &words.vocabulary);
            if !words.eq(known) {
                let message = "the vocabulary is not that of the rule's grammar; remove data.words";
                return Err(InvalidValue::new("words.vocabulary", message));
            }
        } else if self.words.is_some() && matches!(self.source, Source::Generated { .. }) {
            let message = "these samples are numbers, not words; remove data.words";
            return Err(InvalidValue::new("words", message));
        }
        let Some(words) = &self.words else {
            return Ok(());
        };
        if !self.cls.is_somewhere() {
            let message = "texts need [CLS], which is token 0 of their vocabulary; set cls = \"first\" or \"last\" (model.pooling = \"mean\" then reads the mean over all words and [CLS])";
            return Err(InvalidValue::new("cls", message));
        }
        words
            .validate(!self.columns.features.is_empty())
            .map_err(|invalid| invalid.within("words"))?;
        if words.vocab_size() != self.vocab_size {
            let message = format!(
                "vocab_size is {}, but [CLS], [PAD], [UNK] and the {} words of data.words.vocabulary are {}; remove vocab_size",
                self.vocab_size,
                words.vocabulary.len(),
                words.vocab_size()
            );
            return Err(InvalidValue::new("vocab_size", message));
        }
        Ok(())
    }

    fn validate_classes(&self) -> Result<(), InvalidValue> {
        let (classes, n_classes) = (&self.classes, self.n_classes);
        if classes.is_empty() {
            return Ok(());
        }
        if classes.len() != n_classes {
            let message = format!(
                "n_classes is {n_classes}, but the classes have {} names: {}",
                classes.len(),
                classes.join(", ")
            );
            return Err(InvalidValue::new("n_classes", message));
        }
        for (index, name) in classes.iter().enumerate() {
            check_name(name).map_err(|reason| InvalidValue::new("classes", reason))?;
            if classes[..index].contains(name) {
                let message = format!("two classes have the name `{name}`");
                return Err(InvalidValue::new("classes", message));
            }
        }
        Ok(())
    }
}

/// Checks the name of a class.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() {
        return Err("the name of a class is empty".to_owned());
    }
    if name.len() > NAME_LIMIT {
        let start: String = name.chars().take(20).collect();
        return Err(format!(
            "the name of class `{start}...` is longer than {NAME_LIMIT} bytes"
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(format!(
            "the name of class `{name}` holds a line break or another control character"
        ));
    }
    Ok(())
}

/// The values of `positive_rate`.
const POSITIVE_RATE: Range = Range::SHARE.hint("a share of the samples");

section! {
    /// [`DatasetConfig`] in TOML, where the keys of both sources share one table.
    struct Keys {
        /// Seed of the generator and of the held-out split.
        seed: u64 = 0,
        /// A dataset file to read samples from, `.npz`, `.csv`, `.tsv` or `.jsonl`, or one of these with `.gz`; in place of `generator`, `samples` and `positive_rate`.
        #[omit(default)]
        file: Option<PathBuf> = None,
        /// The generator that draws tokens; if unset, `numpy`.
        #[omit(default)]
        generator: Option<Generator> = None,
        /// Number of training samples; generated samples need it.
        #[range(Range::at_least(1))]
        #[omit(default)]
        samples: Option<usize> = None,
        /// Share of positives, exact to the nearest sample, with `generator = "chacha"`; if unset, chance decides.
        #[range(POSITIVE_RATE)]
        #[omit(default)]
        positive_rate: Option<f64> = None,
        /// The column of texts in the file; if unset, `text`.
        #[omit(default)]
        text: Option<String> = None,
        /// The column of labels in the file; if unset, `label`.
        #[omit(default)]
        label: Option<String> = None,
        /// The columns of categories in the file; each is a position of the samples, and each of its values a token.
        #[omit(default)]
        features: Vec<String> = Vec::new(),
        /// Number of different tokens, including `[CLS]` = 0 if samples have it; a dataset file or the grammar gives it too.
        #[range(Range::at_least(2).hint("it counts [CLS], if samples have it"))]
        #[omit(default)]
        vocab_size: Option<u32> = None,
        /// Tokens per sample, without `[CLS]`; a dataset file or the grammar gives it too.
        #[range(Range::at_least(1).hint("a sample needs a token; [CLS] does not count"))]
        #[omit(default)]
        seq_len: Option<usize> = None,
        /// Number of classes; labels are 0 to `n_classes - 1`. If unset, as many as the file or the rule gives, or 2.
        ///
        /// Not written for two generated classes, so that their configs keep their hashes.
        #[range(Range::of(2, CLASS_LIMIT as u32))]
        #[omit(default)]
        n_classes: Option<usize> = None,
        /// The names of the classes, in their order.
        #[omit(default)]
        classes: Vec<String> = Vec::new(),
        /// Where `[CLS]` stands in each sample.
        cls: ClsPlace = ClsPlace::default(),
        /// Number of samples that training never sees, to measure generalisation; of a file of texts, a fifth if unset.
        held_out: usize = 0,
        /// Hold out part K of N of the file's samples instead, as `"K/N"`; each part has the classes in the proportions of the file.
        #[omit(default)]
        fold: Option<Fold> = None,
        /// The rule that labels samples; generated samples need it.
        #[omit(default)]
        rule: Option<LabelRule> = None,
        /// How texts become tokens.
        #[omit(default)]
        words: Option<Words> = None,
    }
}

impl Value for DatasetConfig {
    fn kind() -> Kind {
        Keys::kind()
    }

    fn written(&self) -> Option<String> {
        None
    }
}

impl TryFrom<Keys> for DatasetConfig {
    type Error = String;

    fn try_from(mut keys: Keys) -> Result<Self, String> {
        if let Some(rule) = &keys.rule {
            let words = rule.words().iter().copied();
            if words.len() > 0 {
                let words = keys.words.get_or_insert_with(|| Words::of(words));
                keys.vocab_size.get_or_insert(words.vocab_size());
            }
            keys.seq_len = keys.seq_len.or(rule.seq_len());
            if keys.classes.is_empty() {
                keys.classes = rule.classes().iter().map(ToString::to_string).collect();
            }
        }
        let names_columns =
            keys.text.is_some() || keys.label.is_some() || !keys.features.is_empty();
        if keys.file.is_none() && names_columns {
            return Err(
                "`text`, `label` and `features` name columns of a file; set `file`, or remove them"
                    .to_owned(),
            );
        }
        if keys.text.is_some() && !keys.features.is_empty() {
            return Err("samples are texts or categories; remove `text` or `features`".to_owned());
        }
        let label = keys.label.as_deref().unwrap_or("label");
        if keys.text.as_deref() == Some(label) {
            return Err(format!(
                "the column `{label}` cannot be both texts and labels; change `text` or `label`"
            ));
        }
        let source = match (keys.file, keys.samples) {
            (Some(path), None) if keys.generator.is_none() && keys.positive_rate.is_none() => {
                Source::File(path)
            }
            (Some(_), _) => {
                return Err(
                    "`file` cannot be combined with `generator`, `samples` or `positive_rate`: \
                     samples are either read from a file or generated; remove one or the other"
                        .to_owned(),
                );
            }
            (None, None) => return Err(
                "missing key `samples` or `file`: samples are either generated or read from a file"
                    .to_owned(),
            ),
            (None, Some(_)) if keys.rule.is_none() => {
                return Err(
                    "missing key `rule`: generated samples need a rule for their labels".to_owned(),
                );
            }
            (None, Some(samples)) => Source::Generated {
                generator: keys.generator.unwrap_or(Generator::Numpy),
                samples,
                positive_rate: keys.positive_rate,
            },
        };
        Ok(Self {
            seed: keys.seed,
            source,
            columns: Columns {
                text: keys.text,
                label: keys.label,
                features: keys.features,
            },
            words: keys.words,
            vocab_size: keys.vocab_size.ok_or("missing field `vocab_size`")?,
            seq_len: keys.seq_len.ok_or("missing field `seq_len`")?,
            n_classes: keys.n_classes.unwrap_or(match keys.classes.len() {
                0 => 2,
                named => named,
            }),
            classes: keys.classes,
            cls: keys.cls,
            held_out: keys.held_out,
            fold: keys.fold,
            rule: keys.rule,
        })
    }
}

impl From<DatasetConfig> for Keys {
    fn from(config: DatasetConfig) -> Self {
        let is_default = config.n_classes == 2 && !matches!(config.source, Source::File(_));
        let (file, generator, samples, positive_rate) = match config.source {
            Source::File(path) => (Some(path), None, None, None),
            Source::Generated {
                generator,
                samples,
                positive_rate,
            } => (None, Some(generator), Some(samples), positive_rate),
        };
        Self {
            seed: config.seed,
            file,
            generator,
            samples,
            positive_rate,
            text: config.columns.text,
            label: config.columns.label,
            features: config.columns.features,
            vocab_size: Some(config.vocab_size),
            seq_len: Some(config.seq_len),
            n_classes: (!is_default).then_some(config.n_classes),
            classes: config.classes,
            cls: config.cls,
            held_out: config.held_out,
            fold: config.fold,
            rule: config.rule,
            words: config.words,
        }
    }
}
