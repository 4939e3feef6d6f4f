//! The samples of a file as a config takes them: with `[CLS]`, padding and classes, in their splits.

use std::collections::HashMap;

use super::error::{FileError, FitError};
use super::rows::Rows;
use crate::cls::ClsPlace;
use crate::config::{DatasetConfig, Source, WEIGHT};
use crate::dataset::{Dataset, Splits};
use crate::fold::Fold;
use crate::order::order;
use crate::random::{Stream, shuffle};
use crate::shape::SampleShape;
use crate::task::{IGNORED, Task};
use headlight_schema::InvalidValue;

/// Padding may make a file of more tokens than this larger by `PADDING_RATIO` only.
const PADDED_FREE: usize = 1 << 24;
const PADDING_RATIO: usize = 32;

/// What to do with a label that is not a class.
const REMEDY: &str =
    "; fix the label, or remove the row, or rename the column where no labels are needed";

impl Rows {
    /// The samples in the file's order, with `[CLS]` and padding. The config's rule gives labels that the file does
    /// not have. Without a rule, samples are of class 0, and labels per token do not count. Next tokens are those of the sample.
    ///
    /// # Errors
    /// When a sample or its label does not fit the config; the message names the place.
    pub fn dataset(
        &self,
        config: &DatasetConfig,
        padding_token: Option<u32>,
    ) -> Result<Dataset, FileError> {
        if self.are_texts() {
            return self.tokenized(config)?.0.dataset(config, padding_token);
        }
        let shape = SampleShape::new(config, padding_token);
        let has_cls = self.has_cls(shape.cls);
        let mut dataset = config.no_samples();
        let positions = dataset.positions();
        let given: usize = (0..self.len()).map(|row| self.tokens(row).len()).sum();
        if self.len().saturating_mul(positions) > PADDED_FREE.max(given * PADDING_RATIO) {
            let longest = (0..self.len()).max_by_key(|&row| self.tokens(row).len());
            let longest = longest.unwrap_or(0);
            return Err(self.refuse(
                longest,
                &format!(
                    "padding all samples to {} tokens would make the file over {PADDING_RATIO} times as large; remove the longest samples",
                    shape.seq_len
                ),
            ));
        }
        let classes = self.labels.classes(config);
        let class = |label: u32| {
            let class = classes[label as usize].clone();
            class.map_err(|reason| reason + REMEDY)
        };
        let mut sample = Vec::with_capacity(positions);
        let mut push = |row: usize| {
            sample.clear();
            shape.arrange(self.tokens(row), has_cls, &mut sample)?;
            // Generated samples may have any token anywhere.
            if let Source::File(_) = config.source {
                shape.check_padding(&sample)?;
            }
            let labels = match (config.task, self.label(row), &config.rule) {
                (Task::NextToken, ..) => self.next_tokens(row, &sample, config.cls),
                (Task::TokenClassification, ..)
                    if let Some(given) = &self.samples[row].token_labels =>
                {
                    let mut labels = vec![IGNORED; positions];
                    let before = usize::from(config.cls == ClsPlace::First && !has_cls);
                    for (value, &label) in given.iter().enumerate().filter(|one| *one.1 != IGNORED)
                    {
                        let token = self.tokens(row)[value];
                        if !shape.counts(token) {
                            return Err(format!(
                                "`labels`, value {}: token {token} is [CLS] or padding, whose label does not count; write null, or -100 in npz",
                                value + 1
                            ));
                        }
                        labels[value + before] = class(label)?;
                    }
                    labels
                }
                (Task::Classification, Some(label), _) => vec![class(label)?],
                (.., Some(rule)) => rule.labels_for(&sample, config.cls, config.n_classes),
                (Task::Classification, ..) => vec![0],
                (Task::TokenClassification, ..) => vec![IGNORED; positions],
            };
            dataset.push_each(&sample, labels);
            Ok(())
        };
        for row in 0..self.len() {
            push(row).map_err(|reason: String| self.refuse(row, &reason))?;
        }
        Ok(dataset)
    }

    /// The samples of an experiment: those of the file in the file's splits, or with
    /// [`held_out`](DatasetConfig::held_out) random samples held out where the config asks for that.
    ///
    /// # Errors
    /// When a value of the config is invalid, or the samples do not fit the config, contradict its rule, have no
    /// labels, or have one class only.
    pub fn fit(
        &self,
        config: &DatasetConfig,
        padding_token: Option<u32>,
    ) -> Result<Splits, FitError> {
        config.validate()?;
        let remedy = "set data.label to the column of labels";
        if let Some(reason) = self.missing_labels(config, remedy) {
            return Err(FileError::new(&self.name, reason).into());
        }
        if self.are_texts() && config.task == Task::Classification {
            self.check_texts()?;
        }
        let (train, held_out) = self.parts(config)?;
        let (mut rows, mut texts) = (self, None);
        let tokenized;
        if self.are_texts() {
            let (encoded, mut counts) = self.tokenized_parts(config, &held_out)?;
            counts.repeated = self.equal(&held_out, self, &train);
            (tokenized, texts) = (encoded, Some(counts));
            rows = &tokenized;
        }
        rows.check_classes(config)?;
        let dataset = rows.dataset(config, padding_token)?;
        if let Some(reason) = rows.contradiction(&dataset, config) {
            let remedy = "; fix the label or data.rule, or remove the rule";
            return Err(FileError::new(&self.name, reason + remedy).into());
        }
        let mut trained = dataset.select(&train);
        trained
            .relabel(|label, sample, position| config.noisy_label(label, train[sample], position));
        let weights = self.weights(&train, config.columns.sample_weight.as_deref())?;
        if !weights.is_empty() {
            trained.weigh(|sample, _| weights[sample]);
        }
        let splits = Splits::new(trained, dataset.select(&held_out));
        let judged = &splits.held_out;
        let has_label = |sample| judged.counted_labels(sample).next().is_some();
        if let Some(&first) = held_out.first()
            && !(0..judged.len()).any(has_label)
        {
            let reason = "no held-out sample has a label that counts; give one of them a label, or hold out others";
            return Err(self.refuse(first, reason).into());
        }
        Ok(Splits { texts, ..splits })
    }

    /// The weights of the training samples; none if neither the file nor the config has any.
    fn weights(&self, train: &[usize], named: Option<&str>) -> Result<Vec<f64>, FileError> {
        let name = named.unwrap_or("sample_weight");
        let Some(given) = &self.weights else {
            let reason = format!(
                "it has no column `{name}`, which data.sample_weight names; add it, or remove data.sample_weight"
            );
            let error = named.map(|_| FileError::new(&self.name, reason));
            return error.map_or(Ok(Vec::new()), Err);
        };
        let weight = |&row: &usize| {
            let weight = given[row].parse().ok();
            weight.filter(|&weight| WEIGHT.contains(weight)).ok_or_else(|| {
                let reason = format!(
                    "the weight in `{name}` is `{}`; write a number from 0 to 3.4e38, or delete the row",
                    given[row]
                );
                self.refuse(row, &reason)
            })
        };
        train.iter().map(weight).collect()
    }

    /// The token that follows each position of a sample; none follows padding.
    fn next_tokens(&self, row: usize, sample: &[u32], cls: ClsPlace) -> Vec<u32> {
        let before = usize::from(cls == ClsPlace::First);
        let n_tokens = self.tokens(row).len() - usize::from(self.has_cls(cls));
        let mut labels = vec![IGNORED; sample.len()];
        let held = before + n_tokens;
        labels[..held - 1].copy_from_slice(&sample[1..held]);
        labels[held - 1] = self.samples[row].following.unwrap_or(IGNORED);
        labels
    }

    /// The rows to train on and those held out, as a config asks for them.
    pub(super) fn parts(
        &self,
        config: &DatasetConfig,
    ) -> Result<(Vec<usize>, Vec<usize>), InvalidValue> {
        match config.fold {
            Some(fold) => self.fold(fold, config.seed),
            None => self.split(config.held_out, config.seed, config.words.is_some()),
        }
    }

    /// The rows to train on and those held out: as the file says, or `count` random ones; of each class alike, if
    /// `by_class`.
    pub(super) fn split(
        &self,
        count: usize,
        seed: u64,
        by_class: bool,
    ) -> Result<(Vec<usize>, Vec<usize>), InvalidValue> {
        let (held_out, train): (Vec<usize>, Vec<usize>) =
            (0..self.len()).partition(|&row| self.is_held_out(row));
        if count == 0 {
            return Ok((train, held_out));
        }
        let refused = |message| Err(InvalidValue::new("held_out", message));
        if !held_out.is_empty() {
            return refused(format!(
                "the file has its own {} held-out samples; remove held_out",
                held_out.len()
            ));
        }
        if count >= train.len() {
            return refused(format!(
                "holding out {count} of {} samples leaves none to train on; lower held_out",
                train.len()
            ));
        }
        if self.are_windows {
            let rest = train.len() - count;
            return Ok((train[..rest].to_vec(), train[rest..].to_vec()));
        }
        let mut order = train;
        shuffle(&mut order, &mut Stream::Split.rng(seed));
        // Only texts are split so.
        if by_class {
            self.spread_classes(&mut order);
        }
        let mut rest = order.split_off(count);
        rest.sort_unstable();
        Ok((rest, order))
    }

    /// The rows to train on and those of a fold: after a shuffle, the rows of each class go to the folds in turn.
    pub(super) fn fold(
        &self,
        fold: Fold,
        seed: u64,
    ) -> Result<(Vec<usize>, Vec<usize>), InvalidValue> {
        let refused = |message| Err(InvalidValue::new("fold", message));
        let held_out = (0..self.len()).filter(|&row| self.is_held_out(row)).count();
        if held_out > 0 {
            return refused(format!(
                "the file has its own {held_out} held-out samples; remove fold, or the file's split"
            ));
        }
        if fold.count() > self.len() {
            return refused(format!(
                "{} samples cannot make {} folds; choose fewer folds",
                self.len(),
                fold.count()
            ));
        }
        if self.are_windows {
            let part = |&row: &usize| fold.holds(row * fold.count() / self.len());
            let (held_out, train) = (0..self.len()).partition(part);
            return Ok((train, held_out));
        }
        let mut shuffled: Vec<usize> = (0..self.len()).collect();
        shuffle(&mut shuffled, &mut Stream::Fold.rng(seed));
        let label = |index: usize| self.label(shuffled[index]);
        // By class, in the shuffled order.
        let by_class = order(self.len(), &|one, other| label(one).cmp(&label(other)));
        let mut is_held_out = vec![false; self.len()];
        for (rank, index) in by_class.into_iter().enumerate() {
            is_held_out[shuffled[index]] = fold.holds(rank);
        }
        let (held_out, train) = (0..self.len()).partition(|&row| is_held_out[row]);
        Ok((train, held_out))
    }

    /// Sorts rows so that any number of the first ones has each class as often as all have it, to the nearest row.
    fn spread_classes(&self, rows: &mut [usize]) {
        let mut counts: HashMap<Option<u32>, usize> = HashMap::new();
        for &row in &*rows {
            *counts.entry(self.label(row)).or_default() += 1;
        }
        let mut before: HashMap<Option<u32>, usize> = HashMap::new();
        let ranked = rows.iter().map(|&row| {
            let label = self.label(row);
            let seen = before.entry(label).or_default();
            // The middle of the row's share, as a fraction of 2^32.
            let rank = ((2 * *seen as u64 + 1) << 31) / counts[&label] as u64;
            *seen += 1;
            (rank, label, row)
        });
        let ranked: Vec<(u64, Option<u32>, usize)> = ranked.collect();
        let key = |index: usize| (ranked[index].0, ranked[index].1);
        let spread = order(rows.len(), &|one, other| key(one).cmp(&key(other)));
        for (row, index) in rows.iter_mut().zip(spread) {
            *row = ranked[index].2;
        }
    }

    /// Refuses samples of one class only.
    fn check_classes(&self, config: &DatasetConfig) -> Result<(), FileError> {
        let refused = |message: &str| Err(FileError::new(&self.name, message));
        let mut train = (0..self.len())
            .filter(|&row| !self.is_held_out(row))
            .peekable();
        if train.peek().is_none() {
            return refused("the file has no training samples");
        }
        if config.task == Task::NextToken {
            return Ok(());
        }
        let each = train.flat_map(|row| {
            let token_labels = self.samples[row].token_labels.iter().flatten().copied();
            self.label(row).into_iter().chain(token_labels)
        });
        let mut labels = each.filter(|&label| label != IGNORED);
        let Some(first) = labels.next() else {
            return refused("all labels of the training samples are null; give one that is not");
        };
        if labels.all(|label| label == first) {
            let written = self
                .labels
                .written(first)
                .map_or_else(String::new, |texts| {
                    format!(", as which `{texts}` are read")
                });
            return refused(&format!(
                "all training samples have the label {}{written}; training needs samples of at least two classes",
                self.labels.text(first)
            ));
        }
        Ok(())
    }

    /// The first label that is not the one of the config's rule, as a sentence.
    pub fn contradiction(&self, dataset: &Dataset, config: &DatasetConfig) -> Option<String> {
        let rule = config.rule.as_ref()?;
        let name = |label| match label {
            IGNORED => "none".to_owned(),
            label => config.class_name(label),
        };
        (0..dataset.len()).find_map(|row| {
            let tokens = dataset.tokens(row);
            let by_rule = rule.labels_for(tokens, config.cls, config.n_classes);
            let mut pairs = dataset.counted_labels(row);
            let (position, label) = pairs.find(|&(position, label)| label != by_rule[position])?;
            let is_padded = (1..config.seq_len).contains(&self.tokens(row).len());
            let counted = if is_padded { ", padding counted" } else { "" };
            rule.has_label(tokens, config.cls).then(|| {
                format!(
                    "{}: the label is {}, but the rule ({}) gives {}{counted}",
                    self.place(row),
                    name(label),
                    rule.describe(),
                    name(by_rule[position])
                )
            })
        })
    }

    /// Refuses texts that cannot be sorted into classes.
    fn check_texts(&self) -> Result<(), FileError> {
        let refused = |reason: String| Err(FileError::new(&self.name, reason));
        if let Some((number, name)) = self.labels.mixed() {
            return refused(format!(
                "some labels are numbers, such as {number}, and some are names, such as `{name}`; use one or the other"
            ));
        }
        let mut counts = vec![0_usize; self.labels.len()];
        for label in (0..self.len()).filter_map(|row| self.label(row)) {
            counts[label as usize] += 1;
        }
        match counts.iter().position(|&count| count == 1) {
            Some(label) => refused(format!(
                "only one sample has the label `{}`; a class needs two, one to train on and one to test with",
                self.labels.text(label as u32)
            )),
            None => Ok(()),
        }
    }
}
