//! Histograms count each value once between round edges; pictures contain each run.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use headlight_report::{Curve, Document, HistogramPlot, Plot, Section};

#[test]
fn every_value_is_counted_once_between_round_edges() {
    let values: Vec<f64> = (0..1000).map(|i| 0.3 + 0.0004 * f64::from(i)).collect();
    let histogram = HistogramPlot::of(&values).unwrap();
    assert_eq!(histogram.counts.iter().sum::<usize>(), 1000);
    assert!(histogram.counts.len() <= 24);
    // 0.4 over at most 23 steps: 0.02 is the first round width.
    assert_eq!(histogram.width, 0.02);
    assert!((histogram.edge(0) - 0.3).abs() < 1e-12);
    assert_eq!(histogram.counts.len(), 20);
    assert_eq!(histogram.decimals(), 2);
}

#[test]
fn one_value_and_none() {
    assert_eq!(HistogramPlot::of(&[]), None);
    assert_eq!(HistogramPlot::of(&[f64::NAN]), None);
    for value in [0.0, 1.0, -3.5, 1e9] {
        let histogram = HistogramPlot::of(&[value; 7]).unwrap();
        assert_eq!(histogram.counts.iter().sum::<usize>(), 7, "{value}");
    }
}

#[test]
fn bars_are_as_long_as_counts() {
    let histogram = HistogramPlot {
        start: 0.0,
        width: 1.0,
        counts: vec![0, 1, 2000, 1000],
    };
    let drawn = histogram.text(80);
    let bars: Vec<usize> = drawn
        .lines()
        .map(|line| line.matches('█').count())
        .collect();
    assert_eq!(bars[0], 0);
    assert_eq!(bars[2], 2 * bars[3]);
    assert!(
        drawn.lines().nth(1).unwrap().contains('▏'),
        "a single run shows: {drawn}"
    );
    assert!(drawn.lines().all(|line| line.chars().count() <= 80));
}

fn svg(title: &str, plots: &[Plot]) -> String {
    let document = Document {
        title: title.to_owned(),
        sections: vec![Section {
            plots: plots.to_vec(),
            ..Section::default()
        }],
        ..Document::default()
    };
    document.plots_svg()
}

#[test]
fn a_picture_has_each_run_and_says_when_it_thins() {
    let points = |count: u32| {
        (0..count)
            .map(|i| [f64::from(i), f64::from(i % 7)])
            .collect()
    };
    let scatter = |count| Plot::Scatter {
        labels: ["step".to_owned(), "a < b".to_owned()],
        points: points(count),
    };
    let text = svg("runs & more", &[scatter(500)]);
    assert_eq!(text.matches("<circle").count(), 500);
    assert!(text.contains("a &lt; b") && text.contains("runs &amp; more"));
    let thinned = svg("many", &[scatter(10_000)]);
    assert_eq!(thinned.matches("<circle").count(), 2000);
    assert!(thinned.contains("one run in 5 shown"));
    let empty = Plot::Histogram {
        label: "none".to_owned(),
        values: Vec::new(),
        mark: None,
    };
    assert!(!svg("empty", &[empty]).contains("<rect"));
}

/// The points of each curve's path.
fn paths(svg: &str) -> Vec<Vec<[f64; 2]>> {
    let paths = svg.split("class=\"curve\" d=\"M").skip(1);
    let point = |point: &str| {
        let (x, y) = point.split_once(' ').unwrap();
        [x.parse().unwrap(), y.parse().unwrap()]
    };
    paths
        .map(|path| {
            path.split('"')
                .next()
                .unwrap()
                .split('L')
                .map(point)
                .collect()
        })
        .collect()
}

#[test]
fn curves_keep_their_ends_and_are_thinned_between() {
    let curves = |counts: &[u32]| Plot::Curves {
        labels: ["recall", "precision"].map(str::to_owned),
        curves: counts
            .iter()
            .map(|&count| Curve {
                name: format!("{count} points"),
                points: (0..count)
                    .map(|i| f64::from(i) / f64::from(count - 1))
                    .map(|share| [share, share])
                    .collect(),
            })
            .collect(),
        mark: Some(([0.5, 0.5], "chance".to_owned())),
    };
    let drawn = svg("two", &[curves(&[3, 100_000])]);
    let drawn_paths = paths(&drawn);
    assert_eq!(drawn_paths[0].len(), 3);
    assert!((100..1000).contains(&drawn_paths[1].len()));
    // Both go from one corner to the other, upwards: y falls.
    for path in &drawn_paths {
        let (first, last) = (path[0], path[path.len() - 1]);
        assert_eq!((first, last), (drawn_paths[0][0], drawn_paths[0][2]));
        assert!(first[0] < last[0] && first[1] > last[1]);
    }
    // Few points are dots too.
    assert_eq!(drawn.matches("<circle").count(), 3);
    for name in ["3 points", "100000 points", "chance"] {
        assert!(drawn.contains(name), "{name}");
    }
    assert!(!svg("none", &[curves(&[])]).contains("chance"));
}

#[test]
fn a_matrix_has_a_cell_for_each_pair_coloured_by_its_row() {
    let matrix = |rows: Vec<Vec<usize>>| Plot::Matrix {
        labels: ["predicted", "label"].map(str::to_owned),
        names: (0..rows.len()).map(|row| format!("class {row}")).collect(),
        rows,
    };
    let fills = |svg: &str| -> Vec<String> {
        let cells = svg.split("<rect fill=\"").skip(1);
        cells.map(|cell| cell[..7].to_owned()).collect()
    };
    let drawn = svg("few", &[matrix(vec![vec![30, 10], vec![0, 0]])]);
    let cells = fills(&drawn);
    assert_eq!(cells.len(), 4);
    // An empty row has the colour of 0, and a larger share of a row another one.
    assert_eq!(cells[2], cells[3]);
    assert!(cells[0] != cells[1] && cells[1] != cells[2]);
    assert!(drawn.contains(">30</text>") && drawn.contains(">10</text>"));
    assert_eq!(drawn.matches(">class 1</text>").count(), 2, "{drawn}");
    // Numbers that do not fit are left out, and so is a matrix of too many rows.
    let wide = svg("wide", &[matrix(vec![vec![123_456; 30]; 30])]);
    assert_eq!(fills(&wide).len(), 900);
    assert!(!wide.contains("123456"));
    let huge = svg("huge", &[matrix(vec![vec![0; 65]; 65])]);
    assert!(fills(&huge).is_empty());
}

/// Where each text of a picture begins and ends across, and where it ends below, at least: 5.5 pixels for a character.
fn extents(svg: &str) -> Vec<(String, f64, f64, f64)> {
    let mut corner = [0.0, 0.0];
    let mut found = Vec::new();
    let number = |text: &str| text.parse::<f64>().unwrap();
    for line in svg.lines() {
        let after = |key: &str| line.split_once(key).map(|(_, rest)| rest);
        if let Some(place) = line.strip_prefix("<g transform=\"translate(") {
            let (x, y) = place.split_once(')').unwrap().0.split_once(' ').unwrap();
            corner = [number(x), number(y)];
        } else if line.starts_with("<text") {
            let text = after(">").unwrap().split('<').next().unwrap().to_owned();
            let wide = text.chars().count() as f64 * 5.5;
            let Some(x) = after(" x=\"") else {
                let place = after("translate(").unwrap().split(')').next().unwrap();
                let (x, y) = place.split_once(' ').unwrap();
                let x = corner[0] + number(x);
                found.push((text, x, x, corner[1] + number(y) + wide));
                continue;
            };
            let x = corner[0] + number(x.split('"').next().unwrap());
            let y = number(after(" y=\"").unwrap().split('"').next().unwrap());
            let start = match line {
                line if line.contains("middle") => x - wide / 2.0,
                line if line.contains("end\"") => x - wide,
                _ => x,
            };
            assert!(corner[1] + y > 8.0, "{text} begins above the picture");
            found.push((text, start, start + wide, corner[1] + y));
        }
    }
    found
}

/// Labels of any length stand whole within the picture: keys, classes, values of a grid, numbers.
#[test]
fn no_label_is_cut() {
    for length in [4, 20, 60] {
        let long = |start: &str| format!("{start} {}", "abcdefg hi ".repeat(length / 8));
        let word = format!("model.{}", "x".repeat(length));
        let ranges = |names: [String; 2], groups: usize| Plot::Ranges {
            labels: [long("across"), long("upwards")],
            groups: (0..groups).map(|group| format!("{word}{group}")).collect(),
            numbers: Vec::new(),
            sets: names
                .map(|name| (name, vec![Some([0.142_831, 0.142_832, 0.142_833]); groups]))
                .to_vec(),
            mark: None,
        };
        let marked = Plot::Histogram {
            label: word.clone(),
            values: (0..9).map(|run| 123_456.0 + f64::from(run) / 1e4).collect(),
            mark: Some((123_456.000_8, "uniform".to_owned())),
        };
        let drawn = svg(
            &long("title"),
            &[
                marked.clone(),
                ranges([long("first"), long("second")], 3),
                marked,
                ranges([word.clone(), long("third")], 24),
            ],
        );
        let size = drawn.split("viewBox=\"0 0 ").nth(1).unwrap();
        let (width, height) = size.split('"').next().unwrap().split_once(' ').unwrap();
        let [width, height] = [width, height].map(|side| side.parse::<f64>().unwrap());
        let found = extents(&drawn);
        for (text, start, end, bottom) in &found {
            assert!(
                *start >= 0.0 && *end <= width && *bottom <= height,
                "{text}: {drawn}"
            );
        }
        let texts: String = found.iter().map(|(text, ..)| text.as_str()).collect();
        let texts = texts.replace(' ', "");
        for whole in [long("across"), long("upwards"), long("second"), word + "21"] {
            assert!(texts.contains(&whole.replace(' ', "")), "{whole}: {texts}");
        }
        assert!(!texts.contains('…'));
    }
}

/// A legend hides no value: it stands above the axes. Runs are counted in whole numbers.
#[test]
fn legends_stand_above_and_counts_are_whole() {
    let bands = Plot::Bands {
        labels: ["epoch", "loss"].map(str::to_owned),
        times: vec![1.0, 2.0],
        quantiles: vec![[1.0, 2.0, 3.0, 4.0, 5.0]; 2],
        names: ["outer", "inner", "median"].map(str::to_owned),
    };
    let found = extents(&svg("bands", &[bands]));
    let bottom = |name: &str| found.iter().find(|(text, ..)| text == name).unwrap().3;
    for name in ["outer", "inner", "median"] {
        assert!(bottom(name) < bottom("loss"), "{name}");
    }
    let histogram = Plot::Histogram {
        label: String::new(),
        values: vec![10.0, 20.0, 20.0, 30.0],
        mark: None,
    };
    let found = extents(&svg("counts", &[histogram]));
    let texts = found.iter().map(|(text, ..)| text.as_str());
    assert_eq!(
        texts.filter(|text| text.contains('.')).count(),
        0,
        "{found:?}"
    );
}
