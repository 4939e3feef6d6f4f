//! Where attention is measured.

use headlight_data::LabelRule;

/// Where attention is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// On these positions, added up.
    Positions(Vec<usize>),
    /// On whichever position has the most.
    Largest,
    /// On the position that positives give the most to, over all runs.
    Main,
}

impl Watched {
    /// The positions that always decide the label, where there are any.
    pub(super) fn of(rule: Option<&LabelRule>) -> Self {
        match rule {
            Some(LabelRule::TokenAtPosition { position, .. }) => Self::Positions(vec![*position]),
            Some(LabelRule::EqualPositions { first, second }) => {
                Self::Positions(vec![*first, *second])
            }
            _ => Self::Largest,
        }
    }

    pub(super) fn words(&self) -> String {
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

    /// What attention there would be if uniform over so many positions.
    pub(super) fn uniform(&self, positions: usize) -> Option<f64> {
        match self {
            Self::Positions(watched) if positions > 0 => {
                Some(watched.len() as f64 / positions as f64)
            }
            _ => None,
        }
    }

    /// The attention of each run. `[position][run]` to `[run]`
    pub(super) fn attention(&self, columns: &[Vec<f32>], runs: usize) -> Vec<f32> {
        let one = |run: usize| {
            let at = |position: usize| columns.get(position).map_or(f32::NAN, |column| column[run]);
            match self {
                Self::Positions(positions) => positions.iter().map(|&position| at(position)).sum(),
                // `f32::max` passes over NaN.
                Self::Largest | Self::Main => (0..columns.len()).map(at).fold(f32::NAN, f32::max),
            }
        };
        (0..runs).map(one).collect()
    }
}
