//! How the cost of attention grows with the number of positions: with its square, since all pairs are computed.
#![allow(missing_docs)]

use burn::tensor::{Device, Int, Tensor};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use headlight_architecture::{Inputs, ModelConfig};
use headlight_model::TransformerClassifier;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn length(criterion: &mut Criterion) {
    let device = Device::flex();
    let mut group = criterion.benchmark_group("forward pass by positions");
    group.sample_size(20);
    for positions in [64, 128, 256, 512, 1024, 2048, 4096] {
        let inputs = Inputs {
            vocab_size: 51,
            positions,
            cls: Some(0),
            read_position: 0,
            n_classes: 2,
            per_position: false,
        };
        let config = ModelConfig::new(8, 1, 1);
        let start = config.initial_parameters(inputs, &mut ChaCha8Rng::seed_from_u64(0));
        let model = TransformerClassifier::new(&config, inputs, start, &device)
            .unwrap_or_else(|mismatch| panic!("{mismatch}"));
        let tokens = Tensor::<2, Int>::zeros([1, positions], &device);
        group.bench_function(BenchmarkId::from_parameter(positions), |bencher| {
            bencher.iter(|| model.forward(tokens.clone()).logits.into_data());
        });
    }
    group.finish();
}

criterion_group!(benches, length);
criterion_main!(benches);
