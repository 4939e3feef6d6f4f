//! `headlight lab`: the page of a config, without a run.

use headlight_trainer::Failure;
use headlight_trainer::outputs::Output;
use headlight_trainer::page;

use crate::browser;
use crate::cli::LabArguments;

/// Writes the page.
///
/// # Errors
/// When the config is invalid, a page cannot train it, or the page cannot be written.
pub(crate) fn run(arguments: &LabArguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let inputs = arguments.config.inputs(&config);
    let out = Output::new(&arguments.html, &inputs, arguments.output.force)?;
    if arguments.open && out.is_standard() {
        let message = "--open opens a file, and `-` is standard output; give --html a file";
        return Err(Failure::Input(message.to_owned()));
    }
    let name = arguments.config.name();
    let name = name.as_deref().unwrap_or("experiment").to_owned();
    let text = page::html(&page::lab(name, config)?)?;
    out.write_all(text.as_bytes())?;
    let size = text.len() as f64 / 1000.0;
    out.tell(&format!("a page without a run, {size:.0} KB"))?;
    if arguments.open {
        browser::open(&arguments.html);
    }
    Ok(())
}
