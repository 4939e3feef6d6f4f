//! Dumps as npz: writing and reading.

use std::io::{self, Read, Seek, Write};

use headlight_npz::{Array, NpzReader, NpzWriter};
use serde::Deserialize;

use crate::arrays::{ARRAYS, ArraySpec, Field, Part, Values, arrays};
use crate::{AttentionDump, Dims, DumpError, Meta, VERSION};

const META: &str = "meta";

/// The text file that older dumps have instead.
const OLD_META: &str = "meta.json";

impl AttentionDump {
    /// Writes the dump as npz.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_npz(&self, mut writer: impl Write) -> io::Result<()> {
        let mut npz = NpzWriter::new();
        for array in ARRAYS {
            let shape = &array.shape(self.dims);
            match array.values(self) {
                None => Ok(()),
                Some(Values::Integers(values)) => npz.array(array.name, shape, values),
                Some(Values::Floats(values)) => npz.array(array.name, shape, values),
                Some(Values::Booleans(values)) => npz.array(array.name, shape, values),
            }?;
        }
        npz.string(META, &serde_json::to_string_pretty(&self.meta)?)?;
        writer.write_all(&npz.finish()?)?;
        writer.flush()
    }

    /// Reads a dump from npz and checks the shapes of its arrays against each other, and its values.
    ///
    /// # Errors
    /// When it is damaged, of another version, or its numbers cannot be attention.
    pub fn read_npz(reader: impl Read + Seek) -> Result<Self, DumpError> {
        let mut npz = NpzReader::new(reader)?;
        let meta = if npz.contains(META) {
            npz.string(META)?
        } else {
            npz.text(OLD_META)?
        };
        // Before the other keys, which may differ in other versions.
        let Version { version } = serde_json::from_str(&meta)?;
        if version != u64::from(VERSION) {
            return Err(DumpError::Content(format!(
                "its format version is {version}; this build reads version {VERSION}"
            )));
        }
        let mut dump = Self {
            meta: serde_json::from_str::<Meta>(&meta)?,
            ..Self::default()
        };
        let complete = |part: Part| {
            let mut arrays = ARRAYS.iter().filter(|array| array.part == part);
            arrays.all(|array| npz.contains(array.name))
        };
        let present = arrays(complete(Part::FeedForward), complete(Part::Mask));
        let mut shapes = Vec::new();
        for array in present {
            let name = array.name;
            let shape = match &array.field {
                Field::Integers(_, to) => store(npz.integers(name)?, to(&mut dump), |id| id),
                Field::Floats(_, to) => store(npz.floats(name)?, to(&mut dump), |number| number),
                Field::Booleans(_, to) => store(npz.integers(name)?, to(&mut dump), |bit| bit != 0),
            };
            shapes.push((array, shape));
        }
        dump.dims = dims_of(&shapes)?;
        dump.dims.check()?;
        for (array, shape) in &shapes {
            let (name, expected) = (array.name, array.shape(dump.dims));
            if *shape != expected {
                let axes: Vec<&str> = array.axes(dump.dims).collect();
                return Err(DumpError::Content(format!(
                    "its array `{name}` has shape {shape:?}, but the other arrays imply {expected:?} {axes:?}"
                )));
            }
        }
        dump.check()?;
        Ok(dump)
    }
}

#[derive(Deserialize)]
struct Version {
    version: u64,
}

/// Moves the values of `array` into `field` and returns their shape.
fn store<T, U>(array: Array<T>, field: &mut Vec<U>, convert: impl Fn(T) -> U) -> Vec<usize> {
    *field = array.values.into_iter().map(convert).collect();
    array.shape
}

/// The extents that the arrays imply: `query` has all but the widths.
fn dims_of(shapes: &[(&ArraySpec, Vec<usize>)]) -> Result<Dims, DumpError> {
    let shape = |wanted: &str| {
        let found = shapes.iter().find(|(array, _)| array.name == wanted);
        found.map_or(&[][..], |(_, shape)| shape)
    };
    let d_ff = shape("feed_forward_hidden").last().copied();
    let logits = shape("logits").get(1).copied();
    match (shape("query"), shape("embeddings")) {
        (&[samples, layers, heads, positions, d_head], &[_, _, d_model]) => Ok(Dims {
            samples,
            layers,
            heads,
            positions,
            d_head,
            d_model,
            d_ff: d_ff.unwrap_or(0),
            logits: logits.unwrap_or(1),
        }),
        (query, embeddings) => Err(DumpError::Content(format!(
            "its arrays `query` and `embeddings` have shapes {query:?} and {embeddings:?}, not 5 and 3 axes"
        ))),
    }
}

impl Dims {
    /// Rejects axes of extent 0. Arrays without values may have any shape, so that products of
    /// extents could overflow. If no extent is 0, the arrays hold as many values as their shapes say.
    fn check(&self) -> Result<(), DumpError> {
        let extents = [
            ("samples", self.samples),
            ("layers", self.layers),
            ("heads", self.heads),
            ("positions", self.positions),
            ("numbers per head", self.d_head),
            ("numbers per position", self.d_model),
            ("logits", self.logits),
        ];
        match extents.iter().find(|(_, extent)| *extent == 0) {
            None => Ok(()),
            Some((what, _)) => Err(DumpError::Content(format!("it has no {what}"))),
        }
    }
}
