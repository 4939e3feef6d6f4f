//! What the page computes with: a JSON head, and numbers as bytes.

use std::collections::BTreeMap;

use headlight_dump::AttentionDump;
use serde::Serialize;

use super::series::{planes, predicted, surprises, units};
use super::{Evidence, LossPoint, Recording, Seeds, Viewer};

/// All of a page but the numbers of the dumps.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    runs: Vec<Facts<'a>>,
    /// Why there is no mean over the runs, where there is none.
    apart: Option<&'static str>,
    seeds: Option<&'a Seeds>,
}

/// All of a run but its numbers.
#[derive(Serialize)]
struct Facts<'a> {
    name: &'a str,
    seed: Option<u64>,
    layers: usize,
    heads: usize,
    positions: usize,
    d_head: usize,
    d_model: usize,
    has_feed_forward: bool,
    /// What products of queries and keys are multiplied by, in words too.
    factor: f64,
    factor_text: String,
    norm_eps: f64,
    /// `None` for a dump of weights from elsewhere.
    steps: Vec<Option<usize>>,
    /// Which of the steps have vectors, by index.
    vectors: Vec<usize>,
    masked: bool,
    samples: Vec<Sample>,
    token_strings: BTreeMap<i64, String>,
    /// Where `[CLS]` stands.
    cls: usize,
    loss: &'a [LossPoint],
    evidence: Vec<Evidence>,
    /// What was left out.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Sample {
    /// What it is called: its index in the training set, or its row.
    number: usize,
    /// `None` where it is unknown.
    label: Option<u8>,
    tokens: Vec<i64>,
    /// The label's positions.
    marked: Vec<usize>,
}

impl Viewer {
    pub(super) fn head(&self) -> Head<'_> {
        Head {
            runs: self.runs.iter().filter_map(Recording::facts).collect(),
            apart: self.apart(),
            seeds: self.seeds.as_ref(),
        }
    }

    /// The numbers of each run, one after the other.
    pub(super) fn numbers(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for run in &self.runs {
            run.numbers(&mut out);
        }
        out
    }
}

impl Recording {
    fn facts(&self) -> Option<Facts<'_>> {
        let last = self.dumps.last()?;
        let dims = last.dims;
        let attention = &last.meta.config["model"]["attention"];
        let (factor, factor_text) = factor(attention, dims.d_head);
        let kept = self.selection.steps.len();
        Some(Facts {
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
            vectors: (0..kept)
                .filter(|&step| self.selection.has_vectors(step))
                .collect(),
            masked: last.attention_mask.is_some(),
            samples: samples(last, &self.selection.samples),
            token_strings: last
                .tokens
                .iter()
                .map(|&token| (token, last.token_string(token)))
                .collect(),
            cls: cls(last),
            loss: &self.loss,
            evidence: self.evidence(last),
            notes: self.notes(),
        })
    }

    fn evidence(&self, last: &AttentionDump) -> Vec<Evidence> {
        let mut evidence = self.evidence.clone();
        let mut add = |name: &str, text: String| {
            evidence.push(Evidence {
                name: name.to_owned(),
                text,
            });
        };
        if let Some(seed) = last.meta.seed {
            add("Seed", seed.to_string());
        }
        add(
            "Rows of weights",
            format!(
                "In the recorded float32 numbers, each sums to 1 within {:.1e}, or to 0 where a mask leaves no key.",
                self.worst_row_sum
            ),
        );
        let config = serde_json::to_string_pretty(&last.meta.config).unwrap_or_default();
        add("Config, as resolved", config);
        evidence
    }

    /// What of the dumps is not in the page.
    fn notes(&self) -> Vec<String> {
        let [steps, samples] = self.recorded;
        let (kept_steps, kept) = (self.dumps.len(), self.selection.samples.len());
        let mut notes =
            vec!["Scores, weights, logits and probabilities are here to four decimals.".to_owned()];
        let with: Vec<String> = self
            .dumps
            .iter()
            .enumerate()
            .filter(|&(index, _)| self.selection.has_vectors(index))
            .map(|(_, dump)| {
                dump.meta
                    .step
                    .map_or("?".to_owned(), |step| step.to_string())
            })
            .collect();
        if with.len() < kept_steps {
            notes.push(format!(
                "Query, key, value and context vectors, embeddings and residuals are here for steps {} only.",
                with.join(" and ")
            ));
        }
        if kept_steps < steps {
            notes.push(format!(
                "{kept_steps} of {steps} recorded steps are here, evenly spread; the others would make the page too large."
            ));
        }
        if kept < samples {
            notes.push(format!(
                "{kept} of {samples} recorded samples are here, the first of each class; the others would make the page too large."
            ));
        }
        notes
    }

    /// Scores, corrections of the weights, logits, probabilities, the mask, then the vectors of
    /// each step that has them: in the order that `js/data.js` reads.
    fn numbers(&self, out: &mut Vec<u8>) {
        let over = |field: fn(&AttentionDump) -> &[f32]| -> Vec<Vec<i64>> {
            let steps = self.dumps.iter().map(field);
            steps
                .map(|values| values.iter().map(|&value| units(value)).collect())
                .collect()
        };
        let scores = over(|dump| &dump.attention_scores);
        planes(out, &surprises(&scores));
        let corrections: Vec<i64> = self
            .dumps
            .iter()
            .zip(&scores)
            .flat_map(|(dump, scores)| corrections(dump, scores))
            .collect();
        planes(out, &corrections);
        planes(out, &surprises(&over(|dump| &dump.logits)));
        planes(out, &surprises(&over(|dump| &dump.probabilities)));
        if let Some(mask) = self
            .dumps
            .first()
            .and_then(|dump| dump.attention_mask.as_ref())
        {
            out.extend(mask.iter().map(|&may| u8::from(may)));
        }
        for (index, dump) in self.dumps.iter().enumerate() {
            if self.selection.has_vectors(index) {
                for values in [
                    &dump.query,
                    &dump.key,
                    &dump.value,
                    &dump.context,
                    &dump.embeddings,
                    &dump.residual,
                ] {
                    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                }
            }
        }
    }
}

/// How far the weights of a dump are from the softmax of its scores, in ten-thousandths.
fn corrections(dump: &AttentionDump, scores: &[i64]) -> Vec<i64> {
    let positions = dump.dims.positions;
    let rows_a_sample = dump.dims.layers * dump.dims.heads * positions;
    let rows = dump.attention_weights.chunks(positions);
    rows.zip(scores.chunks(positions))
        .enumerate()
        .flat_map(|(row, (weights, scores))| {
            let start = (row / rows_a_sample * positions + row % positions) * positions;
            let mask = dump.attention_mask.as_ref();
            let predicted = predicted(scores, |key| mask.is_none_or(|mask| mask[start + key]));
            let weights = weights.iter().map(|&weight| units(weight));
            let far: Vec<i64> = weights
                .zip(predicted)
                .map(|(weight, predicted)| weight - predicted)
                .collect();
            far
        })
        .collect()
}

fn samples(dump: &AttentionDump, rows: &[usize]) -> Vec<Sample> {
    rows.iter()
        .enumerate()
        .map(|(index, &row)| Sample {
            number: dump.meta.samples[index].unwrap_or(row),
            label: Some(dump.labels[index])
                .filter(|label| !label.is_nan())
                .map(|label| u8::from(label > 0.5)),
            tokens: dump.tokens(index).to_vec(),
            marked: dump.meta.label_positions[index]
                .iter()
                .copied()
                .filter(|&position| position < dump.dims.positions)
                .collect(),
        })
        .collect()
}

/// The position of `[CLS]`: of token 0, or the first where there is none.
fn cls(dump: &AttentionDump) -> usize {
    let positions = dump.dims.positions.min(dump.tokens.len());
    let first = &dump.tokens[..positions];
    first.iter().position(|&token| token == 0).unwrap_or(0)
}

/// What products are multiplied by, as the config says it (`Scale` in the model's crate).
fn factor(attention: &serde_json::Value, d_head: usize) -> (f64, String) {
    let temperature = attention["temperature"].as_f64().unwrap_or(1.0);
    let (scale, mut text) = match &attention["scale"] {
        serde_json::Value::Bool(false) => (1.0, "1 (scale off)".to_owned()),
        serde_json::Value::Number(number) => (number.as_f64().unwrap_or(1.0), number.to_string()),
        _ => (1.0 / (d_head as f64).sqrt(), format!("1 / √{d_head}")),
    };
    if (temperature - 1.0).abs() > 0.0 {
        text = format!("{text} / temperature {temperature}");
    }
    (scale / temperature, text)
}
