//! The engine and the device that compute an experiment.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The `[compute]` section: engine and device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ComputeConfig {
    /// The engine that takes training steps.
    pub engine: EngineName,
    /// The name of the device that computes. This crate does not check it; the code that opens devices does.
    pub device: String,
}

impl Default for ComputeConfig {
    fn default() -> Self {
        Self {
            engine: EngineName::Auto,
            device: "flex".to_owned(),
        }
    }
}

/// An engine by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    /// `fused` for every config that it supports, `burn` for the others.
    #[default]
    Auto,
    /// Burn's tensors and automatic differentiation, on any device.
    Burn,
    /// The hand-derived training step of `headlight-fused`, on a CPU.
    Fused,
}

impl EngineName {
    /// All names.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Burn, Self::Fused];

    /// The name in configs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Burn => "burn",
            Self::Fused => "fused",
        }
    }
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.name() == text);
        found.ok_or_else(|| format!("unknown engine `{text}`; use auto, burn or fused"))
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
