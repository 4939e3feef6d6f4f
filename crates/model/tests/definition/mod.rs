//! The forward pass of any model by its definition, in f64: plain loops over one sample.

use std::f64::consts::{FRAC_2_PI, FRAC_2_SQRT_PI, SQRT_2};

use headlight_architecture::{
    Activation, Inputs, ModelConfig, NormKind, NormPlace, Parameter, Pooling, Positions,
    ProjectionKind,
};

/// One vector per position.
type Vectors = Vec<Vec<f64>>;

/// Everything that a pass computes, as `TransformerClassifier` names it; blocks in order, each array flat.
#[derive(Debug, Default)]
pub(crate) struct Values {
    pub embeddings: Vec<f64>,
    pub blocks: Vec<Vec<(&'static str, Vec<f64>)>>,
    pub pooled: Vec<f64>,
    pub classifier_hidden: Vec<f64>,
    pub logits: Vec<f64>,
}

/// A model with its parameters in f64.
pub(crate) struct Definition<'a> {
    pub config: &'a ModelConfig,
    pub inputs: Inputs,
    pub parameters: Vec<(String, Vec<f64>)>,
}

impl<'a> Definition<'a> {
    pub(crate) fn new(config: &'a ModelConfig, inputs: Inputs, parameters: &[Parameter]) -> Self {
        let wide = |parameter: &Parameter| parameter.values.iter().map(|&x| x.into()).collect();
        let parameters = parameters.iter();
        Self {
            config,
            inputs,
            parameters: parameters
                .map(|parameter| (parameter.name.clone(), wide(parameter)))
                .collect(),
        }
    }

    fn find(&self, name: &str) -> Option<&[f64]> {
        let own = self.parameters.iter().find(|(own, _)| own == name);
        own.map(|(_, values)| values.as_slice())
    }

    /// `x W + b`; `b` is left out if the model has no bias of this name.
    fn linear(&self, name: &str, x: &[f64], outputs: usize) -> Vec<f64> {
        let weight = self.find(&format!("{name}.weight")).unwrap();
        let bias = self.find(&format!("{name}.bias"));
        assert_eq!(weight.len(), x.len() * outputs, "{name}");
        let column = |o: usize| {
            let products = x
                .iter()
                .enumerate()
                .map(|(i, x)| x * weight[i * outputs + o]);
            products.sum::<f64>() + bias.map_or(0.0, |bias| bias[o])
        };
        (0..outputs).map(column).collect()
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let size = x.len() as f64;
        let mean = match self.config.norm_kind {
            NormKind::Layer => x.iter().sum::<f64>() / size,
            NormKind::Rms => 0.0,
        };
        let square = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / size;
        let root = (square + self.config.layer_norm_eps).sqrt();
        let gamma = self.find(&format!("{name}.gamma"));
        let beta = self.find(&format!("{name}.beta"));
        let one = |(i, x): (usize, &f64)| {
            (x - mean) / root * gamma.map_or(1.0, |gamma| gamma[i])
                + beta.map_or(0.0, |beta| beta[i])
        };
        x.iter().enumerate().map(one).collect()
    }

    /// Normalises with the norm of this name if norms have this place.
    fn norm_if(&self, place: NormPlace, name: &str, vectors: &Vectors) -> Vectors {
        if self.config.norm == place {
            vectors.iter().map(|x| self.norm(name, x)).collect()
        } else {
            vectors.clone()
        }
    }

    fn activate(&self, x: f64) -> f64 {
        match self.config.activation {
            Activation::Relu => x.max(0.0),
            Activation::Gelu => x * 0.5 * (1.0 + erf(x / SQRT_2)),
            Activation::GeluTanh => {
                x * 0.5 * (1.0 + (FRAC_2_PI.sqrt() * (x + 0.044_715 * x.powi(3))).tanh())
            }
            Activation::Silu => x / (1.0 + (-x).exp()),
        }
    }

    fn embed(&self, tokens: &[u32]) -> Vectors {
        let d = self.config.d_model;
        let table = self.find("token_embedding").unwrap();
        let at = |(position, &token): (usize, &u32)| -> Vec<f64> {
            let learned = self.find("position_embedding").map(|rows| {
                let row = self.config.positions_shared_from.unwrap_or(usize::MAX);
                &rows[position.min(row) * d..][..d]
            });
            let added = |i: usize| match self.config.positions {
                Positions::Learned => learned.unwrap()[i],
                Positions::Sinusoidal => {
                    let angle = position as f64 / 10_000_f64.powf((i - i % 2) as f64 / d as f64);
                    if i.is_multiple_of(2) {
                        angle.sin()
                    } else {
                        angle.cos()
                    }
                }
                Positions::First => f64::from(u8::from((position, i) == (1, 0))),
                Positions::None | Positions::Rotary => 0.0,
            };
            let row = &table[token as usize * d..][..d];
            (0..d).map(|i| row[i] + added(i)).collect()
        };
        let sums: Vectors = tokens.iter().enumerate().map(at).collect();
        if self.config.embedding_norm {
            sums.iter()
                .map(|x| self.norm("embedding_norm", x))
                .collect()
        } else {
            sums
        }
    }

    /// Queries, keys and values, all heads side by side.
    fn project(&self, block: &str, input: &Vectors) -> [Vectors; 3] {
        let attention = &self.config.attention;
        let width = self.config.n_heads * self.config.d_head();
        let all = |name: &str| -> Vectors {
            let name = format!("{block}.attention.{name}");
            let vectors = input.iter();
            vectors.map(|x| self.linear(&name, x, width)).collect()
        };
        match attention.projections {
            ProjectionKind::Separate => [
                all("query"),
                all("key"),
                if attention.value_projection {
                    all("value")
                } else {
                    input.clone()
                },
            ],
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
        let one = |i: usize| {
            let pair = i % half;
            let angle = position as f64 / 10_000_f64.powf(2.0 * pair as f64 / head.len() as f64);
            let (a, b) = (head[pair], head[pair + half]);
            if i < half {
                a * angle.cos() - b * angle.sin()
            } else {
                b * angle.cos() + a * angle.sin()
            }
        };
        (0..head.len()).map(one).collect()
    }

    /// The scores of a query, and its weights.
    fn look(&self, tokens: &[u32], at: usize, query: &[f64], keys: &Vectors) -> [Vec<f64>; 2] {
        let attention = &self.config.attention;
        let allowed: Vec<bool> = (0..keys.len())
            .map(|key| {
                attention.mask.allows(at, key) && Some(tokens[key]) != attention.padding_token
            })
            .collect();
        let count = allowed.iter().filter(|&&allowed| allowed).count();
        let mut factor = attention.factor(self.config.d_head());
        if attention.log_length {
            factor *= if count == 0 { 0.0 } else { (count as f64).ln() };
        }
        let dot = |key: &Vec<f64>| query.iter().zip(key).map(|(q, k)| q * k).sum::<f64>();
        let scores: Vec<f64> = keys.iter().map(|key| factor * dot(key)).collect();
        let total: f64 = scores
            .iter()
            .zip(&allowed)
            .filter(|(_, is)| **is)
            .map(|(s, _)| s.exp())
            .sum();
        let weight = |(score, is_allowed): (&f64, &bool)| match (is_allowed, attention.softmax) {
            (false, _) => 0.0,
            (true, false) => *score,
            (true, true) => attention.rate * score.exp() / total + (1.0 - attention.rate),
        };
        let weights = scores.iter().zip(&allowed).map(weight).collect();
        [scores, weights]
    }

    fn block(
        &self,
        layer: usize,
        tokens: &[u32],
        stream: &Vectors,
    ) -> (Vectors, Vec<(&'static str, Vec<f64>)>) {
        let (d_model, d_head, heads) = (
            self.config.d_model,
            self.config.d_head(),
            self.config.n_heads,
        );
        let block = format!("blocks.{layer}");
        let input = self.norm_if(NormPlace::Pre, &format!("{block}.norm"), stream);
        let [query, key, value] = self.project(&block, &input);
        let mut recorded: Vec<(&'static str, Vec<f64>)> =
            ["query", "key", "value", "scores", "weights", "context"]
                .map(|name| (name, Vec::new()))
                .into();
        let mut side_by_side = vec![Vec::new(); tokens.len()];
        for head in 0..heads {
            let part = |vectors: &Vectors| -> Vectors {
                vectors
                    .iter()
                    .map(|x| x[head * d_head..][..d_head].to_vec())
                    .collect()
            };
            let turned = |vectors: &Vectors| -> Vectors {
                part(vectors)
                    .iter()
                    .enumerate()
                    .map(|(position, x)| self.rotated(x, position))
                    .collect()
            };
            let (query, key, value) = (turned(&query), turned(&key), part(&value));
            for (at, query) in query.iter().enumerate() {
                let [scores, weights] = self.look(tokens, at, query, &key);
                let context =
                    (0..d_head).map(|i| weights.iter().zip(&value).map(|(w, v)| w * v[i]).sum());
                let context: Vec<f64> = context.collect();
                side_by_side[at].extend(&context);
                let of_query = [
                    query.clone(),
                    key[at].clone(),
                    value[at].clone(),
                    scores,
                    weights,
                    context,
                ];
                for ((_, values), own) in recorded.iter_mut().zip(of_query) {
                    values.extend(own);
                }
            }
        }
        let add = |stream: &Vectors, outputs: Vectors| -> Vectors {
            let pairs = stream.iter().zip(&outputs);
            pairs
                .map(|(x, y)| x.iter().zip(y).map(|(x, y)| x + y).collect())
                .collect()
        };
        let outputs = if self.config.attention.output_projection {
            let name = format!("{block}.attention.output");
            side_by_side
                .iter()
                .map(|x| self.linear(&name, x, d_model))
                .collect()
        } else {
            side_by_side
        };
        let residual = add(stream, outputs);
        recorded.push(("residual", residual.concat()));
        let mut stream = self.norm_if(NormPlace::Post, &format!("{block}.norm"), &residual);
        if self.config.d_ff > 0 {
            let feed_forward = format!("{block}.feed_forward");
            let norm = format!("{feed_forward}.norm");
            let input = self.norm_if(NormPlace::Pre, &norm, &stream);
            let hidden: Vectors = input
                .iter()
                .map(|x| self.linear(&format!("{feed_forward}.hidden"), x, self.config.d_ff))
                .map(|x| x.into_iter().map(|x| self.activate(x)).collect())
                .collect();
            let outputs = hidden
                .iter()
                .map(|x| self.linear(&format!("{feed_forward}.output"), x, d_model));
            let residual = add(&stream, outputs.collect());
            stream = self.norm_if(NormPlace::Post, &norm, &residual);
            recorded.push(("feed_forward.hidden", hidden.concat()));
            recorded.push(("feed_forward.residual", residual.concat()));
        }
        recorded.push(("output", stream.concat()));
        (stream, recorded)
    }

    fn pool(&self, tokens: &[u32], stream: &Vectors) -> Vec<f64> {
        if self.config.pooling != Some(Pooling::Mean) {
            return stream[self.inputs.read_position].clone();
        }
        let counted = stream.iter().zip(tokens);
        let counted =
            counted.filter(|&(_, &token)| Some(token) != self.config.attention.padding_token);
        let counted: Vec<&Vec<f64>> = counted.map(|(x, _)| x).collect();
        let mean =
            |i: usize| counted.iter().map(|x| x[i]).sum::<f64>() / counted.len().max(1) as f64;
        (0..self.config.d_model).map(mean).collect()
    }

    /// Computes one sample.
    pub(crate) fn forward(&self, tokens: &[u32]) -> Values {
        let mut stream = self.embed(tokens);
        let mut values = Values {
            embeddings: stream.concat(),
            ..Values::default()
        };
        for layer in 0..self.config.n_layers {
            let (output, recorded) = self.block(layer, tokens, &stream);
            stream = output;
            values.blocks.push(recorded);
        }
        if self.config.has_final_norm() {
            stream = stream.iter().map(|x| self.norm("final_norm", x)).collect();
        }
        values.pooled = self.pool(tokens, &stream);
        let mut read = values.pooled.clone();
        if self.config.classifier_hidden > 0 {
            let hidden = self.linear("classifier.hidden", &read, self.config.classifier_hidden);
            read = hidden.into_iter().map(|x| self.activate(x)).collect();
            values.classifier_hidden.clone_from(&read);
        }
        let logits = self.config.n_logits(self.inputs.n_classes);
        values.logits = if self.config.tied_embeddings {
            let table = self.find("token_embedding").unwrap();
            let bias = self.find("classifier.bias");
            let rows = table.chunks(self.config.d_model).enumerate();
            rows.map(|(k, row)| {
                let product: f64 = row.iter().zip(&read).map(|(e, x)| e * x).sum();
                product + bias.map_or(0.0, |bias| bias[k])
            })
            .collect()
        } else {
            self.linear("classifier", &read, logits)
        };
        values
    }
}

/// The error function, by a series of positive terms: `2 / sqrt(pi) exp(-x²) sum 2^n x^(2n+1) / (2n+1)!!`.
fn erf(x: f64) -> f64 {
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
