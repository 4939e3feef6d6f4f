//! The tables of an assessment that its report shares: the ratios of each class, and the confusion matrix.

use std::cmp::Reverse;

use headlight_data::DatasetConfig;
use headlight_experiment::metrics::{Assessment, Ratios};
use headlight_report::{Table, counted, number, shorten_apart};

/// The most classes, and the most confusions of classes, in a table. A matrix of more would not fit a terminal.
pub(crate) const MOST_CLASSES: usize = 16;

/// The longest name of a class, in columns.
pub(crate) const MOST_NAME: usize = 32;

/// The most columns of text in a matrix.
const MOST_WIDTH: usize = 160;

/// The decimals of ratios.
pub(super) const DECIMALS: usize = 4;

/// Where the rows are that a table leaves out.
const ALL: &str = "`headlight evaluate RUN --json` prints all";

const CONFUSION: &str = "Rows: labels. Columns: predicted classes. The diagonal is correct.";

/// The names of all classes, or their numbers, shortened.
pub(crate) fn short_class_names(data: &DatasetConfig) -> Vec<String> {
    let classes = (0..).take(data.n_classes);
    let names: Vec<String> = classes.map(|class| data.class_name(class)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    shorten_apart(&names, MOST_NAME)
}

/// What is classified: a sample or, where each position has an answer, a position.
pub(super) fn classified_unit(data: &DatasetConfig) -> &'static str {
    if data.task.is_per_position() {
        "position"
    } else {
        "sample"
    }
}

/// What the columns of the table of classes say.
pub(super) fn class_notes(data: &DatasetConfig, assessment: &Assessment) -> Vec<String> {
    let one = classified_unit(data);
    let mut notes = vec![
        format!("Precision: of the {one}s classified as the class, the share that belong to it."),
        format!("Recall: of the {one}s of the class, the share that are classified as it."),
        "F1: the harmonic mean of precision and recall.".to_owned(),
        format!(
            "ROC-AUC: how often a {one} of the class has a higher probability of it than one of another class; 0.5 is chance."
        ),
        format!(
            "AP: average precision, the area under the precision-recall curve; chance is the class's share of all {one}s."
        ),
    ];
    let mut ratios = assessment
        .classes
        .iter()
        .flat_map(|class| cells(class.ratios));
    if ratios.any(|ratio| ratio == number(None, DECIMALS)) {
        notes.push(format!("–: not defined for these {one}s."));
        notes.push(
            "mean: of precision, recall and F1 over the classes that occur or are predicted, where – counts as 0; \
             of ROC-AUC and AP over the classes that have it."
                .to_owned(),
        );
    }
    notes
}

pub(super) fn classes(data: &DatasetConfig, assessment: &Assessment) -> Table {
    let counted = &*format!("{}s", classified_unit(data));
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
    let counted = &*format!("{}s", classified_unit(data));
    confused.truncate(MOST_CLASSES);
    let rows = confused.into_iter().map(|([label, predicted], count)| {
        let [label, predicted] = [label, predicted].map(|class| names[class].clone());
        vec![label, predicted, count.to_string()]
    });
    let header = ["label", "predicted class", counted];
    Some(Table::of_rows(&header, rows).titled(title))
}
