//! What the config beside a results file says of its runs.

use headlight_architecture::Keys;
use headlight_data::{Source, Task};
use headlight_experiment::config::ExperimentConfig;

/// What the configs of a sweep's points say of its runs.
#[derive(Clone, Debug)]
pub(super) struct SweepFacts {
    /// The names of the samples of label 1 or more, and of those of label 0, if the configs agree.
    pub(super) classes: [String; 2],
    /// The position whose attention rows hold, as sentences name it.
    pub(super) reader: String,
    /// Whether some of the models read the class from the mean of all positions.
    pub(super) reads_mean: bool,
    /// What the models answer.
    pub(super) task: Task,
    /// Whether samples may be of different lengths.
    pub(super) padded: bool,
    /// Whether the attention weights of all models are a softmax.
    pub(super) has_softmax: bool,
    /// Whether a rule says which positions decide the label; `None` without a config.
    pub(super) has_rule: Option<bool>,
    pub(super) deciding: DecidingPositions,
    /// The keys that the position of `reader` may look at, by point of the grid; the last holds for later points. Empty if
    /// they are not known, or not the same in all samples.
    keys: Vec<Keys>,
}

/// The positions that decide the label.
#[derive(Clone, Debug)]
pub(super) enum DecidingPositions {
    /// The same in all samples and at all points of the grid.
    Fixed(Vec<usize>),
    /// They differ between points of the grid, or do not exist.
    ByPoint,
    /// They differ from sample to sample.
    BySample,
}

impl SweepFacts {
    /// What reports assume of runs without a config.
    pub(super) fn unknown() -> Self {
        Self {
            classes: ["label 1 or more", "label 0"].map(str::to_owned),
            reader: "[CLS]".to_owned(),
            reads_mean: false,
            task: Task::Classification,
            padded: false,
            has_softmax: true,
            has_rule: None,
            deciding: DecidingPositions::BySample,
            keys: Vec::new(),
        }
    }

    /// What these configs say, one for each point or one for all of them.
    pub(super) fn of(configs: &[ExperimentConfig]) -> Self {
        let Some(first) = configs.first() else {
            return Self::unknown();
        };
        let padded = configs.iter().any(is_padded);
        let unknown = Self::unknown();
        let rules = || {
            configs
                .iter()
                .filter_map(|config| config.data.rule.as_ref())
        };
        let differs = rules().any(|rule| rule.fixed_positions().is_none());
        let fixed = |config: &ExperimentConfig| config.data.rule.as_ref()?.fixed_positions();
        Self {
            classes: common(configs, class_names).unwrap_or(unknown.classes),
            reader: common(configs, ExperimentConfig::measured_readout_name)
                .unwrap_or_else(|| "the readout position".to_owned()),
            reads_mean: configs.iter().any(ExperimentConfig::reads_mean),
            task: first.data.task,
            padded,
            has_softmax: configs.iter().all(|config| config.model.attention.softmax),
            has_rule: Some(rules().next().is_some()),
            deciding: match common(configs, fixed).flatten() {
                _ if differs => DecidingPositions::BySample,
                Some(positions) => DecidingPositions::Fixed(positions),
                None => DecidingPositions::ByPoint,
            },
            keys: configs.iter().filter(|_| !padded).map(keys).collect(),
        }
    }

    /// The keys at a point of the grid, if they are known.
    pub(super) fn keys(&self, point: usize) -> Option<&Keys> {
        self.keys.get(point).or(self.keys.last())
    }

    /// Uniform attention on each key, if it is known and the same at all points.
    pub(super) fn uniform(&self) -> Option<f64> {
        let first = self.keys.first()?;
        let is_same = self.keys.iter().all(|keys| keys == first);
        is_same.then(|| first.uniform_each())?
    }
}

/// What all configs have in common.
fn common<T: PartialEq>(
    configs: &[ExperimentConfig],
    part: impl Fn(&ExperimentConfig) -> T,
) -> Option<T> {
    let first = part(configs.first()?);
    let is_same = configs.iter().all(|config| part(config) == first);
    is_same.then_some(first)
}

/// Whether samples may be of different lengths. Those that a rule alone generates are not, and neither are those of
/// columns of categories.
fn is_padded(config: &ExperimentConfig) -> bool {
    let data = &config.data;
    let are_texts = data.words.is_some() && data.columns.features.is_empty();
    let differ = are_texts || data.words.is_none() && matches!(data.source, Source::File(_));
    differ && config.model.attention.padding_token.is_some()
}

/// The keys that the readout position may look at in a sample without padding.
fn keys(config: &ExperimentConfig) -> Keys {
    let (attention, inputs) = (&config.model.attention, config.inputs());
    let token = u32::from(attention.padding_token == Some(0));
    attention.keys(inputs.read_position, &vec![token; inputs.positions])
}

fn class_names(config: &ExperimentConfig) -> [String; 2] {
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
