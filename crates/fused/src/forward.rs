//! A forward pass with everything that it computes.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::architecture::{Architecture, InvalidArchitecture};
use crate::blocks::{Blocks, Probe, Site, padded};
use crate::interventions::{Intervention, InvalidIntervention};
use crate::lanes::{LANES, Lanes};
use crate::samples::{Predictions, Samples};

/// Everything that a model computes for some samples, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forward {
    /// Logits, probabilities, losses, and the attention of `[CLS]` in the last block.
    pub predictions: Predictions,
    /// The first block's input. `[sample, position, d_model]`
    pub embeddings: Vec<f32>,
    /// Which keys each query may look at; empty if every query may look at all. `[sample, query, key]`
    pub mask: Vec<bool>,
    /// Before the softmax. `[sample, layer, head, query, key]`
    pub scores: Vec<f32>,
    /// After the softmax. `[sample, layer, head, query, key]`
    pub weights: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub query: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub key: Vec<f32>,
    /// `[sample, layer, head, position, d_head]`
    pub value: Vec<f32>,
    /// Weights times values. `[sample, layer, head, position, d_head]`
    pub context: Vec<f32>,
    /// A block's input plus the attention output, before the norm. `[sample, layer, position, d_model]`
    pub residual: Vec<f32>,
    /// Of the feed-forward layer, after the rectifier. `[sample, layer, position, d_ff]`
    pub hidden: Vec<f32>,
    /// The feed-forward layer's input plus its output, before the norm; empty without such layers.
    /// `[sample, layer, position, d_model]`
    pub feed_forward_residual: Vec<f32>,
    /// What a block gives to the next. `[sample, layer, position, d_model]`
    pub output: Vec<f32>,
}

/// A forward pass that cannot be.
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidForward {
    /// Its architecture cannot be.
    Architecture(InvalidArchitecture),
    /// An intervention does not suit it.
    Intervention(InvalidIntervention),
}

impl fmt::Display for InvalidForward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Architecture(error) => error.fmt(f),
            Self::Intervention(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for InvalidForward {}

/// What a forward pass records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// Everything.
    All,
    /// Predictions, scores and weights; the other arrays stay empty.
    Attention,
}

/// Computes some samples, and everything on the way.
///
/// # Errors
/// When the architecture or an intervention cannot be.
///
/// # Panics
/// When there are not [`Architecture::parameter_count`] parameters, or as [`Model::step`](crate::Model::step).
pub fn forward(
    architecture: &Architecture,
    parameters: &[f32],
    samples: Samples<'_>,
    chosen: &[u32],
    interventions: &[Intervention],
) -> Result<Forward, InvalidForward> {
    let mut tracer = Tracer::new(architecture)?;
    tracer.forward(parameters, samples, chosen, interventions, Recorded::All)
}

/// Forward passes of one architecture, which share their memory: of many steps of a training, for example.
#[derive(Clone, Debug)]
pub struct Tracer {
    architecture: Architecture,
    blocks: Blocks,
}

impl Tracer {
    /// Memory for the passes.
    ///
    /// # Errors
    /// When the architecture cannot be.
    pub fn new(architecture: &Architecture) -> Result<Self, InvalidForward> {
        let architecture = architecture.clone().validate();
        let architecture = architecture.map_err(InvalidForward::Architecture)?;
        Ok(Self {
            blocks: Blocks::new(&architecture),
            architecture,
        })
    }

    /// As [`forward()`], with what is recorded.
    ///
    /// # Errors
    /// When an intervention cannot be.
    ///
    /// # Panics
    /// As [`forward()`].
    pub fn forward(
        &mut self,
        parameters: &[f32],
        samples: Samples<'_>,
        chosen: &[u32],
        interventions: &[Intervention],
        recorded: Recorded,
    ) -> Result<Forward, InvalidForward> {
        let architecture = &self.architecture;
        let checked = interventions
            .iter()
            .try_for_each(|one| one.check(architecture));
        checked.map_err(InvalidForward::Intervention)?;
        let parameters = self.blocks.pack(parameters);
        let mut recorder = Recorder {
            forward: Forward::empty(architecture, chosen.len(), recorded),
            architecture,
            interventions,
            recorded,
            part: Part {
                samples: chosen.len(),
                first: 0,
                lanes: 0,
            },
            mask: Vec::new(),
            stream: Vec::new(),
        };
        for chunk in chosen.chunks(LANES) {
            recorder.part.lanes = chunk.len();
            let predictions = &mut Predictions::default();
            self.blocks
                .trace(&parameters, samples, chunk, &mut recorder, predictions);
            recorder.forward.predictions.append(predictions);
            recorder.part.first += chunk.len();
        }
        Ok(recorder.forward)
    }
}

impl Forward {
    fn empty(architecture: &Architecture, samples: usize, recorded: Recorded) -> Self {
        let a = architecture;
        let (p, layers) = (a.positions, a.n_layers);
        let zeros = |count: usize| vec![0.0; samples * count];
        let pairs = || zeros(layers * a.n_heads * p * p);
        let attention = Self {
            scores: pairs(),
            weights: pairs(),
            ..Self::default()
        };
        if recorded == Recorded::Attention {
            return attention;
        }
        let per_layer = |width: usize| zeros(layers * p * width);
        let masked = a.mask.is_some() || a.padding_token.is_some();
        Self {
            embeddings: zeros(p * a.d_model),
            mask: vec![false; if masked { samples * p * p } else { 0 }],
            query: per_layer(a.d_model),
            key: per_layer(a.d_model),
            value: per_layer(a.d_model),
            context: per_layer(a.d_model),
            residual: per_layer(a.d_model),
            hidden: per_layer(a.d_ff),
            feed_forward_residual: per_layer(if a.d_ff > 0 { a.d_model } else { 0 }),
            output: per_layer(a.d_model),
            ..attention
        }
    }
}

/// Changes the values of a pass as the interventions say, and records them.
struct Recorder<'a> {
    forward: Forward,
    architecture: &'a Architecture,
    interventions: &'a [Intervention],
    recorded: Recorded,
    part: Part,
    /// The mask before interventions.
    mask: Vec<Lanes>,
    /// The present block's input.
    stream: Vec<Lanes>,
}

impl Probe for Recorder<'_> {
    fn reach(&mut self, site: Site, values: &mut [Lanes]) {
        if !self.interventions.is_empty() {
            self.change(site, values);
        }
        if self.recorded == Recorded::All || matches!(site, Site::Scores(..) | Site::Weights(..)) {
            self.record(site, values);
        }
    }
}

impl Recorder<'_> {
    fn change(&mut self, site: Site, values: &mut [Lanes]) {
        if let Site::Mask(layer) = site {
            // Every block starts from the architecture's own mask.
            if layer == 0 {
                self.mask = values.to_vec();
            } else {
                values.copy_from_slice(&self.mask);
            }
        }
        for intervention in self.interventions {
            intervention.change(site, values, &self.stream, self.architecture);
        }
        if let Site::Embeddings | Site::Output(_) = site {
            self.stream = values.to_vec();
        }
    }

    fn record(&mut self, site: Site, values: &[Lanes]) {
        let a = self.architecture;
        let (p, d_head, heads) = (a.positions, a.d_head(), a.n_heads);
        let (width, part) = (padded(a.d_model), self.part);
        let forward = &mut self.forward;
        let rows = |into: &mut [f32], layer: usize, columns: usize| {
            part.copy(
                into,
                layer * p * columns,
                [p, columns],
                values,
                padded(columns),
            );
        };
        let of_heads = |into: &mut [f32], layer: usize| {
            for head in 0..heads {
                let start = (layer * heads + head) * p * d_head;
                part.copy(into, start, [p, d_head], &values[head * d_head..], width);
            }
        };
        let pairs = |into: &mut [f32], layer: usize, head: usize| {
            part.copy(into, (layer * heads + head) * p * p, [p, p], values, p);
        };
        match site {
            Site::Embeddings => rows(&mut forward.embeddings, 0, a.d_model),
            Site::Mask(_) => {
                let masks = forward.mask.chunks_exact_mut(p * p).skip(part.first);
                for (lane, mask) in masks.take(part.lanes).enumerate() {
                    let own = if self.interventions.is_empty() {
                        values
                    } else {
                        &self.mask
                    };
                    for (may, own) in mask.iter_mut().zip(own) {
                        *may = own[lane] != 0.0;
                    }
                }
            }
            Site::Query(layer) => of_heads(&mut forward.query, layer),
            Site::Key(layer) => of_heads(&mut forward.key, layer),
            Site::Value(layer) => of_heads(&mut forward.value, layer),
            Site::Context(layer) => of_heads(&mut forward.context, layer),
            Site::Scores(layer, head) => pairs(&mut forward.scores, layer, head),
            Site::Weights(layer, head) => pairs(&mut forward.weights, layer, head),
            Site::Residual(layer) => rows(&mut forward.residual, layer, a.d_model),
            Site::Hidden(layer) => rows(&mut forward.hidden, layer, a.d_ff),
            Site::FeedForwardResidual(layer) => {
                rows(&mut forward.feed_forward_residual, layer, a.d_model);
            }
            Site::Output(layer) => rows(&mut forward.output, layer, a.d_model),
        }
    }
}

/// The samples of one pass among all samples.
#[derive(Clone, Copy, Debug)]
struct Part {
    samples: usize,
    first: usize,
    lanes: usize,
}

impl Part {
    /// Copies rows of each lane to the values of its sample, `start` numbers after their first. `stride` is the
    /// distance between two rows of `values`.
    fn copy(
        self,
        into: &mut [f32],
        start: usize,
        [rows, columns]: [usize; 2],
        values: &[Lanes],
        stride: usize,
    ) {
        let each = into.len() / self.samples;
        for lane in 0..self.lanes {
            let own = &mut into[(self.first + lane) * each + start..][..rows * columns];
            for (row, own) in own.chunks_exact_mut(columns).enumerate() {
                for (number, value) in own.iter_mut().zip(&values[row * stride..]) {
                    *number = value[lane];
                }
            }
        }
    }
}
