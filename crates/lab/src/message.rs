//! A message: JSON, and float32 numbers behind it.
//!
//! The length of the JSON in bytes as a little-endian u32; the JSON, which ends with spaces so that its length is a
//! multiple of four; the numbers, little-endian.

use serde::Serialize;

/// A request, or its answer.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub(crate) head: String,
    pub(crate) floats: Vec<f32>,
}

impl Message {
    pub(crate) fn of(head: &impl Serialize, floats: Vec<f32>) -> Self {
        // Neither maps with other keys than strings nor failing `Serialize`: nothing can fail.
        let head = serde_json::to_string(head).unwrap_or_default();
        Self { head, floats }
    }

    /// # Errors
    /// When it is not a message.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let parts = bytes.split_first_chunk().and_then(|(length, rest)| {
            let (head, floats) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            Some((str::from_utf8(head).ok()?, floats))
        });
        let (head, floats) = parts.ok_or("the request is not a message")?;
        let (floats, _) = floats.as_chunks();
        Ok(Self {
            head: head.to_owned(),
            floats: floats.iter().copied().map(f32::from_le_bytes).collect(),
        })
    }

    pub(crate) fn write(self) -> Vec<u8> {
        let mut head = self.head;
        while !head.len().is_multiple_of(4) {
            head.push(' ');
        }
        let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
        bytes.extend(head.into_bytes());
        bytes.extend(self.floats.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }
}
