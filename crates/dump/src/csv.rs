//! Attention as CSV: one row per sample, layer, head, query and key.

use std::io::{self, Write};

use headlight_fused::Array;

use crate::AttentionDump;

impl AttentionDump {
    /// Writes scores and weights, one row per sample, layer, head, query and key.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_csv(&self, writer: impl Write) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(writer);
        let columns = [Array::Scores, Array::Weights].map(|array| &self.arrays[array]);
        let tokens = ["query_token", "key_token", "score", "weight"];
        csv.write_record(Array::Weights.axes().iter().chain(&tokens))?;
        let dims = self.dims;
        for sample in 0..dims.samples {
            let tokens = self.tokens(sample).iter();
            let tokens: Vec<String> = tokens.map(|&token| self.token_string(token)).collect();
            // A sample of the training set keeps its index there.
            let number = self.meta.samples[sample].unwrap_or(sample);
            for matrix_index in 0..dims.layers * dims.heads {
                let (layer, head) = (matrix_index / dims.heads, matrix_index % dims.heads);
                let matrix = self.matrix(sample, layer, head);
                for (cell, index) in matrix.enumerate() {
                    let (query, key) = (cell / dims.positions, cell % dims.positions);
                    let indices = [number, layer, head, query, key];
                    let mut row = indices.map(|index| index.to_string()).to_vec();
                    row.extend([tokens[query].clone(), tokens[key].clone()]);
                    row.extend(columns.iter().map(|values| values[index].to_string()));
                    csv.write_record(row)?;
                }
            }
        }
        csv.flush()
    }
}
