//! The first screen after training: at most 24 lines of 80 columns.

use std::fmt::Write;

use crate::terminal::ColourMode;
use crate::words::{fitted, left, right, say, shorten, width};

/// The most lines and columns of a screen.
const LINES: usize = 24;
const COLUMNS: usize = 80;

/// The columns of a weight, without and with room for all keys, and of the longest name beside them.
const CELLS: [usize; 2] = [6, 5];
const NAME: usize = 12;

/// The columns of the longest word: a number of attention and a probability follow it.
const WORD: usize = 21;

/// The columns before lines that belong to the line above.
const INDENT: usize = 9;

/// The first screen after training. Where it has no room, it leaves out rows, as [`ScreenPart`] says.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    /// What the model answers.
    pub title: String,
    /// The parts below, each after an empty line.
    pub parts: Vec<ScreenPart>,
}

/// A part of a screen.
#[derive(Clone, Debug)]
pub enum ScreenPart {
    /// Sentences, a line or more for each; those after the first are indented.
    Sentences(Vec<String>),
    /// Attention weights.
    Weights(Weights),
    /// Words of a text, by falling importance; the last ones are left out first.
    Words {
        /// What the model says of the text.
        title: String,
        /// The words.
        words: Vec<ScreenWord>,
    },
    /// Names, each with a path or a command.
    Links(Vec<[String; 2]>),
}

/// Attention weights: rows of queries or of means, columns of keys. Long rows keep the largest weights.
#[derive(Clone, Debug)]
pub struct Weights {
    /// What they are.
    pub title: String,
    /// The names of the keys.
    pub keys: Vec<String>,
    /// The rows with their names; NaN where there is no weight.
    pub rows: Vec<(String, Vec<f32>)>,
    /// The row that stays if there is no room for all; `None` keeps the first ones.
    pub main: Option<usize>,
    /// How many classes there are, if rows are of classes; else 0.
    pub classes: usize,
}

/// A word of a text.
#[derive(Clone, Debug)]
pub struct ScreenWord {
    /// The word.
    pub word: String,
    /// The attention of `[CLS]` to it, as text.
    pub attention: String,
    /// The probability without it.
    pub without: f64,
}

impl Screen {
    /// The screen as text.
    pub fn text(mut self, colour: ColourMode) -> String {
        loop {
            let text = self.drawn(colour).replace('\u{a0}', " ");
            if text.lines().count() <= LINES || !self.shrink() {
                return text;
            }
        }
    }

    fn drawn(&self, colour: ColourMode) -> String {
        let mut text = String::new();
        say(&mut text, &self.title, COLUMNS);
        // A query that looks nowhere has no weights.
        let is_empty =
            |part: &&ScreenPart| matches!(part, ScreenPart::Weights(grid) if grid.rows.is_empty());
        for part in self.parts.iter().filter(|part| !is_empty(part)) {
            text.push('\n');
            match part {
                ScreenPart::Sentences(sentences) => indented(&mut text, sentences),
                ScreenPart::Weights(weights) => weights.draw(&mut text, colour),
                ScreenPart::Words { title, words } => list(&mut text, title, words),
                ScreenPart::Links(links) => {
                    for [name, target] in links {
                        let _ = writeln!(text, "{}{target}", left(name, INDENT));
                    }
                }
            }
        }
        text
    }

    /// Leaves out the least important row: of the largest part that can lose one.
    fn shrink(&mut self) -> bool {
        let part = self.parts.iter_mut().max_by_key(|part| part.spare());
        match part {
            Some(ScreenPart::Weights(weights)) if weights.rows.len() > 1 => {
                match weights.main.take() {
                    Some(main) => weights.rows = vec![weights.rows.swap_remove(main)],
                    None => weights.rows.truncate(weights.rows.len() - 1),
                }
                true
            }
            Some(ScreenPart::Words { words, .. }) if words.len() > 1 => words.pop().is_some(),
            Some(ScreenPart::Sentences(sentences)) if sentences.len() > 1 => {
                sentences.pop().is_some()
            }
            _ => false,
        }
    }
}

impl ScreenPart {
    /// How many rows it can lose.
    fn spare(&self) -> usize {
        match self {
            Self::Weights(weights) => weights.rows.len().saturating_sub(1),
            Self::Words { words, .. } => words.len().saturating_sub(1),
            // What came of the training stays as long as anything else can go.
            Self::Sentences(_) | Self::Links(_) => 0,
        }
    }
}

impl Weights {
    fn draw(&self, text: &mut String, colour: ColourMode) {
        let names = self.rows.iter().map(|(name, _)| width(name));
        let side = names.max().unwrap_or(0).clamp(3, NAME);
        let room = COLUMNS - 2 - side - 1;
        let fits = |&cell: &usize| cell * self.keys.len() <= room;
        let cell = CELLS.into_iter().find(fits).unwrap_or(CELLS[0]);
        let shown = self.shown(room / cell);
        let mut title = self.title.clone();
        if shown.len() < self.keys.len() {
            let _ = write!(title, "; {} of {} keys", shown.len(), self.keys.len());
        }
        if self.rows.len() < self.classes {
            let _ = write!(title, "; {} of {} classes", self.rows.len(), self.classes);
        }
        say(text, &title, COLUMNS);
        // A blank stands before the first cell already.
        let keys = shown.iter().enumerate().map(|(index, &key)| {
            let name = shorten(&self.keys[key], cell - usize::from(index > 0));
            right(&name, cell)
        });
        let keys: String = keys.collect();
        let _ = writeln!(text, "  {} {keys}", " ".repeat(side));
        let most = self.rows.iter().flat_map(|(_, row)| row);
        let most = most.copied().fold(0.0, f32::max);
        for (name, row) in &self.rows {
            let name = left(&shorten(name, side), side);
            let _ = write!(text, "  {name} ");
            for &key in &shown {
                let share = if most > 0.0 { row[key] / most } else { 0.0 };
                if row[key].is_nan() {
                    text.push_str(&right("–", cell));
                    continue;
                }
                let number = right(&format!("{:.2}", row[key]), cell);
                text.push_str(&colour.paint(share, &number));
            }
            text.push('\n');
        }
    }

    /// The keys that have room, in their order: those with the largest weights of any row.
    fn shown(&self, room: usize) -> Vec<usize> {
        let largest = |key: usize| {
            let column = self.rows.iter().map(|(_, row)| row[key]);
            column.fold(0.0, f32::max)
        };
        let mut keys: Vec<usize> = (0..self.keys.len()).collect();
        keys.sort_by(|&a, &b| largest(b).total_cmp(&largest(a)));
        keys.truncate(room);
        keys.sort_unstable();
        keys
    }
}

/// Adds sentences; lines after the first are indented.
fn indented(text: &mut String, sentences: &[String]) {
    let later = " ".repeat(INDENT);
    for (index, sentence) in sentences.iter().enumerate() {
        let options = textwrap::Options::new(COLUMNS)
            .initial_indent(if index == 0 { "" } else { &later })
            .subsequent_indent(&later);
        for line in textwrap::wrap(sentence, options) {
            let _ = writeln!(text, "{line}");
        }
    }
}

fn list(text: &mut String, title: &str, words: &[ScreenWord]) {
    say(text, title, COLUMNS);
    let side = words.iter().map(|word| width(&word.word)).max();
    let side = side.unwrap_or(0).clamp(10, WORD);
    let names: Vec<&str> = words.iter().map(|word| word.word.as_str()).collect();
    for (word, name) in words.iter().zip(fitted(&names, side)) {
        let ScreenWord {
            attention, without, ..
        } = word;
        let word = left(&name, side);
        let _ = writeln!(
            text,
            "  {word}  attention {attention}, probability {without:.3} without it"
        );
    }
}
