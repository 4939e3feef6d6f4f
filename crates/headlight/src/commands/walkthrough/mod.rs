//! `headlight walkthrough`: worked examples of attention, compared with the numbers that documents print.

#[cfg(feature = "burn")]
mod show;

use clap::Args;
use headlight_trainer::Failure;
use headlight_trainer::storage::outputs::Destination;

use crate::arguments::Force;

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
    /// Write the walkthrough as an SVG picture instead of printing it
    #[arg(long, value_name = "FILE", requires = "walkthrough")]
    svg: Option<Destination>,
    /// Write its numbers as JSON instead of printing them
    #[arg(long, value_name = "FILE", requires = "walkthrough")]
    json: Option<Destination>,
    #[command(flatten)]
    output: Force,
}

/// Lists the walkthroughs, prints one, or writes it to files.
///
/// # Errors
/// When the name is unknown, the walkthrough's file is invalid, a file cannot be written, or this build lacks Burn.
#[cfg(feature = "burn")]
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(name) = &arguments.walkthrough else {
        return show::list();
    };
    let destinations = [&arguments.html, &arguments.svg, &arguments.json].map(Option::as_ref);
    show::show(name, destinations, arguments.output.force)
}

#[cfg(not(feature = "burn"))]
pub(super) fn run(_: &Arguments) -> Result<(), Failure> {
    Err(Failure::without_burn("`headlight walkthrough`"))
}
