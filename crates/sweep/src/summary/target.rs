//! The positions at which a report measures attention.

use headlight_architecture::Keys;
use headlight_data::LabelRule;

/// The positions at which a report measures attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttentionTarget {
    /// The sum over these positions.
    Positions(Vec<usize>),
    /// In each run, the position with the most attention.
    Largest,
    /// The position with the most attention of positives over all runs.
    Main,
}

impl AttentionTarget {
    /// The positions that always decide the label, if the rule has any.
    pub(super) fn of(rule: Option<&LabelRule>) -> Self {
        rule.and_then(|rule| rule.fixed_positions())
            .map_or(Self::Largest, Self::Positions)
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
            Self::Largest | Self::Main => "its main position".to_owned(),
        }
    }

    /// The attention to the target if it were uniform over these keys.
    pub(super) fn uniform(&self, keys: &Keys) -> Option<f64> {
        match self {
            Self::Positions(named) => keys.uniform(named),
            Self::Largest | Self::Main => None,
        }
    }

    /// The attention of each run. `[position][run]` to `[run]`
    pub(super) fn attention(&self, columns: &[Vec<f32>], runs: usize) -> Vec<f32> {
        let one = |run: usize| {
            let at = |position: usize| columns.get(position).map_or(f32::NAN, |column| column[run]);
            match self {
                Self::Positions(positions) => positions.iter().map(|&position| at(position)).sum(),
                // `f32::max` ignores NaN.
                Self::Largest | Self::Main => (0..columns.len()).map(at).fold(f32::NAN, f32::max),
            }
        };
        (0..runs).map(one).collect()
    }
}
