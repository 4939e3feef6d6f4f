//! The table that a browser without scripts shows: the last step's weights of the first sample.

use std::fmt::Write;

use headlight_dump::AttentionDump;

use crate::markup::escape;

pub(super) fn table(dump: &AttentionDump) -> String {
    let positions = dump.dims.positions;
    let names: Vec<String> = dump
        .tokens(0)
        .iter()
        .map(|&token| escape(&dump.token_string(token)))
        .collect();
    let number = dump.meta.samples[0].unwrap_or(0);
    let step = dump
        .meta
        .step
        .map_or_else(String::new, |step| format!(", step {step}"));
    let mut text = format!(
        "<table class=\"numbers\">\n<caption>Attention weights, sample {number}{step}, layer 0, head 0: \
         queries down, keys across. Everything else on this page needs scripts.</caption>\n<tr><th scope=\"col\">query \\ key</th>"
    );
    for (key, name) in names.iter().enumerate() {
        let _ = write!(text, "<th scope=\"col\">{key}: <bdi>{name}</bdi></th>");
    }
    text.push_str("</tr>\n");
    for (query, row) in dump.weights(0, 0, 0).chunks(positions).enumerate() {
        let name = &names[query];
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{query}: <bdi>{name}</bdi></th>"
        );
        for weight in row {
            let _ = write!(text, "<td>{weight:.4}</td>");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table>\n");
    text
}
