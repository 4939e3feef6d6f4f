//! `headlight report`: summarises the results of a sweep.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;

use crate::printing::{print_beside, print_json};
use clap::Args;
use headlight_experiment::config::LEARNED;
use headlight_inspector::counted;
use headlight_sweep::{AttentionTarget, Measured, Remeasure, Row, Sink, Summary};
use headlight_trainer::Failure;
use headlight_trainer::sessions::signals::Signals;
use headlight_trainer::storage::outputs::{Destination, Output};

use crate::arguments::{Force, Form};
use crate::terminal::{self, SweepDisplay};

/// Summarise a sweep's results: tables, distributions, learning curves
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight report seeds.jsonl --html seeds.html\nBy one key of a grid: headlight report grid.jsonl --by training.learning_rate --svg grid.svg\nBy two keys: headlight report grid.jsonl --by model.d_model --by training.learning_rate --metric held_out_accuracy --svg map.svg"
)]
pub(crate) struct Arguments {
    /// A results file of `headlight sweep` or `headlight merge` (.jsonl)
    results: PathBuf,
    /// Compare the values of this grid key; can be given several times [default: each key that varies]
    #[arg(long, value_name = "KEY")]
    by: Vec<String>,
    /// Compare this number of the rows, by its column in CSV, such as `accuracy` or a measure; can be given several times
    /// [default: F1 on held-out samples, or on training samples if none are held out; and the measures of the rows]
    #[arg(long, value_name = "NAME")]
    metric: Vec<String>,
    /// Measure attention on this position; if given several times, on their sum; positions count from 0, `[CLS]` among them
    /// [default: the positions that decide the label, by the config beside the results]
    #[arg(long, value_name = "N")]
    position: Vec<usize>,
    /// Train the runs again, to measure attention where the positions that decide differ from sample to sample; at most 1,000
    #[arg(long, conflicts_with = "position")]
    again: bool,
    /// The F1 from which a run's final model counts as learned: its config's report.learned
    #[arg(long, value_name = "F1", default_value_t = LEARNED, value_parser = share)]
    learned: f64,
    /// Also write the plots, as an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<Destination>,
    /// Also write tables and plots, as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<Destination>,
    #[command(flatten)]
    output: Force,
    #[command(flatten)]
    form: Form,
}

/// Prints tables and histograms of a results file, and writes the requested plots and page.
///
/// # Errors
/// When the results cannot be read, or a file cannot be written.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.results;
    let checked = || {
        let outputs = [arguments.svg.as_ref(), arguments.html.as_ref()];
        let outputs = Output::all(outputs, arguments.output.force)?;
        Output::check_formats(&outputs, ["svg", "html"]).map(|()| outputs)
    };
    // Before runs are trained again; and below, once all files are read.
    arguments.form.check(&checked()?)?;
    let target = match arguments.position.as_slice() {
        [] => AttentionTarget::Main,
        positions => AttentionTarget::Positions(
            BTreeSet::from_iter(positions)
                .into_iter()
                .copied()
                .collect(),
        ),
    };
    let measured = if arguments.again {
        measure_again(path)?
    } else {
        Measured::default()
    };
    let summary = Summary::with(path, target, &arguments.by, arguments.learned, measured)?
        .showing(path, &arguments.metric)?;
    let outputs = checked()?;
    let [svg, html] = outputs;
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

/// Trains the runs of a results file again.
fn measure_again(path: &Path) -> Result<Measured, Failure> {
    let runs = Remeasure::read(path)?;
    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let mut found = Found {
        display: SweepDisplay::new(runs.len()),
        threads: thread::available_parallelism().map_or(1, usize::from),
        measured: Measured::default(),
    };
    runs.train(path, found.threads, &signals, &mut found)?;
    let Found {
        display,
        threads,
        measured,
    } = found;
    display.finish(threads);
    match signals.received() {
        Some(signal) => Err(Failure::Interrupted {
            signal,
            message: "interrupted while training the runs again".to_owned(),
        }),
        None => Ok(measured),
    }
}

/// Keeps what runs measure, and shows the progress.
struct Found {
    display: SweepDisplay,
    threads: usize,
    measured: Measured,
}

impl Sink<Row> for Found {
    fn finished(&mut self, row: &Row) {
        self.display.run_finished();
        self.measured.add(row);
    }

    fn in_order(&mut self, _row: Row) -> Result<(), Failure> {
        Ok(())
    }
}

/// Reads a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "give a number from 0 to 1".to_owned())
}
