//! `headlight merge`: merges the results files of shards.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use headlight_report::counted;
use headlight_sweep::{MergeResult, merge};
use headlight_trainer::{Destination, Failure, Output};

use crate::arguments::Force;
use crate::printing::{note, tell};

/// Merge the results files of shards into one file
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight merge shard-*.jsonl --out all.jsonl")]
pub(crate) struct Arguments {
    /// The results files of the shards, in any order
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// The file to write: .jsonl, or .csv with a column for each epoch and position
    #[arg(long, value_name = "FILE")]
    out: Destination,
    #[command(flatten)]
    output: Force,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let out = Output::new(&arguments.out, arguments.output.force)?;
    let MergeResult {
        rows,
        duplicates,
        failed,
        points,
        missing: (missing, first),
    } = merge(&arguments.results, out)?;
    if missing > 0 {
        let listed: Vec<String> = first
            .iter()
            .map(|(seed, point)| match points {
                1 => format!("seed {seed}"),
                _ => format!("seed {seed} point {point}"),
            })
            .collect();
        let more = if missing > listed.len() { ", ..." } else { "" };
        note(&format!(
            "{} {} missing: {}{more}",
            counted(missing, "run"),
            if missing == 1 { "is" } else { "are" },
            listed.join(", ")
        ));
    }
    let mut text = counted(rows, "run");
    if duplicates > 0 {
        let _ = write!(text, ", {duplicates} of them found twice but written once");
    }
    if failed > 0 {
        let _ = write!(text, ", {failed} failed");
    }
    tell(out, &text)
}
