//! The stages of attention, from embeddings to outputs.

use headlight_schema::choices;

choices! {
    /// A stage of attention, in the order in which they are computed.
    #[derive(PartialOrd)]
    pub enum Stage {
        /// Embeddings of the query tokens. `[query, d_model]`
        X = "x",
        /// Embeddings of the key tokens, if they differ from the query tokens. `[key, d_model]`
        Memory = "memory",
        /// The projection from embeddings to queries. `[d_model, d_k]`
        WQuery = "w_query",
        /// The projection from embeddings to keys. `[d_model, d_k]`
        WKey = "w_key",
        /// The projection from embeddings to values. `[d_model, d_v]`
        WValue = "w_value",
        /// Queries. `[query, d_k]`
        Query = "query",
        /// Keys. `[key, d_k]`
        Key = "key",
        /// Values. `[key, d_v]`
        Value = "value",
        /// Products of queries and keys. `[query, key]`
        Scores = "scores",
        /// Scores times the scale, divided by the temperature. `[query, key]`
        Scaled = "scaled",
        /// Scaled scores, with minus infinity where the mask blocks. `[query, key]`
        Masked = "masked",
        /// The exponentials of the scores: the numerators of the softmax. `[query, key]`
        Exponentials = "exponentials",
        /// The sums of the exponentials: the denominators of the softmax. `[query, 1]`
        ExponentialsSum = "exponentials_sum",
        /// The softmax of each row. `[query, key]`
        Weights = "weights",
        /// The sum of each row of weights. `[query, 1]`
        WeightsSum = "weights_sum",
        /// Each value times its weight, if one query is shown. `[key, d_v]`
        Contributions = "contributions",
        /// The weighted sum of values. `[query, d_v]`
        Output = "output",
    }
}

impl Stage {
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
