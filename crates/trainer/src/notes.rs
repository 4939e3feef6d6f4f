//! What the library tells beside its results, such as a file that it repairs. The program that uses it shows it.

use std::sync::OnceLock;

use headlight_inspector::terminal::visible;

use crate::brief;

/// Receives notes.
type Listener = fn(&str);

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Passes the notes of this process to the program. Without a listener, no one hears them.
pub fn pass_on(listener: Listener) {
    let _ = LISTENER.set(listener);
}

/// Tells the program a sentence, in which control characters are replaced and the middle is left out if it is long.
pub fn note(text: &str) {
    if let Some(listener) = LISTENER.get() {
        listener(&visible(&brief(text)));
    }
}
