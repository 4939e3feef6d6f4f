//! Seeds that stand out, each with the settings that train it again.

use headlight_inspector::{Table, number};

use super::columns::{LEARNED, LOSS};
use super::statistics::Sample;
use super::summary::Summary;

/// The most seeds of each kind.
const SHOWN: usize = 3;

/// A run is late if it learned after this many times the median step.
const LATE: f64 = 2.0;

/// Runs that never learned although others did, learned late, or look at the target less for positives than for
/// negatives; the clearest first.
pub(super) fn table(summary: &Summary) -> Option<Table> {
    let columns = &summary.columns;
    let (steps, losses) = (columns.number(LEARNED), columns.number(LOSS));
    let median = Sample::of(steps.iter().copied())?.quantile(0.5);
    let [positive, negative] = &summary.attention;
    let runs = 0..columns.seeds.len();
    let mut rows = vec![
        ["seed", "why it stands out", "settings"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut add = |strength: &dyn Fn(usize) -> Option<f32>, why: &dyn Fn(usize) -> String| {
        let found = runs.clone().filter_map(|run| Some((run, strength(run)?)));
        let mut found: Vec<(usize, f32)> = found.collect();
        found.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        for (run, _) in found.into_iter().take(SHOWN) {
            let point = &summary.points[columns.points[run] as usize];
            let values = point.values.iter();
            let values = values.map(|(key, value)| format!(" --set {key}={value}"));
            let seed = columns.seeds[run];
            let settings = format!("--set seed={seed}{}", values.collect::<String>());
            rows.push(vec![seed.to_string(), why(run), settings]);
        }
    };
    add(&|run| steps[run].is_nan().then_some(losses[run]), &|run| {
        format!("never learned; final loss {}", three(losses[run]))
    });
    add(
        &|run| (f64::from(steps[run]) > LATE * median).then_some(steps[run]),
        &|run| {
            format!(
                "learned late, at step {}; the median is {median:.0}",
                steps[run]
            )
        },
    );
    add(
        &|run| {
            let less = negative.get(run)? - positive.get(run)?;
            (less > 0.0 && !steps[run].is_nan()).then_some(less)
        },
        &|run| {
            let (target, positive, negative) =
                (summary.target.name(), positive[run], negative[run]);
            let (positive, negative) = (three(positive), three(negative));
            format!("attention on {target}: {positive} for positives, {negative} for negatives")
        },
    );
    let how = "the clearest of each kind; `headlight train CONFIG SETTINGS` trains one again";
    (rows.len() > 1).then(|| Table::of_text("Seeds that stand out", how, rows))
}

fn three(value: f32) -> String {
    number(Some(f64::from(value)), 3)
}
