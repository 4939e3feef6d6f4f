//! Samples of numbers: how many, where the readout position looks in each class, and the weights of one
//! of them.

use std::cmp::Reverse;

use headlight_data::{Dataset, Task};
use headlight_dump::AttentionDump;
use headlight_experiment::fused::Recording;
use headlight_experiment::{Error, Experiment};
use headlight_report::{ScreenPart, Weights, counted, number, shorten_apart};

use super::model::{SamplePrediction, UsedModel};
use crate::show::report::{answer, quoted_answer};

/// The most samples of a class that means are over, and the most classes.
const OF_CLASS: usize = 200;
const MOST_CLASSES: usize = 6;

/// The longest name of a class in a list.
const NAME: usize = 16;

/// The most tokens of a sample whose whole matrix is shown.
const WHOLE_MATRIX: usize = 8;

/// The most positions that are taken away together.
const MOST_DECIDING: usize = 3;

/// How many samples there are of each class, and what became of words.
pub(super) fn counts(experiment: &Experiment) -> Vec<String> {
    let (data, splits) = (&experiment.config.data, &experiment.splits);
    let counts = splits.displayed_samples().class_counts(data.n_classes);
    let classes = largest_classes(splits.displayed_samples(), data.n_classes);
    let names = classes.iter().map(|&class| answer(data, class));
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let class_counts = classes.iter().map(|&class| counts[class]);
    let named = shorten_apart(&names, NAME).into_iter().zip(class_counts);
    let mut named: Vec<String> = named
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    if counts.len() > MOST_CLASSES {
        named.push(counted(counts.len() - MOST_CLASSES, "more class"));
    }
    let named = match data.task {
        Task::NextToken => vec![counted(counts.iter().sum(), "token")],
        Task::Classification | Task::TokenClassification => named,
    };
    let (named, held_out) = (named.join(", "), splits.held_out.len());
    let mut lines = vec![if data.is_fresh() {
        format!("Samples  each step draws its own; {held_out} held out: {named}")
    } else {
        let train = splits.train.len();
        format!("Samples  {train} to train on: {named}; {held_out} held out")
    }];
    let losses = splits.texts.map(|texts| texts.sentences(data.seq_len));
    lines.extend(
        losses
            .filter(|losses| !losses.is_empty())
            .map(|losses| losses.join(" ")),
    );
    lines
}

/// The classes that are shown, in order: of many, those with most samples.
fn largest_classes(dataset: &Dataset, n_classes: usize) -> Vec<usize> {
    let counts = dataset.class_counts(n_classes);
    let mut classes: Vec<usize> = (0..n_classes).collect();
    classes.sort_by_key(|&class| Reverse(counts[class]));
    classes.truncate(MOST_CLASSES);
    classes.sort_unstable();
    classes
}

/// The means of each class, and one sample.
pub(super) fn attention_parts(
    model: &mut UsedModel<'_>,
    dump: &AttentionDump,
    head: usize,
) -> Result<Vec<ScreenPart>, Error> {
    let experiment = model.experiment;
    let judged = experiment.splits.judging_samples();
    let chosen: Vec<usize> = largest_classes(judged, experiment.config.data.n_classes)
        .into_iter()
        .flat_map(|class| judged.of_class(class as u32).take(OF_CLASS))
        .collect();
    let predictions = model.predict_without(judged, &chosen, &[], Recording::Attention)?;
    Ok(vec![
        ScreenPart::Weights(mean_weights(model, judged, &predictions, head)),
        ScreenPart::Weights(sample_weights(model, dump, head)?),
    ])
}

/// Where the readout position looks on average over samples of each class.
fn mean_weights(
    model: &UsedModel<'_>,
    judged: &Dataset,
    all: &[SamplePrediction],
    head: usize,
) -> Weights {
    let config = model.config();
    let (data, positions) = (&config.data, judged.positions());
    let inputs = config.inputs();
    let keys_of = |prediction: &SamplePrediction| {
        let tokens = judged.tokens(prediction.sample);
        let read = config.readout_position(tokens);
        config.model.attention.keys(read, tokens)
    };
    // Samples of different lengths have no uniform attention in common, and their weights no common measure.
    let first = all.first().map(keys_of);
    let common = first.filter(|first| all.iter().all(|prediction| keys_of(prediction) == *first));
    let mut rows = Vec::new();
    for class in largest_classes(judged, data.n_classes) {
        let of_class = all
            .iter()
            .filter(|prediction| judged.label(prediction.sample) as usize == class);
        let mut sums = vec![(0.0_f64, 0.0_f64); positions];
        for prediction in of_class {
            let (row, keys) = (&prediction.heads[head], keys_of(prediction));
            for (key, (sum, count)) in sums.iter_mut().enumerate() {
                if keys.contains(key) {
                    let weight = f64::from(row[key]);
                    let times = keys.times_uniform(weight).filter(|_| common.is_none());
                    *sum += times.unwrap_or(weight);
                    *count += 1.0;
                }
            }
        }
        // A position that no sample of the class reaches has no mean.
        let means = sums.iter().map(|(sum, count)| (sum / count) as f32);
        let means: Vec<f32> = means.collect();
        if means.iter().any(|mean| !mean.is_nan()) {
            rows.push((answer(data, class), means));
        }
    }
    // A question first answers yes.
    if data.n_classes == 2 {
        rows.reverse();
    }
    let split = model.split();
    let samples = mean_samples(judged, data.n_classes, all.len(), split);
    let (layer, reader) = (config.model.n_layers - 1, config.displayed_readout_name());
    Weights {
        title: match common {
            _ if !config.model.attention.softmax => {
                format!("Where {reader} looks, mean of {samples} (layer {layer}, head {head})")
            }
            Some(keys) => format!(
                "Where {reader} looks, mean of {samples} (layer {layer}, head {head}; uniform {})",
                number(keys.uniform_each(), 2)
            ),
            None => format!(
                "Where {reader} looks, in multiples of a sample's uniform attention: mean of {samples} of different \
                 lengths (layer {layer}, head {head})"
            ),
        },
        keys: (0..positions)
            .map(|position| match position {
                _ if Some(position) == inputs.cls => "[CLS]".to_owned(),
                _ => position.to_string(),
            })
            .collect(),
        rows,
        main: None,
        classes: data.n_classes,
    }
}

/// The samples that a mean is over: how many of a split, and which if they are not all.
fn mean_samples(judged: &Dataset, n_classes: usize, count: usize, split: &str) -> String {
    let samples = counted(judged.len(), &format!("{split} sample"));
    if count == judged.len() {
        return samples;
    }
    let classes = match n_classes {
        ..=MOST_CLASSES => "each class".to_owned(),
        _ => format!("each of the {MOST_CLASSES} largest classes"),
    };
    format!("{count} of {samples}: up to {OF_CLASS} of {classes}")
}

/// The first of the samples that a run shows that is not of class 0: its probability, with and without what decides it, and its
/// weights, which the run has dumped.
fn sample_weights(
    model: &mut UsedModel<'_>,
    dump: &AttentionDump,
    head: usize,
) -> Result<Weights, Error> {
    let config = model.config();
    let (data, splits) = (&config.data, &model.experiment.splits);
    let samples = splits.displayed_samples();
    let sample = samples.positives().next().unwrap_or(0);
    let mut dumped = dump.meta.samples.iter();
    let dumped = dumped.position(|&one| one == Some(sample)).unwrap_or(0);
    let (positions, read) = (dump.dims.positions, dump.readout_position(dumped));
    let weights = dump.weights(dumped, dump.dims.layers - 1, head);
    let row = |query: usize| &weights[query * positions..][..positions];
    let shown = dump.unpadded(dumped);
    let without = positions_to_remove(dump, dumped, row(read));
    let mut ask = |without: &[usize]| {
        let predictions =
            model.predict_without(samples, &[sample], without, Recording::Predictions);
        Ok::<_, Error>(predictions?.swap_remove(0))
    };
    let (whole, removed) = (ask(&[])?, ask(&without)?);
    let class = match data.n_classes {
        2 => 1,
        _ => whole.classes[0],
    };
    let [probability, removed] = [&whole, &removed].map(|one| one.probabilities[class as usize]);
    let kind = if model.is_right(samples, &whole) {
        "Correct"
    } else {
        "Wrong"
    };
    let name = match (data.n_classes, &data.classes[..]) {
        (2, []) => String::new(),
        _ => format!(" of {}", quoted_answer(data, class)),
    };
    let listed: Vec<String> = without.iter().map(usize::to_string).collect();
    let s = if listed.len() == 1 { "" } else { "s" };
    let is_whole = data.seq_len <= WHOLE_MATRIX;
    let queries = shown.iter().filter(|&&query| is_whole || query == read);
    let word = |position: usize| dump.token_string(dump.tokens(dumped)[position]);
    let cells = |&query: &usize| {
        let row = row(query);
        let row = shown.iter().map(|&key| row[key]).collect();
        (word(query), row)
    };
    let main = if is_whole {
        shown.iter().position(|&query| query == read)
    } else {
        Some(0)
    };
    Ok(Weights {
        title: format!(
            "{kind}: {}, label {}{}, probability{name} {probability:.3}; {removed:.3} without \
             position{s} {}",
            model.sample_name(splits.displayed_name(), "sample", sample, samples),
            quoted_answer(data, samples.label(sample)),
            model.noise_note(samples, sample),
            listed.join(" and ")
        ),
        keys: shown.iter().map(|&key| word(key)).collect(),
        rows: queries.map(cells).collect(),
        main,
        classes: 0,
    })
}

/// The positions that decide a sample's label; where there are none or many, the one that gets the largest weight of a row.
fn positions_to_remove(dump: &AttentionDump, dumped: usize, row: &[f32]) -> Vec<usize> {
    let deciding = &dump.meta.label_positions[dumped];
    if (1..=MOST_DECIDING).contains(&deciding.len()) {
        return deciding.clone();
    }
    let keys = dump.unpadded(dumped).into_iter();
    let keys = keys.filter(|&key| Some(key) != dump.cls());
    let largest = keys.reduce(|best, key| if row[key] > row[best] { key } else { best });
    largest.into_iter().collect()
}
