//! The stages of attention, from embeddings to outputs.

use serde::{Deserialize, Serialize};

/// A stage of attention, in the order in which they are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Embeddings of the query tokens. `[query, d_model]`
    X,
    /// Embeddings of the key tokens, if they differ from the query tokens. `[key, d_model]`
    Memory,
    /// The projection from embeddings to queries. `[d_model, d_k]`
    WQuery,
    /// The projection from embeddings to keys. `[d_model, d_k]`
    WKey,
    /// The projection from embeddings to values. `[d_model, d_v]`
    WValue,
    /// Queries. `[query, d_k]`
    Query,
    /// Keys. `[key, d_k]`
    Key,
    /// Values. `[key, d_v]`
    Value,
    /// Products of queries and keys. `[query, key]`
    Scores,
    /// Scores times the scale, divided by the temperature. `[query, key]`
    Scaled,
    /// Scaled scores, with minus infinity where the mask blocks. `[query, key]`
    Masked,
    /// The exponentials of the scores: the numerators of the softmax. `[query, key]`
    Exponentials,
    /// The sums of the exponentials: the denominators of the softmax. `[query, 1]`
    ExponentialsSum,
    /// The softmax of each row. `[query, key]`
    Weights,
    /// The sum of each row of weights. `[query, 1]`
    WeightsSum,
    /// Each value times its weight, if one query is shown. `[key, d_v]`
    Contributions,
    /// The weighted sum of values. `[query, d_v]`
    Output,
}

impl Stage {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Memory => "memory",
            Self::WQuery => "w_query",
            Self::WKey => "w_key",
            Self::WValue => "w_value",
            Self::Query => "query",
            Self::Key => "key",
            Self::Value => "value",
            Self::Scores => "scores",
            Self::Scaled => "scaled",
            Self::Masked => "masked",
            Self::Exponentials => "exponentials",
            Self::ExponentialsSum => "exponentials_sum",
            Self::Weights => "weights",
            Self::WeightsSum => "weights_sum",
            Self::Contributions => "contributions",
            Self::Output => "output",
        }
    }

    /// Whether it comes before the scores.
    pub(crate) fn is_input(self) -> bool {
        self <= Self::Value
    }

    /// Whether its rows are those of the queries, of which some may be shown.
    pub(crate) fn has_a_row_per_query(self) -> bool {
        self == Self::Query || self > Self::Value && self != Self::Contributions
    }

    /// Whether it is shown only if the document prints numbers of it.
    pub(crate) fn is_on_demand(self) -> bool {
        matches!(
            self,
            Self::Exponentials | Self::ExponentialsSum | Self::WeightsSum
        )
    }
}
