//! The runs of a sweep.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use headlight_data::Splits;
use headlight_experiment::config::toml::Change;
use headlight_experiment::config::{CheckpointConfig, DumpConfig, ExperimentConfig};
use headlight_trainer::devices::OpenDevice;
use headlight_trainer::files::config::{self, with_flags};
use headlight_trainer::files::data_file::is_data;
use headlight_trainer::files::hash::{add_parameters, add_splits};
use headlight_trainer::session::dataset::{dataset_with, note_lost_words};
use headlight_trainer::session::opening::engine_for;
use headlight_trainer::session::opening::open_device;
use headlight_trainer::session::test_sets::with_tests;
use headlight_trainer::{DatasetFiles, Failure, Session, note, option};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::grid::{FOLD, Grid, Seeds, product};
use crate::recorded_config::{Extent, as_changes, changed_text};

/// The change that trains all epochs.
fn no_early_stopping() -> Change<'static> {
    (option("--set", "argument"), "training.patience=0")
}

/// A point of the grid: its config, and the dataset and the device that its runs share.
#[derive(Debug)]
pub struct Point {
    pub(crate) config: Arc<ExperimentConfig>,
    splits: Arc<Splits>,
    device: OpenDevice,
    /// The grid's keys and their values at this point.
    pub values: Vec<(String, Value)>,
}

/// All runs of a sweep.
#[derive(Debug)]
pub struct Plan {
    seeds: Range<u64>,
    points: Vec<Point>,
    /// The hash of everything that rows depend on, except their seed and point.
    pub config_sha256: String,
    /// The config of the first point with all changes, those of the grid too, before its dataset file completes it; in TOML.
    pub(crate) config_text: String,
    /// The folder for the first and last parameters of each run, if they are kept.
    pub(crate) weights: Option<PathBuf>,
}

impl Plan {
    /// Reads the config for each point of the grid, and creates the datasets.
    ///
    /// # Errors
    /// When a config is invalid, or its runs could not start.
    pub fn new(
        path: &Path,
        overrides: &[String],
        seeds: &Seeds,
        grids: &[Grid],
    ) -> Result<Self, Failure> {
        check_changes(overrides, grids)?;
        let files = DatasetFiles::default();
        let (mut points, mut config_text): (Vec<Point>, _) = (Vec::new(), None);
        // The config of a data file would stop early.
        let mut stops_early = is_data(path);
        for values in product(grids)? {
            let grid_changes = as_changes(values.iter().map(|(key, value)| (key, value)));
            let changes = changes_of_point(path, overrides, &values, &grid_changes);
            let mut config = config::load_changed(path, changes.iter().copied(), &files)?;
            let stops = config.training.patience > 0;
            stops_early |= stops;
            if config_text.is_none() {
                let no_stop = stops.then(no_early_stopping);
                let changes = changes.into_iter().chain(no_stop);
                config_text = Some(changed_text(path, changes, &files)?);
            }
            config.training.patience = 0;
            config.compute.engine = engine_for(&config)?;
            points.push(Point {
                splits: splits_of_point(&points, &config, &files)?,
                device: open_device(&config.compute.device)?,
                config: Arc::new(config),
                values,
            });
        }
        if stops_early {
            note("a sweep trains every run to its end; training.patience is not used");
        }
        for point in &points {
            point.session(seeds.0.start)?;
        }
        Ok(Self {
            config_sha256: fingerprint(&points)?,
            config_text: config_text.unwrap_or_default(),
            weights: None,
            seeds: seeds.0.clone(),
            points,
        })
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        let seeds = (self.seeds.end - self.seeds.start) as usize;
        seeds.saturating_mul(self.points.len())
    }

    /// Its seeds and the points of its grid.
    pub(crate) fn extent(&self) -> Extent {
        Extent {
            first_seed: self.seeds.start,
            end: self.seeds.end,
            points: self.points.len(),
        }
    }

    /// Whether the sweep has a grid.
    pub fn has_grid(&self) -> bool {
        !self.points[0].values.is_empty()
    }

    /// The points of the grid; a single one without a grid.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The seed of a run, and the index of its point.
    pub fn seed_and_point(&self, run: usize) -> (u64, usize) {
        let count = self.points.len();
        (self.seeds.start + (run / count) as u64, run % count)
    }
}

impl Point {
    /// Opens the session of a seed.
    ///
    /// # Errors
    /// When the model or a training step would be too large.
    pub fn session(&self, seed: u64) -> Result<Session, Failure> {
        let config = ExperimentConfig {
            seed,
            ..(*self.config).clone()
        };
        Session::with_shared(config, Arc::clone(&self.splits), self.device.clone())
    }

    /// The config. Its seed is to be ignored: each run sets its own.
    pub fn config(&self) -> &ExperimentConfig {
        &self.config
    }
}

/// Refuses keys whose values two arguments give, and the patience that no run of a sweep has.
fn check_changes(overrides: &[String], grids: &[Grid]) -> Result<(), Failure> {
    let (set_flag, grid_flag) = (option("--set", "argument"), option("--grid", "grid:"));
    for change in overrides {
        if let Some(grid) = grids.iter().find(|grid| grid.sets(change)) {
            return Err(Failure::Input(format!(
                "{set_flag} {change}: {} already gives `{}` its values; remove one of the two",
                option("--grid or --folds", "the grid"),
                grid.key
            )));
        }
    }
    if grids.iter().any(|grid| grid.key == "training.patience") {
        return Err(Failure::Input(format!(
            "{grid_flag} training.patience: a sweep trains every run to its end; remove this key"
        )));
    }
    Ok(())
}

/// The changes of the config at a point, each with its flag.
fn changes_of_point<'a>(
    path: &Path,
    overrides: &'a [String],
    values: &[(String, Value)],
    grid_changes: &'a [String],
) -> Vec<Change<'a>> {
    let grid = grid_changes.iter().zip(values).map(|(change, (key, _))| {
        let flag = match &**key {
            FOLD => "--folds",
            _ => option("--grid", "grid:"),
        };
        (flag, change.as_str())
    });
    let all_epochs = is_data(path).then(no_early_stopping);
    let set = all_epochs.into_iter().chain(with_flags(overrides));
    set.chain(grid).collect()
}

/// The dataset of a config: that of an earlier point with the same samples, if there is one.
fn splits_of_point(
    points: &[Point],
    config: &ExperimentConfig,
    files: &DatasetFiles,
) -> Result<Arc<Splits>, Failure> {
    let same = |point: &&Point| {
        let other = &point.config;
        (&other.data, &other.tests) == (&config.data, &config.tests)
    };
    if let Some(point) = points.iter().find(same) {
        return Ok(Arc::clone(&point.splits));
    }
    let splits = dataset_with(config, files)?;
    // One note is enough; other points may lose other words.
    if points.is_empty() {
        note_lost_words(config, &splits);
    }
    Ok(Arc::new(with_tests(config, splits)?))
}

/// The hash of everything that rows depend on, except their seed: version, configs, data.
fn fingerprint(points: &[Point]) -> Result<String, Failure> {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    for (index, point) in points.iter().enumerate() {
        // The paths of files do not matter, their samples and parameters do. A sweep writes no dumps or checkpoints.
        let config = ExperimentConfig {
            seed: 0,
            dump: DumpConfig::default(),
            checkpoint: CheckpointConfig::default(),
            ..(*point.config).clone()
        };
        let mut config = serde_json::to_value(config)
            .map_err(|error| Failure::System(format!("the config cannot be hashed: {error}")))?;
        let forget = |section: &mut Value| section.as_object_mut().map(|keys| keys.remove("file"));
        let tests = config.get_mut("tests").and_then(Value::as_array_mut);
        tests
            .into_iter()
            .flatten()
            .for_each(|test| drop(forget(test)));
        config.get_mut("data").map(forget);
        let training = config.get_mut("training").and_then(Value::as_object_mut);
        let starts = training.is_some_and(|training| training.remove("start").is_some());
        hash.update(json!([config, point.values]).to_string());
        if starts {
            add_parameters(&mut hash, &point.session(0)?.experiment.start);
        }
        // A dataset that an earlier point has too is hashed only once.
        let earlier = points[..index]
            .iter()
            .position(|other| Arc::ptr_eq(&other.splits, &point.splits));
        match earlier {
            Some(earlier) => hash.update((earlier as u64).to_le_bytes()),
            None => add_splits(&mut hash, &point.splits),
        }
    }
    Ok(format!("{:x}", hash.finalize()))
}
