//! The facts of a page, as JSON: all but the numbers of the dumps.

use std::collections::BTreeMap;

use headlight_architecture::Scale;
use headlight_dump::{Array, AttentionDump};
use serde::{Deserialize, Serialize};

use crate::{Evidence, Lab, LossPoint, Page, PageRun, PageTraining};
use headlight_report::theme::VIRIDIS;

/// How far from 1 float32 sums of weights are at most.
const SUM_TOLERANCE: f64 = 1e-3;

/// The facts of a page.
#[derive(Serialize)]
pub(crate) struct Facts<'a> {
    viridis: [[u8; 3]; 9],
    runs: Vec<RunFacts<'a>>,
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lab: Option<&'a Lab>,
}

/// The facts of a run.
#[derive(Serialize)]
struct RunFacts<'a> {
    name: &'a str,
    seed: Option<u64>,
    layers: usize,
    heads: usize,
    positions: usize,
    d_head: usize,
    d_model: usize,
    has_feed_forward: bool,
    /// The scale of the products of queries and keys, and its formula.
    factor: f64,
    factor_text: String,
    norm_eps: f64,
    /// `None` for a dump that no training made.
    steps: Vec<Option<usize>>,
    /// The step of the best model, if the run keeps it; the page shows it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<usize>,
    /// Indices of the steps that have vectors.
    vectors: Vec<usize>,
    /// The arrays of vectors of such a step, each with its name and its count of numbers.
    vector_arrays: Vec<(&'static str, usize)>,
    masked: bool,
    /// Logits of an answer: one for two classes, else one per class.
    logits: usize,
    /// What the model answers at each position; `None` if it gives one answer per sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    /// The names of the classes; empty if they have none.
    classes: Vec<&'a str>,
    samples: Vec<SampleFacts<'a>>,
    token_strings: BTreeMap<i64, String>,
    /// The position of `[CLS]`; `None` if samples have none.
    cls: Option<usize>,
    /// The readout position, if it is not that of `[CLS]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<usize>,
    /// The config of the model; null if the dump has none.
    model: &'a serde_json::Value,
    /// The head of the last layer that the page shows first.
    strongest: usize,
    loss: &'a [LossPoint],
    /// The samples that the loss is measured over, if not all for training.
    #[serde(skip_serializing_if = "Option::is_none")]
    loss_over: Option<&'static str>,
    evidence: Vec<Evidence>,
    /// What came of its training, as the report says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
    /// What the page leaves out.
    notes: Vec<String>,
    again: &'a PageTraining,
    /// Set where only weights are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_scores: Option<bool>,
}

#[derive(Serialize)]
struct SampleFacts<'a> {
    /// Its index among the samples that its run shows, or else its row.
    number: usize,
    /// `None` if it is unknown.
    label: Option<u32>,
    tokens: Vec<i64>,
    /// The positions that the label depends on.
    marked: Vec<usize>,
    /// Of each position its label, if one counts there, and the positions that it depends on; empty where samples have one label.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    each: Vec<(Option<u32>, &'a [usize])>,
}

impl Page {
    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts {
            viridis: VIRIDIS,
            runs: self.runs.iter().filter_map(PageRun::facts).collect(),
            question: self.question.as_deref(),
            lab: self.lab.as_ref(),
        }
    }
}

impl PageRun {
    fn facts(&self) -> Option<RunFacts<'_>> {
        let last = self.dumps.last()?;
        let dims = last.dims;
        let attention = &last.meta.config["model"]["attention"];
        let (factor, factor_text) = factor(attention, dims.d_head);
        let kept = self.selection.steps.len();
        Some(RunFacts {
            name: &self.name,
            seed: last.meta.seed,
            layers: dims.layers,
            heads: dims.heads,
            positions: dims.positions,
            d_head: dims.d_head,
            d_model: dims.d_model,
            has_feed_forward: dims.d_ff > 0,
            factor,
            factor_text,
            norm_eps: last.meta.config["model"]["layer_norm_eps"]
                .as_f64()
                .unwrap_or(1e-6),
            steps: self.dumps.iter().map(|dump| dump.meta.step).collect(),
            best: self
                .selection
                .best
                .and_then(|best| self.dumps.get(best)?.meta.step),
            vectors: (0..kept)
                .filter(|&step| self.selection.has_vectors(step))
                .collect(),
            vector_arrays: self
                .vectors()
                .map(|array| (array.name(), last.arrays[array].len()))
                .collect(),
            masked: last.attention_mask.is_some(),
            logits: dims.logits,
            task: last.meta.config["data"]["task"]
                .as_str()
                .filter(|_| dims.per_position),
            classes: classes(last),
            samples: self.samples(last),
            token_strings: token_strings(last),
            cls: last.cls(),
            read: last.meta.read_position,
            model: &last.meta.config["model"],
            strongest: self.strongest,
            loss: &self.loss,
            loss_over: (last.meta.config["data"]["samples"] == "fresh")
                .then_some("the step's batch, after the step"),
            evidence: self.evidence(last),
            outcome: self.outcome.as_deref(),
            notes: self.notes(),
            again: &self.again,
            without_scores: (!self.has_scores).then_some(true),
        })
    }

    fn samples<'a>(&'a self, dump: &'a AttentionDump) -> Vec<SampleFacts<'a>> {
        let rows = self.selection.samples.iter().enumerate();
        rows.map(|(index, &row)| SampleFacts {
            number: dump.meta.samples[index].unwrap_or(row),
            label: known(dump.label(index)),
            tokens: dump.tokens(index).to_vec(),
            marked: dump.meta.label_positions[index]
                .iter()
                .copied()
                .filter(|&position| position < dump.dims.positions)
                .collect(),
            each: self.each(dump, index, row),
        })
        .collect()
    }

    /// What is known of each position of a sample, if each has an answer.
    fn each<'a>(
        &'a self,
        dump: &AttentionDump,
        index: usize,
        row: usize,
    ) -> Vec<(Option<u32>, &'a [usize])> {
        if !dump.dims.per_position {
            return Vec::new();
        }
        let positions = dump.dims.positions;
        let labels = &dump.labels[index * positions..][..positions];
        let deciding = |position: usize| self.deciding.get(row)?.get(position);
        let answer = |(position, &label): (usize, &f32)| {
            let label = known(label);
            let decides = label.and_then(|_| deciding(position));
            (label, decides.map_or(&[][..], Vec::as_slice))
        };
        labels.iter().enumerate().map(answer).collect()
    }

    fn evidence(&self, last: &AttentionDump) -> Vec<Evidence> {
        let mut evidence = self.evidence.clone();
        let mut add = |name: &str, text: String| {
            evidence.push(Evidence {
                name: name.to_owned(),
                text,
                inputs: Vec::new(),
            });
        };
        if let Some(seed) = last.meta.seed {
            add("Seed", seed.to_string());
        }
        let worst = self.worst_row_sum;
        let sums = if worst <= SUM_TOLERANCE {
            format!(
                "In the recorded float32 numbers, each query's weights sum to 1 within {worst:.1e}, or to 0 if the mask allows no key."
            )
        } else {
            format!(
                "The weights of some queries do not sum to 1: the sum that is the farthest from 1 differs by {worst:.2}."
            )
        };
        add("Sums of weights", sums);
        let config = serde_json::to_string_pretty(&last.meta.config).unwrap_or_default();
        add("Config, as resolved", config);
        evidence
    }

    /// What the page leaves out of the dumps.
    fn notes(&self) -> Vec<String> {
        let [steps, samples] = self.recorded;
        let (kept_steps, kept) = (self.dumps.len(), self.selection.samples.len());
        let has_results = self.dumps.last().is_some_and(|dump| dump.dims.logits > 0);
        let numbers = if has_results {
            "scores, weights, logits and probabilities"
        } else {
            "its numbers"
        };
        let mut notes = vec![format!("This page has {numbers} to four decimals.")];
        let step = |dump: &AttentionDump| match dump.meta.step {
            Some(step) => step.to_string(),
            None => "?".to_owned(),
        };
        let dumps = self.dumps.iter().enumerate();
        let with_vectors = dumps.filter(|&(index, _)| self.selection.has_vectors(index));
        let with_vectors: Vec<String> = with_vectors.map(|(_, dump)| step(dump)).collect();
        if with_vectors.len() < kept_steps {
            let names: Vec<&str> = self.vectors().map(Array::name).collect();
            notes.push(format!(
                "Vectors ({}) are recorded for the steps {}.",
                names.join(", "),
                with_vectors.join(", ")
            ));
        }
        if kept_steps < steps {
            notes.push(format!(
                "{kept_steps} of the {steps} recorded steps are included, to limit the size."
            ));
        }
        if kept < samples {
            notes.push(format!(
                "{kept} of the {samples} recorded samples are included, the first of each class, to limit the size."
            ));
        }
        notes.extend_from_slice(&self.repetitions);
        notes
    }
}

/// A label; `None` if it is unknown, or none counts.
fn known(label: f32) -> Option<u32> {
    Some(label)
        .filter(|label| !label.is_nan())
        .map(|label| label as u32)
}

/// The texts of all tokens that a page shows: those of its samples and, where the next token is asked, the whole vocabulary.
fn token_strings(dump: &AttentionDump) -> BTreeMap<i64, String> {
    let tokens = dump.tokens.iter();
    let mut strings: BTreeMap<i64, String> = tokens
        .map(|&token| (token, dump.token_string(token)))
        .collect();
    let data = &dump.meta.config["data"];
    let vocabulary = data["words"]["vocabulary"].as_array();
    if let (Some("next-token"), Some(words)) = (data["task"].as_str(), vocabulary) {
        let words = words.iter().filter_map(serde_json::Value::as_str);
        strings.extend(
            (1..)
                .zip(["[PAD]", "[UNK]"].into_iter().chain(words))
                .map(|(token, text)| (token, text.to_owned())),
        );
    }
    strings
}

/// The names of the classes; empty if they have only numbers.
fn classes(dump: &AttentionDump) -> Vec<&str> {
    let names = dump.meta.config["data"]["classes"].as_array();
    let names = names.into_iter().flatten();
    names.filter_map(serde_json::Value::as_str).collect()
}

/// The scale of the products, from the config.
fn factor(attention: &serde_json::Value, d_head: usize) -> (f64, String) {
    let temperature = attention["temperature"].as_f64().unwrap_or(1.0);
    let scale = Scale::deserialize(&attention["scale"]).unwrap_or_default();
    let mut text = match scale {
        Scale::Off => "1 (scale off)".to_owned(),
        Scale::Factor(factor) => factor.to_string(),
        Scale::Root => format!("1 / √{d_head}"),
    };
    if (temperature - 1.0).abs() > 0.0 {
        text = format!("{text} / temperature {temperature}");
    }
    (scale.factor(d_head) / temperature, text)
}
