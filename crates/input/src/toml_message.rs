//! What a TOML reader says, in words for someone who does not read Rust.

use std::ops::Range;

/// Line and column, from 1, of a byte of a text.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

/// The line of a span under its number, with the span underlined; nothing where the line has more than
/// `limit` bytes.
pub fn excerpt(text: &str, span: &Range<usize>, limit: usize) -> String {
    let start = span.start.min(text.len());
    let (number, column) = line_and_column(text, start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[line_start..].lines().next().unwrap_or("");
    if line.len() > limit {
        return String::new();
    }
    // A span can begin at the end of a line, behind its last character: at the second byte of `\r\n`.
    let end = span.end.clamp(start, start.max(line_start + line.len()));
    let marked = text.get(start..end).map_or(0, |part| part.chars().count());
    let margin = " ".repeat(number.to_string().len());
    format!(
        "\n  {number} | {line}\n  {margin} | {}{}",
        " ".repeat(column - 1),
        "^".repeat(marked.max(1))
    )
}

/// Why a number above the integers of TOML is refused.
pub const TOO_LARGE: &str = "the number is too large; the largest is 9223372036854775807";

/// Whether a text is a whole number above the integers of TOML.
pub fn is_too_large(text: &str) -> bool {
    let digits = text.replace('_', "");
    let digits = digits.trim_start_matches(['+', '0']);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse::<i64>().is_err()
}

/// What to do about a backslash in double quotes, such as those of a path of Windows.
const ESCAPE: &str = "within double quotes, a backslash begins an escape such as `\\n`; write the path in single quotes, or with `/`";

/// A message of the TOML reader or of serde on one line, with types in plain words.
pub fn plain(message: &str) -> String {
    const WORDS: [(&str, &str); 15] = [
        ("expected variant identifier", "expected a string"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: section"),
        ("expected a map", "expected a section"),
        (
            "invalid type: unit variant, expected string only",
            "invalid type, expected a string",
        ),
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected u64", "expected a whole number, 0 or more"),
        (
            "expected u32",
            "expected a whole number from 0 to 4294967295",
        ),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        (
            "invalid boolean, expected",
            "true and false have no capital letter; expected",
        ),
        (
            "expected internally tagged enum LabelRule",
            "expected a section with `kind`",
        ),
        ("expected a sequence", "expected a list"),
        ("missing field", "missing key"),
        ("\n", ", "),
    ];
    // What the TOML reader says of integers up to 2^64, up to 2^127, and above.
    let too_large = [
        "u64 value was too large",
        " as i128",
        " as u128",
        "integer number overflowed",
    ];
    if too_large.iter().any(|part| message.contains(part)) {
        return TOO_LARGE.to_owned();
    }
    if ["unicode value digits", "escaped value"]
        .iter()
        .any(|part| message.contains(part))
    {
        return ESCAPE.to_owned();
    }
    let message = match message.trim_end().split_once("expected struct ") {
        Some((before, struct_name)) => {
            let rest = struct_name.trim_start_matches(char::is_alphanumeric);
            format!("{before}expected a section; set one of its keys{rest}")
        }
        None => message.trim_end().to_owned(),
    };
    WORDS.iter().fold(message, |text, (technical, plain)| {
        text.replace(technical, plain)
    })
}

/// A name that serde does not know, and the names that it expected instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown<'a> {
    /// `field` or `variant`.
    pub what: &'a str,
    /// The unknown name.
    pub name: &'a str,
    /// The names that are known.
    pub known: Vec<&'a str>,
}

impl<'a> Unknown<'a> {
    /// Takes serde's message apart; `None` for any other message.
    pub fn parse(message: &'a str) -> Option<Self> {
        let (what, rest) = message.strip_prefix("unknown ")?.split_once(' ')?;
        // Every second piece between backticks is a name.
        let mut names = rest.split('`').skip(1).step_by(2);
        let name = names.next()?;
        ["field", "variant"].contains(&what).then(|| Self {
            what,
            name,
            known: names.collect(),
        })
    }

    /// The known name to suggest, or else all of them: `did you mean ...?` or `it can be ...`.
    pub fn suggestion(&self, otherwise: &str) -> String {
        match nearest(self.name, self.known.iter().copied()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!("; {otherwise} {}", self.known.join(", ")),
        }
    }
}

/// The known name that is most like `name`, if any is.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (strsim::jaro_winkler(candidate, name), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_in_characters() {
        let text = "a = 1\nµ = \"x\"\n";
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, 9), (2, 3));
        assert_eq!(line_and_column(text, 1000), (3, 1));
        assert_eq!(excerpt(text, &(6..8), 100), "\n  2 | µ = \"x\"\n    | ^");
        assert_eq!(excerpt(text, &(6..8), 8), "\n  2 | µ = \"x\"\n    | ^");
        assert_eq!(excerpt(text, &(6..8), 7), "");
    }

    #[test]
    fn a_mark_ends_with_its_line() {
        let text = format!("{}a = [1,\n  2]\n", "\n".repeat(9));
        assert_eq!(
            excerpt(&text, &(13..21), 100),
            "\n  10 | a = [1,\n     |     ^^^"
        );
        assert_eq!(
            excerpt(&text, &(14..15), 100),
            "\n  10 | a = [1,\n     |      ^"
        );
    }

    #[test]
    fn types_are_in_plain_words() {
        assert_eq!(
            plain("invalid type: string \"x\"\nexpected usize\n"),
            "invalid type: string \"x\", expected a whole number, 0 or more"
        );
        assert_eq!(plain("missing field `epochs`"), "missing key `epochs`");
        assert_eq!(plain("expected a boolean"), "expected true or false");
        assert_eq!(
            plain("invalid type: integer `3`, expected struct TrainingConfig\nin `training`\n"),
            "invalid type: integer `3`, expected a section; set one of its keys, in `training`"
        );
    }

    #[test]
    fn integers_end_at_2_to_the_63() {
        for text in [
            "9223372036854775808",
            "+9_223_372_036_854_775_808",
            &"9".repeat(99),
        ] {
            assert!(is_too_large(text), "{text}");
        }
        for text in [
            "9223372036854775807",
            "00000000000000000000007",
            "0",
            "",
            "1e99",
            "-9223372036854775809",
        ] {
            assert!(!is_too_large(text), "{text}");
        }
    }

    #[test]
    fn unknown_names_come_with_the_nearest() {
        let unknown =
            Unknown::parse("unknown field `epoch`, expected one of `epochs`, `batch_size`");
        assert_eq!(
            unknown.map(|unknown| unknown.suggestion("the keys there are")),
            Some("; did you mean `epochs`?".to_owned())
        );
        let unknown = Unknown::parse("unknown variant `zzz`, expected `query` or `key`");
        assert_eq!(
            unknown.map(|unknown| unknown.suggestion("it can be")),
            Some("; it can be query, key".to_owned())
        );
        assert_eq!(Unknown::parse("missing field `epochs`"), None);
    }
}
