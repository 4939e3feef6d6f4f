//! Histograms count each value once between round edges; pictures contain each run.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

use headlight_inspector::{Document, Histogram, Plot, Section};

#[test]
fn every_value_is_counted_once_between_round_edges() {
    let values: Vec<f64> = (0..1000).map(|i| 0.3 + 0.0004 * f64::from(i)).collect();
    let histogram = Histogram::of(&values).unwrap();
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
    assert_eq!(Histogram::of(&[]), None);
    assert_eq!(Histogram::of(&[f64::NAN]), None);
    for value in [0.0, 1.0, -3.5, 1e9] {
        let histogram = Histogram::of(&[value; 7]).unwrap();
        assert_eq!(histogram.counts.iter().sum::<usize>(), 7, "{value}");
    }
}

#[test]
fn bars_are_as_long_as_counts() {
    let histogram = Histogram {
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
