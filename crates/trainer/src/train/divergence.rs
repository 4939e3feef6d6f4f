//! What a diverged run was doing just before.

use headlight_data::Dataset;
use headlight_model::Parameter;

use crate::engine::{Engine, TrainingState};

/// The largest gradient of the last step whose loss was a number, as part of a sentence; nothing where
/// there was none since `before`.
///
/// `good` are the batches of the steps since then whose loss was a number. By now weights and gradients
/// are lost, so these steps are taken once more.
pub(super) fn last_gradient(
    engine: &mut dyn Engine,
    train: &Dataset,
    before: &TrainingState,
    good: &[&[u32]],
) -> String {
    let Some((last, earlier)) = good.split_last() else {
        return String::new();
    };
    if engine.restore(before).is_err() {
        return String::new();
    }
    for batch in earlier {
        engine.step(train, batch);
    }
    match largest(&engine.gradient(train, last)) {
        Some((name, size)) => {
            format!("; the largest gradient of the step before was {size:.2e}, of `{name}`")
        }
        None => String::new(),
    }
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
