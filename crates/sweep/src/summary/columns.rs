//! The numbers of all runs, column by column: one list of those that tables, plots and `--metric` name.

use headlight_analysis::measures::info;
use headlight_experiment::config::MeasureName;
use headlight_experiment::metrics::{METRICS, Metric, MetricKind};
use serde_json::{Map, Value};

use crate::column_index::{ColumnIndex, ColumnKey};
use crate::fields::{Quantity, fields};

/// Fields that tables and plots use individually.
pub(super) const FINAL_LOSS: Quantity = Quantity::Train(Metric::Loss);
pub(super) const LEARNED_AT_STEP: Quantity = Quantity::LearnedAtStep;
pub(super) const EPOCH_LOSS: Quantity = Quantity::EpochLoss;
pub(super) const ATTENTION_POSITIVE: Quantity = Quantity::Attention { positive: true };
pub(super) const ATTENTION_NEGATIVE: Quantity = Quantity::Attention { positive: false };

/// Lists by epoch or position, of which reports show what float32 holds.
const LISTS: [Quantity; 3] = [EPOCH_LOSS, ATTENTION_POSITIVE, ATTENTION_NEGATIVE];

/// The most numbers of a run, and of all runs: those of about three million runs of the notebook's experiment.
const COLUMN_LIMIT: usize = 1 << 18;
const NUMBER_LIMIT: usize = 125_000_000;

/// A number of each run.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Its name, which is that of its column in CSV.
    pub(super) name: String,
    /// Its name in tables and plots.
    pub(super) label: String,
    /// Digits after the decimal point in tables.
    pub(super) decimals: usize,
    /// The field that holds it.
    pub(super) quantity: Quantity,
    /// Whether the table of all runs has it.
    pub(super) is_listed: bool,
    /// Whether settings are compared by it unasked, besides F1.
    pub(super) is_compared: bool,
    /// NaN if a run lacks it. `[run]`
    pub(super) values: Vec<f64>,
}

/// The numbers of all runs that did not fail.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The point of the grid. `[run]`
    pub(super) points: Vec<u32>,
    /// `[run]`
    pub(super) seeds: Vec<u64>,
    /// Whether the final model learned. `[run]`
    pub(super) learned: Vec<bool>,
    index: ColumnIndex,
    /// Columns by their numbers in the index; `None` for a column without numeric values, or with values that reports leave out.
    by_number: Vec<Option<Column>>,
}

impl Columns {
    /// No runs yet, and the columns of all numbers but measures.
    pub(super) fn new() -> Self {
        let is_asked = |quantity| matches!(quantity, Quantity::Measure(_));
        let fields = fields().iter().filter(|field| !is_asked(field.quantity));
        let mut index = ColumnIndex::new(COLUMN_LIMIT);
        // They cannot exceed the limit.
        let _ = index.values(
            &fields
                .map(|field| (field.name.clone(), Value::Null))
                .collect(),
        );
        Self {
            points: Vec::new(),
            seeds: Vec::new(),
            learned: Vec::new(),
            by_number: index.all.iter().map(Column::of).collect(),
            index,
        }
    }

    fn in_order(&self) -> impl Iterator<Item = &Column> {
        let numbers = self.index.in_order();
        numbers.filter_map(|number| self.by_number[number].as_ref())
    }

    /// All columns but those of lists by epoch or position.
    pub(super) fn all(&self) -> impl Iterator<Item = &Column> {
        let columns = self.in_order();
        columns.filter(|column| !LISTS.contains(&column.quantity))
    }

    /// The elements of a list of each run, or the one column of a number.
    pub(super) fn list(&self, quantity: Quantity) -> Vec<&Column> {
        let columns = self.in_order();
        columns
            .filter(|column| column.quantity == quantity)
            .collect()
    }

    /// A number of each run. `[run]`
    pub(super) fn number(&self, quantity: Quantity) -> &[f64] {
        let found = self.list(quantity);
        found.first().map_or(&[], |column| &column.values)
    }

    /// Adds a run.
    pub(super) fn push(
        &mut self,
        point: usize,
        seed: u64,
        learned: bool,
        row: &Map<String, Value>,
    ) -> Result<(), String> {
        let runs = self.points.len();
        let values = self.index.values(row)?;
        let new = &self.index.all[self.by_number.len()..];
        self.by_number.extend(new.iter().map(Column::of));
        for (number, value) in values {
            let Some(column) = &mut self.by_number[number] else {
                continue;
            };
            let mut value = value.as_f64().unwrap_or(f64::NAN);
            if LISTS.contains(&column.quantity) {
                value = f64::from(value as f32);
            }
            column.values.resize(runs, f64::NAN);
            column.values.push(value);
        }
        for column in self.by_number.iter_mut().flatten() {
            column.values.resize(runs + 1, f64::NAN);
        }
        self.points.push(point as u32);
        self.seeds.push(seed);
        self.learned.push(learned);
        if (3 + self.by_number.len()) * self.points.len() > NUMBER_LIMIT {
            return Err(
                "the rows up to here have more numbers than one report can hold; report on parts of the file"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

impl Column {
    /// An empty column; `None` for one without numeric values, or with values that reports leave out.
    fn of(key: &ColumnKey) -> Option<Self> {
        let field = key.field()?;
        let mut column = Self {
            name: key.column(),
            label: field.label.clone(),
            decimals: field.decimals,
            quantity: field.quantity,
            is_listed: !matches!(field.quantity, Quantity::Deciding(_)),
            is_compared: false,
            values: Vec::new(),
        };
        let expected = match field.quantity {
            Quantity::WeightsSha256 => return None,
            Quantity::Tests => {
                let (test, _, metric) = key.test.as_ref()?;
                let mut ratios = METRICS.iter().filter(|info| info.kind == MetricKind::Ratio);
                let (label, decimals) = match ratios.find(|info| info.name == metric) {
                    Some(info) => (info.label, info.decimals),
                    None if metric == "sample_accuracy" => ("accuracy of whole samples", 5),
                    None => return None,
                };
                (column.label, column.decimals) = (format!("{test}: {label}"), decimals);
                column.is_listed = !["precision", "recall"].contains(&&**metric);
                column.is_compared = metric == Metric::F1.info().name;
                0
            }
            // Values for each head would be too many to compare, and uniform attention says nothing of a model.
            Quantity::Measure(measure) if info(measure).is_per_head => {
                column.label.clone_from(&column.name);
                2
            }
            Quantity::Measure(measure) => {
                column.is_compared = measure != MeasureName::DecidingUniform;
                0
            }
            Quantity::EpochLoss | Quantity::Attention { .. } => 1,
            _ => 0,
        };
        (key.element.iter().flatten().count() == expected).then_some(column)
    }
}
