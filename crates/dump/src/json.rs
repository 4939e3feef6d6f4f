//! Dumps as JSON: the key `meta`, then one key per array, as nested lists.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::AttentionDump;
use crate::arrays::Member;
use crate::arrays::Values::{Booleans, Floats, Integers};

impl AttentionDump {
    /// Writes the dump as JSON; unknown labels are `null`.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_json(&self, mut writer: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut writer, &AsJson(self))?;
        writer.write_all(b"\n")?;
        writer.flush()
    }
}

struct AsJson<'a>(&'a AttentionDump);

impl Serialize for AsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let dump = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("meta", &dump.meta)?;
        for member in Member::all() {
            let (name, shape) = (member.name(), &member.shape(dump.dims));
            match member.values(dump) {
                None => Ok(()),
                Some(Integers(values)) => map.serialize_entry(name, &Nested { shape, values }),
                Some(Floats(values)) => map.serialize_entry(name, &Nested { shape, values }),
                Some(Booleans(values)) => map.serialize_entry(name, &Nested { shape, values }),
            }?;
        }
        map.end()
    }
}

/// Row-major values as lists of lists.
struct Nested<'a, T> {
    shape: &'a [usize],
    values: &'a [T],
}

impl<T: Serialize> Serialize for Nested<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some((&extent, inner)) = self.shape.split_first() else {
            return self.values[0].serialize(serializer);
        };
        let mut list = serializer.serialize_seq(Some(extent))?;
        let size = inner.iter().product::<usize>();
        for index in 0..extent {
            list.serialize_element(&Nested {
                shape: inner,
                values: &self.values[index * size..(index + 1) * size],
            })?;
        }
        list.end()
    }
}
