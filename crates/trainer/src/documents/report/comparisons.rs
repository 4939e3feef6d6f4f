//! The numbers of a run beside those of the reference run that it repeats.

use headlight_experiment::config::ExperimentConfig;
use headlight_inspector::{Section, Table};

use crate::sessions::reference::Comparison;

/// `None` if the run repeats no reference run.
pub(super) fn section(config: &ExperimentConfig, comparisons: &[Comparison]) -> Option<Section> {
    let reference = config.reference.as_ref()?;
    let header = [
        "level",
        "what is compared",
        "numbers",
        "largest difference",
        "bound",
        "",
    ];
    let rows = comparisons.iter().map(|comparison| {
        let is_within = if comparison.within {
            "within"
        } else {
            "BEYOND"
        };
        vec![
            comparison.level.to_owned(),
            comparison.what.clone(),
            comparison.numbers.to_string(),
            format!("{:.1e}", comparison.largest),
            comparison.bound.to_owned(),
            is_within.to_owned(),
        ]
    });
    let header = header.map(str::to_owned).to_vec();
    let table = Table::of_text("", "", [header].into_iter().chain(rows).collect());
    Some(Section {
        title: format!("Compared with {}", reference.display()),
        tables: vec![table.left_aligned(&["what is compared", ""])],
        ..Section::default()
    })
}
