//! Dumps as npz, there and back.

use std::io::{self, Read, Seek, Write};

use headlight_npz::{Array, NpzReader, NpzWriter};
use serde::Deserialize;

use crate::{
    AttentionDump, Dims, DumpError, FEED_FORWARD_ARRAYS, FLOAT_ARRAYS, FeedForward, MASK, Meta,
    Named, TOKENS, VERSION,
};

const META: &str = "meta.json";

impl AttentionDump {
    /// Writes the dump as npz.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_npz(&self, mut writer: impl Write) -> io::Result<()> {
        let mut npz = NpzWriter::new();
        npz.array(TOKENS.0, &self.dims.shape(TOKENS.1), &self.tokens)?;
        for ((name, axes), values) in self.floats() {
            npz.array(name, &self.dims.shape(axes), values)?;
        }
        if let Some(mask) = &self.attention_mask {
            npz.array(MASK.0, &self.dims.shape(MASK.1), mask)?;
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
        // First and alone: other versions may have other keys.
        let Version { version } = serde_json::from_str(&meta)?;
        if version != u64::from(VERSION) {
            return Err(DumpError::Content(format!(
                "it is of version {version}; this build reads version {VERSION}"
            )));
        }
        let meta: Meta = serde_json::from_str(&meta)?;
        let tokens = npz.integers(TOKENS.0)?;
        let present = |(name, _): &Named| npz.contains(name);
        let feed_forward = FEED_FORWARD_ARRAYS.iter().all(present);
        let named: Vec<Named> = FLOAT_ARRAYS
            .into_iter()
            .chain(FEED_FORWARD_ARRAYS.into_iter().filter(|_| feed_forward))
            .collect();
        let mut arrays: Vec<Array<f32>> = Vec::with_capacity(named.len());
        for (name, _) in &named {
            arrays.push(npz.floats(name)?);
        }
        let mask = npz.contains(MASK.0).then(|| npz.integers(MASK.0));
        let mask = mask.transpose()?;
        let dims = dims_of(&named, &arrays)?;
        dims.check()?;
        let shapes = arrays.iter().map(|array| &array.shape);
        let expected = std::iter::once((TOKENS, &tokens.shape))
            .chain(mask.iter().map(|mask| (MASK, &mask.shape)))
            .chain(named.iter().copied().zip(shapes));
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
            feed_forward: feed_forward.then(|| FeedForward {
                hidden: next(),
                residual: next(),
            }),
            attention_mask: mask.map(|mask| mask.values.into_iter().map(|may| may != 0).collect()),
        };
        dump.check()?;
        Ok(dump)
    }
}

#[derive(Deserialize)]
struct Version {
    version: u64,
}

/// The extents that the arrays imply: queries name all but the widths.
fn dims_of(named: &[Named], arrays: &[Array<f32>]) -> Result<Dims, DumpError> {
    let shape = |wanted: &str| {
        named
            .iter()
            .position(|(name, _)| *name == wanted)
            .map_or(&[][..], |index| arrays[index].shape.as_slice())
    };
    let d_ff = shape(FEED_FORWARD_ARRAYS[0].0).last().copied();
    match (shape("query"), shape("embeddings")) {
        (&[samples, layers, heads, positions, d_head], &[_, _, d_model]) => Ok(Dims {
            samples,
            layers,
            heads,
            positions,
            d_head,
            d_model,
            d_ff: d_ff.unwrap_or(0),
        }),
        (query, embeddings) => Err(DumpError::Content(format!(
            "its arrays `query` and `embeddings` have shapes {query:?} and {embeddings:?}, not 5 and 3 axes"
        ))),
    }
}

impl Dims {
    /// Refuses axes without extent. Arrays that hold nothing may claim any shape, so that products
    /// of their extents could overflow; where each axis has extent, arrays vouch for it.
    fn check(&self) -> Result<(), DumpError> {
        let extents = [
            ("samples", self.samples),
            ("layers", self.layers),
            ("heads", self.heads),
            ("positions", self.positions),
            ("numbers a head", self.d_head),
            ("numbers a position", self.d_model),
        ];
        match extents.iter().find(|(_, extent)| *extent == 0) {
            None => Ok(()),
            Some((what, _)) => Err(DumpError::Content(format!("it holds no {what}"))),
        }
    }
}
