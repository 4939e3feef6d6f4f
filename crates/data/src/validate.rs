//! The values of a dataset's config that are refused.

use std::collections::HashSet;

use headlight_schema::{InvalidValue, require};

use crate::amounts::SampleCount;
use crate::config::{DatasetConfig, DrawConfig, POSITIVE_RATE, Source};
use crate::generator::Generator;
use crate::task::Task;
use crate::words::composed;

/// The longest name of a class, in bytes.
const MAX_NAME_BYTES: usize = 100;

/// The largest number of tokens in a generated dataset (4 bytes each).
const MAX_GENERATED_TOKENS: u64 = 1 << 30;

impl DatasetConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// Names the first invalid value.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        self.validate_samples()?;
        self.validate_most_classes()
    }

    /// Checks every value but for the number of classes that a rule leaves open.
    pub(crate) fn validate_samples(&self) -> Result<(), InvalidValue> {
        self.check_ranges()?;
        self.validate_classes()?;
        self.validate_words()?;
        self.validate_rule()?;
        require(
            self.fold.is_none() || self.held_out == 0,
            "fold",
            || "`fold` and `held_out` both choose the held-out samples; remove one of them",
        )?;
        let Source::Generated(draw_config) = &self.source else {
            return Ok(());
        };
        if draw_config.samples == SampleCount::Fresh {
            self.validate_fresh(draw_config)?;
        }
        self.validate_generated(draw_config.generator, draw_config.samples.count())?;
        self.validate_shares(draw_config)
    }

    fn validate_task(&self) -> Result<(), InvalidValue> {
        let task = self.task;
        if let Some(rule) = &self.rule {
            require(rule.task() == task, "task", || {
                let (needed, rule) = (rule.task().name(), rule.describe());
                format!(
                    "it is \"{}\", but the rule ({rule}) is for the task \"{needed}\"; set data.task = \"{needed}\", or choose another rule",
                    task.name()
                )
            })?;
        }
        let (tokens, n_classes) = (self.vocab_size as usize, self.n_classes);
        require(
            task != Task::NextToken || n_classes == tokens,
            "n_classes",
            || {
                format!(
                    "n_classes is {n_classes}, but the classes of the task next-token are the {tokens} tokens; remove n_classes"
                )
            },
        )
    }

    fn validate_rule(&self) -> Result<(), InvalidValue> {
        self.validate_task()?;
        let Some(rule) = &self.rule else {
            return Ok(());
        };
        let (samples, n_classes) = (self.sampler(), self.n_classes);
        rule.validate(samples)?;
        let classes = rule.n_classes(samples).unwrap_or(0);
        require(n_classes >= classes, "n_classes", || {
            let rule = rule.describe();
            match self.source {
                Source::File(_) => format!(
                    "the file's labels have {n_classes} classes, but the rule ({rule}) gives {classes}; remove the rule, or set data.n_classes = {classes} \
                     if it gives these labels"
                ),
                Source::Generated(_) => format!(
                    "n_classes is {n_classes}, but the rule ({rule}) gives {classes} classes; set n_classes = {classes}, or remove it"
                ),
            }
        })
    }

    /// Checks that the rule can give each class. The samples of a test set may have fewer.
    fn validate_most_classes(&self) -> Result<(), InvalidValue> {
        let (samples, n_classes) = (self.sampler(), self.n_classes);
        let rule = self.rule.as_ref();
        let Some(rule) = rule.filter(|rule| rule.n_classes(samples).is_none()) else {
            return Ok(());
        };
        let most = rule.most_classes(samples);
        require(n_classes <= most, "n_classes", || {
            let rule = rule.describe();
            format!(
                "n_classes is {n_classes}, but the rule ({rule}) gives samples of this length at most {most} classes"
            )
        })
    }

    fn validate_generated(&self, generator: Generator, samples: usize) -> Result<(), InvalidValue> {
        require(
            self.fold.is_none(),
            "fold",
            || "folds divide the samples of a file, and these are generated; set held_out instead",
        )?;
        let tokens = (samples as u64)
            .saturating_add(self.held_out as u64)
            .saturating_mul(self.cls.positions(self.seq_len) as u64);
        require(tokens <= MAX_GENERATED_TOKENS, "samples", || {
            let positions = if self.cls.is_present() {
                "(seq_len + 1)"
            } else {
                "seq_len"
            };
            format!(
                "(samples + held_out) * {positions} is over {MAX_GENERATED_TOKENS} tokens; ask for fewer or shorter samples"
            )
        })?;
        let seed = self.seed;
        let is_seed = generator != Generator::Numpy || u32::try_from(seed).is_ok();
        require(is_seed, "seed", || {
            format!(
                "np.random.seed takes 0 to 4294967295, not {seed}; use a smaller seed or generator = \"chacha\""
            )
        })?;
        if generator == Generator::All {
            self.validate_all(samples)?;
        }
        let needed = self.rule.as_ref().and_then(|rule| rule.generator());
        let sentences = [needed, Some(generator)].map(|one| one == Some(Generator::Sentences));
        require(
            sentences[0] == sentences[1],
            "generator",
            || "generator = \"sentences\" and rule.kind = \"sentence\" need each other; set both or neither",
        )?;
        let needed = needed.unwrap_or(generator);
        require(needed == generator, "generator", || {
            let needed = needed.name();
            format!("the rule has a generator of its own; set generator = \"{needed}\"")
        })
    }

    fn validate_fresh(&self, draw_config: &DrawConfig) -> Result<(), InvalidValue> {
        let (held_out, count) = (self.held_out as u64, self.sampler().count());
        require(
            draw_config.generator != Generator::Numpy,
            "generator",
            || "the numpy generator cannot draw fresh samples for each step; set generator = \"chacha\", or samples to a number",
        )?;
        require(
            self.fold.is_some() || held_out > 0,
            "held_out",
            || "each step draws fresh samples, so held-out ones are needed to judge the model on and to dump; set held_out to 1 or more",
        )?;
        if draw_config.generator == Generator::Sentences {
            return require(
                draw_config.exclude_held_out,
                "exclude_held_out",
                || "no step draws a held-out sentence, because their compositions differ; remove exclude_held_out",
            );
        }
        let leaves_enough = !draw_config.exclude_held_out || held_out <= count / 2;
        require(leaves_enough, "held_out", || {
            format!(
                "held_out is {held_out}, more than half of the {count} different samples, which no step could draw; \
                 lower it, or set exclude_held_out = false"
            )
        })
    }

    /// Checks what sets the shares of classes.
    fn validate_shares(&self, draw_config: &DrawConfig) -> Result<(), InvalidValue> {
        let (n_classes, rate) = (self.n_classes, draw_config.positive_rate);
        let key = match (rate, draw_config.balanced) {
            (None, false) => return Ok(()),
            (Some(_), false) => "positive_rate",
            (_, true) => "balanced",
        };
        let reason = match draw_config.generator {
            _ if self.task.is_per_position() => {
                "samples have a label per position, so that they have no class".to_owned()
            }
            _ if rate.is_some() && draw_config.balanced => {
                "positive_rate and balanced both set the shares of classes".to_owned()
            }
            Generator::Sentences => {
                "in generated sentences, each class is as likely as the others".to_owned()
            }
            _ if rate.is_some() && n_classes > 2 => format!(
                "there are {n_classes} classes; the share of positives can be set for two only"
            ),
            Generator::All => {
                "generator = \"all\" takes each sample at most once, so the rule alone decides the shares of classes".to_owned()
            }
            Generator::Numpy => {
                let reason = "the numpy generator leaves the shares of classes to chance; set generator = \"chacha\", or";
                return Err(InvalidValue::new(key, format!("{reason} remove {key}")));
            }
            Generator::Chacha => return POSITIVE_RATE.check(key, &rate),
        };
        Err(InvalidValue::new(key, format!("{reason}; remove {key}")))
    }

    /// Checks that there are as many different samples as the generator `all` is asked for.
    fn validate_all(&self, samples: usize) -> Result<(), InvalidValue> {
        let count = self.sampler().listed()? as u64;
        let asked = (samples as u64).saturating_add(self.held_out as u64);
        let is_sum = samples as u64 <= count;
        let key = if is_sum { "held_out" } else { "samples" };
        require(asked <= count, key, || {
            format!(
                "samples + held_out is {asked}, but there are only {count} different samples; lower one of them"
            )
        })
    }

    fn validate_words(&self) -> Result<(), InvalidValue> {
        let known = self.rule.as_ref().map_or(&[][..], |rule| rule.words());
        if known.is_empty() {
            let may_have_words = matches!(self.source, Source::File(_));
            require(
                self.words.is_none() || may_have_words,
                "words",
                || "these samples are numbers, not words; remove data.words",
            )?;
        } else {
            let mut words = self.words.iter().flat_map(|words| &words.vocabulary);
            require(
                words.by_ref().eq(known),
                "words.vocabulary",
                || "the vocabulary is not that of the rule's grammar; remove data.words",
            )?;
        }
        let Some(words) = &self.words else {
            return Ok(());
        };
        let asks_next = self.task == Task::NextToken && matches!(self.source, Source::File(_));
        require(
            !words.one_text || asks_next,
            "words.one_text",
            || "only a file for data.task = \"next-token\" is one long text; remove this key",
        )?;
        require(
            self.cls.is_present(),
            "cls",
            || "texts need [CLS], which is token 0 of their vocabulary; set cls = \"first\" (model.pooling = \"mean\" then reads the mean over all words and [CLS])",
        )?;
        let checked = words.validate(!self.columns.features.is_empty());
        checked.map_err(|invalid| invalid.within("words"))?;
        require(words.vocab_size() == self.vocab_size, "vocab_size", || {
            format!(
                "vocab_size is {}, but [CLS], [PAD], [UNK] and the {} words of data.words.vocabulary are {}; remove vocab_size",
                self.vocab_size,
                words.vocabulary.len(),
                words.vocab_size()
            )
        })
    }

    fn validate_classes(&self) -> Result<(), InvalidValue> {
        let (classes, n_classes) = (&self.classes, self.n_classes);
        if classes.is_empty() {
            return Ok(());
        }
        let names = || classes.join(", ");
        require(self.task != Task::NextToken, "classes", || {
            format!(
                "the classes of the task next-token are the tokens, not {}; remove data.classes, or set another data.task",
                names()
            )
        })?;
        require(classes.len() == n_classes, "n_classes", || {
            format!(
                "n_classes is {n_classes}, but the classes have {} names: {}",
                classes.len(),
                names()
            )
        })?;
        let mut known = HashSet::new();
        for name in classes {
            check_class_name(name).map_err(|reason| InvalidValue::new("classes", reason))?;
            require(known.insert(composed(name.trim())), "classes", || {
                format!("two classes have the name `{name}`")
            })?;
        }
        Ok(())
    }
}

/// Checks the name of a class.
pub(crate) fn check_class_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() {
        return Err("the name of a class is empty".to_owned());
    }
    if name.len() > MAX_NAME_BYTES {
        let start: String = name.chars().take(20).collect();
        return Err(format!(
            "the name of class `{start}...` is longer than {MAX_NAME_BYTES} bytes"
        ));
    }
    if name.chars().any(char::is_control) {
        return Err(format!(
            "the name of class `{name}` holds a line break or another control character"
        ));
    }
    Ok(())
}
