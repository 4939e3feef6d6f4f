//! A table of the model's layers, like Keras's `model.summary()`.

use std::fmt::Write;

use crate::{Inputs, Layout, ModelConfig};

/// A row: layer, shape of its output, number of its parameters.
type Row = [String; 3];

impl ModelConfig {
    /// The number of trainable parameters, counted as single numbers.
    pub fn parameter_count(&self, inputs: Inputs) -> usize {
        self.layout(inputs).iter().map(Layout::size).sum()
    }

    /// The model as a Markdown table: layers, output shapes, parameter counts.
    pub fn summary(&self, inputs: Inputs) -> String {
        let layout = self.layout(inputs);
        let count = |prefix: &str| -> usize {
            let parts = layout.iter().filter(|part| part.name.starts_with(prefix));
            parts.map(Layout::size).sum()
        };
        let (positions, heads) = (inputs.positions, self.n_heads);
        let stream = format!("(batch, {positions}, {})", self.d_model);
        let mut rows: Vec<Row> = vec![
            row("tokens", format!("(batch, {positions})"), 0),
            row("token_embedding", stream.clone(), count("token_embedding")),
        ];
        if self.positions {
            let name = "position_embedding";
            rows.push(row(name, stream.clone(), count(name)));
        }
        for layer in 0..self.n_layers {
            let name = format!("blocks.{layer}.attention");
            let weights = format!("(batch, {heads}, {positions}, {positions})");
            let parameters = count(&format!("{name}."));
            rows.push(row(&name, stream.clone(), parameters));
            rows.push(row(&format!("{name} weights"), weights, 0));
            let name = format!("blocks.{layer}.norm");
            rows.push(row(&name, stream.clone(), count(&format!("{name}."))));
            if self.d_ff > 0 {
                let name = format!("blocks.{layer}.feed_forward");
                rows.push(row(&name, stream.clone(), count(&format!("{name}."))));
            }
        }
        let logits = format!("(batch, {})", inputs.n_logits());
        rows.push(row("classifier", logits, count("classifier.")));
        let mut text = table(&["layer", "output", "parameters"].map(str::to_owned), &rows);
        let total = self.parameter_count(inputs);
        let _ = writeln!(text, "\nTrainable parameters: {total}");
        text
    }
}

fn row(layer: &str, output: String, parameters: usize) -> Row {
    [layer.to_owned(), output, parameters.to_string()]
}

/// A Markdown table, aligned so that it also reads well as plain text; the last column is right-aligned.
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
