//! The user's browser.

use std::path::Path;

use crate::printing::note;
use headlight_trainer::standard::shown;

/// Opens a page without waiting for the browser. The page exists even if no browser opens it, so a failure
/// is only noted.
pub(crate) fn open(page: &Path) {
    // The error holds the status of the opening program, and not more.
    if open::that_detached(page).is_err() {
        note(&format!(
            "no browser can be started here; open {} in one yourself",
            shown(page)
        ));
    }
}
