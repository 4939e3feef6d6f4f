//! Which samples may hold padding.

use headlight_data::Source;
use headlight_experiment::config::ExperimentConfig;

/// Whether samples may be of different lengths. Those that a rule alone generates are not, and neither are those of
/// columns of categories.
pub(super) fn is_padded(config: &ExperimentConfig) -> bool {
    let data = &config.data;
    let are_texts = data.words.is_some() && data.columns.features.is_empty();
    let differ = are_texts || data.words.is_none() && matches!(data.source, Source::File(_));
    differ && config.model.attention.padding_token.is_some()
}
