//! The time of a training step and of an evaluation, with each engine and device.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use headlight_experiment::config::EngineName;
use headlight_experiment::evaluate::evaluate;
use headlight_trainer::Session;
use headlight_trainer::devices::DEVICES;
use headlight_trainer::files::config;

fn notebook(engine: EngineName, device: &str) -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/notebook.toml");
    let mut config = config::load(&path, &[]).expect("the notebook's config");
    config.compute.engine = engine;
    device.clone_into(&mut config.compute.device);
    Session::open(config).expect("the notebook's experiment")
}

fn step(criterion: &mut Criterion) {
    let devices = DEVICES.into_iter().filter(|device| device.is_built);
    let devices = devices.map(|device| (device.name, EngineName::Burn, device.name));
    for (name, engine, device) in devices.chain([("fused", EngineName::Fused, "flex")]) {
        let session = notebook(engine, device);
        let experiment = &session.experiment;
        let mut engine = session.engine().expect("the engine");
        let train = &experiment.splits.train;
        let batches = experiment.batches(1);
        let mut group = criterion.benchmark_group(name);
        let on_gpu = session.device.adapter.is_some();
        group.sample_size(if on_gpu { 10 } else { 100 });
        let mut next = batches.iter().cycle();
        group.bench_function("training step", |bencher| {
            let rate = experiment.config.training.learning_rate;
            bencher.iter(|| engine.step(train, next.next().expect("a batch"), rate));
        });
        group.bench_function("evaluation of 8,000 samples", |bencher| {
            let config = Some(&experiment.config);
            bencher.iter(|| evaluate(engine.as_mut(), train, 2, config));
        });
    }
}

criterion_group!(benches, step);
criterion_main!(benches);
