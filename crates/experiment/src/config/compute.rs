//! The engine and the device that compute an experiment.

use std::fmt;

use headlight_schema::{choices, section};

section! {
    /// The `[compute]` section: engine and device.
    #[derive(Eq)]
    pub struct ComputeConfig {
        /// The engine that takes training steps.
        pub engine: EngineName = EngineName::Auto,
        /// The device that computes; `headlight devices` lists them.
        ///
        /// This crate does not check the name; the code that opens devices does.
        pub device: String = "flex".to_owned(),
    }
}

choices! {
    /// An engine by name, in configs and on the command line.
    pub enum EngineName {
        /// `fused` on a CPU, otherwise `burn`.
        Auto = "auto",
        /// Burn's tensors and automatic differentiation, on any device.
        Burn = "burn",
        /// The hand-derived training step, on a CPU.
        Fused = "fused",
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
