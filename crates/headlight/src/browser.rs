//! The user's browser.

use std::path::Path;

use crate::printing::note;
use headlight_trainer::storage::standard::shown;

/// Opens a page without waiting for the browser. The page exists even if no browser opens it, so a failure
/// is only noted.
pub(crate) fn open(page: &Path) {
    if let Err(error) = open::that_detached(page) {
        note(&format!(
            "{} cannot be opened here ({error}); open it in a browser yourself",
            shown(page)
        ));
    }
}
