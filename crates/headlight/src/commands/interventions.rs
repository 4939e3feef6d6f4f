//! `--without-head`, `--without-position`, `--without-block` and `--patch`: what a forward pass computes if a part of the
//! model is removed, or a vector is another one.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use headlight_dump::AttentionDump;
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_experiment::fused::{self, Dims, Intervention, Place};
use headlight_inspector::counted;
use headlight_trainer::Failure;
use headlight_trainer::documents::page::read_dump;
use headlight_trainer::sessions::session::engine_for;
use headlight_trainer::storage::standard::shown;
use serde::{Serialize, Serializer};

const HEADING: &str = "Interventions";

/// What to change in the forward pass. What is removed comes first, then each patch in its order.
#[derive(Args, Clone, Debug)]
pub(crate) struct InterventionArguments {
    /// Without head H of block L, both from 0: its context is 0; can be given several times
    #[arg(long, value_name = "L.H", help_heading = HEADING)]
    without_head: Vec<Head>,
    /// Without position P, from 0: no query of any block looks at it; can be given several times
    #[arg(long, value_name = "P", help_heading = HEADING)]
    without_position: Vec<usize>,
    /// Without block L, from 0: its output is its input; can be given several times
    #[arg(long, value_name = "L", help_heading = HEADING)]
    without_block: Vec<usize>,
    /// With the vector of a dump (`headlight dump`) at a position: that of the same array and position there. ARRAY is
    /// embeddings, context.L, head.L.H, residual.L or output.L. The dump has one sample, or one for each that is predicted;
    /// can be given several times
    #[arg(long, value_name = "ARRAY:POSITION=FILE", help_heading = HEADING)]
    patch: Vec<Patch>,
}

/// A head as the command line names it.
#[derive(Clone, Copy, Debug)]
struct Head {
    layer: usize,
    head: usize,
}

impl FromStr for Head {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('.');
        let numbers =
            parts.and_then(|(layer, head)| Some((layer.parse().ok()?, head.parse().ok()?)));
        let (layer, head) =
            numbers.ok_or("give a block and one of its heads, both from 0, such as 0.1")?;
        Ok(Self { layer, head })
    }
}

/// A patch as the command line names it.
#[derive(Clone, Debug)]
struct Patch {
    place: Place,
    position: usize,
    file: PathBuf,
}

impl FromStr for Patch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "such as residual.0:3=clean.npz";
        let parts = text.split_once('=').filter(|(_, file)| !file.is_empty());
        let (at, file) = parts
            .ok_or_else(|| format!("it names no file; give ARRAY:POSITION=FILE, {example}"))?;
        let (place, position) = at
            .split_once(':')
            .ok_or_else(|| format!("it names no position; give ARRAY:POSITION=FILE, {example}"))?;
        let position = position
            .parse()
            .map_err(|_| format!("`{position}` is not a position; positions count from 0"))?;
        Ok(Self {
            place: place.parse::<Place>().map_err(|error| error.to_string())?,
            position,
            file: file.into(),
        })
    }
}

/// An intervention of the command line.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Change {
    WithoutHead {
        layer: usize,
        head: usize,
    },
    WithoutPosition {
        position: usize,
    },
    WithoutBlock {
        layer: usize,
    },
    Patch {
        #[serde(rename = "array", serialize_with = "as_text")]
        place: Place,
        position: usize,
        file: PathBuf,
    },
}

fn as_text<S: Serializer>(place: &Place, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(place)
}

/// As in "with these changes: without head 0.1".
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WithoutHead { layer, head } => write!(f, "without head {layer}.{head}"),
            Self::WithoutPosition { position } => write!(f, "without position {position}"),
            Self::WithoutBlock { layer } => write!(f, "without block {layer}"),
            Self::Patch {
                place,
                position,
                file,
            } => write!(f, "{place}:{position} from {}", shown(file)),
        }
    }
}

impl Change {
    /// As it was typed, for messages.
    fn typed(&self) -> String {
        match self {
            Self::WithoutHead { layer, head } => format!("--without-head {layer}.{head}"),
            Self::WithoutPosition { position } => format!("--without-position {position}"),
            Self::WithoutBlock { layer } => format!("--without-block {layer}"),
            Self::Patch {
                place,
                position,
                file,
            } => format!("--patch {place}:{position}={}", shown(file)),
        }
    }

    /// The interventions of the engine, and how many samples have a vector of their own.
    fn resolve(&self, config: &ExperimentConfig) -> Result<(Vec<Intervention>, usize), Failure> {
        Ok(match *self {
            Self::WithoutHead { layer, head } => {
                (vec![Intervention::RemoveHead { layer, head }], 1)
            }
            Self::WithoutPosition { position } => {
                let of = |layer| Intervention::RemoveKey { layer, position };
                ((0..config.model.n_layers).map(of).collect(), 1)
            }
            Self::WithoutBlock { layer } => (vec![Intervention::RemoveBlock { layer }], 1),
            Self::Patch {
                place,
                position,
                ref file,
            } => {
                // A place of the model, before the file is read.
                let none = Vec::new();
                let probe = Intervention::Replace {
                    place,
                    position,
                    vector: none,
                };
                self.check(config, &probe, 0)?;
                let dump = read_dump(file)?;
                let vector = self.vectors(&dump, config, place, position)?;
                let own = Intervention::Replace {
                    place,
                    position,
                    vector,
                };
                (vec![own], dump.dims.samples)
            }
        })
    }

    /// The vectors of all samples of a dump, one after the other.
    fn vectors(
        &self,
        dump: &AttentionDump,
        config: &ExperimentConfig,
        place: Place,
        position: usize,
    ) -> Result<Vec<f32>, Failure> {
        let refused = |what: String| {
            Err(Failure::Input(format!(
                "{}: {what}; write a dump of this model with `headlight dump`",
                self.typed()
            )))
        };
        let (ours, theirs) = (fused::dims(config, dump.dims.samples)?, dump.dims);
        if let Some((name, given, needed)) = different(theirs, ours) {
            return refused(format!(
                "the dump has {name} {given}, and the model {needed}"
            ));
        }
        let array = place.array();
        let values = &dump.arrays[array];
        if values.is_empty() {
            return refused(format!("the dump has no array `{}`", array.name()));
        }
        let rows = match place {
            // [sample, position, d_model]
            Place::Embeddings => Rows {
                each: ours.positions,
                first: position,
                stride: 0,
                count: 1,
                width: ours.d_model,
            },
            // [sample, layer, head, position, d_head]
            Place::Context(layer) => Rows::of_heads(ours, layer, 0, ours.heads, position),
            Place::Head(layer, head) => Rows::of_heads(ours, layer, head, 1, position),
            // [sample, layer, position, d_model]
            Place::Residual(layer) | Place::Output(layer) => Rows {
                each: ours.layers * ours.positions,
                first: layer * ours.positions + position,
                stride: 0,
                count: 1,
                width: ours.d_model,
            },
        };
        Ok(rows.take(values))
    }

    fn check(
        &self,
        config: &ExperimentConfig,
        own: &Intervention,
        samples: usize,
    ) -> Result<(), Failure> {
        let checked = fused::check(config, own, samples);
        checked.map_err(|error| Failure::Input(format!("{}: {error}", self.typed())))
    }
}

/// Some rows of each sample of an array.
struct Rows {
    /// Rows of a sample, and which of them: from the first on, `stride` apart.
    each: usize,
    first: usize,
    stride: usize,
    count: usize,
    /// Numbers in a row.
    width: usize,
}

impl Rows {
    /// The rows of some heads of a block.
    fn of_heads(dims: Dims, layer: usize, head: usize, count: usize, position: usize) -> Self {
        Self {
            each: dims.layers * dims.heads * dims.positions,
            first: (layer * dims.heads + head) * dims.positions + position,
            stride: dims.positions,
            count,
            width: dims.d_head,
        }
    }

    fn take(&self, values: &[f32]) -> Vec<f32> {
        let samples = values.chunks_exact(self.each * self.width);
        let own = samples.flat_map(|sample| {
            let rows = (0..self.count).map(|row| (self.first + row * self.stride) * self.width);
            rows.flat_map(|start| &sample[start..start + self.width])
        });
        own.copied().collect()
    }
}

/// The first extent in which a dump differs from a model: its name, that of the dump, and that of the model.
fn different(dump: Dims, model: Dims) -> Option<(&'static str, usize, usize)> {
    let extents = [
        ("blocks", dump.layers, model.layers),
        ("heads", dump.heads, model.heads),
        ("positions", dump.positions, model.positions),
        ("d_head", dump.d_head, model.d_head),
        ("d_model", dump.d_model, model.d_model),
    ];
    extents.into_iter().find(|(_, dump, model)| dump != model)
}

/// The interventions of a command, each found to suit the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Interventions {
    all: Vec<Suited>,
}

#[derive(Clone, Debug)]
struct Suited {
    change: Change,
    own: Vec<Intervention>,
    /// The samples that have a vector of their own; 1 if all share it, or there is none.
    samples: usize,
}

impl Interventions {
    /// Reads the dumps, and checks all but the number of samples.
    ///
    /// # Errors
    /// When the model lacks a part, a dump is not of this model or cannot be read, or an engine
    /// other than the fused one would compute.
    pub(super) fn new(
        arguments: &InterventionArguments,
        config: &ExperimentConfig,
    ) -> Result<Self, Failure> {
        let changes = arguments.changes();
        let Some(first) = changes.first() else {
            return Ok(Self::default());
        };
        if engine_for(config)? != EngineName::Fused {
            return Err(Failure::Input(format!(
                "{}: only the engine `fused` computes it, on a CPU, and this run is computed by `burn`; add `--device flex`",
                first.typed()
            )));
        }
        let all = changes.into_iter().map(|change| {
            let (own, samples) = change.resolve(config)?;
            for intervention in &own {
                change.check(config, intervention, samples)?;
            }
            Ok(Suited {
                change,
                own,
                samples,
            })
        });
        Ok(Self {
            all: all.collect::<Result<_, Failure>>()?,
        })
    }

    /// Those of the engine.
    ///
    /// # Errors
    /// When a dump has neither one sample nor as many as are predicted.
    pub(super) fn engine(&self, samples: usize) -> Result<Vec<Intervention>, Failure> {
        let unsuitable = |one: &&Suited| one.samples != 1 && one.samples != samples;
        if let Some(one) = self.all.iter().find(unsuitable) {
            return Err(Failure::Input(format!(
                "{}: the dump has {}, and {} predicted; give a dump of one sample, or of as many",
                one.change.typed(),
                counted(one.samples, "sample"),
                match samples {
                    1 => "1 is".to_owned(),
                    many => format!("{many} are"),
                }
            )));
        }
        Ok(self.all.iter().flat_map(|one| one.own.clone()).collect())
    }

    /// All of them in words; `None` without any.
    pub(super) fn text(&self) -> Option<String> {
        let texts: Vec<String> = self.all.iter().map(|one| one.change.to_string()).collect();
        (!texts.is_empty()).then(|| format!("interventions: {}", texts.join(", ")))
    }

    /// That a head's attention has no effect, since the head or its block is removed; empty if it has.
    pub(super) fn removal(&self, of: (usize, usize)) -> &'static str {
        let mut changes = self.all.iter().map(|one| &one.change);
        let removal = changes.find_map(|change| match *change {
            Change::WithoutHead { layer, head } if (layer, head) == of => {
                Some(": removed, so its attention has no effect")
            }
            Change::WithoutBlock { layer } if layer == of.0 => {
                Some(": its block is removed, so its attention has no effect")
            }
            _ => None,
        });
        removal.unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// A list with an object for each.
impl Serialize for Interventions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.all.iter().map(|one| &one.change))
    }
}

impl InterventionArguments {
    /// In the order in which they take place.
    fn changes(&self) -> Vec<Change> {
        let heads = self.without_head.iter();
        let heads = heads.map(|&Head { layer, head }| Change::WithoutHead { layer, head });
        let positions = self.without_position.iter();
        let positions = positions.map(|&position| Change::WithoutPosition { position });
        let blocks = self.without_block.iter();
        let blocks = blocks.map(|&layer| Change::WithoutBlock { layer });
        let patches = self.patch.iter().map(|patch| Change::Patch {
            place: patch.place,
            position: patch.position,
            file: patch.file.clone(),
        });
        heads
            .chain(positions)
            .chain(blocks)
            .chain(patches)
            .collect()
    }

    /// Refuses interventions beside `--explain`.
    ///
    /// # Errors
    /// When there is one.
    pub(super) fn refuse_beside_explain(&self) -> Result<(), Failure> {
        self.changes().first().map_or(Ok(()), |first| {
            Err(Failure::Input(format!(
                "--explain explains the model as it is; leave out `{}`, or --explain",
                first.typed()
            )))
        })
    }
}
