//! The settings that a dataset is made from.
//!
//! One file, because the keys of TOML and the config that they become are read side by side.

use std::path::PathBuf;

use headlight_schema::{ConfigSection, InvalidValue, Kind, Range, Value, section};
use serde::{Deserialize, Serialize};

use crate::amounts::{HeldOut, SampleCount, resolved};
use crate::cls::{CLS, ClsPlace};
use crate::dataset::{Dataset, TextUnit};
use crate::fold::Fold;
use crate::generator::Generator;
use crate::rules::LabelRule;
use crate::sampler::Sampler;
use crate::task::Task;
use crate::words::{TokenLevel, Words};

/// The most classes.
pub(crate) const CLASS_LIMIT: usize = 1 << 16;

/// How much an answer may count in the loss of training.
pub const WEIGHT: Range = Range::at_least(0).in_float32();

/// The `[data]` section of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Keys", into = "Keys")]
pub struct DatasetConfig {
    /// Seed of the generator and of the held-out split.
    pub seed: u64,
    /// What samples have labels for.
    pub task: Task,
    /// The origin of the samples.
    pub source: Source,
    /// Where the file has texts and labels.
    pub columns: ColumnNames,
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
    /// Probability that the label of a training sample is replaced by another class.
    pub label_noise: f64,
    /// The rule that labels samples. Only a dataset from a file may omit it.
    pub rule: Option<LabelRule>,
}

/// The columns of a CSV file, or the keys of a JSONL file, that a config names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ColumnNames {
    /// The name of the text column (default `text`, unless the file has tokens).
    pub text: Option<String>,
    /// The names of the columns of categories, one for each position; empty if samples are tokens or texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The name of the label column (default `label`).
    pub label: Option<String>,
    /// The name of the column of weights; if unset, all samples count alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_weight: Option<String>,
}

/// The origin of samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Drawn from a seed.
    Generated(DrawConfig),
    /// Read from an npz, CSV, TSV, JSONL or text file.
    File(PathBuf),
}

/// How samples are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawConfig {
    /// The generator that draws tokens.
    pub generator: Generator,
    /// The training samples.
    pub samples: SampleCount,
    /// Share of positives, exact to the nearest sample; `None` leaves it to chance.
    pub positive_rate: Option<f64>,
    /// Whether the possible classes have equal shares.
    pub balanced: bool,
    /// Whether no step draws a held-out sample; for fresh samples.
    pub exclude_held_out: bool,
}

impl DrawConfig {
    /// Draws a number of samples and leaves their classes to chance.
    pub fn new(generator: Generator, samples: usize) -> Self {
        Self {
            generator,
            samples: SampleCount::Number(samples),
            positive_rate: None,
            balanced: false,
            exclude_held_out: true,
        }
    }
}

impl ColumnNames {
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
    /// A dataset without samples, to be filled with samples of this config.
    pub fn no_samples(&self) -> Dataset {
        Dataset::empty(self.seq_len, self.cls).for_task(self.task)
    }

    /// The name of a class: that of the config, or else its number.
    pub fn class_name(&self, class: u32) -> String {
        match (self.classes.get(class as usize), self.task) {
            (Some(name), _) => name.clone(),
            (None, Task::NextToken) => self.token_text(class, None),
            (None, _) => class.to_string(),
        }
    }

    /// A class as a model's answer, in a sentence: its name, `yes` or `no` where a rule asks, or else its number.
    pub fn answer(&self, class: usize) -> String {
        match (self.classes.get(class), &self.rule, self.n_classes) {
            (Some(name), ..) => name.clone(),
            _ if self.task.is_per_position() => self.class_name(class as u32),
            (None, Some(_), 2) => ["no", "yes"][class.min(1)].to_owned(),
            _ => format!("class {class}"),
        }
    }

    /// The text of a token: its word, or else its number. A blank is `␣`, a line break `\n`.
    pub fn token_text(&self, token: u32, padding_token: Option<u32>) -> String {
        match &self.words {
            _ if token == CLS && self.cls.is_present() => "[CLS]".to_owned(),
            Some(words) => match words.text(token) {
                " " => "␣",
                "\n" => "\\n",
                "\t" => "\\t",
                text => text,
            }
            .to_owned(),
            None if Some(token) == padding_token => "[PAD]".to_owned(),
            None => token.to_string(),
        }
    }

    /// What each token of a text is.
    pub fn text_unit(&self) -> TextUnit {
        let level = self.words.as_ref().map(|words| words.level);
        match level {
            _ if !self.columns.features.is_empty() => TextUnit::Values,
            Some(TokenLevel::Character) => TextUnit::Characters,
            _ => TextUnit::Words,
        }
    }

    /// Whether each step draws its own samples, so that there are no epochs.
    pub fn is_fresh(&self) -> bool {
        matches!(
            self.source,
            Source::Generated(DrawConfig {
                samples: SampleCount::Fresh,
                ..
            })
        )
    }

    /// The vocabulary and the form of generated samples.
    pub(crate) fn sampler(&self) -> Sampler {
        Sampler {
            vocab_size: self.vocab_size,
            seq_len: self.seq_len,
            cls: self.cls,
        }
    }

    /// Checks the values that have a range.
    pub(crate) fn check_ranges(&self) -> Result<(), InvalidValue> {
        // The share of positives depends on the generator, and is checked with it.
        let keys = Keys {
            positive_rate: None,
            ..Keys::from(self.clone())
        };
        keys.check_ranges()
    }
}

/// The values of `positive_rate`.
pub(crate) const POSITIVE_RATE: Range = Range::SHARE.hint("a share of the samples");

section! {
    /// [`DatasetConfig`] in TOML, where the keys of both sources share one table.
    struct Keys {
        /// Seed of the generator and of the held-out split.
        seed: u64 = 0,
        /// What the model answers.
        #[omit(default)]
        task: Task = Task::Classification,
        /// A dataset file to read samples from: `.npz`, `.csv`, `.tsv`, `.jsonl`, or `.txt` for the task `next-token`. Each may end in
        /// `.gz`. It takes the place of `generator`, `samples` and `positive_rate`.
        #[omit(default)]
        file: Option<PathBuf> = None,
        /// The generator that draws tokens; if unset, the rule's own, or else `numpy`, or `chacha` for fresh samples.
        #[omit(default)]
        generator: Option<Generator> = None,
        /// Number of training samples. Generated samples need it, except with `generator = "all"`: if unset, all that are
        /// not held out.
        #[range(Range::at_least(1))]
        #[omit(default)]
        samples: Option<SampleCount> = None,
        /// Share of positives, exact to the nearest sample, with `generator = "chacha"`; if unset, chance decides.
        #[range(POSITIVE_RATE)]
        #[omit(default)]
        positive_rate: Option<f64> = None,
        /// Whether all possible classes have equally many samples, to the nearest sample; with
        /// `generator = "chacha"`.
        #[omit(default)]
        balanced: bool = false,
        /// The column of texts in the file; if unset, `text`.
        #[omit(default)]
        text: Option<String> = None,
        /// The column of labels in the file; if unset, `label`.
        #[omit(default)]
        label: Option<String> = None,
        /// The column of weights in the file. A weight, 0 or more, is how much a training sample counts in the loss. If unset, all count alike. The
        /// loss of a batch is the sum of weight times loss, divided by the number of answers; evaluations measure without weights.
        #[omit(default)]
        sample_weight: Option<String> = None,
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
        /// Number of samples that training never sees, to measure generalisation, or a share of the samples, such as 0.2; of a file of
        /// texts, a fifth if unset.
        held_out: HeldOut = HeldOut::Number(0),
        /// With fresh samples, whether no step draws a held-out sample; `false` leaves that to chance.
        #[omit(default)]
        exclude_held_out: bool = true,
        /// Hold out part K of N of the file's samples instead, as `"K/N"`; each part has the classes in the proportions of the file.
        #[omit(default)]
        fold: Option<Fold> = None,
        /// Probability that a training sample's label is replaced by another class, each equally likely; held-out labels stay true.
        #[range(Range::BELOW_ONE)]
        #[omit(default)]
        label_noise: f64 = 0.0,
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
        let names = [&keys.text, &keys.label, &keys.sample_weight];
        let names_columns = names.into_iter().any(Option::is_some) || !keys.features.is_empty();
        if keys.file.is_none() && names_columns {
            return Err(
                "`text`, `label`, `sample_weight` and `features` name columns of a file; set `file`, or remove them"
                    .to_owned(),
            );
        }
        if keys.text.is_some() && !keys.features.is_empty() {
            return Err("samples are texts or categories; remove `text` or `features`".to_owned());
        }
        let (vocab_size, seq_len, cls) = (keys.vocab_size, keys.seq_len, keys.cls);
        let sampler = move || {
            Ok::<_, String>(Sampler {
                vocab_size: vocab_size.ok_or("missing key `vocab_size`")?,
                seq_len: seq_len.ok_or("missing key `seq_len`")?,
                cls,
            })
        };
        let listed = || {
            if keys.generator != Some(Generator::All) || keys.file.is_some() {
                return Ok(None);
            }
            let sampler = sampler()?;
            let listed = keys.check_ranges().and_then(|()| sampler.listed());
            listed.map(Some).map_err(|invalid| invalid.message)
        };
        let (number, held_out) = resolved(keys.samples, keys.held_out, listed)?;
        if !keys.exclude_held_out && number != Some(SampleCount::Fresh) {
            return Err(
                "`exclude_held_out` is about fresh samples; set samples = \"fresh\", or remove it"
                    .to_owned(),
            );
        }
        let source = source(&mut keys, number)?;
        let samples = sampler()?;
        Ok(Self {
            seed: keys.seed,
            task: keys.task,
            source,
            columns: ColumnNames {
                text: keys.text,
                label: keys.label,
                sample_weight: keys.sample_weight,
                features: keys.features,
            },
            words: keys.words,
            vocab_size: samples.vocab_size,
            seq_len: samples.seq_len,
            n_classes: keys.n_classes.unwrap_or(match keys.classes.len() {
                0 if keys.task == Task::NextToken => samples.vocab_size as usize,
                0 => keys
                    .rule
                    .as_ref()
                    .and_then(|rule| rule.n_classes(samples))
                    .unwrap_or(2),
                named => named,
            }),
            classes: keys.classes,
            cls: keys.cls,
            held_out,
            fold: keys.fold,
            label_noise: keys.label_noise,
            rule: keys.rule,
        })
    }
}

/// The origin of the samples, whose number is known.
fn source(keys: &mut Keys, number: Option<SampleCount>) -> Result<Source, String> {
    let of_rule = keys.rule.as_ref().and_then(|rule| rule.generator());
    match (keys.file.take(), number) {
        (Some(path), None)
            if keys.generator.is_none() && keys.positive_rate.is_none() && !keys.balanced =>
        {
            Ok(Source::File(path))
        }
        (Some(_), _) => {
            Err(
                "`file` cannot be combined with `generator`, `samples`, `positive_rate` or `balanced`: \
                 samples are either read from a file or generated; remove one or the other"
                    .to_owned(),
            )
        }
        (None, None) => Err(
            "missing key `samples` or `file`: samples are either generated or read from a file"
                .to_owned(),
        ),
        (None, Some(_)) if keys.rule.is_none() => {
            Err("missing key `rule`: generated samples need a rule for their labels".to_owned())
        }
        (None, Some(samples)) => Ok(Source::Generated(DrawConfig {
            generator: keys.generator.or(of_rule).unwrap_or(match samples {
                SampleCount::Number(_) => Generator::Numpy,
                SampleCount::Fresh => Generator::Chacha,
            }),
            samples,
            positive_rate: keys.positive_rate,
            balanced: keys.balanced,
            exclude_held_out: keys.exclude_held_out,
        })),
    }
}

impl From<DatasetConfig> for Keys {
    fn from(config: DatasetConfig) -> Self {
        let is_default = config.n_classes == 2 && !matches!(config.source, Source::File(_));
        let keys = Self {
            seed: config.seed,
            task: config.task,
            text: config.columns.text,
            label: config.columns.label,
            sample_weight: config.columns.sample_weight,
            features: config.columns.features,
            vocab_size: Some(config.vocab_size),
            seq_len: Some(config.seq_len),
            n_classes: (!is_default).then_some(config.n_classes),
            classes: config.classes,
            cls: config.cls,
            held_out: HeldOut::Number(config.held_out),
            fold: config.fold,
            label_noise: config.label_noise,
            rule: config.rule,
            words: config.words,
            ..Self::default()
        };
        match config.source {
            Source::File(path) => Self {
                file: Some(path),
                ..keys
            },
            Source::Generated(draw_config) => Self {
                generator: Some(draw_config.generator),
                samples: Some(draw_config.samples),
                positive_rate: draw_config.positive_rate,
                balanced: draw_config.balanced,
                exclude_held_out: draw_config.exclude_held_out,
                ..keys
            },
        }
    }
}
