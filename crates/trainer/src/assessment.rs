//! An assessment of a model as a document: `headlight evaluate` shows all of it, a run's report the main tables.
//! Each number is explained where it stands.

use std::cmp::Reverse;

use headlight_data::DatasetConfig;
use headlight_experiment::metrics::{Assessment, Ranking, Ratios, Threshold};
use headlight_inspector::{Curve, Document, Plot, Section, Table, counted, number, shorten};

/// The most classes, and the most confusions of classes, in a table. A matrix of more would not fit a terminal.
pub const MOST_CLASSES: usize = 16;

/// The longest name of a class, in columns.
pub const MOST_NAME: usize = 32;

/// The most columns of text in a matrix.
const MOST_WIDTH: usize = 160;

/// The width of text in a report.
const TEXT: usize = 100;

/// The decimals of ratios.
const DECIMALS: usize = 4;

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
    "mean: over the classes; an undefined precision, recall or F1 counts as 0, an undefined ROC-AUC or AP is left out.",
];

/// Where the rows are that a table leaves out.
const ALL: &str = "`headlight evaluate RUN --json` prints all";

const CONFUSION: &str = "Rows: labels. Columns: predicted classes. The diagonal is correct.";

/// All of an assessment, after paragraphs that say which samples it is about. `data` names the classes.
pub fn document(
    title: &str,
    about: Vec<String>,
    data: &DatasetConfig,
    assessment: &Assessment,
) -> Document {
    let classes = Section {
        title: "Classes".to_owned(),
        paragraphs: class_notes(assessment),
        tables: vec![classes(data, assessment)],
        ..Section::default()
    };
    let confusion = Section {
        title: "Confusion matrix".to_owned(),
        tables: vec![confusion(data, assessment)],
        ..Section::default()
    };
    let overall = Section {
        title: "All samples".to_owned(),
        paragraphs: vec![
            format!(
                "Loss {:.5}: mean cross-entropy in nats; 0 is perfect.",
                assessment.loss
            ),
            format!(
                "Accuracy {:.5}: the share of samples that are classified correctly.",
                assessment.accuracy
            ),
        ],
        plots: plots(data, assessment),
        ..Section::default()
    };
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

/// The main tables as a section of a run's report, in Markdown. `data` names the classes.
pub fn summary(samples: &str, data: &DatasetConfig, assessment: &Assessment) -> String {
    let overall = format!(
        "On the {samples}: loss {:.5}, accuracy {:.5}, expected calibration error {}. `headlight evaluate` explains these \
         numbers, and shows thresholds, calibration and curves.",
        assessment.loss,
        assessment.accuracy,
        number(assessment.calibration.expected_error, DECIMALS)
    );
    let section = Section {
        title: "Evaluation".to_owned(),
        paragraphs: vec![overall],
        tables: vec![classes(data, assessment), confusion(data, assessment)],
        ..Section::default()
    };
    let document = Document {
        sections: vec![section],
        ..Document::default()
    };
    document.markdown(TEXT)
}

/// The names of all classes, shortened.
fn names(data: &DatasetConfig) -> impl Iterator<Item = String> {
    (0..=u8::MAX)
        .take(data.n_classes)
        .map(|class| shorten(&data.class_name(class), MOST_NAME))
}

fn class_notes(assessment: &Assessment) -> Vec<String> {
    let mut rows = assessment.classes.iter().map(|class| class.ratios);
    let undefined = rows.any(|ratios| cells(ratios).contains(&number(None, DECIMALS)));
    let not_defined = NOT_DEFINED.iter().filter(|_| undefined);
    let notes = RATIOS.iter().chain(not_defined);
    notes.map(|&note| note.to_owned()).collect()
}

fn classes(data: &DatasetConfig, assessment: &Assessment) -> Table {
    let header = [
        "class",
        "samples",
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
    let names: Vec<String> = names(data).collect();
    let rows = shown.into_iter().map(|class| {
        let of = &assessment.classes[class];
        row(names[class].clone(), of.samples.to_string(), of.ratios)
    });
    let mean = row("mean".to_owned(), String::new(), assessment.means);
    let header = header.map(str::to_owned).to_vec();
    Table::of_text(
        &title,
        "",
        [header].into_iter().chain(rows).chain([mean]).collect(),
    )
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

/// The confusion matrix; of one that is too large, the most frequent confusions.
fn confusion(data: &DatasetConfig, assessment: &Assessment) -> Table {
    let names: Vec<String> = names(data).collect();
    let cells = || assessment.confusion.rows().map(<[usize]>::to_vec);
    let width: usize = names.iter().map(|name| name.chars().count() + 3).sum();
    if names.len() <= MOST_CLASSES && width <= MOST_WIDTH {
        let header = [&["label".to_owned()], &names[..]].concat();
        let rows = names.iter().zip(cells()).map(|(label, row)| {
            let counts = row.iter().map(usize::to_string);
            [label.clone()].into_iter().chain(counts).collect()
        });
        return Table::of_text(CONFUSION, "", [header].into_iter().chain(rows).collect());
    }
    let mut confused: Vec<(usize, usize, usize)> = Vec::new();
    for (label, row) in cells().enumerate() {
        let others = row.into_iter().enumerate();
        let others = others.filter(|&(predicted, count)| predicted != label && count > 0);
        confused.extend(others.map(|(predicted, count)| (label, predicted, count)));
    }
    // Stable: of equals, the first first.
    confused.sort_by_key(|&(_, _, count)| Reverse(count));
    let title = format!(
        "The most frequent of {} of two classes; {ALL}.",
        counted(confused.len(), "confusion")
    );
    let header = ["label", "predicted class", "samples"]
        .map(str::to_owned)
        .to_vec();
    let rows = confused.into_iter().take(MOST_CLASSES);
    let rows = rows.map(|(label, predicted, count)| {
        vec![
            names[label].clone(),
            names[predicted].clone(),
            count.to_string(),
        ]
    });
    Table::of_text(&title, "", [header].into_iter().chain(rows).collect())
}

fn thresholds(data: &DatasetConfig, assessment: &Assessment) -> Option<Section> {
    let second = data.class_name(1);
    let row = |name: String, at: &Threshold| {
        let ratios = [at.precision, at.recall, at.f1].map(|ratio| number(ratio, DECIMALS));
        let start = [name, at.predicted_positives.to_string()];
        start.into_iter().chain(ratios).collect()
    };
    let shown = assessment.thresholds.as_ref()?.iter();
    let shown = shown.map(|at| row(format!("{:.2}", at.threshold), at));
    let best = assessment.best_f1.iter();
    let best = best.map(|at| row(format!("{:.6}, best F1", at.threshold), at));
    let header = ["threshold", "positives", "precision", "recall", "F1"];
    let header = header.map(str::to_owned).to_vec();
    Some(Section {
        title: "Thresholds".to_owned(),
        paragraphs: vec![
            format!(
                "The results if every sample whose probability of class {second} is at least the threshold is \
                 classified as {second}."
            ),
            format!(
                "positives: the samples classified as {second}. Precision, recall and F1 are those of class {second}."
            ),
        ],
        tables: vec![Table::of_text(
            "",
            "",
            [header].into_iter().chain(shown).chain(best).collect(),
        )],
        ..Section::default()
    })
}

fn calibration(data: &DatasetConfig, assessment: &Assessment) -> Section {
    let second = data.class_name(1);
    let [bins, brier] = if assessment.thresholds.is_some() {
        [
            format!(
                "Samples grouped by their probability of class {second}. mean: the mean probability of the group; \
                 share: the share of the group with label {second}. In a calibrated model, the two are close."
            ),
            format!(
                "the mean over samples of (probability of class {second} - y)², where y is 1 for label {second}, \
                 else 0; 0 is perfect"
            ),
        ]
    } else {
        [
            "Samples grouped by the probability of their predicted class. mean: the mean probability of the group; \
             share: the share of correct predictions. In a calibrated model, the two are close."
                .to_owned(),
            "the sum over classes of (probability - y)², where y is 1 for the label's class, else 0, as a mean over \
             samples; 0 is perfect"
                .to_owned(),
        ]
    };
    let header = ["probability", "samples", "mean", "share"];
    let header = header.map(str::to_owned).to_vec();
    let occupied = assessment
        .calibration
        .bins
        .iter()
        .filter(|bin| bin.samples > 0);
    let rows = occupied.map(|bin| {
        vec![
            format!("{:.1}–{:.1}", bin.from, bin.to),
            bin.samples.to_string(),
            number(bin.mean_probability, DECIMALS),
            number(bin.share, DECIMALS),
        ]
    });
    Section {
        title: "Calibration".to_owned(),
        paragraphs: vec![
            bins,
            format!(
                "Expected calibration error {}: difference of mean and share, averaged over samples; 0 is perfect.",
                number(assessment.calibration.expected_error, DECIMALS)
            ),
            format!("Brier score {:.5}: {brier}.", assessment.brier),
        ],
        tables: vec![Table::of_text(
            "",
            "",
            [header].into_iter().chain(rows).collect(),
        )],
        ..Section::default()
    }
}

fn plots(data: &DatasetConfig, assessment: &Assessment) -> Vec<Plot> {
    let second = data.class_name(1);
    let rows = assessment.confusion.rows().map(<[usize]>::to_vec);
    let (quantity, event) = match assessment.thresholds {
        Some(_) => (
            format!("probability of class {second}"),
            format!("share of label {second}"),
        ),
        None => (
            "probability of the predicted class".to_owned(),
            "share correct".to_owned(),
        ),
    };
    let bins = assessment.calibration.bins.iter();
    let calibration = Curve {
        name: format!(
            "expected error {}",
            number(assessment.calibration.expected_error, DECIMALS)
        ),
        points: bins
            .filter_map(|bin| Some([bin.mean_probability?, bin.share?]))
            .collect(),
    };
    vec![
        Plot::Matrix {
            labels: ["predicted class", "label; colour: share of its samples"].map(str::to_owned),
            names: names(data).collect(),
            rows: rows.collect(),
        },
        Plot::Curves {
            labels: ["false positive rate", "true positive rate"].map(str::to_owned),
            curves: curves(data, assessment, "ROC-AUC", Ranking::roc, |ratios| {
                ratios.roc_auc
            }),
            mark: Some(([0.0, 1.0], "chance".to_owned())),
        },
        Plot::Curves {
            labels: ["recall", "precision"].map(str::to_owned),
            curves: curves(
                data,
                assessment,
                "AP",
                Ranking::precision_recall,
                |ratios| ratios.average_precision,
            ),
            mark: chance_precision(assessment),
        },
        Plot::Curves {
            labels: [quantity, event],
            curves: vec![calibration],
            mark: Some(([0.0, 1.0], "calibrated".to_owned())),
        },
    ]
}

/// The curve of class 1 of two, or of each class with a ranking.
fn curves(
    data: &DatasetConfig,
    assessment: &Assessment,
    area: &str,
    points: fn(&Ranking) -> Vec<[f64; 2]>,
    value: fn(&Ratios) -> Option<f64>,
) -> Vec<Curve> {
    let two = assessment.thresholds.is_some();
    let classes = assessment.classes.iter().zip(&assessment.rankings);
    let classes = names(data).zip(classes).skip(usize::from(two));
    let curves = classes.map(|(class, (of, ranking))| {
        let value = number(value(&of.ratios), DECIMALS);
        Curve {
            name: if two {
                format!("{area} {value}")
            } else {
                format!("class {class}: {area} {value}")
            },
            points: points(ranking),
        }
    });
    curves.filter(|curve| !curve.points.is_empty()).collect()
}

/// The precision of class 1 of two by chance.
fn chance_precision(assessment: &Assessment) -> Option<([f64; 2], String)> {
    let positives = assessment.classes[1].samples;
    let share = positives as f64 / assessment.samples as f64;
    let two = assessment.thresholds.is_some();
    two.then(|| ([share; 2], "chance".to_owned()))
}
