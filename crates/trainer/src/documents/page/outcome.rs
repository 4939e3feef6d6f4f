//! The outcome of a run that was trained earlier.

use std::sync::Arc;

use headlight_data::Source;
use headlight_experiment::Experiment;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::outcome::Outcome;

use crate::sessions::inputs::inputs_sha256;
use crate::sessions::resume::CHECKPOINT_LIMIT;
use crate::sessions::session::dataset;
use crate::sessions::test_sets::with_tests;
use crate::storage::run_dir::RunDir;

/// What came of a run, for the model that is used. `None` if it has no weights, or if its samples are gone or have changed
/// since: a run directory has no copy of a dataset file, so its checkpoint tells whether the file still holds them.
pub(super) fn of_run(run: &RunDir, config: &ExperimentConfig) -> Option<Outcome> {
    if !run.has_weights() {
        return None;
    }
    let splits = dataset(config).and_then(|splits| with_tests(config, splits));
    let splits = Arc::new(splits.ok()?);
    let checkpoint = run.checkpoint(CHECKPOINT_LIMIT).ok().flatten();
    if matches!(config.data.source, Source::File(_)) {
        let experiment = Experiment::new(config.clone(), splits.clone(), None).ok()?;
        if inputs_sha256(&experiment) != checkpoint.as_ref()?.counters.inputs_sha256 {
            return None;
        }
    }
    let best = checkpoint.and_then(|checkpoint| checkpoint.best);
    let metrics = run.step_metrics().ok()?;
    Outcome::of(config, &splits, &metrics, best.map(|best| best.step))
}
