use headlight_experiment::certificate::certify;
use headlight_experiment::{Engine, Experiment, FusedEngine, config::toml};
fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let threads: usize = args[2].parse().unwrap();
    let k: usize = args[3].parse().unwrap();
    for seed in args[4..].iter() {
        let mut config = toml::parse(
            "example",
            text.clone(),
            std::iter::empty(),
            |_| Ok(()),
            |_| Ok(()),
        )?;
        config.seed = seed.parse().unwrap();
        let splits = config
            .data
            .generate()
            .map_err(|invalid| invalid.to_string())?;
        let experiment =
            Experiment::new(config, splits.into(), None).map_err(|error| error.to_string())?;
        let mut engine = FusedEngine::new(&experiment).map_err(|error| error.to_string())?;
        let mut step = 0;
        for epoch in 1..=experiment.epochs() {
            for batch in experiment.batches(epoch).iter() {
                engine.step(
                    &experiment.splits.train,
                    batch,
                    experiment.learning_rate(step),
                );
                step += 1;
            }
        }
        let mut weights = engine.weights();
        if let Ok(t) = std::env::var("SHIFT") {
            *weights.last_mut().unwrap() -= t.parse::<f32>().unwrap();
        }
        let start = std::time::Instant::now();
        let c = certify(&experiment.config, &weights, k, threads, &|_| Ok(()))
            .map_err(|e| e.to_string())?;
        println!("seed {seed}: {:?} computed {}", start.elapsed(), c.computed);
        for class in &c.classes {
            println!(
                "  inputs {} wrong {} worst {:?}",
                class.inputs,
                class.wrong,
                class
                    .worst
                    .iter()
                    .take(2)
                    .map(|e| (e.tokens.clone(), e.margin))
                    .collect::<Vec<_>>()
            );
        }
    }
    Ok(())
}
