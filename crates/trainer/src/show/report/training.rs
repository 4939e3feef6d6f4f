//! The evaluations during training.

use headlight_experiment::config::{ExperimentConfig, TrainingConfig};
use headlight_experiment::metrics::{METRICS, Metric, MetricKind, StepMetrics};
use headlight_report::{Section, Table, evenly_spread, number};

/// The most evaluations that are shown.
const MOST_EVALUATIONS: usize = 17;

const LEGEND: &str = "Batch loss is the mean loss of the batches since the epoch began. Loss is the mean cross-entropy. \
                      Loss and the columns after it are measured over all training samples after that step.";

/// The same, where each step draws its own samples.
const LEGEND_OF_FRESH: &str = "Batch loss is the loss of the step's batch before that step. Loss is the mean cross-entropy. Loss \
                               and the columns after it are measured over that batch after that step.";

/// `used_evaluation` is the evaluation of the model that the report shows.
pub(super) fn sections(
    config: &ExperimentConfig,
    metrics: &[StepMetrics],
    used_evaluation: Option<&StepMetrics>,
) -> Vec<Section> {
    let is_fresh = config.data.is_fresh();
    let legend = if is_fresh { LEGEND_OF_FRESH } else { LEGEND };
    let table = evaluations(metrics, is_fresh);
    let legend = [legend.to_owned()]
        .into_iter()
        .chain(dropout(&config.training));
    let table = Section::titled("Training", legend, [table]);
    let count = metrics.len();
    let left_out = (count > MOST_EVALUATIONS).then(|| {
        format!("{MOST_EVALUATIONS} of {count} evaluations, evenly spread; metrics.jsonl has all.")
    });
    let last = used_evaluation.map(|last| match config.data.n_classes {
        2 => format!(
            "{}mallest probability of a positive: {}. Largest of a negative: {}.",
            if is_fresh { "In that batch: s" } else { "S" },
            number(last.train[Metric::MinPositive], 4),
            number(last.train[Metric::MaxNegative], 4)
        ),
        _ => "Precision, recall and F1 are means over the classes.".to_owned(),
    });
    let notes = left_out.into_iter().chain(last);
    [table]
        .into_iter()
        .chain(notes.map(Section::of_paragraph))
        .collect()
}

/// What each step leaves out, if it leaves out something.
fn dropout(training: &TrainingConfig) -> Option<String> {
    let preset = training.dropout.preset;
    let preset = preset.map_or_else(String::new, |preset| format!(" (preset {})", preset.name()));
    let rates = training.dropout.rates();
    let all = [
        ("tokens", training.token_dropout),
        ("embedding", rates.embedding),
        ("attention", rates.attention),
        ("hidden", rates.hidden),
        ("residual", rates.residual),
    ];
    let some = all.iter().filter(|(_, rate)| *rate > 0.0);
    let some: Vec<String> = some
        .map(|(place, rate)| format!("{place} {rate}"))
        .collect();
    (!some.is_empty()).then(|| {
        format!(
            "Dropout in each step: {}{preset}. Evaluations leave out nothing.",
            some.join(", ")
        )
    })
}

/// A row for each evaluation; of many, a selection. Fresh samples have no epochs.
fn evaluations(metrics: &[StepMetrics], is_fresh: bool) -> Table {
    let first = usize::from(is_fresh);
    let ratios = || METRICS.iter().filter(|info| info.kind == MetricKind::Ratio);
    let header = ["epoch", "step", "batch loss"].into_iter();
    let header = header.chain(ratios().map(|info| info.label)).skip(first);
    let rows = evenly_spread(metrics.len(), MOST_EVALUATIONS).map(|index| {
        let StepMetrics {
            epoch,
            step,
            train_loss,
            train,
            ..
        } = &metrics[index];
        let start = [epoch.to_string(), step.to_string(), number(*train_loss, 5)];
        let values = ratios().map(|info| number(train[info.metric], info.decimals));
        start.into_iter().chain(values).skip(first).collect()
    });
    Table::of_rows(&header.collect::<Vec<_>>(), rows)
}
