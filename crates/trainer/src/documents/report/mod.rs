//! The report of a run: all that the notebook prints, and the attention matrices.

mod attention;
mod data;
mod ending;
mod model;
mod names;
mod predictions;
mod test_sets;
mod training;

use headlight_data::{Dataset, Splits};
use headlight_dump::AttentionDump;
use headlight_experiment::best::BestTracker;
use headlight_experiment::certificate::Certificate;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::measures::{MeasureName, Measured};
use headlight_experiment::metrics::{Assessment, StepMetrics, TestMetrics};
use headlight_experiment::outcome::Outcome;
use headlight_experiment::train::Progress;
use headlight_inspector::Document;

use crate::documents::{assessment, certificate, measures};

pub use attention::WHOLE_MATRIX;
pub use data::title as data_title;
pub use ending::{f1_of, outcome_text, quoted_answer};
pub use names::answer;
pub use test_sets::test_lines;

/// The width of plots as text, in columns.
const WIDTH: usize = 100;

/// All that a report shows.
#[derive(Debug)]
pub struct RunReport<'a> {
    /// The experiment.
    pub config: &'a ExperimentConfig,
    /// Its samples.
    pub splits: &'a Splits,
    /// The evaluations.
    pub metrics: &'a [StepMetrics],
    /// That of the model that the report shows: the best one if the run keeps it, or else the last one.
    pub of_model: Option<&'a StepMetrics>,
    /// That model on the held-out samples, or on the training samples if none are held out; `None` if its output
    /// is not a number.
    pub assessment: Option<&'a Assessment>,
    /// What came of the training.
    pub outcome: Option<&'a Outcome>,
    /// That model on all test sets.
    pub tests: &'a [TestMetrics],
    /// What the config asks for in `report.measures`, of that model on the held-out samples, or else on the training samples.
    pub measures: &'a [(MeasureName, Measured)],
    /// How that model answers all possible inputs, if a measure asks for it.
    pub certificate: Option<&'a Certificate>,
    /// That model's dump of [`reported_samples`].
    pub dump: &'a AttentionDump,
    /// The layer and the head whose attention comes first.
    pub strongest: (usize, usize),
    /// The progress at which training was interrupted, if it was.
    pub interrupted: Option<Progress>,
    /// The best model, if the config keeps one.
    pub tracker: Option<&'a BestTracker>,
}

/// The samples that a report shows: sample 0, and the first positive.
pub fn reported_samples(shown: &Dataset) -> Vec<usize> {
    let mut samples = vec![0];
    samples.extend(shown.positives().find(|&sample| sample != 0));
    samples
}

impl RunReport<'_> {
    /// The report as a Markdown file.
    pub fn markdown(&self) -> String {
        self.document().markdown_file(WIDTH)
    }

    /// The report.
    pub fn document(&self) -> Document {
        let Self {
            config,
            splits,
            metrics,
            of_model,
            dump,
            ..
        } = *self;
        let rule = config.data.rule.as_ref();
        let best = self
            .tracker
            .and_then(|tracker| ending::best(tracker, metrics));
        let shows_best = best.is_some();
        let ending = [
            self.interrupted
                .map(|progress| ending::interrupted(progress, config, splits, shows_best)),
            best,
            self.outcome
                .map(|outcome| ending::outcome(outcome, &config.data)),
        ];
        let samples = match splits.held_out.len() {
            0 => "training samples, since none are held out",
            _ => "held-out samples",
        };
        let evaluation = self
            .assessment
            .map(|assessment| assessment::summary(samples, &config.data, assessment));
        let mut sections: Vec<_> = ending.into_iter().flatten().collect();
        sections.extend(data::sections(config, splits));
        sections.extend(model::sections(config));
        sections.extend(training::sections(config, metrics, of_model));
        sections.extend(evaluation);
        let held_out = of_model.and_then(|row| row.held_out.as_ref());
        sections.extend(test_sets::section(splits, held_out, self.tests));
        sections.extend(measures::section(self.measures));
        sections.extend(
            self.certificate
                .map(|own| certificate::section(own, config)),
        );
        sections.extend(attention::sections(config, of_model, dump, self.strongest));
        sections.push(predictions::section(config, splits.shown(), dump));
        Document {
            title: rule.map_or_else(|| data::title(&config.data), |rule| rule.question()),
            sections,
            ..Document::default()
        }
    }
}
