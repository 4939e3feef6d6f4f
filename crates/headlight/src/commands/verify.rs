//! `headlight verify`: whether the files of a run are as Headlight wrote them.

use std::path::PathBuf;

use clap::Args;
use headlight_report::counted;
use headlight_trainer::run::{Damage, Verification};
use headlight_trainer::{Failure, RunDir, shown};
use serde_json::json;

use crate::arguments::Form;
use crate::printing::{print, print_json};

/// Check that the files of a run are as Headlight wrote them
#[derive(Args, Debug)]
#[command(after_help = "Example: headlight verify runs/notebook-1")]
pub(crate) struct Arguments {
    /// Run directory
    run: PathBuf,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let run = RunDir::open(&arguments.run)?;
    let found = run.verify()?;
    run.check_ended(&found)?;
    let Verification { files, damage, .. } = found;
    if !damage.is_empty() && run.is_being_written() {
        return Err(Failure::Input(format!(
            "another process is writing the run in {}; wait for it, or stop it first",
            shown(run.path())
        )));
    }
    if arguments.form.json {
        print_json(&json!({"damage": damage, "files": files, "run": run.path()}))?;
    } else if damage.is_empty() {
        let files = counted(files, "file");
        print(&format!(
            "all {files} of the run are as Headlight wrote them\n"
        ))?;
    } else {
        for Damage { file, problem } in &damage {
            print(&format!("{file}: {problem}\n"))?;
        }
    }
    if damage.is_empty() {
        return Ok(());
    }
    Err(run.damage_failure(&damage))
}
