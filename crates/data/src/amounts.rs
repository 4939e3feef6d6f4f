//! How many samples there are for training, and how many are held out.

use headlight_schema::{Kind, Value, choices};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

choices! {
    /// `data.samples`.
    pub enum SampleCount {
        /// Each step draws its own.
        Fresh = "fresh",
    }
    or
    /// A fixed number of samples, which each epoch shuffles.
    Number(usize), "expected a number of samples or \"fresh\""
}

impl SampleCount {
    /// How many there are before the first step.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Number(count) => count,
            Self::Fresh => 0,
        }
    }
}

/// `data.held_out`: a number, or a share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a whole number of samples, or a share of them, at least 0 and below 1"
)]
pub(crate) enum HeldOut {
    /// A number of samples.
    Number(usize),
    /// A share of the samples.
    Share(#[serde(deserialize_with = "share")] f64),
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    let share = Some(share).filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| D::Error::custom("no share"))
}

/// The number of training samples, unless they are fresh or those of a file, and that of held-out ones.
///
/// The generator `all`, which has `listed` samples, leaves to training what is not held out: of a share,
/// `floor((1 - share) * listed)` samples. Other generators hold out a share of the number of training samples, rounded down.
pub(crate) fn resolved(
    samples: Option<SampleCount>,
    held_out: HeldOut,
    listed: impl FnOnce() -> Result<Option<usize>, String>,
) -> Result<(Option<SampleCount>, usize), String> {
    let share = match (samples, held_out) {
        (Some(_), HeldOut::Number(count)) => return Ok((samples, count)),
        (None, HeldOut::Number(count)) => {
            // Too many held-out samples are refused as such.
            let rest = |all: usize| SampleCount::Number(all.saturating_sub(count).max(1));
            return Ok((listed()?.map(rest), count));
        }
        (Some(SampleCount::Fresh), HeldOut::Share(share)) => {
            return Err(format!(
                "`held_out` is {share:?}, but fresh samples (samples = \"fresh\") have no total that it could be a share of; set held_out to a whole number"
            ));
        }
        (_, HeldOut::Share(share)) => share,
    };
    let Some(all) = listed()? else {
        let Some(given) = samples else {
            return Err(
                "`held_out` is a share, and the config does not say of how many samples; set held_out to a whole number, \
                 or hold out a part of a file with `fold`"
                    .to_owned(),
            );
        };
        return Ok((samples, share_of(given.count(), share)));
    };
    let train = remaining_after(all, share);
    match samples {
        Some(SampleCount::Number(given)) if given != train => Err(format!(
            "`samples` is {given}, but the share in `held_out` leaves {train} of {all} samples to train on; remove the key `samples`, \
             or set held_out to a whole number"
        )),
        _ => Ok((Some(SampleCount::Number(train.max(1))), all - train)),
    }
}

/// `floor(share * count)`, exact for the share's decimal digits.
pub fn share_of(count: usize, share: f64) -> usize {
    let (taken, whole) = fraction(share);
    (count as u128 * taken / whole) as usize
}

/// `floor((1 - share) * count)`, exact for the share's decimal digits: in binary, 0.9 of 10 leaves less than 1.
fn remaining_after(count: usize, share: f64) -> usize {
    let (taken, whole) = fraction(share);
    (count as u128 * (whole - taken) / whole) as usize
}

/// A share of at least 0 and below 1 as numerator and denominator, by its decimal digits.
fn fraction(share: f64) -> (u128, u128) {
    /// More digits than a share of 64 bits has.
    const DIGITS: usize = 18;
    let text = format!("{share}");
    let digits = text.split_once('.').map_or("", |(_, digits)| digits);
    let digits = &digits[..digits.len().min(DIGITS)];
    let whole = 10_u128.pow(digits.len() as u32);
    (digits.parse().unwrap_or(0), whole)
}

impl Value for HeldOut {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Whole, Kind::Number])
    }
}
