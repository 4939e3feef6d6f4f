//! What must hold in every dump.

use crate::{AttentionDump, DumpError};

/// How far a row of weights may sum from 1.
const ROW_SUM_TOLERANCE: f64 = 1e-4;

impl AttentionDump {
    /// Checks that numbers are finite (labels may be unknown, NaN), that each row of attention
    /// weights sums to 1 (or to 0, where a mask leaves it no key), and that the meta data speaks of
    /// as many samples, and of no more positions, than there are.
    ///
    /// # Errors
    /// Names the first thing that does not hold.
    pub fn check(&self) -> Result<(), DumpError> {
        for ((name, _), values) in self.floats() {
            if name != "labels" && !values.iter().all(|value| value.is_finite()) {
                return Err(DumpError::Content(format!(
                    "its array `{name}` holds NaN or infinity"
                )));
            }
        }
        let worst = self.worst_row_sum();
        if worst > ROW_SUM_TOLERANCE {
            return Err(DumpError::Content(format!(
                "a row of its attention weights is {worst:e} away from a sum of 1"
            )));
        }
        let samples = self.dims.samples;
        if self.meta.samples.len() != samples || self.meta.label_positions.len() != samples {
            return Err(DumpError::Content(format!(
                "its arrays hold {samples} samples, but its meta.json speaks of {} and {}",
                self.meta.samples.len(),
                self.meta.label_positions.len()
            )));
        }
        let positions = self.dims.positions;
        let beyond = |of_sample: &Vec<usize>| {
            of_sample.len() > positions || of_sample.iter().any(|&position| position >= positions)
        };
        if let Some(sample) = self.meta.label_positions.iter().position(beyond) {
            return Err(DumpError::Content(format!(
                "its meta.json has label positions of sample {sample} beyond the {positions} there are"
            )));
        }
        Ok(())
    }

    /// The largest distance of a row of attention weights from what it should sum to: 1, or 0 where
    /// a mask leaves it no key.
    pub fn worst_row_sum(&self) -> f64 {
        let positions = self.dims.positions.max(1);
        let rows_a_sample = self.dims.layers * self.dims.heads * positions;
        let expected = |row: usize| match &self.attention_mask {
            None => 1.0,
            Some(mask) => {
                let query = row / rows_a_sample.max(1) * positions + row % positions;
                let may_look = &mask[query * positions..(query + 1) * positions];
                f64::from(u8::from(may_look.contains(&true)))
            }
        };
        self.attention_weights
            .chunks(positions)
            .enumerate()
            .map(|(index, row)| {
                let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
                (sum - expected(index)).abs()
            })
            .fold(0.0, f64::max)
    }
}
