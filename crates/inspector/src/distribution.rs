//! Distributions over many runs, as an SVG picture.

use std::fmt::Write;

use crate::Histogram;
use crate::histogram::{decimals, round_up};
use crate::markup::escape;

/// Width of a panel, its height, and the room around its axes.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 44.0;

/// The most points that a scatter plot shows.
const MOST_POINTS: usize = 2000;

/// A picture beside others.
#[derive(Clone, Debug)]
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
}

/// Draws panels side by side; nothing of panels without values.
pub fn svg(title: &str, panels: &[Panel]) -> String {
    let drawn: Vec<String> = panels.iter().filter_map(panel).collect();
    let (width, height) = (WIDTH * drawn.len().max(1) as f64, HEIGHT + 30.0);
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{0}">
<title>{0}</title>
<style>
  svg {{ background: #fff; font: 12px system-ui, sans-serif; fill: #222 }}
  .heading {{ font-size: 14px; font-weight: 600 }}
  .axis {{ stroke: #888; fill: none }} .bar {{ fill: #31688e }} .dot {{ fill: #31688e; fill-opacity: .35 }}
  .mark {{ stroke: #b5367a; stroke-dasharray: 4 3 }} .marked {{ fill: #b5367a }}
  .middle {{ text-anchor: middle }} .end {{ text-anchor: end }}
  @media (prefers-color-scheme: dark) {{
    svg {{ background: #161616; fill: #ddd }} .bar {{ fill: #35b779 }} .dot {{ fill: #35b779 }}
    .mark {{ stroke: #f9a242 }} .marked {{ fill: #f9a242 }}
  }}
</style>
<text class="heading" x="14" y="20">{0}</text>
"#,
        escape(title)
    );
    for (index, panel) in drawn.iter().enumerate() {
        let _ = writeln!(
            text,
            r#"<g transform="translate({} 26)">"#,
            index as f64 * WIDTH
        );
        text.push_str(panel);
        text.push_str("</g>\n");
    }
    text.push_str("</svg>\n");
    text
}

fn panel(panel: &Panel) -> Option<String> {
    match panel {
        Panel::Histogram {
            label,
            values,
            mark,
        } => histogram(label, values, mark.as_ref()),
        Panel::Scatter { labels, points } => scatter(labels, points),
    }
}

/// Maps values to places along an axis.
struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn place(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }
}

fn horizontal(from: f64, to: f64) -> Axis {
    Axis {
        from,
        to,
        start: LEFT,
        end: WIDTH - RIGHT,
    }
}

fn vertical(from: f64, to: f64) -> Axis {
    Axis {
        from,
        to,
        start: HEIGHT - BOTTOM,
        end: TOP,
    }
}

/// The axes' lines, ticks and labels.
fn frame(text: &mut String, (x, across): (&Axis, &str), (y, up): (&Axis, &str)) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let _ = writeln!(
        text,
        r#"<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>"#
    );
    for (value, number) in ticks(x) {
        let place = x.place(value);
        let _ = writeln!(
            text,
            r#"<path class="axis" d="M{place:.1} {bottom}v4"/><text class="middle" x="{place:.1}" y="{}">{number}</text>"#,
            bottom + 16.0
        );
    }
    for (value, number) in ticks(y) {
        let place = y.place(value);
        let _ = writeln!(
            text,
            r#"<path class="axis" d="M{LEFT} {place:.1}h-4"/><text class="end" x="{}" y="{:.1}">{number}</text>"#,
            LEFT - 6.0,
            place + 4.0
        );
    }
    let _ = writeln!(
        text,
        r#"<text class="middle" x="{}" y="{}">{}</text><text x="{}" y="{}">{}</text>"#,
        f64::midpoint(LEFT, right),
        HEIGHT - 10.0,
        escape(across),
        14.0,
        TOP - 12.0,
        escape(up)
    );
}

/// A few round numbers along an axis, and how they are written.
fn ticks(axis: &Axis) -> Vec<(f64, String)> {
    let step = round_up((axis.to - axis.from) / 5.0, axis.to.abs());
    let decimals = decimals(step);
    let first = (axis.from / step - 1e-9).ceil() as i64;
    let last = (axis.to / step + 1e-9).floor() as i64;
    let tick = |multiple: i64| multiple as f64 * step;
    (first..=last)
        .map(|multiple| (tick(multiple), format!("{:.decimals$}", tick(multiple))))
        .collect()
}

fn histogram(label: &str, values: &[f64], mark: Option<&(f64, String)>) -> Option<String> {
    let bins = Histogram::of(values)?;
    let count = bins.counts.len();
    let (mut from, mut to) = (bins.edge(0), bins.edge(count));
    if let Some((value, _)) = mark {
        (from, to) = (from.min(*value), to.max(*value));
    }
    let x = horizontal(from, to);
    let most = *bins.counts.iter().max()? as f64;
    let y = vertical(0.0, most);
    let mut text = String::new();
    for (bin, &runs) in bins.counts.iter().enumerate() {
        let (left, right) = (x.place(bins.edge(bin)), x.place(bins.edge(bin + 1)));
        let top = y.place(runs as f64);
        let _ = writeln!(
            text,
            r#"<rect class="bar" x="{left:.1}" y="{top:.1}" width="{:.1}" height="{:.1}"/>"#,
            (right - left - 1.0).max(0.5),
            y.start - top
        );
    }
    if let Some((value, name)) = mark {
        let place = x.place(*value);
        let _ = writeln!(
            text,
            r#"<path class="mark" d="M{place:.1} {TOP}V{}"/><text class="marked" x="{:.1}" y="{}">{}</text>"#,
            y.start,
            place + 4.0,
            TOP + 10.0,
            escape(name)
        );
    }
    frame(&mut text, (&x, label), (&y, "runs"));
    Some(text)
}

fn scatter(labels: &[String; 2], points: &[[f64; 2]]) -> Option<String> {
    let of = |axis: usize| {
        points
            .iter()
            .map(move |point| point[axis])
            .collect::<Vec<_>>()
    };
    let (across, up) = (Histogram::of(&of(0))?, Histogram::of(&of(1))?);
    let x = horizontal(across.edge(0), across.edge(across.counts.len()));
    let y = vertical(up.edge(0), up.edge(up.counts.len()));
    let every = points.len().div_ceil(MOST_POINTS);
    let mut text = String::new();
    for [a, b] in points.iter().step_by(every) {
        let _ = writeln!(
            text,
            r#"<circle class="dot" cx="{:.1}" cy="{:.1}" r="2.2"/>"#,
            x.place(*a),
            y.place(*b)
        );
    }
    let thinned = match every {
        1 => labels[1].clone(),
        _ => format!("{} (one run in {every} shown)", labels[1]),
    };
    frame(&mut text, (&x, &labels[0]), (&y, &thinned));
    Some(text)
}
