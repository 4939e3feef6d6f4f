//! What the library reports besides its results, such as a choice that it made. The program that uses it shows it.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use headlight_report::terminal::visible;

use crate::shortened;

/// Receives notes.
type Listener = fn(&str);

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Passes the notes of this process to the program. Without a listener, no one hears them.
pub fn set_listener(listener: Listener) {
    let _ = LISTENER.set(listener);
}

/// Tells the program a sentence, in which control characters are replaced and the middle is left out if it is long.
pub fn note(text: &str) {
    if let Some(listener) = LISTENER.get() {
        listener(&visible(&shortened(text)));
    }
}

/// The subjects of what was told.
static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Begins another call of a process that serves many, such as a notebook: what [`note_once`] told is told again.
pub fn begin_call() {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// As [`note`], unless this call has told something of the subject before: a file may be read for several purposes.
pub fn note_once(subject: &str, text: &str) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.insert(subject.to_owned()) {
        note(text);
    }
}
