//! How a model answers every input that is possible, counted exactly: as the fused engine answers it.
//!
//! For models of one block whose answer is read from one position. What that position's query finds is a sum over positions of what
//! each token adds (`passes.rs`, `sums.rs`), and what follows is a function of it (`tail.rs`). The count (`search.rs`) goes from prefix
//! to prefix; where what the rest of a prefix can add does not change the answer, it counts all of its inputs at once, by their labels
//! (`labels.rs`). It computes in float64. Inputs whose margin is near 0 are answered by the engine itself (`answers.rs`, `near.rs`).
//! The inputs with the smallest margins are found in the same way (`smallest.rs`).

mod answers;
mod check;
mod findings;
mod labels;
mod near;
mod passes;
mod progress;
mod sample;
mod search;
mod smallest;
mod sums;
mod tail;

pub use check::{check, check_rule, inputs};
pub use findings::{Certificate, ClassAnswers, CommonToken};
pub use sample::{Sampled, sample};
pub use smallest::Example;

use crate::config::ExperimentConfig;
use crate::error::Error;
use answers::Answers;
use check::tokens;
use labels::Labels;
use passes::Passes;
use progress::Progress;
use search::{Search, Tally};
use sums::Sums;
use tail::{Parameters, Tail};

/// Counts how a config's model answers all inputs, and finds so many `examples` of each class with the smallest margins. Threads change no
/// result. `watch` is told the share that is counted; its error ends the count.
///
/// # Errors
/// When the model or its inputs are others than [`check`] allows, weights are not those of the model, an answer is not finite, or the
/// count would take more than an hour.
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
    let parameters = Parameters { config, weights };
    let passes = Passes::new(&parameters)?;
    let tail = Tail::new(&parameters);
    let reader = rule.reader(data.cls, data.n_classes);
    let labels = reader.and_then(|reader| Labels::new(&reader, &tokens, data.n_classes));
    let mut answers = Answers::new(config, weights)?;
    let near = near::near(config, &passes, &tail, &mut answers)?;
    let progress = Progress::new(inputs(config).unwrap_or(u64::MAX), watch);
    let first: Vec<u32> = tokens.iter().map(|tokens| tokens.start).collect();
    let counts: Vec<usize> = tokens.iter().map(ExactSizeIterator::len).collect();
    let mut tally = Tally::new(data.n_classes, &counts);
    let mut smallest = vec![Vec::new(); data.n_classes];
    for own in 0..counts[read] as u32 {
        let sums = Sums::new(&passes, &tail, read, own);
        let search = Search {
            config,
            rule,
            sums: &sums,
            labels: labels.as_ref(),
            first: &first,
            answers: &answers,
            near,
            threads,
            progress: &progress,
        };
        tally.add(&search.count()?);
        for (class, found) in smallest.iter_mut().enumerate().filter(|_| examples > 0) {
            *found = smallest::smallest(&search, class as u32, examples, core::mem::take(found))?;
        }
    }
    Ok(Certificate::new(tally, smallest, &first))
}
