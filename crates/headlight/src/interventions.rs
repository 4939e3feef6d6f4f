//! `--without-head`, `--without-position`, `--without-layer` and `--patch`: what a forward pass computes if a part of the
//! model is removed, or a vector is another one.

use std::path::PathBuf;

use clap::Args;
use headlight_dump::AttentionDump;
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_experiment::fused::{self, Dims, Intervention, PatchSite};
use headlight_report::counted;
use headlight_trainer::session::opening::engine_for;
use headlight_trainer::show::page::read_dump;
use headlight_trainer::{Failure, shown};
use serde_json::{Value, json};

use crate::arguments::index;

const HEADING: &str = "Interventions";

/// What to change in the forward pass. What is removed comes first, then each patch in its order.
#[derive(Args, Clone, Debug)]
pub(crate) struct InterventionArguments {
    /// Remove head H of layer L, both counted from 0: its context is 0; can be given several times
    #[arg(long, value_name = "L.H", help_heading = HEADING, value_parser = head)]
    without_head: Vec<(usize, usize)>,
    /// Remove position P, counted from 0: no query of any layer looks at it; can be given several times
    #[arg(long, value_name = "P", help_heading = HEADING, value_parser = index)]
    without_position: Vec<usize>,
    /// Remove layer L, counted from 0: its output is its input; can be given several times
    #[arg(long, value_name = "L", help_heading = HEADING, value_parser = index)]
    without_layer: Vec<usize>,
    /// Replace the vector at a position by that of a dump (`headlight dump`), of the same array and position. ARRAY is
    /// embeddings, context.L, head.L.H, residual.L or output.L. The dump has one sample, or one for each that is predicted;
    /// can be given several times
    #[arg(long, value_name = "ARRAY:POSITION=FILE", help_heading = HEADING, value_parser = patch)]
    patch: Vec<(PatchSite, usize, PathBuf)>,
}

fn head(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('.');
    let numbers = parts.and_then(|(layer, head)| Some((layer.parse().ok()?, head.parse().ok()?)));
    numbers.ok_or_else(|| "give a layer and one of its heads, both from 0, such as 0.1".to_owned())
}

fn patch(text: &str) -> Result<(PatchSite, usize, PathBuf), String> {
    let example = "such as residual.0:3=clean.npz";
    let parts = text.split_once('=').filter(|(_, file)| !file.is_empty());
    let (at, file) =
        parts.ok_or_else(|| format!("it names no file; give ARRAY:POSITION=FILE, {example}"))?;
    let (site, position) = at
        .split_once(':')
        .ok_or_else(|| format!("it names no position; give ARRAY:POSITION=FILE, {example}"))?;
    let position = position
        .parse()
        .map_err(|_| format!("`{position}` is not a position; positions count from 0"))?;
    let site = site.parse::<PatchSite>()?;
    Ok((site, position, file.into()))
}

/// The interventions of a command, each found to suit the model.
#[derive(Debug)]
pub(crate) struct Interventions(Vec<Typed>);

/// An option as it was typed, and what it means.
#[derive(Debug)]
struct Typed {
    text: String,
    interventions: Vec<Intervention>,
    /// The samples that have a vector of their own; 1 if all share it, or there is none.
    samples: usize,
}

impl Interventions {
    /// Reads the dumps, and checks all but the number of samples.
    pub(crate) fn new(
        arguments: Option<&InterventionArguments>,
        config: &ExperimentConfig,
    ) -> Result<Self, Failure> {
        let mut all = Vec::new();
        let Some(arguments) = arguments else {
            return Ok(Self(all));
        };
        let mut remove = |text: String, interventions: Vec<Intervention>| {
            for intervention in &interventions {
                check(&text, config, intervention, 1)?;
            }
            let samples = 1;
            all.push(Typed {
                text,
                interventions,
                samples,
            });
            Ok::<_, Failure>(())
        };
        for &(layer, head) in &arguments.without_head {
            let intervention = Intervention::AblateHead { layer, head };
            remove(format!("--without-head {layer}.{head}"), vec![intervention])?;
        }
        for &position in &arguments.without_position {
            let mask = |layer| Intervention::MaskKey { layer, position };
            let masks = (0..config.model.n_layers).map(mask).collect();
            remove(format!("--without-position {position}"), masks)?;
        }
        for &layer in &arguments.without_layer {
            let intervention = Intervention::AblateLayer { layer };
            remove(format!("--without-layer {layer}"), vec![intervention])?;
        }
        for (site, position, file) in &arguments.patch {
            let (&site, &position) = (site, position);
            let text = format!("--patch {site}:{position}={}", shown(file));
            let replaced = |vector| Intervention::Patch {
                site,
                position,
                vector,
            };
            // A site of the model, before the file is read.
            check(&text, config, &replaced(Vec::new()), 0)?;
            let dump = read_dump(file)?;
            let samples = dump.dims.samples;
            let vectors = vectors(&dump, config, site, position).map_err(|reason| {
                Failure::Input(format!(
                    "{text}: {reason}; write a dump of this model with `headlight dump`"
                ))
            })?;
            let intervention = replaced(vectors);
            check(&text, config, &intervention, samples)?;
            all.push(Typed {
                text,
                interventions: vec![intervention],
                samples,
            });
        }
        Ok(Self(all))
    }

    /// Those of the engine.
    pub(crate) fn engine(&self, samples: usize) -> Result<Vec<Intervention>, Failure> {
        let unsuitable = |one: &&Typed| one.samples != 1 && one.samples != samples;
        if let Some(one) = self.0.iter().find(unsuitable) {
            return Err(Failure::Input(format!(
                "{}: the dump has {}, and {} predicted; give a dump of one sample, or of as many",
                one.text,
                counted(one.samples, "sample"),
                match samples {
                    1 => "1 is".to_owned(),
                    many => format!("{many} are"),
                }
            )));
        }
        let all = self.0.iter().flat_map(|one| one.interventions.clone());
        Ok(all.collect())
    }

    /// All of them as they were typed.
    pub(crate) fn typed(&self) -> Vec<&str> {
        self.0.iter().map(|one| &*one.text).collect()
    }

    /// Adds them to an object, if there are any.
    pub(crate) fn add_to(&self, line: &mut Value) {
        if !self.0.is_empty() {
            line["interventions"] = json!(self.typed());
        }
    }

    /// All of them in words; `None` without any.
    pub(crate) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| format!("Interventions: {}", self.typed().join(", ")))
    }

    /// That a head's attention has no effect, since the head or its layer is removed; empty if it has.
    pub(crate) fn removal(&self, wanted: (usize, usize)) -> &'static str {
        let mut all = self.0.iter().flat_map(|one| &one.interventions);
        let removal = all.find_map(|intervention| match *intervention {
            Intervention::AblateHead { layer, head } if (layer, head) == wanted => {
                Some(": removed, so its attention has no effect")
            }
            Intervention::AblateLayer { layer } if layer == wanted.0 => {
                Some(": its layer is removed, so its attention has no effect")
            }
            _ => None,
        });
        removal.unwrap_or_default()
    }
}

/// Checks that the model has the part, and that the fused engine computes it.
fn check(
    typed: &str,
    config: &ExperimentConfig,
    intervention: &Intervention,
    samples: usize,
) -> Result<(), Failure> {
    if engine_for(config)? != EngineName::Fused {
        return Err(Failure::Input(format!(
            "{typed}: only the engine `fused` computes it, on a CPU, and this run is computed by `burn`; add `--device flex`"
        )));
    }
    let checked = fused::check(config, intervention, samples);
    checked.map_err(|error| Failure::Input(format!("{typed}: {error}")))
}

/// The vectors of all samples of a dump at a place, one after the other.
fn vectors(
    dump: &AttentionDump,
    config: &ExperimentConfig,
    site: PatchSite,
    position: usize,
) -> Result<Vec<f32>, String> {
    let theirs = dump.dims;
    let ours = fused::dims(config, theirs.samples).map_err(|error| error.to_string())?;
    if let Some((name, given, needed)) = different(theirs, ours) {
        return Err(format!(
            "the dump has {name} {given}, and the model {needed}"
        ));
    }
    let head = |layer, head| (layer * ours.heads + head) * ours.positions + position;
    let all_heads = ours.layers * ours.heads * ours.positions;
    // How many vectors a sample has, those that are taken, and their width.
    let (count, taken, width) = match site {
        // [sample, position, d_model]
        PatchSite::Embeddings => (ours.positions, vec![position], ours.d_model),
        // [sample, layer, head, position, d_head]
        PatchSite::Head(layer, index) => (all_heads, vec![head(layer, index)], ours.d_head),
        PatchSite::Context(layer) => {
            let heads = (0..ours.heads).map(|index| head(layer, index));
            (all_heads, heads.collect(), ours.d_head)
        }
        // [sample, layer, position, d_model]
        PatchSite::Residual(layer) | PatchSite::Output(layer) => {
            let taken = vec![layer * ours.positions + position];
            (ours.layers * ours.positions, taken, ours.d_model)
        }
    };
    let samples = dump.arrays[site.array()].chunks_exact(count * width);
    let vectors = samples.flat_map(|sample| {
        let vectors = taken.iter();
        vectors.flat_map(|vector| &sample[vector * width..][..width])
    });
    Ok(vectors.copied().collect())
}

/// The first extent in which a dump differs from a model: its name, that of the dump, and that of the model.
fn different(dump: Dims, model: Dims) -> Option<(&'static str, usize, usize)> {
    let extents = [
        ("layers", dump.layers, model.layers),
        ("heads", dump.heads, model.heads),
        ("positions", dump.positions, model.positions),
        ("d_head", dump.d_head, model.d_head),
        ("d_model", dump.d_model, model.d_model),
    ];
    extents.into_iter().find(|(_, dump, model)| dump != model)
}
