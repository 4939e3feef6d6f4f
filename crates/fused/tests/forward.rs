//! The forward pass with everything that it computes, and interventions on it, beside models that are changed
//! in the same way.
//!
//! One file, because all its tests compare with the same plain forward pass.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

mod common;

use common::definition::Values;
use common::{Problem, any_model, any_notebook, inputs, problem, trainings};
use headlight_architecture::{Mask, ModelConfig, Readout};
use headlight_fused::{
    Array, ForwardValues, IGNORED, Intervention, PatchSite, Recording, Tracer, integrated_gradients,
};
use proptest::prelude::*;

fn traced(problem: &Problem, interventions: &[Intervention]) -> ForwardValues {
    computed(problem, &problem.all(), interventions).unwrap()
}

fn computed(
    problem: &Problem,
    chosen: &[u32],
    changes: &[Intervention],
) -> Result<ForwardValues, String> {
    let (weights, samples) = (&problem.weights, problem.samples());
    Tracer::new(&problem.architecture()).forward(weights, samples, chosen, changes, Recording::All)
}

fn logits(problem: &Problem) -> Vec<f32> {
    problem.predictions().logits
}

/// The largest difference.
fn apart(ours: &[f32], others: &[f32]) -> f32 {
    assert_eq!(ours.len(), others.len());
    ours.iter()
        .zip(others)
        .fold(0.0, |most, (a, b)| (a - b).abs().max(most))
}

/// The numbers of answers that count: the others need not be computed.
fn counted(problem: &Problem, values: &[f32]) -> Vec<f32> {
    let each = values.len() / problem.labels.len();
    let answers = values.chunks(each.max(1)).zip(&problem.labels);
    let own = answers.filter(|(_, label)| **label != IGNORED);
    own.flat_map(|(values, _)| values.to_vec()).collect()
}

/// What the definition computes for each sample.
fn values(problem: &Problem) -> Vec<Values> {
    let definition = problem.definition();
    let rows = problem.rows();
    rows.map(|tokens| definition.forward(tokens)).collect()
}

/// An array of the definition, of all samples.
fn every(samples: &[Values], array: Array) -> Vec<f64> {
    if array == Array::Embeddings {
        return samples
            .iter()
            .flat_map(|own| own.embeddings.clone())
            .collect();
    }
    let blocks = samples.iter().flat_map(|own| &own.blocks);
    let own = blocks.filter_map(|block| block.get(array.name()));
    own.flatten().copied().collect()
}

fn two_blocks() -> Problem {
    let model = ModelConfig {
        d_ff: 10,
        layer_norm_eps: 1e-3,
        ..ModelConfig::new(12, 3, 2)
    };
    problem(model, inputs(9, 6), 11)
}

/// Where a parameter begins.
fn start(problem: &Problem, name: &str) -> usize {
    let layout = problem.model.layout(problem.inputs).into_iter();
    let before = layout.take_while(|layout| layout.name != name);
    before.map(|layout| layout.size()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn it_predicts_what_the_model_does(problem in prop_oneof![any_notebook(), any_model()]) {
        let (all, expected) = (traced(&problem, &[]).predictions, problem.predictions());
        let apart = |ours: &[f32], others: &[f32]| {
            apart(&counted(&problem, ours), &counted(&problem, others))
        };
        let largest = expected.logits.iter().fold(1.0_f32, |most, z| most.max(z.abs()));
        prop_assert!(apart(&all.logits, &expected.logits) < 1e-4 * largest);
        prop_assert!(apart(&all.probabilities, &expected.probabilities) < 1e-4 * largest);
        prop_assert!(apart(&all.losses, &expected.losses) < 1e-4 * largest);
        if problem.model.readout(problem.inputs) != Readout::Every {
            prop_assert!(apart(&all.attention, &expected.attention) < 1e-5 * largest);
        }
    }

    #[test]
    fn passes_that_share_memory_are_the_same(problem in prop_oneof![any_notebook(), any_model()]) {
        let mut tracer = Tracer::new(&problem.architecture());
        let (samples, chosen) = (problem.samples(), problem.all());
        let mut pass = |weights: &[f32], interventions: &[Intervention], recorded| {
            let forward = tracer.forward(weights, samples, &chosen, interventions, recorded);
            forward.unwrap()
        };
        let whole = traced(&problem, &[]);
        let others: Vec<f32> = problem.weights.iter().map(|weight| 0.5 - weight).collect();
        let without = [Intervention::MaskKey { layer: 0, position: 0 }];
        pass(&others, &without, Recording::All);
        prop_assert_eq!(&pass(&problem.weights, &[], Recording::All), &whole);
        let mut attention = ForwardValues { mask: Vec::new(), ..whole.clone() };
        for array in Array::ALL.into_iter().filter(|array| !array.is_of_pairs()) {
            attention.arrays[array].clear();
        }
        prop_assert_eq!(pass(&problem.weights, &[], Recording::Attention), attention);
        let removed = traced(&problem, &without).arrays;
        let ours = pass(&problem.weights, &without, Recording::Attention).arrays;
        prop_assert_eq!(&ours[Array::Weights], &removed[Array::Weights]);
    }

    #[test]
    fn every_array_is_the_definitions(problem in any_model()) {
        let all = traced(&problem, &[]);
        // A norm of two nearly equal numbers makes much of a rounding error in them.
        let rounded = |weight: &f32| if weight.to_bits().is_multiple_of(2) { weight.next_up() } else { *weight };
        let rounded = problem.weights.iter().map(rounded).collect();
        let rounded = values(&Problem { weights: rounded, ..problem.clone() });
        let samples = values(&problem);
        for array in Array::ALL {
            let ours = &all.arrays[array];
            let (exact, rounded) = (every(&samples, array), every(&rounded, array));
            let size = array.shape(all.dims).iter().product();
            prop_assert_eq!(ours.len(), if array.exists(all.dims) { size } else { 0 }, "{}", array.name());
            prop_assert_eq!(ours.len(), exact.len(), "{}", array.name());
            let largest = exact.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            for ((&ours, exact), rounded) in ours.iter().zip(exact).zip(rounded) {
                let bound = 1e-4 * largest + 20.0 * (rounded - exact).abs();
                let is_close = (f64::from(ours) - exact).abs() < bound;
                prop_assert!(is_close, "{}: {} {}", array.name(), ours, exact);
            }
        }
        let attention = &problem.model.attention;
        for (index, &may) in all.mask.iter().enumerate() {
            let p = problem.inputs.positions;
            let (query, key) = (index / p % p, index % p);
            let token = problem.tokens[index / (p * p) * p + key];
            let expected = attention.mask.allows(query, key) && Some(token) != attention.padding_token;
            prop_assert_eq!(may, expected);
        }
    }
}

/// A row with a NaN score has NaN weights in both kernels. A row in which the query may look at no key is 0.
#[test]
fn scores_that_are_not_finite_make_weights_that_are_no_numbers() {
    let notebook = problem(ModelConfig::new(8, 1, 1), inputs(51, 7), 3);
    let cases = [(f32::NAN, 1.0), (1e30, -1e30), (1e30, 1e30)];
    for ((query, key), training) in cases.into_iter().flat_map(|case| [(case, 0), (case, 2)]) {
        let mut problem = notebook.clone();
        problem.training = trainings()[training];
        for (name, value, count) in [("query.bias", query, 8), ("key.weight", key, 64)] {
            let place = start(&problem, &format!("blocks.0.attention.{name}"));
            problem.weights[place..place + count].fill(value);
        }
        let found = problem.predictions();
        let mut values = found.attention.iter().chain(&found.logits);
        assert!(
            values.all(|value| value.is_nan()),
            "{training}: {query}, {key}"
        );
        // The same scores where queries may look at some keys, or at none.
        for may in [true, false] {
            let row = [0, 1, 2, 3, 4, 5, 6].map(|key| may && key != 1);
            problem.model.attention.mask = Mask::Matrix(vec![row.to_vec(); 7]);
            let weights = &traced(&problem, &[]).arrays[Array::Weights];
            for row in weights.chunks(7) {
                let is_nan = [0, 2, 3, 4, 5, 6].map(|key| row[key].is_nan());
                assert_eq!(is_nan, [may; 6], "{row:?}");
            }
        }
    }
}

#[test]
fn without_a_head_its_rows_of_the_output_projection_do_nothing() {
    let problem = two_blocks();
    let mut changed = problem.clone();
    let output = start(&problem, "blocks.1.attention.output.weight");
    let rows = 4 * 12;
    changed.weights[output + rows..][..rows].fill(0.0);
    let ours = traced(&problem, &[Intervention::AblateHead { layer: 1, head: 1 }]);
    assert!(apart(&ours.predictions.logits, &logits(&changed)) < 1e-5);
    assert!(apart(&ours.predictions.logits, &logits(&problem)) > 1e-3);
}

#[test]
fn without_a_block_the_others_remain() {
    let problem = two_blocks();
    for layer in 0..2 {
        let mut changed = problem.clone();
        let [first, second, end] = ["blocks.0.", "blocks.1.", "classifier."].map(|part| {
            let layout = problem.model.layout(problem.inputs).into_iter();
            let name = layout
                .map(|layout| layout.name)
                .find(|name| name.starts_with(part));
            start(&problem, &name.unwrap())
        });
        changed
            .weights
            .drain([first..second, second..end][layer].clone());
        changed.model.n_layers = 1;
        let ours = traced(&problem, &[Intervention::AblateLayer { layer }]);
        assert!(apart(&ours.predictions.logits, &logits(&changed)) < 1e-5);
    }
}

#[test]
fn without_a_key_no_query_looks_there() {
    let problem = two_blocks();
    let mut changed = problem.clone();
    changed.model.attention.mask = Mask::Matrix(vec![(0..6).map(|key| key != 4).collect(); 6]);
    let key = |layer| Intervention::MaskKey { layer, position: 4 };
    let ours = traced(&problem, &[key(0), key(1)]);
    assert!(apart(&ours.predictions.logits, &logits(&changed)) < 1e-5);
    assert!(ours.mask.is_empty(), "the architecture has no mask");
    // In one block only: the other looks there.
    let once = traced(&problem, &[key(0)]);
    assert!(
        once.arrays[Array::Weights]
            .chunks_exact(6)
            .enumerate()
            .all(|(row, weights)| {
                let layer = row / 18 % 2;
                (weights[4] == 0.0) == (layer == 0)
            })
    );
}

#[test]
fn given_weights_take_the_place_of_a_query_s_own() {
    let problem = two_blocks();
    let mut weights = vec![0.0; 6];
    weights[2] = 1.0;
    let set = Intervention::SetAttention {
        layer: 0,
        head: 2,
        query: 3,
        weights: weights.clone(),
    };
    let (ours, plain) = (traced(&problem, &[set]), traced(&problem, &[]));
    for sample in 0..problem.labels.len() {
        let head = sample * 6 + 2; // Of the first block.
        assert_eq!(
            ours.arrays[Array::Weights][(head * 6 + 3) * 6..][..6],
            weights
        );
        assert_eq!(
            ours.arrays[Array::Context][(head * 6 + 3) * 4..][..4],
            ours.arrays[Array::Value][(head * 6 + 2) * 4..][..4]
        );
    }
    assert_eq!(
        ours.arrays[Array::Query][..72],
        plain.arrays[Array::Query][..72],
        "the values before it stay"
    );
    assert_ne!(ours.predictions.logits, plain.predictions.logits);
    // With its own weights nothing changes.
    let first = Problem {
        tokens: problem.tokens[..6].to_vec(),
        labels: problem.labels[..1].to_vec(),
        ..problem
    };
    let plain = traced(&first, &[]);
    let own = plain.arrays[Array::Weights][6 * 6 + 12..][..6].to_vec();
    let set = Intervention::SetAttention {
        layer: 0,
        head: 1,
        query: 2,
        weights: own,
    };
    assert_eq!(traced(&first, &[set]), plain);
}

#[test]
fn vectors_of_another_sample_make_its_decision() {
    let problem = two_blocks();
    let plain = traced(&problem, &[]);
    let vector = |values: &[f32], row: usize| values[row * 12..][..12].to_vec();
    let other = 7;
    let replace = |site, position, vector| Intervention::Patch {
        site,
        position,
        vector,
    };
    let logit = plain.predictions.logits[other];
    // All of its input; or what the classifier reads.
    let input: Vec<_> = (0..6)
        .map(|at| {
            replace(
                PatchSite::Embeddings,
                at,
                vector(&plain.arrays[Array::Embeddings], other * 6 + at),
            )
        })
        .collect();
    let last = (other * 2 + 1) * 6;
    let output = [replace(
        PatchSite::Output(1),
        0,
        vector(&plain.arrays[Array::Output], last),
    )];
    let residual = [replace(
        PatchSite::Residual(1),
        0,
        vector(&plain.arrays[Array::Residual], last),
    )];
    for interventions in [&input[..], &output, &residual] {
        let ours = traced(&problem, interventions);
        assert!(
            ours.predictions.logits.iter().all(|&ours| ours == logit),
            "{interventions:?}"
        );
    }
    // The context of all positions, but the own residual stream: something between.
    let context: Vec<f32> = (0..3)
        .flat_map(|head| {
            plain.arrays[Array::Context][((other * 2 + 1) * 3 + head) * 24..][..4].to_vec()
        })
        .collect();
    let ours = traced(&problem, &[replace(PatchSite::Context(1), 0, context)]);
    assert_eq!(ours.predictions.logits[other], logit);
    assert_ne!(ours.predictions.logits, plain.predictions.logits);
}

#[test]
fn each_sample_may_have_a_vector_of_its_own() {
    let problem = two_blocks();
    let plain = traced(&problem, &[]);
    let count = plain.dims.samples;
    // What each sample's neighbour has, in more than one pass.
    let of_neighbour = |array: Array, each: usize, at: usize, length: usize| -> Vec<f32> {
        let sample = |sample: usize| (sample + 1) % count * each + at;
        let own = (0..count).map(|own| &plain.arrays[array][sample(own)..][..length]);
        own.collect::<Vec<_>>().concat()
    };
    assert!(count > 8);
    let replaced = traced(
        &problem,
        &[Intervention::Patch {
            site: PatchSite::Output(1),
            position: 0,
            vector: of_neighbour(Array::Output, 144, 72, 12),
        }],
    );
    for sample in 0..count {
        let theirs = plain.predictions.logits[(sample + 1) % count];
        assert_eq!(replaced.predictions.logits[sample], theirs);
    }
    // All heads one by one are the context of all of them.
    let heads = [0, 1, 2].map(|head| Intervention::Patch {
        site: PatchSite::Head(1, head),
        position: 2,
        vector: of_neighbour(Array::Context, 144, 72 + head * 24 + 8, 4),
    });
    let context: Vec<f32> = (0..count)
        .flat_map(|sample| {
            [0, 1, 2].map(|head| {
                let at = (sample + 1) % count * 144 + 72 + head * 24 + 8;
                plain.arrays[Array::Context][at..at + 4].to_vec()
            })
        })
        .collect::<Vec<_>>()
        .concat();
    let whole = Intervention::Patch {
        site: PatchSite::Context(1),
        position: 2,
        vector: context,
    };
    let ours = traced(&problem, &heads);
    assert_eq!(ours, traced(&problem, &[whole]));
    assert_ne!(ours, plain);
}

#[test]
fn what_cannot_be_is_refused() {
    let problem = two_blocks();
    let refused = |intervention: Intervention, expected: &str| {
        let result = computed(&problem, &[0], &[intervention]);
        assert_eq!(result, Err(expected.to_owned()));
    };
    let (block, head, position) = (
        "there is no layer 2; layers go from 0 to 1",
        "there is no head 3; heads go from 0 to 2",
        "there is no position 6; positions go from 0 to 5",
    );
    let short = |given, needed| format!("{given} numbers were given; {needed} are needed here");
    refused(Intervention::AblateHead { layer: 2, head: 0 }, block);
    refused(Intervention::AblateHead { layer: 0, head: 3 }, head);
    let key = |layer, position| Intervention::MaskKey { layer, position };
    refused(key(2, 0), block);
    refused(key(0, 6), position);
    refused(Intervention::AblateLayer { layer: 2 }, block);
    let set = |layer, head, query, count| Intervention::SetAttention {
        layer,
        head,
        query,
        weights: vec![0.0; count],
    };
    refused(set(2, 0, 0, 6), block);
    refused(set(0, 3, 0, 6), head);
    refused(set(0, 0, 6, 6), position);
    refused(set(0, 0, 0, 5), &short(5, 6));
    let replace = |site, position, count| Intervention::Patch {
        site,
        position,
        vector: vec![0.0; count],
    };
    refused(replace(PatchSite::Embeddings, 6, 12), position);
    refused(replace(PatchSite::Embeddings, 0, 11), &short(11, 12));
    refused(replace(PatchSite::Embeddings, 0, 24), &short(24, 12));
    refused(replace(PatchSite::Head(1, 2), 0, 12), &short(12, 4));
    refused(replace(PatchSite::Head(1, 3), 0, 4), head);
    for place in [
        PatchSite::Context(2),
        PatchSite::Residual(2),
        PatchSite::Output(2),
    ] {
        refused(replace(place, 0, 12), block);
    }
}

/// The sum of the attributions is the difference of the logits, and a position that differs from the baseline in
/// nothing adds nothing.
#[test]
fn integrated_gradients_sum_to_the_difference() {
    let problem = two_blocks();
    let plain = traced(&problem, &[]);
    let (architecture, weights) = (problem.architecture(), &problem.weights);
    let attribute = |baseline: &[f32]| {
        let samples = problem.samples();
        integrated_gradients(&architecture, weights, samples, 3, &[1.0], Some(baseline))
    };
    let logit = |sample: usize| f64::from(plain.predictions.logits[sample]);
    // From another sample's input.
    let attribution = attribute(&plain.arrays[Array::Embeddings][5 * 72..6 * 72]);
    assert!((attribution.logits[0] - logit(3)).abs() < 1e-5);
    assert!((attribution.logits[1] - logit(5)).abs() < 1e-5);
    assert!(
        attribution.error() < 1e-4,
        "{} after {}",
        attribution.error(),
        attribution.points
    );
    assert!(
        attribution.values[..12].iter().all(|&value| value == 0.0),
        "both have [CLS] there"
    );
    assert!(
        attribution.values[12..]
            .iter()
            .any(|value| value.abs() > 1e-3)
    );
    // From zeros.
    let from_zeros =
        integrated_gradients(&architecture, weights, problem.samples(), 3, &[1.0], None);
    assert!(from_zeros.error() < 1e-4);
    // A small epsilon makes the norm turn within a thousandth of the path; the kinks are those of rectifiers.
    let mut sharp = problem.clone();
    sharp.model.layer_norm_eps = 1e-6;
    let sharp = sharp.architecture();
    let large: Vec<f32> = weights.iter().map(|weight| 3.0 * weight).collect();
    for sample in 0..4 {
        let found = integrated_gradients(&sharp, &large, problem.samples(), sample, &[1.0], None);
        let scale = found.logits[0].abs().max(1.0);
        assert!(found.error() < 2e-4 * scale, "{}", found.error());
        assert!(found.points <= 4096, "{}", found.points);
    }
    // Of a linear path, the attributions are the gradient: numerically, at a baseline nearby.
    let own = &plain.arrays[Array::Embeddings][3 * 72..4 * 72];
    let mut near = own.to_vec();
    near[30] -= 1e-2;
    let moved = traced_from(&problem, 3, &near);
    let slope = attribute(&near).values[30];
    assert!((slope - (logit(3) - moved)).abs() < 1e-5, "{slope}");
}

/// The logit of a sample whose input is replaced.
fn traced_from(problem: &Problem, sample: usize, input: &[f32]) -> f64 {
    let vectors = input.chunks_exact(problem.model.d_model).enumerate();
    let replace = vectors.map(|(position, vector)| Intervention::Patch {
        site: PatchSite::Embeddings,
        position,
        vector: vector.to_vec(),
    });
    let replace: Vec<_> = replace.collect();
    f64::from(traced(problem, &replace).predictions.logits[sample])
}
