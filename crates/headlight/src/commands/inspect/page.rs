//! The page that `headlight inspect` writes, and the page that a run has.

use std::path::{Path, PathBuf};

use crate::printing::{print, tell};
use headlight_trainer::Failure;
use headlight_trainer::files::outputs::{Destination, Output};
use headlight_trainer::files::run_files::PAGE;
use headlight_trainer::run::RunDir;
use headlight_trainer::show::page::{self, PageSource};
use headlight_trainer::standard::shown;

use crate::browser;

/// Writes the page of runs and single dumps to `html`.
pub(super) fn write<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    html: &Destination,
    force: bool,
) -> Result<(), Failure> {
    let sources: Vec<PageSource> = paths
        .map(|path| PageSource::open(path))
        .collect::<Result<_, _>>()?;
    let out = Output::of_format("html", html, force)?;
    let page = page::page(&sources)?;
    let text = page::html(&page)?;
    out.write_all(text.as_bytes())?;
    let size = text.len() as f64 / 1000.0;
    tell(out, &format!("{}, {size:.0} KB", page.extent()))
}

/// Opens the page that a run has.
pub(super) fn open(source: &Path) -> Result<(), Failure> {
    if !source.is_dir() {
        let message = format!("{} has no page; write one with --html FILE", shown(source));
        return Err(Failure::Input(message));
    }
    let page = RunDir::open(source)?.file(PAGE);
    if !page.exists() {
        return Err(Failure::Input(format!(
            "there is no {}; write a page with --html FILE",
            shown(&page)
        )));
    }
    browser::open(&page);
    print(&format!("{}\n", shown(&page)))
}
