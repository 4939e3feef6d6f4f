//! Distributions over many runs, as an SVG picture.

mod axis;
mod plots;

use std::fmt::Write;

use crate::markup::escape;

/// Width of a panel, its height, and the room around its axes.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 44.0;

/// Panels beside each other.
const ACROSS: usize = 3;

/// A picture beside others.
#[derive(Clone, Debug, PartialEq)]
pub enum Panel {
    /// How often a quantity has which values.
    Histogram {
        /// What the quantity is.
        label: String,
        /// Its values, a run each.
        values: Vec<f64>,
        /// A value to compare with, and what it is.
        mark: Option<(f64, String)>,
    },
    /// Two quantities of each run.
    Scatter {
        /// The quantity along the horizontal axis, and along the vertical one.
        labels: [String; 2],
        /// Their values, a run each.
        points: Vec<[f64; 2]>,
    },
    /// A quantity over time: its median, and bands around it.
    Bands {
        /// The time, and the quantity.
        labels: [String; 2],
        /// Moments, ascending.
        times: Vec<f64>,
        /// At each of them five quantiles of the quantity, ascending, the median in the middle.
        quantiles: Vec<[f64; 5]>,
        /// What the outer band and the inner one hold, and what the line is.
        names: [String; 3],
    },
    /// A quantity in each of some groups, side by side, with its range.
    Ranges {
        /// What groups are told apart by, and the quantity.
        labels: [String; 2],
        /// The groups' names.
        groups: Vec<String>,
        /// Sets of ranges, each with a name, which is empty where there is one alone.
        sets: Vec<(String, Ranges)>,
        /// A value to compare with, and what it is.
        mark: Option<(f64, String)>,
    },
}

/// From, centre and to, for each group that has any.
pub type Ranges = Vec<Option<[f64; 3]>>;

/// The style of a picture.
pub(crate) const STYLE: &str = "
  svg { background: #fff; font: 12px system-ui, sans-serif; fill: #222 }
  .heading { font-size: 14px; font-weight: 600 }
  .axis { stroke: #888; fill: none } .bar { fill: #31688e } .dot { fill: #31688e; fill-opacity: .35 }
  .mark { stroke: #b5367a; stroke-dasharray: 4 3 } .marked { fill: #b5367a; stroke: #fff; stroke-width: 3px; paint-order: stroke }
  .outer { fill: #31688e; fill-opacity: .2 } .inner { fill: #31688e; fill-opacity: .35 }
  .line { stroke: #31688e; stroke-width: 2; fill: none }
  .range0 { stroke: #31688e; stroke-width: 2 } .set0 { fill: #31688e }
  .range1 { stroke: #e07b39; stroke-width: 2 } .set1 { fill: #e07b39 }
  .middle { text-anchor: middle } .end { text-anchor: end }
  @media (prefers-color-scheme: dark) {
    svg { background: #161616; fill: #ddd } .bar, .dot, .outer, .inner, .set0 { fill: #35b779 }
    .line, .range0 { stroke: #35b779 } .mark { stroke: #f9a242 } .marked { fill: #f9a242; stroke: #161616 }
  }
";

/// Draws panels side by side, three in a row; nothing of panels without values.
pub fn svg(title: &str, panels: &[Panel]) -> String {
    let drawn: Vec<String> = panels.iter().filter_map(Panel::draw).collect();
    let (columns, rows) = (
        drawn.len().clamp(1, ACROSS),
        drawn.len().div_ceil(ACROSS).max(1),
    );
    let (width, height) = (WIDTH * columns as f64, HEIGHT * rows as f64 + 30.0);
    let title = escape(title);
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">
<title>{title}</title>
<style>{STYLE}</style>
<text class="heading" x="14" y="20">{title}</text>
"#
    );
    for (index, panel) in drawn.iter().enumerate() {
        let (row, column) = (index / ACROSS, index % ACROSS);
        let _ = writeln!(
            text,
            r#"<g transform="translate({} {})">"#,
            column as f64 * WIDTH,
            26.0 + row as f64 * HEIGHT
        );
        text.push_str(panel);
        text.push_str("</g>\n");
    }
    text.push_str("</svg>\n");
    text
}

impl Panel {
    fn draw(&self) -> Option<String> {
        match self {
            Self::Histogram {
                label,
                values,
                mark,
            } => plots::histogram(label, values, mark.as_ref()),
            Self::Scatter { labels, points } => plots::scatter(labels, points),
            Self::Bands {
                labels,
                times,
                quantiles,
                names,
            } => plots::bands(labels, times, quantiles, names),
            Self::Ranges {
                labels,
                groups,
                sets,
                mark,
            } => plots::ranges(labels, groups, sets, mark.as_ref()),
        }
    }
}
