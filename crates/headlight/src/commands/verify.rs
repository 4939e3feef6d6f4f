//! `headlight verify`: whether the files of a run are as Headlight wrote them.

use std::path::{Path, PathBuf};

use crate::printing::{print, print_json};
use clap::Args;
use headlight_trainer::Failure;
use headlight_trainer::storage::run_dir::{Damage, RunDir};
use serde::Serialize;

use crate::arguments::Form;

/// Check that the files of a run are as Headlight wrote them
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight verify runs/notebook-1")]
pub(crate) struct Arguments {
    /// Run directory
    run: PathBuf,
    #[command(flatten)]
    form: Form,
}

/// What is printed as JSON, its keys in alphabetical order.
#[derive(Serialize)]
struct Verified<'a> {
    damage: &'a [Damage],
    files: usize,
    run: &'a Path,
}

/// Prints the damaged files of a run, one per line.
///
/// # Errors
/// When the directory is not a run, another process is writing the run, or a file is damaged or missing.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let run = RunDir::open_damaged(&arguments.run)?;
    let place = run.path().display();
    let (files, damage) = (run.listed()?, run.damage()?);
    if !damage.is_empty() && run.is_being_written() {
        return Err(Failure::Input(format!(
            "another process is writing the run in {place}; wait for it, or stop it first"
        )));
    }
    if arguments.form.json {
        print_json(&Verified {
            run: run.path(),
            files,
            damage: &damage,
        })?;
    } else {
        for Damage { file, problem, .. } in &damage {
            print(&format!("{file}: {problem}\n"))?;
        }
    }
    if damage.is_empty() {
        if arguments.form.json {
            return Ok(());
        }
        let state = match (run.has_ended()?, files) {
            (true, _) => "all files of the run",
            (_, 0) => {
                return print(&format!(
                    "the run was stopped before its first checkpoint, so there is nothing to check; {}\n",
                    run.how_to_resume()
                ));
            }
            _ => "the files of the run up to its last checkpoint",
        };
        return print(&format!("{state} are as Headlight wrote them: {files}\n"));
    }
    let (count, are) = match damage.len() {
        1 => ("one file".to_owned(), "is"),
        count => (format!("{count} files"), "are"),
    };
    Err(Failure::Input(format!(
        "{count} of the run in {place} {are} damaged or missing; to restore what the last checkpoint can restore, {}",
        run.how_to_resume()
    )))
}
