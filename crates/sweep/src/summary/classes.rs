//! The names of the two groups of samples whose attention rows hold, and of the position whose attention it is.

use headlight_data::Task;
use headlight_experiment::config::ExperimentConfig;

/// The names of the samples of label 1 or more, and of those of label 0, if these configs agree.
pub(super) fn classes<'a>(mut configs: impl Iterator<Item = &'a ExperimentConfig>) -> [String; 2] {
    let first = configs.next().map(named);
    let same = first.filter(|first| configs.all(|config| named(config) == *first));
    same.unwrap_or_else(|| ["label 1 or more", "label 0"].map(str::to_owned))
}

/// The position that the class is read from, if these configs agree, as sentences name it.
pub(super) fn reader<'a>(mut configs: impl Iterator<Item = &'a ExperimentConfig>) -> String {
    let first = configs.next().map(ExperimentConfig::measured_reader);
    let same = first.filter(|first| configs.all(|config| config.measured_reader() == *first));
    same.unwrap_or_else(|| "the position that the class is read from".to_owned())
}

fn named(config: &ExperimentConfig) -> [String; 2] {
    let data = &config.data;
    let name = |class: u32| match data.classes.get(class as usize) {
        Some(name) => name.clone(),
        None => format!("label {class}"),
    };
    let positive = match data.n_classes {
        2 => name(1),
        _ if data.classes.is_empty() => format!("labels 1 to {}", data.n_classes - 1),
        _ => format!("every class but {}", name(0)),
    };
    [positive, name(0)]
}

/// The attention rate of a config's models; `None` if their weights are no softmax.
pub(super) fn rate(config: &ExperimentConfig) -> Option<f64> {
    let attention = &config.model.attention;
    attention.softmax.then_some(attention.rate)
}

/// What the models of these configs answer, by the first of them.
pub(super) fn task<'a>(mut configs: impl Iterator<Item = &'a ExperimentConfig>) -> Task {
    let first = configs.next();
    first.map_or(Task::Classification, |config| config.data.task)
}
