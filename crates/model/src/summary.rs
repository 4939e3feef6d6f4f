//! A table of the model's layers, like Keras's `model.summary()`.

use std::fmt::Write;

use crate::{Parameter, TransformerClassifier};

/// A row: layer, what it gives, its parameters.
type Row = [String; 3];

impl TransformerClassifier {
    /// Number of trainable numbers.
    pub fn parameter_count(&self) -> usize {
        self.parameters()
            .iter()
            .map(|parameter| parameter.values.len())
            .sum()
    }

    /// The model as a Markdown table: layers, output shapes, parameter counts.
    pub fn summary(&self) -> String {
        let parameters = self.parameters();
        let count = |prefix: &str| -> usize {
            let of_prefix = |parameter: &&Parameter| parameter.name.starts_with(prefix);
            parameters
                .iter()
                .filter(of_prefix)
                .map(|parameter| parameter.values.len())
                .sum()
        };
        let positions = self.inputs.positions;
        let [_, d_model] = self.embedding.token_embedding.dims();
        let stream = format!("(batch, {positions}, {d_model})");
        let mut rows: Vec<Row> = vec![
            row("tokens", format!("(batch, {positions})"), 0),
            row("token_embedding", stream.clone(), count("token_embedding")),
        ];
        if self.embedding.position_embedding.is_some() {
            let name = "position_embedding";
            rows.push(row(name, stream.clone(), count(name)));
        }
        for (layer, block) in self.blocks.iter().enumerate() {
            let name = format!("blocks.{layer}.attention");
            let parameters = count(&format!("{name}."));
            let heads = block.attention.n_heads;
            let weights = format!("(batch, {heads}, {positions}, {positions})");
            rows.push(row(&name, stream.clone(), parameters));
            rows.push(row(&format!("{name} weights"), weights, 0));
            let name = format!("blocks.{layer}.norm");
            rows.push(row(&name, stream.clone(), count(&format!("{name}."))));
            if block.feed_forward.is_some() {
                let name = format!("blocks.{layer}.feed_forward");
                rows.push(row(&name, stream.clone(), count(&format!("{name}."))));
            }
        }
        rows.push(row(
            "classifier",
            "(batch, 1)".to_owned(),
            count("classifier."),
        ));
        let mut text = table(&["layer", "output", "parameters"].map(str::to_owned), &rows);
        let _ = writeln!(text, "\nTrainable parameters: {}", self.parameter_count());
        text
    }
}

fn row(layer: &str, output: String, parameters: usize) -> Row {
    [layer.to_owned(), output, parameters.to_string()]
}

/// A Markdown table that is also aligned as plain text; the last column to the right.
fn table(header: &Row, rows: &[Row]) -> String {
    let mut width = header.each_ref().map(String::len);
    for row in rows {
        for (width, cell) in width.iter_mut().zip(row) {
            *width = cell.len().max(*width);
        }
    }
    let [a, b, c] = width;
    let mut text = String::new();
    let mut line = |[x, y, z]: &Row| {
        let _ = writeln!(text, "| {x:a$} | {y:b$} | {z:>c$} |");
    };
    line(header);
    line(&["-".repeat(a), "-".repeat(b), "-".repeat(c - 1) + ":"]);
    rows.iter().for_each(line);
    text
}
