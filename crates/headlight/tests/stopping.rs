//! Runs that are stopped, by signals at any moment or by a full disk: what is left is whole, and a resumed run ends with the
//! files of the undisturbed one.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::runs::{assert_same, attempt, checkpoint, command, files, finish};
use crate::common::{
    Delays, Finished, config_of, ended, folder, json, mentions, metrics, read_dump, refused, run,
    send, text,
};

/// Signals that stop a run, and the exit code of a run that handles them; schedulers send SIGUSR1 some time before their limit.
/// After a second signal it saves nothing more.
const STOPS: [(&[&str], Option<i32>); 5] = [
    (&["KILL"], None),
    (&["INT"], Some(130)),
    (&["TERM"], Some(143)),
    (&["USR1"], Some(138)),
    (&["INT", "INT"], Some(130)),
];

/// Starts runs and resumes them until they end, and stops them at any moment on the way, until each way to stop has occurred
/// and all together as often as `HEADLIGHT_KILLS` says. Every run must end with the undisturbed bytes.
fn stopped_again_and_again(folder: &Path, engine: &str, sets: &str) {
    let wanted = std::env::var("HEADLIGHT_KILLS").ok();
    let wanted = wanted.map_or(24, |count| count.parse().unwrap());
    let undisturbed = folder.join("undisturbed");
    let started = Instant::now();
    finish(&undisturbed, engine, sets);
    let duration = started.elapsed().as_micros() as u64;
    let undisturbed = files(&undisturbed);
    for best in ["best.safetensors", "attention/best.npz"] {
        assert!(undisturbed.contains_key(Path::new(best)), "{best}");
    }

    let mut delays = Delays(7);
    let (mut stops, mut runs) = ([0; STOPS.len()], 0);
    while stops.contains(&0) || stops.iter().sum::<usize>() < wanted {
        runs += 1;
        assert!(runs <= 10 * wanted, "{stops:?} of {runs} runs");
        let run = folder.join(format!("run-{runs}"));
        loop {
            let way = delays.below(STOPS.len() as u64) as usize;
            let (signals, code) = STOPS[way];
            let child = command(&run, engine, sets).spawn().unwrap();
            sleep(Duration::from_micros(delays.below(duration)));
            for (count, signal) in signals.iter().enumerate() {
                sleep(Duration::from_micros(count as u64 * delays.below(5_000)));
                send(&child, signal);
            }
            let finished = Finished::from(child.wait_with_output().unwrap());
            if finished.code == Some(0) {
                break;
            }
            // Before it listens to signals there is nothing to save, and a signal kills it.
            let is_handled = finished.code.is_some();
            assert!(finished.code == code || !is_handled, "{}", finished.stderr);
            let is_saved = mentions(&finished.stderr, "--resume");
            if is_saved {
                check_interrupted(&run, &finished);
            } else {
                assert!(!is_handled || signals.len() == 2, "{}", finished.stderr);
            }
            stops[way] += usize::from(match signals.len() {
                1 => is_saved || code.is_none(),
                _ => is_handled && !is_saved,
            });
            check_best(&run);
        }
        assert_same(&run, &undisturbed, &format!("run {runs}"));
    }
    println!("{}: {stops:?} stops, {runs} runs", folder.display());
}

/// Predicts tokens by a run, with more arguments.
fn predicted(path: &Path, tokens: &str, more: &[&str]) -> Value {
    let predict = ["predict", text(path), "--json", "--tokens", tokens];
    json(&run(&[&predict, more].concat()).done().stdout)
}

/// Wherever a run was stopped: the dump of its best model is of the same weights as `best.safetensors`, or is not there.
fn check_best(run: &Path) {
    let (dump, weights) = (run.join("attention/best.npz"), run.join("best.safetensors"));
    if !dump.exists() {
        return;
    }
    let dump = read_dump(dump);
    let tokens: Vec<String> = dump.tokens(0).iter().map(i64::to_string).collect();
    let found = predicted(run, &tokens.join(" "), &["--weights", text(&weights)]);
    assert_eq!(found["logits"][0].as_f64(), Some(f64::from(dump.logits[0])));
    let step = dump.meta.step.map(|step| step as u64);
    assert_eq!(found["step"].as_u64(), step);
}

/// The last row is the saved model's, between two evaluations too. A resumed run drops it again: it ends with the bytes of an
/// undisturbed one.
fn check_interrupted(path: &Path, finished: &Finished) {
    refused(&run(&["verify", text(path)]), &["not finished", "--resume"]);
    let every = config_of(path)["training"]["evaluate_every"].as_integer();
    let rows = metrics(path);
    let steps = rows.iter().map(|row| row["step"].as_u64().unwrap());
    let steps: Vec<u64> = steps.collect();
    let (last, before) = steps.split_last().unwrap();
    assert!(mentions(&finished.stderr, &format!("step {last}")));
    assert_eq!(checkpoint(path).counters.progress.step as u64, *last);
    let is_evaluation = |step: &u64| step.is_multiple_of(every.unwrap() as u64);
    assert!(before.iter().all(is_evaluation), "{before:?}");
    // Until the run is resumed, its last model may be its best.
    let loss = |row: &Value| row["held_out_loss"].as_f64().unwrap();
    let best = rows.iter().min_by(|a, b| loss(a).total_cmp(&loss(b)));
    let found = predicted(path, "0 1 2 3 4 5 6", &[]);
    assert_eq!(found["step"], best.unwrap()["step"]);
    // The report has the step of the interruption, and its attention.
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    for part in [&last.to_string(), "sample 0", "head 0"] {
        assert!(mentions(&report, part), "{part}: {report}");
    }
}

#[test]
fn stopped_at_any_moment_fused() {
    stopped_again_and_again(&folder("stopped-fused"), "fused", "");
}

#[test]
fn stopped_at_any_moment_burn() {
    stopped_again_and_again(&folder("stopped-burn"), "burn", "");
}

/// Patience ends a run at the same step whether or not it was stopped on the way.
#[test]
fn stopped_at_any_moment_before_patience_runs_out() {
    let sets = "training.patience=3 training.epochs=40 training.learning_rate=0.15 training.evaluate_every=10 \
                data.samples=160 data.held_out=100 data.positive_rate=0.5";
    let folder = folder("stopped-patience");
    stopped_again_and_again(&folder, "fused", sets);
    let last = metrics(&folder.join("undisturbed")).pop().unwrap();
    assert!(last["step"].as_u64().unwrap() < 400, "it stopped early");
}

/// The last good checkpoint stays, and resumes. Weights can be finite while Adam's moments are not; such a state is
/// divergence, too, and is not saved.
#[test]
fn divergence_keeps_the_last_good_checkpoint() {
    let folder = folder("diverged_kept");
    let moments = "training.learning_rate=1e7 training.epsilon=1e-30 training.epochs=1 data.samples=32 data.held_out=0 \
                   training.keep_best=loss";
    let weights = "training.learning_rate=1e18";
    for (name, engine, rate, sets) in [
        ("fused", "fused", "1e18", weights),
        ("burn", "burn", "1e18", weights),
        ("moments", "fused", "1e7", moments),
    ] {
        let path = folder.join(name);
        let sets = format!("{sets} checkpoint.every_steps=1");
        let parts = ["training.learning_rate", rate, text(&path), "step 1"];
        let diverged = attempt(&path, engine, &sets);
        ended(&diverged, 3, &parts);
        ended(&diverged, 3, &["best.safetensors", "step 0"]);
        assert!(!path.join("report.md").exists());
        assert_eq!(checkpoint(&path).counters.progress.step, 1);
        assert!(path.join("best.safetensors").is_file());
        check_best(&path);
        ended(&attempt(&path, engine, &sets), 3, &["2"]);
    }
    // The dump of the step that diverges comes before any checkpoint.
    let path = folder.join("dumped");
    let diverged = attempt(&path, "fused", &format!("{weights} dump.every_steps=1"));
    ended(&diverged, 3, &["training.learning_rate", "1e18"]);
    assert!(!path.join("report.md").exists());
    run(&["verify", text(&path)]).done();
    fs::write(path.join("metrics.jsonl"), "").unwrap();
    ended(&run(&["verify", text(&path)]), 2, &[]);
}

/// A file that may not grow, and then a full disk, end a run with exit code 1; what is left is whole, and resumes. The disk is a
/// small tmpfs in a mount namespace of its own, which Linux lets any user create unless it is switched off.
#[test]
fn a_full_disk_loses_nothing() {
    let folder = folder("full-disk");
    let [disk, saved] = ["disk", "saved"].map(|name| folder.join(name));
    fs::create_dir(&disk).unwrap();
    let sets =
        "training.evaluate_every=1 training.save_weights=false dump.positives=0 dump.negatives=0";
    finish(&folder.join("undisturbed"), "fused", sets);
    let undisturbed = files(&folder.join("undisturbed"));
    let path = disk.join("run");
    let train = command(&path, "fused", sets);
    let small_files = [0, 1, 3, 8, 16, 40].map(|size| {
        let limit = format!("ulimit -f {size}");
        (limit, "bash", &["ulimit -f"][..])
    });
    // No space left on device.
    let parts = ["os error 28", "--resume", text(&path)];
    let small_disks = (20..).step_by(24).map(|size| {
        let mount = format!("mount -t tmpfs -o size={size}k tmpfs '{}'", text(&disk));
        let shell = "unshare --user --map-root-user --mount bash";
        (mount + " || exit 99", shell, &parts[..])
    });
    let mut count = 0;
    for (limit, shell, parts) in small_files.into_iter().chain(small_disks) {
        let [from, to] = [&path, &saved].map(|path| text(path));
        let script = format!("{limit}; \"$@\"; code=$?; mv '{from}' '{to}'; exit $code");
        let mut shell = shell.split(' ').chain(["-c", &script, "bash"]);
        let mut bash = Command::new(shell.next().unwrap());
        bash.args(shell)
            .arg(train.get_program())
            .args(train.get_args());
        let bash = bash.current_dir(train.get_current_dir().unwrap());
        let finished = Finished::from(bash.output().unwrap());
        if finished.code == Some(99) {
            println!("not tried: no tmpfs can be mounted here");
            return;
        }
        let names = fs::read_dir(&saved).into_iter().flatten();
        let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(
            !names.any(|name| name.starts_with(".unfinished-")),
            "{limit}"
        );
        if finished.code == Some(0) {
            // The page alone may be missing: a run is complete without it.
            break;
        }
        count += 1;
        ended(&finished, 1, parts);
        assert_eq!(finished.stderr.matches("error: ").count(), 1);
        let rows = fs::read(saved.join("metrics.jsonl")).unwrap_or_default();
        assert!(rows.is_empty() || rows.ends_with(b"\n"), "{limit}");
        finish(&saved, "fused", sets);
        assert_same(&saved, &undisturbed, &limit);
        fs::remove_dir_all(&saved).unwrap();
    }
    assert!(count > 11, "{count} disks were full");
}
