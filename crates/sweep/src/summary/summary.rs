//! Reads a results file into counts, and the numbers of each run that did not fail.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use headlight_experiment::config::LEARNED as LEARNED_FROM;
use headlight_experiment::metrics::{COMPARED, Metric, wilson};
use headlight_experiment::outcome::is_learned;
use headlight_trainer::{Failure, shell_path, shown};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::columns::{Column, Columns, EPOCH_LOSS};
use super::facts::SweepFacts;
use super::statistics::Stats;
use crate::fields::{LEARNED_STEP, Quantity, field_of};
use crate::grid::FOLD;
use crate::recorded_config::{RecordedConfig, as_changes};
use crate::results::StoredRows;
use crate::stored_row::StoredRow;

/// The longest reason of failure that is shown, in characters.
const REASON_LENGTH: usize = 120;

/// What a report is asked for.
#[derive(Clone, Debug, Default)]
pub struct ReportChoices {
    /// The positions on which attention is summed; if empty, those that decide the label of each sample.
    pub positions: Vec<usize>,
    /// The grid's keys whose values are compared; if empty, each key that varies.
    pub by: Vec<String>,
    /// The numbers that are compared, by their columns in CSV; if empty, F1 and what configs ask for.
    pub metrics: Vec<String>,
    /// The F1 from which a model counts as learned; if absent, `report.learned` of the config beside the file.
    pub learned: Option<f64>,
}

/// The summary of a results file: counts, and the numbers of each run that did not fail.
#[derive(Clone, Debug)]
pub struct Summary {
    pub(super) choices: ReportChoices,
    /// The points of the grid, by index; a point without rows has no runs.
    pub(super) points: Vec<PointSummary>,
    pub(super) columns: Columns,
    /// The reasons of failure, by message without numbers.
    pub(super) reasons: BTreeMap<String, Reason>,
    /// The F1 from which a model counts as learned.
    pub(super) learned_from: f64,
    /// The F1 from which the rows' steps count as learned, if it is another one; the steps are left out then.
    pub(super) steps_from: Option<f64>,
    /// Runs whose model had learned at a step, and not at the end.
    pub(super) lost: usize,
    /// Runs whose F1 is high because the model predicts one frequent class for all samples.
    pub(super) of_one_class: usize,
    /// The attention of each run to the positions at which it is measured.
    pub(super) attention: TargetAttention,
    /// Whether some row holds its attention on the positions that decide.
    pub(super) holds_deciding: bool,
    /// What the config beside the file says of its runs.
    pub(super) facts: SweepFacts,
    /// That config, if it is there.
    pub(super) config: Option<PathBuf>,
}

/// What the rows of a point of the grid say.
#[derive(Clone, Debug, Default)]
pub(super) struct PointSummary {
    /// The grid's keys and their values; empty without a grid.
    pub(super) values: Map<String, Value>,
    pub(super) counts: Counts,
    /// The first point whose values are the same but for the fold.
    arm: usize,
}

/// Counts of runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// All, including failed ones.
    pub(super) runs: usize,
    pub(super) failed: usize,
    pub(super) learned: usize,
    /// Whether the runs have different settings, so that they are no sample of one distribution.
    is_mixed: bool,
    /// The runs that look towards the target, and those that look away; `None` if that is not known.
    pub(super) looks: Option<[usize; 2]>,
}

impl Counts {
    /// The counts of several points together.
    pub(super) fn of<'a>(points: impl IntoIterator<Item = &'a PointSummary>) -> Self {
        let mut sum = Self::default();
        let mut first = None;
        for PointSummary { counts, arm, .. } in points {
            if counts.runs > 0 {
                sum.is_mixed |= first.get_or_insert(*arm) != arm;
            }
            sum.runs += counts.runs;
            sum.failed += counts.failed;
            sum.learned += counts.learned;
            if let Some([towards, away]) = counts.looks {
                let looks = sum.looks.get_or_insert_default();
                *looks = [looks[0] + towards, looks[1] + away];
            }
        }
        sum
    }

    /// Wilson's 95% interval of the share that learned; `None` for runs of different settings.
    pub(super) fn interval(&self) -> Option<[f64; 2]> {
        (!self.is_mixed).then(|| wilson(self.learned, self.runs))
    }
}

/// With the share that learned, and its interval.
impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Counts", 7)?;
        fields.serialize_field("runs", &self.runs)?;
        fields.serialize_field("failed", &self.failed)?;
        fields.serialize_field("learned", &self.learned)?;
        fields.serialize_field("learned_share", &(self.learned as f64 / self.runs as f64))?;
        fields.serialize_field("learned_interval", &self.interval())?;
        fields.serialize_field("looks_towards", &self.looks.map(|[towards, _]| towards))?;
        fields.serialize_field("looks_away", &self.looks.map(|[_, away]| away))?;
        fields.end()
    }
}

/// A reason of failure.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Reason {
    /// The message and the seed of the first such run.
    pub(super) message: String,
    #[serde(rename = "first_seed")]
    pub(super) seed: u64,
    pub(super) runs: usize,
}

/// The attention of each run to the target; NaN if its row does not tell.
#[derive(Clone, Debug, Default)]
pub(super) struct TargetAttention {
    /// Of positives and of negatives. `[run]`
    pub(super) paid: [Vec<f64>; 2],
    /// What uniform attention would be, of positives. `[run]`
    pub(super) uniform: Vec<f64>,
}

impl Summary {
    /// Reads a results file in one pass. A run learned if [`is_learned`] says so of its final model.
    ///
    /// # Errors
    /// When the file cannot be read, is not a results file, or lacks a position, key or number that is asked for.
    pub fn read(path: &Path, choices: &ReportChoices) -> Result<Self, Failure> {
        let mut summary = Self {
            choices: choices.clone(),
            points: Vec::new(),
            columns: Columns::new(),
            reasons: BTreeMap::new(),
            learned_from: choices.learned.unwrap_or(LEARNED_FROM),
            steps_from: None,
            lost: 0,
            of_one_class: 0,
            attention: TargetAttention::default(),
            holds_deciding: false,
            facts: SweepFacts::unknown(),
            config: None,
        };
        let mut rows = StoredRows::open(path)?;
        let (mut last, mut recorded) = (None, None);
        while let Some(line) = rows.next()? {
            if last.is_none() {
                recorded = RecordedConfig::beside(path, &line.config_sha256);
                let config = recorded
                    .as_ref()
                    .and_then(|recorded| recorded.config(&[]).ok());
                let learned = config.map(|config| config.report.learned);
                let learned = learned.unwrap_or(LEARNED_FROM);
                summary.learned_from = choices.learned.unwrap_or(learned);
                summary.steps_from = Some(learned)
                    .filter(|learned| learned.total_cmp(&summary.learned_from).is_ne());
            }
            let run = Some((line.seed, line.point));
            if run <= last {
                return Err(rows.invalid_row(&format!(
                    "seed {} appears twice or out of order; fix the file with `headlight merge {} --out FILE.jsonl`",
                    line.seed,
                    shell_path(path)
                )));
            }
            last = run;
            summary
                .add(&line)
                .map_err(|reason| rows.invalid_row(&reason))?;
        }
        if rows.count == 0 {
            return Err(Failure::reading(
                path,
                "the file holds no rows; name a .jsonl file of `headlight sweep` or `headlight merge`",
            ));
        }
        summary.find_arms();
        if let Some(recorded) = &recorded {
            summary.facts = summary.facts_of(recorded);
            summary.config = Some(recorded.path().to_owned());
        }
        summary.measure(&shown(path))?;
        summary.check_keys(path)?;
        summary.check_metrics(path)?;
        Ok(summary)
    }

    fn add(&mut self, line: &StoredRow) -> Result<(), String> {
        let mut fields = line.fields()?;
        let number = line.point.unwrap_or(0);
        if self.points.len() <= number {
            self.points.resize(number + 1, PointSummary::default());
        }
        let point = &mut self.points[number];
        let earlier = (point.counts.runs > 0).then_some(&point.values);
        point.values = line.values(&fields, earlier)?;
        point.counts.runs += 1;
        let deciding = field_of(Quantity::Deciding(Metric::AttentionPositive));
        self.holds_deciding |= deciding.is_some_and(|field| fields.contains_key(&field.name));
        if let Some(error) = &line.error {
            point.counts.failed += 1;
            self.fail(line.seed, error);
            return Ok(());
        }
        let (learned, of_one_class) = ending(&fields, self.learned_from);
        point.counts.learned += usize::from(learned);
        if self.steps_from.is_some() {
            fields.remove(LEARNED_STEP);
        }
        if !learned {
            let step = fields.remove(LEARNED_STEP);
            let had_learned = step.is_some_and(|step| step.is_number());
            self.of_one_class += usize::from(of_one_class);
            self.lost += usize::from(!of_one_class && had_learned);
        }
        self.columns.push(number, line.seed, learned, &fields)
    }

    fn fail(&mut self, seed: u64, message: &str) {
        // Failures at different steps have the same reason: only the first clause of the message counts,
        // without its numbers.
        let message = message.split(';').next().unwrap_or_default();
        let parts = message.split(|letter: char| letter.is_ascii_digit());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let reason = self.reasons.entry(parts.join("#")).or_insert(Reason {
            message: message.chars().take(REASON_LENGTH).collect(),
            seed,
            runs: 0,
        });
        reason.runs += 1;
    }

    fn find_arms(&mut self) {
        let mut arms = HashMap::new();
        for (index, point) in self.points.iter_mut().enumerate() {
            let mut values = point.values.clone();
            values.remove(FOLD);
            point.arm = *arms.entry(Value::from(values).to_string()).or_insert(index);
        }
    }

    /// Figures of a number over some runs; without an interval of the mean, if the runs have different settings.
    pub(super) fn stats(
        &self,
        values: &[f64],
        runs: impl Iterator<Item = usize> + Clone,
    ) -> Option<Stats> {
        let mut stats = Stats::of(runs.clone().map(|run| values[run]))?;
        let mut arms = runs.map(|run| self.points[self.columns.points[run] as usize].arm);
        let first = arms.next();
        if arms.any(|arm| Some(arm) != first) {
            // Equal values are equal in any case.
            stats.margin = stats.margin.filter(|&margin| margin == 0.0);
        }
        Some(stats)
    }

    /// What the config beside the file says. One that can no longer be read, as when its dataset file is gone, says nothing.
    fn facts_of(&self, recorded: &RecordedConfig) -> SweepFacts {
        let mut keys = self.points.iter().flat_map(|point| point.values.keys());
        // Otherwise, all that is asked of a config is the same at all points.
        let varies = |key: &String| {
            key.starts_with("data.") && key != FOLD
                || key == "model.pooling"
                || key.starts_with("model.attention.")
        };
        let points = if keys.any(varies) {
            &self.points[..]
        } else {
            &self.points[..1]
        };
        let configs = points
            .iter()
            .map(|point| recorded.config(&as_changes(&point.values)));
        let configs: Result<Vec<_>, _> = configs.collect();
        configs.map_or_else(
            |_| SweepFacts::unknown(),
            |configs| SweepFacts::of(&configs),
        )
    }

    /// Refuses keys that the grid does not have. Of none, chooses all that vary.
    fn check_keys(&mut self, path: &Path) -> Result<(), Failure> {
        let all = self.points.iter().flat_map(|point| point.values.keys());
        let present: BTreeSet<&str> = all.map(String::as_str).collect();
        let by = &self.choices.by;
        if let Some(unknown) = by.iter().find(|key| !present.contains(&***key)) {
            let known = if present.is_empty() {
                "the sweep has no grid".to_owned()
            } else {
                format!("it has {}", Vec::from_iter(present).join(", "))
            };
            return Err(Failure::Input(format!(
                "--by {unknown}: the grid of {} does not have this key; {known}",
                shown(path)
            )));
        }
        if by.is_empty() {
            // Folds are not settings to choose between; they have a table of their own.
            let varies = |key: &&str| *key != FOLD && self.values_of(key).len() > 1;
            let varying = present.into_iter().filter(varies);
            self.choices.by = varying.map(str::to_owned).collect();
        }
        Ok(())
    }

    /// Refuses numbers that no row has. Names those that there are.
    fn check_metrics(&self, path: &Path) -> Result<(), Failure> {
        let names: Vec<&str> = self.known().map(|column| &*column.name).collect();
        let mut chosen = self.choices.metrics.iter();
        match chosen.find(|name| !names.contains(&&***name)) {
            Some(unknown) => Err(Failure::Input(format!(
                "--metric {unknown}: the rows of {} have no such number; they have {}",
                shown(path),
                names.join(", ")
            ))),
            None => Ok(()),
        }
    }

    /// All numbers that some row has.
    fn known(&self) -> impl Iterator<Item = &Column> {
        let known = |column: &&Column| column.values.iter().any(|value| value.is_finite());
        self.columns.all().filter(known)
    }

    /// The numbers that are compared between settings.
    pub(super) fn compared(&self) -> Vec<&Column> {
        if !self.choices.metrics.is_empty() {
            let named = |name: &String| self.known().find(|column| column.name == *name);
            return self.choices.metrics.iter().filter_map(named).collect();
        }
        let held_out = Quantity::HeldOut(Metric::F1);
        let f1 = if self.known().any(|column| column.quantity == held_out) {
            held_out
        } else {
            Quantity::Train(Metric::F1)
        };
        let known = self.known();
        known
            .filter(|column| column.is_compared || column.quantity == f1)
            .collect()
    }

    /// The numbers in tables of groups: those that all sweeps have, and those that are compared.
    pub(super) fn of_groups(&self) -> Vec<&Column> {
        let always = COMPARED.map(|(metric, held_out)| {
            let quantity = if held_out {
                Quantity::HeldOut
            } else {
                Quantity::Train
            };
            quantity(metric)
        });
        let first = always
            .iter()
            .flat_map(|quantity| self.columns.list(*quantity));
        let compared = self.compared().into_iter();
        let more = compared.filter(|column| !always.contains(&column.quantity));
        first.chain(more).collect()
    }

    /// Counts of all runs.
    pub(super) fn counts(&self) -> Counts {
        Counts::of(&self.points)
    }

    /// The number of runs, including failed ones.
    pub fn runs(&self) -> usize {
        self.counts().runs
    }

    /// The number of failed runs.
    pub fn failures(&self) -> usize {
        self.counts().failed
    }

    /// Whether runs have epochs. If each step draws its own samples, they have none.
    pub(super) fn has_epochs(&self) -> bool {
        self.runs() == self.failures() || !self.columns.list(EPOCH_LOSS).is_empty()
    }

    /// What says whether a run learned.
    pub(super) fn judging_metric(&self) -> &'static str {
        let mut loss = self.columns.number(Quantity::HeldOut(Metric::Loss)).iter();
        if loss.any(|loss| !loss.is_nan()) {
            "held-out F1"
        } else {
            "F1 on the training samples, since none were held out,"
        }
    }
}

/// Whether a run's final model learned, by the fields of its row, and whether it only predicts one class.
fn ending(fields: &Map<String, Value>, learned_from: f64) -> (bool, bool) {
    let value = |quantity| fields.get(&field_of(quantity)?.name);
    let is_held_out = value(Quantity::HeldOut(Metric::Loss)).is_some_and(Value::is_number);
    let quantity: fn(Metric) -> Quantity = if is_held_out {
        Quantity::HeldOut
    } else {
        Quantity::Train
    };
    let number = |metric| value(quantity(metric)).and_then(Value::as_f64);
    let learned = is_learned(number, learned_from);
    (
        learned,
        !learned && number(Metric::F1) >= Some(learned_from),
    )
}
