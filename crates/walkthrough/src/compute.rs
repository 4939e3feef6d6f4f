//! Computes every stage of a case, with the same attention as Headlight's model.

use burn::tensor::{Bool, Device, Tensor, TensorData};
use headlight_model::{attention_scores, attention_weights};

use crate::Stage;
use crate::case::Case;
use crate::matrix::Matrix;
use crate::mistake::MistakeAt;
use crate::starting_point::{Embeddings, StartingPoint};

/// A computed stage: its numbers, and the names of rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// Which stage.
    pub stage: Stage,
    /// How it is computed.
    pub how: String,
    /// The names of its rows.
    pub rows: Vec<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its numbers.
    pub matrix: Matrix,
}

/// Computes all stages of a case, in order.
///
/// # Errors
/// When a number overflows float32. Names the stage.
pub(crate) fn compute(case: &Case) -> Result<Vec<Computed>, MistakeAt> {
    let mut stages = Stages {
        case,
        done: Vec::new(),
    };
    let (weights, value) = match &case.start {
        StartingPoint::Embeddings(embeddings) => stages.embeddings(embeddings)?,
        StartingPoint::Vectors { query, key } => {
            stages.push(Stage::Query, "given", query)?;
            stages.push(Stage::Key, "given", key)?;
            stages.given_value()?;
            let weights = stages.vectors(query, key, "query · keyᵀ")?;
            (weights, case.value.clone())
        }
        StartingPoint::Scores { scores, .. } => {
            stages.given_value()?;
            stages.push(Stage::Scores, "given", scores)?;
            let scaled = tensor(scores) * stages.factor();
            (stages.scaled(scaled)?, case.value.clone())
        }
        StartingPoint::Weights(weights) => {
            stages.given_value()?;
            stages.weights(weights, "given")?;
            (weights.clone(), case.value.clone())
        }
    };
    if let Some(value) = &value {
        stages.output(&weights, value)?;
    }
    Ok(stages.done)
}

/// The stages so far.
struct Stages<'a> {
    case: &'a Case,
    done: Vec<Computed>,
}

impl Stages<'_> {
    /// Computes the stages from embeddings to weights. Returns the weights and the values.
    fn embeddings(&mut self, given: &Embeddings) -> Result<(Matrix, Option<Matrix>), MistakeAt> {
        self.push(Stage::X, "embeddings, one row per token", &given.x)?;
        let from = match &given.memory {
            None => "x",
            Some(memory) => {
                self.push(Stage::Memory, "embeddings of the key tokens", memory)?;
                "memory"
            }
        };
        let projections = [
            (Stage::WQuery, Stage::Query, &given.w_query, &given.x, "x"),
            (
                Stage::WKey,
                Stage::Key,
                &given.w_key,
                given.key_side(),
                from,
            ),
            (
                Stage::WValue,
                Stage::Value,
                &given.w_value,
                given.key_side(),
                from,
            ),
        ];
        for (weight, _, projection, ..) in projections {
            if let Some(projection) = projection {
                self.push(weight, "a projection", projection)?;
            }
        }
        let mut names = Vec::new();
        let mut projected = Vec::new();
        for (weight, stage, projection, side, name) in projections {
            let Some(projection) = projection else {
                names.push(name);
                projected.push(side.clone());
                continue;
            };
            let product = matrix(tensor(side).matmul(tensor(projection)));
            self.push(stage, &format!("{name} · {}", weight.name()), &product)?;
            names.push(stage.name());
            projected.push(product);
        }
        let how = format!("{} · {}ᵀ", names[0], names[1]);
        let weights = self.vectors(&projected[0], &projected[1], &how)?;
        Ok((weights, projected.pop()))
    }

    fn given_value(&mut self) -> Result<(), MistakeAt> {
        match &self.case.value {
            Some(value) => self.push(Stage::Value, "given", value),
            None => Ok(()),
        }
    }

    fn vectors(&mut self, query: &Matrix, key: &Matrix, how: &str) -> Result<Matrix, MistakeAt> {
        let scores = attention_scores(tensor(query), tensor(key), 1.0);
        self.push(Stage::Scores, how, &matrix(scores))?;
        let scaled = attention_scores(tensor(query), tensor(key), self.factor());
        self.scaled(scaled)
    }

    /// The factor of the products of queries and keys: scale divided by temperature.
    fn factor(&self) -> f64 {
        self.case.scale / self.case.temperature
    }

    /// Computes the stages from scaled scores to weights.
    fn scaled(&mut self, scaled: Tensor<4>) -> Result<Matrix, MistakeAt> {
        let [_, _, queries, keys] = scaled.dims();
        let mut last = matrix(scaled.clone());
        let mut name = "scores";
        if let Some(how) = self.scaling() {
            self.push(Stage::Scaled, &how, &last)?;
            name = "scaled";
        }
        let mask = self.case.mask.as_ref();
        if let Some(mask) = mask {
            for (score, &may) in last.values.iter_mut().zip(mask) {
                if !may {
                    *score = f32::NEG_INFINITY;
                }
            }
            self.push(
                Stage::Masked,
                &format!("{name}; −∞ where the mask blocks"),
                &last,
            )?;
            name = "masked";
        }
        let exponentials = last.map(f32::exp);
        self.push(Stage::Exponentials, &format!("exp({name})"), &exponentials)?;
        let sums = exponentials.row_sums();
        self.push(Stage::ExponentialsSum, "the sum of each row", &sums)?;
        let mask = mask.map(|mask| {
            let data = TensorData::new(mask.clone(), [1, 1, queries, keys]);
            Tensor::<4, Bool>::from_data(data, &Device::flex())
        });
        let weights = matrix(attention_weights(scaled, mask));
        self.weights(&weights, &format!("softmax of each row of {name}"))?;
        Ok(weights)
    }

    /// How the scores are scaled; `None` if they are not.
    fn scaling(&self) -> Option<String> {
        let (scale, temperature) = (self.case.scale, self.case.temperature);
        let root = self.case.start.width().filter(|&width| {
            let root = 1.0 / (width as f64).sqrt();
            (scale - root).abs() < f64::EPSILON
        });
        let scaled = match root {
            Some(1) => String::new(),
            Some(width) => format!(" / √{width}"),
            None if (scale - 1.0).abs() < f64::EPSILON => String::new(),
            None => format!(" × {scale}"),
        };
        let divided = if (temperature - 1.0).abs() < f64::EPSILON {
            String::new()
        } else {
            format!(" / temperature {temperature}")
        };
        let how = scaled + &divided;
        (!how.is_empty()).then(|| format!("scores{how}"))
    }

    fn weights(&mut self, weights: &Matrix, how: &str) -> Result<(), MistakeAt> {
        self.push(Stage::Weights, how, weights)?;
        self.push(
            Stage::WeightsSum,
            "the sum of each row",
            &weights.row_sums(),
        )
    }

    fn output(&mut self, weights: &Matrix, value: &Matrix) -> Result<(), MistakeAt> {
        let name = self.value_name();
        if let [query] = *self.case.shown.as_slice() {
            let parts = (0..value.rows).flat_map(|key| {
                let weight = weights.row(query)[key];
                value.row(key).iter().map(move |&value| weight * value)
            });
            let parts = Matrix::new(value.rows, value.columns, parts.collect());
            let how = format!("each row of {name} times its weight");
            self.push(Stage::Contributions, &how, &parts)?;
        }
        let output = matrix(tensor(weights).matmul(tensor(value)));
        self.push(Stage::Output, &format!("weights · {name}"), &output)
    }

    /// The name of the values: the stage, or the embeddings used in its place.
    fn value_name(&self) -> &'static str {
        match &self.case.start {
            StartingPoint::Embeddings(given) if given.w_value.is_none() => match given.memory {
                Some(_) => "memory",
                None => "x",
            },
            _ => "value",
        }
    }

    /// Adds a stage. Skips it if it is shown only on demand, and the document prints no numbers of it.
    fn push(&mut self, stage: Stage, how: &str, all: &Matrix) -> Result<(), MistakeAt> {
        let given_weights = matches!(self.case.start, StartingPoint::Weights(_));
        let published = self.case.published.iter();
        let wanted = published
            .map(|entry| entry.get_ref().stage)
            .any(|wanted| wanted == stage);
        if stage.is_on_demand() && !wanted && !(stage == Stage::WeightsSum && given_weights) {
            return Ok(());
        }
        let overflows = |value: &f32| {
            let blocked = stage == Stage::Masked && *value == f32::NEG_INFINITY;
            !value.is_finite() && !blocked
        };
        if all.values.iter().any(overflows) {
            return Err(MistakeAt::new(
                self.case.span.clone(),
                format!("`{}` overflows float32; use smaller numbers", stage.name()),
            ));
        }
        let (rows, matrix) = self.shown(stage, all);
        self.done.push(Computed {
            stage,
            how: how.to_owned(),
            rows,
            columns: self.columns(stage, all.columns),
            matrix,
        });
        Ok(())
    }

    /// The rows of a stage and their names: all rows, or those of the queries that are shown.
    fn shown(&self, stage: Stage, all: &Matrix) -> (Vec<String>, Matrix) {
        let case = self.case;
        match stage {
            Stage::X => (case.queries.clone(), all.clone()),
            Stage::WQuery | Stage::WKey | Stage::WValue => (indices(all.rows), all.clone()),
            Stage::Memory | Stage::Key | Stage::Value | Stage::Contributions => {
                (case.keys.clone(), all.clone())
            }
            _ => {
                let names = case.shown.iter().map(|&query| case.queries[query].clone());
                (names.collect(), all.some_rows(&case.shown))
            }
        }
    }

    fn columns(&self, stage: Stage, count: usize) -> Vec<String> {
        match stage {
            Stage::Scores
            | Stage::Scaled
            | Stage::Masked
            | Stage::Exponentials
            | Stage::Weights => self.case.keys.clone(),
            Stage::ExponentialsSum | Stage::WeightsSum => vec!["sum".to_owned()],
            _ => indices(count),
        }
    }
}

/// The names of a vector's numbers: their indices.
fn indices(count: usize) -> Vec<String> {
    (0..count).map(|index| index.to_string()).collect()
}

fn tensor(matrix: &Matrix) -> Tensor<4> {
    let shape = [1, 1, matrix.rows, matrix.columns];
    Tensor::from_data(
        TensorData::new(matrix.values.clone(), shape),
        &Device::flex(),
    )
}

fn matrix(tensor: Tensor<4>) -> Matrix {
    let [_, _, rows, columns] = tensor.dims();
    Matrix::new(rows, columns, tensor.into_data().iter::<f32>().collect())
}
