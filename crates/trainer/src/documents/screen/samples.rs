//! Samples of numbers: how many, where the position that the class is read from looks in each class, and the weights of one
//! of them.

use headlight_data::{Dataset, Task};
use headlight_experiment::{Error, Experiment};
use headlight_inspector::{Part, Weights, counted, number, shorten_apart};

use super::model::{Said, UsedModel};
use crate::documents::report::{answer, quoted_answer};

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
    let counts = splits.shown().class_counts(data.n_classes);
    let classes = 0..counts.len().min(MOST_CLASSES);
    let names: Vec<String> = classes.map(|class| answer(data, class)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let named = shorten_apart(&names, NAME).into_iter().zip(&counts);
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
    let losses = splits.texts.map(|texts| texts.losses(data.seq_len));
    lines.extend(
        losses
            .filter(|losses| !losses.is_empty())
            .map(|losses| losses.join(" ")),
    );
    lines
}

/// The means of each class, and one sample.
pub(super) fn parts(model: &mut UsedModel<'_>) -> Result<Vec<Part>, Error> {
    let experiment = model.experiment;
    let judged = experiment.splits.judged();
    let classes = experiment.config.data.n_classes.min(MOST_CLASSES);
    let chosen: Vec<usize> = (0..classes)
        .flat_map(|class| judged.of_class(class as u32).take(OF_CLASS))
        .collect();
    let said = model.ask(judged, &chosen, &[])?;
    let head = model.strongest_head(judged, &said);
    Ok(vec![
        Part::Weights(means(model, judged, &said, head)),
        Part::Weights(one(model, head)?),
    ])
}

/// Where the position that the class is read from looks on average over samples of each class.
fn means(model: &UsedModel<'_>, judged: &Dataset, all: &[Said], head: usize) -> Weights {
    let config = model.config();
    let (data, positions) = (&config.data, judged.positions());
    let inputs = config.inputs();
    let keys_of = |said: &Said| {
        let tokens = judged.tokens(said.sample);
        let read = config.shown_position(tokens);
        config.model.attention.keys(read, tokens)
    };
    // Samples of different lengths have no uniform attention in common, and their weights no common measure.
    let first = all.first().map(keys_of);
    let common = first.filter(|first| all.iter().all(|said| keys_of(said) == *first));
    let mut rows = Vec::new();
    for class in 0..data.n_classes.min(MOST_CLASSES) {
        let own = all
            .iter()
            .filter(|said| judged.label(said.sample) as usize == class);
        let mut sums = vec![(0.0_f64, 0.0_f64); positions];
        for said in own {
            let read = config.shown_position(judged.tokens(said.sample));
            let row = &said.heads[head][read * positions..][..positions];
            let keys = keys_of(said);
            for (key, (sum, count)) in sums.iter_mut().enumerate() {
                if keys.has(key) {
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
    let samples = counted_of(judged, data.n_classes, all.len(), split);
    let (layer, reader) = (config.model.n_layers - 1, config.shown_reader());
    Weights {
        title: match common {
            Some(keys) => format!(
                "Where {reader} looks, mean of {samples} (layer {layer}, head {head}; uniform {})",
                number(keys.each(), 2)
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
fn counted_of(judged: &Dataset, n_classes: usize, count: usize, split: &str) -> String {
    let samples = counted(judged.len(), &format!("{split} sample"));
    if count == judged.len() {
        return samples;
    }
    let sizes = judged.class_counts(n_classes);
    let is_cut = sizes.iter().take(MOST_CLASSES).any(|&size| size > OF_CLASS);
    let first = if is_cut {
        format!("at most the first {OF_CLASS}")
    } else {
        "those".to_owned()
    };
    let classes = match n_classes {
        ..=MOST_CLASSES => "each class".to_owned(),
        _ if is_cut => format!("each of the first {MOST_CLASSES} classes"),
        _ => format!("the first {MOST_CLASSES} of {n_classes} classes"),
    };
    format!("{count} of {samples}, {first} of {classes}")
}

/// The first of the samples that a run shows that is not of class 0: its probability, with and without what decides it, and its weights.
fn one(model: &mut UsedModel<'_>, head: usize) -> Result<Weights, Error> {
    let config = model.config();
    let splits = &model.experiment.splits;
    let shown_samples = splits.shown();
    let sample = shown_samples.positives().next().unwrap_or(0);
    let tokens = shown_samples.tokens(sample);
    let (positions, inputs) = (shown_samples.positions(), config.inputs());
    let (read, cls) = (config.shown_position(tokens), inputs.cls);
    let all = model.ask(shown_samples, &[sample], &[])?;
    let said = &all[0];
    let shown = model.filled(tokens);
    let weights = &said.heads[head];
    let mut without = model.deciding(tokens);
    if without.is_empty() || without.len() > MOST_DECIDING {
        let keys = shown.iter().copied().filter(|&key| Some(key) != cls);
        let largest = keys.reduce(|best, key| {
            let row = &weights[read * positions..];
            if row[key] > row[best] { key } else { best }
        });
        without = largest.into_iter().collect();
    }
    let class = match config.data.n_classes {
        2 => 1,
        _ => said.class(),
    };
    let probability = said.probabilities[class];
    let label = shown_samples.label(sample);
    let kind = if said.class() == label as usize {
        "Correct"
    } else {
        "Wrong"
    };
    let removed = model.ask(shown_samples, &[sample], &without)?[0].probabilities[class];
    let name = match (config.data.n_classes, &config.data.classes[..]) {
        (2, []) => String::new(),
        _ => format!(" of {}", quoted_answer(&config.data, class as u32)),
    };
    let place: Vec<String> = without.iter().map(usize::to_string).collect();
    let s = if place.len() == 1 { "" } else { "s" };
    let is_whole = config.data.seq_len <= WHOLE_MATRIX;
    let queries = shown.iter().filter(|&&query| is_whole || query == read);
    let row = |&query: &usize| {
        let row = &weights[query * positions..][..positions];
        let row = shown.iter().map(|&key| row[key]).collect();
        (model.word(tokens[query]), row)
    };
    let rows: Vec<(String, Vec<f32>)> = queries.map(row).collect();
    let main = if is_whole {
        shown.iter().position(|&query| query == read)
    } else {
        Some(0)
    };
    Ok(Weights {
        title: format!(
            "{kind}: {}, label {}, probability{name} {probability:.3}; {removed:.3} without \
             position{s} {}",
            model.named(splits.shown_name(), "sample", sample, shown_samples),
            quoted_answer(&config.data, label),
            place.join(" and ")
        ),
        keys: shown.iter().map(|&key| model.word(tokens[key])).collect(),
        rows,
        main,
        classes: 0,
    })
}
