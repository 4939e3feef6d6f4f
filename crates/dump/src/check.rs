//! What must be true of every dump.

use headlight_fused::Array;

use crate::AttentionDump;
use crate::arrays::{Member, Values};

/// How far the sum of a row of weights may be from 1.
const ROW_SUM_TOLERANCE: f64 = 1e-4;

impl AttentionDump {
    /// Checks that
    /// - all numbers are finite, except labels, which are NaN if unknown;
    /// - each row of attention weights sums to 1, or to 0 if the mask leaves its query no key; with an attention rate, to what
    ///   it makes of that; without a softmax, to any number;
    /// - the meta data describes as many samples as there are, and names no position beyond the last.
    ///
    /// # Errors
    /// Names the first violation.
    pub fn check(&self) -> Result<(), String> {
        self.check_finite()?;
        self.check_row_sums()?;
        let samples = self.dims.samples;
        let (named, labelled) = (self.meta.samples.len(), self.meta.label_positions.len());
        if named != samples || labelled != samples {
            return Err(format!(
                "its arrays hold {samples} samples, but its meta has {named} `samples` and {labelled} `label_positions`"
            ));
        }
        let positions = self.dims.positions;
        let beyond = |of_sample: &Vec<usize>| {
            of_sample.len() > positions || of_sample.iter().any(|&position| position >= positions)
        };
        if let Some(sample) = self.meta.label_positions.iter().position(beyond) {
            return Err(format!(
                "in its meta, the `label_positions` of sample {sample} exceed its {positions} positions"
            ));
        }
        if let Some(position) = self.meta.read_position
            && position >= positions
        {
            return Err(format!(
                "in its meta, the `read_position` is {position}, but there are {positions} positions"
            ));
        }
        Ok(())
    }

    /// Checks that all numbers are finite, except labels, which are NaN if unknown.
    ///
    /// # Errors
    /// Names the first array with another number.
    pub fn check_finite(&self) -> Result<(), String> {
        for member in Member::all().filter(|&member| member != Member::Labels) {
            if let Some(Values::Floats(values)) = member.values(self)
                && !values.iter().all(|value| value.is_finite())
            {
                let name = member.name();
                return Err(format!("its array `{name}` holds NaN or infinity"));
            }
        }
        Ok(())
    }

    fn check_row_sums(&self) -> Result<(), String> {
        let Some(rate) = self.rate() else {
            return Ok(());
        };
        let worst = self.worst_sum(|keys| rate * of_softmax(keys) + (1.0 - rate) * keys as f64);
        if worst > ROW_SUM_TOLERANCE {
            let expected = match rate {
                1.0 => "1".to_owned(),
                rate => format!("that of its attention rate {rate}"),
            };
            return Err(format!(
                "the sum of a row of its attention weights is {worst:e} away from {expected}"
            ));
        }
        Ok(())
    }

    /// The largest distance of the sum of a row of attention weights from 1, or from 0 if the mask
    /// leaves the row's query no key.
    pub fn worst_row_sum(&self) -> f64 {
        self.worst_sum(of_softmax)
    }

    /// The largest distance of the sum of a row of attention weights from that of a row with so many keys.
    fn worst_sum(&self, expected: impl Fn(usize) -> f64) -> f64 {
        let positions = self.dims.positions.max(1);
        let rows_per_sample = (self.dims.layers * self.dims.heads * positions).max(1);
        let keys = |row: usize| {
            let mask = self.mask(row / rows_per_sample, row % positions);
            mask.map_or(positions, |mask| mask.iter().filter(|&&may| may).count())
        };
        self.arrays[Array::Weights]
            .chunks(positions)
            .enumerate()
            .map(|(index, row)| {
                let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
                (sum - expected(keys(index))).abs()
            })
            .fold(0.0, f64::max)
    }
}

/// The sum of the softmax over so many keys.
fn of_softmax(keys: usize) -> f64 {
    f64::from(u8::from(keys > 0))
}
