//! The vector instructions that a pass is compiled for.
//!
//! The code is the same for all of them, and so are the results. A default build contains every set and
//! uses the widest that the machine has.

#[cfg(target_arch = "x86_64")]
use crate::vectors::{Avx2, Avx512};
use crate::vectors::{Baseline, Vectors};

/// A set of vector instructions. Inside this crate a value of it is called `isa`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// The instructions that every machine of the architecture has.
    Baseline,
    /// AVX2, on x86-64.
    Avx2,
    /// The foundation of AVX-512, on x86-64: sixteen samples side by side, where a batch has them.
    Avx512,
}

impl Instructions {
    /// All sets.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// Whether this machine has this set.
    pub fn available(self) -> bool {
        match self {
            Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Avx2::new().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Avx512::new().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The widest set that this machine has.
    pub fn best() -> Self {
        let mut widest_first = Self::ALL.into_iter().rev();
        let found = widest_first.find(|isa| isa.available());
        found.unwrap_or(Self::Baseline)
    }

    /// Whether passes of sixteen samples are compiled, and this set has vectors for them.
    #[inline(always)]
    pub(crate) fn has_sixteen_lanes(self) -> bool {
        cfg!(target_arch = "x86_64") && self == Self::Avx512
    }

    /// Runs `body`, compiled for these instructions. `L` are the samples that it computes side by side; 0 if its vectors do
    /// not hold samples.
    ///
    /// # Panics
    /// When this machine does not have this set.
    #[inline]
    #[allow(unsafe_code)]
    pub(crate) fn run<const L: usize, B: Body>(self, body: B) -> B::Output {
        #[cfg(target_arch = "x86_64")]
        {
            if L != 8
                && self == Self::Avx512
                && let Some(vectors) = Avx512::new()
            {
                // SAFETY: a function compiled for instructions may be called on a machine that has them, which the value of
                // `Avx512` proves. The body itself is safe code.
                return unsafe { avx512(body, vectors) };
            }
            if L != 16
                && self != Self::Baseline
                && let Some(vectors) = Avx2::new()
            {
                // SAFETY: as above.
                return unsafe { avx2(body, vectors) };
            }
        }
        if L == 16 || self != Self::Baseline {
            unreachable!("this machine has no {self:?}");
        }
        body.run(Baseline)
    }
}

/// Compiles a body, and everything inlined into it, for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<B: Body>(body: B, vectors: Avx2) -> B::Output {
    body.run(vectors)
}

/// Compiles a body, and everything inlined into it, for AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f")]
fn avx512<B: Body>(body: B, vectors: Avx512) -> B::Output {
    body.run(vectors)
}

/// Defines a function that is compiled by itself for each set of instructions, its first argument. A function of vectors of
/// samples is generic over their number.
///
/// Smaller functions compile faster than one large pass, and a call costs a few nanoseconds. A function that needs the vectors
/// of its set names them first. `fn f<'a, L>(x: &'a mut [Lanes<L>]) { .. }` becomes
///
/// ```text
/// fn f<'a, const L: usize>(isa: Instructions, x: &'a mut [Lanes<L>]) {
///     // `Call` holds the arguments; its `run` is `{ .. }`.
///     isa.run::<L, _>(Call { x });
/// }
/// ```
macro_rules! for_each_isa {
    ($(#[$attribute:meta])* $visible:vis fn $($rest:tt)*) => {
        $crate::instructions::for_each_isa! { _vectors, $(#[$attribute])* $visible fn $($rest)* }
    };
    ($vectors:ident, $(#[$attribute:meta])* $visible:vis fn $name:ident<$life:lifetime>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $crate::instructions::for_each_isa! { @ $vectors, 0, [$life], [$life], $(#[$attribute])* $visible fn $name($($argument: $type),*) $body }
    };
    ($vectors:ident, $(#[$attribute:meta])* $visible:vis fn $name:ident<$life:lifetime, $lanes:ident>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $crate::instructions::for_each_isa! { @ $vectors, $lanes, [$life, const $lanes: usize], [$life, $lanes], $(#[$attribute])* $visible fn $name($($argument: $type),*) $body }
    };
    (@ $vectors:ident, $lanes:tt, [$($declared:tt)*], [$($used:tt)*], $(#[$attribute:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),*) $body:block) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments)]
        $visible fn $name<$($declared)*>(isa: $crate::instructions::Instructions, $($argument: $type),*) {
            struct Call<$($declared)*> {
                $($argument: $type),*
            }
            impl<$($declared)*> $crate::instructions::Body for Call<$($used)*> {
                type Output = ();
                #[inline(always)]
                fn run(self, $vectors: impl $crate::vectors::Vectors) {
                    let Self { $($argument),* } = self;
                    $body
                }
            }
            isa.run::<$lanes, _>(Call { $($argument),* });
        }
    };
}
pub(crate) use for_each_isa;

/// A computation. Everything that it calls must be inlined into it.
pub(crate) trait Body {
    type Output;
    fn run(self, vectors: impl Vectors) -> Self::Output;
}
