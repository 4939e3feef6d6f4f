//! Does attention say which words matter? Jain and Wallace 2019; Wiegreffe and Pinter 2019.

use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, median, quantile};
use crate::study::{Part, Study};

const MEASURES: &str = r#"report.measures=["kendall_gradient", "kendall_removal"]"#;
const NAMES: [&str; 2] = ["kendall_gradient", "kendall_removal"];

macro_rules! part {
    ($name:literal, $seconds:literal) => {
        Part {
            name: $name,
            config: include_str!(concat!("../../../configs/", $name, ".toml")),
            changes: &[MEASURES],
            grid: &[],
            seeds: 1000,
            quick: 15,
            seconds: $seconds,
            fields: &["kendall_gradient", "kendall_removal", "held_out_f1"],
        }
    };
}

pub(crate) static STUDY: Study = Study {
    name: "explanation",
    question: "Does attention rank the words of a sentence as gradients do, or as leaving them out does, and does that depend on the seed?",
    source: "Published as Jain and Wallace 2019, Attention is not Explanation (arXiv 1902.10186), and Wiegreffe and Pinter 2019, Attention is not not \
             Explanation (arXiv 1908.04626)",
    parts: &[
        part!("sentiment", 1.0),
        part!("negation", 1.0),
        part!("pronoun", 1.0),
        part!("bank", 1.0),
        part!("apple", 1.0),
    ],
    page,
};

/// What they published of SST: the mean over sentences with gradients, and with leaving a word out.
const PUBLISHED: [&str; 2] = [
    "0.351 (BiLSTM), 0.606 (average)",
    "0.291 (BiLSTM), 0.623 (average)",
];

fn page(parts: &[Rows]) -> Page {
    let mut compared = Vec::new();
    let mut table = vec![
        [
            "sentences",
            "runs that learned",
            "gradient: median",
            "5% to 95% of seeds",
            "removal: median",
            "5% to 95% of seeds",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let mut figures = Vec::new();
    let (mut widest, mut negative) = (("", 0.0), 0);
    let mut all = 0;
    for (part, rows) in STUDY.parts.iter().zip(parts) {
        let learned = rows.with("held_out_f1", |f1| f1 >= 0.99);
        if learned.is_empty() {
            continue;
        }
        let mut cells = vec![
            part.name.to_owned(),
            format!("{} of {}", learned.len(), rows.len()),
        ];
        for (index, name) in NAMES.iter().enumerate() {
            let values = learned.numbers(name);
            let [low, high] = [0.05, 0.95].map(|share| quantile(&values, share));
            cells.push(format!("{:.3}", median(&values)));
            cells.push(format!("{low:.3} to {high:.3}"));
            if high - low > widest.1 {
                widest = (part.name, high - low);
            }
            if index == 0 {
                negative += values.iter().filter(|&&tau| tau < 0.0).count();
                all += values.len();
            }
            let words = ["with gradients", "with leaving words out"][index];
            compared.push(Compared {
                quantity: format!("Kendall's tau {words}, {}", part.name),
                published: Some(PUBLISHED[index].to_owned()),
                ours: format!("{:.3}", median(&values)),
                interval: interval_of_median(&values).map_or_else(
                    || "–".to_owned(),
                    |[low, high]| format!("{low:.3} to {high:.3}"),
                ),
                verdict: Verdict::NotComparable,
            });
            figures.push(Plot::Histogram {
                label: format!("{}: Kendall's tau {words}", part.name),
                values,
                mark: None,
            });
        }
        table.push(cells);
    }
    Page {
        findings: vec![
            format!(
                "The seed decides a good part of the answer: among models of `{}` that all classify held-out sentences rightly, 90% of the \
                 seeds spread over {:.2} of Kendall's tau.",
                widest.0, widest.1
            ),
            format!(
                "Attention ranks words against their gradients (tau below 0) in {negative} of {all} models that learned, {:.1}%.",
                100.0 * negative as f64 / all.max(1) as f64
            ),
        ],
        compared,
        how: vec![
            "The papers trained bidirectional LSTMs and averaging encoders on reviews, one seed each as far as their tables say. These are \
             transformers on sentences of built-in grammars, so nothing is comparable but the order of magnitude; the spread over seeds is \
             what one seed cannot show. Each value is a mean over up to 1,000 held-out sentences. Only models with a held-out F1 of 0.99 or \
             more count."
                .to_owned(),
        ],
        figures,
        tables: vec![Table::of_text("By grammar", "over seeds", table)],
    }
}
