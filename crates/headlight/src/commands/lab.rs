//! `headlight lab`: the page of a config, without a run.

use clap::Args;
use headlight_trainer::Failure;
use headlight_trainer::files::outputs::{Destination, Output};
use headlight_trainer::show::page;

use crate::arguments::{ConfigArguments, Force};
use crate::browser;
use crate::printing::tell;

/// Write a page that trains a config itself, without a run
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight lab --open\nAnother experiment: headlight lab token_anywhere --set model.n_heads=2 --html anywhere.html"
)]
pub(crate) struct Arguments {
    /// The experiment
    #[command(flatten)]
    config: ConfigArguments,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "lab.html")]
    html: Destination,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    output: Force,
}

/// Writes the page.
///
/// # Errors
/// When the config is invalid, a page cannot train it, or the page cannot be written.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let out = Output::of_format("html", &arguments.html, arguments.output.force)?;
    if arguments.open && out.is_standard() {
        let message = "--open opens a file, and `-` is standard output; give --html a file";
        return Err(Failure::Input(message.to_owned()));
    }
    let name = arguments.config.name();
    let name = name.as_deref().unwrap_or("experiment").to_owned();
    let text = page::html(&page::lab(name, config)?)?;
    out.write_all(text.as_bytes())?;
    let size = text.len() as f64 / 1000.0;
    tell(out, &format!("a page without a run, {size:.0} KB"))?;
    if arguments.open {
        browser::open(out.path());
    }
    Ok(())
}
