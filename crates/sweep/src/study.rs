//! Studies: several sweeps for one question, as a `plan.toml` lists them.

use std::collections::BTreeSet;
use std::path::Path;

use headlight_input::TEXT_LIMIT;
use headlight_input::toml_message::{Unknown, line_and_column, plain};
use headlight_trainer::files::access::read_text;
use headlight_trainer::files::built_in;
use headlight_trainer::files::config;
use headlight_trainer::{DatasetFiles, Failure, shown};
use serde::Deserialize;

use crate::grid::{Grid, Seeds, product};
use crate::plan::Plan;
use crate::recorded_config::as_changes;

/// A study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name, and that of the folder for its results.
    pub name: String,
    /// What it asks.
    pub question: String,
    /// Where it was published, as a sentence without its full stop.
    #[serde(default)]
    pub source: String,
    /// Its sweeps.
    #[serde(rename = "part")]
    pub parts: Vec<StudyPart>,
}

/// A sweep of a study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyPart {
    /// Its name, and that of its results file.
    pub name: String,
    /// The config: a file beside the plan, or a built-in config.
    pub config: String,
    /// Changes of the config, as in `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// The grid, as in `--grid`.
    #[serde(default)]
    pub grid: Vec<String>,
    /// The seeds are those from 0 up to this number.
    pub seeds: u64,
    /// The number of seeds of `--quick`, which are the first ones. 0 leaves the part out.
    #[serde(default)]
    pub quick: u64,
    /// Seconds of processor time per run, on a machine whose step of the notebook takes 1.5 µs.
    #[serde(default)]
    pub seconds: f64,
    /// The config's text.
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    grids: Vec<Grid>,
    /// The number of points of the grid.
    #[serde(skip)]
    points: usize,
}

/// A study of the repository: its name, its plan, and the configs beside it.
type BuiltIn = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

macro_rules! studies {
    ($($name:literal: $($config:literal)*;)*) => {
        [$((
            $name,
            include_str!(concat!("../../../studies/", $name, "/plan.toml")),
            &[$(($config, include_str!(concat!("../../../studies/", $name, "/", $config)))),*],
        )),*]
    };
}

static STUDIES: [BuiltIn; 7] = studies!(
    "max-of-four": "seeds.toml";
    "clock-and-pizza": "small.toml" "published.toml";
    "brackets": "models.toml";
    "first": "lengths.toml";
    "explanation":;
    "second-way": "seeds.toml";
    "every-input": "seeds.toml";
);

impl Study {
    /// The studies of the repository.
    ///
    /// # Errors
    /// When a plan is invalid.
    pub fn all() -> Result<Vec<Self>, Failure> {
        let names = STUDIES.iter().map(|(name, ..)| Self::find(Path::new(name)));
        names.collect()
    }

    /// The study of a plan file, or of a name.
    ///
    /// # Errors
    /// When there is none, or its plan is invalid.
    pub fn find(path: &Path) -> Result<Self, Failure> {
        let published = STUDIES.iter().find(|(name, ..)| path == Path::new(name));
        if let Some((name, plan, configs)) = published {
            return Self::parse(&format!("studies/{name}/plan.toml"), plan, |config| {
                let found = configs.iter().find(|(name, _)| *name == config);
                found.map(|(_, text)| Ok((*text).to_owned()))
            });
        }
        if !path.is_file() && path.extension().is_none() {
            let names: Vec<&str> = STUDIES.iter().map(|(name, ..)| *name).collect();
            return Err(Failure::Input(format!(
                "there is no study `{}`; the studies are {}; or name a plan, a TOML file",
                shown(path),
                names.join(", ")
            )));
        }
        let text = read_text(path, TEXT_LIMIT)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&shown(path), &text, |config| {
            let config = folder.join(config);
            config.is_file().then(|| read_text(&config, TEXT_LIMIT))
        })
    }

    /// Reads a plan. `file` gives the text of a config beside it.
    fn parse(
        plan: &str,
        text: &str,
        file: impl Fn(&str) -> Option<Result<String, Failure>>,
    ) -> Result<Self, Failure> {
        let mut study: Self = toml::from_str(text).map_err(|error| {
            let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
            let message = match Unknown::parse(error.message()) {
                Some(unknown) => {
                    let suggestion = unknown.suggestion("the keys there are");
                    format!("unknown key `{}`{suggestion}", unknown.name)
                }
                None => plain(error.message()),
            };
            Failure::Input(format!("{plan}:{line}:{column}: {message}"))
        })?;
        let mut names = BTreeSet::new();
        check_name(&study.name).map_err(|why| Failure::Input(format!("{plan}: name {why}")))?;
        for part in &mut study.parts {
            let name = part.name.clone();
            let checked = match file(&part.config).transpose()? {
                _ if names.contains(&name) => Err("two parts have this name".to_owned()),
                text => part.complete(text),
            };
            checked.map_err(|why| {
                Failure::Input(format!("{plan}: part `{}`: {why}", name.escape_debug()))
            })?;
            names.insert(name);
        }
        if study.parts.is_empty() {
            return Err(Failure::Input(format!("{plan}: it has no part")));
        }
        Ok(study)
    }

    /// Seconds of all runs on one core of the machine of [`StudyPart::seconds`].
    pub fn seconds(&self, quick: bool) -> f64 {
        let parts = self.parts.iter();
        parts
            .map(|part| part.seconds * part.runs(quick) as f64)
            .sum()
    }
}

impl StudyPart {
    /// Checks a part, and reads its grid and its config: this text beside the plan, or a built-in config.
    fn complete(&mut self, text: Option<String>) -> Result<(), String> {
        check_name(&self.name).map_err(|why| format!("name {why}"))?;
        if self.seeds == 0 || self.quick > self.seeds {
            return Err("seeds must be 1 or more, and quick at most as many".to_owned());
        }
        if !(self.seconds.is_finite() && self.seconds >= 0.0) {
            return Err("seconds must be 0 or more".to_owned());
        }
        let mut known = built_in::CONFIGS.iter();
        let known = known.find(|config| config.name == self.config);
        let text = text.or_else(|| known.map(|config| config.content.to_owned()));
        self.text = text.ok_or_else(|| {
            format!(
                "there is no config `{}`, neither as a file beside the plan nor built in",
                self.config
            )
        })?;
        let grids = self.grid.iter().map(|grid| grid.parse());
        self.grids = grids.collect::<Result<_, String>>()?;
        let points = product(&self.grids).map_err(|failure| failure.to_string())?;
        self.points = points.len();
        for point in points {
            let changes = as_changes(point.iter().map(|(key, value)| (key, value)));
            let set = self.set.iter().map(|change| ("set", change.as_str()));
            let grid = changes.iter().map(|change| ("grid", change.as_str()));
            let (name, files) = (Path::new(&self.config), DatasetFiles::default());
            config::parse(name, &self.text, set.chain(grid), &files)
                .map_err(|failure| failure.to_string())?;
        }
        Ok(())
    }

    /// The config's text.
    pub fn config_text(&self) -> &str {
        &self.text
    }

    /// The number of runs.
    pub fn runs(&self, quick: bool) -> usize {
        (self.seeds(quick) as usize).saturating_mul(self.points)
    }

    /// The sweep. `config` is a file with [`config_text`](Self::config_text).
    ///
    /// # Errors
    /// When a run could not start.
    pub fn plan(&self, config: &Path, quick: bool) -> Result<Plan, Failure> {
        Plan::new(config, &self.set, &Seeds(0..self.seeds(quick)), &self.grids)
    }

    fn seeds(&self, quick: bool) -> u64 {
        if quick { self.quick } else { self.seeds }
    }
}

/// Refuses what cannot be the name of a file everywhere.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!(
        "`{}` must consist of letters, digits, `-`, `_` and `.`, and begin with a letter or a digit",
        name.escape_debug()
    ))
}
