//! Samples without some of their words. A word that is left out becomes padding, as in `training.token_dropout`: no query looks
//! at it, the mean that a classifier may read leaves it out, and a classifier that reads its position finds padding there. If a
//! model has no padding, its place is empty: no query of any layer looks at it, and its vector is 0; a mean still counts the place. The
//! other words keep their places.

use headlight_data::Dataset;

use headlight_experiment::Error;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::fused::{ForwardValues, FrozenModel, Intervention, PatchSite, Recording};

/// What a config's model computes for samples of a dataset without the words at some positions.
///
/// # Errors
/// When the weights do not match the config.
pub fn forward_without(
    frozen: &mut FrozenModel,
    (config, weights): (&ExperimentConfig, &[f32]),
    dataset: &Dataset,
    chosen: &[u32],
    positions: &[usize],
    recorded: Recording,
) -> Result<ForwardValues, Error> {
    let model = &config.model;
    let Some(padding) = model.attention.padding_token else {
        let empty = positions.iter().flat_map(|&position| {
            let remove = move |layer| Intervention::MaskKey { layer, position };
            let zeros = Intervention::Patch {
                site: PatchSite::Embeddings,
                position,
                vector: vec![0.0; model.d_model],
            };
            (0..model.n_layers).map(remove).chain([zeros])
        });
        let empty: Vec<Intervention> = empty.collect();
        return frozen.forward(weights, dataset, chosen, &empty, recorded);
    };
    let mut samples = dataset.without_samples();
    for &sample in chosen {
        let mut tokens = dataset.tokens(sample as usize).to_vec();
        for &position in positions {
            tokens[position] = padding;
        }
        let labels = dataset.labels_of(sample as usize);
        samples.push_each(&tokens, labels.iter().copied());
    }
    let all: Vec<u32> = (0..chosen.len() as u32).collect();
    frozen.forward(weights, &samples, &all, &[], recorded)
}
