//! What every token at every position gives to attention, from the engine's own forward passes.
//!
//! In one block, keys and values depend on a position and its token alone. So inputs that hold the same token everywhere give all of
//! them: embeddings, rotary positions, norms and projections are the engine's, and no second definition of them is here.

use headlight_architecture::mathematics::ln;

use super::check::tokens;
use super::tail::Parameters;
use crate::error::Error;
use crate::experiment::samples_per_pass;
use crate::fused::{Array, Frozen, Recorded};

#[derive(Clone, Debug)]
pub(super) struct Passes {
    pub(super) heads: usize,
    /// Of the residual stream.
    pub(super) width: usize,
    d_head: usize,
    /// Which positions the one that is read may look at.
    pub(super) seen: Vec<bool>,
    /// Of products of queries and keys.
    factor: f64,
    /// `[position][token, head, d_head]`
    keys: Vec<Vec<f64>>,
    /// What a value adds to the residual stream where it has all attention. `[position][token, head, width]`
    pub(super) moved: Vec<Vec<f64>>,
    /// Of each token at the position that is read: its query, and the residual stream without what attention finds.
    /// `[token, head, d_head]`, `[token, width]`
    queries: Vec<f64>,
    streams: Vec<f64>,
}

impl Passes {
    /// # Errors
    /// When the weights are not those of the model, or what it computes is not finite.
    pub(super) fn new(parameters: &Parameters<'_>) -> Result<Self, Error> {
        let (config, weights) = (parameters.config, parameters.weights);
        let (inputs, attention) = (config.inputs(), &config.model.attention);
        let read = inputs.read_position;
        let mut frozen = Frozen::new(config)?;
        frozen.check(weights)?;
        let (width, d_head) = (config.model.d_model, config.model.d_head());
        let output = parameters.linear("blocks.0.attention.output", width);
        let seen: Vec<bool> = (0..inputs.positions)
            .map(|key| attention.mask.allows(read, key))
            .collect();
        let mut factor = attention.factor(d_head);
        if attention.log_length {
            factor *= ln(seen.iter().filter(|&&seen| seen).count() as f64);
        }
        let mut passes = Self {
            heads: config.model.n_heads,
            width,
            d_head,
            seen,
            factor,
            keys: vec![Vec::new(); inputs.positions],
            moved: vec![Vec::new(); inputs.positions],
            queries: Vec::new(),
            streams: Vec::new(),
        };
        let ranges = tokens(config);
        let all: Vec<u32> = (config.data.cls.first_token()..config.data.vocab_size).collect();
        for (pass, some) in all.chunks(samples_per_pass(config)).enumerate() {
            let sample = |&token: &u32| -> Vec<u32> {
                let own = ranges.iter().map(|range| {
                    if range.contains(&token) {
                        token
                    } else {
                        range.start
                    }
                });
                own.collect()
            };
            let dataset = config
                .unlabelled(some.iter().map(sample))
                .map_err(Error::Input)?;
            let chosen: Vec<u32> = (0..some.len() as u32).collect();
            let forward = frozen.forward(weights, &dataset, &chosen, &[], Recorded::All)?;
            let arrays = [Array::Key, Array::Value, Array::Query, Array::Embeddings]
                .map(|array| &forward.arrays[array][..]);
            let numbers = arrays
                .into_iter()
                .flatten()
                .chain(&forward.predictions.logits);
            if numbers.into_iter().any(|number| !number.is_finite()) {
                return Err(super::answers::not_finite(""));
            }
            for sample in 0..some.len() {
                for (position, range) in ranges.iter().enumerate() {
                    // A position that holds one token alone needs one sample.
                    if range.len() > 1 || pass + sample == 0 {
                        passes.add(arrays, sample, position, position == read, output.as_ref());
                    }
                }
            }
        }
        if let Some(output) = &output {
            let cells = passes.streams.iter_mut().zip(output.bias.iter().cycle());
            cells.for_each(|(stream, bias)| *stream += bias);
        }
        Ok(passes)
    }

    /// Adds a position of a sample, from its keys, values, queries and embeddings.
    fn add(
        &mut self,
        [keys, values, queries, embeddings]: [&[f32]; 4],
        sample: usize,
        position: usize,
        is_read: bool,
        output: Option<&super::tail::Linear>,
    ) {
        let (positions, width, d_head) = (self.seen.len(), self.width, self.d_head);
        for head in 0..self.heads {
            let start = ((sample * self.heads + head) * positions + position) * d_head;
            let part = |array: &[f32]| {
                array[start..start + d_head]
                    .iter()
                    .copied()
                    .map(f64::from)
                    .collect::<Vec<f64>>()
            };
            self.keys[position].extend(part(keys));
            if is_read {
                self.queries.extend(part(queries));
            }
            let mut moved = vec![0.0; width];
            for (i, value) in part(values).into_iter().enumerate() {
                let i = head * d_head + i;
                match output {
                    Some(output) => {
                        let row = &output.weight[i * width..][..width];
                        moved
                            .iter_mut()
                            .zip(row)
                            .for_each(|(moved, weight)| *moved += value * weight);
                    }
                    None => moved[i] += value,
                }
            }
            self.moved[position].extend(moved);
        }
        if is_read {
            let own = &embeddings[(sample * positions + position) * width..][..width];
            self.streams.extend(own.iter().copied().map(f64::from));
        }
    }

    /// The residual stream of a token at the position that is read, without what attention finds.
    pub(super) fn stream(&self, token: usize) -> &[f64] {
        &self.streams[token * self.width..][..self.width]
    }

    /// The scores that a token at the position which is read gives to each token at a position. `[token, head]`
    pub(super) fn scores(&self, own: usize, position: usize) -> Vec<f64> {
        let query = &self.queries[own * self.heads * self.d_head..][..self.heads * self.d_head];
        let (queries, keys) = (
            query.chunks_exact(self.d_head).cycle(),
            self.keys[position].chunks_exact(self.d_head),
        );
        let product = |(key, query): (&[f64], &[f64])| {
            key.iter()
                .zip(query)
                .map(|(key, query)| key * query)
                .sum::<f64>()
        };
        keys.zip(queries)
            .map(|pair| self.factor * product(pair))
            .collect()
    }
}
