//! The page that compares runs with the seeds of a sweep: the attention of `[CLS]` in each.

use std::path::Path;

use headlight_dump::AttentionDump;
use headlight_inspector::{OwnRow, Page, SeedComparison};
use headlight_sweep::{SeedAttention, attention};
use headlight_trainer::Failure;
use headlight_trainer::hash::file_sha256;
use headlight_trainer::page::{Source, page as build_page};
use headlight_trainer::run_dir::RunDir;
use headlight_trainer::standard::shown;

/// The page of some runs, compared with the rows of a results file.
///
/// # Errors
/// When a file cannot be read, or the runs and the sweep do not belong together.
pub(super) fn page(sources: &[Source], results: &Path) -> Result<Page, Failure> {
    let (rows, failed) = sweep_rows(sources, results)?;
    let mut own = Vec::new();
    let mut page = build_page(sources, |source, name, last| {
        own.push(own_row(name, last, source.run.as_ref(), &rows)?);
        Ok(())
    })?;
    let name = results.file_name().unwrap_or_default().to_string_lossy();
    let rows: Vec<_> = rows.into_iter().map(|row| row.attention).collect();
    page.seeds = SeedComparison::of(name.into_owned(), &rows, failed);
    if let Some(seeds) = &mut page.seeds {
        seeds.own = own;
    }
    Ok(page)
}

/// The sweep's rows with the config of the runs, and the number of its failed runs.
fn sweep_rows(sources: &[Source], results: &Path) -> Result<(Vec<SeedAttention>, usize), Failure> {
    let mut found = None;
    for source in sources {
        let Some(run) = &source.run else {
            return Err(Failure::Input(format!(
                "--sweep {}: {} is a dump, which cannot be compared with a sweep; name a run directory",
                shown(results),
                shown(&source.path)
            )));
        };
        found = Some(attention(results, run)?);
    }
    found.ok_or_else(|| {
        Failure::reading(
            results,
            "there is no run to compare it with; name a run directory",
        )
    })
}

/// The sweep's row with the run's weights, if the sweep has one; otherwise a row of means over the samples of
/// the run's last dump.
fn own_row(
    name: &str,
    last: &AttentionDump,
    run: Option<&RunDir>,
    rows: &[SeedAttention],
) -> Result<OwnRow, Failure> {
    let weights = run.map(|run| run.path().join("model.safetensors"));
    if let Some(path) = weights.filter(|path| path.is_file()) {
        let hash = file_sha256(&path)?;
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
        positive: mean_cls_row(last, true),
        negative: mean_cls_row(last, false),
    })
}

/// The attention of `[CLS]` in the last block, averaged over heads and over the samples of a class;
/// `None` without such samples. `[position]`
fn mean_cls_row(dump: &AttentionDump, positive: bool) -> Option<Vec<f64>> {
    let dims = dump.dims;
    let is_of_class = |&sample: &usize| {
        let label = dump.labels[sample];
        !label.is_nan() && (label > 0.5) == positive
    };
    let samples: Vec<usize> = (0..dims.samples).filter(is_of_class).collect();
    let count = samples.len() * dims.heads;
    if count == 0 {
        return None;
    }
    let mut sums = vec![0.0; dims.positions];
    let start = dump.cls_position() * dims.positions;
    for &sample in &samples {
        for head in 0..dims.heads {
            let weights = dump.weights(sample, dims.layers - 1, head);
            for (sum, &weight) in sums.iter_mut().zip(&weights[start..]) {
                *sum += f64::from(weight);
            }
        }
    }
    Some(sums.into_iter().map(|sum| sum / count as f64).collect())
}
