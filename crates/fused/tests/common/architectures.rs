//! Architectures to draw from.

use headlight_fused::{
    Activation, Architecture, Biases, NormPlace, Norms, PositionEmbedding, Projections, Reads,
    Weighting,
};
use proptest::prelude::*;

use super::spread;

/// The notebook's architecture.
pub fn notebook() -> Architecture {
    Architecture {
        vocab_size: 51,
        positions: 7,
        d_model: 8,
        ..Architecture::default()
    }
}

/// The notebook's kind of model, which has a step of its own.
pub fn one_block() -> impl Strategy<Value = Architecture> {
    let widths = prop_oneof![Just(8), Just(16)];
    (widths, 2_usize..20, 1_usize..9).prop_map(|(d_model, vocab_size, positions)| Architecture {
        vocab_size,
        positions,
        d_model,
        ..Architecture::default()
    })
}

/// Any architecture of the first kinds: norms after each addition, rectifiers, all biases. A norm with a larger epsilon
/// keeps numerical slopes of several blocks exact.
pub fn plain_architecture() -> impl Strategy<Value = Architecture> {
    let sizes = (3_usize..12, 2_usize..9, 1_usize..5, 1_usize..6, 1_usize..4);
    let switches = (
        prop_oneof![Just(0_usize), Just(3), Just(8), Just(17)],
        2_usize..6,
        prop_oneof![
            Just(PositionEmbedding::Learned),
            Just(PositionEmbedding::None)
        ],
        prop_oneof![
            Just(Projections::Separate),
            Just(Projections::Shared),
            Just(Projections::None)
        ],
        prop_oneof![Just(None), Just(Some(1.0_f32)), Just(Some(0.3))],
    );
    let limits = (
        prop::option::of(prop::collection::vec(prop::bool::weighted(0.7), 81)),
        prop::option::of(Just(1_u32)),
        any::<bool>(),
    );
    (sizes, switches, limits).prop_map(|(sizes, switches, limits)| {
        let (vocab_size, positions, n_heads, d_head, n_layers) = sizes;
        let (d_ff, n_classes, position_embedding, projections, scale) = switches;
        let (mask, padding_token, cls_is_last) = limits;
        Architecture {
            vocab_size,
            positions,
            read_position: if cls_is_last { positions - 1 } else { 0 },
            d_model: n_heads * d_head,
            n_heads,
            n_layers,
            d_ff,
            n_classes,
            position_embedding,
            projections,
            scale,
            norms: Norms {
                eps: 1e-3,
                ..Norms::default()
            },
            mask: mask.map(|mask| mask[..positions * positions].to_vec()),
            padding_token,
            ..Architecture::default()
        }
    })
}

/// Any architecture.
pub fn any_architecture() -> impl Strategy<Value = Architecture> {
    let norms = (
        prop_oneof![
            Just(NormPlace::Post),
            Just(NormPlace::Pre),
            Just(NormPlace::None)
        ],
        any::<[bool; 5]>(),
    );
    let weighting = prop_oneof![
        2 => Just(Weighting::Softmax),
        1 => prop_oneof![Just(0.0_f32), Just(0.4), Just(0.9)].prop_map(Weighting::Mixed),
        1 => Just(Weighting::Scores),
    ];
    let activation = prop_oneof![
        Just(Activation::Relu),
        Just(Activation::Gelu),
        Just(Activation::GeluTanh),
        Just(Activation::Silu)
    ];
    let parts = (
        any::<[bool; 4]>(),
        any::<[bool; 5]>(),
        prop::option::of(1_usize..6),
    );
    let classifier = (
        prop_oneof![2 => Just(0_usize), 1 => Just(5), 1 => Just(9)],
        any::<[bool; 2]>(),
        prop_oneof![Just(Reads::Position), Just(Reads::Mean), Just(Reads::Every)],
    );
    let positions = 0_usize..6;
    (
        plain_architecture(),
        norms,
        weighting,
        activation,
        parts,
        classifier,
        positions,
    )
        .prop_map(
            |(plain, norms, weighting, activation, parts, classifier, positions)| {
                let (place, [is_rms, gain, bias, is_last, is_first]) = norms;
                let ([attention, output, feed_forward, of_classifier], switches, d_head) = parts;
                let [has_values, has_output, log_length, has_own_width, is_tied] = switches;
                let (classifier_hidden, [logit_per_class, keeps_whole], reads) = classifier;
                let mut all = Architecture {
                    norms: Norms {
                        place,
                        is_rms,
                        gain,
                        bias,
                        is_last,
                        is_first,
                        eps: 1e-3,
                    },
                    weighting,
                    activation,
                    biases: Biases {
                        attention,
                        output,
                        feed_forward,
                        classifier: of_classifier,
                    },
                    log_length,
                    reads,
                    classifier_hidden,
                    logit_per_class,
                    ..plain
                };
                // Without norms, values grow from block to block, and weights that do not sum to 1 add to that.
                if place == NormPlace::None {
                    let most = if all.weighting == Weighting::Softmax {
                        2
                    } else {
                        1
                    };
                    all.n_layers = all.n_layers.min(most);
                }
                if all.projections != Projections::None && has_own_width {
                    all.d_head = d_head;
                }
                let is_whole = keeps_whole || all.d_head.is_some();
                all.value_projection =
                    is_whole || has_values || all.projections != Projections::Separate;
                all.output_projection = is_whole || has_output;
                if is_tied && all.vocab_size > 2 {
                    (all.tied_embeddings, all.classifier_hidden) = (true, 0);
                    all.n_classes = all.vocab_size;
                }
                let (p, d, width) = (all.positions, all.d_model, all.d_head());
                let table = |count: usize| {
                    (0..count)
                        .map(|i| spread(5 * i) - 0.5)
                        .collect::<Vec<f32>>()
                };
                match positions {
                    0 => all.position_embedding = PositionEmbedding::Shared(p.div_ceil(2)),
                    1 => all.position_embedding = PositionEmbedding::Fixed(table(p * d)),
                    2 | 3 if width.is_multiple_of(2) => {
                        let angles = (0..p * (width / 2)).map(|i| 7.0 * spread(3 * i));
                        let angles: Vec<f32> = angles.collect();
                        all.rotation = Some([
                            angles.iter().map(|angle| angle.cos()).collect(),
                            angles.iter().map(|angle| angle.sin()).collect(),
                        ]);
                    }
                    _ => {}
                }
                all
            },
        )
}
