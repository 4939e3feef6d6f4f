//! Where `[CLS]` looks in a run of the page, to stand beside a sweep's seeds.

use headlight_dump::AttentionDump;
use headlight_inspector::OwnRow;

use crate::Failure;
use crate::hash::of_file;
use crate::run_dir::RunDir;
use crate::sweep::SeedAttention;

/// The sweep's own row of the run, where it trained the same weights; else a row over the samples
/// that the run's last dump holds.
pub(super) fn row(
    name: &str,
    last: &AttentionDump,
    run: Option<&RunDir>,
    rows: &[SeedAttention],
) -> Result<OwnRow, Failure> {
    let weights = run.map(|run| run.path().join("model.safetensors"));
    if let Some(path) = weights.filter(|path| path.is_file()) {
        let hash = of_file(&path)?;
        if let Some(row) = rows.iter().find(|row| row.weights_sha256 == hash) {
            return Ok(OwnRow {
                name: name.to_owned(),
                over: format!(
                    "all training samples: the sweep's row of seed {}, whose weights are the same",
                    row.seed
                ),
                positive: row.attention.positive.clone(),
                negative: row.attention.negative.clone(),
            });
        }
    }
    Ok(OwnRow {
        name: name.to_owned(),
        over: "the recorded samples only, at the last step".to_owned(),
        positive: mean(last, true),
        negative: mean(last, false),
    })
}

/// The `[CLS]` row in the last block, mean over heads and over the samples of a class.
fn mean(dump: &AttentionDump, positive: bool) -> Option<Vec<f64>> {
    let dims = dump.dims;
    let is = |&sample: &usize| {
        let label = dump.labels[sample];
        !label.is_nan() && (label > 0.5) == positive
    };
    let samples: Vec<usize> = (0..dims.samples).filter(is).collect();
    let count = samples.len() * dims.heads;
    if count == 0 {
        return None;
    }
    let mut sums = vec![0.0; dims.positions];
    for &sample in &samples {
        let cls = dump.tokens(sample).iter().position(|&token| token == 0);
        let start = cls.unwrap_or(0) * dims.positions;
        for head in 0..dims.heads {
            let weights = dump.weights(sample, dims.layers - 1, head);
            for (sum, &weight) in sums.iter_mut().zip(&weights[start..]) {
                *sum += f64::from(weight);
            }
        }
    }
    Some(sums.into_iter().map(|sum| sum / count as f64).collect())
}
