//! What a page trains: its run again, or an experiment without a run.

use serde::Serialize;
use serde_json::Value;

/// `crates/lab` as WebAssembly, packed by gzip, which `scripts/page/build_lab.sh` makes.
pub(crate) const LAB: &[u8] = include_bytes!("../../lab/lab.wasm.gz");

/// Whether a page can train its run again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageTraining {
    /// It can, and compares the weights.
    Live {
        /// The config, as resolved.
        config: Value,
        /// The steps that the run took.
        steps: usize,
        /// Of `model.safetensors`, in hexadecimal digits.
        weights_sha256: String,
        /// The samples, if they come from a file.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<OwnData>,
    },
    /// It cannot, and shows what the dumps recorded; the reason, as a sentence without its full stop.
    Recorded(String),
}

/// The experiment that a page without a run begins with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lab {
    /// The name of its config.
    pub name: String,
    /// The config, as resolved.
    pub config: Value,
    /// The samples, if they come from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<OwnData>,
}

/// The samples of a dataset file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OwnData {
    /// Without `[CLS]`, and without the padding after the last token. `[sample][token]`
    pub tokens: Vec<Vec<u32>>,
    /// `[sample]`
    pub labels: Vec<OwnLabel>,
    /// `train` or `test` of each sample; empty if the file holds none out. `[sample]`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<&'static str>,
    /// The names of the classes; empty if they have none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
}

/// A label, as a dataset file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OwnLabel {
    /// The number of a class.
    Class(u32),
    /// The name of a class.
    Name(String),
}
