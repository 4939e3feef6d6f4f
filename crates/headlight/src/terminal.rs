//! What the terminal can show, and a training run as it shows it.

use std::env;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Instant;

use headlight_experiment::metrics::{Metric, StepMetrics};
use headlight_inspector::ColourMode;
use headlight_trainer::files::note;
use headlight_trainer::run_report::number;
use headlight_trainer::run_writer::Display;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// Columns where the terminal does not say, as when output goes to a file.
const DEFAULT_WIDTH: usize = 100;

/// How pictures on standard output are drawn.
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

/// As <https://no-color.org> and the common use of `COLORTERM` and `TERM` have it.
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

/// A bar over all steps, with steps a second and the time left; a line for each evaluation.
///
/// Without a terminal only the lines are written, to standard error.
pub(crate) struct TrainingDisplay {
    bar: ProgressBar,
}

/// What [`describe`] shows: `out` is held out; attention is that of `[CLS]` on the label's position,
/// over positives and over negatives, each beside what it would be if uniform.
const HEADER: &str =
    "ep.   step    loss accur.  prec. recall     F1 out F1  attn+/even  attn-/even";

impl TrainingDisplay {
    pub(crate) fn new(steps: usize) -> Self {
        let bar = ProgressBar::new(steps as u64);
        let template = "{bar:30} {pos}/{len} steps · {rate} · {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(
                style.with_key("rate", |state: &ProgressState, text: &mut dyn Write| {
                    let _ = write!(text, "{:.0} steps/s", state.per_sec());
                }),
            );
        }
        bar.suspend(|| note(HEADER));
        Self { bar }
    }
}

impl Display for TrainingDisplay {
    fn step(&self, step: usize) {
        self.bar.set_position(step as u64);
    }

    fn evaluated(&self, metrics: &StepMetrics) {
        let text = describe(metrics);
        self.bar.suspend(|| note(&text));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A bar over all runs of a sweep, with runs a second and the time left.
///
/// Without a terminal, only failed runs and the last line are written, to standard error.
pub(crate) struct SweepDisplay {
    bar: ProgressBar,
    started: Instant,
}

impl SweepDisplay {
    pub(crate) fn new(runs: usize) -> Self {
        let bar = ProgressBar::new(runs as u64);
        let template = "{bar:30} {pos}/{len} runs · {rate} · {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(
                style.with_key("rate", |state: &ProgressState, text: &mut dyn Write| {
                    let _ = write!(text, "{:.0} runs/s", state.per_sec());
                }),
            );
        }
        Self {
            bar,
            started: Instant::now(),
        }
    }

    pub(crate) fn run(&self) {
        self.bar.inc(1);
    }

    pub(crate) fn failed(&self, message: &str) {
        self.bar.suspend(|| note(message));
    }

    pub(crate) fn finish(&self, threads: usize) {
        let (runs, seconds) = (self.bar.position(), self.started.elapsed().as_secs_f64());
        self.bar.finish_and_clear();
        if runs > 0 {
            note(&format!(
                "{runs} runs in {seconds:.2} s on {threads} threads: {:.0} runs/s",
                runs as f64 / seconds
            ));
        }
    }
}

fn describe(line: &StepMetrics) -> String {
    let train = &line.train;
    let held_out = line.held_out.as_ref();
    let held_out = held_out.and_then(|metrics| metrics[Metric::F1]);
    let attention = |paid, uniform| format!("{}/{}", number(paid, 3), number(uniform, 3));
    format!(
        "{:>3} {:>6} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>11} {:>11}",
        line.epoch,
        line.step,
        number(line.train_loss.or(train[Metric::Loss]), 4),
        number(train[Metric::Accuracy], 4),
        number(train[Metric::Precision], 3),
        number(train[Metric::Recall], 3),
        number(train[Metric::F1], 3),
        number(held_out, 3),
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
