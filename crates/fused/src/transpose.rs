//! Eight vectors of eight numbers, transposed: number `j` of vector `i` becomes number `i` of vector `j`.
//!
//! Plain loops over arrays become hundreds of scalar instructions, since the compiler does not find the shuffles that a
//! machine has for this. So a pass gets the function from its set of instructions.

use crate::lanes::{LANES, Lanes, ZERO};

/// A function that turns eight vectors.
pub(crate) trait Transpose: Fn([Lanes; LANES]) -> [Lanes; LANES] + Copy {}

impl<F: Fn([Lanes; LANES]) -> [Lanes; LANES] + Copy> Transpose for F {}

/// With the instructions that every machine has.
#[inline(always)]
pub(crate) fn plain(rows: [Lanes; LANES]) -> [Lanes; LANES] {
    let mut columns = [ZERO; LANES];
    for (i, row) in rows.iter().enumerate() {
        for (j, number) in row.iter().enumerate() {
            columns[j][i] = *number;
        }
    }
    columns
}

#[cfg(all(feature = "std", target_arch = "x86_64"))]
pub(crate) use shuffles::avx2;

#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod shuffles {
    use std::arch::x86_64::{
        __m128, __m256, _mm_cvtss_f32, _mm_shuffle_ps, _mm256_castps256_ps128,
        _mm256_extractf128_ps, _mm256_permute2f128_ps, _mm256_setr_ps, _mm256_shuffle_ps,
        _mm256_unpackhi_ps, _mm256_unpacklo_ps,
    };

    use crate::lanes::{LANES, Lanes};

    /// With the shuffles of AVX2: pairs, then fours, then halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn avx2(rows: [Lanes; LANES]) -> [Lanes; LANES] {
        let [a, b, c, d, e, f, g, h] = rows.map(|row| vector(row));
        let [upper, lower] = [[a, b, c, d], [e, f, g, h]].map(|[a, b, c, d]| {
            let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
            let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
            [
                _mm256_shuffle_ps::<0x44>(ab, cd),
                _mm256_shuffle_ps::<0xee>(ab, cd),
                _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
                _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
            ]
        });
        core::array::from_fn(|column| {
            let (upper, lower) = (upper[column % 4], lower[column % 4]);
            numbers(if column < 4 {
                _mm256_permute2f128_ps::<0x20>(upper, lower)
            } else {
                _mm256_permute2f128_ps::<0x31>(upper, lower)
            })
        })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn vector(row: Lanes) -> __m256 {
        let [a, b, c, d, e, f, g, h] = row;
        _mm256_setr_ps(a, b, c, d, e, f, g, h)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn numbers(vector: __m256) -> Lanes {
        let [a, b, c, d] = half(_mm256_castps256_ps128(vector));
        let [e, f, g, h] = half(_mm256_extractf128_ps::<1>(vector));
        [a, b, c, d, e, f, g, h]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn half(vector: __m128) -> [f32; 4] {
        [
            _mm_cvtss_f32(vector),
            _mm_cvtss_f32(_mm_shuffle_ps::<1>(vector, vector)),
            _mm_cvtss_f32(_mm_shuffle_ps::<2>(vector, vector)),
            _mm_cvtss_f32(_mm_shuffle_ps::<3>(vector, vector)),
        ]
    }
}
