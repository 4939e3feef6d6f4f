//! What a model has to beat: the most frequent class, and for texts the words without their order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use headlight_data::words::FIRST_WORD;
use headlight_data::{Dataset, FreshSamples, Splits, order};
use serde::Serialize;

use crate::config::ExperimentConfig;
use crate::metrics::{Counts, EvalMetrics, count_sample, f1_over, predicted_class};

/// A guess without a transformer, on the judged samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// How it guesses.
    #[serde(flatten)]
    pub guess: Guess,
    /// The share of samples that it classifies correctly.
    pub accuracy: f64,
    /// As that of the model, over the same classes; where classes have no metrics, over those that samples have or that it guesses.
    pub f1: Option<f64>,
}

/// How a baseline guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "guess", rename_all = "snake_case")]
pub enum Guess {
    /// Always the most frequent class of the judged samples, which no other constant answer beats; of equals, the first.
    Majority {
        /// The class.
        class: u32,
    },
    /// The most frequent class of the position's token among the samples that it is fitted on; of equals, the first.
    Token,
    /// Multinomial naive Bayes on counts of words, with one added to each, of the same samples.
    WordCounts,
}

/// How many samples baselines are fitted on where each step draws its own.
const FITTED: usize = 5000;

/// What baselines are fitted on, never the judged samples: the training samples or, where each step draws its own, as many as
/// tell, drawn in the same way. Empty if none are left to draw, or if no baseline asks for them.
pub(super) fn fitting_samples<'a>(
    config: &ExperimentConfig,
    splits: &'a Splits,
) -> Cow<'a, Dataset> {
    let is_asked = splits.displayed_samples().is_per_position() || config.data.words.is_some();
    let drawn = FreshSamples::new(&config.data, &splits.held_out, FITTED, config.seed)
        .filter(|_| is_asked)
        .and_then(|fresh| fresh.batch(0).ok());
    drawn.map_or(Cow::Borrowed(&splits.train), Cow::Owned)
}

/// The baselines of a model's judged samples; `texts` says whether their tokens are words. Nothing but a constant answer is
/// a baseline without samples to fit it on.
pub(super) fn baselines(
    splits: &Splits,
    fitted: &Dataset,
    n_classes: usize,
    texts: bool,
    model: &EvalMetrics,
) -> Vec<Baseline> {
    let judged = Judged {
        samples: splits.judging_samples(),
        n_classes,
        model,
    };
    let counts = fitted.class_counts(n_classes);
    let first_largest = |counts: &[usize]| {
        let most = counts.iter().copied().max().unwrap_or(0);
        counts.iter().position(|&count| count == most).unwrap_or(0) as u32
    };
    let class = first_largest(&judged.samples.class_counts(n_classes));
    let mut all = vec![judged.measured(Guess::Majority { class }, |_, _| class)];
    if fitted.is_empty() {
        return all;
    }
    if fitted.is_per_position() {
        let of_token = ByToken::of(fitted, first_largest(&counts));
        let guess = |tokens: &[u32], position: usize| of_token.class(tokens[position]);
        all.push(judged.measured(Guess::Token, guess));
    } else if texts {
        let bayes = NaiveBayes::of(fitted, &counts);
        let guess = |tokens: &[u32], _| bayes.class(tokens);
        all.push(judged.measured(Guess::WordCounts, guess));
    }
    all
}

/// What a model is judged on, and what it scores there.
struct Judged<'a> {
    samples: &'a Dataset,
    n_classes: usize,
    model: &'a EvalMetrics,
}

impl Judged<'_> {
    /// `class_of` guesses the class of a sample, or of one of its positions.
    fn measured(&self, guess: Guess, class_of: impl Fn(&[u32], usize) -> u32) -> Baseline {
        let samples = self.samples;
        let mut counts = vec![Counts::default(); self.n_classes];
        let [mut right, mut all] = [0_usize; 2];
        for sample in 0..samples.len() {
            for (position, label) in samples.counted_labels(sample) {
                let guessed = class_of(samples.tokens(sample), position);
                right += usize::from(label == guessed);
                all += 1;
                count_sample(&mut counts, label, guessed);
            }
        }
        Baseline {
            guess,
            accuracy: right as f64 / all.max(1) as f64,
            f1: f1_over(&counts, |class| {
                let of_model = self.model.counts_in_f1(class);
                of_model.unwrap_or(counts[class] != Counts::default())
            }),
        }
    }
}

/// The most frequent class of each token, and how often it has it.
struct ByToken {
    classes: BTreeMap<u32, (usize, u32)>,
    /// That of tokens that have none.
    otherwise: u32,
}

impl ByToken {
    fn of(fitted: &Dataset, otherwise: u32) -> Self {
        let mut classes = BTreeMap::new();
        for same in pairs(fitted).chunk_by(|one, other| one == other) {
            let (token, class) = same[0];
            let most = classes.entry(token).or_insert((0, class));
            if same.len() > most.0 {
                *most = (same.len(), class);
            }
        }
        Self { classes, otherwise }
    }

    fn class(&self, token: u32) -> u32 {
        let known = self.classes.get(&token);
        known.map_or(self.otherwise, |(_, class)| *class)
    }
}

/// What is added to each count of a pair, so that a pair that training lacks is possible.
const ADDED: f64 = 0.1;

/// The mean cross-entropy of the token that follows, in bits, of counts of pairs of tokens in the fitted samples, with 0.1
/// added to each; `None` if there are no pairs.
pub(super) fn bits_of_pairs(splits: &Splits, fitted: &Dataset, n_classes: usize) -> Option<f64> {
    let (known, judged) = (pairs(fitted), pairs(splits.judging_samples()));
    let below = |pair: (u32, u32)| known.partition_point(|&other| other < pair);
    let nats = judged.iter().map(|&(token, next)| {
        let pair = below((token, next + 1)) - below((token, next));
        let all = below((token + 1, 0)) - below((token, 0));
        -((pair as f64 + ADDED) / (all as f64 + ADDED * n_classes as f64)).ln()
    });
    let mean = nats.sum::<f64>() / judged.len() as f64;
    let is_known = !known.is_empty() && !judged.is_empty();
    is_known.then(|| mean / std::f64::consts::LN_2)
}

/// Each token with its label, in order.
fn pairs(samples: &Dataset) -> Vec<(u32, u32)> {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for sample in 0..samples.len() {
        let tokens = samples.tokens(sample);
        let counted = samples.counted_labels(sample);
        pairs.extend(counted.map(|(position, label)| (tokens[position], label)));
    }
    let sorted = order(pairs.len(), &|one, other| pairs[one].cmp(&pairs[other]));
    sorted.into_iter().map(|index| pairs[index]).collect()
}

/// Manning, Raghavan, Schütze (2008), section 13.2. A class without training samples is never guessed.
struct NaiveBayes {
    /// `[class]`
    priors: Vec<f64>,
    /// `[token, class]`
    words: Vec<f64>,
}

impl NaiveBayes {
    fn of(train: &Dataset, class_counts: &[usize]) -> Self {
        let classes = class_counts.len();
        let tokens = train.all_tokens().iter().max().map_or(0, |&last| last + 1) as usize;
        let mut counts = vec![0_usize; tokens * classes];
        let mut totals = vec![0_usize; classes];
        for sample in 0..train.len() {
            let class = train.label(sample) as usize;
            for word in words(train.tokens(sample)) {
                counts[word * classes + class] += 1;
                totals[class] += 1;
            }
        }
        let known = counts
            .chunks(classes.max(1))
            .filter(|of_word| of_word.iter().any(|&count| count > 0))
            .count();
        let log = |part: usize, whole: usize| (part as f64).ln() - (whole as f64).ln();
        let words = counts.iter().enumerate();
        let words = words.map(|(index, count)| log(count + 1, totals[index % classes] + known));
        Self {
            words: words.collect(),
            priors: class_counts
                .iter()
                .map(|&count| log(count, train.len()))
                .collect(),
        }
    }

    /// The likeliest class; of equals, the first. Words that training never saw say nothing.
    fn class(&self, tokens: &[u32]) -> u32 {
        let mut scores = self.priors.clone();
        for word in words(tokens) {
            let of_word = self.words.chunks(scores.len()).nth(word);
            for (score, word) in scores.iter_mut().zip(of_word.into_iter().flatten()) {
                *score += word;
            }
        }
        predicted_class(&scores)
    }
}

/// The words of a sample: neither `[CLS]` nor padding nor unknown words.
fn words(tokens: &[u32]) -> impl Iterator<Item = usize> {
    let words = tokens.iter().filter(|&&token| token >= FIRST_WORD);
    words.map(|&token| token as usize)
}
