//! An assessment of a model as a document: `headlight evaluate` shows all of it, a run's report the main tables.
//! Each number is explained where it stands.

mod plots;
mod probabilities;
mod tables;

use headlight_data::{DatasetConfig, Task};
use headlight_experiment::metrics::Assessment;
use headlight_report::{Document, Section, number};

use plots::plots;
use probabilities::{calibration, thresholds};
use tables::{DECIMALS, class_notes, classes, classified_unit, confusion};

pub(crate) use tables::{MOST_CLASSES, MOST_NAME, short_class_names};

/// All of an assessment, after paragraphs that say which samples it is about. `data` names the classes.
pub fn document(
    title: &str,
    about: Vec<String>,
    data: &DatasetConfig,
    assessment: &Assessment,
) -> Document {
    let notes = class_notes(data, assessment);
    let classes = Section::titled("Classes", notes, [classes(data, assessment)]);
    let (table, one) = (confusion(data, assessment), classified_unit(data));
    let none = format!("No {one} is confused with another class.");
    let none = table.is_none().then_some(none);
    let confusion = Section::titled("Confusion matrix", none, table);
    let bits = match data.task {
        Task::NextToken => {
            let bits = assessment.loss / std::f64::consts::LN_2;
            format!(" per token, which are {bits:.5} bits")
        }
        Task::Classification | Task::TokenClassification => String::new(),
    };
    let mut overall = Section {
        title: format!("All {one}s"),
        paragraphs: vec![
            format!(
                "Loss {:.5}: mean cross-entropy in nats{bits}; 0 is perfect.",
                assessment.loss
            ),
            format!(
                "Accuracy {:.5}: the share of {one}s that are classified correctly.",
                assessment.accuracy
            ),
        ],
        plots: plots(data, assessment),
        ..Section::default()
    };
    if let (Task::TokenClassification, Some(share)) = (data.task, assessment.whole_samples) {
        overall.paragraphs.push(format!(
            "Accuracy of whole samples {share:.5}: the share of samples that are right at every position that counts."
        ));
    }
    let sections = [overall, classes, confusion].into_iter();
    Document {
        title: title.to_owned(),
        paragraphs: about,
        sections: sections
            .chain(thresholds(data, assessment))
            .chain([calibration(data, assessment)])
            .collect(),
    }
}

/// The main tables as a section of a run's report. `data` names the classes.
pub(crate) fn summary(samples: &str, data: &DatasetConfig, assessment: &Assessment) -> Section {
    let overall = format!(
        "On the {samples}: loss {:.5}, accuracy {:.5}, expected calibration error {}. `headlight evaluate` explains these \
         numbers, and shows thresholds, calibration and curves.",
        assessment.loss,
        assessment.accuracy,
        number(assessment.calibration.expected_error, DECIMALS)
    );
    let tables = [Some(classes(data, assessment)), confusion(data, assessment)];
    Section::titled("Evaluation", [overall], tables.into_iter().flatten())
}
