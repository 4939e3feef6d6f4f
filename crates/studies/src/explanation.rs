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
    source: "Published as Jain and Wallace 2019, Attention is not Explanation (arXiv 1902.10186), whose values stand here. Wiegreffe and Pinter 2019, \
             Attention is not not Explanation (arXiv 1908.04626), measured how attention itself varies over seeds",
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
    "0.351 (LSTM), 0.606 (mean of embeddings)",
    "0.291 (LSTM), 0.623 (mean of embeddings)",
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
    let mut names = Vec::new();
    for (part, rows) in STUDY.parts.iter().zip(parts) {
        let learned = rows.with("held_out_f1", |f1| f1 >= 0.99);
        if learned.is_empty() {
            continue;
        }
        names.push(part.name);
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
        findings: findings(&of_grammar, &names),
        compared,
        how: vec![
            "Attention is that of [CLS] in the last block, mean over two heads. A word's gradient is that of the predicted class's log-odds by \
             its embedding, times the embedding, with attention weights held fixed. Leaving a word out hides it from all attention; the \
             paper deletes it. Kendall's tau-b compares the order of a sentence's words by attention with their order by one of these. It \
             counts all pairs of words, so the order of words that do not matter counts too. Each value is a mean over up to 1,000 held-out \
             sentences."
                .to_owned(),
            "The published values are of SST (reviews), of bidirectional LSTMs and of encoders that take the mean of embeddings. Ours are \
             transformers of width 16 or 24 on sentences of built-in grammars: `sentiment` has one block, the others two. So no value is \
             comparable. Only models with a held-out F1 of 0.99 or more count."
                .to_owned(),
        ],
        figures,
        tables: vec![table("By grammar", "over seeds", &header, rows_of_table)],
    }
}

/// The share of the variance that lies within the groups.
fn within(groups: &[Vec<f64>]) -> f64 {
    let squares = |values: &[f64]| -> f64 {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum()
    };
    groups.iter().map(|values| squares(values)).sum::<f64>() / squares(&groups.concat())
}

/// Of the correlations with gradients and with leaving words out, by grammar. The first grammar's models have one block.
fn findings([of_gradient, of_removal]: &[Vec<Vec<f64>>; 2], names: &[&str]) -> Vec<String> {
    let ends = |values: Vec<f64>| [0.0, 1.0].map(|end| quantile(&values, end));
    let medians =
        |grammars: &[Vec<f64>]| ends(grammars.iter().map(|values| median(values)).collect());
    let ([low, high], [low_removal, high_removal]) = (medians(of_gradient), medians(of_removal));
    let spreads = of_gradient
        .iter()
        .map(|values| quantile(values, 0.95) - quantile(values, 0.05));
    let [least, most] = ends(spreads.collect());
    let mut findings = vec![
        format!(
            "Attention ranks words somewhat as gradients do: by grammar, the median over seeds of Kendall's tau is {low:.2} to {high:.2}. It agrees \
             with the ranking by leaving words out about as much: {low_removal:.2} to {high_removal:.2}.",
        ),
        format!(
            "One seed says little. Within a grammar, the 5th and the 95th percentile of seeds differ by {least:.2} to {most:.2}, although all \
             models have a held-out F1 of 0.99 or more."
        ),
    ];
    if of_gradient.len() > 2 {
        findings.push(format!(
            "The seed accounts for {:.0}% of the variance of Kendall's tau with gradients over all models, and for {:.0}% without those of `{}`, \
             which alone have one block. Grammars differ in depth, width and epochs as well as in sentences.",
            100.0 * within(of_gradient),
            100.0 * within(&of_gradient[1..]),
            names[0],
        ));
    }
    let below = |values: &Vec<f64>| values.iter().filter(|&&tau| tau < 0.0).count();
    let counts: Vec<usize> = of_gradient.iter().map(below).collect();
    let (negative, count) = (counts.iter().sum(), of_gradient.iter().map(Vec::len).sum());
    let named = counts.iter().zip(names).filter(|(count, _)| **count > 0);
    let named: Vec<String> = named
        .map(|(count, name)| format!("{count} of `{name}`"))
        .collect();
    if negative > 0 {
        findings.push(format!(
            "In {negative} of {count} models ({}), the rankings by attention and by gradient are negatively correlated on average: {}.",
            percents(wilson(negative, count), 1),
            named.join(", ")
        ));
    }
    findings
}
