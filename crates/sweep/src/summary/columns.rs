//! The numbers of all runs, column by column: one list of those that tables, plots and `--metric` name.

use std::collections::BTreeMap;

use headlight_experiment::measures::MeasureName;
use headlight_experiment::metrics::{COMPARED, Metric};
use serde_json::{Map, Value};

use crate::fields::{Field, Kind, Quantity, TESTS, fields};

/// Fields that tables and plots use individually.
pub(super) const LOSS: Quantity = Quantity::Metric {
    metric: Metric::Loss,
    held_out: false,
};
pub(super) const LEARNED: Quantity = Quantity::LearnedAtStep;
pub(super) const EPOCHS: Quantity = Quantity::EpochLoss;
pub(super) const POSITIVE: Quantity = Quantity::Attention { positive: true };
pub(super) const NEGATIVE: Quantity = Quantity::Attention { positive: false };

/// The most numbers of a file, in units of four bytes: those of about four million runs of the notebook's experiment.
const CELL_LIMIT: usize = 250_000_000;

/// The longest list; a row has room for fewer epochs.
const LIST_LIMIT: usize = 1 << 18;

/// The most columns of numbers; a model has fewer heads.
const COLUMN_LIMIT: usize = 1 << 12;

/// The metrics of test sets that reports show, each with its name in tables and its digits after the decimal point.
const OF_TESTS: [(&str, &str, usize); 6] = {
    const fn of(metric: Metric) -> (&'static str, &'static str, usize) {
        let info = metric.info();
        (info.name, info.label, info.decimals)
    }
    let whole = ("sample_accuracy", "accuracy of whole samples", 5);
    [
        of(Metric::Loss),
        of(Metric::Accuracy),
        of(Metric::Precision),
        of(Metric::Recall),
        of(Metric::F1),
        whole,
    ]
};

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

/// The place of a number in a row, in the order of columns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The place of its field in [`fields`].
    field: usize,
    /// The test set that it is of, if it is of one.
    test: String,
    /// Its metric of the test set, or its block and its head.
    element: [usize; 2],
}

/// The numbers of all runs; NaN if a run lacks one. Lists, which have many more numbers, are kept in float32.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The point of the grid. `[run]`
    pub(super) points: Vec<u32>,
    /// `[run]`
    pub(super) seeds: Vec<u64>,
    numbers: BTreeMap<Place, Column>,
    /// In the order of [`lists`]. `[field][element][run]`
    lists: Vec<Vec<Vec<f32>>>,
}

impl Columns {
    pub(super) fn new() -> Self {
        let places = fields().iter().enumerate();
        let places = places.filter(|(_, field)| field.kind() == Kind::Number && !is_asked(field));
        let places = places.map(|(field, _)| Place {
            field,
            test: String::new(),
            element: [0; 2],
        });
        Self {
            points: Vec::new(),
            seeds: Vec::new(),
            numbers: places
                .map(|place| (place.clone(), place.column()))
                .collect(),
            lists: lists().map(|_| Vec::new()).collect(),
        }
    }

    /// Whether a field of rows is kept.
    pub(super) fn keeps(name: &str) -> bool {
        let mut kept = fields().iter().filter(|field| field.kind() != Kind::Text);
        kept.any(|field| field.name == name)
    }

    /// All columns of numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = &Column> {
        self.numbers.values()
    }

    /// A number of each run. `[run]`
    pub(super) fn number(&self, quantity: Quantity) -> &[f64] {
        let found = self.all().find(|column| column.quantity == quantity);
        found.map_or(&[], |column| &column.values)
    }

    /// A list of each run. `[element][run]`
    pub(super) fn list(&self, quantity: Quantity) -> &[Vec<f32>] {
        let place = lists().position(|field| field.quantity == quantity);
        place.map_or(&[], |place| &self.lists[place])
    }

    /// Adds a run.
    ///
    /// # Errors
    /// When a field has another shape than its table says, or there are too many numbers.
    pub(super) fn push(
        &mut self,
        point: usize,
        seed: u64,
        row: &Map<String, Value>,
    ) -> Result<(), String> {
        let runs = self.points.len();
        for (place, value) in numbers_of(row)? {
            if self.numbers.len() == COLUMN_LIMIT && !self.numbers.contains_key(&place) {
                return Err(format!(
                    "its measures and test sets have more than {COLUMN_LIMIT} values"
                ));
            }
            let column = self.numbers.entry(place);
            let column = column.or_insert_with_key(Place::column);
            column.values.resize(runs, f64::NAN);
            column.values.push(value);
        }
        for column in self.numbers.values_mut() {
            column.values.resize(runs + 1, f64::NAN);
        }
        for (columns, field) in self.lists.iter_mut().zip(lists()) {
            let list = match row.get(&field.name) {
                None | Some(Value::Null) => &[],
                Some(Value::Array(list)) => list.as_slice(),
                Some(_) => return Err(format!("its `{}` is not a list", field.name)),
            };
            if list.len() > LIST_LIMIT {
                let (name, count) = (&field.name, list.len());
                return Err(format!(
                    "its `{name}` has {count} values, more than {LIST_LIMIT}"
                ));
            }
            while columns.len() < list.len() {
                columns.push(vec![f32::NAN; runs]);
            }
            for (index, column) in columns.iter_mut().enumerate() {
                let value = number(list.get(index));
                let value = value
                    .ok_or_else(|| format!("its `{}` is not a list of numbers", field.name))?;
                column.push(value as f32);
            }
        }
        self.points.push(point as u32);
        self.seeds.push(seed);
        let lists: usize = self.lists.iter().map(Vec::len).sum();
        if (3 + 2 * self.numbers.len() + lists) * self.points.len() > CELL_LIMIT {
            return Err(
                "the rows up to here have more numbers than one report can hold; report on parts of the file"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

impl Place {
    /// An empty column for this place.
    fn column(&self) -> Column {
        let field = &fields()[self.field];
        let [first, second] = self.element;
        let mut column = Column {
            name: field.name.clone(),
            label: field.label.clone(),
            decimals: field.decimals,
            quantity: field.quantity,
            is_listed: !matches!(field.quantity, Quantity::Deciding(_)),
            is_compared: false,
            values: Vec::new(),
        };
        match field.quantity {
            // Of a test set, the table of all runs has loss, accuracy and F1.
            Quantity::Tests => {
                let (key, label, decimals) = OF_TESTS[first];
                let left_out = [Metric::Precision, Metric::Recall].map(|metric| metric.info().name);
                column.name = format!("{TESTS}.{}.{key}", self.test);
                column.label = format!("{}: {label}", self.test);
                column.decimals = decimals;
                column.is_listed = !left_out.contains(&key);
                column.is_compared = key == Metric::F1.info().name;
            }
            // Values for each head would be too many to compare, and uniform attention says nothing of a model.
            Quantity::Measure(_) if field.kind() == Kind::PerHead => {
                column.name = format!("{}_{first}_{second}", field.name);
                column.label.clone_from(&column.name);
            }
            Quantity::Measure(measure) => {
                column.is_compared = measure != MeasureName::DecidingUniform;
            }
            _ => {}
        }
        column
    }
}

/// All numbers of a row, those of test sets and of heads among them, but not those of lists.
fn numbers_of(row: &Map<String, Value>) -> Result<Vec<(Place, f64)>, String> {
    let mut found = Vec::new();
    for (place, field) in fields().iter().enumerate() {
        let Some(value) = row.get(&field.name) else {
            continue;
        };
        let mut add = |test: &str, element: [usize; 2], value: &Value, what: &str| {
            let test = test.to_owned();
            let place = Place {
                field: place,
                test,
                element,
            };
            let value = number(Some(value));
            found.push((place, value.ok_or_else(|| what.to_owned())?));
            Ok::<_, String>(())
        };
        let invalid = |what: &str| format!("its `{}` is not {what}", field.name);
        match field.kind() {
            Kind::Number => add("", [0; 2], value, &invalid("a number"))?,
            Kind::ByName => {
                for (test, metrics) in value.as_object().into_iter().flatten() {
                    for (metric, (key, ..)) in OF_TESTS.iter().enumerate() {
                        let invalid = format!("its `{TESTS}.{test}.{key}` is not a number");
                        if let Some(value) = metrics.get(key) {
                            add(test, [metric, 0], value, &invalid)?;
                        }
                    }
                }
            }
            Kind::PerHead if !value.is_null() => {
                let list = |value: &'_ Value| match value {
                    Value::Array(list) => Ok(list.clone()),
                    _ => Err(invalid("a list of lists")),
                };
                for (layer, heads) in list(value)?.iter().enumerate() {
                    for (head, value) in list(heads)?.iter().enumerate() {
                        add("", [layer, head], value, &invalid("a list of numbers"))?;
                    }
                }
            }
            Kind::PerHead | Kind::List { .. } | Kind::Text => {}
        }
    }
    Ok(found)
}

/// NaN if the value is missing, `None` if it is not a number.
fn number(value: Option<&Value>) -> Option<f64> {
    match value {
        None | Some(Value::Null) => Some(f64::NAN),
        Some(value) => value.as_f64(),
    }
}

/// Whether only rows whose config asks for it have a field.
fn is_asked(field: &Field) -> bool {
    matches!(field.quantity, Quantity::Measure(_))
}

/// The field of a row that holds a quantity.
pub(super) fn field_of(quantity: Quantity) -> Option<&'static Field> {
    fields().iter().find(|field| field.quantity == quantity)
}

/// The fields that are compared between groups of runs.
pub(super) fn compared() -> impl Iterator<Item = &'static Field> {
    let quantities = COMPARED.map(|(metric, held_out)| Quantity::Metric { metric, held_out });
    quantities.into_iter().filter_map(field_of)
}

/// The fields that hold a list.
fn lists() -> impl Iterator<Item = &'static Field> {
    let is_list = |field: &&Field| matches!(field.kind(), Kind::List { .. });
    fields().iter().filter(is_list)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    fn push(columns: &mut Columns, row: &Value) -> Result<(), String> {
        columns.push(0, 0, row.as_object().unwrap())
    }

    #[test]
    fn runs_before_a_longer_list_have_no_value_there() {
        let mut columns = Columns::new();
        for (loss, epochs) in [(1.0, vec![1.0]), (2.0, vec![3.0, 4.0])] {
            let row = serde_json::json!({ "final_loss": loss, "epoch_loss": epochs });
            push(&mut columns, &row).unwrap();
        }
        assert_eq!(columns.number(LOSS), [1.0, 2.0]);
        assert_eq!(columns.list(EPOCHS)[0], [1.0, 3.0]);
        assert!(columns.list(EPOCHS)[1][0].is_nan());
        assert_eq!(columns.list(EPOCHS)[1][1], 4.0);
    }

    /// Of three runs, the second alone has the measure and a test set.
    #[test]
    fn a_run_without_a_number_has_nan() {
        let mut columns = Columns::new();
        let empty = serde_json::json!({});
        let asked = serde_json::json!({ "gap": 4, "tests": { "long": { "f1": 0.5 } } });
        for row in [&empty, &asked, &empty] {
            push(&mut columns, row).unwrap();
        }
        for (name, expected) in [("gap", 4.0), ("tests.long.f1", 0.5)] {
            let column = columns.all().find(|column| column.name == name).unwrap();
            assert!(column.is_compared && column.values.len() == 3);
            assert!(column.values[0].is_nan() && column.values[2].is_nan());
            assert_eq!(column.values[1], expected);
        }
    }

    #[test]
    fn more_heads_than_a_model_has_are_refused() {
        let row = serde_json::json!({ "deciding_attention": vec![vec![0.5; 64]; 65] });
        let refused = push(&mut Columns::new(), &row).unwrap_err();
        assert!(refused.contains("more than 4096"), "{refused}");
    }
}
