//! Passes the commit of the source to the build, for `environment.json`.
//!
//! The binary and the Python module have this script, and no crate below them: a commit compiles no other crate again.

use std::path::Path;
use std::process::Command;

fn main() {
    // What can change the commit, or whether tracked files differ from it. `git add` changes neither.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            watch(Path::new(&path));
        }
    }
    watch(Path::new("../../Cargo.toml"));
    watch(Path::new("../../Cargo.lock"));
    for package in Path::new("..").read_dir().into_iter().flatten().flatten() {
        for name in ["Cargo.toml", "build.rs", "src"] {
            watch(&package.path().join(name));
        }
    }
    // An unpacked source distribution may lie in the repository of something else.
    let is_tracked = git(&["ls-files", "--error-unmatch", "Cargo.toml"]).is_some();
    let commit = git(&["rev-parse", "HEAD"]).filter(|_| is_tracked);
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]).filter(|_| is_tracked);
    let dirty = changes.map(|changes| !changes.is_empty());
    println!(
        "cargo::rustc-env=HEADLIGHT_COMMIT={}",
        commit.unwrap_or_default()
    );
    println!(
        "cargo::rustc-env=HEADLIGHT_DIRTY={}",
        dirty.map_or_else(String::new, |dirty| dirty.to_string())
    );
}

/// Runs this script again if the file or folder changes.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The output of git; `None` without git or a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
