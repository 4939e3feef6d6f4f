//! How a model answers every input that is possible, counted exactly: as the fused engine answers it.
//!
//! For models of one layer whose answer is read from one position. What that position's query finds is a sum over positions of what
//! each token adds (`table.rs`), and the logits are a function of it (`logits.rs`). The search (`walk.rs`) divides inputs into
//! regions (`region.rs`); where all inputs of one have the same answer (`bounds.rs`), it counts them at once, by their labels (`states.rs`). It computes in float64. Inputs whose margin is near 0 are answered by the engine itself (`answers.rs`, `near.rs`).
//! The inputs with the smallest margins (`smallest.rs`) are found in the same way. Of models whose logits are another function, or whose
//! scores are too far apart, the engine answers every input.

mod answers;
mod bounds;
mod check;
mod findings;
mod logits;
mod near;
mod progress;
mod region;
mod sample;
mod search;
mod smallest;
mod states;
mod table;
mod walk;

pub use check::{check, check_rule, inputs};
pub use findings::{Certificate, ClassAnswers, CommonToken};
pub use sample::{SampleEstimate, sample};
pub use smallest::Example;

use answers::Answers;
use check::tokens;
use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use logits::Logits;
use near::RoundingBound;
use progress::Progress;
use search::{Search, Tally};
use states::StateTable;
use table::Table;
use walk::{Goal, Model, walk};

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
    let answers = Answers::new(config, weights)?;
    let data = &config.data;
    let tokens = tokens(config);
    let reader = rule.automaton(data.cls, data.n_classes);
    let labels = reader.and_then(|reader| StateTable::new(&reader, &tokens, data.n_classes));
    let inputs = inputs(config).unwrap_or(u64::MAX);
    let search = Search {
        config,
        rule,
        labels: labels.as_ref(),
        tokens: &tokens,
        answers: &answers,
        examples,
        threads,
        progress: &Progress::new(inputs, watch),
    };
    let mut tally = match Logits::new(config, weights) {
        Some(logits) => by_bounds(&search, weights, &logits)?,
        None => ask(&search, None)?,
    };
    if let Some(labels) = &labels {
        let region = search.region(None);
        let counts = labels.count(&region.tokens());
        for (class, all) in tally.all.iter_mut().enumerate() {
            labels.add_tokens(&region.tokens(), &counts, class as u32, all);
        }
    }
    Ok(Certificate::new(tally, &tokens))
}

/// Asks the engine about all inputs, or about those with a token at the readout position.
fn ask(search: &Search<'_>, read_token: Option<u32>) -> Result<Tally, Error> {
    let (model, list) = (None, None);
    let mut tally = Tally::new(search);
    let all = search.region(read_token);
    walk(search, all, Goal { model, list }, &mut tally)?;
    Ok(tally)
}

/// Searches the inputs of each token at the readout position.
fn by_bounds(search: &Search<'_>, weights: &[f32], logits: &Logits) -> Result<Tally, Error> {
    let read = search.config.inputs().read_position;
    let near = RoundingBound::new(search, weights, logits)?;
    let mut tally = Tally::new(search);
    for read_token in search.tokens[read].clone() {
        let Some(table) = Table::new(search, weights, logits, read_token)? else {
            tally.add(ask(search, Some(read_token))?);
            continue;
        };
        let model = Model { table, near };
        let classes = 0..if search.examples > 0 {
            search.classes()
        } else {
            0
        };
        for list in [None].into_iter().chain(classes.map(Some)) {
            let (all, model) = (model.table.region.clone(), Some(&model));
            walk(search, all, Goal { model, list }, &mut tally)?;
        }
    }
    Ok(tally)
}
