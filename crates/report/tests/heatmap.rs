//! Heatmaps as pictures: they contain every number, tokens stay text, and cells have their colours.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_report::{ColourRange, Heatmap, Quantity};

fn heatmap(tokens: &[&str], quantity: Quantity) -> Heatmap {
    let count = tokens.len();
    Heatmap {
        title: ["attention weights", "sample 7"]
            .map(str::to_owned)
            .to_vec(),
        quantity,
        range: ColourRange::Unit,
        positions: (0..count).collect(),
        tokens: tokens.iter().map(|&token| token.to_owned()).collect(),
        marked: vec![1],
        read: 0,
        keys: vec![(0..count).collect(); count],
        layers: vec![0],
        heads: vec![0],
        cells: (0..count * count)
            .map(|index| index as f32 / (count * count - 1) as f32)
            .collect(),
    }
}

#[test]
fn the_svg_holds_every_number_and_name() {
    let svg = heatmap(&["[CLS]", "42", "7"], Quantity::Weights).svg();
    for index in 0..9 {
        assert!(svg.contains(&format!(">{:.4}</text>", index as f32 / 8.0)));
    }
    for name in [
        "0 [CLS]",
        "1* 42",
        "2 7",
        "*: a position that decides the label",
        "sample 7",
    ] {
        assert!(svg.contains(name), "{name}");
    }
    assert!(svg.contains("<title>query 1* 42, key 2 7: 0.625</title>"));
}

#[test]
fn tokens_are_text_whatever_they_say() {
    let svg = heatmap(
        &["<script>alert(1)</script>", "\u{202e}abc", "\u{1f600}\u{7}"],
        Quantity::Scores,
    )
    .svg();
    assert!(!svg.contains("<script"));
    assert!(!svg.contains('\u{7}'));
    assert!(svg.contains("&lt;script&gt;"));
}

#[test]
fn many_positions_have_colours_and_no_numbers() {
    let names: Vec<String> = (0..60).map(|token| token.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let svg = heatmap(&names, Quantity::Weights).svg();
    assert_eq!(svg.matches("</title></rect>").count(), 3600);
    assert!(!svg.contains("class=\"middle on-light\""));
}

/// The first and the last cell have the colours at the ends of matplotlib's viridis.
#[test]
fn cells_have_the_colours_of_their_values() {
    let svg = heatmap(&["a", "b"], Quantity::Weights).svg();
    for (which, colour) in [
        ("query 0 a, key 0 a", "#440154"),
        ("query 1* b, key 1* b", "#fde725"),
    ] {
        let cell = svg.lines().find(|line| line.contains(which)).unwrap();
        assert!(cell.contains(&format!("fill=\"{colour}\"")), "{cell}");
    }
}

/// Layers are rows, heads are columns, and one range is that of all heads.
#[test]
fn several_heads_are_a_grid_with_one_scale() {
    let mut grid = heatmap(&["a", "b"], Quantity::Weights);
    grid.range = ColourRange::Data;
    grid.layers = vec![0, 1];
    grid.heads = vec![0, 1, 2];
    grid.cells = (0..24).map(|index| index as f32 / 32.0).collect();
    let svg = grid.svg();
    let cell = |value: &str| -> (u32, u32, String) {
        let line = svg
            .lines()
            .find(|line| line.contains(&format!(": {value}</title>")));
        let part = |name: &str| {
            let rest = line.unwrap().split(&format!(" {name}=\"")).nth(1).unwrap();
            rest.split('"').next().unwrap().to_owned()
        };
        let [x, y] = ["x", "y"].map(|name| part(name).parse::<f64>().unwrap() as u32);
        (x, y, part("fill"))
    };
    // The first cells of layer 0 head 0, of layer 0 head 2, and of layer 1 head 2; the last cell of all.
    let [first, across, down, last] = ["0", "0.25", "0.625", "0.71875"].map(cell);
    assert!(across.0 > first.0 && across.1 == first.1);
    assert!(down.0 == across.0 && down.1 > across.1);
    assert_eq!((first.2.as_str(), last.2.as_str()), ("#440154", "#fde725"));
    for title in [
        ">head 0<",
        ">head 2<",
        ">layer 0<",
        ">layer 1<",
        "0.00",
        "0.72",
    ] {
        assert!(svg.contains(title), "{title}");
    }
}

/// 32 heads over 100 positions, each cell drawn, in a file that a browser opens.
#[test]
fn a_large_grid_has_every_cell() {
    let names: Vec<String> = (0..100).map(|token| token.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut grid = heatmap(&names, Quantity::Weights);
    grid.layers = (0..4).collect();
    grid.heads = (0..8).collect();
    grid.cells = grid.cells.repeat(32);
    let svg = grid.svg();
    assert_eq!(svg.matches("h2v2h-2z").count(), 320_000);
    assert!(svg.len() < 8_000_000, "{}", svg.len());
}

#[test]
fn a_long_title_breaks_between_its_parts() {
    let mut heatmap = heatmap(&["a", "b"], Quantity::Weights);
    heatmap.title = [
        "attention weights",
        "sample 7",
        "head 0",
        "probability 0.5",
        "step 1500",
    ]
    .map(str::to_owned)
    .to_vec();
    let svg = heatmap.svg();
    let mut titles: Vec<&str> = svg.split("class=\"title\"").skip(1).collect();
    for title in &mut titles {
        *title = title.split(['>', '<']).nth(1).unwrap();
    }
    assert_eq!(
        titles,
        [
            "attention weights · sample 7 · head 0",
            "probability 0.5 · step 1500"
        ]
    );
}

/// Wide words stand upright above their columns, and none is cut; in a grid, every token has its name.
#[test]
fn no_name_is_left_out_where_there_is_room() {
    let words = ["[CLS]", "an", "extraordinarily", "dull", "film"];
    let mut heatmap = heatmap(&words, Quantity::Weights);
    let names = |svg: &str| -> Vec<usize> {
        let named = words.map(|word| format!(" {word}</text>"));
        named.iter().map(|name| svg.matches(name).count()).collect()
    };
    let svg = heatmap.svg();
    assert_eq!(svg.matches("rotate(-90)").count(), 5);
    assert_eq!(names(&svg), [2; 5]);

    let count = 32;
    heatmap.tokens = (0..count).map(|index| format!("word{index}")).collect();
    heatmap.positions = (0..count).collect();
    heatmap.keys = vec![(0..count).collect(); count];
    heatmap.heads = vec![0, 1];
    heatmap.cells = vec![0.03; 2 * count * count];
    let svg = heatmap.svg();
    for index in 0..count {
        let name = format!(" word{index}</text>");
        // Beside the row, and above the column of both heads.
        assert_eq!(svg.matches(&name).count(), 3, "{name}");
    }
}

#[test]
fn numbers_are_black_on_light_cells_and_white_on_dark_ones() {
    let svg = heatmap(&["a", "b"], Quantity::Weights).svg();
    let inks: Vec<&str> = svg
        .split("middle on-")
        .skip(1)
        .map(|part| &part[..5])
        .collect();
    assert_eq!(inks, ["dark\"", "dark\"", "light", "light"]);
}
