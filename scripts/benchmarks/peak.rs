//! Prints how many multiplications and additions this machine does in a second on one core, on vectors of eight float32
//! numbers and without fused multiply-add: what the fused engine could reach at most.
//!
//!     rustc -O -C target-feature=+avx2 -o peak scripts/benchmarks/peak.rs && ./peak

use std::hint::black_box;
use std::time::Instant;

/// Sums that do not wait for each other.
const SUMS: usize = 10;
const ROUNDS: usize = 1_000_000;

fn main() {
    let factor = black_box([1.000_001_f32; 8]);
    let mut best = 0.0_f64;
    for _ in 0..20 {
        let mut sums = black_box([[1.0_f32; 8]; SUMS]);
        let begin = Instant::now();
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                for lane in 0..8 {
                    sum[lane] = sum[lane] * factor[lane] + 1e-9;
                }
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        black_box(sums);
        best = best.max((2 * 8 * SUMS * ROUNDS) as f64 / seconds);
    }
    println!("{:.1}", best / 1e9);
}
