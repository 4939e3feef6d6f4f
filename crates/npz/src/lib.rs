//! NumPy's `npz` archives: named arrays and small text files in one zip.

mod header;
mod reader;

use std::io::{self, Cursor, Write};

use npyz::{AutoSerialize, DType, Serialize, WriterBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub use reader::{INFLATED_FREE, INFLATED_RATIO, NpzReader, TEXT_MEMBER_LIMIT};

/// An array of an archive: row-major values and their shape.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyArray<T> {
    /// The extent of each axis.
    pub shape: Vec<usize>,
    /// Row-major values. Their number is the product of `shape`.
    pub values: Vec<T>,
}

/// The bytes of an `.npy` file: `values`, row-major.
///
/// # Errors
/// When the shape is too large for the format.
///
/// # Panics
/// When the product of `shape` is not the number of `values`.
pub fn npy<T: AutoSerialize + Copy>(shape: &[usize], values: &[T]) -> io::Result<Vec<u8>> {
    let count: usize = shape.iter().product();
    assert_eq!(count, values.len(), "shape {shape:?}");
    encode(T::default_dtype(), shape, values)
}

fn npy_of_texts(shape: &[usize], texts: &[impl AsRef<str>]) -> io::Result<Vec<u8>> {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let width = texts.iter().map(|text| text.chars().count()).max();
    let dtype = format!("<U{}", width.unwrap_or(0));
    let dtype = dtype.parse().map_err(io::Error::other)?;
    encode(DType::new_scalar(dtype), shape, &texts)
}

fn encode<T: Serialize + Copy>(dtype: DType, shape: &[usize], values: &[T]) -> io::Result<Vec<u8>> {
    let shape: Vec<u64> = shape.iter().map(|&extent| extent as u64).collect();
    let mut bytes = Vec::new();
    let mut npy = npyz::WriteOptions::new()
        .dtype(dtype)
        .shape(&shape)
        .writer(&mut bytes)
        .begin_nd()?;
    npy.extend(values.iter().copied())?;
    npy.finish()?;
    Ok(bytes)
}

/// Builds an archive in memory, member by member.
///
/// Members have no time stamp, so that the same arrays give the same bytes. The archive is built in
/// memory, because `zip` continues to write to a file after an error, and prints to standard error.
pub struct NpzWriter(ZipWriter<Cursor<Vec<u8>>>);

impl Default for NpzWriter {
    fn default() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new())))
    }
}

impl NpzWriter {
    /// Starts an archive.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `values`, row-major, as the array `name`.
    ///
    /// # Errors
    /// When the archive is too large for its format.
    ///
    /// # Panics
    /// When the product of `shape` is not the number of `values`.
    pub fn array<T: AutoSerialize + Copy>(
        &mut self,
        name: &str,
        shape: &[usize],
        values: &[T],
    ) -> io::Result<()> {
        // Encoded in memory first: `zip` compresses many small writes slowly.
        let bytes = npy(shape, values)?;
        self.bytes(&npyz::npz::file_name_from_array_name(name), &bytes)
    }

    /// Adds a text as the array `name`, a string without dimensions.
    ///
    /// # Errors
    /// When the archive is too large for its format.
    pub fn string(&mut self, name: &str, text: &str) -> io::Result<()> {
        let file_name = npyz::npz::file_name_from_array_name(name);
        self.bytes(&file_name, &npy_of_texts(&[], &[text])?)
    }

    /// Adds texts as the array `name`, a list of strings.
    ///
    /// # Errors
    /// When the archive is too large for its format.
    pub fn strings(&mut self, name: &str, texts: &[impl AsRef<str>]) -> io::Result<()> {
        let file_name = npyz::npz::file_name_from_array_name(name);
        self.bytes(&file_name, &npy_of_texts(&[texts.len()], texts)?)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// When the archive is too large for its format.
    pub fn bytes(&mut self, file_name: &str, bytes: &[u8]) -> io::Result<()> {
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::DEFAULT);
        self.0.start_file(file_name, options)?;
        self.0.write_all(bytes)
    }

    /// The archive's bytes.
    ///
    /// # Errors
    /// When the archive is too large for its format.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        Ok(self.0.finish()?.into_inner())
    }
}
