//! A heatmap in a terminal, with the numbers in its cells: whole matrices, or the largest values of each row where
//! a matrix does not fit.

use std::fmt::Write;

use super::heatmap::{AXES, largest};
use super::{Heatmap, Quantity};
use crate::ColourMode;
use crate::terminal::Options;
use crate::words::{centred, counted, left, right, say, shorten, width};

/// A matrix that does not fit with the last of these is not shown whole.
const DECIMALS: [usize; 2] = [4, 2];

/// The most bytes of a matrix, and of the largest values of all rows. Both leave a text below 20 kB.
const MAX_BYTES: usize = 14_000;

/// The most queries, and the most heads, whose largest values are listed.
const MAX_QUERIES: usize = 24;
const MAX_HEADS: usize = 64;

/// The most keys of a row: in a line, in a list above other rows, and in a list that stands alone.
const MAX_KEYS_IN_LINE: usize = 10;
const MAX_KEYS_IN_LIST: usize = 12;
const MAX_KEYS_ALONE: usize = 48;

/// The longest bar of a list.
const MAX_BAR_COLUMNS: usize = 30;

/// The largest number of positions at which uniform attention has two digits with two decimals.
const TWO_DECIMALS: usize = 10;

/// A query of a head.
struct QueryRow<'a> {
    name: String,
    query: usize,
    cells: &'a [f32],
}

impl Heatmap {
    /// The heatmap as text of at most 20 kB, with `*` at positions that the label depends on.
    ///
    /// One head: its matrix, a row per query. A matrix that does not fit is cut to the largest values: a list for
    /// the one that the class is read from, then a line per query. With `query`, only the list for that query.
    ///
    /// Several heads: a row per head, for `query` or else for the one that the class is read from.
    ///
    /// `query` is a position. If it is padding, all queries are shown. `remedy` says what shows the values that have no room.
    pub fn text(&self, options: Options, query: Option<usize>, remedy: &str) -> String {
        let index = |query| self.positions.iter().position(|&shown| shown == query);
        let query = query.and_then(index);
        let mut text = String::new();
        for line in self.title_lines(options.width) {
            let _ = writeln!(text, "{line}");
        }
        if let Some(sentence) = self.uniform(query) {
            say(&mut text, sentence, options.width);
        }
        let count = self.tokens.len();
        let shown = query.unwrap_or(self.read);
        let rows = if self.matrices() > 1 {
            self.heads_of(shown)
        } else {
            let rows = self.cells.chunks(count.max(1)).zip(self.names());
            let row = |(query, (cells, name))| QueryRow { name, query, cells };
            rows.enumerate().map(row).collect()
        };
        let from = format!("from query {}", self.name(shown));
        let axes = match self.matrices() {
            1 => AXES.to_owned(),
            _ => format!("{from}; rows: head, columns: key (to)"),
        };
        if self.matrices() == 1 && query.is_some() {
            self.list(&mut text, options, &rows[shown], MAX_KEYS_ALONE);
        } else if let Some((decimals, cell)) = self.fitting(&rows, options) {
            say(&mut text, &format!("{axes}{}", self.star()), options.width);
            self.matrix_text(&mut text, options, &rows, decimals, cell);
        } else if self.matrices() == 1 {
            self.list(&mut text, options, &rows[shown], MAX_KEYS_IN_LIST);
            text.push_str("\nthe largest of each query, as key:");
            let left_out = self.lines(&mut text, options, &rows, ("queries", MAX_QUERIES));
            say(&mut text, &format!("{left_out} {remedy}"), options.width);
        } else {
            say(&mut text, &(from + self.star()), options.width);
            text.push_str("the largest of each head, as key:");
            let left_out = self.lines(&mut text, options, &rows, ("heads", MAX_HEADS));
            say(&mut text, &format!("{left_out} {remedy}"), options.width);
        }
        text
    }

    /// The row of a query in each head.
    fn heads_of(&self, query: usize) -> Vec<QueryRow<'_>> {
        let (count, heads) = (self.tokens.len(), self.heads.len());
        let row = |index: usize| {
            let (layer, head) = (self.layers[index / heads], self.heads[index % heads]);
            let name = match self.layers.len() {
                1 => format!("head {head}"),
                _ => format!("layer {layer} head {head}"),
            };
            let cells = &self.matrix(index)[query * count..][..count];
            QueryRow { name, query, cells }
        };
        (0..self.matrices()).map(row).collect()
    }

    /// The most decimals with which all keys of all rows fit, and the width of a cell with them.
    fn fitting(&self, rows: &[QueryRow], options: Options) -> Option<(usize, usize)> {
        let keys = self.tokens.len().max(1);
        let room = options.width.saturating_sub(side(rows) + 2);
        let position = (0..keys).map(|key| width(&self.position(key))).max()?;
        let cell = |decimals: usize| (self.digits(decimals)).max(position) + 2;
        let decimals = DECIMALS.into_iter().find(|&decimals| {
            let cell = cell(decimals);
            cell * keys <= room && rows.len() * keys * (cell + painted(options)) <= MAX_BYTES
        })?;
        // Long tokens are shortened rather than the matrix cut.
        let token = self.tokens.iter().map(|token| width(token)).max()?;
        let widest = (token + 2).min(room / keys);
        Some((decimals, cell(decimals).max(widest)))
    }

    /// The columns of a number.
    fn digits(&self, decimals: usize) -> usize {
        match self.quantity {
            Quantity::Weights => decimals + 2,
            // A sign, and a second digit before the point.
            Quantity::Scores => decimals + 4,
        }
    }

    fn matrix_text(
        &self,
        text: &mut String,
        options: Options,
        rows: &[QueryRow],
        decimals: usize,
        cell: usize,
    ) {
        let (side, scale) = (side(rows), self.scale());
        let margin = " ".repeat(side);
        let positions = (0..self.tokens.len()).map(|key| centred(&self.position(key), cell));
        let tokens = self.tokens.iter();
        let tokens = tokens.map(|token| centred(&shorten(token, cell - 1), cell));
        let (positions, tokens): (String, String) = (positions.collect(), tokens.collect());
        let _ = writeln!(text, "{margin} {positions}\n{margin} {tokens}");
        for row in rows {
            let _ = write!(text, "{} ", right(&row.name, side));
            for &value in row.cells {
                let number = centred(&format!("{value:.decimals$}"), cell);
                text.push_str(&options.colour.paint(scale.share(row.query, value), &number));
            }
            text.push('\n');
        }
        self.colours(text, options);
    }

    /// The scale of the colours, if there are any.
    fn colours(&self, text: &mut String, options: Options) {
        if options.colour == ColourMode::Plain {
            return;
        }
        let scale = self.scale();
        let shade = |step: u8| options.colour.paint(f32::from(step) / 20.0, " ");
        let bar: String = (0..=20).map(shade).collect();
        let [first, last] = scale.ends();
        let _ = writeln!(text, "{first} {bar} {last}");
        say(text, &scale.legend(), options.width);
    }

    /// The keys that the query of a row may look at, by falling value.
    fn largest(&self, row: &QueryRow) -> Vec<usize> {
        let keys = largest(row.cells).into_iter();
        keys.filter(|&key| self.keys[row.query].contains(key))
            .collect()
    }

    /// The keys with the largest values of a row, one per line.
    fn list(&self, text: &mut String, options: Options, row: &QueryRow, most: usize) {
        let keys = self.largest(row);
        let shown = &keys[..keys.len().min(most)];
        let all = counted(keys.len(), "key");
        let which = match shown.len() {
            0 => "it may look at no key".to_owned(),
            some if some < keys.len() => format!("the {some} largest of {all}"),
            _ => format!("all {all}"),
        };
        let uniform = match self.quantity {
            Quantity::Weights => self.keys[row.query].uniform_each(),
            Quantity::Scores => None,
        };
        let uniform =
            uniform.map_or_else(String::new, |uniform| format!("; uniform: {uniform:.4}"));
        let title = format!("from query {}: {which}{uniform}{}", row.name, self.star());
        say(text, &title, options.width);
        let names: Vec<String> = shown.iter().map(|&key| self.name(key)).collect();
        let side = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let digits = self.digits(4);
        let room = options.width.saturating_sub(side + digits + 6);
        let room = room.min(MAX_BAR_COLUMNS);
        let most = row.cells.iter().copied().fold(0.0, f32::max);
        for (&key, name) in shown.iter().zip(&names) {
            let value = row.cells[key];
            let bar = match self.quantity {
                Quantity::Weights if most > 0.0 => (value / most * room as f32).round() as usize,
                _ => 0,
            };
            let (name, bar) = (left(name, side), "█".repeat(bar));
            let line = format!("  {name}  {value:>digits$.4}  {bar}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let others = &keys[shown.len()..];
        if !others.is_empty() && self.quantity == Quantity::Weights {
            let sum: f32 = others.iter().map(|&key| row.cells[key]).sum();
            let name = counted(others.len(), "other");
            let _ = writeln!(text, "  {}  {sum:>digits$.4}  in total", left(&name, side));
        }
    }

    /// The keys with the largest values of each row, a line per row. Of too many rows, those with the largest values; `kind` is
    /// what rows are. Returns a sentence on what is left out.
    fn lines(
        &self,
        text: &mut String,
        options: Options,
        rows: &[QueryRow],
        (kind, most): (&str, usize),
    ) -> String {
        let quantity = match self.quantity {
            Quantity::Weights => "weight",
            Quantity::Scores => "score",
        };
        let _ = writeln!(text, "{quantity}");
        let count = self.tokens.len();
        let decimals = match self.quantity {
            Quantity::Weights if count > TWO_DECIMALS => 3,
            _ => 2,
        };
        let mut kept: Vec<usize> = (0..rows.len()).collect();
        let peak = |row: usize| rows[row].cells.iter().copied().reduce(f32::max);
        let peak = |row: usize| peak(row).unwrap_or(f32::NEG_INFINITY);
        kept.sort_by(|&a, &b| peak(b).total_cmp(&peak(a)));
        kept.truncate(most);
        kept.sort_unstable();

        let position = (0..count).map(|key| width(&self.position(key))).max();
        let (position, digits) = (position.unwrap_or(0), self.digits(decimals));
        let (side, entry) = (side(rows), position + digits + 3);
        let room = options.width.saturating_sub(side) / entry;
        let affordable = MAX_BYTES / (kept.len().max(1) * (entry + painted(options)));
        let shown = room.min(affordable).min(MAX_KEYS_IN_LINE);
        let shown = shown.clamp(1, count.max(1));
        let scale = self.scale();
        for &row in &kept {
            let QueryRow { name, query, cells } = &rows[row];
            let _ = write!(text, "{}", right(name, side));
            for key in self.largest(&rows[row]).into_iter().take(shown) {
                let number = format!("{:>digits$.decimals$}", cells[key]);
                let share = scale.share(*query, cells[key]);
                let number = options.colour.paint(share, &number);
                let _ = write!(text, "  {}:{number}", right(&self.position(key), position));
            }
            text.push('\n');
        }
        self.colours(text, options);
        let keys = || kept.iter().map(|&row| self.keys[rows[row].query].count());
        let (least, most) = (keys().min().unwrap_or(0), keys().max().unwrap_or(0));
        let up_to = if least < most { "up to " } else { "" };
        let left = most.saturating_sub(shown);
        let mut left_out = format!("Not shown: {up_to}{left} of {most} keys.");
        if kept.len() < rows.len() {
            let (hidden, all) = (rows.len() - kept.len(), rows.len());
            let _ = write!(
                left_out,
                " Not shown: {hidden} of {all} {kind}; those shown have the largest {quantity}s."
            );
        }
        left_out
    }
}

/// The bytes around a number that give it a colour.
fn painted(options: Options) -> usize {
    match options.colour {
        ColourMode::Plain => 0,
        _ => 40,
    }
}

/// The width of the rows' names.
fn side(rows: &[QueryRow]) -> usize {
    let names = rows.iter().map(|row| width(&row.name));
    names.max().unwrap_or(0)
}
