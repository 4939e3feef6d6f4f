//! The prefix of some inputs, which a search extends and shortens.

use super::bounds::Bounds;
use super::labels::ANY;
use super::logits::Logits;
use super::table::{Last, Table};

/// A prefix: its tokens, and the sums of each of its parts.
#[derive(Clone, Debug)]
pub(super) struct Prefix<'a> {
    table: &'a Table,
    logits: &'a Logits,
    /// Tokens count from the first of each position; [`ANY`] where the prefix has none. `[position]`
    pub(super) tokens: Vec<u32>,
    /// Those of the empty prefix: the position that is read has one token alone.
    empty: Vec<u32>,
    /// Of each length. `[length][head, 1 + width]`
    sums: Vec<Vec<f64>>,
    pub(super) bounds: Bounds<'a>,
    pub(super) last: Last,
}

impl<'a> Prefix<'a> {
    pub(super) fn new(table: &'a Table, logits: &'a Logits) -> Self {
        let positions = table.len();
        let mut empty = vec![ANY; positions];
        empty[table.order[0]] = table.tokens[table.order[0]].start;
        Self {
            table,
            logits,
            tokens: empty.clone(),
            empty,
            sums: vec![vec![0.0; table.heads * (1 + table.base.len())]; positions + 1],
            bounds: Bounds::new(table, logits),
            last: Last::default(),
        }
    }

    /// Gives the prefix of a length one more token, counted from the first that is possible here.
    pub(super) fn set(&mut self, length: usize, token: usize) {
        self.name(length, token);
        if let [sums, longer] = &mut self.sums[length..length + 2] {
            self.table.extend(sums, length, token, longer);
        }
    }

    /// As [`set`](Self::set), without the sums.
    pub(super) fn name(&mut self, length: usize, token: usize) {
        let position = self.table.order[length];
        self.tokens[position] = self.table.tokens[position].start + token as u32;
    }

    /// Takes the last token of a prefix that is longer by one than so much.
    pub(super) fn clear(&mut self, length: usize) {
        let position = self.table.order[length];
        self.tokens[position] = self.empty[position];
    }

    /// How many tokens the prefix of a length can have next.
    pub(super) fn next(&self, length: usize) -> usize {
        self.table.places[length].tokens
    }

    /// Makes it the prefix of this number among all of its length.
    pub(super) fn number(&mut self, length: usize, mut number: u64) {
        self.tokens.clone_from(&self.empty);
        for length in 0..length {
            let count = self.next(length) as u64;
            self.set(length, (number % count) as usize);
            number /= count;
        }
    }

    /// Moves the centre of bounds to the prefix of a length.
    pub(super) fn centre(&mut self, length: usize) {
        self.bounds.centre(length, &self.sums[length]);
    }

    /// Finds the logits of all inputs with the prefix, which lacks one token.
    pub(super) fn complete(&mut self) {
        let sums = &self.sums[self.table.len() - 1];
        self.table.last(self.logits, sums, &mut self.last);
    }
}
