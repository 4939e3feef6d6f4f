//! Does attention say which words matter? Jain and Wallace 2019; Wiegreffe and Pinter 2019.

use headlight_experiment::metrics::wilson;
use headlight_inspector::Plot;

use crate::page::{Compared, Page, Verdict, between, percents, table};
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
            quick: 100,
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
        part!("sentiment", 0.13),
        part!("negation", 0.16),
        part!("pronoun", 0.21),
        part!("bank", 0.20),
        part!("apple", 0.10),
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
    let header = [
        "sentences",
        "runs that learned",
        "gradient: median",
        "5% to 95% of seeds",
        "removal: median",
        "5% to 95% of seeds",
    ];
    let mut rows_of_table = Vec::new();
    let mut figures = Vec::new();
    let mut of_grammar = [Vec::new(), Vec::new()];
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
            cells.push(between(Some([low, high]), 3));
            of_grammar[index].push(values.clone());
            let words = ["with gradients", "with leaving words out"][index];
            compared.push(Compared {
                quantity: format!("Kendall's tau {words}, {}", part.name),
                published: Some(PUBLISHED[index].to_owned()),
                ours: format!("{:.3}", median(&values)),
                interval: between(interval_of_median(&values), 3),
                verdict: Verdict::NotComparable,
            });
            figures.push(Plot::Histogram {
                label: format!("{}: Kendall's tau {words}", part.name),
                values,
                mark: None,
            });
        }
        rows_of_table.push(cells);
    }
    Page {
        findings: findings(&of_grammar),
        compared,
        how: vec![
            "The published values are of SST (reviews), of bidirectional LSTMs and averaging encoders; Jain and Wallace show one seed. These are \
             transformers on sentences of built-in grammars, so only the order of magnitude is comparable. The spread over seeds is \
             what one seed cannot show. Each value is a mean over up to 1,000 held-out sentences. Only models with a held-out F1 of 0.99 or \
             more count."
                .to_owned(),
        ],
        figures,
        tables: vec![table("By grammar", "over seeds", &header, rows_of_table)],
    }
}

/// Of the correlations with gradients and with leaving words out, by grammar.
fn findings([of_gradient, of_removal]: &[Vec<Vec<f64>>; 2]) -> Vec<String> {
    let medians = |grammars: &[Vec<f64>]| {
        let medians: Vec<f64> = grammars.iter().map(|values| median(values)).collect();
        [0.0, 1.0].map(|end| quantile(&medians, end))
    };
    let ([low, high], [low_removal, high_removal]) = (medians(of_gradient), medians(of_removal));
    let all: Vec<f64> = of_gradient.concat();
    let negative = all.iter().filter(|&&tau| tau < 0.0).count();
    let interval = percents(wilson(negative, all.len()), 1);
    let squares = |values: &[f64]| -> f64 {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum()
    };
    let within: f64 = of_gradient.iter().map(|values| squares(values)).sum();
    let spreads = of_gradient
        .iter()
        .map(|values| quantile(values, 0.95) - quantile(values, 0.05));
    vec![
        format!(
            "Attention ranks words somewhat as gradients do: by grammar, the median over seeds of Kendall's tau is {low:.2} to {high:.2}. It ranks them \
             as leaving them out does to about the same degree: {low_removal:.2} to {high_removal:.2}.",
        ),
        format!(
            "The seed accounts for {:.0}% of the variance of Kendall's tau with gradients, and the grammar for the rest. Within a grammar, the \
             5th and the 95th percentile over seeds are {:.2} apart in the median, although all models have a held-out F1 of 0.99 or more.",
            100.0 * within / squares(&all),
            median(&spreads.collect::<Vec<f64>>()),
        ),
        format!(
            "In {negative} of {} models, the rankings by attention and by gradient are negatively correlated on average ({interval}).",
            all.len(),
        ),
    ]
}
