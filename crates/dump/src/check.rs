//! What must be true of every dump.

use headlight_fused::Array;

use crate::arrays::{Member, Values};
use crate::{AttentionDump, DumpError};

/// How far the sum of a row of weights may be from 1.
const ROW_SUM_TOLERANCE: f64 = 1e-4;

impl AttentionDump {
    /// Checks that
    /// - all numbers are finite, except labels, which are NaN if unknown;
    /// - each row of attention weights sums to 1, or to 0 if the mask leaves its query no key, unless the model's attention has a
    ///   rate below 1 or no softmax;
    /// - the meta data describes as many samples as there are, and names no position beyond the last.
    ///
    /// # Errors
    /// Names the first violation.
    pub fn check(&self) -> Result<(), DumpError> {
        self.check_finite()?;
        let worst = self.worst_row_sum();
        if self.has_shares() && worst > ROW_SUM_TOLERANCE {
            return Err(DumpError::Content(format!(
                "the sum of a row of its attention weights is {worst:e} away from 1"
            )));
        }
        let samples = self.dims.samples;
        let (named, labelled) = (self.meta.samples.len(), self.meta.label_positions.len());
        if named != samples || labelled != samples {
            return Err(DumpError::Content(format!(
                "its arrays hold {samples} samples, but its meta has {named} `samples` and {labelled} `label_positions`"
            )));
        }
        let positions = self.dims.positions;
        let beyond = |of_sample: &Vec<usize>| {
            of_sample.len() > positions || of_sample.iter().any(|&position| position >= positions)
        };
        if let Some(sample) = self.meta.label_positions.iter().position(beyond) {
            return Err(DumpError::Content(format!(
                "in its meta, the `label_positions` of sample {sample} exceed its {positions} positions"
            )));
        }
        if let Some(position) = self.meta.read_position
            && position >= positions
        {
            return Err(DumpError::Content(format!(
                "in its meta, the `read_position` is {position}, but there are {positions} positions"
            )));
        }
        Ok(())
    }

    /// Checks that all numbers are finite, except labels, which are NaN if unknown.
    ///
    /// # Errors
    /// Names the first array with another number.
    pub fn check_finite(&self) -> Result<(), DumpError> {
        for member in Member::all().filter(|&member| member != Member::Labels) {
            if let Some(Values::Floats(values)) = member.values(self)
                && !values.iter().all(|value| value.is_finite())
            {
                let name = member.name();
                return Err(DumpError::Content(format!(
                    "its array `{name}` holds NaN or infinity"
                )));
            }
        }
        Ok(())
    }

    /// Whether weights are shares of 1: the model has a softmax, which no rate mixes with other weights.
    fn has_shares(&self) -> bool {
        let attention = &self.meta.config["model"]["attention"];
        attention["softmax"] != false && attention["rate"].as_f64().unwrap_or(1.0) >= 1.0
    }

    /// The largest distance of the sum of a row of attention weights from 1, or from 0 if the mask
    /// leaves the row's query no key.
    pub fn worst_row_sum(&self) -> f64 {
        let positions = self.dims.positions.max(1);
        let rows_per_sample = (self.dims.layers * self.dims.heads * positions).max(1);
        let expected = |row: usize| {
            let mask = self.mask(row / rows_per_sample, row % positions);
            f64::from(u8::from(mask.is_none_or(|mask| mask.contains(&true))))
        };
        self.arrays[Array::Weights]
            .chunks(positions)
            .enumerate()
            .map(|(index, row)| {
                let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
                (sum - expected(index)).abs()
            })
            .fold(0.0, f64::max)
    }
}
