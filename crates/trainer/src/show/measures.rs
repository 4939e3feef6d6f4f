//! The measures that a config asks for, of one model, as a section of a document.

use headlight_analysis::measures::{MeasureValue, info};
use headlight_experiment::config::MeasureName;
use headlight_report::{Section, Table, number};

/// Each measure with its value, and what it says; of those by head, the values of each layer are in order. `None` without
/// measures.
pub fn section(measures: &[(MeasureName, MeasureValue)]) -> Option<Section> {
    let (mut rows, mut sentences) = (Vec::new(), Vec::new());
    for (name, value) in measures {
        rows.push(vec![name.name().to_owned(), written(*name, value)]);
        sentences.push(format!("{}: {}", name.name(), name.sentence()));
    }
    let table = Table::of_rows(&["measure", "value"], rows).left_aligned(&["value"]);
    (!measures.is_empty()).then(|| Section::titled("Measures", sentences, [table]))
}

fn written(name: MeasureName, value: &MeasureValue) -> String {
    let decimals = info(name).decimals;
    let one = |value: f64| number(Some(value), decimals);
    match value {
        MeasureValue::Undefined => number(None, decimals),
        MeasureValue::Number(value) => one(*value),
        MeasureValue::PerHead(layers) => {
            let of_heads = |heads: &Vec<f64>| {
                let heads: Vec<String> = heads.iter().copied().map(one).collect();
                heads.join(" ")
            };
            let layers: Vec<String> = layers.iter().map(of_heads).collect();
            layers.join(" | ")
        }
    }
}
