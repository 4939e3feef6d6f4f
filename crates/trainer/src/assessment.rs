//! An assessment of a model as a document: `headlight evaluate` shows all of it, a run's report the main tables.
//! Each number is explained where it stands.

use headlight_experiment::metrics::{Assessment, Ranking, Ratios, Threshold};
use headlight_inspector::{Curve, Document, Plot, Section, Table, number};

/// The most classes whose curves are drawn.
const MOST_CURVES: usize = 8;

/// The width of text in a report.
const TEXT: usize = 100;

/// The decimals of ratios.
const DECIMALS: usize = 4;

/// The columns of the table of classes.
const RATIOS: [&str; 5] = [
    "Precision: the share of the samples classified as the class that belong to it.",
    "Recall: the share of the class's samples that are classified as it.",
    "F1: the harmonic mean of precision and recall.",
    "ROC-AUC: how often a sample of the class has a higher probability of it than one of another class; 0.5 is chance.",
    "AP: average precision, the area under the precision-recall curve; the class's share of all samples is chance.",
];

const NOT_DEFINED: [&str; 2] = [
    "–: not defined, because no sample decides it.",
    "mean: a precision, recall or F1 that is not defined counts as 0, an ROC-AUC or AP does not count.",
];

const CONFUSION: &str = "Rows: labels. Columns: predicted classes. The diagonal is correct.";

/// All of an assessment, after paragraphs that say which samples it is about.
pub fn document(title: &str, about: Vec<String>, assessment: &Assessment) -> Document {
    let classes = Section {
        title: "Classes".to_owned(),
        paragraphs: class_notes(assessment),
        tables: vec![classes(assessment)],
        ..Section::default()
    };
    let confusion = Section {
        title: "Confusion matrix".to_owned(),
        paragraphs: vec![CONFUSION.to_owned()],
        tables: vec![confusion("", assessment)],
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
        plots: plots(assessment),
        ..Section::default()
    };
    let sections = [overall, classes, confusion].into_iter();
    Document {
        title: title.to_owned(),
        paragraphs: about,
        sections: sections
            .chain(thresholds(assessment))
            .chain([calibration(assessment)])
            .collect(),
    }
}

/// The main tables as a section of a run's report, in Markdown.
pub fn summary(samples: &str, assessment: &Assessment) -> String {
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
        tables: vec![classes(assessment), confusion(CONFUSION, assessment)],
        ..Section::default()
    };
    let document = Document {
        sections: vec![section],
        ..Document::default()
    };
    document.markdown(TEXT)
}

fn class_notes(assessment: &Assessment) -> Vec<String> {
    let mut rows = assessment.classes.iter().map(|class| class.ratios);
    let undefined = rows.any(|ratios| cells(ratios).contains(&number(None, DECIMALS)));
    let not_defined = NOT_DEFINED.iter().filter(|_| undefined);
    let notes = RATIOS.iter().chain(not_defined);
    notes.map(|&note| note.to_owned()).collect()
}

fn classes(assessment: &Assessment) -> Table {
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
    let classes = assessment.classes.iter().enumerate();
    let rows = classes.map(|(class, of)| row(class.to_string(), of.samples.to_string(), of.ratios));
    let mean = row("mean".to_owned(), String::new(), assessment.means);
    let header = header.map(str::to_owned).to_vec();
    Table::of_text(
        "",
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

fn confusion(title: &str, assessment: &Assessment) -> Table {
    let predicted = (0..assessment.classes.len()).map(|class| class.to_string());
    let header = ["label".to_owned()].into_iter().chain(predicted).collect();
    let rows = assessment.confusion.rows().enumerate();
    let rows = rows.map(|(label, row)| {
        let counts = row.iter().map(usize::to_string);
        [label.to_string()].into_iter().chain(counts).collect()
    });
    Table::of_text(title, "", [header].into_iter().chain(rows).collect())
}

fn thresholds(assessment: &Assessment) -> Option<Section> {
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
            "What follows if a sample is classified as 1 when its probability of class 1 is the threshold or more.".to_owned(),
            "positives: the samples classified as 1. The ratios are those of class 1.".to_owned(),
        ],
        tables: vec![Table::of_text(
            "",
            "",
            [header].into_iter().chain(shown).chain(best).collect(),
        )],
        ..Section::default()
    })
}

fn calibration(assessment: &Assessment) -> Section {
    let [bins, brier] = if assessment.thresholds.is_some() {
        [
            "Samples by their probability of class 1: its mean, and the share of them with label 1. If a model is \
             calibrated, both are close.",
            "(probability of class 1 - label)², mean over samples; 0 is perfect",
        ]
    } else {
        [
            "Samples by the probability of their predicted class: its mean, and the share of correct predictions. If a \
             model is calibrated, both are close.",
            "(probability - 1 for the label, - 0 for another class)², summed over classes, mean over samples; 0 is perfect",
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
            bins.to_owned(),
            format!(
                "Expected calibration error {}: the distance between mean and share, mean over samples; 0 is perfect.",
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

fn plots(assessment: &Assessment) -> Vec<Plot> {
    let rows = assessment.confusion.rows().map(<[usize]>::to_vec);
    let (quantity, event) = match assessment.thresholds {
        Some(_) => ("probability of class 1", "share of label 1"),
        None => ("probability of the predicted class", "share correct"),
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
            rows: rows.collect(),
        },
        Plot::Curves {
            labels: ["false positive rate", "true positive rate"].map(str::to_owned),
            curves: curves(assessment, "ROC-AUC", Ranking::roc, |ratios| ratios.roc_auc),
            mark: Some(([0.0, 1.0], "chance".to_owned())),
        },
        Plot::Curves {
            labels: ["recall", "precision"].map(str::to_owned),
            curves: curves(assessment, "AP", Ranking::precision_recall, |ratios| {
                ratios.average_precision
            }),
            mark: chance_precision(assessment),
        },
        Plot::Curves {
            labels: [quantity, event].map(str::to_owned),
            curves: vec![calibration],
            mark: Some(([0.0, 1.0], "calibrated".to_owned())),
        },
    ]
}

/// The curve of class 1 of two, or of each class; of many classes, the first.
fn curves(
    assessment: &Assessment,
    area: &str,
    points: fn(&Ranking) -> Vec<[f64; 2]>,
    value: fn(&Ratios) -> Option<f64>,
) -> Vec<Curve> {
    let two = assessment.thresholds.is_some();
    let classes = assessment.classes.iter().zip(&assessment.rankings);
    let classes = classes.enumerate().skip(usize::from(two)).take(MOST_CURVES);
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
