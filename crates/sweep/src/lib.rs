//! Many runs of one experiment: a range of seeds, and a grid over keys of the config.
//!
//! A [`Plan`] numbers the runs by seed, and within each seed by point of the grid, so that more seeds can be
//! added later without renumbering earlier runs. A run gives a [`Row`]. [`work`]
//! does runs on several threads and passes their results on in order. [`Results`] is the file that rows are
//! written to: its bytes depend only on the plan. [`merge`] joins the files of shards. A [`Summary`] holds the tables
//! and plots of `headlight report`.

mod column_index;
mod fields;
mod grid;
mod merge;
mod outcome;
mod parameters;
mod plan;
mod recorded_config;
mod results;
mod row;
mod run;
mod shard;
mod stored_row;
mod study;
mod summary;
mod workers;

pub use grid::{Folds, Grid, Seeds};
pub use merge::{MergeResult, merge};
pub use outcome::RunOutcome;
pub use plan::Plan;
pub use recorded_config::config_beside;
pub use results::Results;
pub use row::Row;
pub use shard::Shard;
pub use study::{Study, StudyPart};
pub use summary::{ReportChoices, Summary, Values};
pub use workers::work;
