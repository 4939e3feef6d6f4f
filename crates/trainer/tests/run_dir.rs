//! A process that writes a run checks before each file that the run directory is still the one that it locked.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use headlight_dump::AttentionDump;
use headlight_experiment::config::DumpFormat;
use headlight_trainer::Failure;
use headlight_trainer::storage::config;
use headlight_trainer::storage::run_dir::RunDir;

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/quick.toml");

type Change = fn(&RunDir) -> Result<(), Failure>;

/// Every way in which a process changes the directory of its run.
const CHANGES: [(&str, Change); 10] = [
    ("config", |run| {
        run.write_config(&config::load(Path::new(CONFIG), &[])?)
    }),
    ("page", |run| run.write_page("<html>")),
    ("weights", |run| run.write_weights(Vec::new())),
    ("best weights", |run| {
        let dump = AttentionDump::default();
        run.write_best(Vec::new(), &dump, &[DumpFormat::Json])
    }),
    ("dump", |run| {
        run.write_dump(&AttentionDump::default(), &[DumpFormat::Json])
    }),
    ("manifest", RunDir::write_manifest),
    ("metrics", |run| run.metrics_log(0).map(|_| ())),
    ("losses", |run| run.loss_log(0).map(|_| ())),
    ("report", |run| run.write_report("# Report")),
    ("later files", |run| rewound(run)),
];

/// Goes back to the start of a run.
fn rewound(run: &RunDir) -> Result<(), Failure> {
    run.remove_outdated(&run.rewind(|_| false, false)?)
}

/// A run with the files that a resumed run removes.
fn begun(path: &Path) -> RunDir {
    let run = RunDir::create(path).unwrap();
    for (_, change) in &CHANGES[..CHANGES.len() - 1] {
        change(&run).unwrap();
    }
    fs::write(path.join(".unfinished-x"), "").unwrap();
    run
}

fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        }
        found.push((path.clone(), fs::read(&path).unwrap_or_default()));
    }
    found.sort();
    found
}

#[test]
fn a_directory_that_took_the_name_of_a_run_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = begun(&path);
    fs::rename(&path, folder.path().join("moved")).unwrap();
    drop(begun(&path));
    let before = contents(folder.path());
    for (name, change) in CHANGES {
        let Err(failure) = change(&run) else {
            panic!("{name} changes the directory");
        };
        assert!(matches!(failure, Failure::System(_)), "{name}: {failure}");
        assert!(
            failure.to_string().contains(path.to_str().unwrap()),
            "{name}: {failure}"
        );
        assert!(contents(folder.path()) == before, "{name}");
    }
}

/// As if nothing had happened, once the directory is back under its name.
#[test]
fn a_directory_that_is_moved_back_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, moved) = (folder.path().join("run"), folder.path().join("moved"));
    let run = begun(&path);
    fs::rename(&path, &moved).unwrap();
    run.write_page("<html>").unwrap_err();
    fs::rename(&moved, &path).unwrap();
    rewound(&run).unwrap();
    assert!(!path.join("report.md").exists());
    assert!(!path.join(".unfinished-x").exists());
}

/// The directory of a run is locked before the run begins in it. Until then, another process may complete a run there.
#[test]
fn one_process_at_a_time_holds_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = begun(&path);
    for opened in [RunDir::reopen(&path), RunDir::create(&path)] {
        let failure = opened.unwrap_err();
        assert!(matches!(failure, Failure::Input(_)), "{failure}");
    }
    drop(run);
    RunDir::reopen(&path).unwrap();
}
