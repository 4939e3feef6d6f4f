//! Counts in words, numbers in tables, and text measured in columns of a terminal, where wide characters take two and combining
//! ones none.

use std::collections::BTreeMap;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthStr;

/// A count and what it counts: `1 run`, `2 runs`, `2 classes`.
pub fn counted(count: usize, one: &str) -> String {
    let end = match count {
        1 => "",
        _ if one.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {one}{end}")
}

/// From here a number is written with an exponent.
pub(crate) const LONG: f64 = 1e9;

/// Below this a number is, too: nobody should take it for 0.
const TINY: f64 = 1e-9;

/// A number with `decimals` decimals, or with an exponent if it is long or tiny; a dash if it is not defined.
pub fn number(value: Option<f64>, decimals: usize) -> String {
    let Some(value) = value else {
        return "–".to_owned();
    };
    let size = value.abs();
    if size >= LONG || (size > 0.0 && size < TINY) {
        format!("{value:.3e}")
    } else {
        format!("{value:.decimals$}")
    }
}

/// The number of columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Pads a text on the left up to a width.
pub(crate) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Pads a text on the right up to a width.
pub(crate) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Pads a text on both sides up to a width.
pub(crate) fn centred(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    left(&right(text, width(text) + blanks / 2), columns)
}

/// Shortens a text to at most `columns`; a shortened text ends with `…`.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    for character in text.chars() {
        short.push(character);
        if width(&short) >= columns {
            short.pop();
            break;
        }
    }
    short + "…"
}

/// Words of at most so many columns. Of a value with its column, the column's name gives way.
pub(crate) fn fitted<'a>(words: &[&'a str], columns: usize) -> Vec<String> {
    let named = |word: &'a str| word.split_once('=').unwrap_or((word, ""));
    let names: Vec<&str> = words.iter().map(|word| named(word).0).collect();
    let fitted = |word: &&'a str| {
        let (name, value) = named(word);
        let room = columns.checked_sub(width(value) + 1)?;
        let index = names.iter().position(|other| *other == name)?;
        let is_value = !value.is_empty() && room > 1;
        let name = shorten(&shorten_apart(&names, room)[index], room);
        is_value.then(|| format!("{name}={value}"))
    };
    let each = words
        .iter()
        .map(|word| fitted(word).unwrap_or_else(|| shorten(word, columns)));
    each.collect()
}

/// Adds a paragraph in lines of at most `columns`.
pub(crate) fn say(text: &mut String, paragraph: &str, columns: usize) {
    for line in wrap(paragraph, columns) {
        *text += &(line + "\n");
    }
}

/// Lines of at most `columns`, broken at spaces; a longer word has a line of its own.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    wrapped(text, columns, false)
}

/// Lines of at most `columns`, broken at spaces, and within longer words.
pub(crate) fn wrap_tightly(text: &str, columns: usize) -> Vec<String> {
    wrapped(text, columns, true)
}

/// Names of at most `columns`, each in lines. A longer name is cut; but if names that differ would then look alike, it is
/// broken into lines.
pub(crate) fn fitted_names(names: &[&str], columns: usize) -> Vec<Vec<String>> {
    let cut: Vec<String> = names.iter().map(|name| shorten(name, columns)).collect();
    if are_alike(&cut, names) {
        let lines = names.iter().map(|name| wrap_tightly(name, columns));
        return lines.collect();
    }
    cut.into_iter().map(|name| vec![name]).collect()
}

/// Whether names that differ look alike where they are cut.
fn are_alike(cut: &[String], names: &[&str]) -> bool {
    let mut first = BTreeMap::new();
    cut.iter().zip(names).any(|(cut, &name)| {
        let first = first.entry(cut).or_insert(name);
        *first != name
    })
}

/// Shortens names to at most `columns`. If names that differ would then look alike, they keep their ends and lose what is between;
/// if they still look alike, they stay whole.
pub fn shorten_apart(names: &[&str], columns: usize) -> Vec<String> {
    let ways: [fn(&str, usize) -> String; 2] = [shorten, shorten_between];
    let mut ways = ways
        .into_iter()
        .map(|way| -> Vec<String> { names.iter().map(|name| way(name, columns)).collect() });
    let apart = ways.find(|cut| !are_alike(cut, names));
    apart.unwrap_or_else(|| names.iter().map(|&name| name.to_owned()).collect())
}

/// Shortens a text to at most `columns`, two thirds of which are for its end.
fn shorten_between(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut ends = text.char_indices().map(|(at, _)| &text[at..]);
    let end = ends
        .find(|end| width(end) <= columns * 2 / 3)
        .unwrap_or_default();
    shorten(text, columns - width(end)) + end
}

fn wrapped(text: &str, columns: usize, break_words: bool) -> Vec<String> {
    let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return Vec::new();
    }
    let options = Options::new(columns)
        .break_words(break_words)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let lines = textwrap::wrap(&text, options);
    lines.into_iter().map(Into::into).collect()
}
