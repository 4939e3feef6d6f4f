//! The same bytes, whatever computes them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Problem, adam, any_model, any_notebook, inputs, notebook, problem};
use headlight_architecture::{
    DropoutRates, Inputs, Mask, ModelConfig, NormPlace, Positions, ProjectionKind, Scale,
};
use headlight_fused::{Adam, BatchPredictions, Dropout, Instructions, Model, SingleThread, Team};
use proptest::prelude::*;

fn fresh(problem: &Problem) -> Model {
    problem.trained_by(problem.training)
}

/// The bits of all parameters after an epoch; none if training diverges. Only with an optimizer other than Keras's, or with parts
/// other than the notebook's norms and softmax, may it do so.
fn trained(problem: &Problem, model: Model, batch_size: usize) -> Vec<u32> {
    trained_with(&SingleThread, problem, model, batch_size)
}

/// The same with some threads.
fn trained_with(
    team: &impl Team,
    problem: &Problem,
    mut model: Model,
    batch_size: usize,
) -> Vec<u32> {
    for batch in problem.all().chunks(batch_size) {
        if !model.step_with(team, problem.samples(), batch).is_finite() {
            let model = &problem.model;
            let is_plain = model.norm == NormPlace::Post && model.attention.softmax;
            assert!(!is_plain || problem.training != adam().into(), "{model:?}");
            return Vec::new();
        }
    }
    model
        .parameters()
        .iter()
        .map(|parameter| parameter.to_bits())
        .collect()
}

/// The same problem, with dropout.
fn with_dropout(mut problem: Problem, seed: u64) -> Problem {
    let rates = DropoutRates {
        embedding: 0.1,
        attention: 0.3,
        hidden: 0.5,
        residual: 0.2,
    };
    problem.training.dropout = Dropout { rates, seed };
    problem
}

fn any() -> impl Strategy<Value = Problem> {
    let dropped = (
        prop_oneof![1 => any_notebook(), 3 => any_model()],
        0..u64::MAX,
    );
    prop_oneof![
        any_notebook(),
        any_model(),
        dropped.prop_map(|(problem, seed)| with_dropout(problem, seed)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_restored_state_goes_on_with_the_same_bits(
        problem in any(), steps in 0_usize..30,
    ) {
        let problem = problem.with_samples(100);
        let mut model = fresh(&problem);
        let batches: Vec<Vec<u32>> = (0..steps).map(|step| (0..7).map(|i| (step * 7 + i) as u32 % 100).collect()).collect();
        for batch in &batches {
            model.step(problem.samples(), batch);
        }
        let state = model.state();
        prop_assert_eq!(state.steps, steps as u32);
        prop_assume!(state.parameters.iter().all(|number| number.is_finite()));
        // Into a model that has gone elsewhere before.
        let mut other = fresh(&problem);
        other.step(problem.samples(), &[1, 2, 3]);
        other.restore(&state);
        prop_assert_eq!(other.state(), state);
        prop_assert_eq!(trained(&problem, other, 16), trained(&problem, model, 16));
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits(
        problem in any(), batch_size in 1_usize..60,
    ) {
        let problem = problem.with_samples(100);
        let baseline = || fresh(&problem).with_instructions(Instructions::Baseline);
        let expected = trained(&problem, baseline(), batch_size);
        let predicted = predictions(&problem, baseline(), batch_size);
        for instructions in Instructions::ALL.into_iter().filter(|set| set.available()) {
            let model = || fresh(&problem).with_instructions(instructions);
            prop_assert_eq!(&expected, &trained(&problem, model(), batch_size));
            prop_assert_eq!(&predicted, &predictions(&problem, model(), batch_size));
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits(
        problem in any(), batch_size in 1_usize..100, threads in 2_usize..6,
    ) {
        let problem = problem.with_samples(100);
        let expected = trained(&problem, fresh(&problem), batch_size);
        let team = Threads(threads);
        let shared = trained_with(&team, &problem, fresh(&problem), batch_size);
        prop_assert_eq!(expected, shared);
        let (mut alone, mut together) = (BatchPredictions::default(), BatchPredictions::default());
        let all = problem.all();
        fresh(&problem).predict(problem.samples(), &all[..batch_size], &mut alone);
        fresh(&problem).predict_with(&team, problem.samples(), &all[..batch_size], &mut together);
        prop_assert_eq!(format!("{alone:?}"), format!("{together:?}"));
    }
}

/// Threads that start anew for each piece of work.
struct Threads(usize);

impl Team for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn each<T: Send>(&self, parts: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
        let work = &work;
        std::thread::scope(|scope| {
            for (index, part) in parts.iter_mut().enumerate() {
                scope.spawn(move || work(index, part));
            }
        });
    }
}

/// What a model predicts for the first samples, to the bit.
fn predictions(problem: &Problem, mut model: Model, count: usize) -> Vec<u32> {
    let mut found = BatchPredictions::default();
    model.predict(problem.samples(), &problem.all()[..count], &mut found);
    let all = [
        found.logits,
        found.probabilities,
        found.losses,
        found.attention,
    ];
    all.concat().iter().map(|number| number.to_bits()).collect()
}

/// A sample gets the same prediction, whatever else is in its batch.
#[test]
fn lanes_do_not_see_each_other() {
    let problem = notebook(37);
    let mut model = fresh(&problem);
    let all: Vec<u32> = (0..37).collect();
    let (mut together, mut alone) = (BatchPredictions::default(), BatchPredictions::default());
    model.predict(problem.samples(), &all, &mut together);
    for sample in all {
        model.predict(problem.samples(), &[sample], &mut alone);
        let sample = sample as usize;
        assert_eq!(alone.logits[0].to_bits(), together.logits[sample].to_bits());
        assert_eq!(alone.losses[0].to_bits(), together.losses[sample].to_bits());
        assert_eq!(
            alone.attention,
            together.attention[sample * 7..(sample + 1) * 7]
        );
    }
}

#[test]
fn predicting_and_differentiating_leave_training_alone() {
    let problem = notebook(96);
    let plain = trained(&problem, fresh(&problem), 16);
    let mut model = fresh(&problem);
    let mut predictions = BatchPredictions::default();
    for batch in (0..96).collect::<Vec<u32>>().chunks(16) {
        model.predict(problem.samples(), &[5, 6, 7], &mut predictions);
        model.gradient(problem.samples(), &[9, 8]);
        model.step(problem.samples(), batch);
    }
    let disturbed: Vec<u32> = model.parameters().iter().map(|p| p.to_bits()).collect();
    assert_eq!(plain, disturbed);
}

/// Predictions have no dropout, and rates of 0 are none.
#[test]
fn dropout_is_of_training_alone() {
    for problem in [
        notebook(40),
        problem(
            ModelConfig {
                d_ff: 12,
                ..ModelConfig::new(8, 2, 2)
            },
            inputs(9, 5),
            40,
        ),
    ] {
        let dropped = with_dropout(problem.clone(), 1);
        // The notebook's kernel has none: the general engine's predictions differ by rounding.
        let [plain, of_dropped] = [&problem, &dropped].map(Problem::predictions);
        for (a, b) in plain.logits.iter().zip(&of_dropped.logits) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
        assert_ne!(
            trained(&problem, fresh(&problem), 16),
            trained(&dropped, fresh(&dropped), 16)
        );
        let mut none = dropped.clone();
        none.training.dropout.rates = DropoutRates::default();
        assert_eq!(
            trained(&problem, fresh(&problem), 16),
            trained(&none, fresh(&none), 16)
        );
        let other = with_dropout(problem, 2);
        assert_ne!(
            trained(&dropped, fresh(&dropped), 16),
            trained(&other, fresh(&other), 16)
        );
    }
}

#[test]
fn parameters_come_back_as_given() {
    for (d_model, n_heads) in [(1, 1), (4, 2), (6, 3), (8, 1), (24, 1), (33, 3)] {
        for n_layers in [1, 2] {
            let model = ModelConfig::new(d_model, n_heads, n_layers);
            let problem = problem(model, inputs(5, 4), 1);
            assert_eq!(fresh(&problem).parameters(), problem.weights);
        }
    }
}

/// FNV-1a over the bits of numbers.
fn fnv1a(hash: u64, values: &[f32]) -> u64 {
    values.iter().fold(hash, |hash, value| {
        (hash ^ u64::from(value.to_bits())).wrapping_mul(0x100_0000_01b3)
    })
}

/// The bits of predictions, gradients and the state of training, at each kind of size. Recorded from this
/// code: an engine that gives other bytes breaks its promise.
#[test]
fn bytes_are_pinned() {
    let mut hashes = Vec::new();
    for (model, inputs, per_occurrence) in kinds() {
        let problem = problem(model, inputs, 50);
        let adam = Adam {
            per_occurrence,
            ..adam()
        };
        let mut model = problem
            .trained_by(adam)
            .with_instructions(Instructions::Baseline);
        let mut hash = 0xcbf2_9ce4_8422_2325;
        for step in 0..12_u32 {
            let batch: Vec<u32> = (0..=step).map(|i| (7 * step + 3 * i) % 50).collect();
            hash = fnv1a(hash, &[model.step(problem.samples(), &batch)]);
        }
        let gradient = model.gradient(problem.samples(), &[1, 5, 9]);
        let state = model.state();
        let mut predictions = BatchPredictions::default();
        model.predict(problem.samples(), &[3, 1, 4, 15], &mut predictions);
        for part in [
            &[gradient.loss],
            &gradient.values[..],
            &gradient.squares,
            &state.parameters,
            &state.first,
            &state.second,
            &predictions.logits,
            &predictions.probabilities,
            &predictions.losses,
            &predictions.attention,
        ] {
            hash = fnv1a(hash, part);
        }
        hashes.push(hash);
    }
    assert_eq!(hashes, PINNED, "{hashes:x?}");
}

/// Each kind of size, and whether squares are per occurrence.
fn kinds() -> Vec<(ModelConfig, Inputs, bool)> {
    // The first two have a step of their own; the third last computes attention in several tiles.
    let sizes = [
        ([8, 1, 1, 0], 7, true),
        ([16, 1, 1, 0], 5, true),
        ([4, 1, 1, 0], 3, false),
        ([12, 3, 1, 0], 4, true),
        ([1, 1, 1, 0], 1, true),
        ([16, 2, 2, 0], 7, true),
        ([6, 3, 3, 20], 4, true),
        ([8, 2, 2, 0], 66, true),
        ([10, 2, 1, 0], 6, false),
    ];
    let kind = |(sizes, positions, per_occurrence): ([usize; 4], usize, bool)| {
        let [d_model, n_heads, n_layers, d_ff] = sizes;
        let mut model = ModelConfig {
            d_ff,
            ..ModelConfig::new(d_model, n_heads, n_layers)
        };
        // One of them with another scale.
        if d_model == 12 {
            model.attention.scale = Scale::Factor(0.3);
        }
        (model, inputs(11, positions), per_occurrence)
    };
    let mut kinds: Vec<_> = sizes.into_iter().map(kind).collect();
    if let Some((model, inputs, _)) = kinds.last_mut() {
        model.positions = Positions::None;
        model.attention.projections = ProjectionKind::Shared;
        model.attention.mask = Mask::Causal;
        model.attention.padding_token = Some(3);
        (inputs.cls, inputs.read_position, inputs.n_classes) = (Some(5), 5, 4);
    }
    kinds
}

const PINNED: [u64; 9] = [
    0xcc07_fa23_1d2b_07b5,
    0x0a9a_a0ed_4be6_caaa,
    0x7d7c_8227_1cf1_0663,
    0x7d0c_228c_3eb5_79c6,
    0x1267_cbe4_48a0_232a,
    0x8f1b_f5cb_12c4_c106,
    0x592c_429b_323a_bcc6,
    0x5c69_d09e_1675_44cf,
    0x90e8_64d1_c8e7_2b15,
];
