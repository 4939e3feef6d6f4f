//! Which runs a sweep has.

use std::env;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use headlight_data::Splits;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::config::{self, DumpConfig, ExperimentConfig};
use crate::devices::OpenDevice;
use crate::experiment::{self, Experiment};

/// The most points of a grid.
const POINT_LIMIT: usize = 100_000;

/// Seeds `A..B`: from A up to, but without, B.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub Range<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no range of seeds; write A..B, such as 0..1000");
        let (first, end) = text.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let seeds = number(first)?..number(end)?;
        if seeds.is_empty() {
            return Err(format!("`{text}` holds no seed; B of A..B is left out"));
        }
        Ok(Self(seeds))
    }
}

/// One of `count` parts of a sweep, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no shard; write I/N with I from 1 to N, such as 1/7");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (index, count) = (number(index)?, number(count)?);
        if index == 0 || index > count {
            return Err(wrong());
        }
        Ok(Self { index, count })
    }
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// The shard that is asked for, or that of this task of a Slurm job array.
    ///
    /// # Errors
    /// When Slurm's variables make no sense, or contradict what is asked for.
    pub fn choose(asked: Option<Self>) -> Result<Self, Failure> {
        let task = Self::of_slurm(|name| env::var(name).ok())?;
        match (asked, task) {
            (Some(asked), Some(task)) if asked != task => Err(Failure::Input(format!(
                "--shard {}/{} contradicts SLURM_ARRAY_TASK_ID, which makes this shard {}/{}; \
                 drop --shard, or unset the variable",
                asked.index, asked.count, task.index, task.count
            ))),
            (Some(shard), _) | (None, Some(shard)) => Ok(shard),
            (None, None) => Ok(Self::WHOLE),
        }
    }

    /// Slurm numbers the tasks of an array from MIN in steps of STEP.
    fn of_slurm(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Failure> {
        let number = |name: &str, default: Option<usize>| -> Result<usize, Failure> {
            let name = format!("SLURM_ARRAY_TASK_{name}");
            match (variable(&name), default) {
                (Some(text), _) => text.trim().parse().map_err(|_| {
                    Failure::Input(format!("{name} is `{text}`, which is no whole number"))
                }),
                (None, Some(default)) => Ok(default),
                (None, None) => Err(Failure::Input(format!(
                    "SLURM_ARRAY_TASK_ID is set but {name} is not; pass --shard I/N"
                ))),
            }
        };
        if variable("SLURM_ARRAY_TASK_ID").is_none() {
            return Ok(None);
        }
        let (id, count) = (number("ID", None)?, number("COUNT", None)?);
        let (min, step) = (number("MIN", Some(0))?, number("STEP", Some(1))?);
        let place = id
            .checked_sub(min)
            .filter(|_| step > 0)
            .filter(|offset| offset.is_multiple_of(step))
            .map(|offset| offset / step);
        match place {
            Some(place) if place < count => Ok(Some(Self {
                index: place + 1,
                count,
            })),
            _ => Err(Failure::Input(format!(
                "SLURM_ARRAY_TASK_ID is {id}, which is no task of an array of {count} that starts at {min} \
                 in steps of {step}; pass --shard I/N"
            ))),
        }
    }

    /// The runs of this shard, of `runs` in all: parts side by side, of sizes that differ by one at
    /// the most.
    pub fn runs(self, runs: usize) -> Range<usize> {
        let start = |index: usize| (runs as u128 * index as u128 / self.count as u128) as usize;
        start(self.index - 1)..start(self.index)
    }
}

/// A key of the config, and the values that it is to have, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    key: String,
    values: Vec<toml::Value>,
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((key, values)) = text.split_once('=') else {
            return Err(format!(
                "`{text}` is no grid; write KEY=V1,V2, such as training.learning_rate=1e-3,3e-3"
            ));
        };
        let key = key.trim();
        if key == "seed" {
            return Err("seeds are what --seeds is for".to_owned());
        }
        if !key.contains('.') {
            return Err(format!(
                "`{key}` is no key of a section; write SECTION.KEY, such as model.d_model"
            ));
        }
        let parsed = format!("values = [{values}]")
            .parse::<toml::Table>()
            .ok()
            .and_then(|mut table| table.remove("values"));
        let values = match parsed {
            Some(toml::Value::Array(values)) => values,
            // Words without quotes, as in `--set`.
            _ => values
                .split(',')
                .map(|word| toml::Value::String(word.trim().to_owned()))
                .collect(),
        };
        if values.is_empty() {
            return Err(format!("`{text}` names no value"));
        }
        for (index, value) in values.iter().enumerate() {
            if values[..index].contains(value) {
                return Err(format!("`{text}` names {value} twice"));
            }
        }
        Ok(Self {
            key: key.to_owned(),
            values,
        })
    }
}

/// A config of the grid, with what its runs share.
#[derive(Debug)]
pub struct Point {
    config: ExperimentConfig,
    splits: Arc<Splits>,
    device: OpenDevice,
    /// The grid's keys and their values here.
    pub values: Vec<(String, Value)>,
}

/// All runs of a sweep.
#[derive(Debug)]
pub struct Plan {
    seeds: Range<u64>,
    points: Vec<Point>,
    /// Of all that rows depend on besides their seed and point.
    pub config_sha256: String,
}

impl Plan {
    /// Reads the config, once for each point of the grid, and makes the datasets.
    ///
    /// # Errors
    /// When a config is wrong, or a run of it could not even begin.
    pub fn new(
        path: &Path,
        overrides: &[String],
        seeds: &Seeds,
        grids: &[Grid],
    ) -> Result<Self, Failure> {
        let mut points: Vec<Point> = Vec::new();
        for values in product(grids)? {
            let mut all = overrides.to_vec();
            all.extend(values.iter().map(|(key, value)| format!("{key}={value}")));
            let mut config = config::load(path, &all)?;
            if config.reference.is_some() {
                return Err(Failure::Input(format!(
                    "{}: a recorded run (`reference`) has its own weights and batches, so there is nothing \
                     for seeds to vary; choose another config",
                    path.display()
                )));
            }
            config.compute.engine = config.compute.engine.resolve(&config)?;
            let splits = match points.iter().find(|point| point.config.data == config.data) {
                Some(point) => Arc::clone(&point.splits),
                None => Arc::new(experiment::dataset(&config)?),
            };
            let device = config.compute.device.open()?;
            let json = |value: &toml::Value| serde_json::to_value(value).unwrap_or_default();
            points.push(Point {
                config,
                splits,
                device,
                values: values
                    .iter()
                    .map(|(key, value)| (key.clone(), json(value)))
                    .collect(),
            });
        }
        for point in &points {
            point.experiment(seeds.0.start)?;
        }
        Ok(Self {
            config_sha256: fingerprint(&points)?,
            seeds: seeds.0.clone(),
            points,
        })
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        let seeds = (self.seeds.end - self.seeds.start) as usize;
        seeds.saturating_mul(self.points.len())
    }

    /// Whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether runs differ in more than their seed.
    pub fn has_grid(&self) -> bool {
        !self.points[0].values.is_empty()
    }

    /// The points of the grid; one where there is no grid.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The seed of a run, and the index of its point.
    pub fn place(&self, run: usize) -> (u64, usize) {
        let count = self.points.len();
        (self.seeds.start + (run / count) as u64, run % count)
    }
}

impl Point {
    /// The experiment of a seed.
    ///
    /// # Errors
    /// When the model or its training would be too large.
    pub fn experiment(&self, seed: u64) -> Result<Experiment, Failure> {
        let config = ExperimentConfig {
            seed,
            ..self.config.clone()
        };
        Experiment::with(config, Arc::clone(&self.splits), self.device.clone())
    }

    /// The config, but for its seed.
    pub fn config(&self) -> &ExperimentConfig {
        &self.config
    }
}

/// Every combination of the grids' values, the last grid varying fastest.
fn product(grids: &[Grid]) -> Result<Vec<Vec<(String, toml::Value)>>, Failure> {
    let mut points: Vec<Vec<(String, toml::Value)>> = vec![Vec::new()];
    for (index, grid) in grids.iter().enumerate() {
        if grids[..index].iter().any(|other| other.key == grid.key) {
            return Err(Failure::Input(format!("--grid names `{}` twice", grid.key)));
        }
        if points.len().saturating_mul(grid.values.len()) > POINT_LIMIT {
            return Err(Failure::Input(format!(
                "the grid has more than {POINT_LIMIT} points; sweep it in parts"
            )));
        }
        let with = |point: &Vec<(String, toml::Value)>, value: &toml::Value| {
            let mut point = point.clone();
            point.push((grid.key.clone(), value.clone()));
            point
        };
        points = points
            .iter()
            .flat_map(|point| grid.values.iter().map(|value| with(point, value)))
            .collect();
    }
    Ok(points)
}

/// A hash of all that the rows of a sweep depend on besides their seed: version, configs, data.
fn fingerprint(points: &[Point]) -> Result<String, Failure> {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    for (index, point) in points.iter().enumerate() {
        // Where a dataset file lies is no matter, what is in it is; dumps are not made.
        let config = ExperimentConfig {
            seed: 0,
            dump: DumpConfig::default(),
            ..point.config.clone()
        };
        let mut config = serde_json::to_value(config)
            .map_err(|error| Failure::System(format!("the config cannot be hashed: {error}")))?;
        if let Some(data) = config.get_mut("data").and_then(Value::as_object_mut) {
            data.remove("file");
        }
        hash.update(json!([config, point.values]).to_string());
        // Points with a dataset that an earlier one has too need not hash it again.
        let earlier = points[..index]
            .iter()
            .position(|other| Arc::ptr_eq(&other.splits, &point.splits));
        match earlier {
            Some(earlier) => hash.update((earlier as u64).to_le_bytes()),
            None => {
                for split in [&point.splits.train, &point.splits.held_out] {
                    hash.update((split.len() as u64).to_le_bytes());
                    for token in split.all_tokens() {
                        hash.update(token.to_le_bytes());
                    }
                    for &label in split.labels() {
                        hash.update([u8::from(label)]);
                    }
                }
            }
        }
    }
    Ok(hex(&hash.finalize()))
}

/// Bytes in lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn slurm(
        id: &str,
        count: &str,
        min: Option<&str>,
        step: Option<&str>,
    ) -> Result<Option<Shard>, String> {
        let variables = [
            ("ID", Some(id)),
            ("COUNT", Some(count)),
            ("MIN", min),
            ("STEP", step),
        ];
        let variable = |name: &str| {
            let wanted = name.strip_prefix("SLURM_ARRAY_TASK_")?;
            let (_, value) = variables.iter().find(|(name, _)| *name == wanted)?;
            value.map(str::to_owned)
        };
        Shard::of_slurm(variable).map_err(|failure| failure.to_string())
    }

    #[test]
    fn shards_cover_every_run_once() {
        for runs in [0, 1, 6, 7, 200, 1003] {
            let of = |index| Shard { index, count: 7 }.runs(runs);
            let all: Vec<usize> = (1..=7).flat_map(of).collect();
            assert_eq!(all, (0..runs).collect::<Vec<_>>());
        }
    }

    #[test]
    fn tasks_of_a_slurm_array_are_shards() {
        assert_eq!(Shard::of_slurm(|_| None).unwrap(), None);
        let shard = |index, count| Ok(Some(Shard { index, count }));
        assert_eq!(slurm("0", "4", None, None), shard(1, 4));
        assert_eq!(slurm("3", "4", Some("1"), Some("1")), shard(3, 4));
        // --array=10-30:10
        assert_eq!(slurm("30", "3", Some("10"), Some("10")), shard(3, 3));
        for (id, count, min, step) in [
            ("4", "4", None, None),
            ("15", "3", Some("10"), Some("10")),
            ("1", "4", Some("2"), None),
        ] {
            let message = slurm(id, count, min, step).unwrap_err();
            assert!(message.contains("no task of an array"), "{message}");
        }
        assert!(
            slurm("x", "4", None, None)
                .unwrap_err()
                .contains("no whole number")
        );
    }

    #[test]
    fn grids_read_numbers_words_and_lists() {
        let values = |text: &str| text.parse::<Grid>().unwrap().values;
        assert_eq!(values("training.learning_rate=1e-3, 3e-3").len(), 2);
        assert_eq!(values("model.d_model=4,8,16")[2], toml::Value::Integer(16));
        assert_eq!(
            values("training.token_second_moment=per-token,per-occurrence")[0].as_str(),
            Some("per-token")
        );
        assert_eq!(
            values("data.rule={ kind = \"token-anywhere\", token = 1 }").len(),
            1
        );
        for (text, part) in [
            ("seed=1,2", "--seeds"),
            ("model.d_model", "KEY=V1,V2"),
            ("model.d_model=4,4", "twice"),
            ("d_model=4", "SECTION.KEY"),
            ("model.d_model=", "names no value"),
        ] {
            let message = text.parse::<Grid>().unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn seeds_are_half_open() {
        assert_eq!("3..5".parse::<Seeds>().unwrap().0, 3..5);
        for text in ["3", "3..3", "5..3", "a..b", "-1..4"] {
            assert!(text.parse::<Seeds>().is_err(), "{text}");
        }
    }
}
