//! The run that a page trains again.

use serde::Serialize;
use serde_json::Value;

/// `crates/lab` as WebAssembly, deflated, which `scripts/page/build_lab.sh` makes.
pub(super) const LAB: &[u8] = include_bytes!("../../../lab/lab.wasm.gz");

/// Whether a page can train its run again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Again {
    /// It can, and compares the weights.
    Live {
        /// The config, as resolved.
        config: Value,
        /// The steps that the run took.
        steps: usize,
        /// Of `model.safetensors`, in hexadecimal digits.
        weights_sha256: String,
        /// Multiplications of the whole training, roughly: above a limit, the page asks before it trains.
        operations: f64,
    },
    /// It cannot, and shows what the dumps recorded; the reason, as a sentence without its full stop.
    Recorded(String),
}
