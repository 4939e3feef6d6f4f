//! The plots of an assessment: confusion, curves, calibration.

use headlight_data::DatasetConfig;
use headlight_experiment::metrics::{Assessment, RankingMetrics, Ratios};
use headlight_report::{Curve, Plot, number};

use super::tables::{DECIMALS, short_class_names};

pub(super) fn plots(data: &DatasetConfig, assessment: &Assessment) -> Vec<Plot> {
    let second = data.class_name(1);
    let matrix = assessment.confusion.matrix().map(|rows| Plot::Matrix {
        labels: ["predicted class", "label; colour: share of its samples"].map(str::to_owned),
        names: short_class_names(data),
        rows,
    });
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
    let curves = [
        Plot::Curves {
            labels: ["false positive rate", "true positive rate"].map(str::to_owned),
            curves: curves(data, assessment, "ROC-AUC", RankingMetrics::roc, |ratios| {
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
                RankingMetrics::precision_recall,
                |ratios| ratios.average_precision,
            ),
            mark: chance_precision(assessment),
        },
        Plot::Curves {
            labels: [quantity, event],
            curves: vec![calibration],
            mark: Some(([0.0, 1.0], "calibrated".to_owned())),
        },
    ];
    matrix.into_iter().chain(curves).collect()
}

/// The curve of class 1 of two, or of each class with a ranking.
fn curves(
    data: &DatasetConfig,
    assessment: &Assessment,
    area: &str,
    points: fn(&RankingMetrics) -> Vec<[f64; 2]>,
    value: fn(&Ratios) -> Option<f64>,
) -> Vec<Curve> {
    let two = assessment.thresholds.is_some();
    let classes = assessment.classes.iter().zip(&assessment.rankings);
    let classes = short_class_names(data)
        .into_iter()
        .zip(classes)
        .skip(usize::from(two));
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
