//! The person's own browser.

use std::path::Path;

use headlight_trainer::files::note;

/// Opens a page without waiting for the browser. The page exists even if it cannot be opened, so that is
/// only a note.
pub(crate) fn open(page: &Path) {
    if let Err(error) = open::that_detached(page) {
        note(&format!(
            "{} cannot be opened here ({error}); open it in a browser by hand",
            page.display()
        ));
    }
}
