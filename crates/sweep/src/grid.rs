//! The seeds of a sweep, and its grid: the keys that vary, and their values.

use std::ops::Range;
use std::str::FromStr;

use headlight_input::toml_message::{TOO_LARGE, is_too_large};
use headlight_trainer::{Failure, option};
use serde_json::Value;

/// The key of the fold that a run holds out.
pub(crate) const FOLD: &str = "data.fold";

/// Whether a name is that of a key of a grid, and not of a field of rows.
pub(crate) fn is_grid_key(name: &str) -> bool {
    name.contains('.')
}

/// The most points of a grid.
pub(crate) const POINT_LIMIT: usize = 100_000;

/// The largest seed: that of TOML, so that `headlight train` can repeat each row.
const SEED_LIMIT: u64 = i64::MAX as u64;

/// Seeds `A..B`: from A to B - 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub Range<u64>);

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a range of seeds; write A..B, such as 0..1000");
        let (first, end) = text.split_once("..").ok_or_else(wrong)?;
        let beyond = || format!("`{text}`: the largest seed is {SEED_LIMIT}");
        let number = |text: &str| match text.trim().parse::<u64>() {
            Err(_) if is_too_large(text.trim()) => Err(beyond()),
            number => number.map_err(|_| wrong()),
        };
        let seeds = number(first)?..number(end)?;
        if seeds.start.max(seeds.end.saturating_sub(1)) > SEED_LIMIT {
            return Err(beyond());
        }
        if seeds.is_empty() {
            return Err(format!(
                "`{text}` is an empty range: A..B ends at B - 1; make B larger than A"
            ));
        }
        Ok(Self(seeds))
    }
}

/// A key of the config, and the values that the sweep gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    pub(crate) key: String,
    values: Vec<toml::Value>,
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((key, values)) = text.split_once('=') else {
            return Err(format!(
                "`{text}` is not a grid; write KEY=V1,V2, such as training.learning_rate=1e-3,3e-3"
            ));
        };
        let key = key.trim();
        if key == "seed" {
            let seeds = option("--seeds A..B", "seeds=");
            return Err(format!("a grid cannot vary `seed`; use {seeds}"));
        }
        if !is_grid_key(key) {
            return Err(format!(
                "`{key}` is not a key of a section; write SECTION.KEY, such as model.d_model"
            ));
        }
        let values = match format!("[{values}]").parse::<toml::Value>() {
            Ok(toml::Value::Array(values)) => values,
            _ if values.split(',').any(|word| is_too_large(word.trim())) => {
                return Err(format!("`{text}`: {TOO_LARGE}"));
            }
            // As in `--set`, strings need no quotes.
            _ => words(values).into_iter().map(value).collect(),
        };
        if values.is_empty() {
            return Err(format!("`{text}` names no value; write KEY=V1,V2"));
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

impl Grid {
    /// Whether it decides a value that a change of the config, `KEY=VALUE`, gives too.
    pub(crate) fn sets(&self, change: &str) -> bool {
        change
            .split_once('=')
            .is_some_and(|(key, text)| self.decides(key.trim(), &value(text.trim())))
    }

    fn decides(&self, key: &str, value: &toml::Value) -> bool {
        let inner = key.strip_prefix(&self.key);
        let within = |(name, value): (&String, _)| self.decides(&format!("{key}.{name}"), value);
        inner.is_some_and(|inner| inner.is_empty() || inner.starts_with('.'))
            || value
                .as_table()
                .is_some_and(|table| table.iter().any(within))
    }
}

impl Seeds {
    /// One seed.
    pub fn one(seed: u64) -> Self {
        Self(seed..seed.saturating_add(1))
    }
}

/// The number of parts that the samples of a file are split into, each of which is held out once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folds(usize);

impl Folds {
    /// A change of the config: a fold takes the place of other held-out samples.
    pub const NO_HELD_OUT: &str = "data.held_out=0";

    /// The grid of all folds.
    pub fn grid(self) -> Grid {
        let fold = |index| toml::Value::String(format!("{index}/{}", self.0));
        Grid {
            key: FOLD.to_owned(),
            values: (1..=self.0).map(fold).collect(),
        }
    }
}

impl FromStr for Folds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = text.parse().ok().filter(|count| (2..=1000).contains(count));
        count.map(Self).ok_or_else(|| {
            format!("`{text}` is not a number of folds; write one from 2 to 1000, such as 5")
        })
    }
}

/// The parts of a list of values between commas that are not inside brackets or quotes.
fn words(values: &str) -> Vec<&str> {
    let (mut depth, mut quote) = (0_i32, None);
    let is_comma = |letter: char| {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0 && quote.is_none()
    };
    values.split(is_comma).map(str::trim).collect()
}

/// A word as TOML; as a string, if it is not TOML.
fn value(word: &str) -> toml::Value {
    let parsed = word.parse::<toml::Value>();
    parsed.unwrap_or_else(|_| toml::Value::String(word.to_owned()))
}

/// Every combination of the grids' values, the last grid varying fastest.
pub(crate) fn product(grids: &[Grid]) -> Result<Vec<Vec<(String, Value)>>, Failure> {
    let mut points: Vec<Vec<(String, Value)>> = vec![Vec::new()];
    for (index, grid) in grids.iter().enumerate() {
        if grids[..index].iter().any(|other| other.key == grid.key) {
            return Err(Failure::Input(format!(
                "{} names `{}` twice",
                option("--grid", "grid"),
                grid.key
            )));
        }
        if points.len().saturating_mul(grid.values.len()) > POINT_LIMIT {
            return Err(Failure::Input(format!(
                "the grid has more than {POINT_LIMIT} points; sweep it in parts"
            )));
        }
        let json = |value| serde_json::to_value(value).unwrap_or_default();
        let values: Vec<Value> = grid.values.iter().map(json).collect();
        let extend = |point: &Vec<(String, Value)>, value: &Value| {
            let mut point = point.clone();
            point.push((grid.key.clone(), value.clone()));
            point
        };
        points = points
            .iter()
            .flat_map(|point| values.iter().map(|value| extend(point, value)))
            .collect();
    }
    Ok(points)
}
