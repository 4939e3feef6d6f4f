//! An assessment of a model as a document: `headlight evaluate` shows all of it, a run's report the main tables.
//! Each number is explained where it stands.

use headlight_data::DatasetConfig;
use headlight_experiment::metrics::{Assessment, Ranking, Ratios, Threshold};
use headlight_inspector::{Curve, Document, Plot, Section, Table, number};

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
        paragraphs: vec![CONFUSION.to_owned()],
        tables: vec![confusion("", data, assessment)],
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
        tables: vec![
            classes(data, assessment),
            confusion(CONFUSION, data, assessment),
        ],
        ..Section::default()
    };
    let document = Document {
        sections: vec![section],
        ..Document::default()
    };
    document.markdown(TEXT)
}

/// The names of all classes.
fn names(data: &DatasetConfig) -> impl Iterator<Item = String> {
    (0..=u8::MAX)
        .take(data.n_classes)
        .map(|class| data.class_name(class))
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
    let classes = names(data).zip(&assessment.classes);
    let rows = classes.map(|(name, of)| row(name, of.samples.to_string(), of.ratios));
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

fn confusion(title: &str, data: &DatasetConfig, assessment: &Assessment) -> Table {
    let header = ["label".to_owned()].into_iter().chain(names(data));
    let header = header.collect();
    let rows = names(data).zip(assessment.confusion.rows());
    let rows = rows.map(|(label, row)| {
        let counts = row.iter().map(usize::to_string);
        [label].into_iter().chain(counts).collect()
    });
    Table::of_text(title, "", [header].into_iter().chain(rows).collect())
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
