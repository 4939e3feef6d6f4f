//! What a step and an evaluation cost at the notebook's size.
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use headlight_fused::{Adam, Architecture, Instructions, Model, Predictions, Samples};

fn notebook() -> Architecture {
    Architecture {
        vocab_size: 51,
        positions: 7,
        d_model: 8,
        ..Architecture::default()
    }
}
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
    fn new(shape: &Architecture) -> Self {
        let weights: Vec<f32> = (0..shape.parameter_count())
            .map(|i| spread(i) - 0.5)
            .collect();
        let token = |i: usize| match i % shape.positions {
            0 => 0,
            _ => 1 + (spread(7 * i) * (shape.vocab_size - 1) as f32) as u32,
        };
        Self {
            model: Model::new(shape.clone(), Adam::default(), &weights).unwrap(),
            tokens: (0..SAMPLES * shape.positions).map(token).collect(),
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
        bencher.iter(|| model.step(Samples { tokens, labels }, batches.next().unwrap()));
    }
}

fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fused");
    for instructions in Instructions::ALL.into_iter().filter(|set| set.available()) {
        let mut problem = Problem::new(&notebook());
        problem.model = problem.model.with_instructions(instructions);
        group.bench_function(
            BenchmarkId::new("step", format!("{instructions:?}")),
            |bencher| {
                problem.steps(BATCH, bencher);
            },
        );
    }
    for (name, shape) in [("one block", notebook()), ("two blocks", two_blocks())] {
        let mut problem = Problem::new(&shape);
        let mut predictions = Predictions::default();
        group.bench_function(format!("{name}, evaluation of 8,000 samples"), |bencher| {
            let Problem {
                model,
                tokens,
                labels,
                order,
            } = &mut problem;
            bencher.iter(|| {
                for chosen in order.chunks(512) {
                    model.predict(Samples { tokens, labels }, chosen, &mut predictions);
                }
            });
        });
    }
}

/// `configs/equal_positions.toml`.
fn two_blocks() -> Architecture {
    Architecture {
        vocab_size: 11,
        d_model: 16,
        n_heads: 2,
        n_layers: 2,
        ..notebook()
    }
}

criterion_group!(benches, step);
criterion_main!(benches);
