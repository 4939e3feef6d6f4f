//! `headlight lab`: the page of a config, without a run.

use clap::Args;
use headlight_trainer::show::page;
use headlight_trainer::{Destination, Failure};

use crate::arguments::{ConfigArguments, Force};
use crate::browser;

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

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let config = arguments.config.load()?;
    let force = arguments.output.force;
    browser::write(&arguments.html, force, arguments.open, || {
        let name = arguments.config.name();
        let name = name.as_deref().unwrap_or("experiment").to_owned();
        let text = page::html(&page::lab(name, config)?)?;
        Ok((text, "a page without a run".to_owned()))
    })
}
