//! Why a training may learn less than its user expects, told before it begins.

use headlight_data::{ClsPlace, SampleShape, Source, Task};
use headlight_experiment::Experiment;
use headlight_experiment::config::ExperimentConfig;

/// All that is to be said of an experiment, a sentence each.
pub(super) fn doubts(experiment: &Experiment) -> impl Iterator<Item = String> {
    let sentences = [
        blind_note(&experiment.config),
        drawn_padding(experiment),
        experiment.unreached_steps(),
        untrained_classes(experiment),
        unweighted_choice(experiment),
    ];
    sentences.into_iter().flatten()
}

/// That what samples hold cannot be learned from, since the reader is blind, and what to do.
fn blind_note(config: &ExperimentConfig) -> Option<String> {
    let reader = config.blind_readout()?;
    let (samples, remedy) = match (config.reads_cls(), config.data.cls) {
        (true, ClsPlace::First) => ("its samples", ", or data.cls = \"last\""),
        (true, _) => ("its samples", ", or data.cls = \"first\""),
        _ if config.data.task.is_per_position() => ("the rest of its samples", ""),
        _ => ("the rest of its samples", ", or model.pooling"),
    };
    Some(format!(
        "the mask lets {reader} look at no token but itself, so the model cannot read {samples}; choose another \
         model.attention.mask{remedy}"
    ))
}

/// That generated samples hold the padding token between others.
fn drawn_padding(experiment: &Experiment) -> Option<String> {
    let (data, samples) = (
        &experiment.config.data,
        experiment.splits.displayed_samples(),
    );
    let token = experiment.config.model.attention.padding_token?;
    let shape = SampleShape::new(data, Some(token));
    let is_drawn = |sample| shape.check_padding(samples.tokens(sample)).is_err();
    let is_generated = matches!(data.source, Source::Generated(_));
    (is_generated && (0..samples.len()).any(is_drawn)).then(|| {
        format!(
            "samples hold token {token} between others, which the label rule counts and no query sees; set another \
             model.attention.padding_token, or remove it"
        )
    })
}

/// That the best model is chosen by a loss without the weights that training has.
fn unweighted_choice(experiment: &Experiment) -> Option<String> {
    experiment.splits.train.weights()?;
    let chosen_by = experiment.config.training.keep_best?.name();
    chosen_by.ends_with("loss").then(|| {
        format!(
            "training.keep_best = \"{chosen_by}\" measures without weights, so the model that is kept may be one of an early step; \
             remove training.keep_best and training.patience to keep the last one"
        )
    })
}

/// The most classes that a note names.
const MOST_NAMED: usize = 5;

/// The classes of held-out samples that no training sample has, as a sentence.
fn untrained_classes(experiment: &Experiment) -> Option<String> {
    let (data, splits) = (&experiment.config.data, &experiment.splits);
    if data.task == Task::NextToken || splits.train.is_empty() {
        return None;
    }
    let [train, held_out] =
        [&splits.train, &splits.held_out].map(|part| part.class_counts(data.n_classes));
    let untrained = (0..data.n_classes as u32)
        .filter(|&class| train[class as usize] == 0 && held_out[class as usize] > 0);
    let names: Vec<String> = untrained.map(|class| data.class_name(class)).collect();
    let more = match names.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = names[..names.len().min(MOST_NAMED)].join(", ");
    (!names.is_empty()).then(|| {
        format!("held-out samples have classes that no training sample has: {named}{more}")
    })
}
