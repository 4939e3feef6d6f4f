//! What a browser without scripts shows: the weights of a positive sample, by the model that the page shows first.

use std::fmt::Write;

use super::PageRun;
use crate::markup::escape;

/// Of a page without a run.
pub(super) const NO_RUN: &str =
    "<p>This page trains a model when it is opened. For that, it needs scripts.</p>";

/// The table of the first positive sample, or of the first sample if none is positive.
pub(super) fn table(run: &PageRun) -> String {
    let Some(dump) = run.first_shown() else {
        return String::new();
    };
    let positions = dump.dims.positions;
    let row = (0..dump.dims.samples).find(|&row| dump.label(row) > 0.0);
    let row = row.unwrap_or(0);
    let (layer, head) = (dump.dims.layers - 1, run.strongest);
    let names: Vec<String> = dump
        .tokens(row)
        .iter()
        .map(|&token| escape(&dump.token_string(token)))
        .collect();
    let number = dump.meta.samples[row].unwrap_or(run.selection.samples[row]);
    let step = dump
        .meta
        .step
        .map_or_else(String::new, |step| format!(", step {step}"));
    let mut text = format!(
        "<p>Without scripts, this page shows only this table.</p>\n<table class=\"numbers\">\n<caption>Attention \
         weights, sample {number}{step}, layer {layer}, head {head}: queries down, keys across.</caption>\n<tr><th \
         scope=\"col\">query \\ key</th>"
    );
    let held = dump.unpadded(row);
    for &key in &held {
        let name = &names[key];
        let _ = write!(text, "<th scope=\"col\">{key}: <bdi>{name}</bdi></th>");
    }
    text.push_str("</tr>\n");
    let matrix = dump.weights(row, layer, head);
    for &query in &held {
        let (name, weights) = (&names[query], &matrix[query * positions..]);
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{query}: <bdi>{name}</bdi></th>"
        );
        for &key in &held {
            let _ = write!(text, "<td>{:.4}</td>", weights[key]);
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table>\n");
    text
}
