//! The first and last parameters of each run of a sweep, in a folder beside its results file.
//!
//! A run has a safetensors file `SEED.safetensors`, or `SEED-POINT.safetensors` if the sweep has a grid, in `FILE.weights`. Its
//! tensors are those of a weights file, with `first/` or `last/` before their names. It is written before the run's row, so each row
//! of a model that did not diverge and was added with `--save-weights` has its parameters. All shards of a sweep share the folder.
//!
//! With `training.save_weights`, those of each evaluated step are beside it, in a folder `SEED` or `SEED-POINT`, as those of a run
//! are in its `weights`.

use std::fs;
use std::path::{Path, PathBuf};

use headlight_architecture::Parameter;
use headlight_trainer::files::weights;
use headlight_trainer::training::dump_volume::saved_weights;
use headlight_trainer::{Destination, Failure, Output, note, option, shown};

use crate::plan::Plan;
use crate::recorded_config::name_without_shard;

impl Plan {
    /// Keeps the parameters of each run beside a results file, if they are `wanted` or a config has `training.save_weights`.
    ///
    /// # Errors
    /// When these rows were added without parameters.
    pub fn save_weights(&mut self, results: &Path, wanted: bool) -> Result<(), Failure> {
        let mut points = self.points().iter();
        if !wanted && !points.any(|point| point.config().training.save_weights) {
            return Ok(());
        }
        let folder = results.with_file_name(format!("{}.weights", name_without_shard(results)));
        if fs::metadata(results).is_ok_and(|file| file.len() > 0) && !folder.is_dir() {
            return Err(Failure::Input(format!(
                "{} has rows of runs whose parameters were not kept; choose another {}",
                shown(results),
                option(
                    "--out, or leave out --save-weights",
                    "results file (out=), or leave out save_weights=True"
                )
            )));
        }
        let runs = self.extent();
        // Of one seed: four bytes for each of the first and last parameters, and for each of those that training saves.
        let mut bytes = 0.0;
        for point in self.points() {
            let experiment = point.session(runs.first_seed)?.experiment;
            let parameters = experiment.start.iter().map(|one| one.values.len());
            let ends = 2 * 4 * parameters.sum::<usize>();
            bytes += saved_weights(&experiment).1 + ends as f64;
        }
        let megabytes = bytes * (runs.end - runs.first_seed) as f64 / 1e6;
        if megabytes > 100.0 {
            note(&format!(
                "the sweep writes about {megabytes:.0} MB of weights to {}; to write less, train fewer runs or, with training.save_weights, evaluate at fewer steps",
                shown(&folder)
            ));
        }
        self.weights = Some(folder);
        Ok(())
    }

    /// The file for the parameters of a run, if they are kept.
    pub(crate) fn weights_file(&self, seed: u64, point: usize) -> Option<PathBuf> {
        let name = if self.has_grid() {
            format!("{seed}-{point}.safetensors")
        } else {
            format!("{seed}.safetensors")
        };
        Some(self.weights.as_ref()?.join(name))
    }
}

/// The first and last parameters of a run.
pub(crate) fn first_and_last(first: &[Parameter], last: &[Parameter]) -> Vec<Parameter> {
    let named = |when: &str, parameters: &[Parameter]| -> Vec<Parameter> {
        let parameters = parameters.iter().map(|parameter| Parameter {
            name: format!("{when}/{}", parameter.name),
            ..parameter.clone()
        });
        parameters.collect()
    };
    [named("first", first), named("last", last)].concat()
}

/// Writes parameters, and makes their folder.
pub(crate) fn write(path: PathBuf, parameters: Vec<Parameter>) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    }
    Output::new(&Destination::from(path), true)?.write_all(&weights::encode(parameters)?)
}
