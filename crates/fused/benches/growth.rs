//! What a step costs at the notebook's size, and how that grows with each of its sizes.
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

/// The architecture whose sizes change.
type Base = fn() -> Architecture;

/// A size of a shape: its name, its values, and how a shape gets it.
type Size = (&'static str, &'static [usize], fn(&mut Architecture, usize));

/// The sizes that are doubled in both models.
const OF_BOTH: [Size; 5] = [
    ("d_model", &[4, 8, 16, 32, 64, 128], |shape, size| {
        shape.d_model = size;
    }),
    ("positions", &[7, 14, 28, 56, 112], |shape, size| {
        shape.positions = size;
    }),
    ("batch", &[8, 16, 32, 64, 128], |_, _| {}),
    ("vocabulary", &[51, 102, 204, 408, 816], |shape, size| {
        shape.vocab_size = size;
    }),
    ("heads", &[1, 2, 4], |shape, size| shape.n_heads = size),
];

/// The sizes that only the pieces compute.
const OF_PIECES: [Size; 3] = [
    ("blocks", &[1, 2, 4, 8], |shape, size| shape.n_layers = size),
    ("d_ff", &[16, 32, 64, 128, 256], |shape, size| {
        shape.d_ff = size;
    }),
    ("classes", &[2, 4, 8, 16], |shape, size| {
        shape.n_classes = size;
    }),
];

/// Steps with one size after the other doubled, of a model that the one-block step computes, and of one that pieces
/// compute.
fn growth(criterion: &mut Criterion) {
    let mut sweep = |base: &str, of: Base, (name, values, set): Size| {
        let mut group = criterion.benchmark_group(format!("{base} by {name}"));
        for &value in values {
            let mut shape = of();
            set(&mut shape, value);
            let batch = if name == "batch" { value } else { BATCH };
            let mut problem = Problem::new(&shape);
            group.bench_function(BenchmarkId::from_parameter(value), |bencher| {
                problem.steps(batch, bencher);
            });
        }
    };
    for size in OF_BOTH {
        sweep("one block", notebook, size);
        sweep("two blocks", two_blocks, size);
    }
    for size in OF_PIECES {
        sweep("two blocks", two_blocks, size);
    }
}

criterion_group!(benches, step, growth);
criterion_main!(benches);
