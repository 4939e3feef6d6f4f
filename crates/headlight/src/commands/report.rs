//! `headlight report`: summarises the results of a sweep.

use std::collections::BTreeSet;

use headlight_inspector::counted;
use headlight_sweep::{AttentionTarget, Summary};
use headlight_trainer::Failure;
use headlight_trainer::outputs::{Output, print_beside};
use headlight_trainer::printing::print_json;

use crate::cli::ReportArguments;
use crate::terminal;

/// Prints tables and histograms of a results file, and writes the requested plots and page.
///
/// # Errors
/// When the results cannot be read, or a file cannot be written.
pub(crate) fn run(arguments: &ReportArguments) -> Result<(), Failure> {
    let path = &arguments.results;
    let outputs = [arguments.svg.as_deref(), arguments.html.as_deref()];
    let outputs = Output::all(outputs, &[path], arguments.output.force)?;
    arguments.form.check(&outputs)?;
    let [svg, html] = outputs;
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
    if let Some(out) = svg {
        out.write_all(document.plots_svg().as_bytes())?;
    }
    if let Some(out) = html {
        out.write_all(document.html().as_bytes())?;
    }
    if arguments.form.json {
        return print_json(&summary.values());
    }
    print_beside(&outputs, &terminal::written(&document))
}
