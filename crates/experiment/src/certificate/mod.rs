//! How a model answers every input that is possible, counted exactly: as the fused engine answers it, rounding included.
//!
//! For models of one block whose answer is read from one position. What that position's query finds is a sum over positions
//! (`attention.rs`), and what follows is a function of it (`tail.rs`). The count (`search.rs`) bounds regions of inputs (`region.rs`)
//! and divides those that their bounds do not decide; where a bound is not above what float32 can be off by (`rounding.rs`), the engine
//! itself computes the inputs (`answers.rs`). The inputs with the smallest margins are found in the same way (`worst.rs`).

mod activation;
mod answers;
mod attention;
mod check;
mod findings;
mod labels;
mod linear;
mod norm;
mod parameters;
mod progress;
mod ratios;
mod region;
mod rounding;
mod sample;
mod search;
mod tail;
mod worst;

pub use check::{check, check_rule, inputs};
pub use findings::{Certificate, ClassAnswers, CommonToken};
pub use sample::{Sampled, sample};
pub use worst::Example;

use crate::config::ExperimentConfig;
use crate::error::Error;
use answers::Answers;
use attention::Attention;
use check::tokens;
use labels::Labels;
use parameters::Parameters;
use progress::Progress;
use region::Reading;
use search::{Search, Sets, Tally};

/// Counts how a config's model answers all inputs, and finds so many `examples` of each class with the smallest margins. Threads change no
/// result. `watch` is told the share that is counted; its error ends the count.
///
/// # Errors
/// When the model or its inputs are others than [`check`] allows, weights are not those of the model, or the count would take more
/// than an hour.
pub fn certify(
    config: &ExperimentConfig,
    weights: &[f32],
    examples: usize,
    threads: usize,
    watch: &(dyn Fn(f64) -> Result<(), Error> + Sync),
) -> Result<Certificate, Error> {
    let rule = check(config).map_err(|reason| Error::Input(format!("a certificate {reason}")))?;
    let data = &config.data;
    let read = config.inputs().read_position;
    let tokens = tokens(config);
    let parameters = Parameters::new(config, weights);
    let reader = rule.reader(data.cls, data.n_classes);
    let labels = reader.and_then(|reader| Labels::new(&reader, &tokens));
    let answers = Answers::new(config, weights)?;
    let progress = Progress::new(inputs(config).unwrap_or(u64::MAX), watch);
    let first: Vec<u32> = tokens.iter().map(|tokens| tokens.start).collect();
    let whole: Sets = tokens
        .iter()
        .map(|tokens| (0..tokens.len() as u32).collect())
        .collect();

    let counts: Vec<usize> = whole.iter().map(|set| set.len()).collect();
    let mut tally = Tally::new(data.n_classes, &counts);
    let mut worst = vec![Vec::new(); data.n_classes];
    let tail = parameters.tail();
    for own in tokens[read].clone() {
        let reading = Reading {
            attention: Attention::new(&parameters, &tokens, own),
            tail: tail.clone(),
            classes: data.n_classes,
        };
        let search = Search {
            config,
            rule,
            reading: &reading,
            labels: labels.as_ref(),
            first: &first,
            answers: &answers,
            threads,
            progress: &progress,
        };
        let mut region = whole.clone();
        region[read] = [own - first[read]].into();
        tally.add(&search.count(&region)?);
        for (class, found) in worst.iter_mut().enumerate().filter(|_| examples > 0) {
            *found = worst::worst(
                &search,
                class as u32,
                examples,
                core::mem::take(found),
                &region,
            )?;
        }
    }
    Ok(Certificate::new(tally, worst, &first))
}
