//! Test sets: samples that differ from those of training in what their config names.

use std::collections::HashSet;
use std::path::PathBuf;

use headlight_schema::{ConfigSection, InvalidValue, Range, require, section};

use crate::amounts::SampleCount;
use crate::config::{DatasetConfig, DrawConfig, Source};
use crate::dataset::Dataset;
use crate::draws::ClassShares;
use crate::generator::Generator;
use crate::random::Stream;
use crate::rules::LabelRule;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 40;

/// The number of samples, if the config neither gives it nor holds samples out.
const DEFAULT_SAMPLES: usize = 1000;

section! {
    /// A `[[tests]]` section: samples that the model is tested on besides the held-out ones. Keys that it leaves out have their values from `[data]`.
    ///
    /// None of them is a training sample, unless they come from a file or each step draws its own samples.
    pub struct TestSet {
        /// The name in metrics, rows and reports: lower-case letters, digits, `-` and `_`.
        pub name: String,
        /// Whether the model is tested on them at the end of training alone, and not at each evaluation.
        #[omit(default)]
        pub at_end: bool = false,
        /// Number of generated samples; if unset, as many as are held out, or 1000 if none are.
        #[range(Range::at_least(1))]
        #[omit(default)]
        pub samples: Option<usize> = None,
        /// Tokens per sample, without `[CLS]`. More than in training needs positions that are not learned.
        #[range(Range::at_least(1).hint("a sample needs a token; [CLS] does not count"))]
        #[omit(default)]
        pub seq_len: Option<usize> = None,
        /// The rule that labels the samples, such as another corpus; it has no more classes than the model.
        #[omit(default)]
        pub rule: Option<LabelRule> = None,
        /// A dataset file to read the samples from, with labels unless a rule gives them.
        #[omit(default)]
        pub file: Option<PathBuf> = None,
        /// Probability that a label is replaced by another class, each equally likely.
        #[range(Range::BELOW_ONE)]
        #[omit(default)]
        pub label_noise: f64 = 0.0,
    }
}

impl DatasetConfig {
    /// The config of a test set's samples, none of which is held out.
    ///
    /// # Errors
    /// Names the first value that is invalid.
    pub fn of_test(&self, test: &TestSet) -> Result<Self, InvalidValue> {
        check_set_name(&test.name)?;
        test.check_ranges()?;
        let samples = match (test.samples, self.held_out) {
            (Some(samples), _) => samples,
            (None, 0) => DEFAULT_SAMPLES,
            (None, held_out) => held_out,
        };
        require(
            test.file.is_none() || test.samples.is_none(),
            "samples",
            || "a file has its own number of samples; remove `samples` or `file`",
        )?;
        let draw_config = match self.source {
            Source::Generated(draw_config) => draw_config,
            Source::File(_) => DrawConfig::new(Generator::Chacha, samples),
        };
        let source = match &test.file {
            Some(path) => Source::File(path.clone()),
            None => Source::Generated(DrawConfig {
                generator: match draw_config.generator {
                    Generator::Sentences => Generator::Sentences,
                    _ => Generator::Chacha,
                },
                samples: SampleCount::Number(samples),
                exclude_held_out: true,
                ..draw_config
            }),
        };
        let test_config = Self {
            source,
            seq_len: test.seq_len.unwrap_or(self.seq_len),
            held_out: 0,
            fold: None,
            label_noise: test.label_noise,
            rule: test.rule.clone().or_else(|| self.rule.clone()),
            ..self.clone()
        };
        require(
            test.file.is_some() || test_config.rule.is_some(),
            "file",
            || "no rule labels generated samples; name a `file`, or give a `rule`",
        )?;
        let given = test_config.rule.as_ref();
        let classes = given.and_then(|rule| rule.n_classes(test_config.sampler()));
        let (classes, seq_len, most) = (classes.unwrap_or(0), test_config.seq_len, self.n_classes);
        require(classes <= most, "rule", || {
            format!(
                "the rule gives samples of {seq_len} tokens {classes} classes, and the model has {most}; set data.n_classes = {classes}"
            )
        })?;
        test_config.validate_samples()?;
        Ok(test_config)
    }

    /// Draws the samples of a test set, none of which is one of `train`. Two sets that differ in their noise alone have the same
    /// samples.
    ///
    /// # Errors
    /// When a value is invalid, or the search for such samples gives up.
    pub fn draw_test(&self, test: &TestSet, train: &Dataset) -> Result<Dataset, InvalidValue> {
        let test_config = self.of_test(test)?;
        let draws = ClassShares::of(&test_config)?;
        let mut rng = Stream::Tests.rng(test_config.seed);
        let mut samples = test_config.no_samples();
        let known: HashSet<&[u32]> = train.all_tokens().chunks(train.positions()).collect();
        for class in draws.labels(0, draws.draw_config.samples.count(), &mut rng) {
            let row = draws.draw_unknown(class, true, &known, &mut rng);
            let row = row.map_err(|reason| {
                let remedy = "change seq_len, or remove this set";
                InvalidValue::new("samples", format!("{reason}; {remedy}"))
            })?;
            samples.push_labelled(&row, draws.rule, test_config.n_classes);
        }
        test_config.make_noisy(&mut samples);
        Ok(samples)
    }

    /// Replaces labels as [`label_noise`](Self::label_noise) asks for.
    pub fn make_noisy(&self, samples: &mut Dataset) {
        samples.relabel(|label, sample, position| self.noisy_label(label, sample, position));
    }
}

/// Names are keys of files, and part of the names of columns.
fn check_set_name(name: &str) -> Result<(), InvalidValue> {
    let may = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    if (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(may) {
        return Ok(());
    }
    let message = format!(
        "the name of a test set has 1 to {MAX_NAME_BYTES} lower-case letters, digits, - and _"
    );
    Err(InvalidValue::new("name", message))
}
