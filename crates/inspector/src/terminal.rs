//! Heatmaps in a terminal, with the numbers in the cells.

use std::fmt::Write;

use crate::colour::{end, start};
use crate::heatmap::share;
use crate::{ColourMode, Heatmap, Quantity};

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What the terminal can show.
    pub colour: ColourMode,
    /// Columns of the terminal.
    pub width: usize,
}

/// Numbers lose digits before keys are left out.
const DECIMALS: [usize; 3] = [4, 2, 1];

/// Draws a heatmap: a row a query, a column a key, `*` at positions that the label depends on.
pub fn draw(heatmap: &Heatmap, options: Options) -> String {
    let count = heatmap.tokens.len();
    let names: Vec<String> = (0..count).map(|position| name(heatmap, position)).collect();
    let side = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let room = options.width.saturating_sub(side + 2);
    let sheet = Sheet::fitting(heatmap, room);
    let shown = (room / sheet.cell).clamp(1, count.max(1)).min(count);

    let mut text = format!("{}\n", heatmap.title);
    let _ = writeln!(
        text,
        "rows: query (from), columns: key (to){}",
        legend(heatmap)
    );
    let _ = write!(text, "{:side$} ", "");
    for key in 0..shown {
        let _ = write!(text, "{}", sheet.centred(&place(heatmap, key)));
    }
    let _ = write!(text, "\n{:side$} ", "");
    for key in 0..shown {
        let _ = write!(text, "{}", sheet.centred(&heatmap.tokens[key]));
    }
    text.push('\n');
    let range @ (min, max) = heatmap.range();
    for (query, name) in names.iter().enumerate() {
        let _ = write!(text, "{name:>side$} ");
        for key in 0..shown {
            let value = heatmap.cells[query * count + key];
            let share = share(range, value);
            let number = format!("{value:.*}", sheet.decimals);
            let _ = write!(
                text,
                "{}{}{}",
                start(share, options.colour),
                sheet.centred(&number),
                end(options.colour)
            );
        }
        text.push('\n');
    }
    if shown < count {
        let _ = writeln!(
            text,
            "keys {shown} to {} do not fit into {} columns; CSV and npz hold them",
            count - 1,
            options.width
        );
    }
    if options.colour != ColourMode::Plain {
        let _ = write!(text, "{:side$} {min:.2} ", "");
        for step in 0..=20_u8 {
            let _ = write!(
                text,
                "{} {}",
                start(f32::from(step) / 20.0, options.colour),
                end(options.colour)
            );
        }
        let _ = writeln!(text, " {max:.2}");
    }
    text
}

fn legend(heatmap: &Heatmap) -> &'static str {
    if heatmap.marked.is_empty() {
        ""
    } else {
        "; * decides the label"
    }
}

/// A position's number, starred where the label depends on it.
fn place(heatmap: &Heatmap, position: usize) -> String {
    let star = if heatmap.marked.contains(&position) {
        "*"
    } else {
        ""
    };
    format!("{position}{star}")
}

/// A position's number and token.
fn name(heatmap: &Heatmap, position: usize) -> String {
    format!("{} {}", place(heatmap, position), heatmap.tokens[position])
}

/// How cells are laid out.
struct Sheet {
    decimals: usize,
    /// Width of a cell.
    cell: usize,
}

impl Sheet {
    /// The most digits with which all keys fit into `room` columns.
    fn fitting(heatmap: &Heatmap, room: usize) -> Self {
        let labels = (0..heatmap.tokens.len())
            .map(|position| {
                place(heatmap, position)
                    .len()
                    .max(heatmap.tokens[position].chars().count())
            })
            .max()
            .unwrap_or(0);
        let sign = match heatmap.quantity {
            Quantity::Weights => 0,
            Quantity::Scores => 2,
        };
        let sheets = DECIMALS.map(|decimals| Self {
            decimals,
            cell: (2 + decimals + sign).max(labels) + 2,
        });
        let fits = |sheet: &Sheet| sheet.cell * heatmap.tokens.len() <= room;
        let [widest, middle, narrowest] = sheets;
        [widest, middle].into_iter().find(fits).unwrap_or(narrowest)
    }

    fn centred(&self, text: &str) -> String {
        format!("{text:^width$}", width = self.cell)
    }
}
