//! What must hold in every dump.

use crate::{AttentionDump, DumpError, FLOAT_ARRAYS};

/// How far a row of weights may sum from 1.
const ROW_SUM_TOLERANCE: f64 = 1e-4;

impl AttentionDump {
    /// Checks that numbers are finite (labels may be unknown, NaN), that each row of attention
    /// weights sums to 1, and that the meta data speaks of as many samples as there are.
    ///
    /// # Errors
    /// Names the first thing that does not hold.
    pub fn check(&self) -> Result<(), DumpError> {
        for ((name, _), values) in FLOAT_ARRAYS.into_iter().zip(self.floats()) {
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
        Ok(())
    }

    /// The largest distance from 1 of a row of attention weights.
    pub fn worst_row_sum(&self) -> f64 {
        self.attention_weights
            .chunks(self.dims.positions.max(1))
            .map(|row| (row.iter().map(|&weight| f64::from(weight)).sum::<f64>() - 1.0).abs())
            .fold(0.0, f64::max)
    }
}
