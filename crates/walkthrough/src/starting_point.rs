//! The starting point of a computation, and checks that its matrices fit each other.

use std::fmt::Display;
use std::ops::Range;

use crate::keys::{Keys, Rows};
use crate::matrix::Matrix;
use crate::mistake::{MistakeAt, count};

/// The stage that a computation starts from, with the numbers that the file gives for it.
pub(crate) enum StartingPoint {
    /// Embeddings, and optional projections.
    Embeddings(Embeddings),
    /// Queries and keys.
    Vectors { query: Matrix, key: Matrix },
    /// Products of queries and keys. `d_k` is the width of these, if the file gives it.
    Scores { scores: Matrix, d_k: Option<usize> },
    /// Weights.
    Weights(Matrix),
}

/// Embeddings and their projections.
pub(crate) struct Embeddings {
    pub(crate) x: Matrix,
    pub(crate) memory: Option<Matrix>,
    pub(crate) w_query: Option<Matrix>,
    pub(crate) w_key: Option<Matrix>,
    pub(crate) w_value: Option<Matrix>,
}

impl StartingPoint {
    /// Checks the starting point in a file, for these numbers of queries and keys.
    pub(crate) fn check(
        given: &Keys,
        span: &Range<usize>,
        [queries, keys]: [usize; 2],
    ) -> Result<Self, MistakeAt> {
        let names: Vec<&'static str> = given.starting_keys().collect();
        let name = match names.as_slice() {
            [name] => *name,
            [] => {
                return Err(MistakeAt::new(
                    span.clone(),
                    "there is nothing to compute from: give `x`, `query` and `key`, `scores`, or `weights`",
                ));
            }
            [one, other, ..] => {
                return Err(MistakeAt::new(
                    span.clone(),
                    format!(
                        "both `{one}` and `{other}` are given; remove one, since a computation starts from one of them"
                    ),
                ));
            }
        };
        if let Some((unused, span)) = given.unused_key(name) {
            return Err(MistakeAt::new(
                span,
                format!(
                    "`{unused}` has no use in a computation that starts from `{name}`; remove it"
                ),
            ));
        }
        match name {
            "x" => Embeddings::check(given, span, [queries, keys]).map(Self::Embeddings),
            "query" => {
                let query = NamedMatrix::required("query", given.query.as_ref(), span)?;
                let key = NamedMatrix::required("key", given.key.as_ref(), span)?;
                query.expect_rows(queries, token_count(queries, ""))?;
                key.expect_rows(keys, token_count(keys, " on the key side"))?;
                let width = query.matrix.columns;
                key.expect_columns(width, format!("`query` has {}", count(width, "column")))?;
                Ok(Self::Vectors {
                    query: query.matrix,
                    key: key.matrix,
                })
            }
            _ => {
                let rows = given.scores.as_ref().or(given.weights.as_ref());
                let matrix = NamedMatrix::required(name, rows, span)?;
                matrix.expect_rows(queries, token_count(queries, ""))?;
                matrix.expect_columns(keys, token_count(keys, " on the key side"))?;
                let d_k = given.d_k.as_ref().map(|d_k| *d_k.get_ref());
                Ok(match given.scores {
                    Some(_) => Self::Scores {
                        scores: matrix.matrix,
                        d_k,
                    },
                    None => Self::Weights(matrix.matrix),
                })
            }
        }
    }

    /// The width of a query, if it is known.
    pub(crate) fn width(&self) -> Option<usize> {
        match self {
            Self::Embeddings(embeddings) => {
                let query = embeddings.w_query.as_ref().unwrap_or(&embeddings.x);
                Some(query.columns)
            }
            Self::Vectors { query, .. } => Some(query.columns),
            Self::Scores { d_k, .. } => *d_k,
            Self::Weights(_) => None,
        }
    }
}

impl Embeddings {
    /// The embeddings that keys and values are computed from.
    pub(crate) fn key_side(&self) -> &Matrix {
        self.memory.as_ref().unwrap_or(&self.x)
    }

    fn check(
        given: &Keys,
        span: &Range<usize>,
        [queries, keys]: [usize; 2],
    ) -> Result<Self, MistakeAt> {
        let x = NamedMatrix::required("x", given.x.as_ref(), span)?;
        x.expect_rows(queries, token_count(queries, ""))?;
        let memory = NamedMatrix::read("memory", given.memory.as_ref())?;
        let source = memory.as_ref().unwrap_or(&x);
        source.expect_rows(keys, token_count(keys, " on the key side"))?;
        let projection = |name, rows: Option<&Rows>, from: &NamedMatrix| {
            let projection = NamedMatrix::read(name, rows)?;
            if let Some(projection) = &projection {
                let width = from.matrix.columns;
                projection.expect_rows(
                    width,
                    format!("`{}` has {}", from.name, count(width, "column")),
                )?;
            }
            Ok::<_, MistakeAt>(projection)
        };
        let w_query = projection("w_query", given.w_query.as_ref(), &x)?;
        let w_key = projection("w_key", given.w_key.as_ref(), source)?;
        let w_value = projection("w_value", given.w_value.as_ref(), source)?;
        let query = w_query.as_ref().unwrap_or(&x);
        let key = w_key.as_ref().unwrap_or(source);
        let width = query.matrix.columns;
        key.expect_columns(
            width,
            format!(
                "queries have {} (from `{}`)",
                count(width, "number"),
                query.name
            ),
        )?;
        let matrix = |named: Option<NamedMatrix>| named.map(|named| named.matrix);
        Ok(Self {
            memory: matrix(memory),
            w_query: matrix(w_query),
            w_key: matrix(w_key),
            w_value: matrix(w_value),
            x: x.matrix,
        })
    }
}

/// The number of tokens, for messages.
pub(crate) fn token_count(tokens: usize, side: &str) -> String {
    let are = if tokens == 1 { "is" } else { "are" };
    format!("there {are} {}{side}", count(tokens, "token"))
}

/// A matrix with its name and place, for messages.
pub(crate) struct NamedMatrix {
    name: &'static str,
    span: Range<usize>,
    pub(crate) matrix: Matrix,
}

impl NamedMatrix {
    pub(crate) fn read(name: &'static str, rows: Option<&Rows>) -> Result<Option<Self>, MistakeAt> {
        let named = |rows: &Rows| {
            Ok(Self {
                name,
                span: rows.span(),
                matrix: Matrix::read(name, rows)?,
            })
        };
        rows.map(named).transpose()
    }

    fn required(
        name: &'static str,
        rows: Option<&Rows>,
        span: &Range<usize>,
    ) -> Result<Self, MistakeAt> {
        Self::read(name, rows)?
            .ok_or_else(|| MistakeAt::new(span.clone(), format!("`{name}` is missing")))
    }

    pub(crate) fn expect_rows(&self, rows: usize, why: impl Display) -> Result<(), MistakeAt> {
        self.expect(self.matrix.rows, rows, "row", why)
    }

    fn expect_columns(&self, columns: usize, why: impl Display) -> Result<(), MistakeAt> {
        self.expect(self.matrix.columns, columns, "column", why)
    }

    fn expect(
        &self,
        has: usize,
        needed: usize,
        what: &str,
        why: impl Display,
    ) -> Result<(), MistakeAt> {
        if has == needed {
            return Ok(());
        }
        Err(MistakeAt::new(
            self.span.clone(),
            format!(
                "`{}` is {}; {why}, so it needs {}",
                self.name,
                self.matrix.shape(),
                count(needed, what)
            ),
        ))
    }
}
