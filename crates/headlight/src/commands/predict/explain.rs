//! `headlight predict --explain`: which words decided.

use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::explain::Explanation;
use headlight_trainer::Failure;
use headlight_trainer::documents::explanation;
use headlight_trainer::storage::outputs::Output;
use serde_json::Value;

use crate::arguments::Form;
use crate::printing::{print_beside, print_json};
use crate::terminal;

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
