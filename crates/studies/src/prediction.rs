//! Whether a model's initial weights tell that it will look away (`second_way.rs`).

use headlight_experiment::config::toml;
use headlight_inspector::Table;

use crate::page::{Compared, Verdict, between, table};
use crate::regression::{Logistic, area};
use crate::rows::Rows;
use crate::start::{FEATURES, Start};

/// The share of seeds that fit the prediction; the others test it.
const FITTED: f64 = 0.7;

/// The area under the ROC curve from which the kind counts as predicted.
const PREDICTED: f64 = 0.9;

/// How well initial weights predict that a model will look away.
pub(crate) struct Prediction {
    area: f64,
    interval: [f64; 2],
    tested: usize,
    /// The area of the value of the position alone.
    alone: f64,
}

impl Prediction {
    pub(crate) fn finding(&self) -> String {
        let Self { area, tested, .. } = self;
        let verdict = if *area >= PREDICTED {
            "predict looking away"
        } else if self.interval[0] > 0.6 {
            "predict looking away moderately, below the threshold that was set"
        } else {
            "do not predict looking away here"
        };
        format!(
            "Initial weights {verdict}: on {tested} seeds that were not used to fit, the area under the ROC curve is {area:.3}, and the threshold \
             was {PREDICTED}. One number, the value of the position, has {:.3} alone.",
            self.alone
        )
    }

    pub(crate) fn compared(&self) -> Compared {
        Compared {
            quantity: "area under the ROC curve, from initial weights".to_owned(),
            published: None,
            ours: format!("{:.3}", self.area),
            interval: between(Some(self.interval), 3),
            verdict: Verdict::NotPublished,
        }
    }
}

/// Whether initial weights tell which models will look away. `None` of too few seeds.
pub(crate) fn predicted(
    config: &str,
    learned: &Rows,
    is_away: &[bool],
) -> Option<(Prediction, Table)> {
    let config = toml::parse(
        "seeds.toml",
        config.to_owned(),
        std::iter::empty::<(&str, &str)>(),
        |_| Ok::<(), String>(()),
        |_| Ok(()),
    )
    .ok()?;
    let names: Vec<&str> = FEATURES.iter().map(|(name, _)| *name).collect();
    let mut features: Vec<Vec<f64>> = learned
        .seeds()
        .map(|seed| Some(Start::of(&config, seed)?.features()))
        .collect::<Option<_>>()?;
    let fitted = (FITTED * features.len() as f64) as usize;
    let has_both = |labels: &[bool]| labels.iter().filter(|&&label| label).count() >= 20;
    if !has_both(&is_away[..fitted]) || !has_both(&is_away[fitted..]) {
        return None;
    }
    standardise(&mut features, fitted);
    let linear = |row: &[f64]| [&[1.0], row].concat();
    let squares = |row: &[f64]| {
        let mut all = linear(row);
        for (index, a) in row.iter().enumerate() {
            all.extend(row[..=index].iter().map(|b| a * b));
        }
        all
    };
    let header = ["features", "area under the ROC curve", "95% interval"];
    let mut lines = Vec::new();
    let mut add = |name: &str, (area, interval): (f64, [f64; 2])| {
        lines.push(vec![
            name.to_owned(),
            format!("{area:.3}"),
            between(Some(interval), 3),
        ]);
    };
    let test = |expand: &dyn Fn(&[f64]) -> Vec<f64>| {
        let rows: Vec<Vec<f64>> = features.iter().map(|row| expand(row)).collect();
        let model = Logistic::fit(&rows[..fitted], &is_away[..fitted]);
        let odds: Vec<f64> = rows[fitted..].iter().map(|row| model.odds(row)).collect();
        area(&odds, &is_away[fitted..])
    };
    let mut alone = f64::NAN;
    for (index, name) in names.iter().enumerate() {
        let own = test(&|row| vec![1.0, row[index]]);
        if *name == "value of the position" {
            alone = own.0;
        }
        add(&format!("{name}, alone"), own);
    }
    add("all", test(&linear));
    let best = test(&squares);
    add("all, their squares and their products", best);
    let prediction = Prediction {
        area: best.0,
        interval: best.1,
        tested: features.len() - fitted,
        alone,
    };
    let how = "on seeds that were not used to fit; 0.5 is chance";
    Some((
        prediction,
        table(
            "Prediction of looking away, from initial weights",
            how,
            &header,
            lines,
        ),
    ))
}

/// Mean 0 and variance 1 over the first rows.
fn standardise(rows: &mut [Vec<f64>], fitted: usize) {
    for column in 0..rows.first().map_or(0, Vec::len) {
        let own: Vec<f64> = rows[..fitted].iter().map(|row| row[column]).collect();
        let mean = own.iter().sum::<f64>() / fitted as f64;
        let variance = own.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / fitted as f64;
        for row in rows.iter_mut() {
            row[column] = (row[column] - mean) / variance.sqrt().max(1e-12);
        }
    }
}
