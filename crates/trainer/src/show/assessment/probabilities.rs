//! How good the probabilities of an assessment are: at other thresholds, and as frequencies.

use headlight_data::DatasetConfig;
use headlight_experiment::metrics::{Assessment, Threshold};
use headlight_report::{Section, Table, number};

use super::tables::{DECIMALS, classified_unit};

pub(super) fn thresholds(data: &DatasetConfig, assessment: &Assessment) -> Option<Section> {
    let second = data.class_name(1);
    let row = |name: String, at: &Threshold| {
        let ratios = [at.precision, at.recall, at.f1].map(|ratio| number(ratio, DECIMALS));
        let start = [name, at.predicted_positives.to_string()];
        start.into_iter().chain(ratios).collect()
    };
    let mut rows = Vec::new();
    for at in assessment.thresholds.as_ref()? {
        rows.push(row(format!("{:.2}", at.threshold), at));
    }
    if let Some(at) = &assessment.best_f1 {
        rows.push(row(format!("{:.6}, best F1", at.threshold), at));
    }
    let one = classified_unit(data);
    let header = ["threshold", "positives", "precision", "recall", "F1"];
    let notes = [
        format!(
            "The results if every {one} whose probability of class {second} is at least the threshold is \
             classified as {second}."
        ),
        format!(
            "positives: the {one}s classified as {second}. Precision, recall and F1 are those of class {second}."
        ),
    ];
    Some(Section::titled(
        "Thresholds",
        notes,
        [Table::of_rows(&header, rows)],
    ))
}

pub(super) fn calibration(data: &DatasetConfig, assessment: &Assessment) -> Section {
    let (second, one) = (data.class_name(1), classified_unit(data));
    let [bins, brier] = if assessment.thresholds.is_some() {
        [
            format!(
                "Groups of {one}s by their probability of class {second}. mean: the mean probability of the group; \
                 share: the share of the group with label {second}. In a calibrated model, the two are close."
            ),
            format!(
                "the mean over {one}s of (probability of class {second} - y)², where y is 1 for label {second}, \
                 else 0; 0 is perfect"
            ),
        ]
    } else {
        [
            format!(
                "Groups of {one}s by the probability of their predicted class. mean: the mean probability of the group; \
                 share: the share of correct predictions. In a calibrated model, the two are close."
            ),
            format!(
                "the sum over classes of (probability - y)², where y is 1 for the label's class, else 0, as a mean over \
                 {one}s; 0 is perfect"
            ),
        ]
    };
    let counted = &*format!("{one}s");
    let header = ["probability", counted, "mean", "share"];
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
    let notes = [
        bins,
        format!(
            "Expected calibration error {}: difference of mean and share, averaged over {one}s; 0 is perfect.",
            number(assessment.calibration.expected_error, DECIMALS)
        ),
        format!("Brier score {:.5}: {brier}.", assessment.brier),
    ];
    Section::titled("Calibration", notes, [Table::of_rows(&header, rows)])
}
