//! Label rules: what decides a sample's class. Each rule is a file here, which has all that Headlight knows of it.

#[cfg(feature = "numbers")]
mod balanced_brackets;
mod count;
mod equal_positions;
#[cfg(feature = "numbers")]
mod induction;
mod kind;
#[cfg(feature = "numbers")]
mod majority;
#[cfg(feature = "numbers")]
mod max;
#[cfg(feature = "numbers")]
mod most_frequent;
#[cfg(feature = "numbers")]
mod parity;
mod reader;
mod rule;
mod sentence;
#[cfg(feature = "numbers")]
mod sequences;
#[cfg(feature = "numbers")]
mod sum_mod;
mod token_anywhere;
mod token_at_position;
mod token_before_token;

use std::ops::Deref;

use headlight_keys::{Section, Value, Variant};
use serde::{Deserialize, Serialize};

#[cfg(feature = "numbers")]
pub use balanced_brackets::BalancedBrackets;
pub use count::Count;
pub use equal_positions::EqualPositions;
#[cfg(feature = "numbers")]
pub use induction::Induction;
pub use kind::{Choice, Counts, Kind, Parameter, Setting};
#[cfg(feature = "numbers")]
pub use majority::Majority;
#[cfg(feature = "numbers")]
pub use max::Max;
#[cfg(feature = "numbers")]
pub use most_frequent::MostFrequent;
#[cfg(feature = "numbers")]
pub use parity::Parity;
pub use reader::Reader;
pub use rule::Rule;
pub use sentence::Sentence;
#[cfg(feature = "numbers")]
pub use sequences::{DoubleHistogram, Dyck, Histogram, Ranking, Repeat, Reverse, Sort};
#[cfg(feature = "numbers")]
pub use sum_mod::SumMod;
pub use token_anywhere::TokenAnywhere;
pub use token_at_position::TokenAtPosition;
pub use token_before_token::TokenBeforeToken;

/// Lists the rules, each with its `kind` in configs.
macro_rules! rules {
    ($($(#[$with:meta])? $rule:ident = $kind:literal,)*) => {
        /// A rule that decides a sample's class from its tokens; [`Rule`] is what each of them can tell.
        ///
        /// Positions count `[CLS]`, if samples have it: it is at position 0 or at the end.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum LabelRule {
            $($(#[$with])? #[doc = concat!("`", $kind, "`")] #[serde(rename = $kind)] $rule($rule),)*
        }

        impl Deref for LabelRule {
            type Target = dyn Rule;

            fn deref(&self) -> &Self::Target {
                match self { $($(#[$with])? Self::$rule(rule) => rule,)* }
            }
        }

        impl LabelRule {
            /// All kinds of rules, in the order in which the page offers them.
            pub const KINDS: &[(&str, Kind)] = &[$($(#[$with])? ($kind, $rule::KIND),)*];
        }

        impl Value for LabelRule {
            fn kind() -> headlight_keys::Kind {
                headlight_keys::Kind::Variants([$($(#[$with])? Variant {
                    name: $kind,
                    sentence: $rule::about(),
                    keys: $rule::keys(),
                },)*].into())
            }

            fn written(&self) -> Option<String> {
                None
            }
        }

        $($(#[$with])? impl From<$rule> for LabelRule {
            fn from(rule: $rule) -> Self {
                Self::$rule(rule)
            }
        })*
    };
}

rules! {
    TokenAtPosition = "token-at-position",
    TokenAnywhere = "token-anywhere",
    TokenBeforeToken = "token-before-token",
    EqualPositions = "equal-positions",
    Count = "count",
    #[cfg(feature = "numbers")]
    SumMod = "sum-mod",
    #[cfg(feature = "numbers")]
    Max = "max",
    #[cfg(feature = "numbers")]
    MostFrequent = "most-frequent",
    #[cfg(feature = "numbers")]
    Majority = "majority",
    #[cfg(feature = "numbers")]
    Parity = "parity",
    #[cfg(feature = "numbers")]
    BalancedBrackets = "balanced-brackets",
    #[cfg(feature = "numbers")]
    Induction = "induction",
    #[cfg(feature = "numbers")]
    Histogram = "histogram",
    #[cfg(feature = "numbers")]
    DoubleHistogram = "double-histogram",
    #[cfg(feature = "numbers")]
    Reverse = "reverse",
    #[cfg(feature = "numbers")]
    Sort = "sort",
    #[cfg(feature = "numbers")]
    Ranking = "ranking",
    #[cfg(feature = "numbers")]
    Dyck = "dyck",
    #[cfg(feature = "numbers")]
    Repeat = "repeat",
    Sentence = "sentence",
}
