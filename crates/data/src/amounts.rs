//! How many samples there are for training, and how many are held out.

use headlight_schema::{Choice, Kind, Value};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

/// The name of samples that each step draws.
const FRESH: &str = "fresh";

/// `data.samples`: a number, or `"fresh"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleCount {
    /// A fixed number of samples, which each epoch shuffles.
    Number(usize),
    /// Each step draws its own samples.
    Fresh,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum HeldOut {
    /// A number of samples.
    Number(usize),
    /// A share of the samples.
    Share(f64),
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
    let listed = match (samples, held_out) {
        (Some(_), HeldOut::Number(count)) => return Ok((samples, count)),
        (Some(SampleCount::Fresh), HeldOut::Share(share)) => {
            return Err(format!(
                "`held_out` is {share:?}, but fresh samples (samples = \"fresh\") have no total that it could be a share of; set held_out to a whole number"
            ));
        }
        _ => listed()?,
    };
    let (train, held_out) = match (samples, held_out, listed) {
        (_, HeldOut::Number(count), None) => return Ok((samples, count)),
        (Some(SampleCount::Number(count)), HeldOut::Share(share), None) => {
            return Ok((samples, share_of(count, share)));
        }
        (_, HeldOut::Share(_), None) => {
            return Err(
                "`held_out` is a share, and the config does not say of how many samples; set held_out to a whole number, \
                 or hold out a part of a file with `fold`"
                    .to_owned(),
            );
        }
        (_, HeldOut::Number(count), Some(listed)) => (listed.saturating_sub(count), count),
        (_, HeldOut::Share(share), Some(listed)) => {
            let train = remaining_after(listed, share);
            (train, listed - train)
        }
    };
    match samples {
        Some(SampleCount::Number(given)) if given != train => Err(format!(
            "`samples` is {given}, but the share in `held_out` leaves {train} of {} samples to train on; remove the key `samples`, \
             or set held_out to a whole number",
            train + held_out
        )),
        // Too many held-out samples are refused as such.
        _ => Ok((Some(SampleCount::Number(train.max(1))), held_out)),
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

impl Value for SampleCount {
    fn kind() -> Kind {
        let fresh = Choice {
            name: FRESH.to_owned(),
            sentence: "Each step draws its own.".to_owned(),
        };
        Kind::Either(vec![Kind::Whole, Kind::Choice(vec![fresh])])
    }

    fn written(&self) -> Option<String> {
        match self {
            Self::Number(count) => count.written(),
            Self::Fresh => Some(format!("{FRESH:?}")),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(count) => count.number(),
            Self::Fresh => None,
        }
    }
}

impl Serialize for SampleCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(count) => count.serialize(serializer),
            Self::Fresh => serializer.serialize_str(FRESH),
        }
    }
}

impl<'de> Deserialize<'de> for SampleCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(deserializer)?;
        match (number(&value), value.as_str()) {
            (Some(count), _) => Ok(Self::Number(count)),
            (_, Some(FRESH)) => Ok(Self::Fresh),
            _ => Err(D::Error::custom(format!(
                "{} is neither a number of samples nor {FRESH:?}",
                shown(&value)
            ))),
        }
    }
}

impl Value for HeldOut {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Whole, Kind::Number])
    }

    fn written(&self) -> Option<String> {
        match self {
            Self::Number(count) => count.written(),
            Self::Share(share) => share.written(),
        }
    }
}

impl<'de> Deserialize<'de> for HeldOut {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(deserializer)?;
        let share = value.as_f64().filter(|share| (0.0..1.0).contains(share));
        match (number(&value), share) {
            (Some(count), _) => Ok(Self::Number(count)),
            (_, Some(share)) => Ok(Self::Share(share)),
            _ => Err(D::Error::custom(format!(
                "{} is neither a whole number of samples nor a share of them, at least 0 and below 1",
                shown(&value)
            ))),
        }
    }
}

/// A value in a message. JSON writes nan and inf as null, which a config cannot hold itself.
fn shown(value: &Json) -> String {
    match value {
        Json::Null => "nan or inf".to_owned(),
        value => value.to_string(),
    }
}

/// A count, which a machine of 32 bits may not hold; then it is refused as too large.
fn number(value: &Json) -> Option<usize> {
    let count = value.as_u64()?;
    Some(usize::try_from(count).unwrap_or(usize::MAX))
}
