//! The first and last parameters of each run of a sweep, in a folder beside its results file.
//!
//! A run has a safetensors file `SEED.safetensors`, or `SEED-POINT.safetensors` if the sweep has a grid, in `FILE.weights`. Its
//! tensors are those of a weights file, with `first/` or `last/` before their names. It is written before the run's row, so each row
//! that was added with `--save-weights` has its parameters. All shards of a sweep share the folder.
//!
//! With `training.save_weights`, those of each evaluated step are beside it, in a folder `SEED` or `SEED-POINT`, as those of a run
//! are in its `weights`.

use std::fs;
use std::path::{Path, PathBuf};

use headlight_architecture::Parameter;
use headlight_trainer::Failure;
use headlight_trainer::notes::note;
use headlight_trainer::sessions::dump_volume::saved_weights;
use headlight_trainer::storage::outputs::{Destination, Output};
use headlight_trainer::storage::standard::shown;
use headlight_trainer::storage::weights;

use crate::origin::whole;
use crate::plan::Plan;

impl Plan {
    /// Keeps the parameters of each run beside a results file, if they are `wanted` or a config has `training.save_weights`.
    ///
    /// # Errors
    /// When these rows were added without parameters, or the folder cannot be made.
    pub fn save_weights(&mut self, results: &Path, wanted: bool) -> Result<(), Failure> {
        let mut points = self.points().iter();
        if !wanted && !points.any(|point| point.config().training.save_weights) {
            return Ok(());
        }
        let folder = results.with_file_name(format!("{}.weights", whole(results)));
        if fs::metadata(results).is_ok_and(|file| file.len() > 0) && !folder.is_dir() {
            return Err(Failure::Input(format!(
                "--save-weights: {} has rows of runs whose parameters were not kept; choose another --out",
                shown(results)
            )));
        }
        fs::create_dir_all(&folder).map_err(|error| Failure::writing(&folder, &error))?;
        let session = self.points()[0].session(self.place(0).0)?;
        let (_, bytes) = saved_weights(&session.experiment);
        let megabytes = bytes * self.runs() as f64 / 1e6;
        if megabytes > 100.0 {
            note(&format!(
                "the sweep writes about {megabytes:.0} MB of weights to {}; to write less, evaluate at fewer steps",
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

/// The file for the parameters after a step; `run` is that for the first and last ones.
pub(crate) fn at_step(run: &Path, step: usize) -> Result<PathBuf, Failure> {
    let folder = run.with_extension("");
    fs::create_dir_all(&folder).map_err(|error| Failure::writing(&folder, &error))?;
    Ok(folder.join(format!("step-{step:06}.safetensors")))
}

/// Writes the first and last parameters of a run.
pub(crate) fn write_ends(
    path: &Path,
    first: &[Parameter],
    last: &[Parameter],
) -> Result<(), Failure> {
    let named = |when: &str, parameters: &[Parameter]| -> Vec<Parameter> {
        let parameters = parameters.iter().map(|parameter| Parameter {
            name: format!("{when}/{}", parameter.name),
            ..parameter.clone()
        });
        parameters.collect()
    };
    let both = [named("first", first), named("last", last)].concat();
    write(path, both)
}

/// Writes parameters.
pub(crate) fn write(path: &Path, parameters: Vec<Parameter>) -> Result<(), Failure> {
    let path = Destination::from(path.to_owned());
    Output::new(&path, true)?.write_all(&weights::encode(parameters)?)
}
