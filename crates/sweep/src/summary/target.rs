//! The positions at which a report measures attention.

use headlight_architecture::Keys;
use headlight_data::LabelRule;

use super::columns::Columns;
use crate::fields::Quantity;
use crate::measured::Measured;

/// The positions at which a report measures attention.
#[derive(Clone, Debug, PartialEq)]
pub enum AttentionTarget {
    /// The sum over these positions.
    Positions(Vec<usize>),
    /// Those that decide the label, by the config beside the results; without it, the position with the most attention
    /// of positives over all runs.
    Main,
    /// Those that decide the label of each sample.
    Deciding(Deciding),
    /// None: nothing says which positions decide.
    Nothing,
}

/// The positions that decide the label of each sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Deciding {
    /// By point of the grid; a single one holds for all points.
    places: Vec<Place>,
    /// The attention of runs whose positions differ from sample to sample.
    measured: Measured,
}

/// Where the positions are at a point of the grid.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    /// The same in all samples.
    Fixed(Vec<usize>),
    /// Others in each sample.
    Differ,
    /// No rule says.
    Unknown,
}

/// The attention of a run to the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Of positives and of negatives.
    pub(super) attention: [f32; 2],
    /// What uniform attention would be, of positives.
    pub(super) uniform: f64,
}

impl Look {
    const NONE: Self = Self {
        attention: [f32::NAN; 2],
        uniform: f64::NAN,
    };
}

impl AttentionTarget {
    /// The positions that decide the label by the rule of each point of the grid.
    pub(super) fn of<'a>(
        rules: impl Iterator<Item = Option<&'a LabelRule>>,
        measured: Measured,
    ) -> Self {
        let place = |rule: Option<&LabelRule>| match rule.map(|rule| rule.fixed_positions()) {
            None => Place::Unknown,
            Some(None) => Place::Differ,
            Some(Some(positions)) => Place::Fixed(positions),
        };
        let places: Vec<Place> = rules.map(place).collect();
        match places.as_slice() {
            [] => Self::Nothing,
            [first, rest @ ..] if rest.iter().all(|place| place == first) => match first {
                Place::Fixed(positions) => Self::Positions(positions.clone()),
                Place::Unknown => Self::Nothing,
                Place::Differ => Self::Deciding(Deciding {
                    places: vec![Place::Differ],
                    measured,
                }),
            },
            _ => Self::Deciding(Deciding { places, measured }),
        }
    }

    /// Its name in tables and plots.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Positions(positions) if positions.len() == 1 => {
                format!("position {}", positions[0])
            }
            Self::Positions(positions) => {
                let all: Vec<String> = positions.iter().map(usize::to_string).collect();
                format!("positions {}", all.join(" and "))
            }
            Self::Deciding(_) | Self::Main | Self::Nothing => {
                "the positions that decide".to_owned()
            }
        }
    }

    /// Whether rows cannot tell the attention to it, since the positions differ from sample to sample.
    pub(super) fn differs(&self) -> bool {
        matches!(self, Self::Deciding(Deciding { places, .. }) if places.contains(&Place::Differ))
    }

    /// The attention of each run. `[run]`
    pub(super) fn looks(
        &self,
        columns: &Columns,
        classes: [Quantity; 2],
        padded: bool,
        rates: &[Option<f64>],
    ) -> Vec<Look> {
        let lists = classes.map(|class| columns.list(class));
        let runs = columns.points.iter().zip(&columns.seeds).enumerate();
        let visible = Visible::of(columns, lists);
        let rate = |point: usize| *rates.get(point).or(rates.last()).unwrap_or(&Some(1.0));
        let fixed = |run: usize, point: usize, positions: &[usize]| {
            let at = |list: &[Vec<f32>], position: usize| {
                list.get(position).map_or(f32::NAN, |column| column[run])
            };
            let paid = |list| positions.iter().map(|&position| at(list, position)).sum();
            Look {
                attention: lists.map(paid),
                // Each padded sample has its own number of keys.
                uniform: if padded {
                    f64::NAN
                } else {
                    visible.uniform(point, rate(point), positions)
                },
            }
        };
        runs.map(|(run, (&point, &seed))| {
            let point = point as usize;
            match self {
                Self::Positions(positions) => fixed(run, point, positions),
                Self::Main | Self::Nothing => Look::NONE,
                Self::Deciding(Deciding { places, measured }) => {
                    match places.get(point).or(places.last()) {
                        Some(Place::Fixed(positions)) => fixed(run, point, positions),
                        Some(Place::Differ) => {
                            let found = measured.get(seed, point);
                            found.map_or(Look::NONE, |found| Look {
                                attention: found.attention.map(|value| value as f32),
                                uniform: found.uniform,
                            })
                        }
                        Some(Place::Unknown) | None => Look::NONE,
                    }
                }
            }
        })
        .collect()
    }
}

/// The keys that `[CLS]` may look at, at each point of the grid: positions that get no attention in any of its runs are
/// masked. `[point][position]`
struct Visible(Vec<Vec<bool>>);

impl Visible {
    fn of(columns: &Columns, lists: [&[Vec<f32>]; 2]) -> Self {
        let points = columns
            .points
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        let positions = lists[0].len().max(lists[1].len());
        let mut seen = vec![vec![false; positions]; points];
        for list in lists {
            for (position, column) in list.iter().enumerate() {
                for (&point, &weight) in columns.points.iter().zip(column) {
                    seen[point as usize][position] |= weight > 0.0;
                }
            }
        }
        Self(seen)
    }

    /// Uniform attention on these positions together; NaN if there is no key, or weights are no softmax.
    fn uniform(&self, point: usize, rate: Option<f64>, positions: &[usize]) -> f64 {
        let seen = self.0[point].iter().enumerate();
        let keys: Keys = seen
            .filter(|(_, seen)| **seen)
            .map(|(key, _)| key)
            .collect();
        let uniform = keys.weighted_by(rate).uniform(positions);
        uniform.unwrap_or(f64::NAN)
    }
}
