//! What a step of training leaves out: `y = m ⊙ x` and `dx = m ⊙ dy`, where the mask `m` is 0 or 1 / (share of kept values).
//! The backward pass draws the mask again: that takes less time than reading it from memory would.

use headlight_architecture::{DropoutPlace, DropoutRates};

use crate::chacha::DropoutStream;
use crate::instructions::{Instructions, for_each_isa};
use crate::lanes::{Lanes, one_at_a_time};
use crate::training::Dropout;

/// `DropoutStream::Dropout` of `headlight-data`.
const PURPOSE: u32 = 12;

/// Numbers of a block: two in each of its words.
const NUMBERS: usize = 32;

/// What a step leaves out; nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepDropout {
    rates: DropoutRates,
    stream: DropoutStream,
}

impl StepDropout {
    /// That of the step after `step` steps.
    pub(crate) fn new(Dropout { rates, seed }: Dropout, step: u32) -> Self {
        let stream = DropoutStream {
            key: [seed as u32, (seed >> 32) as u32],
            step,
            purpose: PURPOSE,
            sample: 0,
        };
        Self { rates, stream }
    }

    /// The same for samples of a batch from this one on.
    pub(crate) fn of_samples_from(mut self, sample: u32) -> Self {
        self.stream.sample = sample;
        self
    }

    /// Whether a place has dropout.
    pub(crate) fn is_at(&self, place: DropoutPlace) -> bool {
        self.rates.threshold_and_factor(place).is_some()
    }

    /// Leaves out values, or their gradients.
    pub(crate) fn apply<const L: usize>(
        &self,
        isa: Instructions,
        rows: DroppedRows,
        values: &mut [Lanes<L>],
    ) {
        if let Some((threshold, factor)) = self.rates.threshold_and_factor(rows.place) {
            let mut stream = self.stream;
            stream.purpose |= rows.place.number() << 8;
            leave_out(isa, stream, threshold, factor, rows, values);
        }
    }
}

/// The rows of a place that are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DroppedRows {
    pub(crate) place: DropoutPlace,
    /// The number of the first among all rows of the place.
    pub(crate) first: usize,
    /// How far the numbers of neighbouring rows are apart.
    pub(crate) row_step: usize,
    /// The number of values in a whole row.
    pub(crate) whole: usize,
    /// The number of values in a row in memory: more with padding, fewer where some positions are not computed.
    pub(crate) stride: usize,
}

for_each_isa! {
    fn leave_out<'a, L>(stream: DropoutStream, threshold: u32, factor: f32, rows: DroppedRows, values: &'a mut [Lanes<L>]) {
        let mut drawn = None;
        let mut factors = [[0.0; L]; NUMBERS];
        for (row, values) in values.chunks_exact_mut(rows.stride).enumerate() {
            let mut index = (rows.first + row * rows.row_step) * rows.whole;
            let mut rest = &mut values[..rows.whole.min(rows.stride)];
            while !rest.is_empty() {
                let block = (index / NUMBERS) as u32;
                if drawn != Some(block) {
                    draw(stream, block, threshold, factor, &mut factors);
                    drawn = Some(block);
                }
                let remaining = &factors[index % NUMBERS..];
                let (now, later) = rest.split_at_mut(remaining.len().min(rest.len()));
                for (value, factor) in now.as_flattened_mut().iter_mut().zip(remaining.as_flattened()) {
                    *value *= factor;
                }
                index += now.len();
                rest = later;
            }
        }
    }
}

/// The factors of the values of a block.
#[inline(always)]
fn draw<const L: usize>(
    stream: DropoutStream,
    block: u32,
    threshold: u32,
    factor: f32,
    factors: &mut [Lanes<L>; NUMBERS],
) {
    let words = stream.block::<L>(block);
    let factor_of = |number| if number < threshold { 0.0 } else { factor };
    for (factors, words) in factors.as_chunks_mut::<2>().0.iter_mut().zip(&words) {
        one_at_a_time();
        for l in 0..L {
            factors[0][l] = factor_of(words[l] & 0xffff);
        }
        one_at_a_time();
        for l in 0..L {
            factors[1][l] = factor_of(words[l] >> 16);
        }
    }
}
