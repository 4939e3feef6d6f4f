//! Attention from one fixed query, as sums over positions.
//!
//! With `q` the query of a head, and for each position `p` and token `t` there: the exponential `e = exp(s q · k)` over the largest
//! possible one, and `m = v W_o`, what its value adds to the residual stream where it has all attention,
//!
//! ```text
//! y = x_q + b_o + Σ_heads (Σ_p e m) / (Σ_p e)
//! ```
//!
//! So everything that a sample's answer depends on is a sum, over its positions, of what a table has for each token.

use core::ops::Range;

use headlight_architecture::mathematics::{exp, ln};
use headlight_architecture::{NormPlace, ProjectionKind};

use super::linear::{Linear, Vector, norm};
use super::norm::{Norm, Normalized};
use super::parameters::Parameters;
use super::rounding::{LEAST_EXPONENTIAL, MOST_SPREAD, OF_EXPONENTIAL, SLACK, UNIT, gamma};

/// Of an exponential: e^-690 is 1e-300.
const LEAST: f64 = 690.0;

/// What each token at each position adds.
#[derive(Clone, Debug)]
pub(super) struct Attention {
    pub(super) heads: usize,
    /// Width of the residual stream.
    pub(super) width: usize,
    /// For each head `e` and `e m`. `[position][token, head, 1 + width]`
    pub(super) rows: Vec<Vec<f64>>,
    /// `x_q + b_o`, and how far the engine's `y` is from `y`.
    pub(super) base: Vector,
}

impl Attention {
    /// Numbers of a token.
    pub(super) fn stride(&self) -> usize {
        self.heads * (1 + self.width)
    }

    /// Attention from the position that is read, when it holds this token, to tokens of the others.
    pub(super) fn new(parameters: &Parameters<'_>, tokens: &[Range<u32>], own: u32) -> Self {
        Builder::new(parameters, tokens, own).build()
    }
}

/// Queries, keys and values come from vectors by these.
struct Builder<'a> {
    parameters: &'a Parameters<'a>,
    tokens: &'a [Range<u32>],
    own: u32,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    /// The norm before attention.
    norm: Option<Norm>,
    width: usize,
    heads: usize,
    d_head: usize,
}

impl<'a> Builder<'a> {
    fn new(parameters: &'a Parameters<'a>, tokens: &'a [Range<u32>], own: u32) -> Self {
        let model = &parameters.config.model;
        let (width, heads, d_head) = (model.d_model, model.n_heads, model.d_head());
        let inner = heads * d_head;
        let part = |name: &str, outputs: usize| {
            let linear = parameters.linear(&format!("blocks.0.attention.{name}"), outputs);
            linear.unwrap_or_else(|| Linear::identity(outputs))
        };
        let [query, key, value] = match model.attention.projections {
            ProjectionKind::Separate => ["query", "key", "value"],
            ProjectionKind::Shared => ["shared"; 3],
            ProjectionKind::None => ["none"; 3],
        }
        .map(|name| part(name, inner));
        let is_before = model.norm == NormPlace::Pre;
        Self {
            parameters,
            tokens,
            own,
            query,
            key,
            value,
            output: part("output", width),
            norm: is_before.then(|| parameters.norm("blocks.0.norm")),
            width,
            heads,
            d_head,
        }
    }

    /// A vector as attention gets it, and as the residual stream does.
    fn inputs(&self, position: usize, token: u32) -> [Vector; 2] {
        let stream = self.parameters.embedding(position, token);
        let mut own = stream.clone();
        if let Some(norm) = &self.norm {
            norm.forward(&mut own, 0.0, &mut Normalized::default());
        }
        [own, stream]
    }

    fn of(linear: &Linear, x: &Vector) -> Vector {
        let mut out = Vector::default();
        linear.forward(x, &mut out);
        out
    }

    fn build(self) -> Attention {
        let config = self.parameters.config;
        let inputs = config.inputs();
        let (read, positions) = (inputs.read_position, inputs.positions);
        let attention = &config.model.attention;
        let seen: Vec<bool> = (0..positions)
            .map(|key| attention.mask.allows(read, key))
            .collect();
        let mut scale = attention.factor(self.d_head);
        if attention.log_length {
            let count = seen.iter().filter(|&&seen| seen).count();
            scale *= ln(count as f64);
        }
        let [own, stream] = self.inputs(read, self.own);
        let mut query = Self::of(&self.query, &own);
        self.rotate(&mut query, read);

        // Scores, and what values add. `[position][token][head]`
        let mut scores: Vec<Vec<Vec<f64>>> = Vec::new();
        let mut moved: Vec<Vec<Vec<Vec<f64>>>> = Vec::new();
        let mut worst = Worst::new(&self);
        for (position, &is_seen) in seen.iter().enumerate() {
            let (mut of_scores, mut of_moved) = (Vec::new(), Vec::new());
            for token in self.tokens[position].clone() {
                let [x, _] = self.inputs(position, token);
                let mut key = Self::of(&self.key, &x);
                self.rotate(&mut key, position);
                let value = Self::of(&self.value, &x);
                if is_seen {
                    worst.add(&self, &query, [&x, &key, &value], scale.abs());
                }
                let columns = |head: usize| head * self.d_head..(head + 1) * self.d_head;
                let score = |head: usize| {
                    let pairs = query.middle[columns(head)]
                        .iter()
                        .zip(&key.middle[columns(head)]);
                    scale * pairs.map(|(query, key)| query * key).sum::<f64>()
                };
                of_scores.push((0..self.heads).map(score).collect());
                let add = |head: usize| {
                    let mut add = vec![0.0; self.width];
                    for i in columns(head) {
                        let row = &self.output.weight[i * self.width..][..self.width];
                        for (add, weight) in add.iter_mut().zip(row) {
                            *add += value.middle[i] * weight;
                        }
                    }
                    add
                };
                of_moved.push((0..self.heads).map(add).collect());
            }
            scores.push(of_scores);
            moved.push(of_moved);
        }

        let mut range = vec![(f64::INFINITY, f64::NEG_INFINITY); self.heads];
        for (scores, _) in scores.iter().zip(&seen).filter(|(_, seen)| **seen) {
            for scores in scores {
                for (range, &score) in range.iter_mut().zip(scores) {
                    *range = (range.0.min(score), range.1.max(score));
                }
            }
        }
        let row = |position: usize| -> Vec<f64> {
            let mut row = Vec::new();
            for (scores, moved) in scores[position].iter().zip(&moved[position]) {
                for (head, (score, moved)) in scores.iter().zip(moved).enumerate() {
                    let e = if seen[position] {
                        exp((score - range[head].1).max(-LEAST))
                    } else {
                        0.0
                    };
                    row.push(e);
                    row.extend(moved.iter().map(|moved| e * moved));
                }
            }
            row
        };
        let spread = range
            .iter()
            .map(|(low, high)| high - low)
            .fold(0.0, f64::max);
        let rows = (0..positions).map(row).collect();
        Attention {
            heads: self.heads,
            width: self.width,
            rows,
            base: worst.base(&self, stream, positions, spread),
        }
    }

    /// Rotary positions; they change lengths by nothing, and errors by little.
    fn rotate(&self, vector: &mut Vector, position: usize) {
        let model = &self.parameters.config.model;
        let positions = self.parameters.config.inputs().positions;
        let Some([cosines, sines]) = model.positions.rotation(positions, self.d_head) else {
            return;
        };
        let half = self.d_head / 2;
        for head in 0..self.heads {
            for i in 0..half {
                let (a, b) = (head * self.d_head + i, head * self.d_head + half + i);
                let cell = position * half + i;
                let (cos, sin) = (f64::from(cosines[cell]), f64::from(sines[cell]));
                let (x, y) = (vector.middle[a], vector.middle[b]);
                vector.middle[a] = x * cos - y * sin;
                vector.middle[b] = y * cos + x * sin;
                let size = vector.size[a] + vector.size[b];
                let error = vector.error[a] + vector.error[b] + gamma(3) * size;
                for i in [a, b] {
                    vector.size[i] = size + error;
                    vector.error[i] = error;
                }
            }
        }
    }
}

/// The largest errors of any token at any position.
struct Worst {
    /// Of scores, over both ways to compute them: from keys, and from inputs without keys.
    score: f64,
    /// The sizes and errors of inputs and of values.
    input: [Vec<f64>; 2],
    value: [Vec<f64>; 2],
}

impl Worst {
    fn new(builder: &Builder<'_>) -> Self {
        let inner = builder.heads * builder.d_head;
        Self {
            score: 0.0,
            input: [vec![0.0; builder.width], vec![0.0; builder.width]],
            value: [vec![0.0; inner], vec![0.0; inner]],
        }
    }

    fn add(
        &mut self,
        builder: &Builder<'_>,
        query: &Vector,
        [x, key, value]: [&Vector; 3],
        scale: f64,
    ) {
        let largest = |kept: &mut [Vec<f64>; 2], vector: &Vector| {
            for (kept, own) in kept.iter_mut().zip([&vector.size, &vector.error]) {
                for (kept, &own) in kept.iter_mut().zip(own) {
                    *kept = kept.max(own);
                }
            }
        };
        largest(&mut self.input, x);
        largest(&mut self.value, value);
        let d_head = builder.d_head;
        let inner = builder.heads * d_head;
        for head in 0..builder.heads {
            let columns = head * d_head..(head + 1) * d_head;
            // q · k, with the bias that is the same for all keys.
            let (mut sizes, mut errors) = (0.0, 0.0);
            for i in columns.clone() {
                sizes += query.size[i] * key.size[i];
                errors += query.size[i] * key.error[i] + key.size[i] * query.error[i];
            }
            // The products; the scale, which is itself a root and an inverse, and the logarithm of the number of keys.
            let from_keys = errors + gamma(d_head + 10) * sizes;
            // x · u with u = W_k q.
            let (mut sizes, mut errors) = (0.0, 0.0);
            for i in 0..builder.width {
                let row = &builder.key.weight[i * inner..][..inner];
                let (mut u, mut u_error) = (0.0, 0.0);
                for e in columns.clone() {
                    u += row[e].abs() * query.size[e];
                    u_error += row[e].abs() * query.error[e];
                }
                sizes += x.size[i] * u;
                errors += x.size[i] * u_error + x.error[i] * u;
            }
            let from_inputs = errors + gamma(builder.width + d_head + 6) * sizes;
            self.score = self.score.max(scale * from_keys.max(from_inputs));
        }
    }

    /// `x_q + b_o` with the error of the sum with what attention adds.
    fn base(&self, builder: &Builder<'_>, stream: Vector, positions: usize, spread: f64) -> Vector {
        // Scores less the largest one; the exponential; the sum of them, its inverse, the product.
        let of_difference = 2.0 * self.score + UNIT * (spread + 2.0 * self.score);
        let of_exponential = libm::expm1(of_difference) * (1.0 + OF_EXPONENTIAL) + OF_EXPONENTIAL;
        let of_ratio = 2.0 * of_exponential / (1.0 - of_exponential);
        let of_weight = of_ratio
            + gamma(positions + 4) * (1.0 + of_ratio)
            + positions as f64 * 2.0 * LEAST_EXPONENTIAL;
        // Means of the same values are not farther apart than twice the largest, whatever their weights are.
        let is_known = of_exponential < 0.5 && spread <= MOST_SPREAD;
        let of_weight = if is_known { of_weight.min(2.0) } else { 2.0 };
        let of_sum = of_weight + gamma(positions + 1) * (1.0 + of_weight) + SLACK;
        // The context from values, or from the average of inputs.
        let averaged = |[sizes, errors]: &[Vec<f64>; 2]| {
            let mut out = Vector::zeros(sizes.len());
            for (i, (size, error)) in sizes.iter().zip(errors).enumerate() {
                out.radius[i] = *size;
                out.error[i] = (1.0 + of_sum) * error + of_sum * size;
                out.size[i] = size + out.error[i];
            }
            out.ball = norm(sizes);
            out
        };
        let mut context = averaged(&self.value);
        let from_inputs = Builder::of(&builder.value, &averaged(&self.input));
        for (error, other) in context.error.iter_mut().zip(&from_inputs.error) {
            *error = error.max(*other);
        }
        let added = Builder::of(&builder.output, &context);
        // The engine may start with `x_q + b_o`, and then add term after term.
        let of_stream = gamma(context.len() + 2);
        let mut base = stream;
        for i in 0..base.len() {
            base.middle[i] += builder.output.bias[i];
            base.error[i] += added.error[i] + of_stream * base.size[i];
            base.size[i] += added.size[i];
        }
        base
    }
}
