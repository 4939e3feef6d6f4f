//! `headlight embed`: the vectors of words, alone and in sentences.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use headlight_data::words::{Encoder, UNK};
use headlight_data::{Dataset, DatasetConfig};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::contexts::{Level, Occurrence, Plane, levels, occurrences, separation};
use headlight_input::toml_message::nearest;
use headlight_inspector::{counted, number};
use headlight_trainer::outputs::{Output, print_beside};
use headlight_trainer::printing::print_json;
use headlight_trainer::run_dir::RunDir;
use headlight_trainer::standard::shown;
use headlight_trainer::{Failure, session};
use serde::Serialize;

use crate::cli::EmbedArguments;

/// What `--json` prints.
#[derive(Serialize)]
struct Line<'a> {
    run: String,
    words: Vec<String>,
    split: &'static str,
    occurrences: usize,
    /// In the order of the model.
    levels: Vec<LevelLine<'a>>,
}

#[derive(Serialize)]
struct LevelLine<'a> {
    level: &'a str,
    /// As [`separation`], within each word.
    separation: Option<f64>,
    /// The shares of the variance along the plane's two components.
    plane: [f64; 2],
}

/// Prints how far a word's vectors are apart at each place of the model, and writes them as CSV.
///
/// # Errors
/// When the run cannot be read, no sample holds the words, or the file cannot be written.
pub(crate) fn run(arguments: &EmbedArguments) -> Result<(), Failure> {
    let outputs = Output::all([arguments.csv.as_deref()], &[], arguments.output.force)?;
    arguments.form.check(&outputs)?;
    let [csv] = outputs;
    let run = RunDir::open(&arguments.run)?;
    let config = run.config()?;
    let tokens = arguments.words.iter().map(|word| token(word, &config.data));
    let tokens = tokens.collect::<Result<Vec<u32>, _>>()?;
    let parameters = run.load_weights(&config)?;
    let weights = parameters
        .into_iter()
        .flat_map(|parameter| parameter.values);
    let weights: Vec<f32> = weights.collect();
    let splits = session::dataset(&config)?;
    let (dataset, split) = if splits.held_out.is_empty() {
        (&splits.train, "training")
    } else {
        (&splits.held_out, "held-out")
    };
    let found = occurrences(&config, dataset, &tokens, arguments.occurrences.get());
    if found.is_empty() {
        return Err(Failure::Input(format!(
            "--word: none of the {} of {} has {}; no other samples are looked at, so choose a more frequent word",
            counted(dataset.len(), &format!("{split} sample")),
            shown(&arguments.run),
            quoted(&arguments.words)
        )));
    }
    let table = Table {
        levels: levels(&config, &weights, dataset, &found)?,
        occurrences: found,
        dataset,
        config: &config,
    };
    if let Some(out) = csv {
        out.write(|file| table.write(file))?;
    }
    if arguments.form.json {
        return print_json(&table.line(&arguments.run, &arguments.words, split));
    }
    print_beside(&outputs, &table.text(&arguments.words, split))
}

/// The token of a word.
fn token(word: &str, data: &DatasetConfig) -> Result<u32, Failure> {
    let Some(words) = &data.words else {
        let token = word.parse().ok().filter(|&token| token < data.vocab_size);
        return token.ok_or_else(|| {
            Failure::Input(format!(
                "--word {word}: the run's samples are tokens, not texts; give a number below {}",
                data.vocab_size
            ))
        });
    };
    match Encoder::new(words).encode(word)[..] {
        [token] if token != UNK => Ok(token),
        [_, _, ..] => Err(Failure::Input(format!(
            "--word {word:?}: this is more than one word; give each one with a --word of its own"
        ))),
        _ => {
            let known = words.vocabulary.iter().map(String::as_str);
            let like = nearest(word, known).map(|like| format!("; did you mean {like:?}?"));
            Err(Failure::Input(format!(
                "--word {word:?}: it is not among the {} words of the run's vocabulary{}",
                words.vocabulary.len(),
                like.unwrap_or_default()
            )))
        }
    }
}

fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    words.join(" or ")
}

/// The occurrences and their vectors.
struct Table<'a> {
    occurrences: Vec<Occurrence>,
    levels: Vec<Level>,
    dataset: &'a Dataset,
    config: &'a ExperimentConfig,
}

impl Table<'_> {
    fn width(&self) -> usize {
        self.config.model.d_model
    }

    fn plane(&self, level: &Level) -> Plane {
        Plane::of(&level.vectors, self.width())
    }

    /// Of the occurrences that classes are about. Words differ from each other, so each vector is taken from the mean of
    /// its word's.
    fn separation(&self, level: &Level) -> Option<f64> {
        let vectors = level.vectors.chunks(self.width());
        let asked = self.occurrences.iter().zip(vectors);
        let asked: Vec<(&Occurrence, &[f32])> = asked.filter(|(found, _)| found.is_asked).collect();
        let mut centred = Vec::with_capacity(asked.len() * self.width());
        for (found, vector) in &asked {
            let own = asked.iter().filter(|(other, _)| other.token == found.token);
            let own: Vec<&[f32]> = own.map(|(_, vector)| *vector).collect();
            for (index, value) in vector.iter().enumerate() {
                let sum: f64 = own.iter().map(|vector| f64::from(vector[index])).sum();
                centred.push((f64::from(*value) - sum / own.len() as f64) as f32);
            }
        }
        let label = |found: &Occurrence| self.dataset.label(found.sample as usize);
        let labels: Vec<u8> = asked.iter().map(|(found, _)| label(found)).collect();
        separation(&centred, self.width(), &labels)
    }

    fn text(&self, words: &[String], split: &str) -> String {
        let count = counted(self.occurrences.len(), "occurrence");
        let mut text = format!("{count} of {} in {split} samples\n\n", quoted(words));
        let _ = writeln!(
            text,
            "{:<26} {:>10}  {:>14}",
            "vector", "separation", "plane"
        );
        for level in &self.levels {
            let [first, second] = self.plane(level).shares;
            let _ = writeln!(
                text,
                "{:<26} {:>10}  {:>5.1}% + {:>4.1}%",
                title(&level.name),
                number(self.separation(level), 3),
                100.0 * first,
                100.0 * second
            );
        }
        text + "\n\
            separation: the share of a word's variance that is between the means of the classes (η²), over\n\
            the occurrences that the classes are about; 0: the means are equal; 1: all vectors of a class are\n\
            equal; –: there are fewer than two classes, or the vectors are equal\n\
            plane: the share of the variance along the two principal components\n"
    }

    fn line(&self, run: &Path, words: &[String], split: &'static str) -> Line<'_> {
        let levels = self.levels.iter().map(|level| LevelLine {
            level: &level.name,
            separation: self.separation(level),
            plane: self.plane(level).shares,
        });
        Line {
            run: run.to_string_lossy().into_owned(),
            words: words.to_vec(),
            split,
            occurrences: self.occurrences.len(),
            levels: levels.collect(),
        }
    }

    /// A row for each occurrence at each place of the model.
    fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        let data = &self.config.data;
        let padding = self.config.model.attention.padding_token;
        let mut csv = csv::Writer::from_writer(file);
        let names = [
            "sample", "position", "word", "label", "asked", "level", "pc1", "pc2",
        ];
        let numbers = (0..self.width()).map(|index| format!("v{index}"));
        csv.write_record(names.map(str::to_owned).into_iter().chain(numbers))?;
        for level in &self.levels {
            let points = self.plane(level).points;
            let rows = self.occurrences.iter().zip(points);
            for ((found, point), vector) in rows.zip(level.vectors.chunks(self.width())) {
                let label = self.dataset.label(found.sample as usize);
                let place = [
                    found.sample.to_string(),
                    found.position.to_string(),
                    data.token_text(found.token, padding),
                    data.class_name(label),
                    u8::from(found.is_asked).to_string(),
                    level.name.clone(),
                ];
                let point = point.map(|part| part.to_string());
                let vector = vector.iter().map(f32::to_string);
                csv.write_record(place.into_iter().chain(point).chain(vector))?;
            }
        }
        csv.flush()
    }
}

/// What a reader calls a place of the model.
fn title(level: &str) -> String {
    match level {
        "word" => "the word alone".to_owned(),
        "position" => "with its position".to_owned(),
        block => format!("after block {}", block.trim_start_matches("block_")),
    }
}
