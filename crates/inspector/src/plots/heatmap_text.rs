//! A heatmap in a terminal, with the numbers in its cells.

use std::fmt::Write;

use super::{Heatmap, Quantity};
use crate::ColourMode;
use crate::terminal::Options;
use crate::words::{centred, right, width};

/// Numbers lose decimals before keys are left out.
const DECIMALS: [usize; 3] = [4, 2, 1];

impl Heatmap {
    /// The heatmap as text: one row per query, one column per key, `*` at positions that the label depends
    /// on.
    pub fn text(&self, options: Options) -> String {
        let count = self.tokens.len();
        let names: Vec<String> = (0..count).map(|position| self.name(position)).collect();
        let side = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let room = options.width.saturating_sub(side + 2);
        let (decimals, cell) = self.fitting(room);
        let shown = (room / cell).clamp(1, count.max(1)).min(count);
        let share = self.scale();
        let margin = " ".repeat(side);

        let mut text = format!("{}\n{}\n", self.title, self.legend());
        let places: String = (0..shown)
            .map(|key| centred(&self.place(key), cell))
            .collect();
        let tokens = self.tokens[..shown].iter();
        let tokens: String = tokens.map(|token| centred(token, cell)).collect();
        let _ = writeln!(text, "{margin} {places}\n{margin} {tokens}");
        for (query, name) in names.iter().enumerate() {
            let _ = write!(text, "{} ", right(name, side));
            for &value in &self.cells[query * count..query * count + shown] {
                let number = centred(&format!("{value:.decimals$}"), cell);
                text.push_str(&options.colour.paint(share(value), &number));
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
            let (min, max) = self.range();
            let shade = |step: u8| options.colour.paint(f32::from(step) / 20.0, " ");
            let scale: String = (0..=20).map(shade).collect();
            let _ = writeln!(text, "{margin} {min:.2} {scale} {max:.2}");
        }
        text
    }

    /// The most decimals with which all keys fit into `room` columns, and the width of a cell with them.
    fn fitting(&self, room: usize) -> (usize, usize) {
        let positions = 0..self.tokens.len();
        let labels = positions.map(|at| width(&self.place(at)).max(width(&self.tokens[at])));
        let labels = labels.max().unwrap_or(0);
        let sign = match self.quantity {
            Quantity::Weights => 0,
            Quantity::Scores => 2,
        };
        let cell = |decimals: usize| (2 + decimals + sign).max(labels) + 2;
        let fits = |&decimals: &usize| cell(decimals) * self.tokens.len() <= room;
        let [widest, middle, narrowest] = DECIMALS;
        let decimals = [widest, middle].into_iter().find(fits).unwrap_or(narrowest);
        (decimals, cell(decimals))
    }
}
