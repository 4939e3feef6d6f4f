//! The numbers of all runs, field by field.

use headlight_experiment::metrics::{COMPARED, Metric};
use serde_json::{Map, Value};

use super::asked::Asked;
use super::row_values::{number, retain};
use crate::fields::{Field, Kind, Quantity, fields};

/// Fields that tables and plots use individually.
pub(super) const LOSS: Quantity = Quantity::Metric {
    metric: Metric::Loss,
    held_out: false,
};
pub(super) const LEARNED: Quantity = Quantity::LearnedAtStep;
pub(super) const EPOCHS: Quantity = Quantity::EpochLoss;
pub(super) const POSITIVE: Quantity = Quantity::Attention { positive: true };
pub(super) const NEGATIVE: Quantity = Quantity::Attention { positive: false };

/// The most that is kept, in units of four bytes; enough for a million runs of the notebook's experiment.
const CELL_LIMIT: usize = 48_000_000;

/// The longest list; a row has room for fewer epochs.
const LIST_LIMIT: usize = 1 << 18;

/// Stands for a number of a list that float32 cannot hold. JSON, which rows are, has no infinity.
const OUTSIDE: f32 = f32::INFINITY;

/// The numbers of all runs; NaN if a run lacks one. Lists, which have many more numbers, are kept in float32.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// The point of the grid. `[run]`
    pub(super) points: Vec<u32>,
    /// `[run]`
    pub(super) seeds: Vec<u64>,
    /// In the order of [`numbers`]. `[field][run]`
    numbers: Vec<Vec<f64>>,
    /// In the order of [`lists`]. `[field][element][run]`
    lists: Vec<Vec<Vec<f32>>>,
    /// What configs ask for.
    pub(super) asked: Asked,
    /// One run in `every` of each point is kept.
    pub(super) every: usize,
    /// The number of runs so far. `[point]`
    seen: Vec<usize>,
    limit: usize,
}

impl Columns {
    pub(super) fn new() -> Self {
        Self::limited(CELL_LIMIT)
    }

    /// Whether a field of rows is kept.
    pub(super) fn keeps(name: &str) -> bool {
        let mut kept = fields().iter().filter(|field| field.kind() != Kind::Text);
        kept.any(|field| field.name == name)
    }

    /// A number of each run. `[run]`
    pub(super) fn number(&self, quantity: Quantity) -> &[f64] {
        let place = numbers().position(|field| field.quantity == quantity);
        place.map_or(&[], |place| &self.numbers[place])
    }

    /// A list of each run; a number that float32 cannot hold is infinite. `[element][run]`
    pub(super) fn list(&self, quantity: Quantity) -> &[Vec<f32>] {
        let place = lists().position(|field| field.quantity == quantity);
        place.map_or(&[], |place| &self.lists[place])
    }

    /// The numbers of lists that float32 cannot hold, which no figure includes.
    pub(super) fn outside(&self) -> usize {
        let lists = self.lists.iter().flatten().flatten();
        lists.filter(|value| value.is_infinite()).count()
    }

    fn limited(limit: usize) -> Self {
        Self {
            every: 1,
            numbers: numbers().map(|_| Vec::new()).collect(),
            lists: lists().map(|_| Vec::new()).collect(),
            limit,
            ..Self::default()
        }
    }

    /// Adds a run, or skips it if only one in `every` is kept.
    ///
    /// # Errors
    /// When a field is not a number or a list of numbers, or a list is too long.
    pub(super) fn push(
        &mut self,
        point: usize,
        seed: u64,
        fields: &Map<String, Value>,
    ) -> Result<(), String> {
        if self.seen.len() <= point {
            self.seen.resize(point + 1, 0);
        }
        self.seen[point] += 1;
        if !(self.seen[point] - 1).is_multiple_of(self.every) {
            return Ok(());
        }
        let runs = self.points.len();
        for (column, field) in self.numbers.iter_mut().zip(numbers()) {
            let value = number(fields.get(&field.name));
            column.push(value.ok_or_else(|| format!("its `{}` is not a number", field.name))?);
        }
        for (columns, field) in self.lists.iter_mut().zip(lists()) {
            let list = match fields.get(&field.name) {
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
                column.push(
                    value
                        .map(float32)
                        .ok_or_else(|| format!("its `{}` is not a list of numbers", field.name))?,
                );
            }
        }
        self.asked.push(runs, fields)?;
        self.points.push(point as u32);
        self.seeds.push(seed);
        while self.cells() > self.limit {
            self.thin()?;
        }
        Ok(())
    }

    fn cells(&self) -> usize {
        let lists: usize = self.lists.iter().map(Vec::len).sum();
        let numbers = self.numbers.len() + self.asked.len();
        (3 + 2 * numbers + lists) * self.points.len()
    }

    /// Keeps every second run of each point.
    fn thin(&mut self) -> Result<(), String> {
        self.every *= 2;
        let mut drop = vec![false; self.seen.len()];
        let keep: Vec<bool> = self
            .points
            .iter()
            .map(|&point| {
                let drop = &mut drop[point as usize];
                *drop = !*drop;
                *drop
            })
            .collect();
        if keep.iter().all(|keep| *keep) {
            return Err(
                "its lists are too long for the number of points of the grid; report on parts of the sweep"
                    .to_owned(),
            );
        }
        for column in &mut self.numbers {
            retain(column, &keep);
        }
        for column in self.lists.iter_mut().flatten() {
            retain(column, &keep);
        }
        self.asked.retain(&keep);
        retain(&mut self.points, &keep);
        retain(&mut self.seeds, &keep);
        Ok(())
    }
}

/// The fields that hold one number, measures aside.
pub(super) fn numbers() -> impl Iterator<Item = &'static Field> {
    let is_measure = |field: &Field| matches!(field.quantity, Quantity::Measure(_));
    let all = fields().iter();
    all.filter(move |field| field.kind() == Kind::Number && !is_measure(field))
}

/// The fields that are compared between groups of runs.
pub(super) fn compared() -> impl Iterator<Item = &'static Field> {
    let quantities = COMPARED.map(|(metric, held_out)| Quantity::Metric { metric, held_out });
    let field = |quantity| numbers().find(move |field| field.quantity == quantity);
    quantities.into_iter().filter_map(field)
}

/// The fields that hold a list.
fn lists() -> impl Iterator<Item = &'static Field> {
    let is_list = |field: &&Field| matches!(field.kind(), Kind::List { .. });
    fields().iter().filter(is_list)
}

fn float32(value: f64) -> f32 {
    let fits = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
    if value == 0.0 || value.is_nan() || fits.contains(&value.abs()) {
        value as f32
    } else {
        OUTSIDE
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    fn row(loss: f64, epochs: &[f64]) -> Map<String, Value> {
        let row = serde_json::json!({ "final_loss": loss, "epoch_loss": epochs });
        row.as_object().unwrap().clone()
    }

    #[test]
    fn runs_before_a_longer_list_have_no_value_there() {
        let mut columns = Columns::new();
        columns.push(0, 0, &row(1.0, &[1.0])).unwrap();
        columns.push(0, 0, &row(2.0, &[3.0, 4.0])).unwrap();
        assert_eq!(columns.number(LOSS), [1.0, 2.0]);
        assert_eq!(columns.list(EPOCHS)[0], [1.0, 3.0]);
        assert!(columns.list(EPOCHS)[1][0].is_nan());
        assert_eq!(columns.list(EPOCHS)[1][1], 4.0);
    }

    /// There is room for ten runs, and two points have 17 runs each. Of both points the same runs are kept:
    /// the order of points in the file does not matter.
    #[test]
    fn each_point_keeps_its_share_of_too_many_runs() {
        let mut columns = Columns::limited(10 * (3 + 2 * numbers().count() + 1));
        for run in 0..17 {
            for point in 0..2 {
                columns
                    .push(point, 0, &row(f64::from(run), &[0.0]))
                    .unwrap();
            }
        }
        assert_eq!(columns.every, 4);
        for point in 0..2 {
            let kept = columns.points.iter().zip(columns.number(LOSS));
            let mine: Vec<f64> = kept
                .filter(|(at, _)| **at == point)
                .map(|(_, loss)| *loss)
                .collect();
            assert_eq!(mine, [0.0, 4.0, 8.0, 12.0, 16.0]);
        }
        let mut columns = Columns::limited(60);
        columns.push(0, 0, &row(0.0, &[0.0; 20])).unwrap();
        assert!(
            columns
                .push(1, 0, &row(0.0, &[]))
                .unwrap_err()
                .contains("too long")
        );
    }
}
