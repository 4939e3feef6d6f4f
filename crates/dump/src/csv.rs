//! Attention as CSV: one row per sample, layer, head, query and key.

use std::io::{self, Write};

use headlight_fused::Array;

use crate::{AttentionDump, Dims};

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
        let Dims {
            samples,
            layers,
            heads,
            positions,
            ..
        } = self.dims;
        for sample in 0..samples {
            let tokens: Vec<String> = self
                .tokens(sample)
                .iter()
                .map(|&token| self.token_string(token))
                .collect();
            // A sample of the training set keeps its index there.
            let number = self.meta.samples[sample].unwrap_or(sample);
            for (layer, head) in
                (0..layers).flat_map(|layer| (0..heads).map(move |head| (layer, head)))
            {
                let matrix = self.matrix(sample, layer, head);
                for (cell, index) in matrix.enumerate() {
                    let (query, key) = (cell / positions, cell % positions);
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
