//! A model's measurements over a split.

use burn::tensor::{Device, s};
use headlight_data::{Batch, Batches, Dataset};
use headlight_model::TransformerClassifier;

use crate::config::ExperimentConfig;
use crate::experiment::{samples_at_once, token_tensor};
use crate::metrics::{EvalMetrics, Tally};

/// Runs a model without automatic differentiation over all samples; `None` where there are none.
///
/// The config's rule says which positions decide a sample's label; without one, attention is not
/// measured.
pub fn evaluate(
    model: &TransformerClassifier,
    dataset: &Dataset,
    config: &ExperimentConfig,
    device: &Device,
) -> Option<EvalMetrics> {
    let mut tally = Tally::default();
    for samples in Batches::in_order(dataset, samples_at_once(config)).iter() {
        let batch = Batch::gather(dataset, samples);
        let output = model.forward(token_tensor(&batch, device));
        let logits: Vec<f64> = output.logits.into_data().iter::<f64>().collect();
        for (&sample, logit) in samples.iter().zip(logits) {
            tally.add(logit, dataset.label(sample as usize));
        }
        let Some(rule) = &config.data.rule else {
            continue;
        };

        // Mean over the heads of the last block, whose [CLS] the classifier reads. [batch, position]
        let Some(last) = output.layers.last() else {
            continue;
        };
        let weights = last.attention.weights.clone();
        let cls_rows = weights.slice(s![.., .., 0..1, ..]).mean_dim(1);
        let cls_rows: Vec<f64> = cls_rows.into_data().iter::<f64>().collect();
        let positions = dataset.positions();
        for (&sample, row) in samples.iter().zip(cls_rows.chunks(positions)) {
            let deciding = rule.label_positions(dataset.tokens(sample as usize));
            if deciding.is_empty() {
                continue;
            }
            let paid = deciding.iter().map(|&position| row[position]).sum::<f64>();
            let uniform = deciding.len() as f64 / positions as f64;
            tally.add_attention(dataset.label(sample as usize), paid, uniform);
        }
    }
    tally.metrics()
}
