//! `headlight walkthrough`: worked examples of attention, compared with the numbers that documents print.

use std::fmt::Write;
use std::path::Path;

use clap::Args;
use headlight_report::counted;
use headlight_trainer::Failure;
use headlight_trainer::files::access::read_bounded;
use headlight_trainer::files::outputs::{Destination, Output};
use headlight_trainer::standard::shown;
use headlight_walkthrough::{BUILT_IN, MOST_BYTES, Walkthrough, built_in};

use crate::arguments::Force;
use crate::printing::{print, print_beside};
use crate::terminal;

/// Compute worked examples of attention, and compare them with the numbers that documents print
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight walkthrough she-did-not\nWithout a name, it lists the built-in walkthroughs. To write your own, start from one: headlight init she-did-not"
)]
pub(crate) struct Arguments {
    /// The name of a built-in walkthrough, or your own TOML file
    #[arg(value_name = "NAME|FILE")]
    walkthrough: Option<String>,
    /// Write the walkthrough as an HTML page instead of printing it
    #[arg(long, value_name = "FILE", requires = "walkthrough")]
    html: Option<Destination>,
    /// Write its numbers as JSON instead of printing them
    #[arg(long, value_name = "FILE", requires = "walkthrough")]
    json: Option<Destination>,
    #[command(flatten)]
    output: Force,
}

/// Lists the walkthroughs, prints one, or writes it to files.
///
/// # Errors
/// When the name is unknown, the walkthrough's file is invalid, or a file cannot be written.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(name) = &arguments.walkthrough else {
        return list();
    };
    let walkthrough = find(name)?;
    let outputs = [
        ("html", arguments.html.as_ref()),
        ("json", arguments.json.as_ref()),
    ];
    let outputs = Output::all(outputs, arguments.output.force)?;
    if outputs.iter().all(Option::is_none) {
        return print(&walkthrough.document().text(terminal::options()));
    }
    let [html, numbers] = outputs;
    if let Some(out) = html {
        out.write_all(text(walkthrough.html())?.as_bytes())?;
    }
    if let Some(out) = numbers {
        out.write_all((text(walkthrough.json())? + "\n").as_bytes())?;
    }
    let cases = counted(walkthrough.cases.len(), "case");
    let described = format!("{cases}, {}", errata(&walkthrough));
    let told = outputs
        .iter()
        .flatten()
        .map(|out| format!("{}: {described}\n", out.shown()));
    print_beside(&outputs, &told.collect::<String>())
}

/// Finds a built-in walkthrough by name, or reads one from a file.
fn find(name: &str) -> Result<Walkthrough, Failure> {
    let path = Path::new(name);
    let read = |bytes: &[u8]| Walkthrough::read(&shown(path), bytes).map_err(Failure::Input);
    match built_in(name) {
        Ok(built_in) => read(built_in.text.as_bytes()),
        // A name that looks like a path is read as a file, so that the message is about the file.
        Err(_) if path.exists() || path.components().count() > 1 || path.extension().is_some() => {
            read(&read_bounded(path, MOST_BYTES)?)
        }
        Err(nearest) => {
            let remedy = match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "`headlight walkthrough` lists the built-in ones".to_owned(),
            };
            Err(Failure::Input(format!(
                "unknown walkthrough `{name}`, and no such file; {remedy}"
            )))
        }
    }
}

fn text(made: Result<String, serde_json::Error>) -> Result<String, Failure> {
    made.map_err(|error| Failure::System(format!("the walkthrough cannot be written: {error}")))
}

fn errata(walkthrough: &Walkthrough) -> String {
    match walkthrough.errata {
        0 => "no errata".to_owned(),
        1 => "1 erratum".to_owned(),
        more => format!("{more} errata"),
    }
}

/// The built-in walkthroughs, grouped by the documents that they come from.
fn list() -> Result<(), Failure> {
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
