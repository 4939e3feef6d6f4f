//! What a training step costs, and what of it is the forward pass.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use headlight_data::{Batch, Batches};
use headlight_trainer::config;
use headlight_trainer::devices::DeviceName;
use headlight_trainer::evaluate::evaluate;
use headlight_trainer::experiment::{Experiment, inference, token_tensor};
use headlight_trainer::optimizer::Adam;
use headlight_trainer::train::train_step;

fn notebook(device: DeviceName) -> Experiment {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/notebook.toml");
    let mut config = config::load(&path, &[]).expect("the notebook's config");
    config.compute.device = device;
    Experiment::new(config).expect("the notebook's experiment")
}

fn step(criterion: &mut Criterion) {
    for device in DeviceName::ALL
        .into_iter()
        .filter(|device| device.is_built())
    {
        let Experiment {
            config,
            splits,
            mut model,
            device: open,
            ..
        } = notebook(device);
        let plain = open.device.clone();
        let tracked = plain.clone().autodiff();
        let batches = Batches::shuffled(&splits.train, config.training.batch_size, 0, 1);
        let batch = Batch::gather(&splits.train, batches.iter().next().expect("a batch"));
        let mut adam = Adam::new(&config.training);
        let mut group = criterion.benchmark_group(device.name());
        group.sample_size(if open.adapter.is_some() { 10 } else { 100 });
        group.bench_function("training step", |bencher| {
            bencher.iter(|| train_step(&mut model, &mut adam, &batch, &tracked));
        });
        let model = inference(&model);
        group.bench_function("forward", |bencher| {
            bencher.iter(|| {
                black_box(
                    model
                        .forward(token_tensor(&batch, &plain))
                        .logits
                        .into_data(),
                )
            });
        });
        group.bench_function("evaluation of 8,000 samples", |bencher| {
            bencher.iter(|| evaluate(&model, &splits.train, &config, &plain));
        });
    }
}

criterion_group!(benches, step);
criterion_main!(benches);
