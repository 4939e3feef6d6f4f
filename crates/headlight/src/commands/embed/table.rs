//! The vectors of words in sentences, as text, JSON and CSV.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use headlight_data::Dataset;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::contexts::{Level, Occurrence, Plane, separation};
use headlight_inspector::{counted, number};
use serde::Serialize;

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    run: String,
    /// The steps that the model was trained for, if they are known.
    step: Option<usize>,
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

/// The occurrences and their vectors.
pub(super) struct Table<'a> {
    pub(super) occurrences: Vec<Occurrence>,
    pub(super) levels: Vec<Level>,
    pub(super) dataset: &'a Dataset,
    pub(super) config: &'a ExperimentConfig,
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

    pub(super) fn text(&self, words: &[String], split: &str) -> String {
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

    pub(super) fn line(
        &self,
        run: &Path,
        step: Option<usize>,
        words: &[String],
        split: &'static str,
    ) -> Line<'_> {
        let levels = self.levels.iter().map(|level| LevelLine {
            level: &level.name,
            separation: self.separation(level),
            plane: self.plane(level).shares,
        });
        Line {
            run: run.to_string_lossy().into_owned(),
            step,
            words: words.to_vec(),
            split,
            occurrences: self.occurrences.len(),
            levels: levels.collect(),
        }
    }

    /// A row for each occurrence at each place of the model.
    pub(super) fn write(&self, file: &mut dyn Write) -> io::Result<()> {
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

/// Words as part of a sentence.
pub(super) fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    words.join(" or ")
}
