//! Failures as exceptions, and notes as warnings.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use headlight_trainer::Failure;
use headlight_trainer::messages::{face, notes, paths};
use pyo3::create_exception;
use pyo3::exceptions::{
    PyArithmeticError, PyKeyboardInterrupt, PyOSError, PyUserWarning, PyValueError,
};
use pyo3::prelude::*;

create_exception!(
    headlight,
    Diverged,
    PyArithmeticError,
    "The loss became NaN or infinite."
);

/// Notes that wait for the interpreter's lock.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Collects notes from now on, instead of writing them to standard error, and names Python's arguments in messages.
pub(crate) fn listen() {
    face::use_python_names();
    notes::set_listener(|text| {
        let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(text.to_owned());
    });
}

/// Gives the notes so far as warnings.
///
/// # Errors
/// When a filter makes a warning an exception.
pub(crate) fn warn(py: Python<'_>) -> PyResult<()> {
    let notes = std::mem::take(&mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner));
    let category = py.get_type::<PyUserWarning>();
    for note in notes {
        let note = CString::new(note.replace('\0', " ")).unwrap_or_default();
        PyErr::warn(py, &category, &note, 1)?;
    }
    Ok(())
}

/// Leaves out the paths of a temporary folder's files in messages.
#[pyfunction]
pub(crate) fn hide_folder(folder: PathBuf) {
    paths::hide_folder(folder);
}

/// The exception of a failure, with the sentence that the command line prints; it names Python's arguments.
pub(crate) fn raised(failure: Failure) -> PyErr {
    let message = failure.to_string();
    match failure {
        Failure::Input(_) => PyValueError::new_err(message),
        Failure::Diverged(_) => Diverged::new_err(message),
        Failure::Interrupted { .. } => PyKeyboardInterrupt::new_err(message),
        Failure::System(_) => PyOSError::new_err(message),
    }
}
