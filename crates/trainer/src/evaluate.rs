//! A model's measurements over a split.

use burn::tensor::{Device, s};
use headlight_data::{Batch, Batches, Dataset, LabelRule};
use headlight_model::TransformerClassifier;

use crate::experiment::token_tensor;
use crate::metrics::{EvalMetrics, Tally};

/// Samples a forward pass.
const BATCH_SIZE: usize = 500;

/// Runs a model without automatic differentiation over all samples; `None` where there are none.
///
/// `rule` says which positions decide a sample's label; without one, attention is not measured.
pub fn evaluate(
    model: &TransformerClassifier,
    dataset: &Dataset,
    rule: Option<&LabelRule>,
    device: &Device,
) -> Option<EvalMetrics> {
    let mut tally = Tally::default();
    for samples in Batches::in_order(dataset, BATCH_SIZE).iter() {
        let batch = Batch::gather(dataset, samples);
        let output = model.forward(token_tensor(&batch, device));
        let logits: Vec<f64> = output.logits.into_data().iter::<f64>().collect();
        for (&sample, logit) in samples.iter().zip(logits) {
            tally.add(logit, dataset.label(sample as usize));
        }
        let Some(rule) = rule else { continue };

        // Mean over blocks and heads of the row of [CLS]. [batch, position]
        let blocks = output.layers.len() as f64;
        let cls_rows = output
            .layers
            .into_iter()
            .map(|layer| layer.attention.weights.slice(s![.., .., 0..1, ..]))
            .map(|row| row.mean_dim(1))
            .reduce(|sum, row| sum + row)?;
        let cls_rows: Vec<f64> = cls_rows.into_data().iter::<f64>().collect();
        let positions = dataset.positions();
        for (&sample, row) in samples.iter().zip(cls_rows.chunks(positions)) {
            let deciding = rule.label_positions(dataset.tokens(sample as usize));
            if deciding.is_empty() {
                continue;
            }
            let paid = deciding.iter().map(|&position| row[position]).sum::<f64>() / blocks;
            let uniform = deciding.len() as f64 / positions as f64;
            tally.add_attention(dataset.label(sample as usize), paid, uniform);
        }
    }
    tally.metrics()
}
