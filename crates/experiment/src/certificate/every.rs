//! Asks the engine about every input, where no bound says what many of them are answered.

use std::sync::atomic::{AtomicU64, Ordering};

use super::search::{Queue, Search, Tally};
use crate::error::Error;

/// Inputs that the engine computes at once.
const TOGETHER: usize = 256;

/// Inputs that a thread takes at once.
const PART: u64 = 1 << 14;

/// The answers to all inputs, or to those with a token at the position that is read; and the inputs of each class with the
/// smallest margins.
///
/// # Errors
/// As [`Progress::each`](super::progress::Progress::each), and when an answer is not finite.
pub(super) fn every(search: &Search<'_>, own: Option<u32>) -> Result<Tally, Error> {
    let read = search.config.inputs().read_position;
    let mut counts: Vec<u64> = search.counts.iter().map(|&count| count as u64).collect();
    if own.is_some() {
        counts[read] = 1;
    }
    let inputs: u64 = counts.iter().product();
    let next = AtomicU64::new(0);
    let parts = search.progress.each(search.threads, || {
        let mut tally = Tally::new(search);
        let mut queue = Queue::new(search);
        let mut tokens = vec![0; search.first.len()];
        loop {
            let part = next.fetch_add(PART, Ordering::Relaxed);
            if part >= inputs || search.progress.is_stopped() {
                return Ok(tally);
            }
            let end = inputs.min(part + PART);
            for number in part..end {
                name(&counts, number, &mut tokens);
                tokens[read] = own.unwrap_or(tokens[read]);
                let waiting = queue.push(&tokens, search.label(&tokens));
                if waiting == TOGETHER || number + 1 == end {
                    queue.ask(&mut tally, true)?;
                }
            }
            let done = &search.progress.done;
            done.fetch_add(end - part, Ordering::Relaxed);
        }
    })?;
    let mut tally = Tally::new(search);
    for part in parts {
        tally.add(part?);
    }
    Ok(tally)
}

/// The input of a number, among all that have so many tokens at each position.
fn name(counts: &[u64], mut number: u64, tokens: &mut [u32]) {
    for (token, count) in tokens.iter_mut().zip(counts).rev() {
        *token = (number % count) as u32;
        number /= count;
    }
}
