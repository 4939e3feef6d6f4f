//! The values of a dataset's config that are refused.

use std::collections::HashSet;

use headlight_schema::InvalidValue;

use crate::amounts::SampleCount;
use crate::config::{DatasetConfig, DrawConfig, POSITIVE_RATE, Source};
use crate::generator::Generator;
use crate::task::Task;
use crate::words::composed;

/// The longest name of a class, in bytes.
const NAME_LIMIT: usize = 100;

/// The largest number of tokens in a generated dataset (4 bytes each).
const TOKEN_LIMIT: u64 = 1 << 30;

fn refused(key: &str, message: impl Into<String>) -> Result<(), InvalidValue> {
    Err(InvalidValue::new(key, message))
}

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
        if self.fold.is_some() && self.held_out > 0 {
            return refused(
                "fold",
                "`fold` and `held_out` both choose the held-out samples; remove one of them",
            );
        }
        let Source::Generated(own) = &self.source else {
            return Ok(());
        };
        if own.samples == SampleCount::Fresh {
            self.validate_fresh(own)?;
        }
        self.validate_generated(own.generator, own.samples.count())?;
        self.validate_shares(own)
    }

    fn validate_task(&self) -> Result<(), InvalidValue> {
        let task = self.task;
        if let Some(rule) = self.rule.as_ref().filter(|rule| rule.task() != task) {
            let (own, rule) = (rule.task().name(), rule.describe());
            let message = format!(
                "it is \"{}\", but the rule ({rule}) is of the task \"{own}\"; set data.task = \"{own}\", or choose another rule",
                task.name()
            );
            return refused("task", message);
        }
        let tokens = self.vocab_size as usize;
        if task == Task::NextToken && self.n_classes != tokens {
            let message = format!(
                "n_classes is {}, but the classes of the task next-token are the {tokens} tokens; remove n_classes",
                self.n_classes
            );
            return refused("n_classes", message);
        }
        Ok(())
    }

    fn validate_rule(&self) -> Result<(), InvalidValue> {
        self.validate_task()?;
        let Some(rule) = &self.rule else {
            return Ok(());
        };
        let (samples, n_classes) = (self.sampler(), self.n_classes);
        rule.validate(samples)?;
        if let Some(own) = rule.n_classes(samples)
            && n_classes < own
        {
            let rule = rule.describe();
            let message = if let Source::File(_) = self.source {
                format!(
                    "the file's labels have {n_classes} classes, but the rule ({rule}) gives {own}; remove the rule, or set data.n_classes = {own} \
                     if it gives these labels"
                )
            } else {
                format!(
                    "n_classes is {n_classes}, but the rule ({rule}) gives {own} classes; set n_classes = {own}, or remove it"
                )
            };
            return refused("n_classes", message);
        }
        Ok(())
    }

    /// Checks that the rule can give each class. The samples of a test set may have fewer.
    fn validate_most_classes(&self) -> Result<(), InvalidValue> {
        let (samples, n_classes) = (self.sampler(), self.n_classes);
        let rule = self.rule.as_ref();
        let open = rule.filter(|rule| rule.n_classes(samples).is_none());
        let Some(rule) = open.filter(|rule| n_classes > rule.most_classes(samples)) else {
            return Ok(());
        };
        let message = format!(
            "n_classes is {n_classes}, but the rule ({}) gives samples of this length at most {} classes",
            rule.describe(),
            rule.most_classes(samples)
        );
        refused("n_classes", message)
    }

    fn validate_generated(&self, generator: Generator, samples: usize) -> Result<(), InvalidValue> {
        if self.fold.is_some() {
            return refused(
                "fold",
                "folds divide the samples of a file, and these are generated; set held_out instead",
            );
        }
        let tokens = (samples as u64)
            .saturating_add(self.held_out as u64)
            .saturating_mul(self.cls.positions(self.seq_len) as u64);
        if tokens > TOKEN_LIMIT {
            let positions = if self.cls.is_somewhere() {
                "(seq_len + 1)"
            } else {
                "seq_len"
            };
            let message = format!(
                "(samples + held_out) * {positions} is over {TOKEN_LIMIT} tokens; ask for fewer or shorter samples"
            );
            return refused("samples", message);
        }
        if generator == Generator::Numpy && u32::try_from(self.seed).is_err() {
            let message = format!(
                "np.random.seed takes 0 to 4294967295, not {}; use a smaller seed or generator = \"chacha\"",
                self.seed
            );
            return refused("seed", message);
        }
        if generator == Generator::All {
            self.validate_all(samples)?;
        }
        let needed = self.rule.as_ref().and_then(|rule| rule.generator());
        if (needed == Some(Generator::Sentences)) != (generator == Generator::Sentences) {
            return refused(
                "generator",
                "generator = \"sentences\" and rule.kind = \"sentence\" belong together; set both or neither",
            );
        }
        match needed {
            Some(needed) if needed != generator => {
                let message = format!(
                    "the rule has a generator of its own; set generator = \"{}\"",
                    needed.name()
                );
                refused("generator", message)
            }
            _ => Ok(()),
        }
    }

    fn validate_fresh(&self, own: &DrawConfig) -> Result<(), InvalidValue> {
        let (held_out, count) = (self.held_out as u64, self.sampler().count());
        match own.generator {
            Generator::Numpy => refused(
                "generator",
                "the numpy generator cannot draw fresh samples for each step; set generator = \"chacha\", or samples to a number",
            ),
            _ if self.fold.is_none() && held_out == 0 => refused(
                "held_out",
                "each step draws fresh samples, so held-out ones are needed to judge the model on and to dump; set held_out to 1 or more",
            ),
            Generator::Sentences if !own.exclude_held_out => refused(
                "exclude_held_out",
                "no step draws a held-out sentence, because their compositions differ; remove exclude_held_out",
            ),
            _ if own.exclude_held_out && held_out > count / 2 => refused(
                "held_out",
                format!(
                    "held_out is {held_out}, more than half of the {count} different samples, which no step could draw; \
                     lower it, or set exclude_held_out = false"
                ),
            ),
            _ => Ok(()),
        }
    }

    /// Checks what sets the shares of classes.
    fn validate_shares(&self, own: &DrawConfig) -> Result<(), InvalidValue> {
        let (n_classes, rate) = (self.n_classes, own.positive_rate);
        let key = match (rate, own.balanced) {
            (None, false) => return Ok(()),
            (Some(_), false) => "positive_rate",
            (_, true) => "balanced",
        };
        let reason = match own.generator {
            _ if self.task.is_per_position() => {
                "samples have a label per position, so that they have no class"
            }
            _ if rate.is_some() && own.balanced => {
                "positive_rate and balanced both set the shares of classes"
            }
            Generator::Sentences => "in generated sentences, each class is as likely as the others",
            _ if rate.is_some() && n_classes > 2 => {
                let message = format!(
                    "there are {n_classes} classes; the share of positives can be set for two only; remove it"
                );
                return refused(key, message);
            }
            Generator::All => {
                "generator = \"all\" takes each sample at most once, so the rule alone decides the shares of classes"
            }
            Generator::Numpy => {
                return refused(
                    key,
                    format!(
                        "the numpy generator leaves the shares of classes to chance; set generator = \"chacha\", or remove {key}"
                    ),
                );
            }
            Generator::Chacha => return POSITIVE_RATE.check(key, &rate),
        };
        refused(key, format!("{reason}; remove {key}"))
    }

    /// Checks that there are as many different samples as the generator `all` is asked for.
    fn validate_all(&self, samples: usize) -> Result<(), InvalidValue> {
        let count = self.sampler().listed()? as u64;
        let asked = (samples as u64).saturating_add(self.held_out as u64);
        if asked > count {
            let key = if samples as u64 > count {
                "samples"
            } else {
                "held_out"
            };
            let message = format!(
                "samples + held_out is {asked}, but there are only {count} different samples; lower one of them"
            );
            return refused(key, message);
        }
        Ok(())
    }

    fn validate_words(&self) -> Result<(), InvalidValue> {
        let known = self.rule.as_ref().map_or(&[][..], |rule| rule.words());
        if !known.is_empty() {
            let words = self.words.iter().flat_map(|words| &words.vocabulary);
            if !words.eq(known) {
                let message = "the vocabulary is not that of the rule's grammar; remove data.words";
                return Err(InvalidValue::new("words.vocabulary", message));
            }
        } else if self.words.is_some() && !matches!(self.source, Source::File(_)) {
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
        if self.task == Task::NextToken {
            let message = format!(
                "the classes of the task next-token are the tokens, not {}; remove data.classes, or set another data.task",
                classes.join(", ")
            );
            return Err(InvalidValue::new("classes", message));
        }
        if classes.len() != n_classes {
            let message = format!(
                "n_classes is {n_classes}, but the classes have {} names: {}",
                classes.len(),
                classes.join(", ")
            );
            return Err(InvalidValue::new("n_classes", message));
        }
        let mut known = HashSet::new();
        for name in classes {
            check_name(name).map_err(|reason| InvalidValue::new("classes", reason))?;
            if !known.insert(composed(name)) {
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
