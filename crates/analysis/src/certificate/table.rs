//! What tokens add to the answer, and what those of some positions can add at all.
//!
//! With `q` the query of a head, and for each position and token there the exponential `e = exp(q · k)` over that of the middle of all
//! scores and `m = v W_o`, what its value adds to the residual stream where it has all attention,
//!
//! ```text
//! y = x_q + b_o + Σ_heads (Σ_p e m) / (Σ_p e)
//! ```
//!
//! and the logits are a function of `y`. So an input is a sum of rows `(e, e m)` of a table.

use std::sync::Arc;

use headlight_architecture::mathematics::exp;

use super::logits::{Logits, centre, dot, parameter};
use super::region::{PositionTokens, Region, range};
use super::search::Search;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, ForwardValues, FrozenModel, Recording};
use headlight_experiment::samples_per_pass;

/// How far apart the scores of a head may be: bounds have squares of exponentials, and e^600 is 1e260.
const WIDEST: f64 = 600.0;

/// Inputs with one token at the readout position, and how their residual stream follows from the rows of a region.
#[derive(Clone, Debug)]
pub(super) struct Table<'a> {
    pub(super) logits: &'a Logits,
    pub(super) heads: usize,
    /// `x_q + b_o`
    pub(super) base: Vec<f64>,
    /// All of the inputs.
    pub(super) region: Region,
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
            score[0] = exp(score[0] - middle);
            for cell in moved {
                *cell *= score[0];
            }
        }
    }
    true
}

impl<'a> Table<'a> {
    /// Of the inputs that have this token where the answer is read; `None` if the scores of its query are too far apart.
    ///
    /// In one layer, keys and values depend on a position and its token alone. So inputs that hold the same token everywhere else give
    /// all of them: embeddings, rotary positions, norms and projections are the engine's, and no second definition of them is here.
    pub(super) fn new(
        search: &Search<'_>,
        weights: &[f32],
        logits: &'a Logits,
        read_token: u32,
    ) -> Result<Option<Self>, Error> {
        let (config, read) = (search.config, search.config.inputs().read_position);
        let (heads, width) = (config.model.n_heads, config.model.d_model);
        let [output, bias] = ["weight", "bias"].map(|part| {
            parameter(
                config,
                weights,
                &format!("blocks.0.attention.output.{part}"),
            )
        });
        let region = search.region(Some(read_token));
        let sets = region.tokens();
        let sample = |index: usize| -> Vec<u32> {
            let held = |set: &&[u32]| set[index.min(set.len() - 1)];
            sets.iter().map(held).collect()
        };
        let count = sets.iter().map(|set| set.len()).max().unwrap_or(0);
        let all: Vec<usize> = (0..count).collect();
        let positions = sets.len();
        let (mut base, mut rows) = (Vec::new(), vec![Vec::new(); positions]);
        let mut frozen = FrozenModel::new(config)?;
        for some in all.chunks(samples_per_pass(config)) {
            let samples = some.iter().map(|&index| sample(index));
            let dataset = config.unlabelled(samples).map_err(Error::Input)?;
            let chosen: Vec<u32> = (0..some.len() as u32).collect();
            let forward = frozen.forward(weights, &dataset, &chosen, &[], Recording::All)?;
            for sample in 0..some.len() {
                for (position, rows) in rows.iter_mut().enumerate() {
                    // Other positions may hold more tokens.
                    if rows.len() == sets[position].len() {
                        continue;
                    }
                    rows.push(row_of(
                        config,
                        &forward,
                        output.as_deref(),
                        sample,
                        position,
                    ));
                    if position == read {
                        let embedding = forward.at(Array::Embeddings, &[sample, read]);
                        base = embedding.iter().map(|&cell| f64::from(cell)).collect();
                        add(&mut base, bias.as_deref().unwrap_or_default());
                    }
                }
            }
        }
        let cells = rows.iter().flatten().flatten().chain(&base);
        if cells
            .into_iter()
            .any(|cell| cell.is_nan() || *cell == f64::INFINITY)
        {
            return Err(Error::not_finite(""));
        }
        if !exponentials(&mut rows, 1 + width) {
            return Ok(None);
        }
        if logits.is_centred {
            let vectors = rows.iter_mut().flatten();
            let vectors = vectors.flat_map(|row| row.chunks_exact_mut(1 + width));
            vectors.for_each(|cells| centre(&mut cells[1..]));
            centre(&mut base);
        }
        let held = |(position, rows): (usize, &Vec<Vec<f64>>)| {
            let cells = (0..rows[0].len()).flat_map(|i| rows.iter().map(move |row| row[i]));
            Arc::new(PositionTokens::new(
                sets[position].to_vec(),
                cells.collect(),
            ))
        };
        let positions = rows.iter().enumerate().map(held).collect();
        Ok(Some(Self {
            logits,
            heads,
            base,
            region: Region { positions },
        }))
    }

    /// Calls `each` with the tokens of every input of a region, its logits and `1 / s`.
    pub(super) fn each(
        &self,
        region: &Region,
        mut each: impl FnMut(&[u32], &[f64], f64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stride = 1 + self.base.len();
        let (mut sums, mut y) = (Vec::new(), Vec::new());
        region.each(|chosen, tokens| {
            sums.clear();
            sums.resize(self.heads * stride, 0.0);
            for (held, &token) in region.positions.iter().zip(chosen) {
                let row = held.columns.iter().skip(token).step_by(held.tokens.len());
                sums.iter_mut()
                    .zip(row)
                    .for_each(|(sum, cell)| *sum += cell);
            }
            y.clone_from(&self.base);
            for sums in sums.chunks_exact(stride) {
                add_times(&mut y, 1.0 / sums[0], &sums[1..]);
            }
            let size = self.logits.size(dot(&y, &y));
            each(tokens, &self.logits.all(&y, size), 1.0 / size)
        })
    }
}

/// What a position of a sample adds to the sums of the readout position: of each head its score, and its value after the output
/// projection. `[head, 1 + d_model]`
fn row_of(
    config: &ExperimentConfig,
    forward: &ForwardValues,
    output: Option<&[f64]>,
    sample: usize,
    position: usize,
) -> Vec<f64> {
    let (read, model) = (config.inputs().read_position, &config.model);
    let (width, d_head) = (model.d_model, model.d_head());
    let is_seen = model.attention.mask.allows(read, position);
    let mut row = Vec::with_capacity(model.n_heads * (1 + width));
    for head in 0..model.n_heads {
        let score = forward.at(Array::Scores, &[sample, 0, head, read])[position];
        row.push(if is_seen {
            f64::from(score)
        } else {
            f64::NEG_INFINITY
        });
        let mut projected = vec![0.0; width];
        let values = forward.at(Array::Value, &[sample, 0, head, position]);
        for (i, &value) in (head * d_head..).zip(values) {
            match output {
                Some(output) => {
                    let weights = &output[i * width..][..width];
                    add_times(&mut projected, f64::from(value), weights);
                }
                None => projected[i] += f64::from(value),
            }
        }
        row.extend(projected);
    }
    row
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
