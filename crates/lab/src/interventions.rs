//! Interventions as the page writes them.

use headlight_experiment::fused::{Intervention, PatchSite};
use serde::Deserialize;

/// An intervention. One struct, since a tagged enum would need more code to be read: each kind takes the keys that it has,
/// and a number that is left out is 0.
#[derive(Debug, Deserialize)]
pub(crate) struct Change {
    kind: Kind,
    #[serde(default)]
    layer: usize,
    #[serde(default)]
    head: usize,
    #[serde(default)]
    query: usize,
    #[serde(default)]
    position: usize,
    place: Option<String>,
    #[serde(default)]
    weights: Vec<f32>,
    #[serde(default)]
    vector: Vec<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    RemoveHead,
    RemoveKey,
    RemoveBlock,
    SetWeights,
    Replace,
}

/// The interventions of the engine.
///
/// # Errors
/// When one lacks a place, or there is no such place.
pub(crate) fn interventions(changes: Vec<Change>) -> Result<Vec<Intervention>, String> {
    changes.into_iter().map(Change::intervention).collect()
}

impl Change {
    fn intervention(self) -> Result<Intervention, String> {
        let Self {
            kind,
            layer,
            head,
            query,
            position,
            place,
            weights,
            vector,
        } = self;
        Ok(match kind {
            Kind::RemoveHead => Intervention::AblateHead { layer, head },
            Kind::RemoveKey => Intervention::MaskKey { layer, position },
            Kind::RemoveBlock => Intervention::AblateLayer { layer },
            Kind::SetWeights => Intervention::SetAttention {
                layer,
                head,
                query,
                weights,
            },
            Kind::Replace => Intervention::Patch {
                place: place
                    .and_then(|array| PatchSite::of(&array, layer))
                    .ok_or("`replace` needs a place that exists")?,
                position,
                vector,
            },
        })
    }
}
