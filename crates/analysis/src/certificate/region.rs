//! Regions of inputs: each position holds any of some tokens, whatever the others hold.

use std::sync::Arc;

use headlight_experiment::Error;

/// The tokens that a position holds, and what each of them adds to the answer (`table.rs`).
#[derive(Clone, Debug)]
pub(super) struct PositionTokens {
    pub(super) tokens: Vec<u32>,
    /// Rows of tokens as columns; none where the engine answers every input. `[head, 1 + width][token]`
    pub(super) columns: Vec<f64>,
    /// The least and the largest of each column. `[head, 1 + width]`
    pub(super) ranges: Vec<[f64; 2]>,
}

impl PositionTokens {
    pub(super) fn new(tokens: Vec<u32>, columns: Vec<f64>) -> Self {
        let ranges = columns.chunks_exact(tokens.len());
        Self {
            ranges: ranges.map(|column| range(column.iter().copied())).collect(),
            tokens,
            columns,
        }
    }

    /// With some of its tokens alone.
    fn part(&self, chosen: &[usize]) -> Self {
        let columns = self.columns.chunks_exact(self.tokens.len());
        Self::new(
            chosen.iter().map(|&token| self.tokens[token]).collect(),
            columns
                .flat_map(|column| chosen.iter().map(|&token| column[token]))
                .collect(),
        )
    }

    /// The middles of columns.
    pub(super) fn middles(&self) -> impl Iterator<Item = f64> {
        let ranges = self.ranges.iter();
        ranges.map(|[low, high]| f64::midpoint(*low, *high))
    }

    pub(super) fn column(&self, i: usize) -> &[f64] {
        &self.columns[i * self.tokens.len()..][..self.tokens.len()]
    }
}

/// Some inputs.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// `[position]`
    pub(super) positions: Vec<Arc<PositionTokens>>,
}

impl Region {
    pub(super) fn inputs(&self) -> u64 {
        let counts = self.positions.iter().map(|held| held.tokens.len() as u64);
        counts.product()
    }

    /// Calls `each` with every input: the numbers of its tokens here, and the tokens.
    pub(super) fn each(
        &self,
        mut each: impl FnMut(&[usize], &[u32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut chosen = vec![0; self.positions.len()];
        let mut tokens: Vec<u32> = self.positions.iter().map(|held| held.tokens[0]).collect();
        loop {
            each(&chosen, &tokens)?;
            let is_last =
                |&position: &usize| chosen[position] + 1 == self.positions[position].tokens.len();
            let Some(position) = (0..chosen.len()).rev().find(|position| !is_last(position)) else {
                return Ok(());
            };
            chosen[position] += 1;
            chosen[position + 1..].fill(0);
            for (position, held) in self.positions.iter().enumerate().skip(position) {
                tokens[position] = held.tokens[chosen[position]];
            }
        }
    }

    pub(super) fn tokens(&self) -> Vec<&[u32]> {
        self.positions.iter().map(|held| &held.tokens[..]).collect()
    }

    /// The inputs that hold some of its tokens at a position.
    pub(super) fn with(&self, position: usize, chosen: &[usize]) -> Self {
        let mut region = self.clone();
        let held = &mut region.positions[position];
        if chosen.len() < held.tokens.len() {
            *held = Arc::new(held.part(chosen));
        }
        region
    }
}

pub(super) fn range(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], number| {
        [low.min(number), high.max(number)]
    })
}
