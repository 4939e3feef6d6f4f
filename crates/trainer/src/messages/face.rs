//! The face of Headlight that shows messages to its user: the command line, or the Python module. Each names its own options.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_PYTHON: AtomicBool = AtomicBool::new(false);

/// Names Python's arguments in messages from now on, in place of the command line's flags.
pub fn use_python_names() {
    IS_PYTHON.store(true, Ordering::Relaxed);
}

/// An option as the user writes it: a flag of the command line, or an argument of Python's functions.
pub fn option(flag: &'static str, argument: &'static str) -> &'static str {
    if IS_PYTHON.load(Ordering::Relaxed) {
        argument
    } else {
        flag
    }
}
