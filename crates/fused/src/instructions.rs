//! Which vector instructions a pass is compiled for.
//!
//! Every body below is the same code; only the compiler's means differ, never a result. A default
//! build holds all of them and takes the widest that the machine has.

/// Vector instructions that a pass can be computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// What every machine of the architecture has.
    Baseline,
    /// AVX2, on x86-64.
    Avx2,
}

impl Instructions {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Baseline, Self::Avx2];

    /// Whether this machine has them.
    pub fn available(self) -> bool {
        match self {
            Self::Baseline => true,
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
            Self::Avx2 => false,
        }
    }

    /// The widest that this machine has.
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
    /// When this machine does not have them.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn run<B: Body>(self, body: B) -> B::Output {
        match self {
            Self::Baseline => body.run(),
            #[cfg(all(feature = "std", target_arch = "x86_64"))]
            Self::Avx2 => {
                assert!(self.available(), "this machine has no AVX2");
                // SAFETY: the machine has AVX2, as just asserted; that is all that calling a function
                // compiled for it asks for. The body itself is safe code.
                unsafe { avx2(body) }
            }
            #[cfg(not(all(feature = "std", target_arch = "x86_64")))]
            Self::Avx2 => unreachable!("this machine has no AVX2"),
        }
    }
}

/// Compiles a body, and all that is inlined into it, for AVX2.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx2")]
fn avx2<B: Body>(body: B) -> B::Output {
    body.run()
}

/// Something to compute. All that it calls must be inlined into it.
pub(crate) trait Body {
    type Output;
    fn run(self) -> Self::Output;
}
