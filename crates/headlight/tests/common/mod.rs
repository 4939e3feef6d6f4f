//! Runs the real binary in the repository's root, with output in one folder per test.
//!
//! Tests assert what users and scripts rely on: exit codes, keys, numbers, flags and places. Prose may change
//! without them. Where text is the product, `snapshots.rs` keeps it; after a change, accept it with
//!
//! ```text
//! INSTA_UPDATE=always cargo test --release -p headlight --test program snapshots
//! ```
//!
//! and review what `git diff crates/headlight/tests/snapshots` shows.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

pub mod runs;
pub mod sweeps;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

use headlight_dump::AttentionDump;
use serde_json::Value;

/// Exit code and output of a finished command.
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Finished {
    /// Asserts that the command succeeded.
    pub fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }
}

/// Whether a message holds a part as whole words: `16` does not hold `1`, nor `epochs` `epoch`.
pub fn mentions(message: &str, part: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    message.match_indices(part).any(|(at, _)| {
        let (before, after) = (&message[..at], &message[at + part.len()..]);
        let joined_before = is_word(before.chars().next_back()) && is_word(part.chars().next());
        let joined_after = is_word(part.chars().next_back()) && is_word(after.chars().next());
        !joined_before && !joined_after
    })
}

/// Asserts an exit code and that standard error names all parts: keys, numbers, flags, places.
pub fn ended(finished: &Finished, code: i32, parts: &[&str]) {
    let stderr = &finished.stderr;
    assert_eq!(finished.code, Some(code), "{parts:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    for part in parts {
        assert!(mentions(stderr, part), "`{part}` is not in:\n{stderr}");
    }
}

/// Asserts that a command refused its input: exit code 2, nothing on standard output, and one message that
/// names all parts.
///
/// The message is one line, unless it quotes the line of a file, lists differences, or ends with a reference
/// to `--help`.
pub fn refused(finished: &Finished, parts: &[&str]) {
    ended(finished, 2, parts);
    let stderr = &finished.stderr;
    assert_eq!(finished.stdout, "");
    let mut lines = stderr
        .lines()
        .skip_while(|line| !line.starts_with("error: "));
    assert!(lines.next().is_some(), "{stderr}");
    let more: Vec<&str> = lines.collect();
    let quotes = more.iter().any(|line| line.trim_end().ends_with('^'));
    let lists = more.iter().all(|line| line.starts_with("  "));
    assert!(quotes || lists || stderr.contains("--help"), "{stderr}");
}

/// Runs a command that must refuse its input and leave a folder as it is.
pub fn refuses(folder: &Path, arguments: &[&str], parts: &[&str]) -> Finished {
    let before = contents(folder);
    let finished = run(arguments);
    refused(&finished, parts);
    assert!(contents(folder) == before, "{arguments:?} wrote something");
    finished
}

/// All that a folder holds: paths, and the bytes of files.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut contents(&path));
        }
        let bytes = path.is_file().then(|| fs::read(&path).unwrap());
        found.insert(path, bytes.unwrap_or_default());
    }
    found
}

/// The binary, to be run in the repository's root.
pub fn headlight() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headlight"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

/// The binary as a user who may not read `closed`, whose mode is 0; `None`, which it prints, if it cannot be started so.
pub fn unprivileged(closed: &Path) -> Option<fn() -> Command> {
    fn nobody() -> Command {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        setpriv.arg(headlight().get_program());
        setpriv
    }
    if fs::File::open(closed).is_err() {
        return Some(headlight);
    }
    let works = nobody().arg("--version").output();
    if works.is_ok_and(|output| output.status.success()) {
        return Some(nobody);
    }
    eprintln!("skipped: the superuser may read all, and setpriv cannot start the binary");
    None
}

/// Settings that make a run short, and the built-in config that they suit, as part of a [line](typed).
pub const QUICK: &str =
    "quick --set training.epochs=1 --set data.samples=64 --set data.held_out=16";

/// Runs in a folder what a user types after `headlight`: a line, split as a shell does.
pub fn typed(folder: &Path, line: &str) -> Finished {
    let words = shlex::split(line).unwrap();
    run_in(
        folder,
        &words.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

/// What a [line](typed) prints that succeeds.
pub fn printed(folder: &Path, line: &str) -> String {
    typed(folder, line).done().stdout
}

/// The JSON that such a line prints, which is one line.
pub fn asked(folder: &Path, line: &str) -> Value {
    let printed = printed(folder, &format!("{line} --json"));
    assert_eq!(printed.lines().count(), 1, "{printed}");
    json(&printed)
}

/// Settings, separated by spaces, as the end of a [line](typed).
pub fn set(settings: &str) -> String {
    let settings = settings.split_whitespace();
    let each = settings.map(|set| format!(" --set '{set}'"));
    each.collect::<Vec<_>>().concat()
}

/// Runs a line that must refuse its input and change nothing in the folder.
pub fn refuses_typed(folder: &Path, line: &str, parts: &[&str]) -> Finished {
    let before = contents(folder);
    let finished = typed(folder, line);
    refused(&finished, parts);
    assert!(contents(folder) == before, "`{line}` wrote something");
    finished
}

/// Lines of cells, which ` | ` separates.
pub fn table(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.trim().lines();
    lines.map(|line| line.split(" | ").map(str::trim).collect())
}

/// Runs lines that must refuse their input: of each, the [table] has what follows the command, and parts of the message.
pub fn refuses_each(folder: &Path, command: &str, lines: &str) {
    for cells in table(lines) {
        refuses_typed(folder, &format!("{command} {}", cells[0]), &cells[1..]);
    }
}

/// The weights of a run in the folder.
pub fn weights(folder: &Path, run: &str) -> Vec<u8> {
    fs::read(folder.join(run).join("model.safetensors")).unwrap()
}

/// Runs the binary to its end.
pub fn run(arguments: &[&str]) -> Finished {
    headlight().args(arguments).output().unwrap().into()
}

/// Runs the binary in a folder to its end.
pub fn run_in(folder: &Path, arguments: &[&str]) -> Finished {
    fed(folder, arguments, "")
}

/// Runs the binary in a folder to its end, with a text as standard input.
pub fn fed(folder: &Path, arguments: &[&str], input: &str) -> Finished {
    let mut command = headlight();
    let piped = command.current_dir(folder).stdin(Stdio::piped());
    let piped = piped.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.args(arguments).spawn().unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// A command that runs the binary in a folder under a limit of the shell's, such as `-f 8`.
pub fn limited(folder: &Path, limit: &str, arguments: &[&str]) -> Finished {
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    let mut bash = Command::new("bash");
    let bash = bash.current_dir(folder).args(["-c", &script]);
    let bash = bash.arg(headlight().get_program()).args(arguments);
    bash.output().unwrap().into()
}

/// Whether `headlight devices` lists a GPU adapter: they are indented below a heading at the end.
pub fn has_gpu_adapter() -> bool {
    let list = run(&["devices"]).done().stdout;
    list.lines().last().unwrap().starts_with("  ")
}

/// An empty folder for one test. Tests run side by side, so no name may stand in two files.
#[track_caller]
pub fn folder(name: &str) -> PathBuf {
    static OWNERS: Mutex<BTreeMap<String, &'static str>> = Mutex::new(BTreeMap::new());
    let own = Location::caller().file();
    let owner = OWNERS
        .lock()
        .map(|mut owners| *owners.entry(name.to_owned()).or_insert(own));
    assert_eq!(
        owner.unwrap(),
        own,
        "two files have tests with a folder `{name}`"
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A value from its JSON.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The resolved config of a run.
pub fn config_of(run: &Path) -> toml::Table {
    let config = fs::read_to_string(run.join("config.toml")).unwrap();
    config.parse().unwrap()
}

/// A dump of attention as npz.
pub fn read_dump(path: impl AsRef<Path>) -> AttentionDump {
    AttentionDump::read_npz(Cursor::new(fs::read(path).unwrap())).unwrap()
}

/// The last dump of a run as npz.
pub fn last_dump(run: &Path) -> AttentionDump {
    let dumps = fs::read_dir(run.join("attention")).unwrap();
    let dumps = dumps.map(|entry| entry.unwrap().path());
    let npz = dumps.filter(|path| path.extension().is_some_and(|format| format == "npz"));
    read_dump(npz.max().unwrap())
}

/// The lines of a run's metrics.
pub fn metrics(run: &Path) -> Vec<Value> {
    fs::read_to_string(run.join("metrics.jsonl"))
        .unwrap()
        .lines()
        .map(json)
        .collect()
}

/// Delays that look random, and are the same each time.
pub struct Delays(pub u64);

impl Delays {
    pub fn below(&mut self, limit: u64) -> u64 {
        // Knuth's MMIX generator; its upper bits are good.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Sends a signal to a process, which may have ended already.
pub fn send(child: &Child, signal: &str) {
    let _ = Command::new("kill")
        .args(["-s", signal, &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
}

/// A run of the quick config.
pub fn quick_run(run: &Path, more: &[&str]) -> Finished {
    let arguments = ["train", "configs/quick.toml", "--run", text(run)];
    self::run(&[&arguments, more].concat()).done()
}
