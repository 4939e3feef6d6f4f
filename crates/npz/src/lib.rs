//! NumPy's `npz` archives: named arrays, and small text files beside them, in one zip.
//!
//! Reading is defensive: an archive is foreign input, so every size is checked against what the
//! file really holds before memory is taken for it.

use std::io::{self, Cursor, Read, Seek, Write};

use npyz::{AutoSerialize, Deserialize, NpyFile, Order, WriterBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The largest member that is read, in bytes after decompression.
pub const MEMBER_LIMIT: u64 = 1 << 30;

/// What can be wrong with an archive.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// Not a zip file, or one that was cut short.
    #[error("it is not an npz archive, or it was cut short ({0})")]
    NotAnArchive(String),
    /// A member that was asked for is not there.
    #[error("it has no member `{0}`")]
    Missing(String),
    /// A member is there but cannot be decoded.
    #[error("its member `{member}` cannot be read: {reason}")]
    Unreadable {
        /// The member's file name.
        member: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// An array as it stood in an archive: row-major values and their shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T> {
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// Row-major values; as many as the product of `shape`.
    pub values: Vec<T>,
}

/// Builds an archive in memory, member by member.
///
/// Members carry no time stamp, so that the same arrays give the same bytes. In memory, because
/// `zip` goes on writing to a file that has failed, and complains on standard error.
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
    /// When `shape` does not hold as many elements as `values`.
    pub fn array<T: AutoSerialize + Copy>(
        &mut self,
        name: &str,
        shape: &[usize],
        values: &[T],
    ) -> io::Result<()> {
        assert_eq!(
            shape.iter().product::<usize>(),
            values.len(),
            "shape of `{name}`"
        );
        let shape: Vec<u64> = shape.iter().map(|&extent| extent as u64).collect();
        self.start(&npyz::npz::file_name_from_array_name(name))?;
        // Encoded in memory first: `zip` compresses many small writes slowly.
        let mut bytes = Vec::new();
        let mut npy = npyz::WriteOptions::new()
            .default_dtype()
            .shape(&shape)
            .writer(&mut bytes)
            .begin_nd()?;
        npy.extend(values.iter().copied())?;
        npy.finish()?;
        self.0.write_all(&bytes)
    }

    /// Adds a text file.
    ///
    /// # Errors
    /// When the archive is too large for its format.
    pub fn text(&mut self, file_name: &str, text: &str) -> io::Result<()> {
        self.start(file_name)?;
        self.0.write_all(text.as_bytes())
    }

    /// The archive's bytes.
    ///
    /// # Errors
    /// When the archive is too large for its format.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        Ok(self.0.finish()?.into_inner())
    }

    fn start(&mut self, file_name: &str) -> io::Result<()> {
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::DEFAULT);
        Ok(self.0.start_file(file_name, options)?)
    }
}

/// Reads members of an archive by name.
pub struct NpzReader<R>(ZipArchive<R>);

impl<R: Read + Seek> NpzReader<R> {
    /// Opens an archive.
    ///
    /// # Errors
    /// When it is no zip file.
    pub fn new(reader: R) -> Result<Self, NpzError> {
        ZipArchive::new(reader)
            .map(Self)
            .map_err(|error| NpzError::NotAnArchive(error.to_string()))
    }

    /// Whether the array `name` is there.
    pub fn contains(&self, name: &str) -> bool {
        self.0
            .index_for_name(&npyz::npz::file_name_from_array_name(name))
            .is_some()
    }

    /// The array `name`, whose elements are integers of up to 32 bits, int64, or booleans.
    ///
    /// # Errors
    /// When it is missing, damaged, of another type, or column-major.
    pub fn integers(&mut self, name: &str) -> Result<Array<i64>, NpzError> {
        self.decode(name, "whole numbers", |npy| {
            match npy.dtype().descr().as_str() {
                "'<i8'" | "'>i8'" => Some(values::<i64, _>(npy)),
                "'<i4'" | "'>i4'" => Some(values::<i32, _>(npy)),
                "'<i2'" | "'>i2'" => Some(values::<i16, _>(npy)),
                "'<u2'" | "'>u2'" => Some(values::<u16, _>(npy)),
                "'<u4'" | "'>u4'" => Some(values::<u32, _>(npy)),
                "'|i1'" => Some(values::<i8, _>(npy)),
                "'|u1'" => Some(values::<u8, _>(npy)),
                "'|b1'" => Some(values::<bool, _>(npy)),
                _ => None,
            }
        })
    }

    /// The array `name`, whose elements are 32- or 64-bit floating-point numbers.
    ///
    /// # Errors
    /// When it is missing, damaged, of another type, or column-major.
    pub fn floats(&mut self, name: &str) -> Result<Array<f32>, NpzError> {
        self.decode(name, "numbers (float32 or float64)", |npy| {
            match npy.dtype().descr().as_str() {
                "'<f4'" | "'>f4'" => Some(values::<f32, _>(npy)),
                "'<f8'" | "'>f8'" => Some(
                    values::<f64, _>(npy)
                        .map(|wide: Vec<f64>| wide.into_iter().map(|x| x as f32).collect()),
                ),
                _ => None,
            }
        })
    }

    /// The text file `file_name`.
    ///
    /// # Errors
    /// When it is missing, damaged, or not UTF-8.
    pub fn text(&mut self, file_name: &str) -> Result<String, NpzError> {
        let bytes = self.member(file_name)?;
        String::from_utf8(bytes).map_err(|_| unreadable(file_name, "it is not UTF-8 text"))
    }

    fn decode<T>(
        &mut self,
        name: &str,
        wanted: &str,
        read: impl FnOnce(NpyFile<Cursor<&[u8]>>) -> Option<io::Result<Vec<T>>>,
    ) -> Result<Array<T>, NpzError> {
        let file_name = npyz::npz::file_name_from_array_name(name);
        let bytes = self.member(&file_name)?;
        let npy = NpyFile::new(Cursor::new(bytes.as_slice()))
            .map_err(|error| unreadable(&file_name, &error.to_string()))?;
        if npy.order() != Order::C {
            return Err(unreadable(&file_name, "it is stored column by column"));
        }
        let dtype = npy.dtype().descr();
        let shape: Vec<usize> = npy.shape().iter().map(|&extent| extent as usize).collect();
        // The header's shape is only believed where the file holds that much data.
        let count = npy
            .shape()
            .iter()
            .try_fold(1_u64, |product, &extent| product.checked_mul(extent));
        if count.is_none_or(|count| count > bytes.len() as u64) {
            return Err(unreadable(&file_name, "it is shorter than its header says"));
        }
        match read(npy) {
            None => Err(unreadable(
                &file_name,
                &format!("it holds {dtype}, not {wanted}"),
            )),
            Some(Err(error)) => Err(unreadable(&file_name, &error.to_string())),
            Some(Ok(values)) => Ok(Array { shape, values }),
        }
    }

    fn member(&mut self, file_name: &str) -> Result<Vec<u8>, NpzError> {
        let member = match self.0.by_name(file_name) {
            Ok(member) => member,
            Err(zip::result::ZipError::FileNotFound) => {
                return Err(NpzError::Missing(file_name.to_owned()));
            }
            Err(error) => return Err(unreadable(file_name, &error.to_string())),
        };
        let mut bytes = Vec::new();
        member
            .take(MEMBER_LIMIT + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(file_name, &error.to_string()))?;
        if bytes.len() as u64 > MEMBER_LIMIT {
            return Err(unreadable(file_name, "it is larger than 1 GiB"));
        }
        Ok(bytes)
    }
}

fn values<Stored: Deserialize + Into<T>, T>(npy: NpyFile<Cursor<&[u8]>>) -> io::Result<Vec<T>> {
    Ok(npy
        .into_vec::<Stored>()?
        .into_iter()
        .map(Into::into)
        .collect())
}

fn unreadable(member: &str, reason: &str) -> NpzError {
    NpzError::Unreadable {
        member: member.to_owned(),
        reason: reason.to_owned(),
    }
}
