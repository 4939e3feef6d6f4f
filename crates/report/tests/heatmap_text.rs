//! Heatmaps in a terminal: numbers first, colour if the terminal has it, nothing left out silently.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_report::terminal::Options;
use headlight_report::{ColourMode, ColourRange, Heatmap, Quantity};

fn heatmap() -> Heatmap {
    Heatmap {
        title: ["attention weights", "sample 10", "head 0"]
            .map(str::to_owned)
            .to_vec(),
        quantity: Quantity::Weights,
        range: ColourRange::Unit,
        positions: vec![0, 1, 2],
        tokens: ["[CLS]", "16", "42"].map(str::to_owned).to_vec(),
        marked: vec![2],
        read: 0,
        keys: vec![(0..3).collect(); 3],
        layers: vec![0],
        heads: vec![0],
        cells: vec![0.125, 0.25, 0.625, 0.5, 0.25, 0.25, 0.0, 0.0, 1.0],
    }
}

fn drawn(colour: ColourMode, width: usize) -> String {
    heatmap().text(Options { colour, width }, None, "REMEDY")
}

#[test]
fn plain_text_has_every_number_and_no_escape() {
    let expected = "\
attention weights · sample 10 · head 0
rows: query (from), columns: key (to); *: a position that decides the label
           0       1       2*   
         [CLS]     16      42   
0 [CLS]  0.1250  0.2500  0.6250 
   1 16  0.5000  0.2500  0.2500 
  2* 42  0.0000  0.0000  1.0000 
";
    assert_eq!(drawn(ColourMode::Plain, 80), expected);
}

/// A model of `heads` heads over `count` positions: query q gives key q 1/2, the key after it 1/4 and so on.
fn long(count: usize, heads: usize) -> Heatmap {
    let distance = |cell: usize| (cell % count + count - cell / count) % count;
    let cells = (0..count * count).map(|cell| 0.5_f32.powf(distance(cell) as f32 + 1.0));
    let cells: Vec<f32> = cells.collect();
    Heatmap {
        positions: (0..count).collect(),
        tokens: (0..count).map(|token| token.to_string()).collect(),
        marked: vec![count - 1],
        keys: vec![(0..count).collect(); count],
        heads: (0..heads).collect(),
        cells: cells.repeat(heads),
        range: ColourRange::Uniform,
        ..heatmap()
    }
}

#[test]
fn narrow_terminals_lose_digits_then_show_the_largest_weights() {
    let narrow = drawn(ColourMode::Plain, 30);
    assert!(narrow.contains("0.12 "), "{narrow}");
    let list = drawn(ColourMode::Plain, 24);
    let of_cls: Vec<&str> = list.lines().filter(|line| line.starts_with("  ")).collect();
    let numbers = |line: &&str| line.split_whitespace().nth(2).map(str::to_owned);
    let numbers: Vec<String> = of_cls.iter().filter_map(numbers).take(3).collect();
    assert_eq!(numbers, ["0.6250", "0.2500", "0.1250"], "{list}");
}

/// What a text says of a long sequence: the largest keys with their positions, and the number of the others.
#[test]
fn a_long_sequence_shows_the_largest_weights() {
    let plain = |width| Options {
        colour: ColourMode::Plain,
        width,
    };
    let text = long(50, 1).text(plain(60), None, "REMEDY");
    for part in [
        "the 12 largest of 50 keys",
        "0 0    0.5000",
        "1 1    0.2500",
        "38 others  0.0002",
        // 60 columns have room for four keys.
        "   0 0    0:0.500    1:0.250    2:0.125    3:0.062",
        "Not shown: 46 of 50 keys. Not shown: 26 of 50 queries",
        "REMEDY",
    ] {
        assert!(text.replace('\n', " ").contains(part), "{part}: {text}");
    }
    let alone = long(50, 1).text(plain(60), Some(49), "REMEDY");
    assert!(alone.contains("49* 49  0.5000"), "{alone}");
    assert!(alone.contains("  0 0     0.2500"), "{alone}");
    let heads = long(50, 3).text(plain(60), Some(7), "REMEDY");
    assert!(heads.contains("head 2    7:0.500    8:0.250"), "{heads}");
    let many = long(50, 70)
        .text(plain(60), None, "REMEDY")
        .replace('\n', " ");
    assert!(many.contains("6 of 70 heads"), "{many}");
}

/// No line is wider than the terminal, no text larger than 20 kB.
#[test]
fn texts_fit() {
    for colour in [ColourMode::Plain, ColourMode::TrueColour] {
        for (count, heads) in [(7, 1), (21, 1), (50, 8), (100, 32), (300, 1)] {
            for width in [60, 80, 400] {
                for query in [None, Some(3)] {
                    let text = long(count, heads).text(Options { colour, width }, query, "REMEDY");
                    assert!(
                        text.len() <= 20_000,
                        "{count} {heads} {width}: {}",
                        text.len()
                    );
                    for line in text.lines() {
                        let parts = line.split('\x1b').enumerate();
                        // An escape ends with its first `m`.
                        let shown = parts.map(|(index, part)| match index {
                            0 => part.chars().count(),
                            _ => part.split_once('m').unwrap().1.chars().count(),
                        });
                        let shown: usize = shown.sum();
                        assert!(shown <= width, "{count} {heads} {width}: {line}");
                    }
                }
            }
        }
    }
}

#[test]
fn colours_run_over_the_fixed_scale() {
    let text = drawn(ColourMode::TrueColour, 80);
    // 1.0 is the light end, black on yellow; 0.0 the dark end, white on violet.
    assert!(
        text.contains("\x1b[38;2;0;0;0;48;2;253;231;37m 1.0000 \x1b[0m"),
        "{text:?}"
    );
    assert!(
        text.contains("\x1b[38;2;255;255;255;48;2;68;1;84m 0.0000 \x1b[0m"),
        "{text:?}"
    );
    assert!(drawn(ColourMode::Palette, 80).contains("\x1b[38;5;16;48;5;"));
}
