//! A message: JSON, and float32 numbers behind it.
//!
//! The length of the JSON in bytes as a little-endian u32; the JSON, which ends with spaces so that its length is a
//! multiple of four; the numbers, little-endian.

use std::error::Error;

use serde_json::Value;

/// What an operation answers, or why it cannot.
pub(crate) type Answer<T = Message> = Result<T, Box<dyn Error>>;

/// A request, or its answer.
#[derive(Debug, Default)]
pub(crate) struct Message {
    pub(crate) head: String,
    pub(crate) floats: Vec<f32>,
}

impl Message {
    pub(crate) fn of(answer: &Value, floats: Vec<f32>) -> Self {
        let head = answer.to_string();
        Self { head, floats }
    }

    pub(crate) fn read(bytes: &[u8]) -> Answer {
        let parts = bytes.split_first_chunk().and_then(|(length, rest)| {
            let (head, floats) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            Some((str::from_utf8(head).ok()?, floats))
        });
        let (head, floats) = parts.ok_or("the request is not a message")?;
        let (bytes, _) = floats.as_chunks();
        let mut floats = vec![0.0; bytes.len()];
        decode(bytes, &mut floats);
        let head = head.to_owned();
        Ok(Self { head, floats })
    }

    pub(crate) fn write(self) -> Vec<u8> {
        let mut head = self.head;
        while !head.len().is_multiple_of(4) {
            head.push(' ');
        }
        let numbers = 4 + head.len();
        let mut bytes = vec![0; numbers + 4 * self.floats.len()];
        bytes[..4].copy_from_slice(&(head.len() as u32).to_le_bytes());
        bytes[4..numbers].copy_from_slice(head.as_bytes());
        let (chunks, _) = bytes[numbers..].as_chunks_mut();
        encode(&self.floats, chunks);
        bytes
    }
}

// As functions of slices, of which the compiler knows that they do not overlap, these are copies of memory. A message has
// millions of numbers.

fn decode(bytes: &[[u8; 4]], floats: &mut [f32]) {
    for (float, bytes) in floats.iter_mut().zip(bytes) {
        *float = f32::from_le_bytes(*bytes);
    }
}

fn encode(floats: &[f32], bytes: &mut [[u8; 4]]) {
    for (bytes, float) in bytes.iter_mut().zip(floats) {
        *bytes = float.to_le_bytes();
    }
}
