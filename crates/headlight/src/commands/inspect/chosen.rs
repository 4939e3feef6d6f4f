//! The layers, heads and range of colours that the arguments of `headlight inspect` choose.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use headlight_dump::AttentionDump;
use headlight_report::ColourRange;
use headlight_trainer::Failure;

/// The layers and heads that the flags choose: by default the last layer and its strongest head. All heads of all layers,
/// if only the layers are chosen.
pub(super) fn layers_and_heads(
    dump: &AttentionDump,
    layer: Option<Chosen>,
    head: Option<Chosen>,
) -> Result<(Vec<usize>, Vec<usize>), Failure> {
    let layers = match layer {
        Some(chosen) => indices("--layer", chosen, dump.dims.layers)?,
        None => vec![dump.strongest().0],
    };
    let heads = match (head, &layers[..]) {
        (Some(chosen), _) => indices("--head", chosen, dump.dims.heads)?,
        (None, &[layer]) => vec![dump.strongest_head(layer).head],
        (None, _) => indices("--head", Chosen::All, dump.dims.heads)?,
    };
    Ok((layers, heads))
}

/// The layers or heads that a flag chooses.
fn indices(flag: &str, chosen: Chosen, count: usize) -> Result<Vec<usize>, Failure> {
    match chosen {
        Chosen::All => Ok((0..count).collect()),
        Chosen::One(index) if index < count => Ok(vec![index]),
        Chosen::One(index) => {
            let part = flag.trim_start_matches('-');
            let there = match count {
                0 | 1 => format!("the dump has only {part} 0"),
                _ => format!("the {part}s of the dump go from 0 to {}", count - 1),
            };
            Err(Failure::Input(format!("{flag} {index}: {there}")))
        }
    }
}

/// One layer or head, or all.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chosen {
    One(usize),
    All,
}

impl FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            _ => text
                .parse()
                .map(Self::One)
                .map_err(|_| "it must be a number, counted from 0, or `all`".to_owned()),
        }
    }
}

pub(super) fn ranges() -> impl TypedValueParser<Value = ColourRange> {
    let names = ColourRange::NAMED.map(|(name, _)| name);
    PossibleValuesParser::new(names).try_map(|name| {
        let named = ColourRange::NAMED
            .into_iter()
            .find(|(known, _)| *known == name);
        named.map(|(_, range)| range).ok_or("unknown range")
    })
}
