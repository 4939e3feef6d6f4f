//! The forward pass of any model by its definition, in f64: plain loops over one sample, with keys, values and all rows. The
//! tests of `headlight-model` and of `headlight-fused` compare with it, for models that `draw` draws.

#![allow(clippy::unwrap_used)]

pub(crate) mod draw;

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_2_PI, FRAC_2_SQRT_PI, SQRT_2};
use std::ops::Range;

use headlight_architecture::{
    Activation, Inputs, ModelConfig, NormKind, NormPlace, Positions, ProjectionKind, Readout,
    Weighting,
};

/// One vector per position.
type Vectors = Vec<Vec<f64>>;

/// Everything that a pass computes, row-major; the arrays of a block by their names in dumps.
#[derive(Debug, Default)]
pub(crate) struct Values {
    pub embeddings: Vec<f64>,
    pub blocks: Vec<BTreeMap<&'static str, Vec<f64>>>,
    /// `[answer, d_model]`, and what follows from it.
    pub read: Vec<f64>,
    pub classifier_hidden: Vec<f64>,
    pub logits: Vec<f64>,
}

/// A model with its parameters in f64, one after the other in the model's order.
pub(crate) struct Definition<'a> {
    config: &'a ModelConfig,
    inputs: Inputs,
    pub parameters: Vec<f64>,
    places: BTreeMap<String, Range<usize>>,
    /// What is added to the embeddings of the tokens, unless it is empty. `[position, d_model]`
    pub moved: Vec<f64>,
    /// The attention weights of all blocks, one after the other, if they are given and not computed.
    pub held: Vec<f64>,
}

impl<'a> Definition<'a> {
    pub(crate) fn new(config: &'a ModelConfig, inputs: Inputs, parameters: &[f32]) -> Self {
        let mut end = 0;
        let place = config.layout(inputs).into_iter().map(|layout| {
            let start = end;
            end += layout.size();
            (layout.name, start..end)
        });
        let places = place.collect();
        assert_eq!(parameters.len(), end, "{config:?}");
        Self {
            config,
            inputs,
            parameters: parameters.iter().map(|&x| x.into()).collect(),
            places,
            moved: Vec::new(),
            held: Vec::new(),
        }
    }

    fn find(&self, name: &str) -> Option<&[f64]> {
        let place = self.places.get(name)?;
        Some(&self.parameters[place.clone()])
    }

    /// `x W + b` of each vector; `b` is left out if the model has no bias of this name.
    fn linear(&self, name: &str, vectors: &Vectors, outputs: usize) -> Vectors {
        let weight = self.find(&format!("{name}.weight")).unwrap();
        let bias = self.find(&format!("{name}.bias"));
        let number = |x: &[f64], o: usize| {
            let column = weight[o..].iter().step_by(outputs);
            dot(x, column) + bias.map_or(0.0, |bias| bias[o])
        };
        let row = |x: &Vec<f64>| (0..outputs).map(|o| number(x, o)).collect();
        vectors.iter().map(row).collect()
    }

    fn norm(&self, name: &str, vectors: &Vectors) -> Vectors {
        let gamma = self.find(&format!("{name}.gamma"));
        let beta = self.find(&format!("{name}.beta"));
        let row = |x: &Vec<f64>| {
            let size = x.len() as f64;
            let mean = match self.config.norm_kind {
                NormKind::Layer => x.iter().sum::<f64>() / size,
                NormKind::Rms => 0.0,
            };
            let square = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / size;
            let root = (square + self.config.layer_norm_eps).sqrt();
            let number = |(i, x): (usize, &f64)| {
                (x - mean) / root * gamma.map_or(1.0, |gamma| gamma[i])
                    + beta.map_or(0.0, |beta| beta[i])
            };
            x.iter().enumerate().map(number).collect()
        };
        vectors.iter().map(row).collect()
    }

    /// Normalises with the norm of this name if there is one.
    fn norm_if(&self, exists: bool, name: &str, vectors: Vectors) -> Vectors {
        if exists {
            self.norm(name, &vectors)
        } else {
            vectors
        }
    }

    fn activate(&self, vectors: Vectors) -> Vectors {
        let activation = self.config.activation;
        let row = |x: Vec<f64>| x.into_iter().map(|x| value_of(activation, x)).collect();
        vectors.into_iter().map(row).collect()
    }

    fn embed(&self, tokens: &[u32]) -> Vectors {
        let d = self.config.d_model;
        let table = self.find("token_embedding").unwrap();
        let learned = self.find("position_embedding").unwrap_or_default();
        let last = self.config.positions_shared_from.unwrap_or(usize::MAX);
        let number = |position: usize, i: usize| {
            let token = table[tokens[position] as usize * d + i];
            let moved = self.moved.get(position * d + i).unwrap_or(&0.0);
            let added = match self.config.positions {
                Positions::Learned => learned[position.min(last) * d + i],
                Positions::Sinusoidal if i.is_multiple_of(2) => angle(position, i, d).sin(),
                Positions::Sinusoidal => angle(position, i - 1, d).cos(),
                Positions::First => f64::from(u8::from((position, i) == (1, 0))),
                Positions::None | Positions::Rotary => 0.0,
            };
            token + moved + added
        };
        let row = |position| (0..d).map(|i| number(position, i)).collect();
        let sums = (0..tokens.len()).map(row).collect();
        self.norm_if(self.config.embedding_norm, "embedding_norm", sums)
    }

    /// Queries, keys and values, all heads side by side.
    fn project(&self, block: &str, input: &Vectors) -> [Vectors; 3] {
        let attention = &self.config.attention;
        let width = self.config.n_heads * self.config.d_head();
        let all = |name: &str| self.linear(&format!("{block}.attention.{name}"), input, width);
        let has_value = attention.value_projection;
        match attention.projections {
            ProjectionKind::Separate if has_value => ["query", "key", "value"].map(all),
            ProjectionKind::Separate => [all("query"), all("key"), input.clone()],
            ProjectionKind::Shared => [(); 3].map(|()| all("shared")),
            ProjectionKind::None => [(); 3].map(|()| input.clone()),
        }
    }

    /// The part of a head of a vector, rotated by its position.
    fn rotated(&self, head: &[f64], position: usize) -> Vec<f64> {
        if self.config.positions != Positions::Rotary {
            return head.to_vec();
        }
        let half = head.len() / 2;
        let number = |i: usize| {
            let pair = i % half;
            let (sin, cos) = angle(position, 2 * pair, head.len()).sin_cos();
            let (a, b) = (head[pair], head[pair + half]);
            if i < half {
                a * cos - b * sin
            } else {
                b * cos + a * sin
            }
        };
        (0..head.len()).map(number).collect()
    }

    /// The scores of a query, and its weights.
    fn look(&self, tokens: &[u32], at: usize, query: &[f64], keys: &Vectors) -> [Vec<f64>; 2] {
        let attention = &self.config.attention;
        let may = |key: usize| {
            attention.mask.allows(at, key) && Some(tokens[key]) != attention.padding_token
        };
        let allowed: Vec<usize> = (0..keys.len()).filter(|&key| may(key)).collect();
        let mut factor = attention.factor(self.config.d_head());
        if attention.log_length {
            factor *= (allowed.len().max(1) as f64).ln();
        }
        let scores: Vec<f64> = keys.iter().map(|key| factor * dot(query, key)).collect();
        let own = allowed.iter().map(|&key| scores[key]);
        let most = own.clone().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = own.map(|score| (score - most).exp()).sum();
        let mut weights = vec![0.0; keys.len()];
        for key in allowed {
            let softmax = (scores[key] - most).exp() / total;
            weights[key] = match attention.weighting() {
                Weighting::Softmax => softmax,
                Weighting::Rate(rate) => rate * softmax + (1.0 - rate),
                Weighting::Scores => scores[key],
            };
        }
        [scores, weights]
    }

    /// A block's output, and everything that it computes.
    fn block(
        &self,
        layer: usize,
        tokens: &[u32],
        stream: &Vectors,
    ) -> (Vectors, BTreeMap<&'static str, Vec<f64>>) {
        let ModelConfig {
            d_model,
            d_ff,
            n_heads,
            norm,
            ..
        } = *self.config;
        let (d_head, p) = (self.config.d_head(), tokens.len());
        let (is_pre, is_post) = (norm == NormPlace::Pre, norm == NormPlace::Post);
        let name = format!("blocks.{layer}");
        let own_norm = format!("{name}.norm");
        let input = self.norm_if(is_pre, &own_norm, stream.clone());
        let [query, key, value] = self.project(&name, &input);
        let mut arrays: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
        let mut side_by_side = vec![Vec::new(); p];
        for head in 0..n_heads {
            let part = |x: &[f64]| x[head * d_head..][..d_head].to_vec();
            let turned = |vectors: &Vectors| -> Vectors {
                let rows = vectors.iter().enumerate();
                rows.map(|(at, x)| self.rotated(&part(x), at)).collect()
            };
            let (query, key) = (turned(&query), turned(&key));
            let value: Vectors = value.iter().map(|x| part(x)).collect();
            for (at, query) in query.iter().enumerate() {
                let [scores, mut weights] = self.look(tokens, at, query, &key);
                if !self.held.is_empty() {
                    let row = (layer * n_heads + head) * p + at;
                    weights = self.held[row * p..][..p].to_vec();
                }
                let column = |i: usize| dot(&weights, value.iter().map(|value| &value[i]));
                let context: Vec<f64> = (0..d_head).map(column).collect();
                side_by_side[at].extend(&context);
                for (array, own) in [
                    ("query", query),
                    ("key", &key[at]),
                    ("value", &value[at]),
                    ("attention_scores", &scores),
                    ("attention_weights", &weights),
                    ("context", &context),
                ] {
                    arrays.entry(array).or_default().extend(own);
                }
            }
        }
        let attended = if self.config.attention.output_projection {
            self.linear(&format!("{name}.attention.output"), &side_by_side, d_model)
        } else {
            side_by_side
        };
        let residual = add(stream, &attended);
        arrays.insert("residual", residual.concat());
        let mut stream = self.norm_if(is_post, &own_norm, residual);
        if d_ff > 0 {
            let of = |part: &str| format!("{name}.feed_forward.{part}");
            let input = self.norm_if(is_pre, &of("norm"), stream.clone());
            let hidden = self.activate(self.linear(&of("hidden"), &input, d_ff));
            let residual = add(&stream, &self.linear(&of("output"), &hidden, d_model));
            arrays.insert("feed_forward_hidden", hidden.concat());
            arrays.insert("feed_forward_residual", residual.concat());
            stream = self.norm_if(is_post, &of("norm"), residual);
        }
        arrays.insert("output", stream.concat());
        (stream, arrays)
    }

    /// The vectors that the classifier reads.
    fn read(&self, tokens: &[u32], stream: Vectors) -> Vectors {
        match self.config.readout(self.inputs) {
            Readout::Every => stream,
            Readout::Position => vec![stream[self.inputs.read_position].clone()],
            Readout::Mean => {
                let counted = stream.iter().zip(tokens);
                let padding = self.config.attention.padding_token;
                let counted = counted.filter(|&(_, &token)| Some(token) != padding);
                let counted: Vec<&Vec<f64>> = counted.map(|(x, _)| x).collect();
                let sum = |i: usize| counted.iter().map(|x| x[i]).sum::<f64>();
                let mean = |i: usize| sum(i) / counted.len().max(1) as f64;
                vec![(0..self.config.d_model).map(mean).collect()]
            }
        }
    }

    fn classify(&self, read: &Vectors) -> Vectors {
        if !self.config.tied_embeddings {
            let logits = self.config.n_logits(self.inputs.n_classes);
            return self.linear("classifier", read, logits);
        }
        let table = self.find("token_embedding").unwrap();
        let bias = self.find("classifier.bias");
        let row = |x: &Vec<f64>| {
            let rows = table.chunks(self.config.d_model).enumerate();
            let logit = |(k, row)| dot(x, row) + bias.map_or(0.0, |bias: &[f64]| bias[k]);
            rows.map(logit).collect()
        };
        read.iter().map(row).collect()
    }

    /// Computes one sample.
    pub(crate) fn forward(&self, tokens: &[u32]) -> Values {
        let mut stream = self.embed(tokens);
        let mut values = Values {
            embeddings: stream.concat(),
            ..Values::default()
        };
        for layer in 0..self.config.n_layers {
            let (output, arrays) = self.block(layer, tokens, &stream);
            stream = output;
            values.blocks.push(arrays);
        }
        stream = self.norm_if(self.config.has_final_norm(), "final_norm", stream);
        let mut read = self.read(tokens, stream);
        values.read = read.concat();
        if self.config.classifier_hidden > 0 {
            let hidden = self.linear("classifier.hidden", &read, self.config.classifier_hidden);
            read = self.activate(hidden);
            values.classifier_hidden = read.concat();
        }
        values.logits = self.classify(&read).concat();
        values
    }
}

fn dot<'a>(x: &[f64], y: impl IntoIterator<Item = &'a f64>) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn add(x: &Vectors, y: &Vectors) -> Vectors {
    let rows = x.iter().zip(y);
    let sum = |(x, y): (&Vec<f64>, &Vec<f64>)| x.iter().zip(y).map(|(x, y)| x + y).collect();
    rows.map(sum).collect()
}

/// `position / 10000^(component / width)`.
fn angle(position: usize, component: usize, width: usize) -> f64 {
    position as f64 / 10_000_f64.powf(component as f64 / width as f64)
}

/// An activation's value.
pub(crate) fn value_of(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Gelu => x * 0.5 * (1.0 + erf(x / SQRT_2)),
        Activation::GeluTanh => {
            x * 0.5 * (1.0 + (FRAC_2_PI.sqrt() * (x + 0.044_715 * x.powi(3))).tanh())
        }
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

/// The error function, by a series of positive terms: `2 / sqrt(pi) exp(-x²) sum 2^n x^(2n+1) / (2n+1)!!`.
pub(crate) fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    FRAC_2_SQRT_PI * (-x * x).exp() * sum
}
