//! The trained model, as the screen asks it.

use headlight_architecture::{Look, Parameter, strongest_head};
use headlight_data::{Dataset, Source};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{Array, Forward, Frozen, Intervention, Recorded};
use headlight_experiment::metrics::predicted_class;
use headlight_experiment::{Error, Experiment};

/// The most samples of one forward pass.
const PASS: usize = 64;

/// A model with its weights.
pub(super) struct UsedModel<'a> {
    pub(super) experiment: &'a Experiment,
    frozen: Frozen,
    weights: Vec<f32>,
}

/// What the model says of a sample.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// The sample's index in its dataset.
    pub(super) sample: usize,
    /// The probability of each class. `[class]`
    pub(super) probabilities: Vec<f64>,
    /// The weights of the last block. `[head][query, key]`
    pub(super) heads: Vec<Vec<f32>>,
}

/// What the model answers at each position of a sample.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    /// The sample's index in its dataset.
    pub(super) sample: usize,
    /// `[position]`
    pub(super) classes: Vec<u32>,
}

impl Said {
    /// The class with the largest probability; of equals, the first.
    pub(super) fn class(&self) -> usize {
        let classes = 0..self.probabilities.len();
        let best = classes.reduce(|best, class| {
            if self.probabilities[class] > self.probabilities[best] {
                class
            } else {
                best
            }
        });
        best.unwrap_or(0)
    }
}

impl<'a> UsedModel<'a> {
    pub(super) fn new(experiment: &'a Experiment, parameters: &[Parameter]) -> Result<Self, Error> {
        Ok(Self {
            experiment,
            frozen: Frozen::new(&experiment.config)?,
            weights: Parameter::weights(parameters),
        })
    }

    pub(super) fn config(&self) -> &'a ExperimentConfig {
        &self.experiment.config
    }

    /// The samples that judge the model, in a word.
    pub(super) fn split(&self) -> &'static str {
        if self.experiment.splits.held_out.is_empty() {
            "training"
        } else {
            "held-out"
        }
    }

    /// What it says of samples, if no query looks at some positions.
    pub(super) fn ask(
        &mut self,
        dataset: &Dataset,
        samples: &[usize],
        without: &[usize],
    ) -> Result<Vec<Said>, Error> {
        let layers = 0..self.config().model.n_layers;
        let removals = layers.flat_map(|layer| {
            let keys = without.iter();
            keys.map(move |&position| Intervention::RemoveKey { layer, position })
        });
        let removals: Vec<Intervention> = removals.collect();
        let mut all = Vec::new();
        for samples in samples.chunks(PASS) {
            let chosen: Vec<u32> = samples.iter().map(|&sample| sample as u32).collect();
            let forward = self.frozen.forward(
                &self.weights,
                dataset,
                &chosen,
                &removals,
                Recorded::Attention,
            )?;
            let said = samples.iter().enumerate();
            let config = self.config();
            all.extend(said.map(|(place, &sample)| {
                let shown = config.shown_position(dataset.tokens(sample));
                said_of(&forward, place, sample, shown)
            }));
        }
        Ok(all)
    }

    /// Its answer at each position of samples.
    pub(super) fn answers(
        &mut self,
        dataset: &Dataset,
        samples: &[usize],
    ) -> Result<Vec<Answers>, Error> {
        let mut all = Vec::new();
        for samples in samples.chunks(PASS) {
            let chosen: Vec<u32> = samples.iter().map(|&sample| sample as u32).collect();
            let (weights, only) = (&self.weights, Recorded::Predictions);
            let forward = self.frozen.forward(weights, dataset, &chosen, &[], only)?;
            let (positions, logits) = (forward.dims.positions, forward.dims.logits);
            let of_samples = forward.predictions.logits.chunks(positions * logits);
            all.extend(samples.iter().zip(of_samples).map(|(&sample, own)| {
                let class = |own: &[f32]| {
                    let wide: Vec<f64> = own.iter().map(|&logit| logit.into()).collect();
                    predicted_class(&wide)
                };
                Answers {
                    sample,
                    classes: own.chunks(logits).map(class).collect(),
                }
            }));
        }
        Ok(all)
    }

    /// The strongest head of the last block over samples of a dataset.
    pub(super) fn strongest_head(&self, dataset: &Dataset, all: &[Said]) -> usize {
        let deciding: Vec<Vec<usize>> = all
            .iter()
            .map(|said| self.deciding(dataset.tokens(said.sample)))
            .collect();
        let looks = all.iter().zip(&deciding).map(|(said, deciding)| Look {
            label: Some(dataset.label(said.sample)),
            deciding,
            ..self.look(dataset, said)
        });
        strongest_head(&looks.collect::<Vec<_>>()).unwrap_or(0)
    }

    /// The strongest head of the last block in one sample, as `headlight predict --explain` has it.
    pub(super) fn head_of(&self, dataset: &Dataset, said: &Said) -> usize {
        strongest_head(&[self.look(dataset, said)]).unwrap_or(0)
    }

    fn look<'b>(&self, dataset: &Dataset, said: &'b Said) -> Look<'b> {
        let config = self.config();
        let read = config.shown_position(dataset.tokens(said.sample));
        let positions = dataset.positions();
        let heads = said.heads.iter();
        Look::alone(
            heads
                .map(|head| &head[read * positions..][..positions])
                .collect(),
            config
                .model
                .attention
                .keys(read, dataset.tokens(said.sample)),
        )
    }

    /// Names a sample. Nothing but the file's own lines numbers samples of a file, so that others say what is counted.
    pub(super) fn named(&self, split: &str, kind: &str, sample: usize, of: &Dataset) -> String {
        match self.config().data.source {
            Source::File(_) => format!("{split} {kind} {sample} of 0 to {}", of.len() - 1),
            Source::Generated { .. } | Source::Fresh { .. } => {
                format!("{split} {kind} {sample}")
            }
        }
    }

    /// The positions that decide a sample's label; empty if they are unknown.
    pub(super) fn deciding(&self, tokens: &[u32]) -> Vec<usize> {
        let data = &self.config().data;
        let query = self.config().shown_position(tokens);
        data.rule
            .as_ref()
            .map_or_else(Vec::new, |rule| rule.deciding_at(tokens, data.cls, query))
    }

    /// The text of a token.
    pub(super) fn word(&self, token: u32) -> String {
        let config = self.config();
        config
            .data
            .token_text(token, config.model.attention.padding_token)
    }

    /// The positions of a sample that hold no padding.
    pub(super) fn filled(&self, tokens: &[u32]) -> Vec<usize> {
        let padding = self.config().model.attention.padding_token;
        let positions = 0..tokens.len();
        positions
            .filter(|&position| Some(tokens[position]) != padding)
            .collect()
    }
}

/// With an answer per position, `shown` is the position whose answer it is.
fn said_of(forward: &Forward, place: usize, sample: usize, shown: usize) -> Said {
    let dims = forward.dims;
    let (pairs, logits) = (dims.positions * dims.positions, dims.logits);
    let of_sample = dims.layers * dims.heads * pairs;
    let last = place * of_sample + (dims.layers - 1) * dims.heads * pairs;
    let weights = &forward.arrays[Array::Weights][last..][..dims.heads * pairs];
    let answer = if dims.per_position {
        place * dims.positions + shown
    } else {
        place
    };
    let given = &forward.predictions.probabilities[answer * logits..][..logits];
    let probabilities = match *given {
        [one] => vec![1.0 - f64::from(one), f64::from(one)],
        ref all => all.iter().map(|&one| f64::from(one)).collect(),
    };
    Said {
        sample,
        probabilities,
        heads: weights.chunks(pairs).map(<[f32]>::to_vec).collect(),
    }
}
