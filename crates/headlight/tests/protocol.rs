//! How processes share a run directory: any interleaving of writers, resumes, kills and moves keeps runs apart and whole.
//!
//! The processes are real. Each one stops before each system call on the folder (`common/traced.rs`), and the test decides
//! which one makes its next call. Between the calls it moves, replaces and removes the directory.
//! `HEADLIGHT_ACTIONS=100000` explores for longer; `HEADLIGHT_SEED=1` explores other schedules.
#![cfg(all(
    feature = "traced",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;
#[path = "common/traced.rs"]
mod traced;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::runs::{copy, files};
use common::{folder, headlight, text};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use traced::{Act, Call, State, Traced};

/// Actions of a run of this test, unless `HEADLIGHT_ACTIONS` is set: about 20 seconds.
const ACTIONS: usize = 1_000;
/// The seed of the runs that replace others.
const OTHER: u64 = 2;
/// Processes at a time.
const LIVE: usize = 3;

/// Files and folders that are written under another name first, or are being removed.
const TEMPORARY: &str = ".unfinished-";

#[derive(Clone, Copy, Debug)]
enum Action {
    /// Starts `train --run X`, with or without `--resume`.
    Start { seed: u64, resume: bool },
    /// Lets a process make so many calls.
    Calls { process: usize, count: usize },
    /// Lets a process run until it is about to do something.
    Until { process: usize, act: Act },
    /// Kills a process.
    Kill { process: usize },
    /// Moves the directory away.
    Move,
    /// Moves a directory that was moved away back, if there is no other.
    PutBack { which: usize },
    /// Removes the directory.
    Remove,
    /// Puts another run in its place, which has ended or was killed.
    Replace { ended: bool },
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let process = 0..LIVE;
    let count = prop_oneof![3 => 1..8_usize, 2 => 8..60_usize, 1 => 60..400_usize];
    let act = prop::sample::select(vec![
        Act::Look,
        Act::Create,
        Act::MakeFolder,
        Act::Rename,
        Act::Remove,
        Act::Write,
        Act::Lock,
    ]);
    let action = prop_oneof![
        4 => (0..=OTHER, any::<bool>()).prop_map(|(seed, resume)| Action::Start { seed, resume }),
        6 => (process.clone(), count).prop_map(|(process, count)| Action::Calls { process, count }),
        6 => (process.clone(), act).prop_map(|(process, act)| Action::Until { process, act }),
        1 => process.prop_map(|process| Action::Kill { process }),
        2 => Just(Action::Move),
        2 => (0..4_usize).prop_map(|which| Action::PutBack { which }),
        1 => Just(Action::Remove),
        2 => any::<bool>().prop_map(|ended| Action::Replace { ended }),
    ];
    vec(action, 3..25)
}

/// What an undisturbed run leaves, by its seed, and runs to replace others.
struct Expected {
    files: Vec<BTreeMap<PathBuf, Vec<u8>>>,
    ended: PathBuf,
    killed: PathBuf,
}

/// Files without names of others that were killed before they renamed them.
fn files_of(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = files(run);
    found.retain(|name, _| !is_temporary(name));
    found
}

fn is_temporary(path: &Path) -> bool {
    let mut names = path.iter();
    names.any(|name| name.to_string_lossy().starts_with(TEMPORARY))
}

fn train(run: &Path, seed: u64, resume: bool) -> Command {
    let mut command = headlight();
    command.args(["train", "configs/quick.toml", "--quiet"]);
    command.args(["--engine", "fused", "--run", text(run)]);
    for set in [
        &format!("seed={seed}"),
        "data.samples=16",
        "data.held_out=0",
        "dump.every_steps=0",
        "checkpoint.every_steps=1",
    ] {
        command.args(["--set", set]);
    }
    if resume {
        command.arg("--resume");
    }
    command
}

impl Expected {
    fn new(folder: &Path) -> Self {
        let runs = (0..=OTHER).map(|seed| {
            let run = folder.join(format!("undisturbed-{seed}"));
            assert!(train(&run, seed, false).output().unwrap().status.success());
            files_of(&run)
        });
        let files = runs.collect();
        let killed = folder.join("killed");
        let mut process = Traced::start(&train(&killed, OTHER, false), &killed);
        while fs::read(killed.join("metrics.jsonl")).map_or(0, |rows| lines(&rows)) < 3 {
            process.step(|_, _| ());
        }
        process.kill();
        Self {
            files,
            ended: folder.join(format!("undisturbed-{OTHER}")),
            killed,
        }
    }
}

fn lines(text: &[u8]) -> usize {
    text.split(|&byte| byte == b'\n').count() - 1
}

/// What stays the same of a file or folder when it is moved.
type Identity = (u64, u64);

fn identity(file: &Path) -> Option<Identity> {
    file.metadata().map(|found| (found.dev(), found.ino())).ok()
}

/// What a process may write.
#[derive(Default)]
struct Holder {
    resumes: bool,
    /// Whether it created the lock: no other process had written the directory.
    first: bool,
    /// The lock that it holds, or held: the directory with it is the run's.
    lock: Option<File>,
}

impl Holder {
    /// Notes a call that was made; returns what is wrong with it.
    fn made(&mut self, root: &Path, process: &Traced, call: &Call) -> Option<String> {
        match call.act {
            Act::MakeFolder if call.path == root.join("run") => return None,
            Act::Create if call.path.ends_with(".lock") => {
                self.first = !call.existed;
                return None;
            }
            // Temporary files are locked too.
            Act::Lock if call.path.ends_with(".lock") => {
                self.lock = call.descriptor.map(|file| process.open(file));
                return None;
            }
            Act::Look | Act::Lock => return None,
            Act::Create if call.existed => return None,
            _ => (),
        }
        let mut changed = std::iter::once(&call.path).chain(&call.to);
        changed.find_map(|path| self.may_change(root, path).err())
    }

    fn may_change(&self, root: &Path, path: &Path) -> Result<(), String> {
        let within = path.strip_prefix(root).unwrap();
        let deleted = path.to_string_lossy().ends_with(" (deleted)");
        if is_temporary(within) || within.ends_with(".lock") || deleted {
            return Ok(());
        }
        let run = root.join(within.iter().next().unwrap());
        let wrong = if self.lock.is_none() {
            "holds no lock"
        } else if held(self.lock.as_ref()) != identity(&run.join(".lock")) {
            "holds the lock of another directory"
        } else if !self.resumes && !self.first {
            "does not resume, and is not the first to write it"
        } else {
            return Ok(());
        };
        Err(format!("it changes {}, but {wrong}", within.display()))
    }
}

fn held(file: Option<&File>) -> Option<Identity> {
    let found = file.map(|file| file.metadata().unwrap());
    found.map(|found| (found.dev(), found.ino()))
}

/// The seed in a run's config.
fn seed_of(config: &Path) -> Option<usize> {
    let text = fs::read_to_string(config).ok()?;
    text.lines().next()?.strip_prefix("seed = ")?.parse().ok()
}

/// A folder with runs, and the processes that write them.
struct World<'a> {
    expected: &'a Expected,
    root: PathBuf,
    live: Vec<(Traced, Holder)>,
    /// The runs of the processes that have exited with 0.
    done: Vec<File>,
    moved: usize,
    /// Every action and call, without the random part of names.
    history: Vec<String>,
    fault: Option<String>,
}

impl<'a> World<'a> {
    fn new(expected: &'a Expected, root: PathBuf) -> Self {
        Self {
            expected,
            root,
            live: Vec::new(),
            done: Vec::new(),
            moved: 0,
            history: Vec::new(),
            fault: None,
        }
    }

    fn run(&self) -> PathBuf {
        self.root.join("run")
    }

    fn away(&self, number: usize) -> PathBuf {
        self.root.join(format!("moved-{number}"))
    }

    fn act(&mut self, action: Action) {
        let live = self.live.len().max(1);
        match action {
            Action::Start { seed, resume } => {
                if self.live.len() < LIVE {
                    let process = Traced::start(&train(&self.run(), seed, resume), &self.root);
                    let resumes = resume;
                    let holder = Holder {
                        resumes,
                        ..Holder::default()
                    };
                    self.live.push((process, holder));
                    self.history.push(format!("start {seed} {resume}"));
                }
            }
            Action::Calls { process, count } => {
                let _ = (0..count).all(|_| self.step(process % live));
            }
            Action::Until { process, act } => {
                let process = process % live;
                while self.step(process) && !self.is_before(process, act) {}
            }
            Action::Kill { process } => {
                if let Some((process, _)) = self.live.get_mut(process % live) {
                    process.kill();
                }
                self.reap(process % live);
            }
            Action::Move => self.move_away(),
            Action::PutBack { which } => {
                let from = self.away(which % self.moved.max(1));
                if from.exists() && !self.run().exists() {
                    fs::rename(from, self.run()).unwrap();
                    self.history.push("put back".to_owned());
                }
            }
            Action::Remove => {
                if self.run().exists() {
                    fs::remove_dir_all(self.run()).unwrap();
                    self.history.push("remove".to_owned());
                }
            }
            Action::Replace { ended } => {
                self.move_away();
                let other = if ended {
                    &self.expected.ended
                } else {
                    &self.expected.killed
                };
                copy(other, &self.run());
                self.history.push(format!("replace {ended}"));
            }
        }
    }

    fn move_away(&mut self) {
        if self.run().exists() {
            fs::rename(self.run(), self.away(self.moved)).unwrap();
            self.moved += 1;
            self.history.push("move".to_owned());
        }
    }

    fn is_before(&self, index: usize, act: Act) -> bool {
        matches!(&self.live[index].0.state, State::Before(call) if call.act == act)
    }

    /// Lets a process make one call; returns whether it can make another.
    fn step(&mut self, index: usize) -> bool {
        let (None, Some((process, holder))) = (&self.fault, self.live.get_mut(index)) else {
            return false;
        };
        let mut fault = None;
        if let State::Before(call) = &process.state {
            self.history
                .push(format!("{index} {}", shown(call, &self.root)));
            let config = call.to.as_ref().filter(|to| to.ends_with("config.toml"));
            if let Some(before) = config.and_then(|config| seed_of(config))
                && seed_of(&call.path).is_some_and(|after| after != before)
            {
                fault = Some("it gives a run another seed".to_owned());
            }
        }
        let root = &self.root;
        process.step(|process, call| {
            let found = holder.made(root, process, call);
            fault = found.or(fault.take());
        });
        self.fault = fault.map(|fault| format!("process {index}: {fault}"));
        self.reap(index)
    }

    /// Puts aside a process that has ended; returns whether it lives.
    fn reap(&mut self, index: usize) -> bool {
        let ended = match self.live.get(index).map(|(process, _)| &process.state) {
            Some(State::Before(_)) => return true,
            Some(State::Exited(code)) => Some(*code),
            Some(State::Killed) => None,
            None => return false,
        };
        let (_, holder) = self.live.remove(index);
        self.history.push(format!("end {index} {ended:?}"));
        match ended {
            Some(0) => self.done.extend(holder.lock),
            None | Some(1 | 2) => (),
            _ => self.fault = Some(format!("process {index} exited with {ended:?}")),
        }
        false
    }

    /// Runs all processes to their end, and checks what is left.
    fn end(&mut self) -> Result<(), String> {
        while !self.live.is_empty() && self.fault.is_none() {
            while self.step(0) {}
        }
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        for entry in fs::read_dir(&self.root).unwrap() {
            let run = entry.unwrap().path();
            self.check(&run)?;
        }
        Ok(())
    }

    /// Whether a run is what one process would have left, and can be resumed.
    fn check(&self, run: &Path) -> Result<(), String> {
        let name = run.file_name().unwrap().to_string_lossy();
        let seed = seed_of(&run.join("config.toml")).unwrap_or(0);
        let expected = &self.expected.files[seed];
        let metrics = Path::new("metrics.jsonl");
        let rows = fs::read(run.join(metrics)).unwrap_or_default();
        if !expected[metrics].starts_with(&rows) {
            return Err(format!("{name} has other metrics than its config"));
        }
        let identity = identity(&run.join(".lock"));
        let done = self.done.iter().any(|lock| held(Some(lock)) == identity);
        let ended = run.join("report.md").exists();
        if done && !ended {
            return Err(format!("a process exited with 0, but {name} has no report"));
        }
        if !ended {
            let resumed = train(run, seed as u64, true).output().unwrap();
            if !resumed.status.success() {
                let message = String::from_utf8_lossy(&resumed.stderr);
                return Err(format!("{name} cannot be resumed: {message}"));
            }
        }
        if &files_of(run) != expected {
            return Err(format!(
                "{name} differs from an undisturbed run; ended: {ended}"
            ));
        }
        let verified = headlight().args(["verify", text(run)]).output().unwrap();
        if verified.status.success() {
            Ok(())
        } else {
            Err(format!("{name} does not verify; ended: {ended}"))
        }
    }
}

fn shown(call: &Call, root: &Path) -> String {
    let name = |path: &PathBuf| {
        let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        let (before, random) = path.split_once(TEMPORARY).unwrap_or((&path, ""));
        // Six random characters.
        format!("{before}{}", random.get(6..).map_or("", |_| TEMPORARY))
    };
    let to = call.to.as_ref().map(|to| format!(" {}", name(to)));
    format!(
        "{:?} {}{}",
        call.act,
        name(&call.path),
        to.unwrap_or_default()
    )
}

fn number(variable: &str, otherwise: usize) -> usize {
    let value = std::env::var(variable).ok();
    value.map_or(otherwise, |value| value.parse().unwrap())
}

/// Found once by chance: between the creation of a run's lock file and the lock, another process resumes the empty
/// directory, and completes its run.
#[test]
fn a_run_that_another_process_completed_is_not_begun_anew() {
    let folder = folder("protocol-completed");
    let expected = Expected::new(&folder);
    let mut world = World::new(&expected, folder);
    let start = |seed, resume| Action::Start { seed, resume };
    for action in [start(1, false), start(1, true), start(0, false)] {
        world.act(action);
    }
    world.act(Action::Until {
        process: 2,
        act: Act::Lock,
    });
    world.end().unwrap();
}

#[test]
fn no_interleaving_mixes_two_runs_or_loses_a_row() {
    let folder = folder("protocol");
    let expected = Expected::new(&folder);
    let seed = number("HEADLIGHT_SEED", 0) as u64;
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, random);
    let budget = number("HEADLIGHT_ACTIONS", ACTIONS);
    let (schedules, taken, calls) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let distinct = RefCell::new(HashSet::new());
    let last = RefCell::new(String::new());
    while taken.get() < budget {
        let schedule = actions().new_tree(&mut runner).unwrap();
        let outcome = runner.run_one(schedule, |schedule| {
            let root = folder.join("world");
            let _ = fs::remove_dir_all(&root);
            fs::create_dir(&root).unwrap();
            let mut world = World::new(&expected, root);
            for &action in &schedule {
                world.act(action);
            }
            let outcome = world.end();
            schedules.set(schedules.get() + 1);
            taken.set(taken.get() + schedule.len());
            calls.set(calls.get() + world.history.len());
            let mut hash = DefaultHasher::new();
            world.history.hash(&mut hash);
            distinct.borrow_mut().insert(hash.finish());
            outcome.map_err(|fault| {
                last.replace(world.history.join("\n"));
                TestCaseError::fail(fault)
            })
        });
        match outcome {
            Ok(_) => (),
            Err(TestError::Fail(reason, schedule)) => panic!(
                "{reason}\nseed {seed}, schedule {schedule:#?}\nthe calls of the last one that failed:\n{}",
                last.borrow()
            ),
            Err(abort) => panic!("{abort}"),
        }
    }
    println!(
        "{} schedules, {} actions, {} calls and actions of the test, {} distinct interleavings",
        schedules.get(),
        taken.get(),
        calls.get(),
        distinct.borrow().len()
    );
}
