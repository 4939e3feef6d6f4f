//! How many samples there are for training, and how many are held out.

use std::fmt;

use headlight_keys::{Choice, Kind, Number, Value};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of samples that each step draws.
const FRESH: &str = "fresh";

/// `data.samples`: a number, or `"fresh"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Samples {
    /// So many, which each epoch shuffles.
    Number(usize),
    /// Those that each step draws.
    Fresh,
}

/// `data.held_out`: a number, or a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HeldOut {
    /// So many samples.
    Number(usize),
    /// This share of the samples.
    Share(f64),
}

/// The number of training samples, unless they are fresh or those of a file, and that of held-out ones.
///
/// The generator `all`, which has `listed` samples, leaves to training what is not held out: of a share,
/// `floor((1 - share) * listed)` samples. Other generators hold out a share of the number of training samples, rounded down.
pub(crate) fn resolved(
    samples: Option<Samples>,
    held_out: HeldOut,
    listed: impl FnOnce() -> Result<Option<usize>, String>,
) -> Result<(Option<Samples>, usize), String> {
    if let HeldOut::Share(share) = held_out
        && !(0.0..1.0).contains(&share)
    {
        return Err(format!(
            "`held_out` is {share:?}; it must be a whole number of samples, or a share of them, at least 0 and below 1"
        ));
    }
    match (samples, held_out) {
        (Some(Samples::Number(_) | Samples::Fresh), HeldOut::Number(count)) => Ok((samples, count)),
        (Some(Samples::Fresh), HeldOut::Share(share)) => Err(format!(
            "`held_out` is {share:?}, but fresh samples (samples = \"fresh\") have no number that it could be a share \
             of; set held_out to a whole number"
        )),
        (None | Some(Samples::Number(_)), _) => {
            let Some(listed) = listed()? else {
                return match (samples, held_out) {
                    (_, HeldOut::Number(count)) => Ok((samples, count)),
                    (Some(Samples::Number(count)), HeldOut::Share(share)) => {
                        Ok((samples, part(count, share, false)))
                    }
                    (_, HeldOut::Share(_)) => Err(
                        "`held_out` is a share, and the config does not say of how many samples; set held_out to a \
                         whole number, or hold out a part of a file with `fold`"
                            .to_owned(),
                    ),
                };
            };
            let (train, held_out) = match held_out {
                HeldOut::Number(count) => (listed.saturating_sub(count), count),
                HeldOut::Share(share) => {
                    let train = part(listed, share, true);
                    (train, listed - train)
                }
            };
            match samples {
                Some(Samples::Number(given)) if given != train => Err(format!(
                    "`samples` is {given}, but the share in `held_out` leaves {train} of {listed} samples to train on; \
                     remove samples, or set held_out to a whole number"
                )),
                // Too many held-out samples are refused as such.
                _ => Ok((Some(Samples::Number(train.max(1))), held_out)),
            }
        }
    }
}

/// `floor(share * count)`, or with `rest` the same of what the share leaves, exact for the share's decimal digits: in binary,
/// 0.9 of 10 leaves less than 1.
pub fn part(count: usize, share: f64, rest: bool) -> usize {
    /// More digits than a share of 64 bits has.
    const DIGITS: usize = 18;
    let text = format!("{share}");
    let digits = text.split_once('.').map_or("", |(_, digits)| digits);
    let digits = &digits[..digits.len().min(DIGITS)];
    let whole = 10_u128.pow(digits.len() as u32);
    let taken = digits.parse::<u128>().unwrap_or(0);
    let taken = if rest { whole - taken } else { taken };
    (count as u128 * taken / whole) as usize
}

impl Number for Samples {
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(count) => count.number(),
            Self::Fresh => None,
        }
    }

    fn text(&self) -> String {
        self.written().unwrap_or_default()
    }
}

impl Value for Samples {
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
}

impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(count) => count.serialize(serializer),
            Self::Fresh => serializer.serialize_str(FRESH),
        }
    }
}

impl<'de> Deserialize<'de> for Samples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Samples;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of samples or \"fresh\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Samples, E> {
                (text == FRESH)
                    .then_some(Samples::Fresh)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Samples, E> {
                Ok(Samples::Number(number(count)))
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> Result<Samples, E> {
                match u64::try_from(count) {
                    Ok(count) => self.visit_u64(count),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(count), &self)),
                }
            }
        }

        deserializer.deserialize_any(Any)
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

impl Serialize for HeldOut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(count) => count.serialize(serializer),
            Self::Share(share) => share.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for HeldOut {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = HeldOut;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of samples, or a share of them below 1")
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> Result<HeldOut, E> {
                Ok(HeldOut::Number(number(count)))
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> Result<HeldOut, E> {
                match u64::try_from(count) {
                    Ok(count) => self.visit_u64(count),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(count), &self)),
                }
            }

            fn visit_f64<E: de::Error>(self, share: f64) -> Result<HeldOut, E> {
                Ok(HeldOut::Share(share))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// A count, which a machine of 32 bits may not hold; then it is refused as too large.
fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
