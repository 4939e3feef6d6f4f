//! The layers of a run's model.

use headlight_experiment::config::ExperimentConfig;
use headlight_report::{Section, Table};

pub(super) fn sections(config: &ExperimentConfig) -> [Section; 2] {
    let inputs = config.inputs();
    let rows = config.model.layers(inputs).into_iter().map(|layer| {
        let axes = layer.output.iter().map(usize::to_string);
        let axes: Vec<String> = ["batch".to_owned()].into_iter().chain(axes).collect();
        let output = format!("({})", axes.join(", "));
        vec![layer.name, output, layer.parameters.to_string()]
    });
    let table = Table::of_rows(&["layer", "output", "parameters"], rows);
    let layers = Section::titled("Model", [], [table.left_aligned(&["output"])]);
    let count = config.model.parameter_count(inputs);
    let count = Section::of_paragraph(format!("Trainable parameters: {count}"));
    [layers, count]
}
