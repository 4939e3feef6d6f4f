//! The page that compares runs with the seeds of a sweep: the attention of the position that the class is read from in each.

use std::collections::BTreeMap;
use std::path::Path;

use headlight_dump::AttentionDump;
use headlight_inspector::{OwnRow, Page, SeedRow};
use headlight_sweep::attention;
use headlight_trainer::Failure;
use headlight_trainer::documents::page::{Source, page as build_page};
use headlight_trainer::storage::hash::file_sha256;
use headlight_trainer::storage::run_dir::RunDir;
use headlight_trainer::storage::standard::shown;

/// The page of some runs, compared with the rows of a results file.
///
/// # Errors
/// When a file cannot be read, or the runs and the sweep do not belong together.
pub(super) fn page(sources: &[Source], results: &Path) -> Result<Page, Failure> {
    let runs = runs(sources, results)?;
    let hashes = runs.iter().filter_map(|run| weights(run).transpose());
    let seeds = attention(results, &runs, &hashes.collect::<Result<_, _>>()?)?;
    let (mut own, mut is_fresh) = (Vec::new(), false);
    let mut page = build_page(sources, |source, name, last| {
        is_fresh |= shows_held_out(last);
        own.push(own_row(name, last, source.run.as_ref(), &seeds.found)?);
        Ok(())
    })?;
    let name = results.file_name().unwrap_or_default().to_string_lossy();
    page.seeds = seeds.figures.compare(name.into_owned(), seeds.failed);
    if let Some(seeds) = &mut page.seeds {
        seeds.own = own;
        seeds.over = is_fresh.then_some("held-out");
    }
    Ok(page)
}

/// The runs to compare with a sweep.
fn runs<'a>(sources: &'a [Source], results: &Path) -> Result<Vec<&'a RunDir>, Failure> {
    let run = |source: &'a Source| {
        source.run.as_ref().ok_or_else(|| {
            Failure::Input(format!(
                "--sweep {}: {} is a dump, which cannot be compared with a sweep; name a run directory",
                shown(results),
                shown(&source.path)
            ))
        })
    };
    sources.iter().map(run).collect()
}

/// Whether the rows and dumps of a run are of held-out samples, since each step drew its own to train on.
fn shows_held_out(dump: &AttentionDump) -> bool {
    dump.meta.config["data"]["samples"] == "fresh"
}

/// The hash of a run's weights, if it has some.
fn weights(run: &RunDir) -> Result<Option<String>, Failure> {
    let path = run.weights_path();
    path.is_file().then(|| file_sha256(&path)).transpose()
}

/// The sweep's row with the run's weights, if the sweep has one; otherwise a row of means over the samples of
/// the run's last dump.
fn own_row(
    name: &str,
    last: &AttentionDump,
    run: Option<&RunDir>,
    found: &BTreeMap<String, (u64, SeedRow)>,
) -> Result<OwnRow, Failure> {
    let hash = run.map(weights).transpose()?.flatten();
    if let Some((seed, row)) = hash.and_then(|hash| found.get(&hash)) {
        return Ok(OwnRow {
            name: name.to_owned(),
            over: format!(
                "all {} samples: the sweep's row of seed {seed}, whose weights are the same",
                if shows_held_out(last) {
                    "held-out"
                } else {
                    "training"
                }
            ),
            positive: row.positive.clone(),
            negative: row.negative.clone(),
        });
    }
    Ok(OwnRow {
        name: name.to_owned(),
        over: "the recorded samples only, at the last step".to_owned(),
        positive: mean_row(last, true),
        negative: mean_row(last, false),
    })
}

/// The attention of the position that the class is read from in the last block, averaged over heads and over the samples of a class;
/// `None` without such samples. `[position]`
fn mean_row(dump: &AttentionDump, positive: bool) -> Option<Vec<f64>> {
    let dims = dump.dims;
    let is_of_class = |&sample: &usize| {
        let label = dump.label(sample);
        !label.is_nan() && (label > 0.5) == positive
    };
    let samples: Vec<usize> = (0..dims.samples).filter(is_of_class).collect();
    let count = samples.len() * dims.heads;
    if count == 0 {
        return None;
    }
    let mut sums = vec![0.0; dims.positions];
    for &sample in &samples {
        let start = dump.shown_position(sample) * dims.positions;
        for head in 0..dims.heads {
            let weights = dump.weights(sample, dims.layers - 1, head);
            for (sum, &weight) in sums.iter_mut().zip(&weights[start..]) {
                *sum += f64::from(weight);
            }
        }
    }
    Some(sums.into_iter().map(|sum| sum / count as f64).collect())
}
