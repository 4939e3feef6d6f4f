//! Optimizers and losses: both engines beside each other over many steps, and beside the definitions in f64.

use headlight_architecture::Parameter;
use headlight_experiment::config::{OptimizerName, TrainingConfig};
use headlight_experiment::{Engine, FusedEngine, Predictions};
use headlight_trainer::Session;
use headlight_trainer::burn::BurnEngine;

use crate::compare::{TIGHT, batches, compare, session};

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
        "training.learning_rate=0.005",
        "training.momentum=0.9",
        "training.max_grad_norm=0.2",
        "training.schedule=linear",
    ],
    &["training.schedule=linear", "training.warmup_steps=50"],
    &["training.max_grad_norm=0.1", "training.norms=true"],
    &[
        "training.cross_entropy=accurate",
        "training.label_smoothing=0.1",
        "data.label_noise=0.1",
        "model.logits=per-class",
    ],
];

/// The notebook's experiment with fewer samples, half of them positive; PyTorch's optimizers sum the gradients of a token.
const SAMPLES: [&str; 4] = [
    "training.token_second_moment=per-token",
    "data.generator=chacha",
    "data.positive_rate=0.5",
    "data.samples=1000",
];

fn trained_by(sets: &[&str]) -> Session {
    session(&[&SAMPLES, sets].concat())
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

/// Each step of both engines beside the definition in f64, which takes the engine's own gradients. The learning rate is large, so
/// that what a step adds is not rounded away.
#[test]
fn steps_follow_from_the_definitions() {
    for sets in TRAININGS {
        let session = trained_by(sets);
        let experiment = &session.experiment;
        let mut fused = FusedEngine::new(experiment).unwrap();
        let mut burn = BurnEngine::new(experiment, &session.device.device).unwrap();
        let engines: [&mut dyn Engine; 2] = [&mut fused, &mut burn];
        for (name, engine) in ["fused", "burn"].into_iter().zip(engines) {
            let mut definition = Definition::new(&experiment.config.training, &engine.weights());
            for (step, batch) in batches(experiment, 30).iter().enumerate() {
                let (train, rate) = (&experiment.splits.train, 0.1);
                let before = wide(&engine.weights());
                let gradient = flat(&engine.gradient(train, batch));
                let norm = definition.step(&gradient, rate);
                engine.step(train, batch, rate);
                if let Some(measured) = engine.gradient_norm() {
                    assert!((measured - norm).abs() < 1e-6 * norm, "{measured} {norm}");
                }
                let pairs = before.iter().zip(wide(&engine.weights()));
                for ((before, after), expected) in pairs.zip(&definition.weights) {
                    let (change, size) = ((expected - before).abs(), before.abs().max(after.abs()));
                    // The means of gradients round in steps of their former values.
                    let share = if sets.join(" ").contains("optimizer") {
                        2e-6
                    } else {
                        2e-5 // Keras corrects the bias in float32.
                    };
                    let bound = share * change + 2e-7 * size + 1e-7 * rate;
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
        let is_adam_w = config.optimizer == OptimizerName::AdamW;
        let [corrected_1, corrected_2] = [config.beta_1, config.beta_2].map(|beta| {
            // Keras rounds the decays to float32.
            let keras = f64::from(beta as f32);
            1.0 - (if is_adam_w { beta } else { keras }).powi(self.steps)
        });
        for (i, g) in gradient.iter().enumerate() {
            let (g, w) = (g * factor, &mut self.weights[i]);
            let (m, v) = (&mut self.first[i], &mut self.second[i]);
            if config.optimizer == OptimizerName::Sgd {
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

/// Models that are sure of the true class: their gradients and losses are tiny, and exact all the same. The classifier's bias
/// has the gradient of the logits.
#[test]
fn sure_models_keep_their_gradients() {
    let two_logits = "model.logits=per-class";
    for (sets, smoothing, bias) in [
        (&[][..], 0.0, &[30.0][..]),
        (&[], 0.0, &[-30.0]),
        (&[], 0.01, &[30.0]),
        (&[], 0.01, &[-30.0]),
        (&[two_logits], 0.0, &[-10.0, 20.0]),
        (&[two_logits], 0.0, &[20.0, -10.0]),
        (&[two_logits], 0.01, &[-10.0, 20.0]),
    ] {
        let with = |kind: &str| {
            let kind = format!("training.cross_entropy={kind}");
            let smoothing = format!("training.label_smoothing={smoothing}");
            trained_by(&[sets, &[kind.as_str(), smoothing.as_str()]].concat())
        };
        let label = u32::from(bias[bias.len() - 1] > 0.0);
        for (name, sure) in of_both(&with("accurate"), label, bias) {
            let (gradient, loss) = expected(&sure.logits, bias.len(), label, smoothing);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b.abs();
            let gradients = sure.gradient.iter().zip(&gradient);
            assert!(
                gradients.clone().all(|(a, b)| near(*a, *b)) && near(sure.loss, loss),
                "{name} {bias:?} {smoothing}: {sure:?} beside {gradient:?} and {loss}"
            );
            assert!(loss > 0.0 && gradient.iter().all(|g| *g != 0.0));
        }
        // In float32 probability - 1 is 0.
        if smoothing == 0.0 && label == 1 {
            for (name, sure) in of_both(&with("plain"), label, bias) {
                let own = sure.gradient.last();
                assert_eq!(own, Some(&0.0), "{name} {bias:?}");
            }
        }
    }
}

/// Where the logit is 0, the probability is 1/2, and the gradient minus or plus 1/2.
#[test]
fn an_undecided_model_has_the_gradient_of_its_probability() {
    for kind in ["plain", "accurate"] {
        let session = trained_by(&[&format!("training.cross_entropy={kind}")]);
        for (label, gradient) in [(0, 0.5), (1, -0.5)] {
            for (name, found) in of_both(&session, label, &[0.0]) {
                assert_eq!(found.logits, [0.0; 16], "{name} {kind}");
                assert_eq!(found.gradient, [gradient], "{name} {kind}");
            }
        }
    }
}

/// What an engine computes for samples of one class.
#[derive(Debug)]
struct Sure {
    logits: Vec<f64>,
    /// Of the classifier's bias.
    gradient: Vec<f64>,
    loss: f64,
}

/// Both engines with this bias of the classifier, for some samples of a class.
fn of_both(session: &Session, label: u32, bias: &[f32]) -> [(&'static str, Sure); 2] {
    let experiment = &session.experiment;
    let train = &experiment.splits.train;
    let batch = (0..train.len()).filter(|&sample| train.label(sample) == label);
    let batch: Vec<u32> = batch.map(|sample| sample as u32).take(16).collect();
    let mut fused = FusedEngine::new(experiment).unwrap();
    let mut burn = BurnEngine::new(experiment, &session.device.device).unwrap();
    let engines: [(_, &mut dyn Engine); 2] = [("fused", &mut fused), ("burn", &mut burn)];
    engines.map(|(name, engine)| {
        let mut state = engine.state();
        let [.., weight, own_bias] = &mut state.parameters[..] else {
            unreachable!("the classifier's weight and bias come last")
        };
        if bias == [0.0] {
            weight.values.fill(0.0);
        }
        own_bias.values = bias.to_vec();
        engine.restore(&state).unwrap();
        let mut predictions = Predictions::default();
        engine.predict(train, &batch, &mut predictions);
        let gradient = engine.gradient(train, &batch);
        let sure = Sure {
            logits: predictions.logits,
            gradient: wide(&gradient.last().unwrap().values),
            loss: engine.step(train, &batch, 1e-3),
        };
        (name, sure)
    })
}

/// The mean gradient of the logits, and the mean loss, by definition.
fn expected(logits: &[f64], n_logits: usize, label: u32, smoothing: f64) -> (Vec<f64>, f64) {
    let (mut gradient, mut loss) = (vec![0.0; n_logits], 0.0);
    let samples = logits.len() / n_logits;
    for logits in logits.chunks(n_logits) {
        // One logit is the log-odds of class 1.
        let logits = match logits {
            [logit] => vec![0.0, *logit],
            logits => logits.to_vec(),
        };
        let (classes, label) = (logits.len(), label as usize);
        let odds: Vec<f64> = logits.iter().map(|z| (z - logits[label]).exp()).collect();
        let others = (0..classes)
            .filter(|&k| k != label)
            .map(|k| odds[k])
            .sum::<f64>();
        let even = smoothing / classes as f64;
        for (i, own) in gradient.iter_mut().enumerate() {
            let k = i + classes - n_logits;
            *own += if k == label {
                smoothing - even - others / (1.0 + others)
            } else {
                odds[k] / (1.0 + others) - even
            } / samples as f64;
        }
        let mean = logits.iter().sum::<f64>() / classes as f64;
        loss += (others.ln_1p() + smoothing * (logits[label] - mean)) / samples as f64;
    }
    (gradient, loss)
}
