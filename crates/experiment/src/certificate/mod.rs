//! How a model answers every input that is possible, counted exactly: as the fused engine answers it, rounding included.
//!
//! For models of one block whose answer is read from one position. What that position's query finds is a sum over positions
//! (`attention.rs`), and what follows is a function of it (`tail.rs`). The search (`search.rs`) bounds regions of inputs (`region.rs`);
//! where a bound is not above what float32 can be off by (`rounding.rs`), the engine itself computes the inputs (`answers.rs`).

mod activation;
mod answers;
mod attention;
mod labels;
mod linear;
mod norm;
mod parameters;
mod region;
mod rounding;
mod search;
mod tail;
mod worst;

use core::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

pub use worst::Example;

use crate::config::ExperimentConfig;
use crate::error::Error;
use answers::Answers;
use attention::Attention;
use labels::Labels;
use parameters::Parameters;
use region::Reading;
use search::{Search, Tally};
use worst::Worst;

/// How a model answers all inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Of each class.
    pub classes: Vec<OfClass>,
    /// Inputs that the engine computed, since bounds did not decide.
    pub computed: u64,
    pub regions: u64,
    pub enumerated: u64,
}

/// How a model answers the inputs of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct OfClass {
    /// All of them.
    pub inputs: u64,
    /// Those that are answered wrongly.
    pub wrong: u64,
    /// The inputs with the smallest margins, the smallest first.
    pub worst: Vec<Example>,
    /// Of the wrong ones, those with each token at each position. `[position][token]`
    pub tokens: Vec<Vec<u64>>,
}

/// Counts how a config's model answers all inputs.
///
/// # Errors
/// When the model or its inputs are others than this can count.
pub fn certify(
    config: &ExperimentConfig,
    weights: &[f32],
    examples: usize,
    threads: usize,
) -> Result<Certificate, Error> {
    let data = &config.data;
    let Some(rule) = &data.rule else {
        return Err(Error::Input("no rule".to_owned()));
    };
    let inputs = config.inputs();
    let all = data.cls.first_token()..data.vocab_size;
    let tokens: Vec<Range<u32>> = (0..inputs.positions)
        .map(|position| if inputs.cls == Some(position) { 0..1 } else { all.clone() })
        .collect();
    let parameters = Parameters::new(config, weights);
    let reader = rule.reader(data.cls, data.n_classes);
    let labels = reader.and_then(|reader| Labels::new(&reader, &tokens));
    let worst = Worst::new(data.n_classes, examples);
    let answers = Answers::new(config, weights)?;
    let done = AtomicU64::new(0);
    let counts: Vec<usize> = tokens.iter().map(ExactSizeIterator::len).collect();
    let mut tally = Tally::new(data.n_classes, &counts);
    let first: Vec<u32> = tokens.iter().map(|tokens| tokens.start).collect();
    for own in tokens[inputs.read_position].clone() {
        let reading = Reading {
            attention: Attention::new(&parameters, &tokens, own),
            tail: parameters.tail(),
            classes: data.n_classes,
        };
        let mut region: Vec<Vec<u32>> = counts.iter().map(|&count| (0..count as u32).collect()).collect();
        region[inputs.read_position] = vec![own - first[inputs.read_position]];
        let search = Search {
            config,
            rule,
            reading: &reading,
            labels: labels.as_ref(),
            first: &first,
            worst: &worst,
            answers: &answers,
            done: &done,
        };
        tally.add(&search.run(region, threads));
    }
    let _ = done.load(Ordering::Relaxed);
    let parts = tally.inputs.into_iter().zip(tally.wrong).zip(tally.tokens);
    let classes = parts.zip(worst.into_examples());
    Ok(Certificate {
        classes: classes
            .map(|(((inputs, wrong), tokens), worst)| OfClass { inputs, wrong, worst, tokens })
            .collect(),
        computed: tally.computed,
        regions: tally.regions,
        enumerated: tally.enumerated,
    })
}
