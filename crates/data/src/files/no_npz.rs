//! In place of `npz.rs` in WebAssembly: the library of archives would import functions that a page's module does not have.

use std::io::{Error, Read, Seek, Write};

use super::contents::DatasetToWrite;
use super::rows::Rows;

const REFUSED: &str = "npz files are not read or written in WebAssembly; use CSV or JSONL";

pub(super) fn write(_contents: DatasetToWrite<'_>, _writer: impl Write) -> std::io::Result<()> {
    Err(Error::other(REFUSED))
}

pub(super) fn read(_reader: impl Read + Seek, _name: &str) -> Result<Rows, String> {
    Err(REFUSED.to_owned())
}
