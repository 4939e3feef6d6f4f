//! How much the answers of each class count in the loss of training.

use std::collections::BTreeMap;

use headlight_data::{Dataset, DatasetConfig, WEIGHT};
use headlight_schema::{Choice, InvalidValue, Kind, Value, require};
use serde::{Deserialize, Serialize};

/// How much the answers of each class count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "expected \"balanced\" or a table from classes to numbers")]
pub enum ClassWeights {
    /// scikit-learn's weights, from the answers of the training samples and the classes that these have.
    #[serde(rename = "balanced")]
    Balanced,
    /// The weights of some classes, by name or number; all others have 1.
    #[serde(untagged)]
    Table(BTreeMap<String, f64>),
}

impl Value for ClassWeights {
    fn kind() -> Kind {
        let sentence = "n / (classes * count), as in scikit-learn: n training answers, count of them in the class, and the number of classes that occur.";
        let balanced = Choice {
            name: "balanced".to_owned(),
            sentence: sentence.to_owned(),
        };
        let table = Kind::Table(Box::new(f64::kind()));
        Kind::Either(vec![Kind::Choice(vec![balanced]), table])
    }
}

impl ClassWeights {
    /// The weight of each class, for these training samples.
    ///
    /// # Errors
    /// When a class does not exist or has two weights, a number is no weight, or all are 0. Names the key within `[training]`.
    pub fn list(&self, data: &DatasetConfig, train: &Dataset) -> Result<Vec<f64>, InvalidValue> {
        let Self::Table(by_name) = self else {
            let counts = train.class_counts(data.n_classes);
            let answers: usize = counts.iter().sum();
            let classes = counts.iter().filter(|&&count| count > 0).count();
            let weight = |count: usize| answers as f64 / (classes * count).max(1) as f64;
            return Ok(counts.into_iter().map(weight).collect());
        };
        let mut weights = vec![None; data.n_classes];
        for (name, weight) in by_name {
            let key = format!("class_weights.{name}");
            let Some(class) = data.class_called(name) else {
                let known = match &data.classes[..] {
                    [] => format!("0 to {}", data.n_classes - 1),
                    names => names.join(", "),
                };
                let reason = format!("there is no class `{name}`; the classes are {known}");
                return Err(InvalidValue::new(key, reason));
            };
            WEIGHT.check(&key, weight)?;
            if weights[class as usize].replace(*weight).is_some() {
                let reason = format!(
                    "class `{name}` has two weights, by its name and by its number; remove one"
                );
                return Err(InvalidValue::new(key, reason));
            }
        }
        let weights: Vec<f64> = weights
            .into_iter()
            .map(|weight| weight.unwrap_or(1.0))
            .collect();
        require(
            weights.iter().any(|&weight| weight > 0.0),
            "class_weights",
            || "all classes have the weight 0; give one of them a weight above 0",
        )?;
        Ok(weights)
    }
}
