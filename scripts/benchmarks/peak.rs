//! Prints how many multiplications and additions this machine does in a second on one core without fused multiply-add, in
//! 1e9, and on which vectors of float32 numbers: what the fused engine could reach at most.
//!
//!     rustc -O -o peak scripts/benchmarks/peak.rs && ./peak

use std::hint::black_box;
use std::time::Instant;

/// Sums that do not wait for each other. With ten, the latency of an addition is the limit on some machines; with more
/// than fourteen, AVX2 has too few registers.
const SUMS: usize = 14;
const ROUNDS: usize = 1_000_000;

/// A function that multiplies and adds vectors.
#[cfg(target_arch = "x86_64")]
macro_rules! adds {
    ($name:ident, $feature:literal, $set:ident, $multiply:ident, $add:ident) => {
        #[target_feature(enable = $feature)]
        fn $name() {
            use std::arch::x86_64::*;
            let (factor, little) = (black_box($set(1.000_001)), black_box($set(1e-9)));
            let mut sums = [$set(1.0); SUMS];
            for _ in 0..ROUNDS {
                sums = sums.map(|sum| $add($multiply(sum, factor), little));
            }
            black_box(sums);
        }
    };
}

#[cfg(target_arch = "x86_64")]
adds!(
    with_avx512,
    "avx512f",
    _mm512_set1_ps,
    _mm512_mul_ps,
    _mm512_add_ps
);
#[cfg(target_arch = "x86_64")]
adds!(
    with_avx2,
    "avx2",
    _mm256_set1_ps,
    _mm256_mul_ps,
    _mm256_add_ps
);

/// In vectors of four, which every 64-bit processor has.
fn with_any() {
    let factor = black_box([1.000_001_f32; 4]);
    let mut sums = black_box([[1.0_f32; 4]; SUMS]);
    for _ in 0..ROUNDS {
        for sum in &mut sums {
            for lane in 0..4 {
                sum[lane] = sum[lane] * factor[lane] + 1e-9;
            }
        }
    }
    black_box(sums);
}

fn measure(vectors: &str, lanes: usize, add: impl Fn()) {
    let mut best = 0.0_f64;
    for _ in 0..20 {
        let begin = Instant::now();
        add();
        let seconds = begin.elapsed().as_secs_f64();
        best = best.max((2 * lanes * SUMS * ROUNDS) as f64 / seconds);
    }
    println!("{:.1} {vectors}", best / 1e9);
}

fn main() {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: each function is called where the processor has its instructions.
        if is_x86_feature_detected!("avx512f") {
            return measure("AVX-512", 16, || unsafe { with_avx512() });
        }
        if is_x86_feature_detected!("avx2") {
            return measure("AVX2", 8, || unsafe { with_avx2() });
        }
    }
    measure("vectors of four", 4, with_any);
}
