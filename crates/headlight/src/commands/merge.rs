//! `headlight merge`: merges the results files of shards.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use headlight_inspector::counted;
use headlight_sweep::{Merged, merge};
use headlight_trainer::Failure;
use headlight_trainer::outputs::Output;
use headlight_trainer::printing::note;

use crate::cli::MergeArguments;

/// Merges results files, and reports missing, repeated and failed runs.
///
/// # Errors
/// When a file cannot be read, or rows contradict each other.
pub(crate) fn run(arguments: &MergeArguments) -> Result<(), Failure> {
    let inputs: Vec<&Path> = arguments.results.iter().map(PathBuf::as_path).collect();
    let out = Output::new(&arguments.out, &inputs, arguments.output.force)?;
    let Merged {
        rows,
        duplicates,
        failed,
        missing: (missing, first),
    } = merge(&arguments.results, out)?;
    if missing > 0 {
        let listed: Vec<String> = first
            .iter()
            .map(|(seed, point)| match point {
                0 => format!("seed {seed}"),
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
    out.tell(&text)
}
