//! All inputs of random models, one by one.

use std::sync::Arc;

use headlight_analysis::certificate::Example;
use headlight_architecture::Parameter;
use headlight_data::{Dataset, Splits};
use headlight_experiment::fused::{FrozenModel, Recording};
use headlight_experiment::{
    Engine, Experiment, FusedEngine, Predictions, Predictor, TrainingState,
};

use super::models::{Model, random};
use super::{EXAMPLES, certified};

/// Inputs that are also asked of the engine that records all arrays, which computes another way.
const COMPARED: usize = 3_000;

/// Where that engine gives another class, the margin is not above it.
const NEAR: f64 = 1e-4;

/// What a class's inputs are answered.
#[derive(Debug, Default, PartialEq)]
struct Found {
    inputs: u64,
    wrong: u64,
    worst: Vec<Example>,
    /// `[position][token]`, tokens from the first that a position can hold.
    tokens: Vec<Vec<u64>>,
}

/// Every input: the tokens that each position can hold.
fn tokens(model: &Model) -> Vec<Vec<u32>> {
    let data = &model.config.data;
    let cls = data.cls.position(data.seq_len);
    let any = u32::from(cls.is_some())..data.vocab_size;
    let of = |position: usize| {
        if cls == Some(position) {
            vec![0]
        } else {
            any.clone().collect()
        }
    };
    (0..data.cls.positions(data.seq_len)).map(of).collect()
}

fn inputs(model: &Model) -> Dataset {
    let data = &model.config.data;
    let tokens = tokens(model);
    let rule = data.rule.as_ref().unwrap();
    let mut inputs = Dataset::empty(data.seq_len, data.cls);
    let mut places = vec![0; tokens.len()];
    loop {
        let input: Vec<u32> = places
            .iter()
            .zip(&tokens)
            .map(|(&place, own)| own[place])
            .collect();
        inputs.push(&input, rule.label_for(&input, data.cls, data.n_classes));
        let Some(last) = (0..places.len())
            .rev()
            .find(|&at| places[at] + 1 < tokens[at].len())
        else {
            return inputs;
        };
        places[last] += 1;
        places[last + 1..].fill(0);
    }
}

/// The logits of all inputs, by the engine that `predict` and `evaluate` use.
fn logits(model: &Model, inputs: &Dataset) -> Vec<Vec<f64>> {
    let splits = Splits::new(inputs.clone(), inputs.without_samples());
    let mut experiment = Experiment::new(model.config.clone(), Arc::new(splits), None).unwrap();
    experiment.start = parameters(model, &experiment.start);
    let mut engine = FusedEngine::new(&experiment).unwrap();
    engine
        .restore(&TrainingState::of(experiment.start.clone()))
        .unwrap();
    let all: Vec<u32> = (0..inputs.len() as u32).collect();
    let (mut predictions, mut logits) = (Predictions::default(), Vec::new());
    for chosen in all.chunks(engine.samples_per_pass()) {
        engine.predict(inputs, chosen, &mut predictions);
        let count = predictions.logits.len() / chosen.len();
        logits.extend(predictions.logits.chunks_exact(count).map(<[f64]>::to_vec));
    }
    logits
}

/// Parameters of these shapes with the model's weights.
fn parameters(model: &Model, shapes: &[Parameter]) -> Vec<Parameter> {
    let mut weights = model.weights.iter().copied();
    let with = |parameter: &Parameter| Parameter {
        values: weights.by_ref().take(parameter.values.len()).collect(),
        ..parameter.clone()
    };
    shapes.iter().map(with).collect()
}

/// The class of some logits; of equal ones the first.
fn class(logits: &[f64]) -> u32 {
    if let [one] = logits {
        return u32::from(*one > 0.0);
    }
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logits.iter().position(|&logit| logit == largest).unwrap() as u32
}

fn margin(logits: &[f64], label: u32) -> f64 {
    match (logits, label) {
        ([one], 0) => -one,
        ([one], _) => *one,
        _ => {
            let others = (0..).zip(logits).filter(|(class, _)| *class != label);
            logits[label as usize]
                - others
                    .map(|(_, logit)| *logit)
                    .fold(f64::NEG_INFINITY, f64::max)
        }
    }
}

fn count(model: &Model, inputs: &Dataset, logits: &[Vec<f64>]) -> Vec<Found> {
    let tokens = tokens(model);
    let zeros: Vec<Vec<u64>> = tokens.iter().map(|own| vec![0; own.len()]).collect();
    let new = || Found {
        tokens: zeros.clone(),
        ..Found::default()
    };
    let mut found: Vec<Found> = (0..model.config.data.n_classes).map(|_| new()).collect();
    for (sample, logits) in logits.iter().enumerate() {
        let (input, label) = (inputs.tokens(sample), inputs.labels()[sample]);
        let own = &mut found[label as usize];
        let predicted = class(logits);
        own.inputs += 1;
        if predicted != label {
            own.wrong += 1;
            for ((counts, token), tokens) in own.tokens.iter_mut().zip(input).zip(&tokens) {
                counts[(token - tokens[0]) as usize] += 1;
            }
        }
        own.worst.push(Example {
            tokens: input.to_vec(),
            label,
            predicted,
            margin: margin(logits, label),
        });
    }
    for own in &mut found {
        own.worst.sort_by(|a, b| {
            a.margin
                .total_cmp(&b.margin)
                .then_with(|| a.tokens.cmp(&b.tokens))
        });
        own.worst.truncate(EXAMPLES);
    }
    found
}

/// Compares a model's certificate with what is counted. Returns the inputs and those that are answered wrongly.
fn compare(model: &Model) -> (usize, u64) {
    let text = &model.text;
    let inputs = inputs(model);
    let logits = logits(model, &inputs);
    let expected = count(model, &inputs, &logits);
    let certificate = certified(model, 1);
    let of_class = certificate.classes.iter().map(|class| Found {
        inputs: class.inputs,
        wrong: class.wrong,
        worst: class.worst.clone(),
        tokens: class.tokens.clone(),
    });
    for (class, (found, expected)) in of_class.zip(&expected).enumerate() {
        assert_eq!(found, *expected, "{text}\nclass {class}");
    }
    let wrong = expected.iter().map(|class| class.wrong).sum();
    let margins = expected
        .iter()
        .filter_map(|class| class.worst.first())
        .map(|worst| worst.margin);
    assert_eq!(
        (certificate.inputs, certificate.wrong),
        (inputs.len() as u64, wrong),
        "{text}"
    );
    assert_eq!(
        certificate.smallest_margin,
        margins.reduce(f64::min),
        "{text}"
    );
    for threads in [0, 2, 3] {
        assert_eq!(
            certified(model, threads),
            certificate,
            "{text}\n{threads} threads"
        );
    }
    disagree_near_zero(model, &inputs, &logits);
    (inputs.len(), wrong)
}

/// The engine that records all arrays rounds in other places. Its classes are others only where margins are near zero.
fn disagree_near_zero(model: &Model, inputs: &Dataset, logits: &[Vec<f64>]) {
    let mut frozen = FrozenModel::new(&model.config).unwrap();
    let chosen: Vec<u32> = (0..inputs.len().min(COMPARED) as u32).collect();
    for chosen in chosen.chunks(500) {
        let forward = frozen
            .forward(&model.weights, inputs, chosen, &[], Recording::Predictions)
            .unwrap();
        let others = forward.predictions.logits.chunks_exact(frozen.logits());
        for (&sample, others) in chosen.iter().zip(others) {
            let others: Vec<f64> = others.iter().map(|&logit| f64::from(logit)).collect();
            let own = &logits[sample as usize];
            if class(own) != class(&others) {
                let lead = margin(own, class(own)).abs();
                assert!(
                    lead < NEAR,
                    "{}\n{:?}: {own:?} and {others:?}",
                    model.text,
                    inputs.tokens(sample as usize)
                );
            }
        }
    }
}

#[test]
fn certificates_are_what_every_input_is_answered() {
    let mut both = 0;
    for seed in 0..200 {
        let (inputs, wrong) = compare(&random(seed, 30_000));
        both += usize::from(wrong > 0 && wrong < inputs as u64);
    }
    assert!(
        both > 150,
        "only {both} models give right and wrong answers"
    );
}

/// Scores of these models are hundreds apart, so that exponentials of one input are nothing beside those of another.
#[test]
fn certificates_of_steep_models_are_what_every_input_is_answered() {
    for seed in [205, 394, 1072, 1188, 1274, 1583, 3939] {
        compare(&random(seed, 30_000));
    }
}

#[test]
fn certificates_of_many_inputs_are_what_each_is_answered() {
    for seed in [1020, 1023, 1063, 1194] {
        let (inputs, _) = compare(&random(seed, 1_000_000));
        assert!(inputs > 200_000, "seed {seed} has {inputs} inputs");
    }
}
