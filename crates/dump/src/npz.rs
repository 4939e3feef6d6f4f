//! Dumps as npz: writing and reading.

use std::io::{self, Read, Seek, Write};

use headlight_fused::Array;
use headlight_npz::{NpzReader, NpzWriter};
use serde::Deserialize;

use crate::arrays::{Member, Values};
use crate::{AttentionDump, Dims, Meta, VERSION};

const META: &str = "meta";

impl AttentionDump {
    /// Writes the dump as npz.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_npz(&self, mut writer: impl Write) -> io::Result<()> {
        let mut npz = NpzWriter::new();
        for member in Member::all() {
            let (name, shape) = (member.name(), &member.shape(self.dims));
            match member.values(self) {
                None => Ok(()),
                Some(Values::Integers(values)) => npz.array(name, shape, values),
                Some(Values::Floats(values)) => npz.array(name, shape, values),
                Some(Values::Booleans(values)) => npz.array(name, shape, values),
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
    pub fn read_npz(reader: impl Read + Seek) -> Result<Self, String> {
        let mut npz = NpzReader::new(reader)?;
        if npz.contains("tokens") && !npz.contains(META) && !npz.contains("attention_weights") {
            return Err("it is a dataset, not a dump of attention".to_owned());
        }
        let meta = npz.string(META)?;
        // Before the other keys, which may differ in other versions.
        let unreadable = |error| format!("its meta cannot be read: {error}");
        let Version { version } = serde_json::from_str(&meta).map_err(unreadable)?;
        if version != u64::from(VERSION) {
            return Err(format!(
                "its format version is {version}; this build reads version {VERSION}"
            ));
        }
        let mut dump = Self {
            meta: serde_json::from_str::<Meta>(&meta).map_err(unreadable)?,
            ..Self::default()
        };
        let mut shapes = Vec::new();
        for member in present(&npz) {
            let name = member.name();
            let shape = if let Some(to) = member.floats(&mut dump) {
                let array = npz.floats(name)?;
                *to = array.values;
                array.shape
            } else {
                let array = npz.integers(name)?;
                if member == Member::Mask {
                    let mask = array.values.iter().map(|&bit| bit != 0);
                    dump.attention_mask = Some(mask.collect());
                } else {
                    dump.tokens = array.values;
                }
                array.shape
            };
            shapes.push((member, shape));
        }
        dump.dims = dims_of(&shapes)?;
        check(dump.dims)?;
        for (member, shape) in &shapes {
            let (name, expected) = (member.name(), member.shape(dump.dims));
            if *shape != expected {
                let axes = member.axes(dump.dims);
                return Err(format!(
                    "its array `{name}` has shape {shape:?}, but the other arrays imply {expected:?} {axes:?}"
                ));
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

/// The arrays to read: those that every dump has, and the others that this one has. The arrays of feed-forward layers are
/// in a dump together or not at all.
fn present<R: Read + Seek>(npz: &NpzReader<R>) -> Vec<Member> {
    let without = Dims::default();
    let mut feed_forward = Array::ALL
        .into_iter()
        .filter(|&array| !array.exists(without));
    let dims = Dims {
        d_ff: usize::from(feed_forward.all(|array| npz.contains(array.name()))),
        ..without
    };
    let members = Member::all().filter(|&member| match member {
        Member::Computed(array) => array.exists(dims),
        Member::Mask => npz.contains(member.name()),
        _ => true,
    });
    members.collect()
}

/// The extents that the arrays imply: `query` has all but the widths.
fn dims_of(shapes: &[(Member, Vec<usize>)]) -> Result<Dims, String> {
    let shape = |wanted: Member| {
        let found = shapes.iter().find(|(member, _)| *member == wanted);
        found.map_or(&[][..], |(_, shape)| shape)
    };
    let computed = |array: Array| shape(Member::Computed(array));
    let d_ff = computed(Array::FeedForwardHidden).last().copied();
    // Only where a logit of each class is there, logits have an axis more than labels.
    let (of_logits, labels) = (shape(Member::Logits), shape(Member::Labels).len());
    let logits = of_logits.get(labels).copied();
    match (computed(Array::Query), computed(Array::Embeddings)) {
        (&[samples, layers, heads, positions, d_head], &[_, _, d_model]) => Ok(Dims {
            samples,
            layers,
            heads,
            positions,
            d_head,
            d_model,
            d_ff: d_ff.unwrap_or(0),
            logits: logits.unwrap_or(1),
            per_position: labels > 1,
        }),
        (query, embeddings) => Err(format!(
            "its arrays `query` and `embeddings` have shapes {query:?} and {embeddings:?}, not 5 and 3 axes"
        )),
    }
}

/// Rejects axes of extent 0. Arrays without values may have any shape, so that products of
/// extents could overflow. If no extent is 0, the arrays hold as many values as their shapes say.
fn check(dims: Dims) -> Result<(), String> {
    let extents = [
        ("samples", dims.samples),
        ("layers", dims.layers),
        ("heads", dims.heads),
        ("positions", dims.positions),
        ("numbers per head", dims.d_head),
        ("numbers per position", dims.d_model),
        ("logits", dims.logits),
    ];
    match extents.iter().find(|(_, extent)| *extent == 0) {
        None => Ok(()),
        Some((what, _)) => Err(format!("it has no {what}")),
    }
}
