//! The reader, with limits: an archive is untrusted input. The reader checks the sizes that it declares
//! before it allocates memory, and limits how much it inflates.
//!
//! The reader never extracts files. It finds members by their exact names and inflates them into
//! memory, so that member names such as `../x` or `/x` do no harm.

use std::cell::Cell;
use std::fmt::Display;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::rc::Rc;

use headlight_input::{FILE_LIMIT, Metered, size, too_large};
use npyz::{Deserialize, NpyFile, Order};
use zip::ZipArchive;
use zip::result::ZipError;

use crate::NpyArray;
use crate::header;

/// How much memory the members that are read may take in all, in bytes, for an archive of any size.
pub const INFLATED_FREE: u64 = 64 << 20;

/// How much memory they may take, as a multiple of the archive's size, where that is more; at most
/// [`FILE_LIMIT`]. Deflate shrinks random int64 tokens of two kinds by a factor of 24, and zeros by 1,030.
pub const INFLATED_RATIO: u64 = 32;

/// The largest text member, in bytes.
pub const TEXT_MEMBER_LIMIT: u64 = 4 << 20;

/// How much of an archive is read to find its members, in bytes.
const DIRECTORY_LIMIT: u64 = 4 << 20;

/// Reads members of an archive by name.
pub struct NpzReader<R> {
    archive: ZipArchive<Metered<R>>,
    /// How much memory further members may take, in bytes.
    left: u64,
}

impl<R: Read + Seek> NpzReader<R> {
    /// Opens an archive.
    ///
    /// # Errors
    /// When it is not a zip file, or is too large.
    pub fn new(mut reader: R) -> Result<Self, String> {
        let refused = |error: io::Error| error.to_string();
        let length = reader.seek(SeekFrom::End(0)).map_err(refused)?;
        if length > FILE_LIMIT {
            return Err(refused(too_large(FILE_LIMIT)));
        }
        refuse_zip64(&mut reader, length).map_err(refused)?;
        let (reader, budget): (_, Rc<Cell<u64>>) =
            Metered::new(reader, DIRECTORY_LIMIT, "its list of members");
        let no_archive = || "it is not an npz archive, or it was cut short".to_owned();
        let archive = ZipArchive::new(reader).map_err(|error| match error {
            ZipError::InvalidArchive(_) => no_archive(),
            ZipError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => no_archive(),
            error => error.to_string(),
        })?;
        // From here on, the limit on inflated bytes applies.
        budget.set(u64::MAX);
        let inflated = INFLATED_FREE.max(length.saturating_mul(INFLATED_RATIO));
        Ok(Self {
            archive,
            left: inflated.min(FILE_LIMIT),
        })
    }

    /// The names of all arrays.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let files = self.archive.file_names().flatten();
        files.map(|name| name.trim_end_matches(".npy").to_owned())
    }

    /// Whether the archive has the array `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.archive
            .index_for_name(&npyz::npz::file_name_from_array_name(name))
            .is_some()
    }

    /// The array `name` of integers of up to 32 bits, int64 or booleans.
    ///
    /// # Errors
    /// When it is missing, damaged, too large, of another type, or column-major.
    pub fn integers(&mut self, name: &str) -> Result<NpyArray<i64>, String> {
        self.decode(name, INTEGERS, integers)
    }

    /// The array `name` of any numbers that [`integers`](Self::integers) or [`floats`](Self::floats) reads.
    ///
    /// # Errors
    /// As these.
    pub fn numbers(&mut self, name: &str) -> Result<NpyArray<f64>, String> {
        let wanted = format!("{FLOATS}, {INTEGERS}");
        self.decode(name, &wanted, |npy, count| {
            match npy.dtype().descr().as_str() {
                "'<f4'" | "'>f4'" => Some(values(npy, count, |x: f32| x.into())),
                "'<f8'" | "'>f8'" => Some(values(npy, count, |x: f64| x)),
                _ => {
                    let read = integers(npy, count)?;
                    Some(read.map(|read| read.into_iter().map(|x| x as f64).collect()))
                }
            }
        })
    }

    /// The array `name` of 32- or 64-bit floating-point numbers.
    ///
    /// # Errors
    /// When it is missing, damaged, too large, of another type, or column-major.
    pub fn floats(&mut self, name: &str) -> Result<NpyArray<f32>, String> {
        self.decode(name, FLOATS, |npy, count| {
            match npy.dtype().descr().as_str() {
                "'<f4'" | "'>f4'" => Some(values(npy, count, |x: f32| x)),
                "'<f8'" | "'>f8'" => Some(values(npy, count, |x: f64| x as f32)),
                _ => None,
            }
        })
    }

    /// The text of the array `name`, a string without dimensions.
    ///
    /// # Errors
    /// When it is missing, damaged, of another type, or has more characters than [`TEXT_MEMBER_LIMIT`].
    pub fn string(&mut self, name: &str) -> Result<String, String> {
        let read = self.texts(name, 4 * TEXT_MEMBER_LIMIT)?;
        match <[String; 1]>::try_from(read.values) {
            Ok([text]) if read.shape.is_empty() => Ok(text),
            _ => Err(unreadable(
                &npyz::npz::file_name_from_array_name(name),
                "it is not a string without dimensions",
            )),
        }
    }

    /// The texts of the array `name`, a list of strings.
    ///
    /// # Errors
    /// When it is missing, damaged, of another type, or larger than a quarter of [`TEXT_MEMBER_LIMIT`].
    pub fn strings(&mut self, name: &str) -> Result<Vec<String>, String> {
        // Each text takes more memory than its characters.
        let read = self.texts(name, TEXT_MEMBER_LIMIT / 4)?;
        match read.shape[..] {
            [_] => Ok(read.values),
            _ => Err(unreadable(
                &npyz::npz::file_name_from_array_name(name),
                "it is not a list of strings",
            )),
        }
    }

    fn texts(&mut self, name: &str, limit: u64) -> Result<NpyArray<String>, String> {
        self.decode_up_to(limit, name, "str", |npy, count| {
            let is_text = npy.dtype().descr().starts_with("'<U");
            is_text.then(|| values(npy, count, |text: String| text))
        })
    }

    fn decode<T>(
        &mut self,
        name: &str,
        wanted: &str,
        read: impl FnOnce(NpyFile<Cursor<&[u8]>>, usize) -> Option<io::Result<Vec<T>>>,
    ) -> Result<NpyArray<T>, String> {
        self.decode_up_to(self.left, name, wanted, read)
    }

    /// The array `name`, whose member has at most `limit` bytes.
    fn decode_up_to<T>(
        &mut self,
        limit: u64,
        name: &str,
        wanted: &str,
        read: impl FnOnce(NpyFile<Cursor<&[u8]>>, usize) -> Option<io::Result<Vec<T>>>,
    ) -> Result<NpyArray<T>, String> {
        let file_name = npyz::npz::file_name_from_array_name(name);
        let bytes = self.member(&file_name, limit)?;
        let refuse = |reason: String| unreadable(&file_name, reason);
        let start = header::check(&bytes).map_err(refuse)?;
        let npy = NpyFile::new(Cursor::new(bytes.as_slice()));
        let npy = npy.map_err(|error| refuse(error.to_string()))?;
        if npy.order() != Order::C {
            let reason = "it is in column-major (Fortran) order; save it in row-major (C) order";
            return Err(refuse(reason.to_owned()));
        }
        let dtype = npy.dtype();
        let descr = dtype.descr();
        // The data must be as long as the shape of the header says.
        let width = dtype.num_bytes().unwrap_or(0).max(1) as u64;
        let held = (bytes.len() - start) as u64 / width;
        let count = npy
            .shape()
            .iter()
            .try_fold(1_u64, |product, &extent| product.checked_mul(extent))
            .filter(|&count| count <= held)
            .ok_or_else(|| refuse("it is shorter than its header says".to_owned()))?;
        let taken = count * size_of::<T>() as u64;
        if taken > self.left {
            return Err(self.too_much(&file_name));
        }
        let shape: Vec<usize> = npy.shape().iter().map(|&extent| extent as usize).collect();
        match read(npy, count as usize) {
            None => {
                let found = numpy_name(&descr);
                Err(refuse(format!("its dtype is {found}, not one of {wanted}")))
            }
            Some(Err(error)) => Err(refuse(error.to_string())),
            Some(Ok(values)) => {
                self.left -= taken;
                Ok(NpyArray { shape, values })
            }
        }
    }

    /// The bytes of a member, which are at most `limit`.
    fn member(&mut self, file_name: &str, limit: u64) -> Result<Vec<u8>, String> {
        let too_much = if limit < self.left {
            let limit = size(limit);
            unreadable(
                file_name,
                format!("it is larger than {limit}, the largest size that is read"),
            )
        } else {
            self.too_much(file_name)
        };
        let member = match self.archive.by_name(file_name) {
            Ok(member) => member,
            Err(ZipError::FileNotFound) => return Err(format!("it has no member `{file_name}`")),
            Err(error) => return Err(unreadable(file_name, error)),
        };
        let declared = member.size();
        if declared > limit {
            return Err(too_much);
        }
        let mut bytes = Vec::new();
        member
            .take(declared + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(file_name, error))?;
        if bytes.len() as u64 != declared {
            let reason =
                format!("it does not inflate to the {declared} bytes that the archive declares");
            return Err(unreadable(file_name, reason));
        }
        Ok(bytes)
    }

    fn too_much(&self, member: &str) -> String {
        let left = size(self.left);
        let reason = format!(
            "it inflates to more than {left}, all that is left of the limit for an archive of this size; \
             if its size is right, save it uncompressed (numpy.savez)"
        );
        unreadable(member, reason)
    }
}

/// The dtypes that are read, as NumPy calls them.
const INTEGERS: &str = "bool, int8, int16, int32, int64, uint8, uint16, uint32";
const FLOATS: &str = "float32, float64";

fn integers(npy: NpyFile<Cursor<&[u8]>>, count: usize) -> Option<io::Result<Vec<i64>>> {
    match npy.dtype().descr().as_str() {
        "'<i8'" | "'>i8'" => Some(values(npy, count, |x: i64| x)),
        "'<i4'" | "'>i4'" => Some(values(npy, count, |x: i32| x.into())),
        "'<i2'" | "'>i2'" => Some(values(npy, count, |x: i16| x.into())),
        "'<u2'" | "'>u2'" => Some(values(npy, count, |x: u16| x.into())),
        "'<u4'" | "'>u4'" => Some(values(npy, count, |x: u32| x.into())),
        "'|i1'" => Some(values(npy, count, |x: i8| x.into())),
        "'|u1'" => Some(values(npy, count, |x: u8| x.into())),
        "'|b1'" => Some(values(npy, count, |x: bool| x.into())),
        _ => None,
    }
}

/// What NumPy calls a type that a header describes: `'<u8'`, of eight bytes, is `uint64`.
fn numpy_name(descr: &str) -> String {
    let text = descr
        .trim_matches('\'')
        .trim_start_matches(['<', '>', '|', '=']);
    let kind = text.chars().next().unwrap_or_default();
    let rest = text.get(kind.len_utf8()..).unwrap_or_default();
    let (name, bits) = match (kind, rest.parse::<u32>()) {
        ('b', Ok(1)) => return "bool".to_owned(),
        ('i', Ok(bytes)) => ("int", bytes.checked_mul(8)),
        ('u', Ok(bytes)) => ("uint", bytes.checked_mul(8)),
        ('f', Ok(bytes)) => ("float", bytes.checked_mul(8)),
        ('c', Ok(bytes)) => ("complex", bytes.checked_mul(8)),
        ('U', Ok(_)) => return "str".to_owned(),
        ('S', Ok(_)) => return "bytes".to_owned(),
        _ => (descr, None),
    };
    bits.map_or_else(|| name.to_owned(), |bits| format!("{name}{bits}"))
}

fn values<R: Read, Stored: Deserialize, T>(
    npy: NpyFile<R>,
    count: usize,
    convert: impl Fn(Stored) -> T,
) -> io::Result<Vec<T>> {
    let mut values = Vec::with_capacity(count);
    for value in npy.data::<Stored>().map_err(io::Error::other)? {
        values.push(convert(value?));
    }
    Ok(values)
}

/// Rejects zip64 archives, which have a second directory record for more than 65,535 members or 4 GiB:
/// the parser would allocate memory for as many members as that record declares.
fn refuse_zip64(reader: &mut (impl Read + Seek), length: u64) -> io::Result<()> {
    /// The signatures of two records at the end of such archives, this far apart.
    const LOCATOR: &[u8] = b"PK\x06\x07";
    const LOCATOR_LENGTH: usize = 20;
    const END: &[u8] = b"PK\x05\x06";
    /// The length of both records and of the longest comment.
    const TAIL: u64 = 20 + 22 + 0xffff;

    reader.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    reader.take(TAIL).read_to_end(&mut tail)?;
    let found = tail
        .windows(LOCATOR_LENGTH + END.len())
        .any(|window| window.starts_with(LOCATOR) && window.ends_with(END));
    if found {
        return Err(io::Error::other(
            "it is a zip64 archive (for over 65,535 members or 4 GiB), which is not supported",
        ));
    }
    reader.seek(SeekFrom::Start(0))?;
    Ok(())
}

fn unreadable(member: &str, reason: impl Display) -> String {
    format!("its member `{member}` cannot be read: {reason}")
}
