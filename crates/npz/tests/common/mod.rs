//! Archives with any content, valid or not.
#![allow(dead_code)]

use std::io::Cursor;

use headlight_npz::{NpzReader, NpzWriter};

/// An npy file of version 1 with this header and this data.
pub(crate) fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), data].concat()
}

/// The header of a row-major array. `descr` has its quotes, `shape` its brackets.
pub(crate) fn header(descr: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")
}

/// An archive of files with these names and contents.
pub(crate) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut npz = NpzWriter::new();
    for (name, bytes) in members {
        npz.bytes(name, bytes).unwrap();
    }
    npz.finish().unwrap()
}

pub(crate) fn reader(bytes: Vec<u8>) -> NpzReader<Cursor<Vec<u8>>> {
    NpzReader::new(Cursor::new(bytes)).unwrap()
}

/// A reader of an archive whose only array, `a`, has this header and this data.
pub(crate) fn array(header: &str, data: &[u8]) -> NpzReader<Cursor<Vec<u8>>> {
    reader(archive(&[("a.npy", &npy(header, data))]))
}
