//! What differs between sets of vector instructions: how many numbers a vector has, and what the compiler does not find by
//! itself.
//!
//! Most of a pass is plain loops over lanes, which the compiler turns into vectors of any width. Two things it does not do
//! well. Vectors transposed by plain loops become hundreds of scalar instructions. And sums of products of sixteen lanes become
//! pairs of short vectors. So a pass gets both from its set of instructions.

use crate::lanes::{LANES, Lanes, ZERO, zip};

/// The vectors of a set of instructions.
pub(crate) trait Vectors: Copy {
    /// Numbers of a vector.
    const LANES: usize;
    /// Vectors that a sum of products may keep in registers. More are stored and loaded again in each turn of a loop.
    const SUMS: usize;
    /// A vector.
    type Vector: Copy;

    /// Whether so many sums stay in registers.
    #[inline(always)]
    fn keeps(self, sums: usize) -> bool {
        sums <= Self::SUMS
    }

    /// The first numbers of a slice.
    fn load(self, numbers: &[f32]) -> Self::Vector;

    /// Writes a vector to the first numbers of a slice.
    fn store(self, vector: Self::Vector, numbers: &mut [f32]);

    /// A vector of one number.
    fn splat(self, number: f32) -> Self::Vector;

    /// `a ⊙ b`
    fn product(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// `sum += a ⊙ b`, with two roundings.
    fn add_product(self, sum: &mut Self::Vector, a: Self::Vector, b: Self::Vector);

    /// Eight vectors of eight numbers, transposed: number `j` of vector `i` becomes number `i` of vector `j`.
    fn transpose(self, rows: [Lanes; LANES]) -> [Lanes; LANES];
}

/// The instructions that every machine has.
#[derive(Clone, Copy)]
pub(crate) struct Baseline;

impl Vectors for Baseline {
    const LANES: usize = LANES;
    const SUMS: usize = 8;
    type Vector = Lanes;

    #[inline(always)]
    fn load(self, numbers: &[f32]) -> Lanes {
        let mut vector = ZERO;
        vector.copy_from_slice(&numbers[..LANES]);
        vector
    }

    #[inline(always)]
    fn store(self, vector: Lanes, numbers: &mut [f32]) {
        numbers[..LANES].copy_from_slice(&vector);
    }

    #[inline(always)]
    fn splat(self, number: f32) -> Lanes {
        [number; LANES]
    }

    #[inline(always)]
    fn product(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn add_product(self, sum: &mut Lanes, a: Lanes, b: Lanes) {
        for l in 0..LANES {
            sum[l] += a[l] * b[l];
        }
    }

    #[inline(always)]
    fn transpose(self, rows: [Lanes; LANES]) -> [Lanes; LANES] {
        let mut columns = [ZERO; LANES];
        for (i, row) in rows.iter().enumerate() {
            for (j, number) in row.iter().enumerate() {
                columns[j][i] = *number;
            }
        }
        columns
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m256, __m512, _mm256_add_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_permute2f128_ps,
        _mm256_set1_ps, _mm256_shuffle_ps, _mm256_storeu_ps, _mm256_unpackhi_ps,
        _mm256_unpacklo_ps, _mm512_add_ps, _mm512_loadu_ps, _mm512_mul_ps, _mm512_set1_ps,
        _mm512_storeu_ps,
    };

    use super::Vectors;
    use crate::lanes::{LANES, Lanes, ZERO};

    /// AVX2. A value of it exists only on a machine that has these instructions.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(());

    /// The foundation of AVX-512, and AVX2. A value of it exists only on a machine that has these instructions.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(Avx2);

    impl Avx2 {
        pub(crate) fn new() -> Option<Self> {
            std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
        }
    }

    impl Avx512 {
        pub(crate) fn new() -> Option<Self> {
            let avx2 = Avx2::new()?;
            std::arch::is_x86_feature_detected!("avx512f").then_some(Self(avx2))
        }
    }

    /// The vectors of a set, by the intrinsics that load, store, splat, multiply and add them.
    ///
    /// SAFETY of all calls of intrinsics: the machine has the instructions, since `self` exists. A pointer is that of a slice which is
    /// checked to hold a whole vector; the loads and stores need no alignment.
    macro_rules! vectors {
        ($set:ty, $vector:ty, $lanes:literal, $sums:literal, $load:ident, $store:ident, $splat:ident, $multiply:ident, $add:ident, $transpose:item) => {
            #[allow(unsafe_code)]
            impl Vectors for $set {
                const LANES: usize = $lanes;
                const SUMS: usize = $sums;
                type Vector = $vector;

                #[inline(always)]
                fn load(self, numbers: &[f32]) -> $vector {
                    let numbers = &numbers[..$lanes];
                    // SAFETY: see above.
                    unsafe { $load(numbers.as_ptr()) }
                }

                #[inline(always)]
                fn store(self, vector: $vector, numbers: &mut [f32]) {
                    let numbers = &mut numbers[..$lanes];
                    // SAFETY: see above.
                    unsafe { $store(numbers.as_mut_ptr(), vector) }
                }

                #[inline(always)]
                fn splat(self, number: f32) -> $vector {
                    // SAFETY: see above.
                    unsafe { $splat(number) }
                }

                #[inline(always)]
                fn product(self, a: $vector, b: $vector) -> $vector {
                    // SAFETY: see above.
                    unsafe { $multiply(a, b) }
                }

                #[inline(always)]
                fn add_product(self, sum: &mut $vector, a: $vector, b: $vector) {
                    // SAFETY: see above.
                    *sum = unsafe { $add(*sum, $multiply(a, b)) };
                }

                #[inline(always)]
                $transpose
            }
        };
    }

    vectors! {
        Avx2, __m256, 8, 8, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_mul_ps, _mm256_add_ps,
        fn transpose(self, rows: [Lanes; LANES]) -> [Lanes; LANES] {
            // SAFETY: see above.
            unsafe { transpose(self, rows) }
        }
    }

    vectors! {
        Avx512, __m512, 16, 16, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_mul_ps, _mm512_add_ps,
        fn transpose(self, rows: [Lanes; LANES]) -> [Lanes; LANES] {
            self.0.transpose(rows)
        }
    }

    /// Pairs, then fours, then halves. A function of its own, since the compiler inlines no intrinsic into a closure that does
    /// not have its instructions.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn transpose(avx2: Avx2, rows: [Lanes; LANES]) -> [Lanes; LANES] {
        let [a, b, c, d, e, f, g, h] = rows.map(|row| avx2.load(&row));
        let [[a, b, c, d], [e, f, g, h]] = [[a, b, c, d], [e, f, g, h]].map(|[a, b, c, d]| {
            let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
            let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
            [
                _mm256_shuffle_ps::<0x44>(ab, cd),
                _mm256_shuffle_ps::<0xee>(ab, cd),
                _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
                _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
            ]
        });
        [
            _mm256_permute2f128_ps::<0x20>(a, e),
            _mm256_permute2f128_ps::<0x20>(b, f),
            _mm256_permute2f128_ps::<0x20>(c, g),
            _mm256_permute2f128_ps::<0x20>(d, h),
            _mm256_permute2f128_ps::<0x31>(a, e),
            _mm256_permute2f128_ps::<0x31>(b, f),
            _mm256_permute2f128_ps::<0x31>(c, g),
            _mm256_permute2f128_ps::<0x31>(d, h),
        ]
        .map(|vector| {
            let mut column = ZERO;
            avx2.store(vector, &mut column);
            column
        })
    }
}

/// Eight columns of samples as rows, one for each of the eight samples of a part: those of the first eight lanes are part 0.
#[inline(always)]
pub(crate) fn rows_of_samples<V: Vectors, const L: usize>(
    vectors: V,
    columns: &[Lanes<L>],
    part: usize,
) -> [Lanes; LANES] {
    let mut tile = [ZERO; LANES];
    for (numbers, column) in tile.iter_mut().zip(&columns[..LANES]) {
        numbers.copy_from_slice(&column[part * LANES..][..LANES]);
    }
    vectors.transpose(tile)
}
