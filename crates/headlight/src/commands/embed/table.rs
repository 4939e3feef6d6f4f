//! The vectors of words in sentences, as text, JSON and CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use headlight_analysis::contexts::{ContextLevel, Occurrence, Plane, separation};
use headlight_data::Dataset;
use headlight_experiment::config::ExperimentConfig;
use headlight_report::{counted, number};
use serde_json::{Value, json};

/// The fewest occurrences of a class whose separation from others is measured. Of one occurrence in each of two classes,
/// the separation is 1 wherever the vectors are; of three in each, a random division of them separates a fifth.
const LEAST_OF_CLASS: usize = 3;

/// The occurrences and their vectors.
pub(super) struct Table<'a> {
    pub(super) occurrences: Vec<Occurrence>,
    pub(super) levels: Vec<ContextLevel>,
    pub(super) dataset: &'a Dataset,
    pub(super) config: &'a ExperimentConfig,
}

impl Table<'_> {
    fn width(&self) -> usize {
        self.config.model.d_model
    }

    fn plane(&self, level: &ContextLevel) -> Plane {
        Plane::of(&level.vectors, self.width())
    }

    /// The class of an occurrence's sample.
    fn label(&self, found: &Occurrence) -> u32 {
        self.dataset.label(found.sample as usize)
    }

    /// How many occurrences have each class.
    fn classes(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for found in self.occurrences.iter().filter(|found| found.is_asked) {
            *counts.entry(self.label(found)).or_default() += 1;
        }
        counts
    }

    /// The occurrences that count for the separation: the classes are about each, and its own has enough of them. By their places.
    fn counted(&self) -> Vec<usize> {
        let classes = self.classes();
        let mut enough = classes.values().filter(|&&count| count >= LEAST_OF_CLASS);
        let is_measured = enough.nth(1).is_some();
        let counts = |&place: &usize| {
            let found = &self.occurrences[place];
            is_measured && found.is_asked && classes[&self.label(found)] >= LEAST_OF_CLASS
        };
        (0..self.occurrences.len()).filter(counts).collect()
    }

    /// What the separation is on average if the classes have no meaning; `None` if it is not measured.
    fn chance(&self) -> Option<f64> {
        let counted = self.counted();
        let found = counted.iter().map(|&place| &self.occurrences[place]);
        let classes: BTreeSet<u32> = found.clone().map(|found| self.label(found)).collect();
        let words: BTreeSet<u32> = found.map(|found| found.token).collect();
        let free = counted.len().checked_sub(words.len())?;
        let chance = (classes.len().saturating_sub(1)) as f64 / free as f64;
        (classes.len() > 1 && free > 0).then(|| chance.min(1.0))
    }

    /// Of the occurrences that count. Words differ from each other, so each vector is taken from the mean of its word's.
    fn separation(&self, level: &ContextLevel) -> Option<f64> {
        let counted = self.counted();
        let vector = |place: usize| &level.vectors[place * self.width()..][..self.width()];
        let token = |place: usize| self.occurrences[place].token;
        let mut centred = Vec::with_capacity(counted.len() * self.width());
        for &place in &counted {
            let same = counted
                .iter()
                .copied()
                .filter(|&other| token(other) == token(place));
            let own: Vec<&[f32]> = same.map(vector).collect();
            for (index, value) in vector(place).iter().enumerate() {
                let sum: f64 = own.iter().map(|vector| f64::from(vector[index])).sum();
                centred.push((f64::from(*value) - sum / own.len() as f64) as f32);
            }
        }
        let label = |&place: &usize| self.label(&self.occurrences[place]);
        let labels: Vec<u32> = counted.iter().map(label).collect();
        separation(&centred, self.width(), &labels)
    }

    /// The occurrences of each class: `21 of class river, 19 of class money`.
    fn shares(&self) -> String {
        let of =
            |(class, count)| format!("{count} of class {}", self.config.data.class_name(class));
        let shares: Vec<String> = self.classes().into_iter().map(of).collect();
        if shares.is_empty() {
            return "none of these occurrences has a class".to_owned();
        }
        shares.join(", ")
    }

    /// Which occurrences a sample's class is about.
    fn which(&self) -> &'static str {
        let rule = self.config.data.rule.as_ref();
        let mut samples = (0..self.dataset.len()).map(|sample| self.dataset.tokens(sample));
        let marks = rule.is_some_and(|rule| samples.any(|own| rule.asked_position(own).is_some()));
        if marks {
            "the marked ones"
        } else {
            "those of samples with one occurrence in all"
        }
    }

    /// `most`: how many occurrences were asked for.
    pub(super) fn text(&self, words: &[String], split: &str, most: usize) -> String {
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
        text.push('\n');
        let more = if self.occurrences.len() < most {
            ""
        } else {
            ", or more --occurrences"
        };
        let _ = match self.chance() {
            Some(chance) => writeln!(
                text,
                "separation (η²): how much of a word's variance lies between the means of the classes,\n\
                 over the occurrences that count: {} ({});\n\
                 0: the means are equal; 1: all vectors of a class are equal; about {chance:.3} is expected by chance;\n\
                 –: the vectors are equal",
                self.which(),
                self.shares()
            ),
            None => writeln!(
                text,
                "The separation cannot be measured. It needs two classes with at least {LEAST_OF_CLASS} occurrences each;\n\
                 here: {}. With fewer, any vectors look separated.\n\
                 Take a more frequent word{more}.",
                self.shares()
            ),
        };
        text + "plane: the share of the variance along the two principal components\n"
    }

    /// What `--json` prints. `step` is the steps that the model was trained for, if they are known; the levels are in the order
    /// of the model.
    pub(super) fn json(
        &self,
        run: &Path,
        step: Option<usize>,
        words: &[String],
        split: &str,
    ) -> Value {
        let levels = self.levels.iter().map(|level| {
            json!({
                "level": level.name,
                "separation": self.separation(level),
                "plane": self.plane(level).shares,
            })
        });
        let named = |(class, count)| (self.config.data.class_name(class), count);
        let classes = self.classes().into_iter().map(named);
        json!({
            "run": run.to_string_lossy(),
            "step": step,
            "words": words,
            "split": split,
            "occurrences": self.occurrences.len(),
            "classes": classes.collect::<BTreeMap<String, usize>>(),
            "chance": self.chance(),
            "levels": levels.collect::<Vec<Value>>(),
        })
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
                let place = [
                    found.sample.to_string(),
                    found.position.to_string(),
                    data.token_text(found.token, padding),
                    data.class_name(self.label(found)),
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
        layer => format!("after layer {}", layer.trim_start_matches("block_")),
    }
}

/// Words as part of a sentence.
pub(super) fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    words.join(" or ")
}
