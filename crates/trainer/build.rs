//! Passes the commit of the source to the build, for `environment.json`.

use std::path::Path;
use std::process::Command;

fn main() {
    // The sources, and the state of git if this is a repository.
    for path in [
        "..",
        "../../Cargo.toml",
        "../../Cargo.lock",
        "../../.git/HEAD",
        "../../.git/index",
    ] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(&["rev-parse", "HEAD"]);
    let dirty =
        git(&["status", "--porcelain", "--untracked-files=no"]).map(|changes| !changes.is_empty());
    println!(
        "cargo::rustc-env=HEADLIGHT_COMMIT={}",
        commit.unwrap_or_default()
    );
    println!(
        "cargo::rustc-env=HEADLIGHT_DIRTY={}",
        dirty.map_or_else(String::new, |dirty| dirty.to_string())
    );
}

/// The output of git; `None` without git or a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
