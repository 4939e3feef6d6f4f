//! Samples as lines of text, without labels: token ids separated by blanks or commas, or words.

use std::io::BufRead;

use headlight_input::{LINE_LIMIT, Lines};

use super::rows::{Held, Place, Rows};

pub(super) fn read(
    reader: impl BufRead,
    are_texts: bool,
    keeps_empty: bool,
    rows: &mut Rows,
) -> Result<(), String> {
    let mut lines = Lines::new(reader, LINE_LIMIT);
    let mut tokens = Vec::new();
    loop {
        let next = lines.next_line();
        let place = Place::Line(lines.number);
        let Some(line) = next.map_err(|error| format!("{place}: {error}"))? else {
            return Ok(());
        };
        let text = line.text.trim_start_matches('\u{feff}').trim();
        if are_texts && !keeps_empty && text.is_empty() {
            continue;
        }
        if are_texts {
            rows.push(place, false, None, Held::Text(text))?;
            continue;
        }
        tokens.clear();
        let ids = text.split(|c: char| c.is_whitespace() || c == ',');
        for id in ids.filter(|id| !id.is_empty()) {
            let token = id
                .parse::<i64>()
                .map_err(|_| format!("{place}: `{id}` is not a token id; write whole numbers"))?;
            tokens.push(token);
        }
        if !tokens.is_empty() {
            rows.push(place, false, None, Held::Tokens(&tokens))?;
        }
    }
}
