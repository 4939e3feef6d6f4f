//! What a diverged run was doing just before.

use headlight_data::Dataset;
use headlight_model::Parameter;

use crate::Failure;
use crate::engine::{Engine, TrainingState};

/// The largest gradient of the last step whose loss was a number, as part of a sentence.
///
/// `batches` are those of the steps since `before`, the last of which gave no loss. By then weights
/// and gradients are lost, so the steps before it are taken once more.
pub(super) fn last_gradient(
    engine: &mut dyn Engine,
    train: &Dataset,
    before: &TrainingState,
    batches: &[&[u32]],
) -> Result<String, Failure> {
    engine.restore(before)?;
    let (asked, when) = match batches.len() {
        0 | 1 => (0, "there"),
        count => (count - 2, "one step before"),
    };
    for batch in &batches[..asked] {
        engine.step(train, batch);
    }
    let gradient = engine.gradient(train, batches[asked]);
    Ok(match largest(&gradient) {
        Some((name, size)) => format!("the largest gradient {when} was {size:.2e}, of `{name}`"),
        None => "there was no gradient".to_owned(),
    })
}

/// The parameter with the gradient furthest from 0; NaN is further than all.
fn largest(gradient: &[Parameter]) -> Option<(&str, f32)> {
    gradient
        .iter()
        .flat_map(|parameter| {
            let sizes = parameter.values.iter().map(|value| value.abs());
            sizes.map(|size| (parameter.name.as_str(), size))
        })
        // The first of equals, so that messages do not depend on what comes after.
        .reduce(|a, b| if b.1.total_cmp(&a.1).is_gt() { b } else { a })
}
