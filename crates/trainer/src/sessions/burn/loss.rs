//! The loss that training lowers: the mean cross-entropy of a batch.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Bool, Int, Tensor, TensorData};
use headlight_data::Batch;

/// How the cross-entropy is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    /// Whether a sure model keeps its small losses and gradients.
    pub(super) is_accurate: bool,
    /// The share of the target that all classes have in equal parts; the true class has the rest.
    pub(super) smoothing: f64,
}

impl Loss {
    /// The mean over a batch.
    ///
    /// # Shapes
    /// - logits: `[batch, logit]`
    /// - output: `[1]`
    pub(super) fn mean(self, logits: Tensor<2>, batch: &Batch) -> Tensor<1> {
        let losses = if self.is_accurate {
            accurate(logits.clone(), batch)
        } else {
            plain(logits.clone(), batch)
        }; // [batch, 1]
        if self.smoothing == 0.0 {
            return losses.mean();
        }
        // With class k as the true one y, the loss would be larger by z_y - z_k. The mean over k has the share `smoothing`.
        let further = match logits.dims() {
            [_, 1] => signed(logits, batch) * -0.5,
            _ => own(logits.clone(), batch) - logits.mean_dim(1),
        }; // [batch, 1]
        (losses + further * self.smoothing).mean()
    }
}

/// Cross-entropy from logits `z` and labels `y`: of one logit `max(z, 0) - z y + log(1 + exp(-|z|))`, the formula of
/// TensorFlow's `sigmoid_cross_entropy_with_logits`; of several `-log softmax(z)[y]`. `[batch, 1]`
fn plain(logits: Tensor<2>, batch: &Batch) -> Tensor<2> {
    if let [_, 1] = logits.dims() {
        let targets = targets(batch, &logits);
        let linear = logits.clone().clamp_min(0.0) - logits.clone() * targets; // [batch, 1]
        // At 0 the slope of `clamp_min` is 1, and so must be that of |z|; the slope of Burn's `abs` is 0 there.
        let sign = logits.clone().detach().greater_equal_elem(0.0).float() * 2.0 - 1.0; // [batch, 1]
        return linear + (logits * sign).neg().exp().log1p();
    }
    let labels = labels(batch, &logits);
    log_softmax(logits, 1).gather(1, labels).neg()
}

/// The same from the differences `d_k = z_k - z_y` of the other logits: `log(1 + sum_k exp(d_k))`, where one logit has the
/// single difference `-z` or `z`. Its gradient by `d_k` is the probability of class k, so that of the true class's logit is
/// minus their sum; it does not round to 0 as `probability - 1` does. `[batch, 1]`
fn accurate(logits: Tensor<2>, batch: &Batch) -> Tensor<2> {
    let differences = match logits.dims() {
        [_, 1] => signed(logits, batch),
        [size, n_logits] => {
            let labels = batch.labels.iter().map(|&label| label as usize);
            let is_true = labels.flat_map(|label| (0..n_logits).map(move |k| k == label));
            let is_true = TensorData::new(is_true.collect::<Vec<_>>(), [size, n_logits]);
            let is_true = Tensor::<2, Bool>::from_data(is_true, &logits.device());
            (logits.clone() - own(logits, batch)).mask_fill(is_true, f32::MIN)
        }
    }; // [batch, other class]
    // The largest exponent is 0; where the true class is the most probable, that of its own 1.
    let most = differences.clone().max_dim(1).clamp_min(0.0).detach(); // [batch, 1]
    let others = (differences - most.clone()).exp().sum_dim(1); // [batch, 1]
    (most.clone().neg().exp() - 1.0 + others).log1p() + most
}

/// The logit of the true class. `[batch, logit]` to `[batch, 1]`
fn own(logits: Tensor<2>, batch: &Batch) -> Tensor<2> {
    let labels = labels(batch, &logits);
    logits.gather(1, labels)
}

/// The log-odds of the class that is not the true one, from those of class 1. `[batch, 1]`
fn signed(logits: Tensor<2>, batch: &Batch) -> Tensor<2> {
    let targets = targets(batch, &logits);
    logits * (targets * -2.0 + 1.0)
}

/// The labels as indices. `[batch, 1]`
fn labels(batch: &Batch, logits: &Tensor<2>) -> Tensor<2, Int> {
    let labels: Vec<i32> = batch
        .labels
        .iter()
        .map(|label| label.cast_signed())
        .collect();
    Tensor::from_data(TensorData::new(labels, [batch.len(), 1]), &logits.device())
}

/// The labels as probabilities of class 1. `[batch, 1]`
fn targets(batch: &Batch, logits: &Tensor<2>) -> Tensor<2> {
    let labels: Vec<f32> = batch.labels.iter().map(|&label| label as f32).collect();
    Tensor::from_data(TensorData::new(labels, [batch.len(), 1]), &logits.device())
}
