//! The list of measures.

/// Hands the measures to another macro: each with its sentence, its name in configs and rows, and the file that computes it.
macro_rules! measures {
    ($with:ident) => {
        $with! {
            /// The attention that the position which is read pays to the positions that decide a sample's label, for each block and
            /// head: a list of lists. Mean over samples.
            DecidingAttention = "deciding_attention" in deciding_attention,
            /// What `deciding_attention` would be if attention were uniform: the share of the keys that decide. Mean over samples.
            DecidingUniform = "deciding_uniform" in deciding_uniform,
            /// How little a - b matters to the logit of the right class of (a + b) mod p (Zhong et al. 2023): 1 if it depends on a + b
            /// alone, 0 if it depends on a - b alone.
            DistanceIrrelevance = "distance_irrelevance" in distance_irrelevance,
            /// How alike the two numbers of a sum modulo p act on a logit (Zhong et al. 2023): the mean cosine between the gradients by
            /// their embeddings.
            GradientSymmetricity = "gradient_symmetricity" in gradient_symmetricity,
            /// How close to circles the embeddings of the numbers modulo p lie (Zhong et al. 2023): the largest share of power at one
            /// frequency, mean over the first four principal components.
            Circularity = "circularity" in circularity,
            /// Whether the words that get more attention are those with the larger gradient (Jain and Wallace 2019): Kendall's tau-b
            /// over the words of a sample, mean over samples.
            KendallGradient = "kendall_gradient" in kendall_gradient,
            /// Whether the words that get more attention are those that change the prediction most when they are left out (Jain and
            /// Wallace 2019): Kendall's tau-b over the words of a sample, mean over samples.
            KendallRemoval = "kendall_removal" in kendall_removal,
        }
    };
}
