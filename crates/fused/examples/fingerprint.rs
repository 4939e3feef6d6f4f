//! Prints a hash of the weights after 1,500 steps at the notebook's size, and at two odd sizes, with
//! each instruction set at hand: the same on every machine.
//!
//!     cargo run --release -p headlight-fused --example fingerprint
#![allow(clippy::unwrap_used)]

use headlight_fused::{Adam, Instructions, Model, Samples, Shape};

/// Numbers that need no generator: the fractional parts of multiples of the golden ratio.
fn spread(index: usize) -> f32 {
    (index as f64 * 0.618_033_988_749_894_9).fract() as f32
}

fn fingerprint(shape: Shape, instructions: Instructions) -> u64 {
    let weights: Vec<f32> = (0..shape.parameter_count())
        .map(|i| 0.6 * (spread(i) - 0.5))
        .collect();
    let token = |i: usize| match i % shape.positions {
        0 => 0,
        _ => 1 + (spread(7 * i) * (shape.vocab_size - 1) as f32) as u32,
    };
    let tokens: Vec<u32> = (0..8000 * shape.positions).map(token).collect();
    let third = |sample: usize| tokens[sample * shape.positions + shape.positions / 2];
    let labels: Vec<bool> = (0..8000).map(|sample| third(sample) % 7 == 3).collect();
    let samples = Samples {
        tokens: &tokens,
        labels: &labels,
    };
    let mut model = Model::new(shape, 1e-6, Adam::default(), &weights)
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
    for (d_model, n_heads) in [(8, 1), (6, 2), (20, 1)] {
        let shape = Shape {
            vocab_size: 51,
            positions: 7,
            d_model,
            n_heads,
        };
        let mut hashes = Instructions::ALL
            .into_iter()
            .filter(|instructions| instructions.available())
            .map(|instructions| fingerprint(shape, instructions));
        let hash = hashes.next().unwrap();
        assert!(hashes.all(|other| other == hash), "instruction sets differ");
        println!("d_model {d_model}, n_heads {n_heads}: {hash:016x}");
    }
}
