//! What a training step and an evaluation cost with each engine and device.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use headlight_trainer::config;
use headlight_trainer::devices::DeviceName;
use headlight_trainer::engine::EngineName;
use headlight_trainer::evaluate::evaluate;
use headlight_trainer::experiment::Experiment;

fn notebook(engine: EngineName, device: DeviceName) -> Experiment {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/notebook.toml");
    let mut config = config::load(&path, &[]).expect("the notebook's config");
    config.compute.engine = engine;
    config.compute.device = device;
    Experiment::new(config).expect("the notebook's experiment")
}

fn step(criterion: &mut Criterion) {
    let devices = DeviceName::ALL
        .into_iter()
        .filter(|device| device.is_built())
        .map(|device| (device.name(), EngineName::Burn, device));
    let fused = ("fused", EngineName::Fused, DeviceName::Flex);
    for (name, engine, device) in devices.chain([fused]) {
        let experiment = notebook(engine, device);
        let mut engine = experiment.engine().expect("the engine");
        let train = &experiment.splits.train;
        let batches = experiment.batches(1);
        let mut group = criterion.benchmark_group(name);
        group.sample_size(if experiment.device.adapter.is_some() {
            10
        } else {
            100
        });
        let mut next = batches.iter().cycle();
        group.bench_function("training step", |bencher| {
            bencher.iter(|| engine.step(train, next.next().expect("a batch")));
        });
        group.bench_function("evaluation of 8,000 samples", |bencher| {
            let rule = experiment.config.data.rule.as_ref();
            bencher.iter(|| evaluate(engine.as_mut(), train, rule));
        });
    }
}

criterion_group!(benches, step);
criterion_main!(benches);
