//! The table of metrics.

/// What precedes the keys of held-out samples.
pub(super) const HELD_OUT: &str = "held_out_";

/// The names of a metric, and how tables show it.
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// The metric.
    pub metric: Metric,
    /// Its key in `metrics.jsonl`; for held-out samples, `held_out_` precedes it.
    pub name: &'static str,
    /// Its name in tables.
    pub label: &'static str,
    /// Digits after the decimal point in tables.
    pub decimals: usize,
    /// Its key in the rows of a sweep, and its label above their columns.
    pub row: [&'static str; 2],
    /// What kind of number it is.
    pub kind: MetricKind,
    /// Whether less or more of it is better; `None` if `training.keep_best` cannot name it.
    pub(super) better: Option<BetterValues>,
}

/// Kinds of metrics, by where they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A loss or a ratio of counts: in the table of a run's report, and in rows for held-out samples too.
    Ratio,
    /// The most extreme probability of a class.
    Extreme,
    /// Attention on the positions that decide the label: only in rows of configs with a rule.
    Attention,
}

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BetterValues {
    Less,
    More,
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $metric:ident: $name:literal, $label:literal, $decimals:literal, $row:expr, $kind:ident, $better:expr;)+) => {
        /// A metric of a model on a whole split.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Metric {
            $($(#[doc = $doc])+ $metric),+
        }

        /// All metrics, in the order of [`Metric`].
        pub const METRICS: [MetricInfo; [$($name),+].len()] = [$(MetricInfo {
            metric: Metric::$metric,
            name: $name,
            label: $label,
            decimals: $decimals,
            row: $row,
            kind: MetricKind::$kind,
            better: $better,
        }),+];
    };
}

const LESS: Option<BetterValues> = Some(BetterValues::Less);
const MORE: Option<BetterValues> = Some(BetterValues::More);

// Of each its key, its name and decimals in tables, its key and its label in rows, its kind, and what is better.
metrics! {
    /// Mean cross-entropy, in nats.
    Loss: "loss", "loss", 5, ["final_loss", "final loss"], Ratio, LESS;
    /// Share of samples that are classified correctly.
    Accuracy: "accuracy", "accuracy", 5, ["accuracy"; 2], Ratio, MORE;
    /// Share of true positives among samples classified as positive. With more than two classes, this and the next
    /// two are means over the classes.
    Precision: "precision", "precision", 4, ["precision"; 2], Ratio, None;
    /// Share of positive samples that are classified as positive.
    Recall: "recall", "recall", 4, ["recall"; 2], Ratio, None;
    /// Harmonic mean of precision and recall.
    F1: "f1", "F1", 4, ["f1", "F1"], Ratio, MORE;
    /// Smallest probability of a positive sample, of two classes.
    MinPositive: "min_positive", "smallest probability of a positive", 4, ["min_positive", "smallest probability of a positive"], Extreme, None;
    /// Largest probability of a negative sample, of two classes.
    MaxNegative: "max_negative", "largest probability of a negative", 4, ["max_negative", "largest probability of a negative"], Extreme, None;
    /// Attention of the readout position to the positions that decide the label, in the last layer: the sum over these
    /// positions, averaged over heads and samples of every class but 0.
    AttentionPositive: "attention_positive", "attention, positives", 3, ["deciding_attention_positive", "attention on what decides, positives"], Attention, None;
    /// The same over samples of class 0.
    AttentionNegative: "attention_negative", "attention, negatives", 3, ["deciding_attention_negative", "attention on what decides, negatives"], Attention, None;
    /// `AttentionPositive` for uniform attention, which is 1 / the keys that the readout position may look at.
    UniformPositive: "uniform_positive", "uniform, positives", 3, ["deciding_uniform_positive", "uniform attention on what decides, positives"], Attention, None;
    /// `AttentionNegative` for uniform attention.
    UniformNegative: "uniform_negative", "uniform, negatives", 3, ["deciding_uniform_negative", "uniform attention on what decides, negatives"], Attention, None;
}

/// A column of the terminal's table of a training.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The two lines above it; the first may stand above columns to the left, too.
    pub heading: [&'static str; 2],
    /// Its width in characters.
    pub width: usize,
    /// The metric.
    pub metric: Metric,
    /// Whether it is over held-out samples.
    pub held_out: bool,
    /// Digits after the decimal point.
    pub decimals: usize,
    /// The metric that it is shown as a multiple of.
    pub over: Option<Metric>,
}

/// The columns of the terminal's table of a training.
pub const TERMINAL: [Column; 6] = {
    const fn column(
        heading: [&'static str; 2],
        width: usize,
        metric: Metric,
        decimals: usize,
    ) -> Column {
        Column {
            heading,
            width,
            metric,
            held_out: false,
            decimals,
            over: None,
        }
    }
    [
        column(["", "loss"], 6, Metric::Loss, 4),
        column(["", "accuracy"], 8, Metric::Accuracy, 4),
        column(["", "F1"], 5, Metric::F1, 3),
        Column {
            held_out: true,
            ..column(["held-out", "F1"], 8, Metric::F1, 3)
        },
        Column {
            over: Some(Metric::UniformPositive),
            ..column(["", "label 1"], 7, Metric::AttentionPositive, 2)
        },
        Column {
            over: Some(Metric::UniformNegative),
            ..column(["attention", "label 0"], 7, Metric::AttentionNegative, 2)
        },
    ]
};

/// The metrics in tables of the page, each with its digits after the decimal point.
pub const PAGE: [(Metric, usize); 3] = [(Metric::F1, 3), (Metric::Accuracy, 4), (Metric::Loss, 4)];

/// The metrics that a report compares between the groups of a sweep, and whether they are over held-out samples.
pub const COMPARED: [(Metric, bool); 2] = [(Metric::Loss, false), (Metric::F1, true)];

impl Metric {
    /// Its names, and how tables show it.
    pub const fn info(self) -> MetricInfo {
        METRICS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As their headings say: one column is over held-out samples, and attention is in multiples of uniform attention.
    #[test]
    fn the_terminals_columns_hold_what_stands_above_them() {
        for column in TERMINAL {
            assert_eq!(column.held_out, column.heading[0] == "held-out");
            let over = match column.metric {
                Metric::AttentionPositive => Some(Metric::UniformPositive),
                Metric::AttentionNegative => Some(Metric::UniformNegative),
                _ => None,
            };
            assert_eq!(column.over, over);
        }
    }
}
