//! The program, machine and arguments of a run: `environment.json`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Value, json};

use headlight_experiment::config::ExperimentConfig;

use crate::devices::OpenDevice;
use crate::storage::config::paths;

/// All that a run may depend on besides its config.
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
    /// The files that the config names, if any, as the dumps name them.
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<Value>,
    /// RFC 3339, UTC.
    started: String,
}

impl Environment {
    /// The new content of `environment.json` when a run is resumed: how the run began, and each process that
    /// resumed it, with its first step.
    ///
    /// If the existing content is damaged, it is kept as text.
    pub fn resumed(&self, before: &str, step: usize) -> Value {
        let read = serde_json::from_str(before).ok();
        let mut before = read
            .filter(Value::is_object)
            .unwrap_or_else(|| json!({ "damaged": before }));
        let mut now = serde_json::to_value(self).unwrap_or_default();
        if let (Some(before), Some(now)) = (before.as_object_mut(), now.as_object_mut()) {
            now.insert("step".to_owned(), step.into());
            let processes = before.entry("resumed").or_insert_with(|| json!([]));
            if let Some(list) = processes.as_array_mut() {
                list.push(Value::Object(now.clone()));
            }
        }
        before
    }

    /// The environment of this process, now.
    pub(crate) fn now(
        source: SourceCommit,
        config: &ExperimentConfig,
        device: &OpenDevice,
    ) -> Self {
        let compute = &config.compute;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            git_commit: source.commit,
            git_dirty: source.dirty,
            engine: compute.engine.name(),
            device: compute.device.clone(),
            adapter: device.adapter.clone(),
            operating_system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            arguments: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            paths: paths(config),
            started: date(SystemTime::now()),
        }
    }
}

/// The source that a program was built from: what its build script found.
#[derive(Clone, Copy, Debug)]
pub struct SourceCommit {
    commit: Option<&'static str>,
    dirty: Option<bool>,
}

impl SourceCommit {
    /// The source from the build script's values: a commit, and `true` if tracked files differed from it. Without git,
    /// both are empty.
    pub fn of_build(commit: &'static str, dirty: &'static str) -> Self {
        Self {
            commit: Some(commit).filter(|commit| !commit.is_empty()),
            dirty: dirty.parse().ok(),
        }
    }
}

/// The last second of the year 9999; RFC 3339 has no later one.
const LAST_SECOND: u64 = 253_402_300_799;

/// A time in RFC 3339, UTC. A clock that is set wrongly, before 1970 or after 9999, gives the nearest date.
fn date(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs().min(LAST_SECOND);
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_clock_has_a_date() {
        let day = Duration::from_hours(24);
        for (time, expected) in [
            (UNIX_EPOCH - day, "1970-01-01T00:00:00Z"),
            (UNIX_EPOCH, "1970-01-01T00:00:00Z"),
            (UNIX_EPOCH + day, "1970-01-02T00:00:00Z"),
            (UNIX_EPOCH + 5_000_000 * day, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(date(time), expected);
        }
    }
}
