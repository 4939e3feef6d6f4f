//! Plots of settings: a map of two of them, and a curve over numbers.
#![allow(missing_docs, clippy::unwrap_used, clippy::float_cmp)]

use headlight_report::{Document, GridPlot, Plot, Section};

fn svg(plot: Plot) -> String {
    let document = Document {
        sections: vec![Section {
            plots: vec![plot],
            ..Section::default()
        }],
        ..Document::default()
    };
    document.plots_svg()
}

fn grid(cells: Vec<Vec<Option<(f64, usize)>>>) -> Plot {
    let names = |letter: char, count: usize| (0..count).map(|i| format!("{letter}{i}")).collect();
    Plot::Grid(GridPlot {
        quantity: "mean F1".to_owned(),
        decimals: 4,
        labels: ["model.d_model", "training.learning_rate"].map(str::to_owned),
        names: [names('c', cells[0].len()), names('r', cells.len())],
        cells,
    })
}

/// What the attributes of each named cell are: its name, its paint, and its corner.
fn cells(svg: &str) -> Vec<(String, String, [f64; 2])> {
    let named = svg.lines().filter(|line| line.contains("<title>model."));
    let between = |line: &str, start: &str, end: &str| {
        let rest = line.split_once(start).unwrap().1;
        rest.split_once(end).unwrap().0.to_owned()
    };
    named
        .map(|line| {
            let corner = ["x", "y"].map(|side| between(line, &format!(" {side}=\""), "\""));
            (
                between(line, "<title>", "</title>"),
                between(line, "fill=\"", "\""),
                corner.map(|number| number.parse().unwrap()),
            )
        })
        .collect()
}

#[test]
fn a_map_has_a_cell_for_each_pair_from_the_lower_left_corner() {
    let drawn = svg(grid(vec![
        vec![Some((0.25, 4)), Some((0.5, 1))],
        vec![None, Some((1.0, 3))],
    ]));
    let cells = cells(&drawn);
    let names: Vec<&str> = cells.iter().map(|(name, ..)| &**name).collect();
    assert_eq!(
        names,
        [
            "model.d_model = c0, training.learning_rate = r0: 0.2500, mean of 4 runs",
            "model.d_model = c1, training.learning_rate = r0: 0.5000, mean of 1 run",
            "model.d_model = c0, training.learning_rate = r1: no runs",
            "model.d_model = c1, training.learning_rate = r1: 1.0000, mean of 3 runs",
        ]
    );
    // Columns go to the right, rows upwards.
    let corners: Vec<[f64; 2]> = cells.iter().map(|(.., corner)| *corner).collect();
    assert!(corners[0][0] < corners[1][0] && corners[0][0] == corners[2][0]);
    assert!(corners[0][1] > corners[2][1] && corners[0][1] == corners[1][1]);
    // Viridis from its first colour to its last; a pair without runs has none.
    let paints: Vec<&str> = cells.iter().map(|(_, paint, _)| &**paint).collect();
    assert_eq!((paints[0], paints[3]), ("#440154", "#fde725"));
    assert!(paints[2].contains("hatch") && !["#440154", "#fde725"].contains(&paints[1]));
    // Its numbers, in ink that can be read, and the ends of the colours.
    assert!(drawn.contains("on-dark\" ") && drawn.contains(">0.250</text>"));
    assert!(drawn.contains("on-light\" ") && drawn.contains(">1.000</text>"));
    assert_eq!(
        drawn.matches(">0.250</text>").count(),
        2,
        "in the cell and beside the colours"
    );
    for text in [
        "mean F1",
        "training.learning_rate",
        "model.d_model",
        "c0",
        "r1",
    ] {
        assert!(drawn.contains(&format!(">{text}</text>")), "{text}");
    }
}

#[test]
fn crowded_maps_leave_out_what_has_no_room() {
    let value = |row: usize, column: usize| Some(((row * 40 + column) as f64, 2));
    let rows = (0..30).map(|row| (0..40).map(|column| value(row, column)).collect());
    let drawn = svg(grid(rows.collect()));
    assert_eq!(cells(&drawn).len(), 1200);
    let texts = drawn.matches("<text").count();
    assert!(texts < 60, "{texts}");
    // Each third column and each second row is named.
    assert!(drawn.contains(">c3</text>") && !drawn.contains(">c4</text>"));
    assert!(drawn.contains(">r2</text>") && !drawn.contains(">r3</text>"));
}

#[test]
fn a_map_of_one_value_has_one_colour_and_one_of_none_is_left_out() {
    let drawn = svg(grid(vec![vec![Some((0.5, 2)), Some((0.5, 2))]]));
    let cells = cells(&drawn);
    assert_eq!(cells[0].1, cells[1].1);
    assert_eq!(drawn.matches(">0.500</text>").count(), 3);
    assert!(!svg(grid(vec![vec![None, None]])).contains("mean F1"));
}

fn trend(values: &[f64], ranges: &[Option<[f64; 3]>]) -> Plot {
    Plot::Ranges {
        labels: ["model.d_model", "mean F1"].map(str::to_owned),
        groups: values.iter().map(f64::to_string).collect(),
        numbers: values.to_vec(),
        sets: vec![(String::new(), ranges.to_vec())],
        mark: None,
    }
}

/// The centres of the dots.
fn dots(svg: &str) -> Vec<[f64; 2]> {
    let dots = svg.split("<circle class=\"set0\" cx=\"").skip(1);
    dots.map(|dot| {
        let (x, rest) = dot.split_once("\" cy=\"").unwrap();
        let y = rest.split_once('"').unwrap().0;
        [x, y].map(|number| number.parse().unwrap())
    })
    .collect()
}

/// Powers of two stand evenly apart, since their logarithms do; tenths as they are.
#[test]
fn numbers_stand_where_they_are_spread_evenly() {
    for (values, is_even) in [
        (&[4.0, 8.0, 16.0, 32.0][..], true),
        (&[0.1, 0.2, 0.3, 0.4], true),
        (&[0.0, 0.25, 0.5, 0.75], true),
        (&[0.0, 1.0, 10.0, 100.0], false),
    ] {
        let ranges: Vec<_> = (0..4)
            .map(f64::from)
            .map(|y| Some([y - 1.0, y, y + 1.0]))
            .collect();
        let drawn = svg(trend(values, &ranges));
        let dots = dots(&drawn);
        assert_eq!(dots.len(), 4);
        let gaps: Vec<f64> = dots
            .windows(2)
            .map(|pair| pair[1][0] - pair[0][0])
            .collect();
        assert!(gaps.iter().all(|gap| *gap > 0.0));
        let evenly = (gaps[0] - gaps[2]).abs() < 0.3;
        assert_eq!(evenly, is_even, "{values:?}: {gaps:?}");
        // Upwards: y falls.
        assert!(dots.is_sorted_by(|a, b| a[1] > b[1]));
        for name in values {
            let is_named = drawn.contains(&format!(">{name}</text>"));
            assert!(is_named || !is_even, "{name}");
        }
        assert!(drawn.contains("class=\"outer\"") && drawn.contains("class=\"line\""));
    }
}

#[test]
fn labels_of_numbers_do_not_overlap() {
    let values: Vec<f64> = (0..30).map(|i| 1000.0 + f64::from(i)).collect();
    let drawn = svg(trend(&values, &[Some([0.0, 1.0, 2.0]); 30]));
    assert_eq!(dots(&drawn).len(), 30);
    let shown = values
        .iter()
        .filter(|value| drawn.contains(&format!(">{value}</text>")));
    assert!((4..10).contains(&shown.count()));
}

#[test]
fn numbers_without_a_range_are_left_out() {
    let drawn = svg(trend(
        &[1.0, 2.0, 3.0],
        &[None, Some([0.1, 0.2, 0.3]), None],
    ));
    assert_eq!(dots(&drawn).len(), 1);
    assert!(drawn.contains("class=\"range0\""));
    let two = svg(trend(&[1.0, 2.0], &[Some([0.1, 0.2, 0.3]); 2]));
    assert!(!two.contains("class=\"range0\""));
    assert!(!svg(trend(&[1.0, 2.0], &[None, None])).contains("mean F1"));
    assert!(!svg(trend(&[1.0], &[Some([0.1, 0.2, 0.3])])).contains("mean F1"));
}
