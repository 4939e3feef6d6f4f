//! The page of a config, without a run.

use std::sync::Arc;

use headlight_data::Source;
use headlight_experiment::Experiment;
use headlight_experiment::config::{EngineName, ExperimentConfig};
use headlight_page::{Lab, Page};

use super::retraining::{EXACT, inexact_seed};
use super::samples::embedded_samples;
use crate::files::config::{to_json, with_file_names};
use crate::session::dataset::dataset;
use crate::session::opening::{engine_for, unsupported_by_fused};
use crate::{Failure, shown};

/// The page that trains a config when it is opened. It depends on the config, and on the samples of its file.
///
/// # Errors
/// When the config is one that the page cannot train, or its samples cannot be read or do not fit into a page.
pub fn lab(name: String, mut config: ExperimentConfig) -> Result<Page, Failure> {
    let refused = |reason: String| Err(Failure::Input(reason));
    if engine_for(&config)? != EngineName::Fused {
        let setting = unsupported_by_fused(&config);
        let setting = setting.unwrap_or_else(|| "compute.engine = \"burn\"".to_owned());
        return refused(format!(
            "`{setting}`: a page trains only with the fused engine, on the CPU; remove this setting, or use `headlight train`"
        ));
    }
    if config.training.start.is_some() {
        let reason = "`training.start`: a page draws its parameters from the seed; remove this key, or use `headlight train`";
        return refused(reason.to_owned());
    }
    config.compute.engine = EngineName::Fused;
    let data = match &config.data.source {
        Source::Generated(_) => None,
        Source::File(path) => match embedded_samples(&config, path)? {
            Ok(data) => Some(data),
            Err(why) => return refused(format!("{}: the samples {why}", shown(path))),
        },
    };
    let splits = dataset(&config)?;
    let experiment = Experiment::new(with_file_names(config), Arc::new(splits), None)?;
    experiment.check_recording()?;
    let config = to_json(&experiment.config)?;
    if let Some(key) = inexact_seed(&config) {
        return refused(format!(
            "`{key}`: the scripts of pages have no whole numbers above {EXACT}; lower it, or use `headlight train`"
        ));
    }
    let mut page = Page::without_a_run(Lab { name, config, data });
    page.question = experiment
        .config
        .data
        .rule
        .as_ref()
        .map(|rule| rule.question());
    Ok(page)
}
