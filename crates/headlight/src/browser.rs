//! The person's own browser.

use std::path::Path;

use crate::files::note;

/// Opens a page, without waiting for the browser to be closed. A page that cannot be opened is
/// there all the same, so that is said and is no failure.
pub fn open(page: &Path) {
    if let Err(error) = open::that_detached(page) {
        note(&format!(
            "{} cannot be opened here ({error}); open it in a browser by hand",
            page.display()
        ));
    }
}
