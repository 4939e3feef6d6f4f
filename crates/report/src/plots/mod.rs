//! Plots: distributions over many runs, curves and counts of one model, and heatmaps of attention.

mod axis;
mod bar_table;
mod cells;
mod colour_bar;
mod colour_range;
mod curves;
mod heatmap;
mod heatmap_svg;
mod heatmap_text;
mod histogram;
mod legend;
mod maps;
mod panels;
mod size;

use crate::svg::Svg;
use crate::words::wrap_tightly;
use panels::Ranges;
use size::{HEIGHT, Room, WIDTH};

pub use bar_table::{BarColumn, BarTable};
pub use colour_range::ColourRange;
pub use curves::Curve;
pub use heatmap::{Heatmap, Quantity, largest};
pub use histogram::HistogramPlot;
pub use maps::GridPlot;

/// Panels per row.
const ACROSS: usize = 3;

/// About the widest that a column of a terminal is drawn in a title.
const TITLE: f64 = 10.0;

/// A distribution over many runs, or what one model does.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// How often a quantity has which values.
    Histogram {
        /// The quantity.
        label: String,
        /// Its values, one per run.
        values: Vec<f64>,
        /// A value to compare with, and its name.
        mark: Option<(f64, String)>,
    },
    /// Two quantities of each run.
    Scatter {
        /// The quantity along the horizontal axis, and along the vertical one.
        labels: [String; 2],
        /// Their values, one pair per run.
        points: Vec<[f64; 2]>,
    },
    /// A quantity over time: its median, and bands around it.
    Bands {
        /// The unit of time, and the quantity.
        labels: [String; 2],
        /// Times, ascending.
        times: Vec<f64>,
        /// For each time, five quantiles of the quantity, ascending, the median in the middle.
        quantiles: Vec<[f64; 5]>,
        /// The names of the outer band, of the inner band and of the line.
        names: [String; 3],
    },
    /// A quantity with its range in each of several groups, side by side; or at each of several numbers, which a line joins.
    Ranges {
        /// What distinguishes the groups, and the quantity.
        labels: [String; 2],
        /// The groups' names.
        groups: Vec<String>,
        /// The numbers that the groups are, ascending; empty for other groups.
        numbers: Vec<f64>,
        /// Sets of ranges with their names; the name of a single set may be empty.
        sets: Vec<(String, Ranges)>,
        /// A value to compare with, and its name.
        mark: Option<(f64, String)>,
    },
    /// A quantity at each pair of two settings.
    Grid(GridPlot),
    /// Quantities from 0 to 1 against another one.
    Curves {
        /// The quantity along the horizontal axis, and along the vertical one.
        labels: [String; 2],
        /// The curves.
        curves: Vec<Curve>,
        /// A straight line to compare with: its values at 0 and at 1, and its name.
        mark: Option<([f64; 2], String)>,
    },
    /// How often which two of several classes occur together.
    Matrix {
        /// What columns are, and what rows are.
        labels: [String; 2],
        /// The names of rows, and of columns.
        names: Vec<String>,
        /// `[row][column]`
        rows: Vec<Vec<usize>>,
    },
}

impl Plot {
    /// The plot as text with its label above it; `None` for all but histograms.
    pub(crate) fn text(&self, columns: usize) -> Option<String> {
        let Self::Histogram { label, values, .. } = self else {
            return None;
        };
        let histogram = HistogramPlot::of(values)?;
        Some(format!("{label}\n{}", histogram.text(columns)))
    }

    /// The panel, and the room that it needs beyond its size.
    fn draw(&self) -> Option<(Svg, Room)> {
        match self {
            Self::Histogram {
                label,
                values,
                mark,
            } => panels::histogram(label, values, mark.as_ref()),
            Self::Scatter { labels, points } => panels::scatter(labels, points),
            Self::Bands {
                labels,
                times,
                quantiles,
                names,
            } => panels::bands(labels, times, quantiles, names),
            Self::Ranges {
                labels,
                groups,
                numbers,
                sets,
                mark,
            } => panels::ranges(labels, (groups, numbers), sets, mark.as_ref()),
            Self::Grid(grid) => maps::grid(grid),
            Self::Curves {
                labels,
                curves,
                mark,
            } => curves::curves(labels, curves, mark.as_ref()),
            Self::Matrix {
                labels,
                names,
                rows,
            } => maps::matrix(labels, names, rows),
        }
    }
}

/// Draws plots in rows of three; skips those without values.
pub(crate) fn svg<'a>(title: &str, plots: impl IntoIterator<Item = &'a Plot>) -> String {
    let panels: Vec<(Svg, Room)> = plots.into_iter().filter_map(Plot::draw).collect();
    let columns = panels.len().clamp(1, ACROSS);
    let most = |panels: &[(Svg, Room)], side: fn(&Room) -> f64| {
        let rooms = panels.iter().map(|(_, room)| side(room));
        rooms.fold(0.0, f64::max).ceil()
    };
    let left = most(&panels, |room| room.left);
    let wide = left + WIDTH + most(&panels, |room| room.right);
    let size = wide * columns as f64;
    let mut svg = Svg::default();
    let mut y = 6.0;
    for line in wrap_tightly(title, ((size - 28.0) / TITLE) as usize) {
        svg.text("title", [14.0, y + 14.0], &line);
        y += 20.0;
    }
    for row in panels.chunks(ACROSS) {
        y += most(row, |room| room.above);
        for (column, (panel, _)) in row.iter().enumerate() {
            let x = left + column as f64 * wide;
            svg.group(&format!("transform=\"translate({x} {y})\""), |svg| {
                svg.append(panel);
            });
        }
        y += HEIGHT + most(row, |room| room.below);
    }
    svg.finish(
        title,
        [size, y + if panels.is_empty() { HEIGHT } else { 0.0 } + 4.0],
    )
}
