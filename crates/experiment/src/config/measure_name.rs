//! The names of measures.

use headlight_schema::choices;

choices! {
    /// A measure of a trained model. The order is that of the columns of rows.
    #[derive(PartialOrd, Ord)]
    pub enum MeasureName {
        /// The attention that the readout position pays to the positions that decide a sample's label, for each layer and
        /// head: a list of lists. Mean over all samples in which a position decides.
        DecidingAttention = "deciding_attention",
        /// What `deciding_attention` would be if attention were uniform: the share of the keys that decide. Mean over the same samples.
        DecidingUniform = "deciding_uniform",
        /// Whether the words that get more attention are those with the larger gradient (Jain and Wallace 2019): Kendall's tau-b
        /// over the words of a sample, mean over the first 1,000 samples.
        KendallGradient = "kendall_gradient",
        /// Whether the words that get more attention are those that change the prediction most when they are left out (Jain and
        /// Wallace 2019): Kendall's tau-b over the words of a sample, mean over the first 1,000 samples.
        KendallRemoval = "kendall_removal",
        /// How much the loss rises without each head, for each layer: a list of lists. Mean over the first 1,000 samples.
        HeadRemoval = "head_removal",
        /// How many of all possible inputs the model answers wrongly; for models with one layer that read one position.
        WrongInputs = "wrong_inputs",
        /// The smallest margin of all possible inputs: the label's logit less the largest other one, or with one logit the label's
        /// log-odds.
        SmallestMargin = "smallest_margin",
        /// How much the log-odds of class 1 change with the tokens that decide it. Mean over pairs: one of the first 64 samples of
        /// class 1, and the same sample with other tokens there, so that it is of class 0.
        Gap = "gap",
        /// The share of `gap` that the last layer's attention weights carry, with values as they are.
        GapByWeights = "gap_by_weights",
        /// The share of `gap` that the last layer's values carry, with attention weights as they are.
        GapByValues = "gap_by_values",
    }
}
