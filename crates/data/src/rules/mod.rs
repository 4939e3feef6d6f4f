//! Label rules: what decides a sample's class. Each rule is a file here, which has all that Headlight knows of it.

mod automaton;
mod balanced_brackets;
mod count;
mod equal_positions;
mod induction;
mod majority;
mod max;
mod most_frequent;
mod offer;
mod parity;
mod rule;
mod sentence;
mod sequences;
mod sum_mod;
mod token_anywhere;
mod token_at_position;
mod token_before_token;

use std::ops::Deref;

use headlight_schema::{ConfigSection, Value, Variant};
use serde::{Deserialize, Serialize};

pub use automaton::Automaton;
pub use balanced_brackets::BalancedBrackets;
pub use count::Count;
pub use equal_positions::EqualPositions;
pub use induction::Induction;
pub use majority::Majority;
pub use max::Max;
pub use most_frequent::MostFrequent;
pub use offer::{NumberKind, RuleNumber, RuleOffer, SettingValue};
pub use parity::Parity;
pub use rule::Rule;
pub use sentence::Sentence;
pub use sequences::{DoubleHistogram, Dyck, Histogram, Ranking, Repeat, Reverse, Sort};
pub use sum_mod::SumMod;
pub use token_anywhere::TokenAnywhere;
pub use token_at_position::TokenAtPosition;
pub use token_before_token::TokenBeforeToken;

/// Lists the rules, each with its `kind` in configs, and how the page offers it.
macro_rules! rules {
    ($($rule:ident = $kind:literal $($offer:path)?,)*) => {
        /// A rule that decides a sample's class from its tokens; [`Rule`] is what each of them can tell.
        ///
        /// Positions count `[CLS]`, if samples have it: it is at position 0 or at the end.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum LabelRule {
            $(#[doc = concat!("`", $kind, "`")] #[serde(rename = $kind)] $rule($rule),)*
        }

        impl Deref for LabelRule {
            type Target = dyn Rule;

            fn deref(&self) -> &Self::Target {
                match self { $(Self::$rule(rule) => rule,)* }
            }
        }

        impl LabelRule {
            /// The kinds of rules that readers of the page can choose, in their order there.
            pub const OFFERS: &[(&str, RuleOffer)] = &[$($(($kind, $offer),)?)*];
        }

        impl Value for LabelRule {
            fn kind() -> headlight_schema::Kind {
                headlight_schema::Kind::Variants([$(Variant {
                    name: $kind,
                    sentence: $rule::about(),
                    keys: $rule::keys(),
                },)*].into())
            }
        }

        $(impl From<$rule> for LabelRule {
            fn from(rule: $rule) -> Self {
                Self::$rule(rule)
            }
        })*
    };
}

rules! {
    TokenAtPosition = "token-at-position" TokenAtPosition::OFFER,
    TokenAnywhere = "token-anywhere" TokenAnywhere::OFFER,
    TokenBeforeToken = "token-before-token" TokenBeforeToken::OFFER,
    EqualPositions = "equal-positions" EqualPositions::OFFER,
    Count = "count" Count::OFFER,
    SumMod = "sum-mod",
    Max = "max",
    MostFrequent = "most-frequent",
    Majority = "majority",
    Parity = "parity",
    BalancedBrackets = "balanced-brackets",
    Induction = "induction",
    Histogram = "histogram",
    DoubleHistogram = "double-histogram",
    Reverse = "reverse",
    Sort = "sort",
    Ranking = "ranking",
    Dyck = "dyck",
    Repeat = "repeat",
    Sentence = "sentence",
}
