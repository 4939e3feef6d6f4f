//! Documents: tables of numbers beside printed ones, tables of text, plots, and text that is never markup.
#![allow(missing_docs, clippy::unwrap_used)]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use headlight_report::terminal::Options;
use headlight_report::{
    ColourMode, Document, Listing, Numbers, Plot, PrintedNumber, Section, Table,
};
use sha2::{Digest, Sha256};

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn printed(row: usize, column: usize, value: f64, differs: bool) -> PrintedNumber {
    PrintedNumber {
        row,
        column,
        value,
        decimals: 2,
        differs,
    }
}

fn weights() -> Numbers {
    Numbers {
        title: "weights".to_owned(),
        how: "softmax of each row".to_owned(),
        rows: strings(&["She", "did"]),
        columns: strings(&["She", "did"]),
        values: vec![vec![0.669_8, 0.330_2], vec![0.25, f64::NEG_INFINITY]],
        shaded: true,
        printed: vec![printed(0, 0, 0.67, false), printed(0, 1, 0.4, true)],
        notes: strings(&["She: a slip"]),
    }
}

fn document(table: impl Into<Table>) -> Document {
    Document {
        title: "An example".to_owned(),
        paragraphs: strings(&["From: a document."]),
        sections: vec![Section {
            title: "Scaled".to_owned(),
            paragraphs: Vec::new(),
            tables: vec![table.into()],
            ..Section::default()
        }],
    }
}

fn text(document: &Document, width: usize) -> String {
    document.text(Options {
        colour: ColourMode::Plain,
        width,
    })
}

/// Names that would look alike where they are cut stand in lines, and others are cut; nothing is wider than the terminal.
#[test]
fn names_that_differ_never_look_alike() {
    let key = |end: &str| format!("a.rather_long_name=4 {end}");
    let table = |ends: [&str; 2]| {
        let rows = ends.map(|end| vec![key(end), "1".to_owned(), "2".to_owned()]);
        let head = [&[String::new()][..], &ends.map(key)].concat();
        let table = Table::of_text("Points", "", [head].into_iter().chain(rows).collect());
        let document = Document {
            sections: vec![Section {
                tables: vec![table],
                ..Section::default()
            }],
            ..Document::default()
        };
        let text = text(&document, 80);
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        text
    };
    let (rate, alike) = (
        "learning_rate=0.000",
        ["learning_rate=0.0001", "learning_rate=0.0002"],
    );
    let whole = table(alike);
    assert_eq!(whole.matches(rate).count(), 4, "{whole}");
    assert!(!whole.contains('…'), "{whole}");
    assert!(whole.contains(alike[0]) && whole.contains(alike[1]));
    let one = table([alike[0], alike[0]]);
    assert!(one.contains('…') && !one.contains(rate), "{one}");
}

#[test]
fn text_is_aligned_and_marks_what_differs() {
    let expected = "\
weights: softmax of each row
        She           did
She  0.6698 =0.67  0.3302 ≠0.40
did  0.2500            −∞
  · She: a slip
";
    let text = text(&document(weights()), 80);
    assert!(text.ends_with(expected), "{text}");
    assert!(text.contains("≠: it differs"), "{text}");
}

#[test]
fn a_terminal_with_colour_shades_weights_and_keeps_the_numbers() {
    let options = Options {
        colour: ColourMode::TrueColour,
        width: 80,
    };
    let text = document(weights()).text(options);
    assert!(
        text.contains(";48;2;") && text.contains("m0.6698\x1b[0m"),
        "{text}"
    );
    let mut plain = weights();
    plain.shaded = false;
    assert!(!document(plain).text(options).contains('\x1b'));
}

/// A wide character takes two columns, and so does an emoji made of several; a combining one takes none.
#[test]
fn columns_line_up_by_what_is_seen() {
    let table = Numbers {
        rows: strings(&["猫が", "👩‍💻", "cafe\u{301}", "x"]),
        columns: strings(&["0"]),
        values: [1.0, 2.0, 3.0, 4.0].map(|value| vec![value]).to_vec(),
        ..Numbers::default()
    };
    let text = text(&document(table), 80);
    let lines: Vec<&str> = text.lines().rev().take(4).collect();
    assert_eq!(lines, ["   x  4", "cafe\u{301}  3", "  👩‍💻  2", "猫が  1"]);
}

/// Text shortens a long name; HTML has all of it.
#[test]
fn long_names_are_shortened_visibly() {
    let mut table = weights();
    table.rows[0] = "a".repeat(50);
    let document = document(table);
    let cut = format!("\n{}…  0.6698 ", "a".repeat(39));
    assert!(
        text(&document, 80).contains(&cut),
        "{}",
        text(&document, 80)
    );
    assert!(document.html().contains(&"a".repeat(50)));
}

#[test]
fn columns_that_do_not_fit_stand_below() {
    let table = Numbers {
        rows: strings(&["row"]),
        columns: strings(&["one", "two", "three"]),
        values: vec![vec![1.0, 2.0, 3.0]],
        ..Numbers::default()
    };
    let narrow = text(&document(table.clone()), 15);
    assert!(
        narrow.ends_with("     one  two\nrow    1    2\n     three\nrow      3\n"),
        "{narrow}"
    );
    // However narrow, no number is lost.
    assert!(text(&document(table), 1).contains("row      3"));
}

#[test]
fn numbers_have_the_decimals_that_they_need() {
    let number = |values: &[f64]| {
        let table = Numbers {
            rows: strings(&["r"]),
            columns: vec!["c".to_owned(); values.len()],
            values: vec![values.to_vec()],
            ..Numbers::default()
        };
        let text = text(&document(table), 200);
        let line = text.lines().last().unwrap().to_owned();
        line.split_whitespace()
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(number(&[1.0, -2.0]), ["1", "−2"]);
    assert_eq!(number(&[0.1, 0.25]), ["0.10", "0.25"]);
    assert_eq!(number(&[1.0 / 3.0, -0.000_01]), ["0.3333", "0.0000"]);
    assert_eq!(number(&[3e20]), ["3.0000e20"]);
}

const HOSTILE: &str = "</title><script>alert(\"1\")</script>&\u{1b}[31m";

#[test]
fn text_is_never_markup() {
    let mut table = weights();
    table.title = HOSTILE.to_owned();
    table.how = HOSTILE.to_owned();
    table.rows = vec![HOSTILE.to_owned(), "שלום".to_owned()];
    table.columns = vec![HOSTILE.to_owned(), "👩‍💻".to_owned()];
    table.notes = vec![HOSTILE.to_owned()];
    let document = Document {
        title: HOSTILE.to_owned(),
        paragraphs: vec![HOSTILE.to_owned()],
        sections: vec![Section {
            title: HOSTILE.to_owned(),
            paragraphs: vec![HOSTILE.to_owned()],
            tables: vec![table.into()],
            ..Section::default()
        }],
    };
    let text = document.html();
    assert!(
        !text.contains("<script") && !text.contains('\x1b'),
        "{text}"
    );
    assert!(
        text.contains("&lt;script&gt;alert(&quot;1&quot;)"),
        "{text}"
    );
    assert!(text.contains("שלום") && text.contains("👩‍💻"), "{text}");
    assert_eq!(text.matches("</title>").count(), 1, "{text}");
}

#[test]
fn a_document_loads_nothing_and_allows_its_own_style_only() {
    let html = document(weights()).html();
    for loading in [
        "src=", "href=", "url(", "@import", "http:", "https:", " style=",
    ] {
        assert!(!html.contains(loading), "{loading}");
    }
    let style = html
        .split("<style>")
        .nth(1)
        .unwrap()
        .split("</style>")
        .next()
        .unwrap();
    let hash = STANDARD.encode(Sha256::digest(style));
    assert!(
        html.contains(&format!("default-src 'none'; style-src 'sha256-{hash}'")),
        "the hash of the style is {hash}"
    );
}

/// Each shade and each mark comes with a number or a sign.
#[test]
fn colour_alone_says_nothing() {
    let html = document(weights()).html();
    assert!(
        html.contains("<td class=\"s13 beside\">0.6698</td>"),
        "{html}"
    );
    assert!(html.contains("<span class=\"same\">=0.67</span>"), "{html}");
    assert!(
        html.contains("<span class=\"differs\">≠0.40</span>"),
        "{html}"
    );
    assert!(html.contains("prefers-color-scheme: dark"));
}

#[test]
fn pictures_of_very_wide_tables_say_what_they_leave_out() {
    let table = Numbers {
        rows: strings(&["r"]),
        columns: (0..300).map(|column| column.to_string()).collect(),
        values: vec![vec![0.5; 300]],
        ..Numbers::default()
    };
    let document = document(table);
    for text in [document.html(), text(&document, 100)] {
        assert!(text.contains("columns 256 to 299 are not shown; the JSON has them"));
    }
}

/// A report of many runs is tables of text, with plots.
#[test]
fn reports_are_markdown_and_html() {
    let rows = [["", "mean"], ["loss | a", "0.5"], ["猫\n", "12.25"]];
    let rows = rows.map(|row| strings(&row)).to_vec();
    let histogram = Plot::Histogram {
        label: "final loss".to_owned(),
        values: vec![1.0, 2.0],
        mark: None,
    };
    let report = Document {
        title: "Runs & more".to_owned(),
        paragraphs: strings(&["2 runs"]),
        sections: vec![Section {
            tables: vec![Table::of_text("All", "of two", rows)],
            plots: vec![histogram],
            ..Section::default()
        }],
    };
    let expected = "\
2 runs

All: of two

|           |  mean |
|-----------|------:|
| loss \\| a |   0.5 |
| 猫\u{fffd}       | 12.25 |

final loss
";
    let text = report.markdown(80);
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains('█'), "{text}");
    let html = report.html();
    assert!(html.contains("<td class=\"corner\"></td>") && html.contains("<bdi>mean</bdi>"));
    // Both style sheets are allowed by their hashes: the document's and the picture's.
    let policy = html.split("style-src ").nth(1).unwrap();
    let policy = policy.split(';').next().unwrap();
    for part in html.split("<style>").skip(1) {
        let style = part.split("</style>").next().unwrap();
        let hash = STANDARD.encode(Sha256::digest(style));
        assert!(policy.contains(&format!("'sha256-{hash}'")), "{policy}");
    }
    assert!(html.contains("class=\"bar\"") && report.plots_svg().contains("Runs &amp; more"));
}

/// A listing keeps its blanks, a paragraph stands by itself, and columns of text begin at the left.
#[test]
fn listings_and_text_are_drawn_in_every_form() {
    let long = "a ".repeat(60);
    let rows = [
        ["sample", "tokens", "note"],
        ["0", "[CLS] a", &long],
        ["1", "b", "c"],
    ];
    let rows = rows.map(|row| strings(&row)).to_vec();
    let listing = Listing {
        title: "Weights & more:".to_owned(),
        lines: strings(&["[[0.5 0.5]", " [1.0 0.0]]"]),
    };
    let fenced = Listing {
        title: String::new(),
        lines: strings(&["```"]),
    };
    let document = Document {
        title: "A run".to_owned(),
        sections: vec![
            Section::of_paragraph("Learned.".to_owned()),
            Section {
                title: "Attention".to_owned(),
                listings: vec![listing, fenced],
                ..Section::default()
            },
            Section {
                tables: vec![Table::of_text("", "", rows).left_aligned(&["tokens", "note"])],
                ..Section::default()
            },
        ],
        ..Document::default()
    };
    let expected = format!(
        "\
# A run

Learned.

## Attention

Weights & more:

```text
[[0.5 0.5]
 [1.0 0.0]]
```

````text
```
````

| sample | tokens  | note |
|--------|---------|----|
| 0      | [CLS] a | {} |
| 1      | b       | c  |
",
        long.trim_end()
    );
    assert_eq!(document.markdown_file(80), expected);
    let text = text(&document, 200);
    for part in [
        "\n\nLearned.\n",
        "\nWeights & more:\n[[0.5 0.5]\n [1.0 0.0]]\n",
        "\n     1  b        c\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let html = document.html();
    assert!(
        html.contains("<pre>[[0.5 0.5]\n [1.0 0.0]]</pre>"),
        "{html}"
    );
    assert!(html.contains("<td class=\"words\">b</td>"), "{html}");
}

#[test]
fn paragraphs_break_between_words_only() {
    let mut long = document(weights());
    long.paragraphs = strings(&["one\n two three-four five", "猫猫猫 猫猫 unbreakable", ""]);
    let text = text(&long, 11);
    let lines: Vec<&str> = text.lines().skip(2).take(6).collect();
    assert_eq!(
        lines,
        [
            "one two",
            "three-four",
            "five",
            "猫猫猫 猫猫",
            "unbreakable",
            "The number"
        ]
    );
}

/// A style uses only properties that the theme defines.
#[test]
fn every_colour_is_of_the_theme() {
    let html = document(weights()).html();
    for part in html.split("var(").skip(1) {
        let name = part.split(')').next().unwrap();
        assert!(html.contains(&format!("{name}:#")), "{name}");
    }
}
