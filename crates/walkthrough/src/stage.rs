//! The stages of attention, from embeddings to outputs.

use serde::{Deserialize, Serialize};

/// A stage of attention, each computed from those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Embeddings of the tokens that ask. `[query, d_model]`
    X,
    /// Embeddings of the tokens that are looked at, where they are others. `[key, d_model]`
    Memory,
    /// What embeddings are multiplied by to give queries. `[d_model, d_k]`
    WQuery,
    /// What embeddings are multiplied by to give keys. `[d_model, d_k]`
    WKey,
    /// What embeddings are multiplied by to give values. `[d_model, d_v]`
    WValue,
    /// Queries. `[query, d_k]`
    Query,
    /// Keys. `[key, d_k]`
    Key,
    /// Values. `[key, d_v]`
    Value,
    /// Products of queries and keys. `[query, key]`
    Scores,
    /// Scores times the scale, by the temperature. `[query, key]`
    Scaled,
    /// What the mask leaves of them; minus infinity elsewhere. `[query, key]`
    Masked,
    /// What the softmax divides: the exponential of each. `[query, key]`
    Exponentials,
    /// What the softmax divides by. `[query, 1]`
    ExponentialsSum,
    /// The softmax of each row. `[query, key]`
    Weights,
    /// The sum of each row of weights. `[query, 1]`
    WeightsSum,
    /// Each value times its weight, where there is one query. `[key, d_v]`
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

    /// Whether it stands before all scores.
    pub(crate) fn is_input(self) -> bool {
        matches!(
            self,
            Self::X
                | Self::Memory
                | Self::WQuery
                | Self::WKey
                | Self::WValue
                | Self::Query
                | Self::Key
                | Self::Value
        )
    }

    /// Whether it appears only where a document prints numbers of it.
    pub(crate) fn is_on_demand(self) -> bool {
        matches!(
            self,
            Self::Exponentials | Self::ExponentialsSum | Self::WeightsSum
        )
    }
}
