//! How the model does on test sets.

use headlight_data::Splits;
use headlight_experiment::metrics::{EvalMetrics, METRICS, Metric, TestMetrics};
use headlight_report::{Section, Table, number};

/// A row for each test set, after that of the held-out samples; `None` without test sets.
pub(super) fn section(
    splits: &Splits,
    held_out: Option<&EvalMetrics>,
    tests: &[TestMetrics],
) -> Option<Section> {
    let ratios = || METRICS.iter().filter(|info| info.is_ratio);
    let has_whole = splits.train.is_per_position();
    let header = ["samples", "number"].into_iter();
    let header = header.chain(ratios().map(|info| info.label));
    let header = header.chain(has_whole.then_some("whole samples"));
    let row = |name: &str, count: usize, metrics: &EvalMetrics| {
        let start = [name.to_owned(), count.to_string()];
        let values = ratios().map(|info| number(metrics[info.metric], info.decimals));
        let whole = has_whole.then(|| number(metrics.whole_samples, 5));
        start.into_iter().chain(values).chain(whole).collect()
    };
    let header: Vec<&str> = header.collect();
    let held_out = held_out.map(|metrics| row("held-out", splits.held_out.len(), metrics));
    let sets = tests.iter().zip(&splits.tests);
    let sets = sets.map(|(test, samples)| row(&test.name, samples.len(), &test.metrics));
    let table = Table::of_rows(&header, held_out.into_iter().chain(sets));
    (!tests.is_empty()).then(|| Section::titled("Test sets", [], [table]))
}

/// A line of the terminal for each test set.
pub fn test_lines(tests: &[TestMetrics]) -> Vec<String> {
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
