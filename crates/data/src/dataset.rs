//! Samples with their labels.

use crate::cls::ClsPlace;
use crate::rules::LabelRule;
use crate::task::{IGNORED, Task};

/// Samples of one length with their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    tokens: Vec<u32>,  // [sample, position]
    labels: Vec<u32>,  // [sample] or [sample, position]
    weights: Vec<f32>, // like the labels, or empty
    positions: usize,
    cls: ClsPlace,
    per_position: bool,
}

/// A dataset in the two parts of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Splits {
    /// Samples to train on; none where each step draws its own.
    pub train: Dataset,
    /// Samples that training never sees.
    pub held_out: Dataset,
    /// The samples of each test set, in the order of the config; none in the page, which makes no test sets.
    pub tests: Vec<Dataset>,
    /// What became of the words, if the samples were texts.
    pub texts: Option<TextCounts>,
}

/// What each token of a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextUnit {
    /// Words.
    #[default]
    Words,
    /// Characters.
    Characters,
    /// Values of columns.
    Values,
}

impl TextUnit {
    /// The plural name, for sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Characters => "characters",
            Self::Values => "values",
        }
    }
}

/// What became of the words of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextCounts {
    /// Number of texts.
    pub texts: usize,
    /// Texts without any word.
    pub empty: usize,
    /// Words that the samples hold.
    pub words: usize,
    /// Words of the samples that the vocabulary lacks.
    pub unknown: usize,
    /// Words of the samples that are held out.
    pub held_out_words: usize,
    /// Words of the held-out samples that the vocabulary lacks.
    pub held_out_unknown: usize,
    /// Texts that were longer than a sample.
    pub cut_texts: usize,
    /// Words at the end of texts that no sample holds.
    pub cut_words: usize,
    /// Held-out texts that are training texts, too, ignoring case, blanks and punctuation; of values of columns, rows that
    /// have the values of a training row.
    pub repeated: usize,
    /// What each token is.
    pub unit: TextUnit,
}

impl TextCounts {
    /// What became of the words, as sentences; empty if nothing was lost.
    pub fn sentences(&self, seq_len: usize) -> Vec<String> {
        let parts = self.unit.name();
        let mut sentences = Vec::new();
        if self.cut_texts > 0 {
            sentences.push(format!(
                "Texts cut to the first {seq_len} {parts}: {}. Dropped {parts}: {}.",
                self.cut_texts, self.cut_words
            ));
        }
        // The vocabulary comes from the training texts, so it has most of their words.
        let held_out = (self.held_out_unknown, self.held_out_words);
        let others = (self.unknown - held_out.0, self.words - held_out.1);
        let of_others = if held_out.1 > 0 { " of training" } else { "" };
        for ((unknown, words), of) in [(others, of_others), (held_out, " of held-out")] {
            if unknown > 0 {
                let unit = match (self.unit, of) {
                    (_, "") => "",
                    (TextUnit::Values, _) => " rows",
                    _ => " texts",
                };
                sentences.push(format!(
                    "{unknown} of {words} {parts}{of}{unit} {} not in the vocabulary.",
                    if unknown == 1 { "is" } else { "are" }
                ));
            }
        }
        if self.empty > 0 {
            let empty = self.empty;
            sentences.push(format!(
                "Texts without {parts}, each of which becomes [UNK]: {empty}."
            ));
        }
        sentences
    }
}

impl Splits {
    /// Two parts, without test sets and texts.
    pub fn new(train: Dataset, held_out: Dataset) -> Self {
        Self {
            train,
            held_out,
            tests: Vec::new(),
            texts: None,
        }
    }

    /// The samples that dumps and reports show: those for training; where each step draws its own, held-out ones.
    pub fn displayed_samples(&self) -> &Dataset {
        if self.train.is_empty() {
            &self.held_out
        } else {
            &self.train
        }
    }

    /// Which samples [`displayed_samples`](Self::displayed_samples) are, in a word.
    pub fn displayed_name(&self) -> &'static str {
        if self.train.is_empty() {
            "held-out"
        } else {
            "training"
        }
    }

    /// The samples that tell how good a model is: the held-out ones; if there are none, training samples have to do.
    pub fn judging_samples(&self) -> &Dataset {
        if self.held_out.is_empty() {
            &self.train
        } else {
            &self.held_out
        }
    }
}

impl Dataset {
    /// A dataset without samples, to be filled with samples of `seq_len` tokens, and `[CLS]` in its place.
    pub fn empty(seq_len: usize, cls: ClsPlace) -> Self {
        Self {
            tokens: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            positions: cls.positions(seq_len),
            cls,
            per_position: false,
        }
    }

    /// This dataset for samples with the labels of a task.
    #[must_use]
    pub fn for_task(self, task: Task) -> Self {
        Self {
            per_position: task.is_per_position(),
            ..self
        }
    }

    /// A dataset without samples, to be filled with samples of the form that these have.
    #[must_use]
    pub fn without_samples(&self) -> Self {
        Self {
            tokens: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            ..*self
        }
    }

    /// The samples with these indices, in this order.
    #[must_use]
    pub fn select(&self, samples: &[usize]) -> Self {
        let mut selected = self.without_samples();
        for &sample in samples {
            selected.push_of(self, sample, self.tokens(sample));
        }
        selected
    }

    /// Appends a sample of a class; if samples have a label per position, it is that of each position.
    ///
    /// # Panics
    /// When `tokens` does not have [`positions`](Self::positions) tokens, or lacks `[CLS]` in its place.
    pub fn push(&mut self, tokens: &[u32], label: u32) {
        let answers = self.labels_per_sample();
        self.push_each(tokens, std::iter::repeat_n(label, answers));
    }

    /// Appends a sample with as many labels as [`labels_per_sample`](Self::labels_per_sample).
    ///
    /// # Panics
    /// When [`push`](Self::push) does, or when there are more or fewer labels.
    pub fn push_each(&mut self, tokens: &[u32], labels: impl IntoIterator<Item = u32>) {
        assert!(
            tokens.len() == self.positions && self.cls.is_in(tokens) == self.cls.is_present(),
            "a sample has {} positions and [CLS] {}",
            self.positions,
            self.cls.name()
        );
        self.tokens.extend_from_slice(tokens);
        self.labels.extend(labels);
        let (samples, answers) = (self.len(), self.labels_per_sample());
        assert!(
            self.labels.len() == samples * answers,
            "a sample has {answers} labels"
        );
    }

    /// Appends a sample with the labels and weights that a sample of another dataset has.
    ///
    /// # Panics
    /// When [`push`](Self::push) does.
    pub(crate) fn push_of(&mut self, other: &Self, sample: usize, tokens: &[u32]) {
        self.push_each(tokens, other.labels_of(sample).iter().copied());
        self.weights.extend(other.weights_of(sample));
    }

    /// Appends a sample with the label that `rule` gives it.
    ///
    /// # Panics
    /// When [`push`](Self::push) does.
    pub fn push_labelled(&mut self, tokens: &[u32], rule: &LabelRule, n_classes: usize) {
        self.push_each(tokens, rule.labels_for(tokens, self.cls, n_classes));
    }

    /// Replaces each label that counts by what `relabelled` makes of it, of its sample's index and of its position among the sample's
    /// labels.
    pub(crate) fn relabel(&mut self, relabelled: impl Fn(u32, usize, usize) -> u32) {
        let answers = self.labels_per_sample();
        for (index, label) in self.labels.iter_mut().enumerate() {
            if *label != IGNORED {
                *label = relabelled(*label, index / answers, index % answers);
            }
        }
    }

    /// Multiplies the weight of each answer, which is 1 at first, by what `of` makes of its sample's index and of its label.
    pub fn weigh(&mut self, of: impl Fn(usize, u32) -> f64) {
        let answers = self.labels_per_sample();
        self.weights.resize(self.labels.len(), 1.0);
        let pairs = self.weights.iter_mut().zip(&self.labels).enumerate();
        for (index, (weight, &label)) in pairs {
            *weight = (f64::from(*weight) * of(index / answers, label)) as f32;
        }
    }

    /// How much each answer counts in the loss of training; `None` if all count alike. `[sample]` or `[sample, position]`
    pub fn weights(&self) -> Option<&[f32]> {
        (!self.weights.is_empty()).then_some(&self.weights)
    }

    /// The weights of a sample's answers; none if all count alike. `[answer]`
    pub fn weights_of(&self, sample: usize) -> &[f32] {
        let answers = self.labels_per_sample();
        let weights = self.weights.get(sample * answers..(sample + 1) * answers);
        weights.unwrap_or_default()
    }

    /// Whether samples have a label per position.
    pub fn is_per_position(&self) -> bool {
        self.per_position
    }

    /// Labels per sample: one, or one per position.
    pub fn labels_per_sample(&self) -> usize {
        if self.per_position { self.positions } else { 1 }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.tokens.len() / self.positions.max(1)
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Positions per sample, including `[CLS]`: `seq_len + 1`, or `seq_len` without `[CLS]`.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// The place of `[CLS]` in each sample.
    pub fn cls(&self) -> ClsPlace {
        self.cls
    }

    /// The tokens of a sample, including `[CLS]`.
    pub fn tokens(&self, sample: usize) -> &[u32] {
        &self.tokens[sample * self.positions..(sample + 1) * self.positions]
    }

    /// The class of a sample; of labels per position, the first that counts, or 0. Class 0 is called negative, all others
    /// positive.
    pub fn label(&self, sample: usize) -> u32 {
        if !self.per_position {
            return self.labels[sample];
        }
        let counted = self.counted_labels(sample).next();
        counted.map_or(0, |(_, label)| label)
    }

    /// The labels of a sample. `[answer]`
    pub fn labels_of(&self, sample: usize) -> &[u32] {
        let answers = self.labels_per_sample();
        &self.labels[sample * answers..][..answers]
    }

    /// The labels of a sample that count, each with its place among them all: its position, if samples have a label per position.
    pub fn counted_labels(&self, sample: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let labels = self.labels_of(sample).iter().copied().enumerate();
        labels.filter(|&(_, label)| label != IGNORED)
    }

    /// Every token, row-major. `[sample, position]`
    pub fn all_tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Every label, [`IGNORED`] where none counts. `[sample]` or `[sample, position]`
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The number of labels of each class that count. `[class]`
    ///
    /// # Panics
    /// When a label is `n_classes` or more.
    pub fn class_counts(&self, n_classes: usize) -> Vec<usize> {
        let mut counts = vec![0; n_classes];
        for &label in self.labels.iter().filter(|&&label| label != IGNORED) {
            counts[label as usize] += 1;
        }
        counts
    }

    /// Indices of the samples of a class, or with a label of this class.
    pub fn of_class(&self, class: u32) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(move |&sample| self.labels_of(sample).contains(&class))
    }

    /// Indices of the positive samples: those of every class but 0, or with a label of such a class.
    pub fn positives(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&sample| self.counted_labels(sample).any(|(_, label)| label != 0))
    }
}
