//! Dumps: all that a model computes for some samples.

use headlight_architecture::{Mask, Parameter, StrongestHead};
use headlight_data::{Dataset, IGNORED, LabelRule, Splits};
use headlight_dump::{AttentionDump, Meta, VERSION, axes};
#[cfg(feature = "burn")]
use headlight_experiment::config::EngineName;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{self, Intervention};
use headlight_experiment::metrics::rounded_probabilities;

use crate::Failure;
use crate::devices::OpenDevice;
use crate::files::config::to_json;

/// The point in training at which a dump was made; each field is `None` for weights from elsewhere, and `epoch` where there
/// are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// Training steps taken.
    pub step: Option<usize>,
    /// Epochs finished.
    pub epoch: Option<usize>,
    /// Seed of the weights.
    pub seed: Option<u64>,
}

/// The samples to dump.
#[derive(Clone, Debug)]
pub struct DumpSamples<'a> {
    /// The dataset that holds them.
    pub dataset: &'a Dataset,
    /// Their indices.
    pub indices: Vec<usize>,
    /// Whether the samples are a run's own, those that it shows. Only then does the dump record the indices.
    pub numbered: bool,
    /// Whether the labels are known.
    pub labelled: bool,
}

/// The model to run them through.
#[derive(Clone, Copy, Debug)]
pub struct DumpModel<'a> {
    /// Its config.
    pub config: &'a ExperimentConfig,
    /// Its parameters, in any order.
    pub parameters: &'a [Parameter],
}

/// Runs a model over samples and keeps all that it computes; with interventions, the fused engine computes it.
///
/// # Errors
/// When the parameters do not match the config, an intervention does not suit the model, or a result is NaN or infinite.
pub fn dump(
    model: DumpModel<'_>,
    samples: &DumpSamples<'_>,
    origin: Origin,
    device: &OpenDevice,
    interventions: &[Intervention],
) -> Result<AttentionDump, Failure> {
    let mut dump = empty(samples, origin, model.config)?;
    forward(&mut dump, model, samples, device, interventions)?;
    dump.probabilities = rounded_probabilities(&dump.logits, dump.dims.logits);
    for &sample in &samples.indices {
        let tokens = samples.dataset.tokens(sample).iter();
        dump.tokens.extend(tokens.map(|&token| i64::from(token)));
        let labels = samples.dataset.labels_of(sample).iter();
        dump.labels.extend(labels.map(|&label| match label {
            IGNORED => f32::NAN,
            label if samples.labelled => label as f32,
            _ => f32::NAN,
        }));
    }
    let checked = if interventions.is_empty() {
        dump.check()
    } else {
        // A query may have lost all of its keys.
        dump.check_finite()
    };
    checked.map_err(|error| {
        let step = origin
            .step
            .map_or_else(String::new, |step| format!(" at step {step}"));
        Failure::Diverged(format!("attention{step} cannot be dumped: {error}"))
    })?;
    Ok(dump)
}

/// The last layer of a model and its strongest head, over the samples that a run of its config dumps, so that all that shows
/// the run opens on the same head.
pub(crate) fn strongest_head(
    model: DumpModel<'_>,
    splits: &Splits,
    device: &OpenDevice,
) -> Result<(usize, StrongestHead), Failure> {
    let config = model.config;
    if config.model.n_heads == 1 {
        return Ok((config.model.n_layers - 1, StrongestHead::FIRST));
    }
    let dataset = splits.displayed_samples();
    let samples = DumpSamples {
        dataset,
        indices: config.dump.chosen(dataset),
        numbered: true,
        labelled: true,
    };
    Ok(dump(model, &samples, Origin::default(), device, &[])?.strongest())
}

/// Appends what a model computes to the dump's arrays. Burn computes it on a GPU, or where a config asks for
/// Burn; the fused engine computes everything else.
fn forward(
    dump: &mut AttentionDump,
    model: DumpModel<'_>,
    samples: &DumpSamples<'_>,
    device: &OpenDevice,
    interventions: &[Intervention],
) -> Result<(), Failure> {
    let DumpModel { config, parameters } = model;
    let (dataset, indices) = (samples.dataset, &samples.indices);
    #[cfg(feature = "burn")]
    if interventions.is_empty()
        && (device.adapter.is_some() || config.compute.engine == EngineName::Burn)
    {
        return crate::burn::fill(dump, config, parameters, dataset, indices, device);
    }
    #[cfg(not(feature = "burn"))]
    let _ = device;
    let chosen: Vec<u32> = indices.iter().map(|&sample| sample as u32).collect();
    let all = fused::forward(config, parameters, dataset, &chosen, interventions)?;
    dump.logits = all.predictions.logits;
    dump.arrays = all.arrays;
    if let Some(mask) = &mut dump.attention_mask {
        *mask = all.mask;
    }
    Ok(())
}

/// Whether dumps hold a mask.
pub fn is_masked(config: &ExperimentConfig) -> bool {
    let attention = &config.model.attention;
    attention.mask != Mask::None || attention.padding_token.is_some()
}

fn empty(
    samples: &DumpSamples<'_>,
    origin: Origin,
    config: &ExperimentConfig,
) -> Result<AttentionDump, Failure> {
    let (data, inputs) = (&config.data, config.inputs());
    let indices = samples.indices.iter();
    let tokens = |&sample: &usize| samples.dataset.tokens(sample);
    let padding = config.model.attention.padding_token;
    let token_strings = indices.clone().flat_map(tokens);
    let token_strings = token_strings.map(|&token| (token, data.token_text(token, padding)));
    let deciding = |sample| {
        let (tokens, rule) = (tokens(sample), data.rule.as_ref());
        let query = config.readout_position(tokens);
        rule.map_or_else(Vec::new, |rule: &LabelRule| {
            rule.deciding_at(tokens, data.cls, query)
        })
    };
    let number = |&sample| samples.numbered.then_some(sample);
    let dims = fused::dims(config, samples.indices.len())?;
    let masked = is_masked(config);
    Ok(AttentionDump {
        dims,
        meta: Meta {
            version: VERSION,
            axes: axes(dims, masked),
            step: origin.step,
            epoch: origin.epoch,
            seed: origin.seed,
            samples: indices.clone().map(number).collect(),
            token_strings: token_strings.collect(),
            label_positions: indices.map(deciding).collect(),
            read_position: (inputs.cls != Some(inputs.read_position))
                .then_some(inputs.read_position),
            config: to_json(config)?,
        },
        attention_mask: masked.then(Vec::new),
        ..AttentionDump::default()
    })
}
