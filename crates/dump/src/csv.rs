//! Attention as CSV: a line for each pair of positions.

use std::io::{self, Write};

use crate::AttentionDump;

impl AttentionDump {
    /// Writes scores and weights, a line for each sample, layer, head, query and key.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_csv(&self, writer: impl Write) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(writer);
        csv.write_record([
            "sample",
            "layer",
            "head",
            "query",
            "key",
            "query_token",
            "key_token",
            "score",
            "weight",
        ])?;
        let positions = self.dims.positions;
        for sample in 0..self.dims.samples {
            let names: Vec<String> = self
                .tokens(sample)
                .iter()
                .map(|&token| self.token_string(token))
                .collect();
            // A sample of the training set keeps its number there.
            let number = self.meta.samples[sample].unwrap_or(sample).to_string();
            for (layer, head) in (0..self.dims.layers)
                .flat_map(|layer| (0..self.dims.heads).map(move |head| (layer, head)))
            {
                let (scores, weights) = (
                    self.scores(sample, layer, head),
                    self.weights(sample, layer, head),
                );
                for query in 0..positions {
                    for key in 0..positions {
                        let cell = query * positions + key;
                        csv.write_record([
                            &number,
                            &layer.to_string(),
                            &head.to_string(),
                            &query.to_string(),
                            &key.to_string(),
                            &names[query],
                            &names[key],
                            &scores[cell].to_string(),
                            &weights[cell].to_string(),
                        ])?;
                    }
                }
            }
        }
        csv.flush()
    }
}
