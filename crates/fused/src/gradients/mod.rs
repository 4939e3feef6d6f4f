//! The gradients of parameters: sums over positions and samples, one column per lane.
//!
//! A layer hands over what it multiplied a parameter by and the gradient of what came out, where it has both. The order of a
//! sum is that of the samples, eight at a time, and of their positions. A pass by itself adds at once. Where
//! several passes share a batch, each first keeps the rows of its own samples. Then the gradient is divided among threads: each
//! adds the rows of all passes to a part of its own, in the order of the samples. So no sum depends on the number of threads,
//! and a part of the gradient is read and written once for several passes.

mod part;
mod products;
mod rows;

use std::ops::Range;

use crate::aligned::Aligned;
use crate::chunk::Chunk;
use crate::instructions::Instructions;
use crate::lanes::{LANES, Lanes};
use crate::parameters::{Linear, Matrix};
pub(crate) use part::GradientPart;
pub(crate) use products::transpose_lanes;
use products::{Segment, add_products, lanes_to_rows};
use rows::{NO_TOKEN, add_rows, add_to_positions, add_to_tokens};

/// The most passes whose rows are added together.
pub(crate) const MAX_PASSES_TOGETHER: usize = 8;

/// The terms that one pass or several have for sums over their samples.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) mode: Mode,
    /// Rows of inputs and gradients, one after the other. `[eight samples, position, sample, width]`
    rows: Aligned<1>,
    end: usize,
    /// Where the rows of the last inputs end.
    input_end: usize,
    /// Tokens whose embeddings have gradients. `[eight samples, position, sample]`
    tokens: Vec<u32>,
    kept: Vec<(Matrix, Term)>,
    /// Where the terms of each pass end.
    passes: Vec<usize>,
}

/// What becomes of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    AddNow,
    /// It is kept for [`add_kept`].
    Keep,
    /// The gradients of parameters are not wanted.
    Skip,
}

/// The rows of a term, of one pass and one width.
#[derive(Clone, Copy, Debug, Default)]
struct TermRows {
    start: usize,
    len: usize,
    width: usize,
}

/// Inputs that were multiplied by a matrix. Each `height` rows have a sum of their own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Input {
    rows: TermRows,
    height: usize,
}

impl Input {
    /// Gives the products of each position a sum of its own.
    pub(crate) fn one_by_one(self) -> Self {
        let height = LANES;
        Self { height, ..self }
    }
}

/// What is added to the gradient of one matrix.
#[derive(Clone, Debug)]
enum Term {
    /// `factor Σ input ⊗ gradient` in some columns: the input, the gradients, the columns, the factor.
    Products(Input, TermRows, Range<usize>, f32),
    /// Rows, one after the other, to a single one.
    Rows(TermRows),
    /// The row of each token, to that of the token and that of its position.
    Embeddings {
        rows: TermRows,
        tokens: Range<usize>,
        positions: Option<Matrix>,
        /// Positions that the pass computes.
        computed: usize,
    },
}

impl Terms {
    pub(crate) fn new() -> Self {
        Self {
            mode: Mode::AddNow,
            rows: Aligned::zeros(0),
            end: 0,
            input_end: 0,
            tokens: Vec::new(),
            kept: Vec::new(),
            passes: Vec::new(),
        }
    }

    /// Forgets what was kept.
    pub(crate) fn clear(&mut self) {
        (self.end, self.input_end) = (0, 0);
        self.tokens.clear();
        self.kept.clear();
        self.passes.clear();
    }

    /// Says that a pass has handed over everything.
    pub(crate) fn end_pass(&mut self) {
        self.passes.push(self.kept.len());
    }

    /// Numbers that are kept.
    pub(crate) fn len(&self) -> usize {
        self.end
    }

    /// Room for rows.
    fn reserve(&mut self, len: usize, width: usize) -> TermRows {
        let (start, end) = (self.end, self.end + len);
        if end > self.rows.len() {
            let mut more = Aligned::zeros(end.next_power_of_two());
            more[..start].copy_from_slice(&self.rows[..start]);
            self.rows = more;
        }
        self.end = end.next_multiple_of(16);
        TermRows { start, len, width }
    }

    fn numbers(&self, rows: TermRows) -> &[f32] {
        &self.rows.as_flattened()[rows.start..][..rows.len]
    }

    fn numbers_mut(&mut self, rows: TermRows) -> &mut [f32] {
        &mut self.rows.as_flattened_mut()[rows.start..][..rows.len]
    }

    /// What a pass has handed over.
    fn of_pass(&self, pass: usize) -> &[(Matrix, Term)] {
        let start = pass.checked_sub(1).map_or(0, |before| self.passes[before]);
        &self.kept[start..self.passes[pass]]
    }

    /// Copies lanes to rows.
    fn copy<const L: usize>(
        &mut self,
        isa: Instructions,
        lanes: &[Lanes<L>],
        width: usize,
    ) -> TermRows {
        let rows = self.reserve(lanes.len() * L, width);
        lanes_to_rows(isa, lanes, self.numbers_mut(rows), width);
        rows
    }
}

/// Where a pass hands over the gradients of parameters.
pub(crate) struct Gradients<'a> {
    pub(crate) isa: Instructions,
    pub(crate) terms: &'a mut Terms,
    pub(crate) part: GradientPart<'a>,
}

impl Gradients<'_> {
    fn are_wanted(&self) -> bool {
        self.terms.mode != Mode::Skip
    }

    /// The inputs of a projection, one sample per lane. `[position, width]`
    ///
    /// Inputs and the gradients made of them alternate: with [`Mode::AddNow`], the next inputs take the memory of these.
    pub(crate) fn input<const L: usize>(&mut self, lanes: &[Lanes<L>], width: usize) -> Input {
        if !self.are_wanted() {
            return Input::default();
        }
        let terms = &mut *self.terms;
        if terms.mode == Mode::AddNow {
            terms.end = 0;
        }
        let rows = terms.copy(self.isa, lanes, width);
        terms.input_end = terms.end;
        let height = lanes.len() / width * LANES;
        Input { rows, height }
    }

    /// Adds or keeps the gradients of a projection `y = x W + b`, from its inputs and the gradient of its outputs:
    /// `dW = Σ x ⊗ dy` and `db = Σ dy`.
    pub(crate) fn linear<const L: usize>(
        &mut self,
        input: Input,
        lanes: &[Lanes<L>],
        linear: Linear,
    ) {
        if self.are_wanted() {
            let (columns, factor) = (0..linear.weight.stride, 1.0);
            let gradients = self.terms.copy(self.isa, lanes, columns.end);
            let products = Term::Products(input, gradients, columns, factor);
            self.add_or_keep(linear.weight, products);
            self.add_or_keep(linear.bias, Term::Rows(gradients));
        }
    }

    /// `db = Σ dy` alone.
    pub(crate) fn bias<const L: usize>(&mut self, lanes: &[Lanes<L>], linear: Linear) {
        if self.are_wanted() {
            let gradients = self.terms.copy(self.isa, lanes, linear.weight.stride);
            self.add_or_keep(linear.bias, Term::Rows(gradients));
        }
    }

    /// `dW = factor Σ x ⊗ dy` in some columns, those of one head.
    pub(crate) fn head<const L: usize>(
        &mut self,
        input: Input,
        lanes: &[Lanes<L>],
        columns: Range<usize>,
        factor: f32,
        weight: Matrix,
    ) {
        if !self.are_wanted() {
            return;
        }
        let gradients = self.terms.copy(self.isa, lanes, weight.stride);
        let rows = self.terms.numbers_mut(gradients);
        for row in rows.chunks_exact_mut(weight.stride) {
            row[..columns.start].fill(0.0);
            row[columns.end..].fill(0.0);
        }
        let columns = columns.start / LANES * LANES..columns.end.next_multiple_of(LANES);
        let products = Term::Products(input, gradients, columns, factor);
        self.add_or_keep(weight, products);
    }

    /// Adds a row for each sample to two single rows; `fill` writes the rows of one after those of the other.
    pub(crate) fn rows(
        &mut self,
        samples: usize,
        slots: [Matrix; 2],
        fill: impl FnOnce(&mut [f32]),
    ) {
        if !self.are_wanted() {
            return;
        }
        let width = slots[0].stride;
        let both = self.terms.reserve(2 * samples * width, width);
        fill(self.terms.numbers_mut(both));
        let len = both.len / 2;
        for (slot, start) in slots.into_iter().zip([both.start, both.start + len]) {
            self.add_or_keep(slot, Term::Rows(TermRows { start, len, width }));
        }
    }

    /// Adds the gradient of each token's vector to the rows of its token and position.
    pub(crate) fn embeddings<const L: usize>(
        &mut self,
        chunk: Chunk<'_>,
        lanes: &[Lanes<L>],
        slot: Matrix,
        positions: Option<Matrix>,
    ) {
        let (terms, width) = (&mut *self.terms, slot.stride);
        if terms.mode == Mode::AddNow {
            terms.end = 0;
            terms.tokens.clear();
        }
        let rows = terms.copy(self.isa, lanes, width);
        let (start, computed) = (terms.tokens.len(), lanes.len() / width);
        for first in (0..L).step_by(LANES) {
            for position in 0..computed {
                terms
                    .tokens
                    .extend((first..first + LANES).map(|lane| match lane {
                        lane if lane < chunk.chosen.len() => chunk.token(lane, position),
                        _ => NO_TOKEN,
                    }));
            }
        }
        let tokens = start..terms.tokens.len();
        self.add_or_keep(
            slot,
            Term::Embeddings {
                rows,
                tokens,
                positions,
                computed,
            },
        );
    }

    fn add_or_keep(&mut self, slot: Matrix, term: Term) {
        let terms = &mut *self.terms;
        if terms.mode == Mode::Keep {
            terms.kept.push((slot, term));
        } else {
            add_together(self.isa, &[(terms, &(slot, term))], &mut self.part);
            // The inputs stay for other gradients.
            terms.end = terms.input_end;
        }
    }
}

/// Adds what passes have kept, `passes` of them one after the other, to a part of the gradient, so many of them together. A pass is
/// given by its terms and its index among their passes.
pub(crate) fn add_kept<'a>(
    isa: Instructions,
    passes: usize,
    together: usize,
    pass: impl Fn(usize) -> (&'a Terms, usize),
    part: &mut GradientPart<'_>,
) {
    for start in (0..passes).step_by(together) {
        let count = together.min(passes - start);
        let lists: [_; MAX_PASSES_TOGETHER] = std::array::from_fn(|index| {
            let (terms, pass_index) = pass(start + index.min(count - 1));
            (terms, terms.of_pass(pass_index))
        });
        // Every pass adds the same things in the same order.
        for index in 0..lists[0].1.len() {
            let group = lists.map(|(terms, list)| (terms, &list[index]));
            add_together(isa, &group[..count], part);
        }
    }
}

/// Adds the same thing of some passes to a part of the gradient: products together, and rows one pass after the other.
fn add_together(
    isa: Instructions,
    group: &[(&Terms, &(Matrix, Term))],
    part: &mut GradientPart<'_>,
) {
    let (_, (slot, first)) = group[0];
    let Term::Products(input, gradients, columns, factor) = first else {
        for (terms, (slot, term)) in group {
            add_rows_of(isa, terms, *slot, term, part);
        }
        return;
    };
    let rows = part.rows(*slot);
    if rows.is_empty() {
        return;
    }
    let mut segments = [Segment::default(); MAX_PASSES_TOGETHER];
    for (segment, (terms, (_, term))) in segments.iter_mut().zip(group) {
        if let Term::Products(input, gradients, ..) = term {
            *segment = Segment {
                left: terms.numbers(input.rows),
                right: terms.numbers(*gradients),
                height: input.height,
            };
        }
    }
    let widths = [input.rows.width, gradients.width];
    let into = part.of_rows(*slot, rows.clone());
    let segments = &segments[..group.len()];
    add_products(isa, segments, widths, rows, columns.clone(), *factor, into);
}

/// Adds rows of a pass to the single row of a matrix, or to the rows of tokens and positions.
fn add_rows_of(
    isa: Instructions,
    terms: &Terms,
    slot: Matrix,
    term: &Term,
    part: &mut GradientPart<'_>,
) {
    let into = part.rows(slot);
    match term {
        Term::Products(..) => {}
        Term::Rows(_) if into.is_empty() => {}
        Term::Rows(rows) => add_rows(
            isa,
            terms.numbers(*rows),
            rows.width,
            part.of_rows(slot, 0..1),
        ),
        Term::Embeddings {
            rows,
            tokens,
            positions,
            computed,
        } => {
            let (tokens, width) = (&terms.tokens[tokens.clone()], rows.width);
            let rows = terms.numbers(*rows);
            if !into.is_empty() {
                let (gradient, squares) = part.of_tokens(slot, into.clone());
                add_to_tokens(isa, rows, width, tokens, into, gradient, squares);
            }
            let Some(slot) = *positions else { return };
            let into = part.rows(slot);
            if !into.is_empty() {
                let gradient = part.of_rows(slot, into.clone());
                add_to_positions(isa, rows, width, tokens, *computed, into, gradient);
            }
        }
    }
}
