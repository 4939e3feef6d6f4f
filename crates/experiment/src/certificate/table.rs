//! What tokens add to the answer, and what those of some positions can add at all.
//!
//! With `q` the query of a head, and for each position and token there the exponential `e = exp(q · k)` over that of the middle of all
//! scores and `m = v W_o`, what its value adds to the residual stream where it has all attention,
//!
//! ```text
//! y = x_q + b_o + Σ_heads (Σ_p e m) / (Σ_p e)
//! ```
//!
//! and the logits are a function of `y`. So an input is a sum of rows `(e, e m)` of a table, and a *prefix*, the tokens of the first
//! positions in some order, is a sum of which the rest is open.

use core::ops::Range;

use headlight_architecture::mathematics::exp;

use super::answers::not_finite;
use super::logits::{Logits, centre, parameter};
use super::search::Search;
use crate::error::Error;
use crate::experiment::samples_per_pass;
use crate::fused::{Array, Frozen, Recorded};

/// How far apart the scores of a head may be: bounds have squares of exponentials, and e^600 is 1e260.
const WIDEST: f64 = 600.0;

/// Inputs with one token at the position that is read.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The positions in the order in which a prefix has them: the one that is read, and then those that move the answer most.
    pub(super) order: Vec<usize>,
    /// The tokens of each position, counted from its first one. `[position]`
    pub(super) tokens: Vec<Range<u32>>,
    /// How many inputs have a prefix of each length.
    pub(super) inputs: Vec<u64>,
    pub(super) heads: usize,
    /// `x_q + b_o`
    pub(super) base: Vec<f64>,
    /// In the order of prefixes.
    pub(super) places: Vec<Place>,
    /// What is left after each length of prefix.
    pub(super) rests: Vec<Rest>,
}

/// A position.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) tokens: usize,
    /// Rows of tokens as columns. `[head, 1 + width][token]`
    pub(super) columns: Vec<f64>,
    /// The middles of columns.
    pub(super) middles: Vec<f64>,
    /// Squared distances of `e m` from its middle. `[head][token]`
    pub(super) away: Vec<f64>,
}

/// What positions can add.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// The sum of middles. `[head, 1 + width]`
    pub(super) centre: Vec<f64>,
    /// The least and the largest sum of `e`. `[head]`
    pub(super) least: Vec<f64>,
    pub(super) most: Vec<f64>,
}

impl Place {
    fn new(rows: &[&[f64]], stride: usize) -> Self {
        let column = |i: usize| rows.iter().map(move |row| row[i]);
        let middles: Vec<f64> = (0..rows[0].len())
            .map(|i| {
                let [low, high] = range(column(i));
                f64::midpoint(low, high)
            })
            .collect();
        let heads = middles.len() / stride;
        let away = |head: usize| {
            let middle = &middles[head * stride + 1..][..stride - 1];
            rows.iter().map(move |row| {
                let own = &row[head * stride + 1..][..stride - 1];
                own.iter().zip(middle).map(|(a, b)| (a - b) * (a - b)).sum()
            })
        };
        Self {
            tokens: rows.len(),
            columns: (0..middles.len()).flat_map(column).collect(),
            away: (0..heads).flat_map(away).collect(),
            middles,
        }
    }

    /// One of the columns.
    pub(super) fn column(&self, i: usize) -> &[f64] {
        &self.columns[i * self.tokens..][..self.tokens]
    }
}

/// Makes `e` of scores, and `e m` of what follows them. Rows have parts of this size, one for each head. Returns whether the
/// scores of no head are too far apart for that.
fn exponentials(rows: &mut [Vec<Vec<f64>>], stride: usize) -> bool {
    for head in 0..rows[0][0].len() / stride {
        let scores = rows.iter().flatten().map(|row| row[head * stride]);
        let [least, most] = range(scores.filter(|score| score.is_finite()));
        if most - least > WIDEST {
            return false;
        }
        let middle = f64::midpoint(least, most);
        for row in rows.iter_mut().flatten() {
            let (score, moved) = row[head * stride..][..stride].split_at_mut(1);
            score[0] = match score[0] - middle {
                f64::NEG_INFINITY => 0.0,
                away => exp(away),
            };
            for cell in moved {
                *cell *= score[0];
            }
        }
    }
    true
}

fn range(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], number| {
        [low.min(number), high.max(number)]
    })
}

impl Table {
    /// Of the inputs that have this token where the answer is read; `None` if the scores of its query are too far apart.
    ///
    /// In one block, keys and values depend on a position and its token alone. So inputs that hold the same token everywhere else give
    /// all of them: embeddings, rotary positions, norms and projections are the engine's, and no second definition of them is here.
    ///
    /// # Errors
    /// When what the model computes is not finite.
    pub(super) fn new(
        search: &Search<'_>,
        weights: &[f32],
        logits: &Logits,
        own: u32,
    ) -> Result<Option<Self>, Error> {
        let (config, read) = (search.config, search.config.inputs().read_position);
        let (heads, width) = (config.model.n_heads, config.model.d_model);
        let d_head = config.model.d_head();
        let [output, bias] = ["weight", "bias"].map(|part| {
            parameter(
                config,
                weights,
                &format!("blocks.0.attention.output.{part}"),
            )
        });
        let is_free = |position: usize| position != read && search.counts[position] > 1;
        let sample = |token: u32| -> Vec<u32> {
            let held = |position: usize| match position {
                _ if position == read => own,
                _ if is_free(position) => token,
                _ => 0,
            };
            search.absolute(&(0..search.counts.len()).map(held).collect::<Vec<_>>())
        };
        let count = search.counts.iter().copied().max().unwrap_or(1) as u32;
        let all: Vec<u32> = (0..count).collect();
        let (mut base, mut rows) = (Vec::new(), vec![Vec::new(); search.counts.len()]);
        let mut frozen = Frozen::new(config)?;
        for some in all.chunks(samples_per_pass(config)) {
            let samples = some.iter().map(|&token| sample(token));
            let dataset = config.unlabelled(samples).map_err(Error::Input)?;
            let chosen: Vec<u32> = (0..some.len() as u32).collect();
            let forward = frozen.forward(weights, &dataset, &chosen, &[], Recorded::All)?;
            let [scores, values, embeddings] = [Array::Scores, Array::Value, Array::Embeddings]
                .map(|array| &forward.arrays[array][..]);
            for sample in 0..some.len() {
                for (position, rows) in rows.iter_mut().enumerate() {
                    // A position that holds one token alone needs one sample.
                    if !is_free(position) && !rows.is_empty() {
                        continue;
                    }
                    let positions = search.counts.len();
                    let is_seen = config.model.attention.mask.allows(read, position);
                    let mut row = Vec::with_capacity(heads * (1 + width));
                    for head in 0..heads {
                        let place = (sample * heads + head) * positions;
                        let score = scores[(place + read) * positions + position];
                        row.push(if is_seen {
                            f64::from(score)
                        } else {
                            f64::NEG_INFINITY
                        });
                        let mut moved = vec![0.0; width];
                        let values = &values[(place + position) * d_head..][..d_head];
                        for (i, &value) in (head * d_head..).zip(values) {
                            match &output {
                                Some(output) => {
                                    let weights = &output[i * width..][..width];
                                    add_times(&mut moved, f64::from(value), weights);
                                }
                                None => moved[i] += f64::from(value),
                            }
                        }
                        row.extend(moved);
                    }
                    if position == read {
                        let own = &embeddings[(sample * positions + read) * width..][..width];
                        base = own.iter().map(|&cell| f64::from(cell)).collect();
                        add(&mut base, bias.as_deref().unwrap_or_default());
                    }
                    rows.push(row);
                }
            }
        }
        let cells = rows.iter().flatten().flatten().chain(&base);
        if cells
            .into_iter()
            .any(|cell| cell.is_nan() || *cell == f64::INFINITY)
        {
            return Err(not_finite(""));
        }
        let tokens = (0..rows.len()).map(|position| match position {
            _ if position == read => own..own + 1,
            _ => 0..rows[position].len() as u32,
        });
        let tokens = tokens.collect();
        if !exponentials(&mut rows, 1 + width) {
            return Ok(None);
        }
        if logits.is_centred {
            let vectors = rows.iter_mut().flatten();
            let vectors = vectors.flat_map(|row| row.chunks_exact_mut(1 + width));
            vectors.for_each(|cells| centre(&mut cells[1..]));
            centre(&mut base);
        }
        Ok(Some(Self::of_rows(&rows, tokens, heads, base, read)))
    }

    /// From the rows of all tokens. `[position][token][head, 1 + width]`
    fn of_rows(
        rows: &[Vec<Vec<f64>>],
        tokens: Vec<Range<u32>>,
        heads: usize,
        base: Vec<f64>,
        read: usize,
    ) -> Self {
        let stride = 1 + base.len();
        // By how much the tokens of a position differ in what they add, `x_q + b_o` among it.
        let spread = |rows: &[Vec<f64>]| -> f64 {
            let cells = (0..heads * stride).filter(|i| i % stride > 0);
            let add = |i: usize, row: &[f64]| row[i] + row[i - i % stride] * base[i % stride - 1];
            let ranges = cells.map(|i| range(rows.iter().map(|row| add(i, row))));
            ranges.map(|[low, high]| high - low).sum()
        };
        let spreads: Vec<f64> = rows.iter().map(|rows| spread(rows)).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| {
            let own = spreads[b].total_cmp(&spreads[a]);
            (a != read).cmp(&(b != read)).then(own)
        });
        let places: Vec<Place> = order
            .iter()
            .map(|&position| {
                let rows: Vec<&[f64]> = rows[position].iter().map(Vec::as_slice).collect();
                Place::new(&rows, stride)
            })
            .collect();
        let mut inputs = vec![1];
        let mut rests = vec![Rest {
            centre: vec![0.0; heads * stride],
            least: vec![0.0; heads],
            most: vec![0.0; heads],
        }];
        for place in places.iter().rev() {
            inputs.push(inputs[inputs.len() - 1] * place.tokens as u64);
            let mut rest = rests[rests.len() - 1].clone();
            add(&mut rest.centre, &place.middles);
            for head in 0..heads {
                let [low, high] = range(place.column(head * stride).iter().copied());
                rest.least[head] += low;
                rest.most[head] += high;
            }
            rests.push(rest);
        }
        inputs.reverse();
        rests.reverse();
        Self {
            order,
            tokens,
            inputs,
            heads,
            base,
            places,
            rests,
        }
    }

    /// How many positions a prefix can have.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The sums of a prefix of this length with one more token, counted from the first that its place has here.
    pub(super) fn extend(&self, sums: &[f64], length: usize, token: usize, longer: &mut Vec<f64>) {
        let place = &self.places[length];
        let row = place.columns.iter().skip(token).step_by(place.tokens);
        longer.clear();
        longer.extend(sums.iter().zip(row).map(|(sum, cell)| sum + cell));
    }

    /// The logits of the inputs with a prefix that lacks one token, from its sums. `[class][token]`
    pub(super) fn last(&self, logits: &Logits, sums: &[f64], scratch: &mut Last) {
        let (place, stride) = (&self.places[self.len() - 1], 1 + self.base.len());
        let count = place.tokens;
        let Last {
            logits: found,
            shares,
            y,
            sizes,
        } = scratch;
        shares.clear();
        for (head, sums) in sums.chunks_exact(stride).enumerate() {
            let column = place.column(head * stride).iter();
            shares.extend(column.map(|e| 1.0 / (sums[0] + e)));
        }
        found.clear();
        found.resize(count * logits.offsets.len(), 0.0);
        sizes.clear();
        sizes.resize(count, 0.0);
        for (i, base) in self.base.iter().enumerate() {
            y.clear();
            y.resize(count, *base);
            for (head, shares) in shares.chunks_exact(count).enumerate() {
                let (i, column) = (head * stride + 1 + i, place.column(head * stride + 1 + i));
                for ((y, share), cell) in y.iter_mut().zip(shares).zip(column) {
                    *y += (sums[i] + cell) * share;
                }
            }
            sizes
                .iter_mut()
                .zip(&*y)
                .for_each(|(size, y)| *size += y * y);
            for (found, direction) in found.chunks_exact_mut(count).zip(&logits.directions) {
                add_times(found, direction[i], y);
            }
        }
        for size in &mut *sizes {
            *size = 1.0 / logits.size(*size);
        }
        for (found, offset) in found.chunks_exact_mut(count).zip(&logits.offsets) {
            let cells = found.iter_mut().zip(&*sizes);
            cells.for_each(|(logit, inverse)| *logit = *logit * inverse + offset);
        }
    }
}

/// The logits that [`Table::last`] finds, and its numbers on the way.
#[derive(Clone, Debug, Default)]
pub(super) struct Last {
    /// `[class][token]`
    pub(super) logits: Vec<f64>,
    /// `[head][token]`
    shares: Vec<f64>,
    y: Vec<f64>,
    /// In the end `1 / s`. `[token]`
    sizes: Vec<f64>,
}

impl Last {
    /// The class with the largest logit for a token.
    pub(super) fn leading(&self, token: usize) -> usize {
        let logits = self.logits.iter().skip(token).step_by(self.sizes.len());
        let largest = logits.enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        largest.map_or(0, |(class, _)| class)
    }

    /// A class's logit less the largest other one, for a token.
    pub(super) fn margin(&self, class: usize, token: usize) -> f64 {
        let count = self.sizes.len();
        let logits = self.logits.iter().skip(token).step_by(count).enumerate();
        let (mut own, mut other) = (f64::NAN, f64::NEG_INFINITY);
        for (index, &logit) in logits {
            if index == class {
                own = logit;
            } else {
                other = other.max(logit);
            }
        }
        own - other
    }

    /// `1 / s` for a token.
    pub(super) fn inverse(&self, token: usize) -> f64 {
        self.sizes[token]
    }
}

/// `into += x`
pub(super) fn add(into: &mut [f64], x: &[f64]) {
    into.iter_mut().zip(x).for_each(|(into, x)| *into += x);
}

/// `into += factor x`
pub(super) fn add_times(into: &mut [f64], factor: f64, x: &[f64]) {
    into.iter_mut()
        .zip(x)
        .for_each(|(into, x)| *into += factor * x);
}
