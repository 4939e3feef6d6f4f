//! Samples with their labels.

use crate::cls::ClsPlace;
use crate::rules::LabelRule;

/// Samples of one length with their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    tokens: Vec<u32>, // [sample, position]
    labels: Vec<u32>, // [sample]
    positions: usize,
    cls: ClsPlace,
}

/// A dataset in the two parts of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splits {
    /// Samples to train on; none where each step draws its own.
    pub train: Dataset,
    /// Samples that training never sees.
    pub held_out: Dataset,
    /// What became of the words, if the samples were texts.
    pub texts: Option<TextCounts>,
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
    /// Those of them that the vocabulary lacks.
    pub unknown: usize,
    /// Those of the words that are of held-out texts.
    pub held_out_words: usize,
    /// Those of them that the vocabulary lacks.
    pub held_out_unknown: usize,
    /// Texts that were longer than a sample.
    pub cut_texts: usize,
    /// Words at the end of texts that no sample holds.
    pub cut_words: usize,
    /// Held-out texts that are training texts, too, apart from case, blanks and punctuation; of values of columns, rows that
    /// have the values of a training row.
    pub repeated: usize,
    /// Whether words are values of columns.
    pub are_values: bool,
}

impl TextCounts {
    /// What a reader should know, as sentences; empty if nothing was lost.
    pub fn losses(&self, seq_len: usize) -> Vec<String> {
        let counted = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {many}"),
        };
        let mut sentences = Vec::new();
        if self.cut_texts > 0 {
            sentences.push(format!(
                "{} cut to the first {seq_len} words; {} dropped.",
                counted(self.cut_texts, "text was", "texts were"),
                counted(self.cut_words, "word was", "words were"),
            ));
        }
        // The vocabulary is made from training texts, whose words it mostly has.
        let held_out = (self.held_out_unknown, self.held_out_words);
        let others = (self.unknown - held_out.0, self.words - held_out.1);
        let of_others = if held_out.1 > 0 { " of training" } else { "" };
        for ((unknown, words), of) in [(others, of_others), (held_out, " of held-out")] {
            if unknown > 0 {
                let (one, place) = match (self.are_values, of) {
                    (true, "") => ("values", ""),
                    (true, _) => ("values", " rows"),
                    (false, "") => ("words", ""),
                    (false, _) => ("words", " texts"),
                };
                sentences.push(format!(
                    "{unknown} of {words} {one}{of}{place} {} not in the vocabulary.",
                    if unknown == 1 { "is" } else { "are" }
                ));
            }
        }
        if self.empty > 0 {
            sentences.push(format!(
                "{} [UNK].",
                counted(
                    self.empty,
                    "text has no words; it becomes",
                    "texts have no words; each becomes"
                ),
            ));
        }
        sentences.extend(self.repetition());
        sentences
    }

    /// How many held-out texts are known from training, as a sentence.
    pub fn repetition(&self) -> Option<String> {
        (self.repeated > 0).then(|| {
            let what = if self.are_values {
                "Held-out rows that have the values of a training row"
            } else {
                "Held-out texts that are also training texts, apart from case, blanks and punctuation"
            };
            format!("{what}: {}.", self.repeated)
        })
    }
}

impl Splits {
    /// The samples that dumps and reports show: those for training; where each step draws its own, held-out ones.
    pub fn shown(&self) -> &Dataset {
        if self.train.is_empty() {
            &self.held_out
        } else {
            &self.train
        }
    }

    /// Which samples [`shown`](Self::shown) are, in a word.
    pub fn shown_name(&self) -> &'static str {
        if self.train.is_empty() {
            "held-out"
        } else {
            "training"
        }
    }

    /// The samples that tell how good a model is: the held-out ones; if there are none, training samples have to do.
    pub fn judged(&self) -> &Dataset {
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
            positions: cls.positions(seq_len),
            cls,
        }
    }

    /// A dataset without samples, to be filled with samples of the form that these have.
    #[must_use]
    pub fn without_samples(&self) -> Self {
        Self {
            tokens: Vec::new(),
            labels: Vec::new(),
            ..*self
        }
    }

    /// Appends a sample of a class.
    ///
    /// # Panics
    /// When `tokens` does not have [`positions`](Self::positions) tokens, or lacks `[CLS]` in its place.
    pub fn push(&mut self, tokens: &[u32], label: u32) {
        assert!(
            tokens.len() == self.positions && self.cls.is_in(tokens) == self.cls.is_somewhere(),
            "a sample has {} positions and [CLS] {}",
            self.positions,
            self.cls.name()
        );
        self.tokens.extend_from_slice(tokens);
        self.labels.push(label);
    }

    /// Appends a sample with the label that `rule` gives it.
    ///
    /// # Panics
    /// As [`push`](Self::push).
    pub fn push_labelled(&mut self, tokens: &[u32], rule: &LabelRule, n_classes: usize) {
        self.push(tokens, rule.label_for(tokens, self.cls, n_classes));
    }

    /// Replaces the label of each sample by what `of` makes of it and of the sample's index.
    pub(crate) fn relabel(&mut self, of: impl Fn(u32, usize) -> u32) {
        for (sample, label) in self.labels.iter_mut().enumerate() {
            *label = of(*label, sample);
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
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
    ///
    /// # Panics
    /// When the index is out of range.
    pub fn tokens(&self, sample: usize) -> &[u32] {
        &self.tokens[sample * self.positions..(sample + 1) * self.positions]
    }

    /// The class of a sample. Class 0 is called negative, all others positive.
    ///
    /// # Panics
    /// When the index is out of range.
    pub fn label(&self, sample: usize) -> u32 {
        self.labels[sample]
    }

    /// Every token, row-major. `[sample, position]`
    pub fn all_tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Every label. `[sample]`
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The number of samples of each class. `[class]`
    ///
    /// # Panics
    /// When a label is `n_classes` or more.
    pub fn class_counts(&self, n_classes: usize) -> Vec<usize> {
        let mut counts = vec![0; n_classes];
        for &label in &self.labels {
            counts[label as usize] += 1;
        }
        counts
    }

    /// Indices of the samples of a class.
    pub fn of_class(&self, class: u32) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(move |&sample| self.labels[sample] == class)
    }

    /// Indices of the positive samples: those of every class but 0.
    pub fn positives(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&sample| self.labels[sample] != 0)
    }
}
