//! Seeds that stand out, each with the settings that train it again.

use headlight_experiment::metrics::Metric;
use headlight_report::{Table, number};
use headlight_trainer::{shell_path, shell_word};
use serde::Serialize;
use serde_json::{Map, Value};

use super::columns::{FINAL_LOSS, LEARNED_AT_STEP};
use super::statistics::Stats;
use super::summary::Summary;
use crate::fields::Quantity;
use crate::recorded_config::as_changes;

/// The most seeds of each kind.
const SHOWN: usize = 3;

/// A run is late if it learned after this many times the median step.
const LATE: f64 = 2.0;

/// A run that stands out; `null` in JSON is a number that its row lacks.
#[derive(Serialize)]
pub(super) struct StandOut<'a> {
    seed: u64,
    why: Why,
    /// The grid's keys and their values.
    settings: &'a Map<String, Value>,
    final_loss: f64,
    held_out_final_loss: f64,
    held_out_f1: f64,
    learned_at_step: Option<u64>,
    /// To the target, of positives and of negatives.
    attention_positive: f64,
    attention_negative: f64,
    /// What uniform attention to the target is, of positives.
    uniform: f64,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Why {
    /// Its final model did not, although others did.
    NeverLearned,
    LearnedLate,
    /// Learned, but looks at the target less for positives than for negatives.
    LooksElsewhere,
    /// Learned, but looks away from the target: less than uniform attention for positives.
    LooksAway,
}

/// Runs that stand out, by kind; the clearest first.
pub(super) fn find(summary: &Summary) -> Vec<StandOut<'_>> {
    let columns = &summary.columns;
    let (steps, losses) = (columns.number(LEARNED_AT_STEP), columns.number(FINAL_LOSS));
    let held_out = [Metric::Loss, Metric::F1];
    let held_out = held_out.map(|metric| columns.number(Quantity::HeldOut(metric)));
    if !columns.learned.contains(&true) {
        return Vec::new();
    }
    let median = median_step(summary);
    let [positive, negative] = &summary.attention.paid;
    let mut all = Vec::new();
    let mut add = |why: Why, strength: &dyn Fn(usize) -> Option<f64>| {
        let found = (0..columns.seeds.len()).filter_map(|run| Some((run, strength(run)?)));
        let mut found: Vec<(usize, f64)> = found.collect();
        found.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        all.extend(found.into_iter().take(SHOWN).map(|(run, _)| StandOut {
            seed: columns.seeds[run],
            why,
            settings: &summary.points[columns.points[run] as usize].values,
            final_loss: losses[run],
            held_out_final_loss: held_out[0][run],
            held_out_f1: held_out[1][run],
            learned_at_step: (!steps[run].is_nan()).then_some(steps[run] as u64),
            attention_positive: positive[run],
            attention_negative: negative[run],
            uniform: summary.attention.uniform[run],
        }));
    };
    add(Why::NeverLearned, &|run| {
        let loss = held_out[0][run];
        let loss = if loss.is_nan() { losses[run] } else { loss };
        (!columns.learned[run]).then_some(loss)
    });
    add(Why::LearnedLate, &|run| {
        (steps[run] > LATE * median?).then_some(steps[run])
    });
    // Where positions differ from sample to sample, they decide both classes.
    let elsewhere = |run: usize| {
        let less = negative[run] - positive[run];
        let found = !summary.target_differs() && less > 0.0 && less.is_finite();
        (found && columns.learned[run]).then_some(less)
    };
    add(Why::LooksElsewhere, &elsewhere);
    add(Why::LooksAway, &|run| {
        let away = summary.looks_towards(run) == Some(false) && columns.learned[run];
        let less = summary.attention.uniform[run] - positive[run];
        (away && elsewhere(run).is_none()).then_some(less)
    });
    all
}

/// The table of the runs that stand out, if there are any.
pub(super) fn table(summary: &Summary) -> Option<Table> {
    let median = median_step(summary);
    let target = summary.target_name();
    let [positive, negative] = &summary.facts.classes;
    let mut rows = vec![
        ["seed", "why it stands out", "settings"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(find(summary).into_iter().map(|run| {
        let why = match run.why {
            Why::NeverLearned => {
                // They are in the order of this loss.
                let loss = match run.held_out_final_loss {
                    loss if loss.is_nan() => format!("training loss {}", three_decimals(run.final_loss)),
                    loss => format!("held-out loss {}", three_decimals(loss)),
                };
                let f1 = match run.held_out_f1 {
                    f1 if f1.is_nan() => String::new(),
                    f1 => format!(", F1 {}", three_decimals(f1)),
                };
                format!("had not learned at the end; {loss}{f1}")
            }
            Why::LearnedLate => format!(
                "learned late, at step {}; the median is {}",
                run.learned_at_step.unwrap_or_default(),
                number(median, 0)
            ),
            Why::LooksElsewhere => format!(
                "looks there less for {positive} than for {negative}: attention on {target} is {} and {}",
                three_decimals(run.attention_positive),
                three_decimals(run.attention_negative)
            ),
            Why::LooksAway => format!(
                "looks there less than uniformly: attention on {target} is {} for {positive}; uniform is {}",
                three_decimals(run.attention_positive),
                three_decimals(run.uniform)
            ),
        };
        let changes = as_changes(run.settings).into_iter();
        let changes = changes.map(|change| {
            let (key, value) = change.split_once('=').unwrap_or_default();
            format!(" --set {key}={}", shell_word(value.as_ref()))
        });
        let seed = run.seed;
        let settings = format!("--set seed={seed}{}", changes.collect::<String>());
        vec![seed.to_string(), why, settings]
    }));
    let config = summary.config.as_ref();
    let config = config.map_or_else(|| "CONFIG".to_owned(), |path| shell_path(path));
    let how = format!(
        "the clearest of each kind first; `headlight train {config} SETTINGS` trains one again"
    );
    (rows.len() > 1).then(|| Table::of_text("Seeds that stand out", &how, rows))
}

/// The median step at which runs learned.
fn median_step(summary: &Summary) -> Option<f64> {
    let steps = Stats::of(summary.columns.number(LEARNED_AT_STEP).iter().copied())?;
    Some(steps.median)
}

fn three_decimals(value: f64) -> String {
    number(Some(value), 3)
}
