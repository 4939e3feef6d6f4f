//! Which words decided, as a table, a picture and JSON.

use headlight_analysis::explain::{Explanation, Gradients, Word, explain};
use headlight_architecture::{Parameter, StrongestHead};
use headlight_data::{ClsPlace, Dataset, DatasetConfig};
use headlight_experiment::config::ExperimentConfig;
use headlight_report::{BarColumn, BarTable, counted, number};
use serde_json::{Value, json};

use crate::Failure;
use crate::files::samples::written;
use crate::session::dataset::dataset;
use crate::session::dumping::{DumpModel, strongest_head};
use crate::session::opening::open_device;

/// Decimals of probabilities, of multiples of uniform attention, and of what is added to a logit.
const PROBABILITY: usize = 3;
const MULTIPLE: usize = 2;
const GRADIENT: usize = 2;

/// The values of the longest bars, if none is larger.
const FULL_MULTIPLE: f64 = 4.0;
const FULL_CHANGE: f64 = 0.25;
const FULL_GRADIENT: f64 = 1.0;

/// Explains what a model predicts for the only sample of a dataset; `text` is what the user wrote, if it is a text, and `head` that
/// of [`head_of_run`].
///
/// # Errors
/// As [`explain`].
pub fn of_sample(
    config: &ExperimentConfig,
    parameters: &[Parameter],
    dataset: &Dataset,
    text: Option<&str>,
    head: Option<StrongestHead>,
) -> Result<Explanation, Failure> {
    let weights = Parameter::weights(parameters);
    let written = text.map_or_else(Vec::new, |text| written(text, &config.data));
    Ok(explain(config, &weights, dataset, 0, &written, head, true)?)
}

/// The strongest head of a model in the samples that its run dumps; `None` if they are not at hand, or the model has one head.
pub fn head_of_run(config: &ExperimentConfig, parameters: &[Parameter]) -> Option<StrongestHead> {
    if config.model.n_heads == 1 {
        return None;
    }
    let splits = dataset(config).ok()?;
    let device = open_device(&config.compute.device).ok()?;
    let found = strongest_head(DumpModel { config, parameters }, &splits, &device);
    found.ok().map(|(_, head)| head)
}

/// The explanation as JSON.
pub fn json(explanation: &Explanation, data: &DatasetConfig) -> Value {
    let class = |class: u32| match data.classes.get(class as usize) {
        Some(name) => json!(name),
        None => json!(class),
    };
    let word = |word: &Word| {
        json!({
            "position": word.position,
            "token": word.token,
            "word": word.text,
            "unknown": word.is_unknown,
            "weight": word.weight,
            "attention": word.attention,
            "probability_without": word.probability_without,
            "change": word.probability_without - explanation.probability,
            "predicted_without": class(word.predicted_without),
            "integrated_gradients": word.gradient,
        })
    };
    let gradients = explanation.gradients;
    json!({
        "predicted": class(explanation.predicted),
        "probability": explanation.probability,
        "layer": explanation.layer,
        "head": explanation.head.head,
        "uniform": explanation.uniform,
        "close_to_uniform": explanation.is_uniform,
        "words": explanation.words.iter().map(word).collect::<Vec<_>>(),
        "cut": explanation.cut,
        "logit": gradients.map(|gradients| gradients.logit),
        "baseline_logit": gradients.map(|gradients| gradients.baseline),
        "integrated_gradients_of_cls": gradients.map(|gradients| gradients.cls),
        "integrated_gradients_of_padding": gradients.and_then(|gradients| gradients.padding),
    })
}

/// The explanation as a table with bars.
pub fn table(explanation: &Explanation, config: &ExperimentConfig) -> BarTable {
    let data = &config.data;
    let class = data.answer(explanation.predicted as usize);
    let words = &explanation.words;
    let each = |text: &dyn Fn(&Word) -> String| words.iter().map(text).collect::<Vec<_>>();
    let bars = |value: &dyn Fn(&Word) -> f64| words.iter().map(value).collect::<Vec<_>>();
    let change = |word: &Word| word.probability_without - explanation.probability;
    let has_uniform = explanation.uniform.is_some();
    let shown = |word: &Word| match word.attention {
        None if !has_uniform && word.is_key => Some(word.weight),
        times => times,
    };
    let title = |first: &str, second: &str| [first.to_owned(), second.to_owned()];
    let changes_class = |word: &Word| word.predicted_without != explanation.predicted;
    let mut columns = vec![
        BarColumn {
            title: title(
                "attention",
                if has_uniform { "× uniform" } else { "weight" },
            ),
            // A tiny one has no exponent here.
            texts: each(&|word| {
                number(
                    shown(word).map(|times| if times.abs() < 1e-4 { 0.0 } else { times }),
                    MULTIPLE,
                )
            }),
            bars: bars(&|word| shown(word).unwrap_or(0.0)),
            full: if has_uniform { FULL_MULTIPLE } else { 1.0 },
        },
        BarColumn {
            title: title("if removed:", "probability"),
            texts: each(&|word| {
                let star = if changes_class(word) { "*" } else { " " };
                number(Some(word.probability_without), PROBABILITY) + star
            }),
            bars: Vec::new(),
            full: 0.0,
        },
        BarColumn {
            title: title("", "change"),
            texts: each(&|word| signed(change(word), PROBABILITY)),
            bars: bars(&change),
            full: FULL_CHANGE,
        },
    ];
    if explanation.gradients.is_some() {
        let gradient = |word: &Word| word.gradient.unwrap_or(0.0);
        columns.push(BarColumn {
            title: title("integrated", "gradients"),
            texts: each(&|word| signed(gradient(word), GRADIENT)),
            bars: bars(&gradient),
            full: FULL_GRADIENT,
        });
    }
    let (rows, prefix) = match data.words {
        Some(_) if !data.columns.features.is_empty() => ("value", String::new()),
        Some(_) => ("word", String::new()),
        None => ("token", "position: ".to_owned()),
    };
    let name = |word: &Word| match (&data.words, word.is_unknown) {
        (_, true) => format!("{} (unknown)", word.text),
        (Some(_), _) => word.text.clone(),
        (None, _) => format!("{}: {}", word.position, word.text),
    };
    BarTable {
        title: format!(
            "Which {rows}s decided: {class}, probability {:.PROBABILITY$}",
            explanation.probability
        ),
        rows: prefix + rows,
        names: words.iter().map(name).collect(),
        columns,
        notes: notes(explanation, config, &class, rows),
    }
}

/// What the columns are, and what became of words.
fn notes(
    explanation: &Explanation,
    config: &ExperimentConfig,
    class: &str,
    word: &str,
) -> Vec<String> {
    let mut notes = vec![
        attention_note(explanation, config, word),
        removal_note(explanation, config, class, word),
    ];
    let gradients = explanation.gradients.as_ref();
    notes.extend(gradients.map(|gradients| gradients_note(gradients, &config.data, class, word)));
    if explanation.words.iter().any(|word| word.is_unknown) {
        notes.push(
            format!("unknown: the vocabulary lacks the {word}, so that the model sees [UNK], as for any other such {word}."),
        );
    }
    if !explanation.cut.is_empty() {
        notes.push(format!(
            "The model takes {}. It does not see the rest: {}",
            counted(config.data.seq_len, "word"),
            explanation.cut.join(" ")
        ));
    }
    notes
}

fn attention_note(explanation: &Explanation, config: &ExperimentConfig, word: &str) -> String {
    let multiples = explanation.uniform.map_or_else(String::new, |uniform| {
        let keys = uniform.recip().round();
        let each = if (uniform * keys - 1.0).abs() < 1e-9 {
            format!("1/{keys}")
        } else {
            number(Some(uniform), 3)
        };
        format!(", in multiples of uniform attention ({each})")
    });
    let which_head = explanation.which_head.as_ref();
    let which_head = which_head.map_or_else(String::new, |sentence| format!(" {sentence}."));
    let uniform = if explanation.is_uniform {
        format!(" It is close to uniform: this attention tells no {word}s apart.")
    } else {
        String::new()
    };
    let mean = if config.reads_mean() {
        " The class is read from the mean of all positions, not from this one alone."
    } else {
        ""
    };
    format!(
        "attention: the weight of {} in layer {}, head {}{multiples}.{which_head}{uniform}{mean}",
        config.displayed_readout_name(),
        explanation.layer,
        explanation.head.head
    )
}

fn removal_note(
    explanation: &Explanation,
    config: &ExperimentConfig,
    class: &str,
    word: &str,
) -> String {
    let mean = if config.reads_mean() {
        "; the mean still counts the place"
    } else {
        ""
    };
    let removed = match config.model.attention.padding_token {
        Some(_) => format!("padding stands in place of the {word}"),
        None => format!(
            "the place of the {word} is empty (no query looks at it, and its vector is 0{mean})"
        ),
    };
    let changes_class = |word: &Word| word.predicted_without != explanation.predicted;
    let star = if explanation.words.iter().any(changes_class) {
        "; *: the model then predicts another class"
    } else {
        ""
    };
    format!("if removed: the probability of {class} when {removed}, and its change{star}.")
}

fn gradients_note(gradients: &Gradients, data: &DatasetConfig, class: &str, word: &str) -> String {
    let quantity = match data.n_classes {
        2 => "log-odds",
        _ => "logit",
    };
    let part = |value: f64, source: &str| format!("{} from {source}", signed(value, GRADIENT));
    let has_cls = data.cls != ClsPlace::None;
    let parts = [
        has_cls.then(|| part(gradients.cls, "[CLS]")),
        gradients.padding.map(|padding| part(padding, "padding")),
    ];
    let from_others = match &*parts.into_iter().flatten().collect::<Vec<_>>().join(", ") {
        "" => String::new(),
        others => format!("{others} and "),
    };
    format!(
        "integrated gradients: what the {word} adds to the {quantity} of {class}. Their sum, with {from_others}{} \
         for an input of zeros, is the {quantity}: {}.",
        signed(gradients.baseline, GRADIENT),
        signed(gradients.logit, GRADIENT)
    )
}

/// A number with its sign; 0 has none.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text
        .bytes()
        .all(|byte| matches!(byte, b'+' | b'-' | b'0' | b'.'))
    {
        return format!("{:.decimals$}", 0.0);
    }
    text
}
