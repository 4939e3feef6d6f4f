//! How the model does on test sets.

use headlight_data::Splits;
use headlight_experiment::metrics::{EvalMetrics, METRICS, Metric, MetricKind, TestMetrics};
use headlight_report::{Section, Table, number};

/// A row for each test set, after that of the held-out samples; `None` without test sets.
pub(super) fn section(
    splits: &Splits,
    held_out: Option<&EvalMetrics>,
    tests: &[TestMetrics],
) -> Option<Section> {
    let ratios = || METRICS.iter().filter(|info| info.kind == MetricKind::Ratio);
    let has_whole = splits.train.is_per_position();
    let mut header = vec!["samples", "number"];
    header.extend(ratios().map(|info| info.label));
    header.extend(has_whole.then_some("whole samples"));
    let row = |name: &str, count: usize, metrics: &EvalMetrics| {
        let mut row = vec![name.to_owned(), count.to_string()];
        row.extend(ratios().map(|info| number(metrics[info.metric], info.decimals)));
        row.extend(has_whole.then(|| number(metrics.whole_samples, 5)));
        row
    };
    let mut rows = Vec::new();
    rows.extend(held_out.map(|metrics| row("held-out", splits.held_out.len(), metrics)));
    for (test, samples) in tests.iter().zip(&splits.tests) {
        rows.push(row(&test.name, samples.len(), &test.metrics));
    }
    (!tests.is_empty()).then(|| Section::titled("Test sets", [], [Table::of_rows(&header, rows)]))
}

/// A line of the terminal for each test set.
pub(crate) fn test_lines(tests: &[TestMetrics]) -> Vec<String> {
    let line = |TestMetrics { name, metrics }: &TestMetrics| {
        let whole = metrics
            .whole_samples
            .map(|share| format!(", whole samples {}", number(Some(share), 4)));
        format!(
            "Test set {name}: accuracy {}, F1 {}{}",
            number(metrics[Metric::Accuracy], 4),
            number(metrics[Metric::F1], 3),
            whole.unwrap_or_default()
        )
    };
    tests.iter().map(line).collect()
}
