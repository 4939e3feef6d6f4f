//! Prints a hash of the weights after 1,500 steps of several architectures, with each instruction set at
//! hand: the same on every machine.
//!
//!     cargo run --release -p headlight-fused --example fingerprint
#![allow(clippy::unwrap_used)]

use headlight_fused::{Adam, Architecture, Instructions, Model, Projections, Samples};

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

fn fingerprint(shape: Architecture, instructions: Instructions) -> u64 {
    let weights: Vec<f32> = (0..shape.parameter_count())
        .map(|i| 0.6 * (spread(i) - 0.5))
        .collect();
    let token = |i: usize| match i % shape.positions {
        position if position == shape.read_position => 0,
        _ => 1 + (spread(7 * i) * (shape.vocab_size - 1) as f32) as u32,
    };
    let tokens: Vec<u32> = (0..8000 * shape.positions).map(token).collect();
    let third = |sample: usize| tokens[sample * shape.positions + shape.positions / 2];
    let labels: Vec<u8> = (0..8000)
        .map(|sample| u8::from(third(sample) % 7 == 3))
        .collect();
    let samples = Samples {
        tokens: &tokens,
        labels: &labels,
    };
    let mut model = Model::new(shape, Adam::default(), &weights)
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
    for (name, architecture) in kinds {
        let mut hashes = Instructions::ALL
            .into_iter()
            .filter(|instructions| instructions.available())
            .map(|instructions| fingerprint(architecture.clone(), instructions));
        let hash = hashes.next().unwrap();
        assert!(hashes.all(|other| other == hash), "instruction sets differ");
        println!("{name}: {hash:016x}");
    }
}
