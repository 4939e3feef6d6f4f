//! `headlight walkthrough`: worked examples of attention, compared with the numbers that documents print.

use std::fmt::Write;
use std::path::Path;

use clap::Args;
use headlight_report::counted;
use headlight_trainer::files::access::read_bounded;
use headlight_trainer::{Destination, Failure, Output, shown};
use headlight_walkthrough::{BUILT_IN, MAX_BYTES, Walkthrough, built_in};
use serde_json::json;

use crate::arguments::{Force, Form};
use crate::printing::{print, print_json, tell};
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
    #[command(flatten)]
    output: Force,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(name) = &arguments.walkthrough else {
        return list(arguments.form);
    };
    let walkthrough = find(name)?;
    let outputs = Output::all([("html", arguments.html.as_ref())], arguments.output.force)?;
    arguments.form.check(&outputs)?;
    let [html] = outputs;
    if let Some(out) = html {
        let page = walkthrough.html().map_err(|error| {
            Failure::System(format!("the walkthrough's page cannot be made: {error}"))
        })?;
        out.write_all(page.as_bytes())?;
    }
    match html {
        _ if arguments.form.json => print_json(&walkthrough),
        Some(out) => {
            let cases = counted(walkthrough.cases.len(), "case");
            tell(out, &format!("{cases}, {}", errata(&walkthrough)))
        }
        None => print(&walkthrough.document().text(terminal::options())),
    }
}

/// Finds a built-in walkthrough by name, or reads one from a file.
fn find(name: &str) -> Result<Walkthrough, Failure> {
    let path = Path::new(name);
    let read = |bytes: &[u8]| Walkthrough::read(&shown(path), bytes).map_err(Failure::Input);
    match built_in(name) {
        Ok(built_in) => read(built_in.text.as_bytes()),
        // A name that looks like a path is read as a file, so that the message is about the file.
        Err(_) if path.exists() || path.components().count() > 1 || path.extension().is_some() => {
            read(&read_bounded(path, MAX_BYTES)?)
        }
        Err(nearest) => {
            let remedy = match nearest {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "`headlight walkthrough` lists the built-in ones".to_owned(),
            };
            Err(Failure::Input(format!(
                "there is no file and no built-in walkthrough `{name}`; {remedy}"
            )))
        }
    }
}

fn errata(walkthrough: &Walkthrough) -> String {
    match walkthrough.errata {
        0 => "no errata".to_owned(),
        1 => "1 erratum".to_owned(),
        more => format!("{more} errata"),
    }
}

/// The built-in walkthroughs, grouped by the documents that they come from.
fn list(form: Form) -> Result<(), Failure> {
    let all = BUILT_IN.iter().map(|one| Ok((one.name, find(one.name)?)));
    let all = all.collect::<Result<Vec<(&str, Walkthrough)>, Failure>>()?;
    if form.json {
        let all = all.iter().map(|(name, walkthrough)| {
            json!({"name": name, "title": walkthrough.title, "source": walkthrough.source, "errata": walkthrough.errata})
        });
        return print_json(&json!({ "walkthroughs": all.collect::<Vec<_>>() }));
    }
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut document = None;
    for (name, walkthrough) in &all {
        if document != walkthrough.source.as_deref() {
            let gap = if text.is_empty() { "" } else { "\n" };
            document = walkthrough.source.as_deref();
            let _ = writeln!(text, "{gap}{}", document.unwrap_or("No document"));
        }
        let _ = writeln!(
            text,
            "  {name:width$}  {:9}  {}",
            errata(walkthrough),
            walkthrough.title
        );
    }
    print(&text)
}
