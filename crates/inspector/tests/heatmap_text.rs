//! Heatmaps in a terminal: numbers first, colour if the terminal has it, nothing left out silently.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_inspector::terminal::Options;
use headlight_inspector::{ColourMode, Heatmap, Quantity};

fn heatmap() -> Heatmap {
    Heatmap {
        title: "attention weights · sample 10 · head 0".to_owned(),
        quantity: Quantity::Weights,
        tokens: ["[CLS]", "16", "42"].map(str::to_owned).to_vec(),
        marked: vec![2],
        cells: vec![0.125, 0.25, 0.625, 0.5, 0.25, 0.25, 0.0, 0.0, 1.0],
    }
}

fn drawn(colour: ColourMode, width: usize) -> String {
    heatmap().text(Options { colour, width })
}

#[test]
fn plain_text_has_every_number_and_no_escape() {
    let expected = "\
attention weights · sample 10 · head 0
rows: query (from), columns: key (to); * decides the label
           0       1       2*   
         [CLS]     16      42   
0 [CLS]  0.1250  0.2500  0.6250 
   1 16  0.5000  0.2500  0.2500 
  2* 42  0.0000  0.0000  1.0000 
";
    assert_eq!(drawn(ColourMode::Plain, 80), expected);
}

#[test]
fn narrow_terminals_lose_digits_then_say_what_is_missing() {
    assert!(
        drawn(ColourMode::Plain, 30).contains("0.12 "),
        "{}",
        drawn(ColourMode::Plain, 30)
    );
    let narrow = drawn(ColourMode::Plain, 24);
    assert!(
        narrow.contains("keys 2 to 2 do not fit into 24 columns"),
        "{narrow}"
    );
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
