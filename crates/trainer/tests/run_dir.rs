//! One process at a time writes a run.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_trainer::Failure;
use headlight_trainer::run::RunDir;

/// The directory of a run is locked before the run begins in it. Until then, another process may complete a run there.
#[test]
fn one_process_at_a_time_holds_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = RunDir::create(&path).unwrap();
    let resumed = RunDir::to_resume(&path, true).map(Option::unwrap);
    for opened in [resumed, RunDir::create(&path)] {
        let failure = opened.unwrap_err();
        assert!(matches!(failure, Failure::Input(_)), "{failure}");
    }
    drop(run);
    assert!(RunDir::to_resume(&path, true).unwrap().is_some());
}
