//! Interventions as the page writes them.

use headlight_experiment::fused::{Intervention, PatchSite};
use serde::Deserialize;

/// An intervention, by the engine's names. An enum whose tag stands among its keys would need much code to be read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    AblateHead {
        layer: usize,
        head: usize,
    },
    MaskKey {
        layer: usize,
        position: usize,
    },
    SetAttention {
        layer: usize,
        head: usize,
        query: usize,
        weights: Vec<f32>,
    },
    Patch {
        place: String,
        /// Left out for embeddings.
        #[serde(default)]
        layer: usize,
        position: usize,
        vector: Vec<f32>,
    },
}

/// The interventions of the engine.
pub(crate) fn interventions(changes: Vec<Change>) -> Result<Vec<Intervention>, String> {
    changes.into_iter().map(Change::intervention).collect()
}

impl Change {
    fn intervention(self) -> Result<Intervention, String> {
        Ok(match self {
            Self::AblateHead { layer, head } => Intervention::AblateHead { layer, head },
            Self::MaskKey { layer, position } => Intervention::MaskKey { layer, position },
            Self::SetAttention {
                layer,
                head,
                query,
                weights,
            } => Intervention::SetAttention {
                layer,
                head,
                query,
                weights,
            },
            Self::Patch {
                place,
                layer,
                position,
                vector,
            } => Intervention::Patch {
                site: PatchSite::named(&place, layer)
                    .ok_or_else(|| format!("there is no place `{place}` to patch"))?,
                position,
                vector,
            },
        })
    }
}
