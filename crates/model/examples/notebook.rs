//! The notebook's experiment in one file, on Burn alone: data, model, training, attention matrix.
//!
//!     cargo run --release -p headlight-model --example notebook
//!
//! A transformer of 777 parameters learns "is token 42 at position 3?" from the output at its [CLS] position.
//! To answer, [CLS] must look at position 3. The attention matrix at the end shows whether it does.
//!
//! Layers and loss are Burn's. Attention is written out, because Burn's layer does not return the weights, and Adam,
//! because Keras updates embeddings in its own way. With Keras's initial weights and batches, the losses are Keras's.

use burn::module::{Initializer, ModuleMapper, Param, ParamId};
use burn::nn::loss::BinaryCrossEntropyLossConfig;
use burn::nn::{Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::prelude::*;
use burn::tensor::activation::{sigmoid, softmax};
use burn::tensor::container::TensorContainer;
use burn::tensor::{Distribution, Gradients, IndexingUpdateOp};
use rand_mt::Mt;

fn main() {
    let device = Device::flex().autodiff();
    device.seed(0);
    let samples = samples(&device); // [sample, position]
    let positives = labels(samples.clone()).sum().into_scalar::<i32>();
    println!("{SAMPLES} samples, {positives} of them with token 42 at position 3");
    let model = Classifier::new(&device);
    println!("{} parameters\n", model.num_params());

    // Each epoch takes the samples in another random order.
    let order = || Tensor::<1>::random([SAMPLES], Distribution::Default, &device).argsort(0); // [sample]
    let batches = (0..EPOCHS).flat_map(|_| order().split(BATCH_SIZE, 0));
    let (model, losses) = train(model, &samples, batches.collect());
    for (epoch, losses) in losses.chunks(SAMPLES / BATCH_SIZE).enumerate() {
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        println!("epoch {}: loss {mean:.4}", epoch + 1);
    }
    show_attention(&model, samples, 10);
}

// --- Data ---

const SAMPLES: usize = 8000;
const POSITIONS: usize = 7; // [CLS], then six tokens
const VOCAB_SIZE: usize = 51; // [CLS] is 0, other tokens are 1 to 50

/// `np.random.seed(0); np.random.randint(1, 51, size=(8000, 6))`, with [CLS] before each row.
fn samples(device: &Device) -> Tensor<2, Int> {
    // NumPy takes the lowest six bits of each word of its generator, and drops numbers that are too large.
    let mut generator = Mt::new(0);
    let numbers = std::iter::repeat_with(|| 1 + (generator.next_u32() & 63).cast_signed());
    let tokens = numbers.filter(|&n| n <= 50).take(SAMPLES * 6);
    let tokens = Tensor::from_data(TensorData::new(tokens.collect(), [SAMPLES, 6]), device);
    Tensor::cat(vec![Tensor::zeros([SAMPLES, 1], device), tokens], 1) // [sample, position]
}

/// 1 if token 42 is at position 3. `[sample, position]` to `[sample]`
fn labels(tokens: Tensor<2, Int>) -> Tensor<1, Int> {
    tokens.slice(s![.., 3]).equal_elem(42).int().flatten(0, 1)
}

// --- Model ---

const D_MODEL: usize = 8;
const N_HEADS: usize = 1;
const D_HEAD: usize = D_MODEL / N_HEADS;

/// Embeddings, a block of attention, residual addition and layer norm, and a logit from [CLS].
#[derive(Module, Debug)]
struct Classifier {
    tokens: Embedding,           // [token, d_model]
    positions: Param<Tensor<2>>, // [position, d_model]
    attention: Attention,
    norm: LayerNorm,
    logit: Linear, // [d_model, 1]
}

impl Classifier {
    /// Initial weights are Keras's: embeddings uniform, projections Glorot uniform, biases 0.
    fn new(device: &Device) -> Self {
        let (min, max) = (-0.05, 0.05);
        let uniform = Initializer::Uniform { min, max };
        let tokens = EmbeddingConfig::new(VOCAB_SIZE, D_MODEL).with_initializer(uniform.clone());
        let norm = LayerNormConfig::new(D_MODEL).with_epsilon(1e-6);
        Self {
            tokens: tokens.init(device),
            positions: uniform.init([POSITIONS, D_MODEL], device),
            attention: Attention {
                query: projection(D_MODEL, device),
                key: projection(D_MODEL, device),
                value: projection(D_MODEL, device),
                output: projection(D_MODEL, device),
            },
            norm: norm.init(device),
            logit: projection(1, device),
        }
    }

    /// Logits `[batch]` and attention weights `[batch, head, query, key]`.
    fn forward(&self, vectors: Tensor<3>) -> (Tensor<1>, Tensor<4>) {
        let input = vectors + self.positions.val().unsqueeze(); // [batch, position, d_model]
        let (output, weights) = self.attention.forward(input.clone());
        let normalized = self.norm.forward(input + output); // [batch, position, d_model]
        let cls = normalized.slice(s![.., 0, ..]).squeeze_dim::<2>(1); // [batch, d_model]
        let logits = self.logit.forward(cls).squeeze_dim::<1>(1); // [batch]
        (logits, weights)
    }
}

/// Multi-head self-attention with an output projection: `softmax(Q K^T / sqrt(d_head)) V`, times `W_o`.
#[derive(Module, Debug)]
struct Attention {
    query: Linear,  // [d_model, n_heads * d_head]
    key: Linear,    // [d_model, n_heads * d_head]
    value: Linear,  // [d_model, n_heads * d_head]
    output: Linear, // [n_heads * d_head, d_model]
}

impl Attention {
    /// The output `[batch, query, d_model]`, and the weights `[batch, head, query, key]`.
    fn forward(&self, input: Tensor<3>) -> (Tensor<3>, Tensor<4>) {
        let heads = [input.dims()[0], POSITIONS, N_HEADS, D_HEAD];
        let split = |projected: Tensor<3>| projected.reshape(heads).swap_dims(1, 2);
        let query = split(self.query.forward(input.clone())); // [batch, head, query, d_head]
        let key = split(self.key.forward(input.clone())); // [batch, head, key, d_head]
        let value = split(self.value.forward(input)); // [batch, head, key, d_head]

        let scores = query.matmul(key.transpose()) / (D_HEAD as f64).sqrt(); // [batch, head, query, key]
        let weights = softmax(scores, 3); // [batch, head, query, key]
        let context = weights.clone().matmul(value); // [batch, head, query, d_head]

        let joined = context.swap_dims(1, 2).flatten(2, 3); // [batch, query, n_heads * d_head]
        (self.output.forward(joined), weights)
    }
}

/// A projection from `d_model`. Its biases start at 0; Burn would draw them.
fn projection(d_output: usize, device: &Device) -> Linear {
    let glorot = Initializer::XavierUniform { gain: 1.0 };
    let config = LinearConfig::new(D_MODEL, d_output).with_initializer(glorot);
    Linear {
        bias: Some(Initializer::Zeros.init([d_output], device)),
        ..config.init(device)
    }
}

// --- Training ---

const EPOCHS: usize = 3;
const BATCH_SIZE: usize = 16;
const LEARNING_RATE: f64 = 1e-3;
const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f64 = 1e-7;

/// Takes a step for each batch of sample indices. Returns the loss of each step.
fn train(
    mut model: Classifier,
    samples: &Tensor<2, Int>,
    batches: Vec<Tensor<1, Int>>,
) -> (Classifier, Vec<f64>) {
    let cross_entropy = BinaryCrossEntropyLossConfig::new().with_logits(true);
    let cross_entropy = cross_entropy.init(&samples.device());
    let (mut losses, mut moments) = (Vec::new(), TensorContainer::new());
    for (step, batch) in (1..).zip(batches) {
        let tokens = samples.clone().select(0, batch); // [batch, position]
        // The graph starts at the vectors of the tokens, so that each occurrence of a token has a gradient.
        let vectors = model.tokens.forward(tokens.clone()).detach().require_grad(); // [batch, position, d_model]
        let (logits, _) = model.forward(vectors.clone()); // [batch]
        let loss = cross_entropy.forward(logits, labels(tokens.clone())); // [1]
        model = model.map(&mut Adam {
            step,
            moments: &mut moments,
            gradients: loss.backward(),
            tokens: tokens.inner().flatten(0, 1),
            vectors,
        });
        losses.push(loss.into_scalar::<f64>());
    }
    (model, losses)
}

/// A step of Adam as Keras takes it: epsilon is added to the root of the uncorrected second moment.
struct Adam<'a> {
    step: i32,
    moments: &'a mut TensorContainer<ParamId>, // running means of gradients, and of their squares
    gradients: Gradients,
    tokens: Tensor<1, Int>, // [batch * position]
    vectors: Tensor<3>,     // [batch, position, d_model]
}

impl ModuleMapper for Adam<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some([gradient, square]) = self.gradient(&param.val()) else {
            return param;
        };
        let zeros = || [gradient.zeros_like(), gradient.zeros_like()];
        let [first, second] = self.moments.remove(&param.id).unwrap_or_else(zeros);
        let first = first * BETA_1 + gradient * (1.0 - BETA_1);
        let second = second * BETA_2 + square * (1.0 - BETA_2);
        self.moments
            .register(param.id, [first.clone(), second.clone()]);
        let correction = (1.0 - BETA_2.powi(self.step)).sqrt() / (1.0 - BETA_1.powi(self.step));
        let delta = first * (LEARNING_RATE * correction) / (second.sqrt() + EPSILON);
        param.map(|parameter| Tensor::from_inner(parameter.inner() - delta).require_grad())
    }
}

impl Adam<'_> {
    /// The gradient of a parameter, and its square.
    fn gradient<const D: usize>(&mut self, parameter: &Tensor<D>) -> Option<[Tensor<D>; 2]> {
        if let Some(gradient) = parameter.grad_remove(&mut self.gradients) {
            return Some([gradient.clone(), gradient.square()]);
        }
        // The token embedding. Keras on TensorFlow squares the gradient of each occurrence by itself: a token
        // with gradients a and b has the gradient a + b, but the square a² + b², not (a + b)².
        let gradient = self.vectors.grad_remove(&mut self.gradients)?; // [batch, position, d_model]
        Some([gradient.clone(), gradient.square()].map(|values| {
            let (tokens, values) = (self.tokens.clone(), values.flatten::<2>(0, 1));
            let sums = Tensor::zeros([VOCAB_SIZE, D_MODEL], &values.device()); // [token, d_model]
            let sums = sums.select_assign(0, tokens, values, IndexingUpdateOp::Add);
            sums.reshape(parameter.shape())
        }))
    }
}

// --- Attention matrix ---

/// Prints the model's answer for a sample, and where it looks.
fn show_attention(model: &Classifier, samples: Tensor<2, Int>, sample: usize) {
    let tokens = samples.slice(s![sample..=sample]); // [1, position]
    let (logits, weights) = model.forward(model.tokens.forward(tokens.clone()));
    let probability = sigmoid(logits).into_scalar::<f64>();
    let tokens: Vec<i32> = tokens.into_data().iter().collect();
    let weights: Vec<f64> = weights.into_data().iter().collect(); // one head: [query, key]

    println!("\nSample {sample}: the probability of token 42 at position 3 is {probability:.3}.");
    println!("Attention weights, a row per query, a column per key (0 is [CLS]):\n");
    let keys: Vec<String> = tokens.iter().map(|key| format!("{key:8}")).collect();
    println!("    {}", keys.concat());
    for (query, weights) in tokens.iter().zip(weights.chunks(POSITIONS)) {
        let weights: Vec<String> = weights.iter().map(|w| format!("{w:8.4}")).collect();
        println!("{query:4}{}", weights.concat());
    }
}

#[cfg(test)]
#[path = "../tests/examples/notebook.rs"]
mod tests;
