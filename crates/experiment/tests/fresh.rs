//! Training on samples that each step draws.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_data::FreshSamples;
use headlight_experiment::config::{ExperimentConfig, toml};
use headlight_experiment::evaluate::evaluate;
use headlight_experiment::metrics::StepMetrics;
use headlight_experiment::outcome::{Guess, Outcome, Verdict};
use headlight_experiment::train::{
    Ending, Next, Observer, Progress, evaluation_is_due, measure, train,
};
use headlight_experiment::{Engine, Error, Experiment, FusedEngine};

const CONFIG: &str = "\
seed = 3

[data]
generator = \"chacha\"
samples = \"fresh\"
held_out = 40
vocab_size = 6
seq_len = 3
rule = { kind = \"token-anywhere\", token = 3 }

[model]
d_model = 8

[training]
steps = 60
batch_size = 16
learning_rate = 0.02
evaluate_every = 20
";

fn parse(changes: &[&str]) -> Result<ExperimentConfig, String> {
    let changes = changes.iter().map(|change| ("--set", *change));
    toml::parse("c.toml", CONFIG, changes, |_| Ok(()), |_| Ok(()))
}

fn experiment(changes: &[&str]) -> Experiment {
    let config = parse(changes).unwrap();
    let splits = config.data.generate().unwrap();
    Experiment::new(config, splits.into(), None).unwrap()
}

/// Evaluates where it is due, and stops after a step.
struct Watch<'a> {
    experiment: &'a Experiment,
    stop: usize,
    metrics: Vec<StepMetrics>,
    progress: Progress,
}

impl Observer for Watch<'_> {
    type Failure = Error;

    fn step(&mut self, progress: Progress, engine: &mut dyn Engine) -> Result<Next, Error> {
        self.progress = progress;
        if evaluation_is_due(self.experiment, progress) {
            self.metrics
                .push(measure(self.experiment, engine, progress)?);
        }
        Ok(if progress.step == self.stop {
            Next::Stop
        } else {
            Next::Step
        })
    }
}

/// The evaluations and the weights of a training that is stopped and resumed after each of these steps.
fn trained(experiment: &Experiment, stops: &[usize]) -> (Vec<StepMetrics>, Vec<f32>) {
    let mut engine = FusedEngine::new(experiment).unwrap();
    let mut watch = Watch {
        experiment,
        stop: 0,
        metrics: Vec::new(),
        progress: Progress::default(),
    };
    for &stop in stops.iter().chain([&usize::MAX]) {
        let state = engine.state();
        engine = FusedEngine::new(experiment).unwrap();
        engine.restore(&state).unwrap();
        watch.stop = stop;
        let start = watch.progress;
        let ending = train(experiment, &mut engine, start, || false, &mut watch).unwrap();
        assert_eq!(ending == Ending::Finished, stop == usize::MAX);
    }
    (watch.metrics, engine.weights())
}

#[test]
fn a_resumed_training_has_the_same_bytes() {
    for more in [
        &[][..],
        &[
            "data.label_noise=0.1",
            "data.balanced=true",
            "training.schedule=cosine",
        ],
        &[
            "model.attention.padding_token=5",
            "training.token_dropout=0.2",
        ],
    ] {
        let experiment = experiment(more);
        let whole = trained(&experiment, &[]);
        assert_eq!(trained(&experiment, &[1, 20, 33, 59]), whole);
        let changed = [more, &["seed=4"]].concat();
        assert_ne!(trained(&self::experiment(&changed), &[]).1, whole.1);
    }
}

#[test]
fn training_metrics_are_those_of_the_steps_batch() {
    let experiment = experiment(&[]);
    let (config, splits) = (&experiment.config, &experiment.splits);
    let (metrics, _) = trained(&experiment, &[]);
    let steps: Vec<usize> = metrics.iter().map(|row| row.step).collect();
    assert_eq!(steps, [0, 20, 40, 60]);
    assert!(metrics.iter().all(|row| row.epoch == 0));
    let fresh = FreshSamples::new(&config.data, &splits.held_out, 16, 3).unwrap();
    // Without a step, its batch is that of the first.
    let mut engine = FusedEngine::new(&experiment).unwrap();
    let first = fresh.batch(0).unwrap();
    let expected = evaluate(&mut engine, &first, 2, Some(config)).unwrap();
    assert_eq!(metrics[0].train, expected.metrics);
    assert_eq!(metrics[0].train_loss, None);
    let all: Vec<u32> = (0..16).collect();
    let mut losses = Vec::new();
    for step in 0..60 {
        losses.push(engine.step(&fresh.batch(step).unwrap(), &all, 0.02));
    }
    let last = evaluate(&mut engine, &fresh.batch(59).unwrap(), 2, Some(config)).unwrap();
    assert_eq!(metrics[3].train, last.metrics);
    assert_eq!(metrics[3].train_loss, losses.last().copied());
    let held_out = evaluate(&mut engine, &splits.held_out, 2, Some(config)).unwrap();
    assert_eq!(metrics[3].held_out.as_ref(), Some(&held_out.metrics));
}

/// Study 4 trains on batches of one sample: nothing is concluded from them.
#[test]
fn held_out_samples_judge() {
    let experiment = experiment(&["training.batch_size=1", "training.steps=400"]);
    let (metrics, _) = trained(&experiment, &[]);
    let outcome = Outcome::of(&experiment.config, &experiment.splits, &metrics, None).unwrap();
    assert_ne!(outcome.verdict, Verdict::NothingToLearn);
    assert_eq!(
        (outcome.held_out, outcome.samples, outcome.overfitting),
        (true, 40, None)
    );
    let positives = experiment.splits.held_out.positives().count();
    let share = positives.max(40 - positives) as f64 / 40.0;
    assert!((outcome.baselines[0].accuracy - share).abs() < 1e-12);
}

/// What follows a token by chance says nothing about other samples: the baselines of tokens and of counts of pairs are
/// fitted on samples that are drawn as those of steps are, not on the judged ones.
#[test]
fn baselines_are_not_fitted_on_what_they_are_judged_on() {
    let experiment = experiment(&[
        "data.cls=none",
        "data.task=next-token",
        "data.vocab_size=40",
        "data.seq_len=8",
        "data.rule={ kind = \"repeat\", period = 4, max_period = 4 }",
        "model.attention.mask=causal",
        "training.steps=1",
    ]);
    let (metrics, _) = trained(&experiment, &[]);
    let outcome = Outcome::of(&experiment.config, &experiment.splits, &metrics, None).unwrap();
    let (token, bits) = (outcome.baselines[1], outcome.bits_of_pairs.unwrap());
    assert_eq!(token.guess, Guess::Token);
    assert!(token.accuracy < 0.08, "{token:?}");
    assert!((bits - 40_f64.log2()).abs() < 0.2, "{bits}");
}

#[test]
fn what_needs_epochs_is_refused() {
    for (changes, key) in [
        (&["training.epochs=3"][..], "training.epochs"),
        (&["dump.every_epochs=1"], "dump.every_epochs"),
        (&["checkpoint.every_epochs=1"], "checkpoint.every_epochs"),
        (&["data.generator=numpy"], "data.generator"),
        (&["data.held_out=0"], "data.held_out"),
        (&["data.held_out=63"], "data.held_out"),
        (&["data.held_out=0.5"], "held_out"),
        (&["data.file=a.csv"], "file"),
        (
            &["data.samples=9", "data.exclude_held_out=false"],
            "exclude_held_out",
        ),
    ] {
        let message = parse(changes).unwrap_err();
        assert!(message.contains(key), "{changes:?}: {message}");
    }
    let without = CONFIG.replace("steps = 60\n", "");
    let none = std::iter::empty();
    let message = toml::parse("c.toml", &without, none, |_| Ok(()), |_| Ok(())).unwrap_err();
    assert!(message.contains("training.steps"), "{message}");
    assert!(parse(&["dump.every_epochs=0"]).is_ok());
    assert_eq!(parse(&[]).unwrap().dump.every_epochs.value, 0);
}

#[test]
fn fresh_samples_have_the_weights_of_their_classes() {
    let experiment = experiment(&["training.class_weights={ 1 = 4 }"]);
    for step in 0..9 {
        let drawn = experiment.training_samples(step).unwrap();
        let weights = drawn
            .labels()
            .iter()
            .map(|&label| [1.0, 4.0][label as usize]);
        assert_eq!(drawn.weights().unwrap(), weights.collect::<Vec<f32>>());
    }
    let message = parse(&["training.class_weights=balanced"]).unwrap_err();
    assert!(
        message.contains("give a weight for each class"),
        "{message}"
    );
}
