//! Worked examples of attention, listed, printed and written to files.

use std::fmt::Write;
use std::path::Path;

use headlight_walkthrough::{BUILT_IN, MOST_BYTES, Mistake, Walkthrough, built_in};

use crate::printing::{print, print_beside};
use headlight_trainer::Failure;
use headlight_trainer::storage::files::read_bounded;
use headlight_trainer::storage::outputs::{Destination, Output};
use headlight_trainer::storage::standard::shown;

use crate::terminal;

/// Prints a walkthrough, or writes it to files: HTML, SVG, JSON.
///
/// # Errors
/// When the name is unknown, the walkthrough's file is invalid, or a file cannot be written.
pub(super) fn show(
    name: &str,
    destinations: [Option<&Destination>; 3],
    force: bool,
) -> Result<(), Failure> {
    let walkthrough = find(name)?;
    let outputs = Output::all(destinations, force)?;
    Output::check_formats(&outputs, ["html", "svg", "json"])?;
    if outputs.iter().all(Option::is_none) {
        return print(&walkthrough.document().text(terminal::options()));
    }
    let [html, svg, numbers] = outputs;
    if let Some(out) = html {
        out.write_all(page(&walkthrough)?.as_bytes())?;
    }
    if let Some(out) = svg {
        out.write_all(walkthrough.document().svg().as_bytes())?;
    }
    if let Some(out) = numbers {
        out.write_all(json(&walkthrough)?.as_bytes())?;
    }
    let described = describe(&walkthrough);
    let told = outputs
        .iter()
        .flatten()
        .map(|out| format!("{}: {described}\n", out.shown()));
    print_beside(&outputs, &told.collect::<String>())
}

/// Finds a built-in walkthrough by name, or reads one from a file.
fn find(name: &str) -> Result<Walkthrough, Failure> {
    let path = Path::new(name);
    match built_in(name) {
        Ok(built_in) => built_in.read().map_err(|mistake| invalid(path, &mistake)),
        // A name that looks like a path is read as a file, so that the message is about the file.
        Err(_) if path.exists() || path.components().count() > 1 || path.extension().is_some() => {
            Walkthrough::read(&read_bounded(path, MOST_BYTES)?)
                .map_err(|mistake| invalid(path, &mistake))
        }
        Err(nearest) => Err(Failure::Input(match nearest {
            Some(nearest) => {
                format!("unknown walkthrough `{name}`, and no such file; did you mean `{nearest}`?")
            }
            None => format!(
                "unknown walkthrough `{name}`, and no such file; `headlight walkthrough` lists the built-in ones"
            ),
        })),
    }
}

fn invalid(path: &Path, mistake: &Mistake) -> Failure {
    let space = if mistake.place.is_some() { "" } else { " " };
    Failure::Input(format!("{}:{space}{mistake}", shown(path)))
}

fn page(walkthrough: &Walkthrough) -> Result<String, Failure> {
    walkthrough
        .html()
        .map_err(|error| Failure::System(format!("the page cannot be made: {error}")))
}

fn json(walkthrough: &Walkthrough) -> Result<String, Failure> {
    walkthrough
        .json()
        .map(|text| text + "\n")
        .map_err(|error| Failure::System(format!("the JSON cannot be made: {error}")))
}

/// The number of a walkthrough's cases and errata.
fn describe(walkthrough: &Walkthrough) -> String {
    let cases = walkthrough.cases.len();
    let plural = if cases == 1 { "" } else { "s" };
    format!("{cases} case{plural}, {}", errata(walkthrough))
}

fn errata(walkthrough: &Walkthrough) -> String {
    match walkthrough.errata() {
        0 => "no errata".to_owned(),
        1 => "1 erratum".to_owned(),
        more => format!("{more} errata"),
    }
}

/// The built-in walkthroughs, grouped by the documents that they come from.
pub(super) fn list() -> Result<(), Failure> {
    let mut text = String::new();
    let mut document = None;
    let widest = BUILT_IN.iter().map(|built_in| built_in.name.len()).max();
    let width = widest.unwrap_or(0);
    for built_in in BUILT_IN {
        let walkthrough = find(built_in.name)?;
        if document != walkthrough.source {
            let gap = if text.is_empty() { "" } else { "\n" };
            let source = walkthrough.source.as_deref().unwrap_or("No document");
            let _ = writeln!(text, "{gap}{source}");
            document.clone_from(&walkthrough.source);
        }
        let _ = writeln!(
            text,
            "  {:width$}  {:9}  {}",
            built_in.name,
            errata(&walkthrough),
            walkthrough.title
        );
    }
    print(&text)
}
