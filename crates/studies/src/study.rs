//! What a study is: sweeps, and a page of their rows.

use crate::page::Page;
use crate::rows::Rows;

/// A published study.
#[derive(Debug)]
pub struct Study {
    /// Its name on the command line, and of its folder in `studies`.
    pub name: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// Where it was published, as a sentence without its full stop.
    pub source: &'static str,
    /// Its sweeps.
    pub parts: &'static [Part],
    /// The page of the rows of its parts.
    pub page: fn(&[Rows]) -> Page,
}

/// A sweep of a study.
#[derive(Debug)]
pub struct Part {
    /// Its name, and that of its results file.
    pub name: &'static str,
    /// The config, in TOML.
    pub config: &'static str,
    /// Changes of the config, as in `--set`.
    pub changes: &'static [&'static str],
    /// The grid, as in `--grid`.
    pub grid: &'static [&'static str],
    /// The seeds of the whole plan, from 0.
    pub seeds: u64,
    /// Those of the quick one, which are the first of them. 0 leaves the part out.
    pub quick: u64,
    /// Seconds of processor time per run, measured on the machine of EXPERIMENTS.md, whose step of the notebook takes 1.5 µs.
    pub seconds: f64,
    /// The fields of rows that the page is made of.
    pub fields: &'static [&'static str],
}

impl Part {
    /// How many seeds are trained.
    pub fn seeds(&self, quick: bool) -> u64 {
        if quick { self.quick } else { self.seeds }
    }

    /// The number of runs.
    pub fn runs(&self, quick: bool) -> u64 {
        let points = self.grid.iter().map(|grid| grid.split(',').count() as u64);
        self.seeds(quick) * points.product::<u64>()
    }
}

impl Study {
    /// Seconds of all runs on one core of the machine of [`Part::seconds`].
    pub fn seconds(&self, quick: bool) -> f64 {
        let parts = self.parts.iter();
        parts
            .map(|part| part.seconds * part.runs(quick) as f64)
            .sum()
    }
}
