//! Many runs of one experiment: a range of seeds, and a grid over keys of the config.
//!
//! A [`Plan`] numbers the runs, seeds first and the grid's points within each seed, so that asking
//! for more seeds later leaves the numbers of earlier runs as they were. [`run`] trains one of them into
//! a [`Row`], [`work`] does so on all cores and passes rows on in order, and [`Results`] is the
//! file that holds them: its bytes depend on the plan alone. [`merge`] joins the files of shards, and a
//! [`Summary`] is what `headlight report` shows.

mod attention;
mod fields;
mod grid;
mod list;
mod merge;
mod outcome;
mod plan;
mod results;
mod row;
mod run;
mod shard;
mod stored;
mod summary;
mod workers;

pub use attention::{SeedAttention, attention};
pub use grid::{Grid, Seeds};
pub use list::commands;
pub use merge::{Merged, merge};
pub use outcome::Outcome;
pub use plan::Plan;
pub use results::{Busy, Results};
pub use row::Row;
pub use run::run;
pub use shard::{Assignment, Shard, ShardRequest};
pub use summary::{AttentionTarget, Summary};
pub use workers::{RowSink, work};
