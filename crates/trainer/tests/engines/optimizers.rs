//! Optimizers and losses: both engines beside each other over many steps, and beside the definitions in f64.

use headlight_architecture::Parameter;
use headlight_experiment::config::TrainingConfig;
use headlight_experiment::{Engine, Experiment, FusedEngine};
use headlight_trainer::sessions::burn::BurnEngine;
use headlight_trainer::sessions::session::Session;

use crate::compare::{TIGHT, compare, session};

/// Settings of training beside those of the notebook.
const TRAININGS: [&[&str]; 8] = [
    &["training.optimizer=adamw"],
    &[
        "training.optimizer=adamw",
        "training.weight_decay=1.0",
        "training.beta_2=0.98",
        "training.schedule=cosine",
        "training.warmup_steps=20",
        "training.steps=200",
    ],
    &[
        "training.optimizer=adamw",
        "training.weight_decay=0.0",
        "training.max_grad_norm=0.05",
    ],
    &["training.optimizer=sgd", "training.learning_rate=0.1"],
    &[
        "training.optimizer=sgd",
        "training.learning_rate=0.1",
        "training.momentum=0.9",
        "training.max_grad_norm=0.2",
        "training.schedule=linear",
    ],
    &["training.schedule=linear", "training.warmup_steps=50"],
    &[
        "training.token_second_moment=per-token",
        "training.max_grad_norm=0.1",
        "training.norms=true",
    ],
    &[
        "training.cross_entropy=accurate",
        "training.label_smoothing=0.1",
        "data.label_noise=0.1",
        "model.logits=per-class",
    ],
];

/// Twice as many positives as in the notebook's data, so that gradients are large.
const SAMPLES: [&str; 3] = [
    "data.generator=chacha",
    "data.positive_rate=0.5",
    "data.samples=1000",
];

fn trained_by(sets: &[&str]) -> Session {
    session(&[&SAMPLES, sets].concat())
}

fn batches(experiment: &Experiment, steps: usize) -> Vec<Vec<u32>> {
    let epochs = (1..).map(|epoch| experiment.batches(epoch));
    let all = epochs.flat_map(|batches| batches.iter().map(<[u32]>::to_vec).collect::<Vec<_>>());
    all.take(steps).collect()
}

#[test]
fn every_optimizer_takes_the_same_course() {
    for sets in TRAININGS {
        compare(&trained_by(sets), &format!("{sets:?}"), 200, &TIGHT);
    }
}

/// A new engine with the state after some steps takes the same further steps, to the bit.
#[test]
fn a_restored_state_goes_on_as_if_it_had_not_stopped() {
    for sets in TRAININGS {
        let session = trained_by(sets);
        let experiment = &session.experiment;
        let make: [&dyn Fn() -> Box<dyn Engine>; 2] =
            [&|| Box::new(FusedEngine::new(experiment).unwrap()), &|| {
                Box::new(BurnEngine::new(experiment, &session.device.device).unwrap())
            }];
        for new in make {
            let [mut whole, mut first, mut second] = [new(), new(), new()];
            for (step, batch) in batches(experiment, 12).iter().enumerate() {
                let rate = experiment.learning_rate(step);
                if step == 5 {
                    second.restore(&first.state()).unwrap();
                }
                let parts = if step < 5 { &mut first } else { &mut second };
                for engine in [&mut whole, parts] {
                    engine.step(&experiment.splits.train, batch, rate);
                }
            }
            assert_eq!(whole.state(), second.state(), "{sets:?}");
        }
    }
}

/// Each step of both engines beside the definition in f64, which takes the engine's own gradients.
#[test]
fn steps_follow_from_the_definitions() {
    for sets in TRAININGS.iter().filter(|sets| {
        // Keras's Adam squares occurrences, which a gradient does not tell apart.
        let sets = sets.join(" ");
        sets.contains("adamw") || sets.contains("sgd") || sets.contains("per-token")
    }) {
        let session = trained_by(sets);
        let experiment = &session.experiment;
        let mut fused = FusedEngine::new(experiment).unwrap();
        let mut burn = BurnEngine::new(experiment, &session.device.device).unwrap();
        let engines: [&mut dyn Engine; 2] = [&mut fused, &mut burn];
        for (name, engine) in ["fused", "burn"].into_iter().zip(engines) {
            let mut definition = Definition::new(&experiment.config.training, &engine.weights());
            for (step, batch) in batches(experiment, 30).iter().enumerate() {
                let train = &experiment.splits.train;
                let before = wide(&engine.weights());
                let gradient = flat(&engine.gradient(train, batch));
                let rate = experiment.learning_rate(step);
                let norm = definition.step(&gradient, rate);
                engine.step(train, batch, rate);
                if let Some(measured) = engine.gradient_norm() {
                    assert!((measured - norm).abs() < 1e-6 * norm, "{measured} {norm}");
                }
                let pairs = before.iter().zip(wide(&engine.weights()));
                for ((before, after), expected) in pairs.zip(&definition.weights) {
                    // A weight near 1 is rounded by 6e-8 of it at each step.
                    let bound = 1e-5 * (expected - before).abs() + 3e-7 * before.abs().max(0.1);
                    assert!(
                        (after - expected).abs() < bound,
                        "{name} {sets:?} {step}: {before} {after} {expected}"
                    );
                }
                // So that rounding does not add up.
                definition.weights = wide(&engine.weights());
            }
        }
    }
}

/// An optimizer in f64.
struct Definition<'a> {
    config: &'a TrainingConfig,
    weights: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

impl<'a> Definition<'a> {
    fn new(config: &'a TrainingConfig, weights: &[f32]) -> Self {
        Self {
            config,
            weights: wide(weights),
            first: vec![0.0; weights.len()],
            second: vec![0.0; weights.len()],
            steps: 0,
        }
    }

    /// Takes a step; returns the norm of the gradient before it is scaled down.
    fn step(&mut self, gradient: &[f64], rate: f64) -> f64 {
        let config = self.config;
        let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let factor = config
            .max_grad_norm
            .map_or(1.0, |most| (most / (norm + 1e-6)).min(1.0));
        self.steps += 1;
        let [corrected_1, corrected_2] =
            [config.beta_1, config.beta_2].map(|beta| 1.0 - beta.powi(self.steps));
        let (is_adam_w, is_sgd) = match config.optimizer.name() {
            "adamw" => (true, false),
            "sgd" => (false, true),
            _ => (false, false),
        };
        for (i, g) in gradient.iter().enumerate() {
            let (g, w) = (g * factor, &mut self.weights[i]);
            let (m, v) = (&mut self.first[i], &mut self.second[i]);
            if is_sgd {
                *m = config.momentum * *m + g;
                *w -= rate * *m;
                continue;
            }
            *m = config.beta_1 * *m + (1.0 - config.beta_1) * g;
            *v = config.beta_2 * *v + (1.0 - config.beta_2) * g * g;
            let epsilon = config.epsilon.value;
            if is_adam_w {
                *w -= rate * config.weight_decay() * *w;
                *w -= rate * (*m / corrected_1) / ((*v / corrected_2).sqrt() + epsilon);
            } else {
                *w -= rate * corrected_2.sqrt() / corrected_1 * *m / (v.sqrt() + epsilon);
            }
        }
        norm
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

fn flat(parameters: &[Parameter]) -> Vec<f64> {
    let all = parameters.iter();
    all.flat_map(|parameter| wide(&parameter.values)).collect()
}

/// A model that is sure of class 1, or of the class with the largest bias: its gradient for such samples is tiny, and not 0.
#[test]
fn sure_models_keep_their_gradients() {
    let one_logit: &[&str] = &[];
    let two_logits: &[&str] = &["model.logits=per-class"];
    let smoothed: &[&str] = &["model.logits=per-class", "training.label_smoothing=0.01"];
    for (sets, bias) in [
        (one_logit, &[30.0][..]),
        (one_logit, &[-30.0]),
        (two_logits, &[-10.0, 20.0]),
        (two_logits, &[20.0, -10.0]),
        (smoothed, &[-10.0, 20.0]),
    ] {
        let of = |kind: &str| {
            let kind = format!("training.cross_entropy={kind}");
            let session = trained_by(&[sets, &[kind.as_str()]].concat());
            let experiment = &session.experiment;
            let train = &experiment.splits.train;
            let label = u8::from(bias[bias.len() - 1] > 0.0);
            let sure = (0..train.len() as u32).filter(|&i| train.label(i as usize) == label);
            let batch: Vec<u32> = sure.take(16).collect();
            let mut fused = FusedEngine::new(experiment).unwrap();
            let mut burn = BurnEngine::new(experiment, &session.device.device).unwrap();
            let mut state = fused.state();
            let last = state.parameters.last_mut().unwrap();
            last.values = bias.to_vec();
            let engines: [&mut dyn Engine; 2] = [&mut fused, &mut burn];
            engines.map(|engine| {
                engine.restore(&state).unwrap();
                let gradient = engine.gradient(train, &batch);
                let loss = engine.step(train, &batch, 1e-3);
                (gradient.last().unwrap().values.clone(), loss)
            })
        };
        let [fused, burn] = of("accurate");
        println!("{bias:?}: {fused:?} {burn:?}");
        let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * b.abs();
        for (a, b) in fused.0.iter().zip(&burn.0) {
            assert!(
                *b != 0.0 && near((*a).into(), (*b).into()),
                "{bias:?}: {a} {b}"
            );
        }
        assert!(
            burn.1 > 0.0 && near(fused.1, burn.1),
            "{bias:?}: {fused:?} {burn:?}"
        );
        if sets == smoothed {
            continue;
        }
        // p(other) = e^-30 / (1 + e^-30), and so is the loss, nearly.
        let others = (-30.0_f64).exp();
        assert!(
            near(burn.1, others) || (burn.1 / others).ln().abs() < 1.0,
            "{burn:?}"
        );
        let [fused, burn] = of("plain");
        for (loss, gradient) in [(fused.1, fused.0), (burn.1, burn.0)] {
            println!("plain {bias:?}: {loss:e} {gradient:?}");
        }
    }
}
