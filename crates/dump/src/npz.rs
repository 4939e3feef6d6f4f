//! Dumps as npz, there and back.

use std::io::{self, Read, Seek, Write};

use headlight_npz::{Array, NpzReader, NpzWriter};

use crate::{AttentionDump, Dims, DumpError, FLOAT_ARRAYS, Meta, TOKENS, VERSION};

const META: &str = "meta.json";

impl AttentionDump {
    /// Writes the dump as npz.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_npz(&self, mut writer: impl Write) -> io::Result<()> {
        let mut npz = NpzWriter::new();
        npz.array(TOKENS.0, &self.dims.shape(TOKENS.1), &self.tokens)?;
        for ((name, axes), values) in FLOAT_ARRAYS.into_iter().zip(self.floats()) {
            npz.array(name, &self.dims.shape(axes), values)?;
        }
        npz.text(META, &serde_json::to_string_pretty(&self.meta)?)?;
        writer.write_all(&npz.finish()?)?;
        writer.flush()
    }

    /// Reads a dump from npz and checks that its arrays fit each other and are what they claim.
    ///
    /// # Errors
    /// When it is damaged, of another version, or its numbers cannot be attention.
    pub fn read_npz(reader: impl Read + Seek) -> Result<Self, DumpError> {
        let mut npz = NpzReader::new(reader)?;
        let meta = npz.text(META)?;
        let version = serde_json::from_str::<serde_json::Value>(&meta)?["version"].clone();
        if version != VERSION {
            return Err(DumpError::Content(format!(
                "it is of version {version}; this build reads version {VERSION}"
            )));
        }
        let meta: Meta = serde_json::from_str(&meta)?;
        let tokens = npz.integers(TOKENS.0)?;
        let mut arrays: Vec<Array<f32>> = Vec::with_capacity(FLOAT_ARRAYS.len());
        for (name, _) in FLOAT_ARRAYS {
            arrays.push(npz.floats(name)?);
        }
        let dims = dims_of(&arrays)?;
        let shapes = arrays.iter().map(|array| &array.shape);
        let expected =
            std::iter::once((TOKENS, &tokens.shape)).chain(FLOAT_ARRAYS.into_iter().zip(shapes));
        for ((name, axes), shape) in expected {
            let fitting = dims.shape(axes);
            if *shape != fitting {
                return Err(DumpError::Content(format!(
                    "its array `{name}` has shape {shape:?}, where the others ask for {fitting:?} {axes:?}"
                )));
            }
        }
        let mut floats = arrays.into_iter().map(|array| array.values);
        let mut next = || floats.next().unwrap_or_default();
        let dump = Self {
            dims,
            meta,
            tokens: tokens.values,
            labels: next(),
            logits: next(),
            probabilities: next(),
            attention_scores: next(),
            attention_weights: next(),
            query: next(),
            key: next(),
            value: next(),
            context: next(),
            embeddings: next(),
            residual: next(),
        };
        dump.check()?;
        Ok(dump)
    }
}

/// The extents that the arrays imply: queries name all but the model's width.
fn dims_of(arrays: &[Array<f32>]) -> Result<Dims, DumpError> {
    let shape = |wanted: &str| {
        FLOAT_ARRAYS
            .iter()
            .position(|(name, _)| *name == wanted)
            .map_or(&[][..], |index| arrays[index].shape.as_slice())
    };
    match (shape("query"), shape("embeddings")) {
        (&[samples, layers, heads, positions, d_head], &[_, _, d_model]) => Ok(Dims {
            samples,
            layers,
            heads,
            positions,
            d_head,
            d_model,
        }),
        (query, embeddings) => Err(DumpError::Content(format!(
            "its arrays `query` and `embeddings` have shapes {query:?} and {embeddings:?}, not 5 and 3 axes"
        ))),
    }
}
