//! Prints a hash of the weights after 1,500 steps of several architectures, with each instruction set at
//! hand: the same on every machine.
//!
//!     cargo run --release -p headlight-fused --example fingerprint
#![allow(clippy::unwrap_used, clippy::too_many_lines)]

use headlight_fused::{
    Activation, Adam, AdamW, Architecture, Biases, CrossEntropy, Instructions, Model, NormPlace,
    Norms, Optimizer, PositionEmbedding, Projections, Reads, Samples, Sgd, Training, Weighting,
};

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

fn fingerprint(shape: Architecture, training: Training, instructions: Instructions) -> u64 {
    let weights: Vec<f32> = (0..shape.parameter_count())
        .map(|i| 0.6 * (spread(i) - 0.5))
        .collect();
    let token = |i: usize| match i % shape.positions {
        position if position == shape.read_position && !shape.tied_embeddings => 0,
        _ => 1 + (spread(7 * i) * (shape.vocab_size - 1) as f32) as u32,
    };
    let tokens: Vec<u32> = (0..8000 * shape.positions).map(token).collect();
    let third = |sample: usize| tokens[sample * shape.positions + shape.positions / 2];
    let labels: Vec<u32> = (0..8000)
        .map(|sample| u32::from(third(sample) % 7 == 3))
        .collect();
    let samples = Samples {
        tokens: &tokens,
        labels: &labels,
    };
    let mut model = Model::new(shape, training, &weights)
        .unwrap()
        .with_instructions(instructions);
    let order: Vec<u32> = (0..8000).collect();
    for _ in 0..3 {
        for batch in order.chunks(16) {
            model.step(samples, batch);
        }
    }
    // FNV-1a over the bits of all parameters.
    model
        .parameters()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, parameter| {
            (hash ^ u64::from(parameter.to_bits())).wrapping_mul(0x100_0000_01b3)
        })
}

fn main() {
    let sized = |d_model, n_heads| Architecture {
        vocab_size: 51,
        positions: 7,
        d_model,
        n_heads,
        ..Architecture::default()
    };
    let causal = (0..49).map(|i| i % 7 <= i / 7).collect();
    let kinds = [
        ("d_model 8, n_heads 1", sized(8, 1)),
        ("d_model 6, n_heads 2", sized(6, 2)),
        ("d_model 20, n_heads 1", sized(20, 1)),
        (
            "two blocks",
            Architecture {
                n_layers: 2,
                ..sized(16, 2)
            },
        ),
        (
            "feed-forward",
            Architecture {
                d_ff: 20,
                ..sized(6, 3)
            },
        ),
        (
            "shared, causal",
            Architecture {
                read_position: 6,
                n_layers: 2,
                projections: Projections::Shared,
                mask: Some(causal),
                padding_token: Some(1),
                ..sized(10, 2)
            },
        ),
    ];
    let kinds = kinds.map(|(name, shape)| (name, shape, Training::from(Adam::default())));
    for (name, architecture, training) in kinds.into_iter().chain(parts()) {
        let mut hashes = Instructions::ALL
            .into_iter()
            .filter(|instructions| instructions.available())
            .map(|instructions| fingerprint(architecture.clone(), training, instructions));
        let hash = hashes.next().unwrap();
        assert!(hashes.all(|other| other == hash), "instruction sets differ");
        println!("{name}: {hash:016x}");
    }
}

/// Twelve shapes and trainings that use every part of the engine.
fn parts() -> Vec<(&'static str, Architecture, Training)> {
    let sized = |d_model, n_heads| Architecture {
        vocab_size: 17,
        positions: 6,
        d_model,
        n_heads,
        d_ff: 12,
        ..Architecture::default()
    };
    let placed = |place, is_rms| Norms {
        place,
        is_rms,
        is_last: place == NormPlace::Pre,
        ..Norms::default()
    };
    let adam = Training::from(Adam::default());
    let accurate = CrossEntropy {
        is_accurate: true,
        ..CrossEntropy::default()
    };
    let adam_w = |weight_decay| Training {
        optimizer: Optimizer::AdamW(AdamW {
            adam: Adam {
                epsilon: 1e-8,
                ..Adam::default()
            },
            weight_decay,
        }),
        cross_entropy: accurate,
        ..adam
    };
    let sgd = Training {
        optimizer: Optimizer::Sgd(Sgd {
            learning_rate: 0.05,
            momentum: 0.9,
        }),
        max_grad_norm: Some(1.0),
        ..adam
    };
    // Angles whose cosines and sines are rational.
    let rotation = [vec![0.6; 6 * 3], vec![0.8; 6 * 3]];
    let table = (0..6 * 10).map(|i| spread(5 * i) - 0.5).collect();
    let no_biases = Biases {
        attention: false,
        output: false,
        feed_forward: true,
        classifier: false,
    };
    vec![
        (
            "pre-norm, gelu",
            Architecture {
                n_layers: 2,
                norms: placed(NormPlace::Pre, false),
                activation: Activation::Gelu,
                ..sized(8, 2)
            },
            adam_w(0.01),
        ),
        (
            "RMS norm first, no biases",
            Architecture {
                norms: Norms {
                    is_first: true,
                    bias: false,
                    ..placed(NormPlace::Pre, true)
                },
                biases: no_biases,
                ..sized(16, 4)
            },
            adam,
        ),
        (
            "no norm",
            Architecture {
                norms: placed(NormPlace::None, false),
                biases: no_biases,
                ..sized(8, 2)
            },
            adam_w(1.0),
        ),
        (
            "post-norm without gain, gelu-tanh",
            Architecture {
                n_layers: 2,
                norms: Norms {
                    gain: false,
                    bias: false,
                    ..Norms::default()
                },
                activation: Activation::GeluTanh,
                ..sized(10, 1)
            },
            sgd,
        ),
        (
            "rotary, silu",
            Architecture {
                d_head: Some(6),
                position_embedding: PositionEmbedding::None,
                rotation: Some(rotation),
                activation: Activation::Silu,
                n_layers: 2,
                norms: placed(NormPlace::Pre, true),
                ..sized(8, 2)
            },
            adam_w(0.1),
        ),
        (
            "fixed positions, rate 0.4",
            Architecture {
                position_embedding: PositionEmbedding::Fixed(table),
                weighting: Weighting::Mixed(0.4),
                ..sized(10, 2)
            },
            adam,
        ),
        (
            "shared positions, log length",
            Architecture {
                position_embedding: PositionEmbedding::Shared(3),
                log_length: true,
                padding_token: Some(1),
                ..sized(8, 1)
            },
            adam_w(0.01),
        ),
        (
            "scores as weights",
            Architecture {
                weighting: Weighting::Scores,
                norms: placed(NormPlace::None, false),
                ..sized(8, 2)
            },
            Training {
                max_grad_norm: Some(0.5),
                ..adam_w(0.0)
            },
        ),
        (
            "mean, hidden classifier",
            Architecture {
                reads: Reads::Mean,
                classifier_hidden: 9,
                n_classes: 4,
                padding_token: Some(1),
                ..sized(8, 2)
            },
            Training {
                cross_entropy: CrossEntropy {
                    smoothing: 0.1,
                    ..accurate
                },
                ..adam
            },
        ),
        (
            "identity values and output",
            Architecture {
                value_projection: false,
                output_projection: false,
                ..sized(9, 3)
            },
            adam,
        ),
        (
            "tied embeddings",
            Architecture {
                tied_embeddings: true,
                n_classes: 17,
                read_position: 5,
                ..sized(8, 2)
            },
            adam_w(0.01),
        ),
        (
            "a logit per class, wide heads",
            Architecture {
                logit_per_class: true,
                d_head: Some(11),
                n_layers: 3,
                ..sized(6, 2)
            },
            sgd,
        ),
    ]
}
