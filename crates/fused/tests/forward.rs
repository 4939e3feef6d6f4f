//! The forward pass with everything that it computes, and interventions on it, beside models that are changed
//! in the same way.
//!
//! One file, because all its tests compare with the same plain forward pass.
#![allow(clippy::unwrap_used, clippy::float_cmp)]

mod common;

use common::{Problem, adam, any_architecture, drawn, one_block, plain_architecture, problem};
use headlight_fused::{
    Architecture, Array, Forward, IGNORED, Intervention, InvalidForward, InvalidIntervention,
    Model, Norms, Place, Predictions, Projections, Reads, Recorded, Tracer, forward,
    integrated_gradients,
};
use proptest::prelude::*;

fn traced(problem: &Problem, interventions: &[Intervention]) -> Forward {
    let Problem {
        architecture,
        weights,
        ..
    } = problem;
    forward(
        architecture,
        weights,
        problem.samples(),
        &problem.all(),
        interventions,
    )
    .unwrap()
}

fn predicted(problem: &Problem) -> Predictions {
    let mut model = Model::new(problem.architecture.clone(), adam(), &problem.weights).unwrap();
    let mut predictions = Predictions::default();
    model.predict(problem.samples(), &problem.all(), &mut predictions);
    predictions
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

fn two_blocks() -> Problem {
    problem(
        Architecture {
            vocab_size: 9,
            positions: 6,
            d_model: 12,
            n_heads: 3,
            n_layers: 2,
            d_ff: 10,
            norms: Norms {
                eps: 1e-3,
                ..Norms::default()
            },
            ..Architecture::default()
        },
        11,
    )
}

/// The numbers of a parameter, by its place among those of a block: a matrix and a bias of each of six
/// projections, and two norms.
fn block_len(a: &Architecture) -> usize {
    let linear = |inputs: usize, outputs: usize| (inputs + 1) * outputs;
    4 * linear(a.d_model, a.d_model)
        + linear(a.d_model, a.d_ff)
        + linear(a.d_ff, a.d_model)
        + 4 * a.d_model
}

fn first_block(a: &Architecture) -> usize {
    (a.vocab_size + a.positions) * a.d_model
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn it_predicts_what_the_model_does(problem in drawn(prop_oneof![one_block(), any_architecture()])) {
        let a = &problem.architecture;
        prop_assume!(a.d_model >= 3 || a.norms.eps > 1e-4); // A norm of two numbers is close to a sign.
        let (all, expected) = (traced(&problem, &[]), predicted(&problem));
        let (all, apart) = (&all.predictions, |ours: &[f32], others: &[f32]| {
            apart(&counted(&problem, ours), &counted(&problem, others))
        });
        prop_assert!(apart(&all.logits, &expected.logits) < 1e-4);
        prop_assert!(apart(&all.probabilities, &expected.probabilities) < 1e-4);
        prop_assert!(apart(&all.losses, &expected.losses) < 1e-4);
        if a.reads != Reads::Every {
            prop_assert!(apart(&all.attention, &expected.attention) < 1e-5);
        }
    }

    /// Each array follows from those before it, in double precision.
    #[test]
    fn passes_that_share_memory_are_the_same(problem in drawn(prop_oneof![one_block(), any_architecture()])) {
        let mut tracer = Tracer::new(&problem.architecture).unwrap();
        let (samples, chosen) = (problem.samples(), problem.all());
        let mut pass = |weights: &[f32], interventions: &[Intervention], recorded| {
            let forward = tracer.forward(weights, samples, &chosen, interventions, recorded);
            forward.unwrap()
        };
        let whole = traced(&problem, &[]);
        let others: Vec<f32> = problem.weights.iter().map(|weight| 0.5 - weight).collect();
        let without = [Intervention::RemoveKey { layer: 0, position: 0 }];
        pass(&others, &without, Recorded::All);
        prop_assert_eq!(&pass(&problem.weights, &[], Recorded::All), &whole);
        let mut attention = Forward { mask: Vec::new(), ..whole.clone() };
        for array in Array::ALL.into_iter().filter(|array| !array.is_of_pairs()) {
            attention.arrays[array].clear();
        }
        prop_assert_eq!(pass(&problem.weights, &[], Recorded::Attention), attention);
        let removed = traced(&problem, &without).arrays;
        let ours = pass(&problem.weights, &without, Recorded::Attention).arrays;
        prop_assert_eq!(&ours[Array::Weights], &removed[Array::Weights]);
    }

    #[test]
    fn its_arrays_belong_together(problem in drawn(plain_architecture())) {
        let a = &problem.architecture;
        let all = traced(&problem, &[]);
        let (p, d, d_head) = (a.positions, a.d_model, a.d_head());
        let scale = f64::from(a.scale());
        let rows = p * d_head;
        for (index, scores) in all.arrays[Array::Scores].chunks_exact(p * p).enumerate() {
            let sample = index / (a.n_layers * a.n_heads);
            let of_head = |values: &[f32]| values[index * rows..][..rows].to_vec();
            let [query, key, value, context] = [Array::Query, Array::Key, Array::Value, Array::Context].map(|array| of_head(&all.arrays[array]));
            for q in 0..p {
                let mut weights = vec![0.0; p];
                for k in 0..p {
                    let products = (0..d_head).map(|e| f64::from(query[q * d_head + e]) * f64::from(key[k * d_head + e]));
                    let score = scale * products.sum::<f64>();
                    prop_assert!((f64::from(scores[q * p + k]) - score).abs() < 1e-4 * (1.0 + score.abs()));
                    let may = all.mask.is_empty() || all.mask[(sample * p + q) * p + k];
                    let by_hand = a.mask.as_ref().is_none_or(|mask| mask[q * p + k])
                        && a.padding_token != Some(problem.tokens[sample * p + k]);
                    prop_assert_eq!(may, by_hand);
                    weights[k] = if may { score.exp() } else { 0.0 };
                }
                let sum: f64 = weights.iter().sum();
                let row = &all.arrays[Array::Weights][(index * p + q) * p..][..p];
                for k in 0..p {
                    let weight = if sum > 0.0 { weights[k] / sum } else { 0.0 };
                    prop_assert!((f64::from(row[k]) - weight).abs() < 1e-5);
                }
                for e in 0..d_head {
                    let mixed: f64 = (0..p).map(|k| f64::from(row[k]) * f64::from(value[k * d_head + e])).sum();
                    prop_assert!((f64::from(context[q * d_head + e]) - mixed).abs() < 1e-5 * (1.0 + mixed.abs()));
                }
            }
        }
        for array in Array::ALL {
            let expected = if array.exists(all.dims) { array.shape(all.dims).iter().product() } else { 0 };
            prop_assert_eq!(all.arrays[array].len(), expected, "{}", array.name());
        }
        // The last block's output decides.
        prop_assert!(all.arrays[Array::FeedForwardHidden].iter().all(|&value| value >= 0.0));
        let count = a.n_logits();
        let classifier = problem.weights.len() - (d + 1) * count;
        for sample in 0..problem.labels.len() {
            let output = &all.arrays[Array::Output][(((sample + 1) * a.n_layers - 1) * p + a.read_position) * d..][..d];
            for k in 0..count {
                let weight = |i: usize| f64::from(problem.weights[classifier + i * count + k]);
                let logit = (0..d).map(|i| weight(i) * f64::from(output[i])).sum::<f64>() + weight(d);
                let ours = f64::from(all.predictions.logits[sample * count + k]);
                prop_assert!((ours - logit).abs() < 1e-5 * (1.0 + logit.abs()), "{ours} {logit}");
            }
        }
    }
}

#[test]
fn without_a_head_its_rows_of_the_output_projection_do_nothing() {
    let problem = two_blocks();
    let a = &problem.architecture;
    let mut changed = problem.clone();
    let output = first_block(a) + block_len(a) + 3 * (a.d_model + 1) * a.d_model;
    let rows = a.d_head() * a.d_model;
    changed.weights[output + rows..][..rows].fill(0.0);
    let ours = traced(&problem, &[Intervention::RemoveHead { layer: 1, head: 1 }]);
    assert!(apart(&ours.predictions.logits, &predicted(&changed).logits) < 1e-5);
    assert!(apart(&ours.predictions.logits, &predicted(&problem).logits) > 1e-3);
}

#[test]
fn without_a_block_the_others_remain() {
    let problem = two_blocks();
    for layer in 0..2 {
        let mut changed = problem.clone();
        let len = block_len(&problem.architecture);
        let first = first_block(&problem.architecture) + layer * len;
        changed.weights.drain(first..first + len);
        changed.architecture.n_layers = 1;
        let ours = traced(&problem, &[Intervention::RemoveBlock { layer }]);
        assert!(apart(&ours.predictions.logits, &predicted(&changed).logits) < 1e-5);
    }
}

#[test]
fn without_a_key_no_query_looks_there() {
    let problem = two_blocks();
    let mut changed = problem.clone();
    changed.architecture.mask = Some((0..36).map(|i| i % 6 != 4).collect());
    let key = |layer| Intervention::RemoveKey { layer, position: 4 };
    let ours = traced(&problem, &[key(0), key(1)]);
    assert!(apart(&ours.predictions.logits, &predicted(&changed).logits) < 1e-5);
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
    let set = Intervention::SetWeights {
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
    let set = Intervention::SetWeights {
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
    let replace = |place, position, vector| Intervention::Replace {
        place,
        position,
        vector,
    };
    let logit = plain.predictions.logits[other];
    // All of its input; or what the classifier reads.
    let input: Vec<_> = (0..6)
        .map(|at| {
            replace(
                Place::Embeddings,
                at,
                vector(&plain.arrays[Array::Embeddings], other * 6 + at),
            )
        })
        .collect();
    let last = (other * 2 + 1) * 6;
    let output = [replace(
        Place::Output(1),
        0,
        vector(&plain.arrays[Array::Output], last),
    )];
    let residual = [replace(
        Place::Residual(1),
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
    let ours = traced(&problem, &[replace(Place::Context(1), 0, context)]);
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
        &[Intervention::Replace {
            place: Place::Output(1),
            position: 0,
            vector: of_neighbour(Array::Output, 144, 72, 12),
        }],
    );
    for sample in 0..count {
        let theirs = plain.predictions.logits[(sample + 1) % count];
        assert_eq!(replaced.predictions.logits[sample], theirs);
    }
    // All heads one by one are the context of all of them.
    let heads = [0, 1, 2].map(|head| Intervention::Replace {
        place: Place::Head(1, head),
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
    let whole = Intervention::Replace {
        place: Place::Context(1),
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
    let refused = |intervention: Intervention, expected: InvalidIntervention| {
        let Problem {
            architecture,
            weights,
            ..
        } = &problem;
        let samples = problem.samples();
        let result = forward(architecture, weights, samples, &[0], &[intervention]);
        assert_eq!(result, Err(InvalidForward::Intervention(expected)));
    };
    let missing = |part, index, count| InvalidIntervention::Missing { part, index, count };
    let (block, head, position) = (
        missing("block", 2, 2),
        missing("head", 3, 3),
        missing("position", 6, 6),
    );
    let short = |given, needed| InvalidIntervention::Length { given, needed };
    refused(Intervention::RemoveHead { layer: 2, head: 0 }, block);
    refused(Intervention::RemoveHead { layer: 0, head: 3 }, head);
    let key = |layer, position| Intervention::RemoveKey { layer, position };
    refused(key(2, 0), block);
    refused(key(0, 6), position);
    refused(Intervention::RemoveBlock { layer: 2 }, block);
    let set = |layer, head, query, count| Intervention::SetWeights {
        layer,
        head,
        query,
        weights: vec![0.0; count],
    };
    refused(set(2, 0, 0, 6), block);
    refused(set(0, 3, 0, 6), head);
    refused(set(0, 0, 6, 6), position);
    refused(set(0, 0, 0, 5), short(5, 6));
    let replace = |place, position, count| Intervention::Replace {
        place,
        position,
        vector: vec![0.0; count],
    };
    refused(replace(Place::Embeddings, 6, 12), position);
    refused(replace(Place::Embeddings, 0, 11), short(11, 12));
    refused(replace(Place::Embeddings, 0, 24), short(24, 12));
    refused(replace(Place::Head(1, 2), 0, 12), short(12, 4));
    refused(replace(Place::Head(1, 3), 0, 4), head);
    for place in [Place::Context(2), Place::Residual(2), Place::Output(2)] {
        refused(replace(place, 0, 12), block);
    }
    let architecture = Architecture {
        n_heads: 5,
        projections: Projections::Shared,
        ..problem.architecture.clone()
    };
    let result = forward(
        &architecture,
        &problem.weights,
        problem.samples(),
        &[0],
        &[],
    );
    assert!(result.unwrap_err().to_string().contains("n_heads"));
}

/// The sum of the attributions is the difference of the logits, and a position that differs from the baseline in
/// nothing adds nothing.
#[test]
fn integrated_gradients_sum_to_the_difference() {
    let problem = two_blocks();
    let plain = traced(&problem, &[]);
    let Problem {
        architecture,
        weights,
        ..
    } = &problem;
    let attribute = |baseline: &[f32]| {
        integrated_gradients(architecture, weights, problem.samples(), 3, 0, baseline).unwrap()
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
    assert!(attribute(&[0.0; 72]).error() < 1e-4);
    // A small epsilon makes the norm turn within a thousandth of the path; the kinks are those of rectifiers.
    let sharp = Architecture {
        norms: Norms {
            eps: 1e-6,
            ..Norms::default()
        },
        ..architecture.clone()
    };
    let large: Vec<f32> = weights.iter().map(|weight| 3.0 * weight).collect();
    for sample in 0..4 {
        let found =
            integrated_gradients(&sharp, &large, problem.samples(), sample, 0, &[0.0; 72]).unwrap();
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
fn traced_from(problem: &Problem, sample: u32, input: &[f32]) -> f64 {
    let vectors = input
        .chunks_exact(problem.architecture.d_model)
        .map(<[f32]>::to_vec);
    let replace = vectors
        .enumerate()
        .map(|(position, vector)| Intervention::Replace {
            place: Place::Embeddings,
            position,
            vector,
        });
    let interventions: Vec<_> = replace.collect();
    let Problem {
        architecture,
        weights,
        ..
    } = problem;
    let all = forward(
        architecture,
        weights,
        problem.samples(),
        &[sample],
        &interventions,
    )
    .unwrap();
    f64::from(all.predictions.logits[0])
}

/// Hidden layers are recorded where there are any.
#[test]
fn arrays_of_feed_forward_layers_exist_with_them() {
    for d_ff in [10, 0] {
        let architecture = Architecture {
            d_ff,
            ..two_blocks().architecture
        };
        let all = traced(&problem(architecture.clone(), 3), &[]).arrays;
        let own: Vec<Array> = Recorded::All.arrays(architecture.dims(3)).collect();
        assert!(own.iter().all(|&array| !all[array].is_empty()));
        assert_eq!(own.contains(&Array::FeedForwardHidden), d_ff > 0);
    }
}
