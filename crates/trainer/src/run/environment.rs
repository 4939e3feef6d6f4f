//! The program, machine and arguments of a run: `environment.json`.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Value, json};

use headlight_experiment::config::ComputeConfig;

use crate::devices::OpenDevice;

/// The program and the machine of a run: what its numbers may depend on besides its config and its inputs.
#[derive(Clone, Debug, Serialize)]
pub struct Environment {
    version: &'static str,
    /// The commit that the program was built from.
    git_commit: Option<&'static str>,
    /// Whether tracked files differed from that commit.
    git_dirty: Option<bool>,
    engine: &'static str,
    device: String,
    /// The GPU and its driver.
    adapter: Option<String>,
    operating_system: &'static str,
    architecture: &'static str,
    arguments: Vec<String>,
    /// RFC 3339, UTC.
    started: String,
}

impl Environment {
    /// The new content of `environment.json` when a run is resumed: how the run began, and each process that
    /// resumed it, with its first step.
    pub(crate) fn resumed(&self, mut before: Value, step: usize) -> Value {
        let mut now = serde_json::to_value(self).unwrap_or_default();
        now["step"] = step.into();
        if let Some(before) = before.as_object_mut() {
            let processes = before.entry("resumed").or_insert_with(|| json!([]));
            if let Some(list) = processes.as_array_mut() {
                list.push(now);
            }
        }
        before
    }

    /// The environment of this process, now.
    pub(crate) fn now(source: SourceCommit, compute: &ComputeConfig, device: &OpenDevice) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            git_commit: Some(source.commit).filter(|commit| !commit.is_empty()),
            git_dirty: source.dirty.parse().ok(),
            engine: compute.engine.name(),
            device: compute.device.clone(),
            adapter: device.adapter.clone(),
            operating_system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            arguments: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        }
    }
}

/// The source that a program was built from: what its build script found. Without git, both are empty.
#[derive(Clone, Copy, Debug)]
pub struct SourceCommit {
    /// The commit.
    pub commit: &'static str,
    /// `true` if tracked files differed from it.
    pub dirty: &'static str,
}
