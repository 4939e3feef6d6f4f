//! The commands: each with its arguments in a file of its own.

mod certify;
mod compare;
mod completions;
mod data;
mod devices;
mod dump;
mod embed;
mod evaluate;
mod generate;
mod init;
mod inspect;
mod lab;
mod man;
mod merge;
mod predict;
mod report;
mod reproduce;
mod sweep;
mod train;
mod verify;
mod walkthrough;

use clap::Subcommand;
use headlight_trainer::Failure;
use headlight_trainer::training::signals::end_at_signals;

/// The commands, in the order of `headlight --help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::Arguments),
    Train(train::Arguments),
    Data(data::Arguments),
    Predict(predict::Arguments),
    Evaluate(evaluate::Arguments),
    Certify(certify::Arguments),
    Generate(generate::Arguments),
    Embed(embed::Arguments),
    Dump(dump::Arguments),
    Inspect(inspect::Arguments),
    Lab(lab::Arguments),
    Compare(compare::Arguments),
    Verify(verify::Arguments),
    Sweep(sweep::Arguments),
    Merge(merge::Arguments),
    Report(report::Arguments),
    Reproduce(reproduce::Arguments),
    Walkthrough(walkthrough::Arguments),
    Devices(devices::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

impl Command {
    /// Runs the command. `program` describes the whole command line.
    pub(crate) fn run(&self, program: fn() -> clap::Command) -> Result<(), Failure> {
        let stops_by_itself = matches!(
            self,
            Self::Train(_) | Self::Certify(_) | Self::Sweep(_) | Self::Reproduce(_)
        );
        if !stops_by_itself {
            end_at_signals()?;
        }
        let result = match self {
            Self::Init(arguments) => init::run(arguments),
            Self::Train(arguments) => train::run(arguments),
            Self::Data(arguments) => data::run(arguments),
            Self::Predict(arguments) => predict::run(arguments),
            Self::Evaluate(arguments) => evaluate::run(arguments),
            Self::Certify(arguments) => certify::run(arguments),
            Self::Generate(arguments) => generate::run(arguments),
            Self::Embed(arguments) => embed::run(arguments),
            Self::Dump(arguments) => dump::run(arguments),
            Self::Inspect(arguments) => inspect::run(arguments),
            Self::Lab(arguments) => lab::run(arguments),
            Self::Compare(arguments) => compare::run(arguments),
            Self::Verify(arguments) => verify::run(arguments),
            Self::Sweep(arguments) => sweep::run(arguments),
            Self::Merge(arguments) => merge::run(arguments),
            Self::Report(arguments) => report::run(arguments),
            Self::Reproduce(arguments) => reproduce::run(arguments),
            Self::Walkthrough(arguments) => walkthrough::run(arguments),
            Self::Devices(arguments) => devices::run(arguments),
            Self::Completions(arguments) => completions::run(arguments, program()),
            Self::Man(arguments) => man::run(arguments, program()),
        };
        if let Self::Train(_) | Self::Sweep(_) | Self::Reproduce(_) = self {
            return result;
        }
        // No other command trains a model of its own.
        result.map_err(Failure::of_given_model)
    }
}
