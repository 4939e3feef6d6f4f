//! The report of a run: all that the notebook prints, and the attention matrices.

mod attention;
mod data;
mod ending;
mod model;
mod names;
mod predictions;
mod test_sets;
mod training;

use headlight_data::Dataset;
use headlight_experiment::Experiment;
use headlight_report::{Document, Section};

use super::finished_run::FinishedRun;
use crate::show::{assessment, certificate, measures};

pub use attention::WHOLE_MATRIX;
pub(crate) use data::title as data_title;
pub use ending::outcome_text;
pub(crate) use ending::{f1_of, quoted_answer};
pub(crate) use names::answer;
pub(crate) use test_sets::test_lines;

/// The width of plots as text, in columns.
const WIDTH: usize = 100;

/// The samples that a report shows: sample 0, and the first positive.
pub(crate) fn reported_samples(shown: &Dataset) -> Vec<usize> {
    let mut samples = vec![0];
    samples.extend(shown.positives().find(|&sample| sample != 0));
    samples
}

impl FinishedRun {
    /// The report as a Markdown file.
    pub fn report(&self, experiment: &Experiment) -> String {
        let (config, splits) = (&experiment.config, &*experiment.splits);
        let (data, metrics) = (&config.data, &self.evaluations.rows);
        let used_evaluation = self.used_evaluation();
        let best = self.evaluations.tracker.as_ref();
        let best = best.and_then(|tracker| ending::best_model_section(tracker, metrics));
        let interrupted = self.interruption_sentence(experiment).map(|sentence| {
            let model = match best {
                Some(_) => "of the best model until then",
                None => "from that step",
            };
            Section::of_paragraph(format!("{sentence}; all figures are {model}."))
        });
        let outcome = self.outcome.as_ref();
        let outcome = outcome.map(|outcome| Section::of_paragraph(outcome_text(outcome, data)));
        let samples = match splits.held_out.len() {
            0 => "training samples, since none are held out",
            _ => "held-out samples",
        };
        let assessment = self.assessment.as_ref();
        let held_out = used_evaluation.and_then(|row| row.held_out.as_ref());
        let counted = self.certificate.as_ref();

        let mut sections: Vec<Section> = Vec::new();
        sections.extend([interrupted, best, outcome].into_iter().flatten());
        sections.extend(data::sections(config, splits));
        sections.extend(model::sections(config));
        sections.extend(training::sections(config, metrics, used_evaluation));
        sections.extend(assessment.map(|found| assessment::summary(samples, data, found)));
        sections.extend(test_sets::section(splits, held_out, &self.tests));
        sections.extend(measures::section(&self.measures));
        sections.extend(counted.map(|count| certificate::section(count, config)));
        sections.extend(attention::sections(
            config,
            used_evaluation,
            &self.dump,
            (self.strongest.0, self.strongest.1.head),
            self.which_head(),
        ));
        sections.push(predictions::section(
            config,
            splits.displayed_samples(),
            &self.dump,
        ));
        let rule = data.rule.as_ref();
        let document = Document {
            title: rule.map_or_else(|| data::title(data), |rule| rule.question()),
            sections,
            ..Document::default()
        };
        document.markdown_file(WIDTH)
    }
}
