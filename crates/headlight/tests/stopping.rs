//! Runs that are killed, interrupted, or stopped by a full disk: what is left is whole, and a resumed run ends
//! with the files of the undisturbed one.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::runs::{assert_same, attempt, checkpoint, command, files, finish};
use crate::common::{
    Delays, Finished, ended, folder, mentions, metrics, read_dump, run, send, text,
};

/// How many stops each engine has to survive.
fn stops_wanted() -> u32 {
    let wanted = std::env::var("HEADLIGHT_KILLS").ok();
    wanted.map_or(12, |count| count.parse().unwrap())
}

/// Starts runs and resumes them until they end, and stops them at any moment on the way. Every run must end
/// with the undisturbed bytes.
///
/// Once `wanted` attempts have ended as `stopped` wants it, no run is started any more.
fn stopped_again_and_again(
    name: &str,
    engine: &str,
    sets: &str,
    stop: impl Fn(&Child, &mut Delays),
    wanted: u32,
    stopped: impl Fn(&Finished) -> bool,
) {
    let folder = folder(&format!("stopped-{name}"));
    let undisturbed = folder.join("undisturbed");
    let started = Instant::now();
    finish(&undisturbed, engine, sets);
    let duration = started.elapsed().as_micros() as u64;
    let undisturbed = files(&undisturbed);
    for best in ["best.safetensors", "attention/best.npz"] {
        assert!(undisturbed.contains_key(Path::new(best)), "{best}");
    }

    let mut delays = Delays(7);
    let (mut stops, mut runs) = (0, 0);
    while stops < wanted {
        runs += 1;
        assert!(runs <= 10 * wanted, "{stops} of {runs} runs were stopped");
        let run = folder.join(format!("run-{runs}"));
        loop {
            let child = command(&run, engine, sets).spawn().unwrap();
            sleep(Duration::from_micros(delays.below(duration)));
            stop(&child, &mut delays);
            let finished = Finished::from(child.wait_with_output().unwrap());
            if finished.code == Some(0) {
                break;
            }
            stops += u32::from(stopped(&finished));
            best_of_one_step(&run);
        }
        assert_same(&run, &undisturbed, &format!("run {runs}"));
    }
    println!("{name}: {stops} stops, {runs} runs");
}

/// Predicts tokens by a run, with more arguments.
fn predicted(path: &Path, tokens: &str, more: &[&str]) -> serde_json::Value {
    let predict = ["predict", text(path), "--json", "--tokens", tokens];
    serde_json::from_str(&run(&[&predict, more].concat()).done().stdout).unwrap()
}

/// Wherever a run was stopped: the dump of its best model is of the same weights as `best.safetensors`, or is not there.
fn best_of_one_step(run: &Path) {
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

fn killed(name: &str, engine: &str, sets: &str) {
    let kill = |child: &Child, _: &mut Delays| send(child, "KILL");
    let was_killed = |finished: &Finished| {
        assert_eq!(finished.code, None, "{}", finished.stderr);
        true
    };
    stopped_again_and_again(name, engine, sets, kill, stops_wanted(), was_killed);
}

/// A run that handles the signal exits with `code` and says how to resume. Before it listens to signals there is
/// nothing to save, and the signal kills it.
fn interrupted(engine: &str, signal: &str, code: i32) {
    let interrupt = |child: &Child, _: &mut Delays| send(child, signal);
    let was_handled = |finished: &Finished| {
        let is_handled = mentions(&finished.stderr, "--resume");
        let expected = is_handled.then_some(code);
        assert_eq!(finished.code, expected, "{}", finished.stderr);
        is_handled
    };
    let name = format!("{engine}-{signal}");
    stopped_again_and_again(&name, engine, "", interrupt, stops_wanted(), was_handled);
}

#[test]
fn killed_at_any_moment_fused() {
    killed("fused-KILL", "fused", "");
}

#[test]
fn killed_at_any_moment_burn() {
    killed("burn-KILL", "burn", "");
}

#[test]
fn interrupted_at_any_moment_fused() {
    interrupted("fused", "INT", 130);
}

#[test]
fn interrupted_at_any_moment_burn() {
    interrupted("burn", "TERM", 143);
}

/// Schedulers send SIGUSR1 some time before their limit.
#[test]
fn warned_at_any_moment() {
    interrupted("fused", "USR1", 138);
}

/// The second signal stops a run before it has saved anything, and still leaves no half-written file.
#[test]
fn interrupted_twice_at_any_moment() {
    let twice = |child: &Child, delays: &mut Delays| {
        send(child, "INT");
        sleep(Duration::from_micros(delays.below(5_000)));
        send(child, "INT");
    };
    let at_once = |finished: &Finished| {
        let code = finished.code;
        assert!(matches!(code, None | Some(130)), "{}", finished.stderr);
        code.is_some() && !mentions(&finished.stderr, "--resume")
    };
    stopped_again_and_again("twice", "fused", "", twice, 6, at_once);
}

/// The last row is the saved model's, between two evaluations too. That a resumed run drops it is seen above: it
/// ends with the bytes of an undisturbed run.
#[test]
fn an_interrupted_run_ends_with_the_row_of_its_model() {
    for engine in ["fused", "burn"] {
        let path = folder(&format!("last-row-{engine}")).join("run");
        let between = |step: &u64| !step.is_multiple_of(25);
        let mut interrupted_between = false;
        while !interrupted_between {
            let _ = fs::remove_dir_all(&path);
            // The only checkpoint is that of the interrupted run.
            let sets = "training.epochs=10000 checkpoint.every_steps=1000000";
            let child = command(&path, engine, sets).spawn().unwrap();
            while !path.join("attention/step-000030.npz").exists() {
                sleep(Duration::from_millis(1));
            }
            send(&child, "INT");
            let finished = Finished::from(child.wait_with_output().unwrap());
            let rows = metrics(&path);
            let steps = rows.iter().map(|row| row["step"].as_u64().unwrap());
            let steps: Vec<u64> = steps.collect();
            let (last, before) = steps.split_last().unwrap();
            ended(&finished, 130, &[&format!("step {last}")]);
            assert_eq!(checkpoint(&path).counters.progress.step as u64, *last);
            assert!(!before.iter().any(between), "{before:?}");
            interrupted_between = between(last);
            best_of_one_step(&path);
            // Until the run is resumed, its last model may be its best.
            let loss = |row: &serde_json::Value| row["held_out_loss"].as_f64().unwrap();
            let best = rows.iter().min_by(|a, b| loss(a).total_cmp(&loss(b)));
            let found = predicted(&path, "0 1 2 3 4 5 6", &[]);
            assert_eq!(found["step"], best.unwrap()["step"]);
            // The report has the step of the interruption, and its attention.
            let report = fs::read_to_string(path.join("report.md")).unwrap();
            for part in [&last.to_string(), "10000", "sample 0", "head 0"] {
                assert!(mentions(&report, part), "{part}: {report}");
            }
        }
    }
}

/// Patience ends a run at the same step whether or not it was killed on the way, and the best model is kept
/// rather than the last.
#[test]
fn patience_and_the_best_model_survive_kills() {
    let sets = "training.patience=3 training.epochs=40 training.learning_rate=0.05 training.evaluate_every=10 \
                training.keep_best=held_out_accuracy data.samples=160 data.held_out=100";
    let whole = folder("patience").join("whole");
    finish(&whole, "fused", sets);
    let lines = metrics(&whole);
    let accuracies = lines.iter().map(|line| line["held_out_accuracy"].as_f64());
    let accuracies: Vec<f64> = accuracies.map(Option::unwrap).collect();
    let best = accuracies.iter().copied().fold(0.0, f64::max);
    let at = accuracies.iter().position(|&value| value >= best).unwrap();
    assert_eq!(accuracies.len(), at + 4, "{accuracies:?}");
    assert!(lines.len() < 41, "it stopped early");
    let report = fs::read_to_string(whole.join("report.md")).unwrap();
    let (best, step) = (format!("{best:.6}"), format!("step {}", lines[at]["step"]));
    for part in ["held_out_accuracy", &best, &step, "3"] {
        assert!(mentions(&report, part), "{part}: {report}");
    }

    killed("patience", "fused", sets);
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
        best_of_one_step(&path);
        ended(&attempt(&path, engine, &sets), 3, &["2"]);
    }
    // The dump of the step that diverges comes before any checkpoint.
    let path = folder.join("dumped");
    let diverged = attempt(&path, "fused", &format!("{weights} dump.every_steps=1"));
    ended(&diverged, 3, &["training.learning_rate", "1e18"]);
    assert!(!path.join("report.md").exists());
}

/// A shell script that runs a command, its arguments, on a disk of some size: a small tmpfs in a mount namespace of its own,
/// which Linux lets any user create unless it is switched off. What the run wrote is copied to `saved`.
fn on_a_small_disk(kilobytes: usize, disk: &Path, saved: &Path) -> Command {
    let script = format!(
        "mount -t tmpfs -o size={kilobytes}k tmpfs '{disk}' || exit 99\n\
         \"$@\"; code=$?; [ ! -e '{disk}/run' ] || cp -r '{disk}/run' '{}'; exit $code",
        text(saved),
        disk = text(disk),
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    unshare.args([&script, "sh"]);
    unshare
}

/// Runs that fill their disk, early or late, end with exit code 1, and resume on another one. With `tmpfs` in
/// `HEADLIGHT_EXPECT` the test fails where no such disk can be mounted.
#[test]
fn a_full_disk_loses_nothing() {
    let folder = folder("full-disk");
    let disk = folder.join("disk");
    fs::create_dir(&disk).unwrap();
    let mut probe = on_a_small_disk(64, &disk, &folder.join("probe"));
    let probe = probe.arg("true").stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        let expected = std::env::var("HEADLIGHT_EXPECT").unwrap_or_default();
        assert!(!expected.contains("tmpfs"), "no tmpfs can be mounted");
        println!("not tried: no tmpfs can be mounted here");
        return;
    }
    let undisturbed = folder.join("undisturbed");
    finish(&undisturbed, "fused", "");
    let undisturbed = files(&undisturbed);
    let mut full = 0;
    for kilobytes in (20..).step_by(24) {
        let saved = folder.join(format!("saved-{kilobytes}"));
        let path = disk.join("run");
        let train = command(&path, "fused", "");
        let mut script = on_a_small_disk(kilobytes, &disk, &saved);
        let script = script.arg(train.get_program()).args(train.get_args());
        let root = train.get_current_dir().unwrap();
        let finished = Finished::from(script.current_dir(root).output().unwrap());
        let mut names = fs::read_dir(&saved).unwrap();
        let is_unfinished = |name: &str| name.starts_with(".unfinished-");
        assert!(
            !names.any(|entry| is_unfinished(entry.unwrap().file_name().to_str().unwrap())),
            "{kilobytes} KiB"
        );
        if finished.code == Some(0) {
            // The page alone may be missing: a run is complete without it.
            break;
        }
        full += 1;
        // No space left on device.
        ended(&finished, 1, &["os error 28", "--resume", text(&path)]);
        finish(&saved, "fused", "");
        assert_same(&saved, &undisturbed, &format!("{kilobytes} KiB"));
    }
    assert!(full > 5, "{full} disks were full");
}
