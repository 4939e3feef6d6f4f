//! The table of metrics.

/// What precedes the keys of held-out samples.
pub(super) const HELD_OUT: &str = "held_out_";

/// A metric of a model on a whole split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Mean cross-entropy, in nats.
    Loss,
    /// Share of samples that are classified correctly.
    Accuracy,
    /// Share of true positives among samples classified as positive. With more than two classes, this and the next
    /// two are means over the classes.
    Precision,
    /// Share of positive samples that are classified as positive.
    Recall,
    /// Harmonic mean of precision and recall.
    F1,
    /// Smallest probability of a positive sample, of two classes.
    MinPositive,
    /// Largest probability of a negative sample, of two classes.
    MaxNegative,
    /// Attention of `[CLS]` to the positions that decide the label, in the last block: the sum over these
    /// positions, averaged over heads and samples of every class but 0.
    AttentionPositive,
    /// The same over samples of class 0.
    AttentionNegative,
    /// `AttentionPositive` for uniform attention, which is 1 / the keys that `[CLS]` may look at.
    UniformPositive,
    /// `AttentionNegative` for uniform attention.
    UniformNegative,
}

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
    /// Its key and its label in the rows of a sweep; `None` if it is not part of them. Rows hold a ratio for
    /// held-out samples too.
    pub row: Option<[&'static str; 2]>,
    /// Whether it is a loss or a ratio of counts. The table of a run's report shows these.
    pub is_ratio: bool,
    /// Whether less or more of it is better; `None` if `training.keep_best` cannot name it.
    pub(super) better: Option<Better>,
}

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Less,
    More,
}

/// All metrics, in the order of [`Metric`].
pub const METRICS: [MetricInfo; 11] = {
    use Metric::{
        Accuracy, AttentionNegative, AttentionPositive, F1, Loss, MaxNegative, MinPositive,
        Precision, Recall, UniformNegative, UniformPositive,
    };
    const fn ratio(
        metric: Metric,
        [name, label]: [&'static str; 2],
        row: [&'static str; 2],
        decimals: usize,
        better: Option<Better>,
    ) -> MetricInfo {
        MetricInfo {
            metric,
            name,
            label,
            decimals,
            row: Some(row),
            is_ratio: true,
            better,
        }
    }
    const fn other(
        metric: Metric,
        [name, label]: [&'static str; 2],
        decimals: usize,
        in_rows: bool,
    ) -> MetricInfo {
        MetricInfo {
            metric,
            name,
            label,
            decimals,
            row: if in_rows { Some([name, label]) } else { None },
            is_ratio: false,
            better: None,
        }
    }
    let (less, more) = (Some(Better::Less), Some(Better::More));
    [
        ratio(
            Loss,
            ["loss", "loss"],
            ["final_loss", "final loss"],
            5,
            less,
        ),
        ratio(Accuracy, ["accuracy"; 2], ["accuracy"; 2], 5, more),
        ratio(Precision, ["precision"; 2], ["precision"; 2], 4, None),
        ratio(Recall, ["recall"; 2], ["recall"; 2], 4, None),
        ratio(F1, ["f1", "F1"], ["f1", "F1"], 4, more),
        other(
            MinPositive,
            ["min_positive", "smallest probability of a positive"],
            4,
            true,
        ),
        other(
            MaxNegative,
            ["max_negative", "largest probability of a negative"],
            4,
            true,
        ),
        other(
            AttentionPositive,
            ["attention_positive", "attention, positives"],
            3,
            false,
        ),
        other(
            AttentionNegative,
            ["attention_negative", "attention, negatives"],
            3,
            false,
        ),
        other(
            UniformPositive,
            ["uniform_positive", "uniform, positives"],
            3,
            false,
        ),
        other(
            UniformNegative,
            ["uniform_negative", "uniform, negatives"],
            3,
            false,
        ),
    ]
};

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

    #[test]
    fn the_table_is_in_the_order_of_metrics() {
        for (index, info) in METRICS.iter().enumerate() {
            assert_eq!(info.metric as usize, index, "{}", info.name);
        }
    }

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
