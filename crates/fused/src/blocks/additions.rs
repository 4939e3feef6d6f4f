//! What a backward pass adds to the gradient of parameters: sums over positions and samples, one column per lane.
//!
//! The order of a sum is that of the samples, eight at a time, and of their positions. A pass by itself adds at once. Where
//! several passes share a batch, each first keeps the rows of its own samples. Then the gradient is divided among threads: each
//! adds the rows of all passes to a part of its own, in the order of the samples. So no sum depends on the number of threads,
//! and a part of the gradient is read and written once for several passes.

use std::ops::Range;

use super::elements::add_rows;
use super::embedding;
use crate::aligned::Aligned;
use crate::chunk::Chunk;
use crate::instructions::Instructions;
use crate::lanes::{LANES, Lanes};
use crate::places::{Linear, Matrix};
use crate::products::{Block, add_products, to_rows};
use crate::sums::Sums;

/// The most passes whose rows are added together.
pub(super) const GROUP: usize = 8;

/// The additions of one pass or of several.
#[derive(Clone, Debug)]
pub(super) struct Additions {
    pub(super) when: When,
    /// Rows of inputs and gradients, one after the other. `[eight samples, position, sample, width]`
    rows: Aligned<1>,
    end: usize,
    /// Tokens whose embeddings have gradients. `[eight samples, position, sample]`
    tokens: Vec<u32>,
    /// The last inputs, and how many rows have a sum of their own.
    input: Rows,
    height: usize,
    kept: Vec<Addition>,
    /// Where the additions of each pass end.
    passes: Vec<usize>,
}

/// When additions are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    AtOnce,
    /// They are kept for [`add`].
    Later,
    /// The gradients of parameters are not wanted.
    Never,
}

#[derive(Clone, Debug, Default)]
struct Rows {
    range: Range<usize>,
    width: usize,
}

/// Something that is added to the gradient of one matrix.
#[derive(Clone, Debug)]
struct Addition {
    place: Matrix,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Products(Products),
    /// Rows, one after the other, to a single one.
    Rows(Rows),
    /// The row of each token, to that of the token and that of its position.
    Embeddings {
        rows: Rows,
        tokens: Range<usize>,
        positions: Option<Matrix>,
        /// Positions that the pass computes.
        computed: usize,
    },
}

/// `factor Σ input ⊗ gradient` in some columns. Each `height` rows have a sum of their own.
#[derive(Clone, Debug)]
struct Products {
    inputs: Rows,
    gradients: Rows,
    height: usize,
    columns: Range<usize>,
    factor: f32,
}

impl Additions {
    pub(super) fn new() -> Self {
        Self {
            when: When::AtOnce,
            rows: Aligned::zeros(0),
            end: 0,
            tokens: Vec::new(),
            input: Rows::default(),
            height: 0,
            kept: Vec::new(),
            passes: Vec::new(),
        }
    }

    /// Forgets what was kept.
    pub(super) fn clear(&mut self) {
        self.end = 0;
        self.input = Rows::default();
        self.tokens.clear();
        self.kept.clear();
        self.passes.clear();
    }

    /// Says that a pass has added everything.
    pub(super) fn end_pass(&mut self) {
        self.passes.push(self.kept.len());
    }

    /// Numbers that are kept.
    pub(super) fn len(&self) -> usize {
        self.end
    }

    /// Room for rows.
    fn room(&mut self, count: usize) -> Range<usize> {
        let range = self.end..self.end + count;
        if range.end > self.rows.len() {
            let mut more = Aligned::zeros(range.end.next_power_of_two());
            more[..self.end].copy_from_slice(&self.rows[..self.end]);
            self.rows = more;
        }
        self.end = range.end.next_multiple_of(16);
        range
    }

    fn of(&self, rows: &Rows) -> &[f32] {
        &self.rows.as_flattened()[rows.range.clone()]
    }

    /// What a pass has added.
    fn of_pass(&self, pass: usize) -> &[Addition] {
        let start = pass.checked_sub(1).map_or(0, |before| self.passes[before]);
        &self.kept[start..self.passes[pass]]
    }

    /// Copies lanes to rows.
    fn turn<const L: usize>(
        &mut self,
        set: Instructions,
        lanes: &[Lanes<L>],
        width: usize,
    ) -> Rows {
        let range = self.room(lanes.len() * L);
        let rows = &mut self.rows.as_flattened_mut()[range.clone()];
        to_rows(set, lanes, rows, width);
        Rows { range, width }
    }
}

/// Where a pass adds the gradients of parameters.
pub(super) struct Gradients<'a> {
    pub(super) set: Instructions,
    pub(super) additions: &'a mut Additions,
    pub(super) sums: Sums<'a>,
}

impl Gradients<'_> {
    fn are_wanted(&self) -> bool {
        self.additions.when != When::Never
    }

    /// Takes the inputs of a projection, one sample per lane. `[position, width]`
    pub(super) fn input<const L: usize>(&mut self, lanes: &[Lanes<L>], width: usize) {
        if !self.are_wanted() {
            return;
        }
        let additions = &mut *self.additions;
        if additions.when == When::AtOnce {
            additions.end = 0;
        }
        additions.height = lanes.len() / width * LANES;
        additions.input = additions.turn(self.set, lanes, width);
    }

    /// Gives the products of each position a sum of its own.
    pub(super) fn one_by_one(&mut self) {
        self.additions.height = LANES;
    }

    /// Adds the gradients of a projection's weights and biases, from those of its outputs, of the positions of the inputs.
    pub(super) fn linear<const L: usize>(&mut self, lanes: &[Lanes<L>], linear: Linear) {
        if self.are_wanted() {
            let width = linear.weight.stride;
            let gradients = self.additions.turn(self.set, lanes, width);
            self.products(linear.weight, gradients.clone(), 0..width, 1.0);
            self.take(linear.bias, What::Rows(gradients));
        }
    }

    /// Adds the gradient of a projection's biases alone.
    pub(super) fn bias<const L: usize>(&mut self, lanes: &[Lanes<L>], linear: Linear) {
        if self.are_wanted() {
            let gradients = self.additions.turn(self.set, lanes, linear.weight.stride);
            self.take(linear.bias, What::Rows(gradients));
        }
    }

    /// Adds the gradient of a projection's weights in some columns, those of one head.
    pub(super) fn head<const L: usize>(
        &mut self,
        lanes: &[Lanes<L>],
        columns: Range<usize>,
        factor: f32,
        weight: Matrix,
    ) {
        if !self.are_wanted() {
            return;
        }
        let gradients = self.additions.turn(self.set, lanes, weight.stride);
        let rows = &mut self.additions.rows.as_flattened_mut()[gradients.range.clone()];
        for row in rows.chunks_exact_mut(weight.stride) {
            row[..columns.start].fill(0.0);
            row[columns.end..].fill(0.0);
        }
        let columns = columns.start / LANES * LANES..columns.end.next_multiple_of(LANES);
        self.products(weight, gradients, columns, factor);
    }

    fn products(&mut self, place: Matrix, gradients: Rows, columns: Range<usize>, factor: f32) {
        let products = Products {
            inputs: self.additions.input.clone(),
            gradients,
            height: self.additions.height,
            columns,
            factor,
        };
        self.take(place, What::Products(products));
    }

    /// Adds a row for each sample to two places; `fill` writes the rows of one after those of the other.
    pub(super) fn samples(
        &mut self,
        samples: usize,
        places: [Matrix; 2],
        fill: impl FnOnce(&mut [f32]),
    ) {
        if !self.are_wanted() {
            return;
        }
        let width = places[0].stride;
        let both = self.additions.room(2 * samples * width);
        fill(&mut self.additions.rows.as_flattened_mut()[both.clone()]);
        let middle = both.start + samples * width;
        let ranges = [both.start..middle, middle..both.end];
        for (place, range) in places.into_iter().zip(ranges) {
            self.take(place, What::Rows(Rows { range, width }));
        }
    }

    /// Adds the gradient of each token's vector to the rows of its token and position.
    pub(super) fn embeddings<const L: usize>(
        &mut self,
        chunk: Chunk<'_>,
        lanes: &[Lanes<L>],
        place: Matrix,
        positions: Option<Matrix>,
    ) {
        let (additions, width) = (&mut *self.additions, place.stride);
        if additions.when == When::AtOnce {
            additions.end = 0;
            additions.tokens.clear();
        }
        let rows = additions.turn(self.set, lanes, width);
        let (start, computed) = (additions.tokens.len(), lanes.len() / width);
        for part in 0..L / LANES {
            for position in 0..computed {
                let tokens = (part * LANES..(part + 1) * LANES).map(|lane| {
                    if lane < chunk.chosen.len() {
                        chunk.token(lane, position)
                    } else {
                        embedding::NONE
                    }
                });
                additions.tokens.extend(tokens);
            }
        }
        let what = What::Embeddings {
            rows,
            tokens: start..additions.tokens.len(),
            positions,
            computed,
        };
        self.take(place, what);
    }

    /// Adds now or keeps.
    fn take(&mut self, place: Matrix, what: What) {
        let (additions, addition) = (&mut *self.additions, Addition { place, what });
        if additions.when == When::Later {
            additions.kept.push(addition);
        } else {
            add_group(self.set, &[(additions, &addition)], &mut self.sums);
            // The inputs stay for other gradients.
            additions.end = additions.input.range.end.next_multiple_of(16);
        }
    }
}

/// Adds what passes have kept, `passes` of them one after the other, to a part of the gradient, so many of them together. A pass is
/// given by its additions and its place among their passes.
pub(super) fn add<'a>(
    set: Instructions,
    passes: usize,
    together: usize,
    pass: impl Fn(usize) -> (&'a Additions, usize),
    sums: &mut Sums<'_>,
) {
    for start in (0..passes).step_by(together) {
        let count = together.min(passes - start);
        let lists: [(&Additions, &[Addition]); GROUP] = std::array::from_fn(|index| {
            let (additions, own) = pass(start + index.min(count - 1));
            (additions, additions.of_pass(own))
        });
        // Every pass adds the same things in the same order.
        for index in 0..lists[0].1.len() {
            let group = lists.map(|(additions, list)| (additions, &list[index]));
            add_group(set, &group[..count], sums);
        }
    }
}

/// Adds the same thing of some passes to a part of the gradient: products together, and rows one pass after the other.
fn add_group(set: Instructions, group: &[(&Additions, &Addition)], sums: &mut Sums<'_>) {
    let (_, Addition { place, what }) = group[0];
    let What::Products(first) = what else {
        for (additions, addition) in group {
            add_rows_of(set, additions, addition, sums);
        }
        return;
    };
    let own = sums.rows(*place);
    if own.is_empty() {
        return;
    }
    let mut blocks = [Block::default(); GROUP];
    for (block, (additions, addition)) in blocks.iter_mut().zip(group) {
        if let What::Products(products) = &addition.what {
            *block = Block {
                left: additions.of(&products.inputs),
                right: additions.of(&products.gradients),
                height: products.height,
            };
        }
    }
    let widths = [first.inputs.width, first.gradients.width];
    let into = sums.of_rows(*place, own.clone());
    let (blocks, columns) = (&blocks[..group.len()], first.columns.clone());
    add_products(set, blocks, widths, own, columns, first.factor, into);
}

/// Adds rows of a pass to the single row of a matrix, or to the rows of tokens and positions.
fn add_rows_of(set: Instructions, additions: &Additions, addition: &Addition, sums: &mut Sums<'_>) {
    let place = addition.place;
    let own = sums.rows(place);
    match &addition.what {
        What::Products(_) => {}
        What::Rows(_) if own.is_empty() => {}
        What::Rows(rows) => {
            let into = sums.of_rows(place, 0..1);
            add_rows(set, additions.of(rows), rows.width, into);
        }
        What::Embeddings {
            rows,
            tokens,
            positions,
            computed,
        } => {
            let (tokens, width) = (&additions.tokens[tokens.clone()], rows.width);
            let rows = additions.of(rows);
            if !own.is_empty() {
                let (gradient, squares) = sums.of_tokens(place, own.clone());
                embedding::backward(set, rows, width, tokens, own, gradient, squares);
            }
            let Some(place) = *positions else { return };
            let own = sums.rows(place);
            if !own.is_empty() {
                let into = sums.of_rows(place, own.clone());
                embedding::backward_of_positions(set, rows, width, tokens, *computed, own, into);
            }
        }
    }
}
