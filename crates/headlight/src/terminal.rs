//! The terminal's width and colours, and bars of progress.

use std::env;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

use headlight_report::{ColourMode, Document, wrap};
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::printing::{Verbosity, verbosity};

/// The width in columns if the terminal reports none, for example when output goes to a file.
const DEFAULT_WIDTH: usize = 80;

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

/// Paragraphs in lines that fit the terminal, at most 80 columns wide.
pub(crate) fn paragraphs<P: AsRef<str>>(all: impl IntoIterator<Item = P>) -> String {
    let columns = options().width.min(DEFAULT_WIDTH);
    let lines = all.into_iter().flat_map(|one| wrap(one.as_ref(), columns));
    lines.map(|line| line + "\n").collect()
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
