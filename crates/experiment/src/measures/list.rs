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
            /// How much the loss rises without each head, for each block: a list of lists. Mean over samples.
            HeadRemoval = "head_removal" in head_removal,
            /// The accuracy over all samples that are possible, of one block of attention with one head and nothing else.
            AccuracyOnAll = "accuracy_on_all" in accuracy_on_all,
            /// The share of the wrong answers to all these samples that name another token of the sample.
            ErrorsOnTokens = "errors_on_tokens" in errors_on_tokens,
            /// The share of the wrong answers to all these samples whose number differs from the label's by 1 or 2.
            ErrorsNear = "errors_near" in errors_near,
            /// The class with the most wrong answers to all these samples.
            WorstClass = "worst_class" in worst_class,
            /// The share of the wrong answers to all these samples that this class has.
            ErrorsInWorstClass = "errors_in_worst_class" in errors_in_worst_class,
            /// Whether larger tokens get larger scores, of one block of attention with one head and nothing else: Kendall's tau-b, mean
            /// over queries and positions.
            ScoreOrder = "score_order" in score_order,
            /// How often the larger of two tokens that follow one another gets the larger score, of one block of attention with one head and
            /// nothing else.
            NeighbourOrder = "neighbour_order" in neighbour_order,
            /// How often the value of a token adds most to the logit of the class with its number, of one block of attention with one
            /// head and nothing else.
            Copying = "copying" in copying,
            /// How many of all possible inputs are answered wrongly, of models with one block that read one position.
            WrongInputs = "wrong_inputs" in wrong_inputs,
            /// The smallest margin of all possible inputs: the label's logit less the largest other one, or with one logit the label's
            /// log-odds.
            SmallestMargin = "smallest_margin" in smallest_margin,
            /// How much the log-odds of class 1 change with the tokens that decide it: mean over pairs of a sample of class 1 and the same
            /// sample with other tokens there, of class 0.
            Gap = "gap" in gap,
            /// The share of `gap` that the last block's attention weights carry, with values as they are.
            GapByWeights = "gap_by_weights" in gap_by_weights,
            /// The share of `gap` that the last block's values carry, with attention weights as they are.
            GapByValues = "gap_by_values" in gap_by_values,
            /// The share of `gap` that is left if no query looks at the position that is read.
            GapWithoutReader = "gap_without_reader" in gap_without_reader,
            /// The share of `gap` that is left if queries look at nothing but the positions that decide and the one that is read.
            GapWithoutOthers = "gap_without_others" in gap_without_others,
            /// How much the log-odds of class 1 would change in its samples if the position that is read looked at nothing but the positions
            /// that decide, in the last block.
            GainOfLooking = "gain_of_looking" in gain_of_looking,
            /// The same in samples of class 0, which differ from those of class 1 at the positions that decide.
            GainOfLookingZero = "gain_of_looking_zero" in gain_of_looking_zero,
            /// How much the log-odds of "balanced" fall where one bracket of a balanced string is turned, so that its totals are unequal: mean
            /// over pairs.
            GapOfTotals = "gap_of_totals" in gap_of_totals,
            /// How much they fall where two brackets are exchanged, so that a prefix has more closing than opening ones.
            GapOfOrder = "gap_of_order" in gap_of_order,
            /// The share of `gap_of_totals` that each head carries to the position that is read, for each block: a list of lists.
            TotalsByHead = "totals_by_head" in totals_by_head,
            /// The share of `gap_of_order` that each head carries to the position that is read, for each block: a list of lists.
            OrderByHead = "order_by_head" in order_by_head,
        }
    };
}
