//! The tables of an assessment that its report shares: the ratios of each class, and the confusion matrix.

use std::cmp::Reverse;

use headlight_data::DatasetConfig;
use headlight_experiment::metrics::{Assessment, Ratios};
use headlight_report::{Table, counted, number, shorten_apart};

/// The most classes, and the most confusions of classes, in a table. A matrix of more would not fit a terminal.
pub const MOST_CLASSES: usize = 16;

/// The longest name of a class, in columns.
pub const MOST_NAME: usize = 32;

/// The most columns of text in a matrix.
const MOST_WIDTH: usize = 160;

/// The decimals of ratios.
pub(super) const DECIMALS: usize = 4;

/// The columns of the table of classes.
const RATIOS: [&str; 5] = [
    "Precision: of the samples classified as the class, the share that belong to it.",
    "Recall: of the samples of the class, the share that are classified as it.",
    "F1: the harmonic mean of precision and recall.",
    "ROC-AUC: how often a sample of the class has a higher probability of it than one of another class; 0.5 is chance.",
    "AP: average precision, the area under the precision-recall curve; chance is the class's share of all samples.",
];

const NOT_DEFINED: [&str; 2] = [
    "–: not defined for these samples.",
    "mean: of precision, recall and F1 over the classes that occur or are predicted, where – counts as 0; of ROC-AUC and AP over the classes that have it.",
];

/// Where the rows are that a table leaves out.
const ALL: &str = "`headlight evaluate RUN --json` prints all";

const CONFUSION: &str = "Rows: labels. Columns: predicted classes. The diagonal is correct.";

/// The names of all classes, or their numbers, shortened.
pub fn short_class_names(data: &DatasetConfig) -> Vec<String> {
    let classes = (0..).take(data.n_classes);
    let names: Vec<String> = classes.map(|class| data.class_name(class)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    shorten_apart(&names, MOST_NAME)
}

/// A sentence about samples; where each position has an answer, about positions.
pub(super) fn of_answers(data: &DatasetConfig, text: &str) -> String {
    if data.task.is_per_position() {
        text.replace("sample", "position")
            .replace("Sample", "Position")
    } else {
        text.to_owned()
    }
}

pub(super) fn class_notes(data: &DatasetConfig, assessment: &Assessment) -> Vec<String> {
    let mut rows = assessment.classes.iter().map(|class| class.ratios);
    let undefined = rows.any(|ratios| cells(ratios).contains(&number(None, DECIMALS)));
    let not_defined = NOT_DEFINED.iter().filter(|_| undefined);
    let notes = RATIOS.iter().chain(not_defined);
    notes.map(|note| of_answers(data, note)).collect()
}

pub(super) fn classes(data: &DatasetConfig, assessment: &Assessment) -> Table {
    let counted = &*of_answers(data, "samples");
    let header = [
        "class",
        counted,
        "precision",
        "recall",
        "F1",
        "ROC-AUC",
        "AP",
    ];
    let row = |name: String, samples: String, ratios: Ratios| {
        let start = [name, samples];
        start.into_iter().chain(cells(ratios)).collect()
    };
    let count = assessment.classes.len();
    let mut shown: Vec<usize> = (0..count).collect();
    let mut title = String::new();
    if count > MOST_CLASSES {
        let f1 = |class: usize| assessment.classes[class].ratios.f1;
        // Classes without samples and predictions have no F1; they say least.
        shown.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|class| f1(class).unwrap_or(f64::INFINITY));
            a.total_cmp(&b)
        });
        shown.truncate(MOST_CLASSES);
        title = format!(
            "The {MOST_CLASSES} of {count} classes with the lowest F1, and the mean of all; {ALL}."
        );
    }
    let names = short_class_names(data);
    let rows = shown.into_iter().map(|class| {
        let of = &assessment.classes[class];
        row(names[class].clone(), of.samples.to_string(), of.ratios)
    });
    let mean = row("mean".to_owned(), String::new(), assessment.means);
    Table::of_rows(&header, rows.chain([mean])).titled(title)
}

fn cells(ratios: Ratios) -> [String; 5] {
    let Ratios {
        precision,
        recall,
        f1,
        roc_auc,
        average_precision,
    } = ratios;
    [precision, recall, f1, roc_auc, average_precision].map(|ratio| number(ratio, DECIMALS))
}

/// The confusion matrix; of one that is too large, the most frequent confusions. `None`
/// without any.
pub(super) fn confusion(data: &DatasetConfig, assessment: &Assessment) -> Option<Table> {
    let names = short_class_names(data);
    let width: usize = names.iter().map(|name| name.chars().count() + 3).sum();
    let matrix = assessment.confusion.matrix();
    if let Some(cells) = matrix.filter(|_| names.len() <= MOST_CLASSES && width <= MOST_WIDTH) {
        let columns = names.iter().map(String::as_str);
        let header: Vec<&str> = ["label"].into_iter().chain(columns).collect();
        let rows = names.iter().zip(cells).map(|(label, row)| {
            let counts = row.iter().map(usize::to_string);
            [label.clone()].into_iter().chain(counts).collect()
        });
        return Some(Table::of_rows(&header, rows).titled(CONFUSION.to_owned()));
    }
    let cells = assessment.confusion.cells();
    let others = cells.filter(|([label, predicted], _)| label != predicted);
    let mut confused: Vec<([usize; 2], usize)> = others.collect();
    if confused.is_empty() {
        return None;
    }
    // Stable: of equals, the first first.
    confused.sort_by_key(|&(_, count)| Reverse(count));
    let title = format!(
        "The most frequent of {} of two classes; {ALL}.",
        counted(confused.len(), "confusion")
    );
    let counted = &*of_answers(data, "samples");
    let rows = confused.into_iter().take(MOST_CLASSES);
    let rows = rows.map(|([label, predicted], count)| {
        vec![
            names[label].clone(),
            names[predicted].clone(),
            count.to_string(),
        ]
    });
    let header = ["label", "predicted class", counted];
    Some(Table::of_rows(&header, rows).titled(title))
}
