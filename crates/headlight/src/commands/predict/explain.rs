//! `headlight predict --explain`: which words decided.

use std::path::Path;

use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::explain::Explanation;
use headlight_trainer::Failure;
use headlight_trainer::documents::explanation;
use headlight_trainer::storage::outputs::Output;
use headlight_trainer::storage::standard::shown;
use serde_json::Value;

use crate::arguments::Form;
use crate::printing::{print_beside, print_json};
use crate::terminal;

/// Refuses to explain many samples.
///
/// # Errors
/// When a file is given.
pub(super) fn check_one(file: Option<&Path>) -> Result<(), Failure> {
    file.map_or(Ok(()), |file| {
        Err(Failure::Input(format!(
            "--explain explains one sample, and {} is a file; give the sample with --text or --tokens",
            shown(file)
        )))
    })
}

/// Prints the explanation below what is predicted, or writes its picture. `json` is the prediction as JSON.
///
/// # Errors
/// When the picture cannot be written.
pub(super) fn show(
    explained: &Explanation,
    config: &ExperimentConfig,
    described: &str,
    json: impl FnOnce() -> Value,
    form: Form,
    picture: Option<Output<'_>>,
) -> Result<(), Failure> {
    let table = explanation::table(explained, config);
    if let Some(out) = picture {
        out.write_all(table.svg().as_bytes())?;
    }
    if form.json {
        let mut line = json();
        line["explanation"] = explanation::json(explained, &config.data);
        return print_json(&line);
    }
    let text = table.text(terminal::options().width);
    print_beside(&[picture], &format!("{described}\n{text}"))
}
