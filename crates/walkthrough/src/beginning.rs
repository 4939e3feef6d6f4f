//! Where a computation begins, with every matrix fitting every other.

use std::fmt::Display;
use std::ops::Range;

use crate::format::{Keys, Rows};
use crate::matrix::Matrix;
use crate::mistake::{At, count};

/// Where a computation begins.
pub(crate) enum Beginning {
    /// At embeddings, which are projected where there are projections.
    Embeddings(Embeddings),
    /// At queries and keys.
    Vectors { query: Matrix, key: Matrix },
    /// At products of queries and keys, whose width is given where it matters.
    Scores { scores: Matrix, d_k: Option<usize> },
    /// At weights.
    Weights(Matrix),
}

/// Embeddings and what they are projected by.
pub(crate) struct Embeddings {
    pub(crate) x: Matrix,
    pub(crate) memory: Option<Matrix>,
    pub(crate) w_query: Option<Matrix>,
    pub(crate) w_key: Option<Matrix>,
    pub(crate) w_value: Option<Matrix>,
}

impl Beginning {
    /// The beginning that the keys give, for some numbers of queries and keys.
    pub(crate) fn check(
        given: &Keys,
        span: &Range<usize>,
        [queries, keys]: [usize; 2],
    ) -> Result<Self, At> {
        let names: Vec<&'static str> = given.beginnings().collect();
        let name = match names.as_slice() {
            [name] => *name,
            [] => {
                return Err(At::new(
                    span.clone(),
                    "nothing to compute from: give `x`, `query` and `key`, `scores`, or `weights`",
                ));
            }
            [one, other, ..] => {
                return Err(At::new(
                    span.clone(),
                    format!(
                        "both `{one}` and `{other}` are given; the computation begins at one of them"
                    ),
                ));
            }
        };
        if let Some((stray, span)) = given.strays(name) {
            return Err(At::new(
                span,
                format!("`{stray}` has no use where the computation begins at `{name}`"),
            ));
        }
        match name {
            "x" => Embeddings::check(given, span, [queries, keys]).map(Self::Embeddings),
            "query" => {
                let query = Named::needed("query", given.query.as_ref(), span)?;
                let key = Named::needed("key", given.key.as_ref(), span)?;
                query.needs_rows(queries, on_side(queries, ""))?;
                key.needs_rows(keys, on_side(keys, " on the key side"))?;
                let width = query.matrix.columns;
                key.needs_columns(width, format!("`query` has {}", count(width, "column")))?;
                Ok(Self::Vectors {
                    query: query.matrix,
                    key: key.matrix,
                })
            }
            _ => {
                let rows = given.scores.as_ref().or(given.weights.as_ref());
                let matrix = Named::needed(name, rows, span)?;
                matrix.needs_rows(queries, on_side(queries, ""))?;
                matrix.needs_columns(keys, on_side(keys, " on the key side"))?;
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

    /// How many numbers a query has, where that is known.
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
    /// What keys and values come from.
    pub(crate) fn key_side(&self) -> &Matrix {
        self.memory.as_ref().unwrap_or(&self.x)
    }

    fn check(given: &Keys, span: &Range<usize>, [queries, keys]: [usize; 2]) -> Result<Self, At> {
        let x = Named::needed("x", given.x.as_ref(), span)?;
        x.needs_rows(queries, on_side(queries, ""))?;
        let memory = Named::read("memory", given.memory.as_ref())?;
        let source = memory.as_ref().unwrap_or(&x);
        source.needs_rows(keys, on_side(keys, " on the key side"))?;
        let projection = |name, rows: Option<&Rows>, from: &Named| {
            let projection = Named::read(name, rows)?;
            if let Some(projection) = &projection {
                let width = from.matrix.columns;
                projection.needs_rows(
                    width,
                    format!("`{}` has {}", from.name, count(width, "column")),
                )?;
            }
            Ok::<_, At>(projection)
        };
        let w_query = projection("w_query", given.w_query.as_ref(), &x)?;
        let w_key = projection("w_key", given.w_key.as_ref(), source)?;
        let w_value = projection("w_value", given.w_value.as_ref(), source)?;
        let query = w_query.as_ref().unwrap_or(&x);
        let key = w_key.as_ref().unwrap_or(source);
        let width = query.matrix.columns;
        key.needs_columns(
            width,
            format!(
                "queries have {} by `{}`",
                count(width, "number"),
                query.name
            ),
        )?;
        let matrix = |named: Option<Named>| named.map(|named| named.matrix);
        Ok(Self {
            memory: matrix(memory),
            w_query: matrix(w_query),
            w_key: matrix(w_key),
            w_value: matrix(w_value),
            x: x.matrix,
        })
    }
}

/// How many tokens there are, for messages.
pub(crate) fn on_side(tokens: usize, side: &str) -> String {
    let are = if tokens == 1 { "is" } else { "are" };
    format!("there {are} {}{side}", count(tokens, "token"))
}

/// A matrix with its name and place, for messages.
pub(crate) struct Named {
    name: &'static str,
    span: Range<usize>,
    pub(crate) matrix: Matrix,
}

impl Named {
    pub(crate) fn read(name: &'static str, rows: Option<&Rows>) -> Result<Option<Self>, At> {
        let named = |rows: &Rows| {
            Ok(Self {
                name,
                span: rows.span(),
                matrix: Matrix::read(name, rows)?,
            })
        };
        rows.map(named).transpose()
    }

    fn needed(name: &'static str, rows: Option<&Rows>, span: &Range<usize>) -> Result<Self, At> {
        Self::read(name, rows)?.ok_or_else(|| At::new(span.clone(), format!("`{name}` is missing")))
    }

    pub(crate) fn needs_rows(&self, rows: usize, why: impl Display) -> Result<(), At> {
        self.needs(self.matrix.rows, rows, "row", why)
    }

    fn needs_columns(&self, columns: usize, why: impl Display) -> Result<(), At> {
        self.needs(self.matrix.columns, columns, "column", why)
    }

    fn needs(&self, has: usize, needed: usize, what: &str, why: impl Display) -> Result<(), At> {
        if has == needed {
            return Ok(());
        }
        Err(At::new(
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
