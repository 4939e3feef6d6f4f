//! The walkthroughs that come with Headlight.

use headlight_input::toml_message::nearest;

use crate::{Mistake, Walkthrough};

/// A walkthrough of `configs/walkthroughs`, there in any folder.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// What the file holds.
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

/// All walkthroughs of `configs/walkthroughs`, those of a document together.
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

impl BuiltIn {
    /// Computes and checks it.
    ///
    /// # Errors
    /// None with the files as they are: a test reads them all.
    pub fn read(&self) -> Result<Walkthrough, Mistake> {
        Walkthrough::read(self.text.as_bytes())
    }
}

/// The walkthrough of a name.
///
/// # Errors
/// The nearest name there is, where one is near.
pub fn built_in(name: &str) -> Result<BuiltIn, Option<&'static str>> {
    BUILT_IN
        .into_iter()
        .find(|built_in| built_in.name == name)
        .ok_or_else(|| nearest(name, BUILT_IN.iter().map(|built_in| built_in.name)))
}
