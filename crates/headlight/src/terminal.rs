//! The terminal's width and colours, and the progress of training runs and sweeps.

use std::env;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Instant;

use headlight_experiment::metrics::{Metric, StepMetrics};
use headlight_inspector::{ColourMode, counted, number};
use headlight_trainer::files::{Verbosity, note, verbosity};
use headlight_trainer::run_writer::Display;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// The width in columns if the terminal reports none, for example when output goes to a file.
const DEFAULT_WIDTH: usize = 100;

/// The width and colours of text on standard output.
pub(crate) fn options() -> headlight_inspector::terminal::Options {
    let terminal = std::io::stdout().is_terminal();
    let width = console::Term::stdout()
        .size_checked()
        .map(|(_, columns)| columns);
    headlight_inspector::terminal::Options {
        colour: if terminal {
            colour_mode()
        } else {
            ColourMode::Plain
        },
        width: width.map_or(DEFAULT_WIDTH, usize::from),
    }
}

/// Follows <https://no-color.org> and the common use of `COLORTERM` and `TERM`.
fn colour_mode() -> ColourMode {
    let variable = |name| env::var(name).unwrap_or_default();
    if !variable("NO_COLOR").is_empty() || variable("TERM") == "dumb" {
        return ColourMode::Plain;
    }
    match variable("COLORTERM").as_str() {
        "truecolor" | "24bit" => ColourMode::TrueColour,
        _ => ColourMode::Palette,
    }
}

/// Shows a bar of all steps, with steps per second and the time left, and a row for each evaluation.
///
/// Without a terminal, it writes only the rows, to standard error.
pub(crate) struct TrainingDisplay {
    bar: ProgressBar,
}

/// The columns of [`evaluation_row`]. `out` is the held-out set. `attn+` and `attn-` are the attention of
/// `[CLS]` on the label's position, over positives and over negatives, beside the value of uniform attention.
const HEADER: &str =
    "ep.   step    loss accur.  prec. recall     F1 out F1  attn+/even  attn-/even";

impl TrainingDisplay {
    /// The display of a training that starts at step `start`.
    pub(crate) fn new(steps: usize, start: usize) -> Self {
        let bar = progress_bar(steps, "steps");
        // Steps of an earlier session say nothing about the speed of this one.
        bar.set_position(start as u64);
        bar.reset_eta();
        bar.suspend(|| note(HEADER));
        Self { bar }
    }
}

impl Display for TrainingDisplay {
    fn step(&self, step: usize) {
        self.bar.set_position(step as u64);
    }

    fn evaluated(&self, metrics: &StepMetrics) {
        self.bar.suspend(|| note(&evaluation_row(metrics)));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Shows a bar of all runs of a sweep, with runs per second and the time left.
///
/// Without a terminal, it writes only failed runs and the total, to standard error.
pub(crate) struct SweepDisplay {
    bar: ProgressBar,
    started: Instant,
}

impl SweepDisplay {
    pub(crate) fn new(runs: usize) -> Self {
        Self {
            bar: progress_bar(runs, "runs"),
            started: Instant::now(),
        }
    }

    pub(crate) fn run_finished(&self) {
        self.bar.inc(1);
    }

    pub(crate) fn run_failed(&self, message: &str) {
        self.bar.suspend(|| note(message));
    }

    pub(crate) fn finish(&self, threads: usize) {
        let (runs, seconds) = (self.bar.position(), self.started.elapsed().as_secs_f64());
        self.bar.finish_and_clear();
        if runs > 0 {
            note(&format!(
                "{} in {seconds:.2} s on {}: {:.0} runs/s",
                counted(runs as usize, "run"),
                counted(threads, "thread"),
                runs as f64 / seconds
            ));
        }
    }
}

/// A bar with the rate and the time left.
fn progress_bar(count: usize, unit: &'static str) -> ProgressBar {
    if verbosity() == Verbosity::Quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count as u64);
    let template = format!("{{bar:30}} {{pos}}/{{len}} {unit} · {{rate}} · {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        let rate = move |state: &ProgressState, text: &mut dyn Write| {
            let _ = write!(text, "{:.0} {unit}/s", state.per_sec());
        };
        bar.set_style(style.with_key("rate", rate));
    }
    bar
}

fn evaluation_row(metrics: &StepMetrics) -> String {
    let train = &metrics.train;
    let held_out = metrics.held_out.as_ref();
    let held_out_f1 = held_out.and_then(|metrics| metrics[Metric::F1]);
    let attention = |measured, uniform| format!("{}/{}", number(measured, 3), number(uniform, 3));
    format!(
        "{:>3} {:>6} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>11} {:>11}",
        metrics.epoch,
        metrics.step,
        number(metrics.train_loss.or(train[Metric::Loss]), 4),
        number(train[Metric::Accuracy], 4),
        number(train[Metric::Precision], 3),
        number(train[Metric::Recall], 3),
        number(train[Metric::F1], 3),
        number(held_out_f1, 3),
        attention(
            train[Metric::AttentionPositive],
            train[Metric::UniformPositive]
        ),
        attention(
            train[Metric::AttentionNegative],
            train[Metric::UniformNegative]
        ),
    )
}
