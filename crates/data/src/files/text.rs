//! Samples as text: the token ids of one sample per line, separated by blanks or commas, without labels.

use std::io::BufRead;

use headlight_input::{LINE_LIMIT, Lines};

use super::rows::{Place, Rows};

pub(super) fn read(reader: impl BufRead, rows: &mut Rows) -> Result<(), String> {
    let mut lines = Lines::new(reader, LINE_LIMIT);
    let mut tokens = Vec::new();
    for number in 1.. {
        let place = Place::Line(number);
        let next = lines.next_line();
        let Some(line) = next.map_err(|error| format!("{place}: {error}"))? else {
            break;
        };
        tokens.clear();
        let words = line.text.trim_start_matches('\u{feff}');
        let words = words.split(|c: char| c.is_whitespace() || c == ',');
        for word in words.filter(|word| !word.is_empty()) {
            let token = word
                .parse::<i64>()
                .map_err(|_| format!("{place}: `{word}` is not a token id; write whole numbers"))?;
            tokens.push(token);
        }
        if !tokens.is_empty() {
            rows.push(place, false, None, &tokens)?;
        }
    }
    Ok(())
}
