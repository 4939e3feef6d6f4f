//! The page that `headlight inspect` writes, and the page that a run has.

use std::path::{Path, PathBuf};

use headlight_trainer::files::run_files::PAGE;
use headlight_trainer::show::page::{self, PageSource};
use headlight_trainer::{Failure, RunDir, shown};

use crate::browser;
use crate::printing::print;

/// The page of runs and single dumps, and how much it holds.
pub(super) fn html_and_extent<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
) -> Result<(String, String), Failure> {
    let sources = paths.map(|path| PageSource::open(path));
    let page = page::page(&sources.collect::<Result<Vec<_>, _>>()?)?;
    Ok((page::html(&page)?, page.extent()))
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
