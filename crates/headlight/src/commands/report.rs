//! `headlight report`: summarises the results of a sweep.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use headlight_inspector::counted;
use headlight_sweep::{AttentionTarget, Summary};
use headlight_trainer::Failure;
use headlight_trainer::files::{check_outputs, print, write_atomically};

use crate::cli::ReportArguments;
use crate::terminal;

/// Prints tables and histograms of a results file, and writes the requested plots and page.
///
/// # Errors
/// When the results cannot be read, or a file cannot be written.
pub(crate) fn run(arguments: &ReportArguments) -> Result<(), Failure> {
    let path = &arguments.results;
    let outputs: Vec<&Path> = [&arguments.svg, &arguments.html]
        .into_iter()
        .filter_map(Option::as_deref)
        .collect();
    check_outputs(path, &outputs)?;
    let target = match arguments.position.as_slice() {
        [] => AttentionTarget::Main,
        positions => AttentionTarget::Positions(
            BTreeSet::from_iter(positions)
                .into_iter()
                .copied()
                .collect(),
        ),
    };
    let summary = Summary::of(path, target, &arguments.by)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let document = summary.document(&format!("{} of {name}", counted(summary.runs(), "run")));
    if let Some(out) = &arguments.svg {
        write_atomically(out, |file| file.write_all(document.plots_svg().as_bytes()))?;
    }
    if let Some(out) = &arguments.html {
        write_atomically(out, |file| file.write_all(document.html().as_bytes()))?;
    }
    print(&document.markdown(terminal::options().width))
}
