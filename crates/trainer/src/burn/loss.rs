//! The loss that training lowers: the mean cross-entropy of a batch.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Bool, Int, Tensor, TensorData};
use headlight_data::{Batch, IGNORED};

/// How the cross-entropy is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchLoss {
    /// Whether a sure model keeps its small losses and gradients.
    pub(super) is_accurate: bool,
    /// The share of the target that all classes have in equal parts; the true class has the rest.
    pub(super) smoothing: f64,
    /// Whether the answers of a sample that count are averaged before samples are.
    pub(super) per_sample: bool,
}

impl BatchLoss {
    /// The mean over the answers of a batch that count, of weight times loss; 0 if none does.
    ///
    /// # Shapes
    /// - logits: `[answer, logit]`
    /// - output: `[1]`
    pub(super) fn mean(self, logits: Tensor<2>, batch: &Batch) -> Tensor<1> {
        let counted = Counted::of(batch);
        let labels = &counted.labels;
        let device = logits.device();
        if labels.is_empty() {
            return logits.sum() * 0.0;
        }
        let count = counted.places.len();
        let logits = if count == batch.labels.len() {
            logits
        } else {
            let places = TensorData::new(counted.places, [count]);
            logits.select(0, Tensor::<1, Int>::from_data(places, &device))
        }; // [counted, logit]
        let losses = if self.is_accurate {
            accurate(logits.clone(), labels)
        } else {
            plain(logits.clone(), labels)
        }; // [counted, 1]
        let losses = if self.smoothing == 0.0 {
            losses
        } else {
            // With class k as the true one y, the loss would be larger by z_y - z_k. The mean over k has the share `smoothing`.
            let further = match logits.dims() {
                [_, 1] => signed(logits, labels) * -0.5,
                _ => true_logits(logits.clone(), labels) - logits.mean_dim(1),
            }; // [counted, 1]
            losses + further * self.smoothing
        };
        let losses = if batch.weights.is_empty() {
            losses
        } else {
            let weights = TensorData::new(counted.weights, [count, 1]);
            losses * Tensor::<2>::from_data(weights, &device)
        };
        if self.per_sample {
            let shares = TensorData::new(counted.shares, [count, 1]);
            (losses * Tensor::<2>::from_data(shares, &device)).sum()
        } else {
            losses.mean()
        }
    }
}

/// The answers of a batch that count.
struct Counted {
    /// Their indices among all answers.
    places: Vec<i32>,
    labels: Vec<u32>,
    /// The share of each in the loss, if samples are averaged first.
    shares: Vec<f32>,
    /// The weight of each, if they have weights.
    weights: Vec<f32>,
}

impl Counted {
    fn of(batch: &Batch) -> Self {
        let answers = batch.labels.len() / batch.len().max(1);
        let mut all = Self {
            places: Vec::new(),
            labels: Vec::new(),
            shares: Vec::new(),
            weights: Vec::new(),
        };
        let of_sample = |labels: &[u32]| labels.iter().filter(|&&label| label != IGNORED).count();
        let samples = batch.labels.chunks(answers.max(1));
        let with_any = samples.clone().filter(|&row| of_sample(row) > 0).count();
        for (sample, labels) in samples.enumerate() {
            let share = 1.0 / (of_sample(labels) * with_any).max(1) as f32;
            for (place, &label) in labels
                .iter()
                .enumerate()
                .filter(|(_, label)| **label != IGNORED)
            {
                let index = sample * answers + place;
                all.places.push((index as u32).cast_signed());
                all.weights.extend(batch.weights.get(index));
                all.labels.push(label);
                all.shares.push(share);
            }
        }
        all
    }
}

/// Cross-entropy from logits `z` and labels `y`: of one logit `max(z, 0) - z y + log(1 + exp(-|z|))`, the formula of
/// TensorFlow's `sigmoid_cross_entropy_with_logits`; of several `-log softmax(z)[y]`. `[answer, 1]`
fn plain(logits: Tensor<2>, answers: &[u32]) -> Tensor<2> {
    if let [_, 1] = logits.dims() {
        let targets = targets(answers, &logits);
        let linear = logits.clone().clamp_min(0.0) - logits.clone() * targets; // [answer, 1]
        // At 0 the slope of `clamp_min` is 1, and so must be that of |z|; the slope of Burn's `abs` is 0 there.
        let sign = logits.clone().detach().greater_equal_elem(0.0).float() * 2.0 - 1.0; // [answer, 1]
        return linear + (logits * sign).neg().exp().log1p();
    }
    let labels = labels(answers, &logits);
    log_softmax(logits, 1).gather(1, labels).neg()
}

/// The same from the differences `d_k = z_k - z_y` of the other logits: `log(1 + sum_k exp(d_k))`, where one logit has the
/// single difference `-z` or `z`. Its gradient by `d_k` is the probability of class k, so the gradient of the true class's
/// logit is minus their sum; it does not round to 0 as `probability - 1` does. `[answer, 1]`
fn accurate(logits: Tensor<2>, answers: &[u32]) -> Tensor<2> {
    let differences = match logits.dims() {
        [_, 1] => signed(logits, answers),
        [size, n_logits] => {
            let labels = answers.iter().map(|&label| label as usize);
            let is_true = labels.flat_map(|label| (0..n_logits).map(move |k| k == label));
            let is_true = TensorData::new(is_true.collect::<Vec<_>>(), [size, n_logits]);
            let is_true = Tensor::<2, Bool>::from_data(is_true, &logits.device());
            (logits.clone() - true_logits(logits, answers)).mask_fill(is_true, f32::MIN)
        }
    }; // [answer, other class]
    // The largest exponent is 0; where the true class is the most probable, that of its own 1.
    let most = differences.clone().max_dim(1).clamp_min(0.0).detach(); // [answer, 1]
    let others = (differences - most.clone()).exp().sum_dim(1); // [answer, 1]
    (most.clone().neg().exp() - 1.0 + others).log1p() + most
}

/// The logit of the true class. `[answer, logit]` to `[answer, 1]`
fn true_logits(logits: Tensor<2>, answers: &[u32]) -> Tensor<2> {
    let labels = labels(answers, &logits);
    logits.gather(1, labels)
}

/// The log-odds of the class that is not the true one, from those of class 1. `[answer, 1]`
fn signed(logits: Tensor<2>, answers: &[u32]) -> Tensor<2> {
    let targets = targets(answers, &logits);
    logits * (targets * -2.0 + 1.0)
}

/// The labels as indices. `[answer, 1]`
fn labels(answers: &[u32], logits: &Tensor<2>) -> Tensor<2, Int> {
    let labels: Vec<i32> = answers.iter().map(|&label| label.cast_signed()).collect();
    Tensor::from_data(
        TensorData::new(labels, [answers.len(), 1]),
        &logits.device(),
    )
}

/// The labels as probabilities of class 1. `[answer, 1]`
fn targets(answers: &[u32], logits: &Tensor<2>) -> Tensor<2> {
    let labels: Vec<f32> = answers.iter().map(|&label| label as f32).collect();
    Tensor::from_data(
        TensorData::new(labels, [answers.len(), 1]),
        &logits.device(),
    )
}
