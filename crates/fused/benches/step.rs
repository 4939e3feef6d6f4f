//! What a step and an evaluation cost at the notebook's size.
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use headlight_architecture::{Inputs, ModelConfig};
use headlight_fused::{Adam, Architecture, BatchPredictions, Instructions, Model, Samples};

fn architecture(model: &ModelConfig, vocab_size: usize) -> Architecture {
    let inputs = Inputs {
        vocab_size,
        positions: POSITIONS,
        cls: Some(0),
        read_position: 0,
        n_classes: 2,
        per_position: false,
    };
    Architecture::new(model, inputs).unwrap()
}

fn notebook() -> Problem {
    Problem::new(&ModelConfig::new(8, 1, 1), 51)
}

/// `configs/equal_positions.toml`.
fn two_blocks() -> Problem {
    Problem::new(&ModelConfig::new(16, 2, 2), 11)
}

const POSITIONS: usize = 7;
const BATCH: usize = 16;
const SAMPLES: usize = 8000;

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

struct Problem {
    model: Model,
    tokens: Vec<u32>,
    labels: Vec<u32>,
    order: Vec<u32>,
}

impl Problem {
    fn new(model: &ModelConfig, vocab_size: usize) -> Self {
        let architecture = architecture(model, vocab_size);
        let weights: Vec<f32> = (0..architecture.parameter_count())
            .map(|i| spread(i) - 0.5)
            .collect();
        let token = |i: usize| match i % POSITIONS {
            0 => 0,
            _ => 1 + (spread(7 * i) * (vocab_size - 1) as f32) as u32,
        };
        Self {
            model: Model::new(&architecture, Adam::default(), &weights),
            tokens: (0..SAMPLES * POSITIONS).map(token).collect(),
            labels: (0..SAMPLES)
                .map(|i| u32::from(spread(3 * i) < 0.02))
                .collect(),
            // Not in order of memory, as a shuffled epoch is not.
            order: (0..SAMPLES as u32)
                .map(|i| i * 4801 % SAMPLES as u32)
                .collect(),
        }
    }

    /// Times steps over one batch after the other.
    fn steps(&mut self, batch: usize, bencher: &mut criterion::Bencher<'_>) {
        let Self {
            model,
            tokens,
            labels,
            order,
        } = self;
        let mut batches = order.chunks_exact(batch).cycle();
        bencher.iter(|| model.step(Samples::new(tokens, labels), batches.next().unwrap()));
    }
}

fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fused");
    for instructions in Instructions::ALL.into_iter().filter(|set| set.available()) {
        let mut problem = notebook();
        problem.model = problem.model.with_instructions(instructions);
        group.bench_function(
            BenchmarkId::new("step", format!("{instructions:?}")),
            |bencher| {
                problem.steps(BATCH, bencher);
            },
        );
    }
    for (name, mut problem) in [("one block", notebook()), ("two blocks", two_blocks())] {
        let mut predictions = BatchPredictions::default();
        group.bench_function(format!("{name}, evaluation of 8,000 samples"), |bencher| {
            let Problem {
                model,
                tokens,
                labels,
                order,
            } = &mut problem;
            bencher.iter(|| {
                for chosen in order.chunks(512) {
                    model.predict(Samples::new(tokens, labels), chosen, &mut predictions);
                }
            });
        });
    }
}

criterion_group!(benches, step);
criterion_main!(benches);
