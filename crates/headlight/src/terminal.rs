//! The terminal's width and colours, and the progress of training runs and sweeps.

use std::env;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

use console::measure_text_width;

use crate::printing::{Verbosity, detail, verbosity};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::{Column, Metric, StepMetrics, TERMINAL};
use headlight_report::{ColourMode, Document, number};
use headlight_trainer::train::run_writer::Display;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

/// The width in columns if the terminal reports none, for example when output goes to a file.
const DEFAULT_WIDTH: usize = 80;

/// What stands between two columns.
pub(crate) const GAP: &str = "  ";

/// The width and colours of text on standard output.
pub(crate) fn options() -> headlight_report::terminal::Options {
    let terminal = std::io::stdout().is_terminal();
    let width = console::Term::stdout()
        .size_checked()
        .map(|(_, columns)| columns);
    headlight_report::terminal::Options {
        colour: if terminal {
            colour_mode()
        } else {
            ColourMode::Plain
        },
        width: width.map_or(DEFAULT_WIDTH, usize::from),
    }
}

/// A document for standard output: in a terminal text that fits it, else Markdown.
pub(crate) fn written(document: &Document) -> String {
    let options = options();
    if std::io::stdout().is_terminal() {
        document.text(options)
    } else {
        document.markdown(options.width)
    }
}

/// Rows of cells as lines: the first `left` columns begin at the left, the others end at the right.
pub(crate) fn aligned(rows: &[Vec<String>], left: usize) -> String {
    let columns = 0..rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().map(|row| measure_text_width(&row[column]));
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = columns.map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| {
            let gap = " ".repeat(width - measure_text_width(cell));
            if column < left {
                format!("{cell}{gap}")
            } else {
                format!("{gap}{cell}")
            }
        });
        let line = cells.collect::<Vec<_>>().join(GAP);
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
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

/// Shows one line that updates: a bar of all steps, the last evaluation's F1, steps per second and the time left. With
/// `--verbose`, also a row for each evaluation, which alone is shown without a terminal.
pub(crate) struct TrainingDisplay {
    bar: ProgressBar,
    /// Whether each step draws its own samples, so that there are no epochs.
    is_fresh: bool,
    /// Whether there is uniform attention, of which attention is shown in multiples.
    has_uniform: bool,
}

/// The two lines above [`evaluation_row`], at most 60 characters wide.
fn header() -> String {
    let [mut first, mut second] = [String::new(), format!("{:>5} {:>6}", "epoch", "step")];
    for column in &TERMINAL {
        let [above, name] = column.heading;
        let _ = write!(second, " {name:>width$}", width = column.width);
        if !above.is_empty() {
            let room = second.len() - first.len();
            let _ = write!(first, "{above:>room$}");
        }
    }
    format!("{first}\n{second}")
}

/// What the columns hold. `reader` is the readout position, and `heads` the number of heads of a block.
fn legend(reader: &str, heads: usize, is_fresh: bool, has_uniform: bool) -> String {
    let over = if is_fresh {
        "the step's
batch"
    } else {
        "all training
samples"
    };
    let heads = match heads {
        1 => String::new(),
        _ => format!(",\nmean over {heads} heads"),
    };
    let multiples = if has_uniform {
        "
in multiples of uniform attention (1.00x: no preference for
them),"
    } else {
        "\nwithout a softmax,"
    };
    format!(
        "loss (mean cross-entropy), accuracy, F1: over {over}; held-out F1: over samples that are not trained on;
attention: of {reader} on the positions that decide the label,{multiples} over samples of label 1 or more and of label 0{heads};
–: not measured"
    )
}

impl TrainingDisplay {
    /// The display of a training that starts at step `start`, of this config.
    pub(crate) fn new(steps: usize, start: usize, config: &ExperimentConfig) -> Self {
        let is_fresh = config.data.is_fresh();
        let (reader, heads) = (config.measured_readout_name(), config.model.n_heads);
        let bar = progress_bar(steps, start, "steps");
        let has_uniform = config.model.attention.softmax;
        let mut legend = legend(&reader, heads, is_fresh, has_uniform);
        if config.reads_mean() {
            legend.push_str("\nThe class is read from the mean of all positions.");
        }
        bar.suspend(|| detail(&format!("{legend}\n\n{}", header())));
        Self {
            bar,
            is_fresh,
            has_uniform,
        }
    }
}

impl Display for TrainingDisplay {
    fn step(&self, step: usize) {
        self.bar.set_position(step as u64);
    }

    fn evaluated(&self, metrics: &StepMetrics) {
        let (split, judged) = match &metrics.held_out {
            Some(held_out) => ("held-out F1", held_out),
            None => ("F1", &metrics.train),
        };
        let f1 = number(judged[Metric::F1], 3);
        self.bar.set_message(format!(" · {split} {f1}"));
        self.bar
            .suspend(|| detail(&evaluation_row(metrics, self.is_fresh, self.has_uniform)));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The time after which a rate says something.
const MEASURED: Duration = Duration::from_secs(1);

/// A bar that starts at `start`, with the rate since then and the time left.
pub(crate) fn progress_bar(count: usize, start: usize, unit: &'static str) -> ProgressBar {
    if verbosity() == Verbosity::Quiet {
        return ProgressBar::hidden();
    }
    let start = start as u64;
    let bar = ProgressBar::new(count as u64).with_position(start);
    // The bar takes what the numbers leave of the terminal's width.
    let template = format!("{{wide_bar}} {{pos}}/{{len}} {unit}{{msg}}{{speed}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        // The library's own estimate counts the steps of an earlier session.
        let speed = move |state: &ProgressState, text: &mut dyn Write| {
            let (done, elapsed) = (state.pos().saturating_sub(start), state.elapsed());
            if done > 0 && elapsed >= MEASURED {
                let rate = done as f64 / elapsed.as_secs_f64();
                let left = count.saturating_sub(state.pos() as usize) as f64 / rate;
                let left = Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX);
                let _ = write!(text, " · {rate:.0}/s · {:#} left", HumanDuration(left));
            }
        };
        bar.set_style(style.with_key("speed", speed));
    }
    bar
}

/// A bar of a share of all inputs, in thousandths, with the time left.
pub(crate) fn share_bar() -> ProgressBar {
    if verbosity() == Verbosity::Quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(1000);
    set_template(&bar, "{wide_bar} {percent}% of all inputs · {eta} left");
    bar
}

/// Shows a share of all inputs; after all of them, the search for the smallest margins, whose end is unknown.
pub(crate) fn set_share(bar: &ProgressBar, share: f64) {
    bar.set_position((share * bar.length().unwrap_or(0) as f64) as u64);
    if share >= 1.0 && bar.message().is_empty() {
        bar.set_message("all inputs are counted; searching for the smallest margins");
        set_template(bar, "{msg} · {elapsed}");
    }
}

fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

fn evaluation_row(metrics: &StepMetrics, is_fresh: bool, has_uniform: bool) -> String {
    let epoch = match metrics.epoch {
        _ if is_fresh => "–".to_owned(),
        epoch => epoch.to_string(),
    };
    let mut row = format!("{epoch:>5} {:>6}", metrics.step);
    for column in &TERMINAL {
        let _ = write!(
            row,
            " {:>width$}",
            cell(metrics, column, has_uniform),
            width = column.width
        );
    }
    row
}

fn cell(metrics: &StepMetrics, column: &Column, has_uniform: bool) -> String {
    let split = if column.held_out {
        metrics.held_out.as_ref()
    } else {
        Some(&metrics.train)
    };
    let value = split.and_then(|split| split[column.metric]);
    let Some(over) = column.over.filter(|_| has_uniform) else {
        return number(value, column.decimals);
    };
    // Without a key that it may look at, nothing is a multiple of uniform attention.
    let uniform = split
        .and_then(|split| split[over])
        .filter(|&uniform| uniform > 0.0);
    let times = value.zip(uniform).map(|(value, uniform)| value / uniform);
    match times {
        Some(_) => format!("{}x", number(times, column.decimals)),
        None => number(None, column.decimals),
    }
}
