//! The user's browser, and the pages that are written for it.

use std::path::Path;

use headlight_trainer::{Destination, Failure, Output, shown};

use crate::printing::{note, tell};

/// Writes a page, and opens it if the user asks for that; `page` makes its text, and says how much it holds.
pub(crate) fn write(
    html: &Destination,
    force: bool,
    is_opened: bool,
    page: impl FnOnce() -> Result<(String, String), Failure>,
) -> Result<(), Failure> {
    let out = Output::of_format("html", html, force)?;
    if is_opened && out.is_standard() {
        let message = "--open opens a file, and `-` is standard output; give --html a file";
        return Err(Failure::Input(message.to_owned()));
    }
    let (text, extent) = page()?;
    out.write_all(text.as_bytes())?;
    let size = text.len() as f64 / 1000.0;
    tell(out, &format!("{extent}, {size:.0} KB"))?;
    if is_opened {
        open(out.path());
    }
    Ok(())
}

/// Opens a page without waiting for the browser. The page exists even if no browser opens it, so a failure
/// is only noted.
pub(crate) fn open(page: &Path) {
    // The error holds the status of the opening program, and not more.
    if open::that_detached(page).is_err() {
        note(&format!(
            "no browser could be started; open {} yourself",
            shown(page)
        ));
    }
}
