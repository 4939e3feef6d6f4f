//! The vector instructions that a pass is compiled for.
//!
//! The code is the same for all of them, and so are the results. A default build contains every set and
//! uses the widest that the machine has.

use crate::transpose::{self, Transpose};

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// The instructions that every machine of the architecture has.
    Baseline,
    /// AVX2, on x86-64.
    Avx2,
}

impl Instructions {
    /// All sets.
    pub const ALL: [Self; 2] = [Self::Baseline, Self::Avx2];

    /// Whether this machine has this set.
    pub fn available(self) -> bool {
        match self {
            Self::Baseline => true,
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
            Self::Avx2 => false,
        }
    }

    /// The widest set that this machine has.
    pub fn best() -> Self {
        if Self::Avx2.available() {
            Self::Avx2
        } else {
            Self::Baseline
        }
    }

    /// Runs `body`, compiled for these instructions.
    ///
    /// # Panics
    /// When this machine does not have this set.
    #[inline]
    #[allow(unsafe_code)]
    pub(crate) fn run<B: Body>(self, body: B) -> B::Output {
        match self {
            Self::Baseline => body.run(transpose::plain),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            Self::Avx2 => {
                assert!(self.available(), "this machine has no AVX2");
                // SAFETY: a function compiled for AVX2 may be called on a machine that has AVX2, which
                // the line above asserts. The body itself is safe code.
                unsafe { avx2(body) }
            }
            #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
            Self::Avx2 => unreachable!("this machine has no AVX2"),
        }
    }
}

/// Compiles a body, and everything inlined into it, for AVX2.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx2")]
fn avx2<B: Body>(body: B) -> B::Output {
    body.run(|rows| transpose::avx2(rows))
}

/// Defines a function that is compiled by itself for each set of instructions, its first argument.
///
/// Smaller functions compile faster than one large pass, and a call costs a few nanoseconds. A function that turns
/// vectors names the [`Transpose`] of its set first.
macro_rules! for_each_set {
    ($(#[$attribute:meta])* $visible:vis fn $name:ident<$life:lifetime>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $crate::instructions::for_each_set! { _transpose, $(#[$attribute])* $visible fn $name<$life>($($argument: $type),*) $body }
    };
    ($transpose:ident, $(#[$attribute:meta])* $visible:vis fn $name:ident<$life:lifetime>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments)]
        $visible fn $name<$life>(instructions: $crate::instructions::Instructions, $($argument: $type),*) {
            struct Call<$life> {
                $($argument: $type),*
            }
            impl<$life> $crate::instructions::Body for Call<$life> {
                type Output = ();
                #[inline(always)]
                fn run(self, $transpose: impl $crate::transpose::Transpose) {
                    let Self { $($argument),* } = self;
                    $body
                }
            }
            instructions.run(Call { $($argument),* });
        }
    };
}
pub(crate) use for_each_set;

/// A computation. Everything that it calls must be inlined into it.
pub(crate) trait Body {
    type Output;
    fn run(self, transpose: impl Transpose) -> Self::Output;
}
