//! The vectors of words in sentences, as text, JSON and CSV.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use headlight_analysis::contexts::{
    ContextLevel, MIN_OCCURRENCES_PER_CLASS, Occurrence, Plane, Separation,
};
use headlight_data::Dataset;
use headlight_experiment::config::ExperimentConfig;
use headlight_report::{Table, counted, number};
use serde_json::{Value, json};

use crate::terminal::{options, paragraphs};

/// The occurrences and their vectors.
pub(super) struct Contexts<'a> {
    pub(super) occurrences: Vec<Occurrence>,
    pub(super) levels: Vec<ContextLevel>,
    pub(super) separation: Separation,
    pub(super) dataset: &'a Dataset,
    pub(super) config: &'a ExperimentConfig,
}

impl Contexts<'_> {
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

    /// The occurrences of each class: `21 of class river, 19 of class money`.
    fn shares(&self) -> String {
        let share =
            |(&class, count)| format!("{count} of class {}", self.config.data.class_name(class));
        let shares: Vec<String> = self.separation.classes.iter().map(share).collect();
        if shares.is_empty() {
            return "none of these occurrences has a class".to_owned();
        }
        shares.join(", ")
    }

    /// Which occurrences a sample's class is about.
    fn which(&self) -> &'static str {
        let rule = self.config.data.rule.as_ref();
        let mut samples = (0..self.dataset.len()).map(|sample| self.dataset.tokens(sample));
        let marks = rule.is_some_and(|rule| samples.any(|ids| rule.asked_position(ids).is_some()));
        if marks {
            "the marked ones"
        } else {
            "those of samples with one occurrence in all"
        }
    }

    /// `most`: how many occurrences were asked for.
    pub(super) fn text(&self, words: &[String], split: &str, most: usize) -> String {
        let rows = self.levels.iter().map(|level| {
            let [first, second] = self.plane(level).shares.map(|share| 100.0 * share);
            vec![
                title(&level.name),
                number(self.separation.at(level, self.width()), 3),
                format!("{first:.1}% + {second:>4.1}%"),
            ]
        });
        let table = Table::of_rows(&["vector", "separation", "plane"], rows).with_left_names();
        let count = counted(self.occurrences.len(), "occurrence");
        let title = format!("{count} of {} in {split} samples", quoted(words));
        let mut legend = Vec::new();
        if let Some(chance) = self.separation.chance() {
            legend.extend([
                "separation (η²): how much of a word's variance lies between the means of the classes".to_owned(),
                format!("It is measured over the occurrences that count: {} ({}).", self.which(), self.shares()),
                "0: the means are equal. 1: all vectors of a class are equal. –: all vectors are equal.".to_owned(),
                format!("By chance, about {chance:.3} is expected."),
            ]);
        } else {
            let more = if self.occurrences.len() < most {
                ""
            } else {
                ", or more --occurrences"
            };
            legend.extend([
                format!(
                    "The separation cannot be measured: it needs two classes with at least {MIN_OCCURRENCES_PER_CLASS} occurrences each."
                ),
                format!("Here: {}. With fewer, any vectors look separated.", self.shares()),
                format!("Take a more frequent word{more}."),
            ]);
        }
        legend
            .push("plane: the share of the variance along the two principal components".to_owned());
        let [title, legend] = [paragraphs([title]), paragraphs(legend)];
        format!("{title}\n{}\n{legend}", table.text(options()))
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
                "separation": self.separation.at(level, self.width()),
                "plane": self.plane(level).shares,
            })
        });
        let named = |(&class, &count)| (self.config.data.class_name(class), count);
        let classes = self.separation.classes.iter().map(named);
        json!({
            "run": run.to_string_lossy(),
            "step": step,
            "words": words,
            "split": split,
            "occurrences": self.occurrences.len(),
            "classes": classes.collect::<BTreeMap<String, usize>>(),
            "chance": self.separation.chance(),
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
                let cells = [
                    found.sample.to_string(),
                    found.position.to_string(),
                    data.token_text(found.token, padding),
                    data.class_name(self.label(found)),
                    u8::from(found.is_asked).to_string(),
                    level.name.clone(),
                ];
                let point = point.map(|part| part.to_string());
                let vector = vector.iter().map(f32::to_string);
                csv.write_record(cells.into_iter().chain(point).chain(vector))?;
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
