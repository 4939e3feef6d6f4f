//! The walkthroughs that are part of Headlight.

use headlight_input::toml_message::nearest;

/// A walkthrough of `configs/walkthroughs`, compiled in.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The name of its file, without the file extension.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

macro_rules! built_in {
    ($($name:literal)*) => {
        [$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../configs/walkthroughs/", $name, ".toml")),
        }),*]
    };
}

/// All walkthroughs of `configs/walkthroughs`, grouped by document.
pub const BUILT_IN: [BuiltIn; 14] = built_in!(
    "review"
    "review-illustration"
    "she-did-not"
    "it-among-eight"
    "it-weighted-sum"
    "key-length"
    "exact-and-misaligned"
    "it-ideal-map"
    "plain-similarity"
    "i-love-cats"
    "scaling"
    "causal-mask"
    "temperature"
    "cross-attention"
);

/// Finds a walkthrough by name.
///
/// # Errors
/// The most similar name, if there is one.
pub fn built_in(name: &str) -> Result<BuiltIn, Option<&'static str>> {
    BUILT_IN
        .into_iter()
        .find(|built_in| built_in.name == name)
        .ok_or_else(|| nearest(name, BUILT_IN.iter().map(|built_in| built_in.name)))
}
