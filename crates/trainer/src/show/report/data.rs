//! The samples of a run: how many of which class, and their words.

use std::cmp::Reverse;

use headlight_data::words::FIRST_WORD;
use headlight_data::{Dataset, DatasetConfig, IGNORED, Splits, Task, Words};
use headlight_experiment::config::ExperimentConfig;
use headlight_report::{Listing, Section, Table, counted, shorten};

use super::names::{class_name, left_out, tokens};
use crate::show::assessment::{MOST_CLASSES, MOST_NAME};

/// The most positives, and the most names of classes, that are listed.
const LISTED: usize = 5;

/// The most frequent words that are listed.
const MOST_WORDS: usize = 12;

/// The title of a report without a rule.
pub(crate) fn title(data: &DatasetConfig) -> String {
    match data.task {
        Task::NextToken => {
            let words = data.words.as_ref();
            let unit = words.map_or("token", |words| words.level.name());
            return format!("Which {unit} follows?");
        }
        Task::Classification | Task::TokenClassification => {}
    }
    let count = match data.n_classes {
        2 => "Two".to_owned(),
        n_classes => n_classes.to_string(),
    };
    let names = 0..data.classes.len().min(LISTED);
    let names: Vec<String> = names.map(|class| class_name(data, class)).collect();
    let names = match data.classes.len() {
        0 => String::new(),
        all if all > LISTED => format!(": {}, ...", names.join(", ")),
        _ => format!(": {}", names.join(", ")),
    };
    let of_tokens = if data.task.is_per_position() {
        " of tokens"
    } else {
        ""
    };
    format!("{count} classes{of_tokens} from a file{names}")
}

pub(super) fn sections(config: &ExperimentConfig, splits: &Splits) -> Vec<Section> {
    let data = &config.data;
    let mut sections = match (data.n_classes, &data.classes[..]) {
        (2, []) if !data.task.is_per_position() => vec![positives(config, splits)],
        _ => classes(data, splits),
    };
    let padding = config.model.attention.padding_token;
    match (&data.words, padding) {
        (Some(of_data), _) => sections.extend(words(of_data, data, splits)),
        (None, Some(token)) => sections.push(Section::of_paragraph(format!(
            "Token {token} pads shorter samples; it receives no attention."
        ))),
        (None, None) => {}
    }
    let known = splits.repetitions(data, &config.tests).into_iter();
    let known = known.map(|(what, count)| Section::of_paragraph(format!("{what}: {count}.")));
    sections.extend(known);
    if data.label_noise > 0.0 {
        sections.push(Section::of_paragraph(format!(
            "Each label of a training sample is wrong with probability {} (data.label_noise); held-out labels are true.",
            data.label_noise
        )));
    }
    sections
}

/// How many samples there are; `more` is about those that the run shows.
fn sizes(splits: &Splits, is_fresh: bool, more: &str) -> String {
    let shown = format!("{} sample", splits.displayed_name());
    let shown = counted(splits.displayed_samples().len(), &shown) + more;
    if is_fresh {
        return format!("Each step draws its own samples. {shown}.");
    }
    let held_out = counted(splits.held_out.len(), "held-out sample");
    format!("{shown}; {held_out}.")
}

/// The number of positives, and the first of them.
fn positives(config: &ExperimentConfig, splits: &Splits) -> Section {
    let (shown, is_fresh) = (splits.displayed_samples(), config.data.is_fresh());
    let (all, count) = (shown.len(), shown.positives().count());
    let rate = share(count, shown);
    let positive = format!(", {count} of them positive ({rate:.1}%)");
    let counts = sizes(splits, is_fresh, &positive);
    let width = all.to_string().len();
    let first = shown.positives().take(LISTED);
    let mut lines: Vec<String> = first
        .map(|sample| format!("{sample:>width$}: {}", tokens(config, shown, sample)))
        .collect();
    if count > LISTED {
        let more = count - LISTED;
        let written = if is_fresh {
            ""
        } else {
            " (`headlight data` writes them)"
        };
        lines.push(format!("... and {more} more{written}"));
    }
    let listing = (count > 0).then(|| Listing {
        title: "Samples with label 1:".to_owned(),
        lines,
    });
    Section {
        title: "Data".to_owned(),
        paragraphs: vec![counts],
        listings: listing.into_iter().collect(),
        ..Section::default()
    }
}

/// The number of samples of each class.
fn classes(data: &DatasetConfig, splits: &Splits) -> Vec<Section> {
    let shown = splits.displayed_samples();
    let counts = shown.class_counts(data.n_classes).into_iter().enumerate();
    let rows = counts.take(MOST_CLASSES).map(|(class, count)| {
        let share = format!("{:.1}%", share(count, shown));
        vec![class_name(data, class), count.to_string(), share]
    });
    let unit = if data.task.is_per_position() {
        "positions"
    } else {
        "samples"
    };
    let is_fresh = data.is_fresh();
    let which = if is_fresh {
        ", which the table counts"
    } else {
        ""
    };
    let counts = sizes(splits, is_fresh, which);
    let table = Table::of_rows(&["class", unit, "share"], rows);
    let table = Section::titled("Data", [counts], [table]);
    let positive = (data.classes.len() == 2 && !data.task.is_per_position()).then(|| {
        let name = class_name(data, 1);
        Section::of_paragraph(format!(
            "In this report, a positive is a sample of class {name}."
        ))
    });
    let notes = [left_out(data, ""), positive];
    [table]
        .into_iter()
        .chain(notes.into_iter().flatten())
        .collect()
}

/// The vocabulary, its most frequent words, and what became of the others.
fn words(words: &Words, data: &DatasetConfig, splits: &Splits) -> Vec<Section> {
    let mut counts = vec![0; words.vocab_size() as usize];
    for &token in splits.displayed_samples().all_tokens() {
        counts[token as usize] += 1;
    }
    let mut frequent: Vec<u32> = (FIRST_WORD..words.vocab_size()).collect();
    frequent.sort_by_key(|&token| Reverse(counts[token as usize]));
    let frequent = frequent.iter().take(MOST_WORDS).map(|&token| {
        let word = shorten(words.text(token), MOST_NAME);
        format!("{word} ({})", counts[token as usize])
    });
    let vocabulary = format!(
        "The vocabulary has {}. The most frequent in the {} samples: {}.",
        counted(
            words.vocabulary.len(),
            data.text_unit().name().trim_end_matches('s')
        ),
        splits.displayed_name(),
        frequent.collect::<Vec<_>>().join(", ")
    );
    let losses = splits.texts.map(|texts| texts.sentences(data.seq_len));
    let losses = losses.unwrap_or_default();
    let losses = (!losses.is_empty()).then(|| losses.join(" "));
    let paragraphs = [vocabulary].into_iter().chain(losses);
    paragraphs.map(Section::of_paragraph).collect()
}

/// A count of labels, in percent.
fn share(count: usize, all: &Dataset) -> f64 {
    let counted = all.labels().iter().filter(|&&label| label != IGNORED);
    100.0 * count as f64 / counted.count().max(1) as f64
}
