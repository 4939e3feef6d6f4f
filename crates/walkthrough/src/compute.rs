//! Computes every stage of a case.

use headlight_architecture::Scale;
use serde::Serialize;

use crate::keys::{Keys, Start};
use crate::{Matrix, Stage};

/// A computed stage: its numbers, and the names of rows and columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Computed {
    /// Which stage.
    pub stage: Stage,
    /// How it is computed.
    pub how: String,
    /// The names of its rows.
    pub rows: Vec<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its numbers. In JSON, `null` is minus infinity, where a mask blocks.
    #[serde(rename = "values")]
    pub matrix: Matrix,
}

/// The stages of a case so far, and what they are computed with.
pub(crate) struct Stages<'a> {
    keys: &'a Keys,
    start: Start,
    /// The tokens whose queries look, and those that they look at.
    tokens: [&'a [String]; 2],
    /// The queries that are shown.
    shown: Vec<usize>,
    /// The factor of the scores, without the temperature.
    scale: f64,
    pub(crate) temperature: f64,
    pub(crate) done: Vec<Computed>,
}

impl<'a> Stages<'a> {
    /// Computes all stages of a case, in order.
    pub(crate) fn compute(keys: &'a Keys) -> Result<Self, String> {
        let queries = &keys.tokens.as_ref().ok_or("`tokens` is missing")?.0;
        let tokens = [
            queries,
            keys.key_tokens.as_ref().map_or(queries, |keys| &keys.0),
        ];
        let start = keys.start()?;
        let all = || (0..queries.len()).collect();
        let labels = keys.query_rows.as_ref();
        let shown = labels.map(|rows| rows.iter().map(|row| row.find(queries)).collect());
        let shown: Vec<usize> = shown
            .unwrap_or_else(|| Ok(all()))
            .map_err(|message| format!("`query_rows`: {message}"))?;
        if shown.is_empty() {
            return Err("`query_rows` is empty".to_owned());
        }
        let mut stages = Self {
            keys,
            start,
            tokens: tokens.map(Vec::as_slice),
            shown,
            scale: 1.0,
            temperature: keys.temperature.unwrap_or(1.0),
            done: Vec::new(),
        };
        if !(stages.temperature > 0.0 && stages.temperature.is_finite()) {
            return Err(format!(
                "`temperature` is {}; it must be a positive number",
                stages.temperature
            ));
        }
        stages.run()?;
        Ok(stages)
    }

    /// The factor of the products of queries and keys: scale divided by temperature.
    pub(crate) fn factor(&self) -> f64 {
        self.scale / self.temperature
    }

    fn run(&mut self) -> Result<(), String> {
        let keys = self.keys;
        let given = [
            (Stage::X, "embeddings, one row per token", &keys.x),
            (Stage::Memory, "embeddings of the key tokens", &keys.memory),
            (Stage::WQuery, "a projection", &keys.w_query),
            (Stage::WKey, "a projection", &keys.w_key),
            (Stage::WValue, "a projection", &keys.w_value),
        ];
        for (stage, how, matrix) in given {
            self.given(stage, how, matrix.as_ref())?;
        }
        let x = keys.x.as_ref().map(|x| (x, "x"));
        let source = keys.memory.as_ref().map(|memory| (memory, "memory")).or(x);
        let query = self.vectors(Stage::Query, x, [&keys.w_query, &keys.query])?;
        let key = self.vectors(Stage::Key, source, [&keys.w_key, &keys.key])?;
        let value = self.vectors(Stage::Value, source, [&keys.w_value, &keys.value])?;
        let weights = match (query, key, &keys.scores, &keys.weights) {
            (Some((query, query_name)), Some((key, key_name)), ..) => {
                let how = format!("{query_name} · {key_name}ᵀ");
                let scores = query.times(&key.transposed(), &how)?;
                self.scores(&scores, &how, Some(query.columns()))?
            }
            (.., Some(scores), _) => self.scores(scores, "given", keys.d_k)?,
            (.., weights) => {
                let weights = weights.clone().ok_or("`weights` is missing")?;
                self.weights(weights, "given")?
            }
        };
        match value {
            Some((value, name)) => self.output(&weights, &value, name),
            None => Ok(()),
        }
    }

    fn given(&mut self, stage: Stage, how: &str, matrix: Option<&Matrix>) -> Result<(), String> {
        matrix.map_or(Ok(()), |matrix| self.push(stage, how, matrix))
    }

    /// Queries, keys or values, and their name: projected embeddings, the embeddings themselves, or those that are given.
    fn vectors(
        &mut self,
        stage: Stage,
        embeddings: Option<(&Matrix, &'static str)>,
        [projection, given]: [&Option<Matrix>; 2],
    ) -> Result<Option<(Matrix, &'static str)>, String> {
        let Some((embeddings, name)) = embeddings else {
            self.given(stage, "given", given.as_ref())?;
            return Ok(given.clone().map(|given| (given, stage.name())));
        };
        let Some(projection) = projection else {
            return Ok(Some((embeddings.clone(), name)));
        };
        let how = format!("{name} · w_{}", stage.name());
        let projected = embeddings.times(projection, &how)?;
        self.push(stage, &how, &projected)?;
        Ok(Some((projected, stage.name())))
    }

    /// Computes the stages from scores to weights. `width` is that of queries and keys, if it is known.
    fn scores(
        &mut self,
        scores: &Matrix,
        how: &str,
        width: Option<usize>,
    ) -> Result<Matrix, String> {
        self.push(Stage::Scores, how, scores)?;
        self.scale = match (self.keys.scale.unwrap_or_default(), width) {
            (Scale::Root, None) => {
                return Err(
                    "the scale of `scores` is unknown: give `d_k`, or `scale = false`".to_owned(),
                );
            }
            (scale, width) => scale.factor(width.unwrap_or(1)),
        };
        if !self.factor().is_finite() {
            return Err("`scale` must be a finite number".to_owned());
        }
        let factor = self.factor();
        let mut last = scores.map(|score| score * factor);
        let mut name = "scores";
        if let Some(how) = self.scaling(width) {
            self.push(Stage::Scaled, &how, &last)?;
            name = "scaled";
        }
        let [queries, keys] = self.tokens.map(<[String]>::len);
        let mask = self.keys.mask.clone().unwrap_or_default();
        if let Some(mask) = mask.matrix(queries, keys)? {
            for (score, may) in last.0.iter_mut().flatten().zip(mask) {
                if !may {
                    *score = f64::NEG_INFINITY;
                }
            }
            let how = format!("{name}; −∞ where the mask blocks");
            self.push(Stage::Masked, &how, &last)?;
            name = "masked";
        }
        let exponentials = last.map(f64::exp);
        self.push(Stage::Exponentials, &format!("exp({name})"), &exponentials)?;
        let sums = exponentials.row_sums();
        self.push(Stage::ExponentialsSum, "the sum of each row", &sums)?;
        self.weights(last.softmax(), &format!("softmax of each row of {name}"))
    }

    /// How the scores are scaled; `None` if they are not.
    fn scaling(&self, width: Option<usize>) -> Option<String> {
        let is = |one: f64, other: f64| (one - other).abs() < f64::EPSILON;
        let root = width.filter(|&width| is(self.scale, Scale::Root.factor(width)));
        let scaled = match root {
            Some(width) if width > 1 => format!(" / √{width}"),
            None if !is(self.scale, 1.0) => format!(" × {}", self.scale),
            _ => String::new(),
        };
        let divided = if is(self.temperature, 1.0) {
            String::new()
        } else {
            format!(" / temperature {}", self.temperature)
        };
        let how = scaled + &divided;
        (!how.is_empty()).then(|| format!("scores{how}"))
    }

    fn weights(&mut self, weights: Matrix, how: &str) -> Result<Matrix, String> {
        self.push(Stage::Weights, how, &weights)?;
        let sums = weights.row_sums();
        self.push(Stage::WeightsSum, "the sum of each row", &sums)?;
        Ok(weights)
    }

    fn output(&mut self, weights: &Matrix, value: &Matrix, name: &str) -> Result<(), String> {
        if let [query] = *self.shown.as_slice() {
            let rows = value.0.iter().zip(&weights.0[query]);
            let parts = rows.map(|(row, weight)| row.iter().map(|value| weight * value).collect());
            let how = format!("each row of {name} times its weight");
            self.push(Stage::Contributions, &how, &Matrix(parts.collect()))?;
        }
        let how = format!("weights · {name}");
        let output = weights.times(value, &how)?;
        self.push(Stage::Output, &how, &output)
    }

    /// Adds a stage. Skips it if it is shown only on demand, and the document prints no numbers of it.
    fn push(&mut self, stage: Stage, how: &str, all: &Matrix) -> Result<(), String> {
        let mut published = self.keys.published.iter();
        let is_wanted = published.any(|entry| entry.stage == stage)
            || (stage == Stage::WeightsSum && self.start == Start::Weights);
        if stage.is_on_demand() && !is_wanted {
            return Ok(());
        }
        let overflows = |number: &f64| {
            !(number.is_finite() || stage == Stage::Masked && *number == f64::NEG_INFINITY)
        };
        if all.0.iter().flatten().any(overflows) {
            let name = stage.name();
            return Err(format!(
                "`{name}` has a number that is too large; use smaller numbers"
            ));
        }
        let [queries, keys] = self.tokens;
        let indices = |count: usize| (0..count).map(|index| index.to_string()).collect();
        let rows: Vec<String> = match stage {
            Stage::WQuery | Stage::WKey | Stage::WValue => indices(all.rows()),
            Stage::Memory | Stage::Key | Stage::Value | Stage::Contributions => keys.to_vec(),
            _ => queries.to_vec(),
        };
        let columns: Vec<String> = match stage {
            Stage::Scores
            | Stage::Scaled
            | Stage::Masked
            | Stage::Exponentials
            | Stage::Weights => keys.to_vec(),
            Stage::ExponentialsSum | Stage::WeightsSum => vec!["sum".to_owned()],
            _ => indices(all.columns()),
        };
        let sides = [
            ("rows", all.rows(), &rows),
            ("columns", all.columns(), &columns),
        ];
        for (side, has, names) in sides {
            if has != names.len() {
                return Err(format!(
                    "the number of {side} of `{}` is {has}; it must be {}, one for each token",
                    stage.name(),
                    names.len()
                ));
            }
        }
        let shown = if stage.has_a_row_per_query() {
            self.shown.clone()
        } else {
            (0..rows.len()).collect()
        };
        self.done.push(Computed {
            stage,
            how: how.to_owned(),
            rows: shown.iter().map(|&row| rows[row].clone()).collect(),
            columns,
            matrix: Matrix(shown.iter().map(|&row| all.0[row].clone()).collect()),
        });
        Ok(())
    }
}
