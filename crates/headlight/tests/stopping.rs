//! Runs that are killed, interrupted, or stopped by a full disk: what is left is whole, and a resumed run ends
//! with the files of the undisturbed one.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use headlight_dump::AttentionDump;

use crate::common::runs::{assert_same, attempt, checkpoint, command, files, finish};
use crate::common::{Delays, Finished, ended, folder, mentions, metrics, send, text};

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
    more: &[&str],
    stop: impl Fn(&Child, &mut Delays),
    wanted: u32,
    stopped: impl Fn(&Finished) -> bool,
) {
    let folder = folder(&format!("stopped-{name}"));
    let undisturbed = folder.join("undisturbed");
    let started = Instant::now();
    finish(&undisturbed, engine, more);
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
            let child = command(&run, engine, more).spawn().unwrap();
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

/// Wherever a run was stopped: the dump of its best model is of the same weights as `best.safetensors`, or is not there.
fn best_of_one_step(run: &Path) {
    let (dump, weights) = (run.join("attention/best.npz"), run.join("best.safetensors"));
    if !dump.exists() {
        return;
    }
    let file = BufReader::new(fs::File::open(dump).unwrap());
    let dump = AttentionDump::read_npz(file).unwrap();
    let tokens: Vec<String> = dump.tokens(0).iter().map(i64::to_string).collect();
    let predict = [
        "predict",
        text(run),
        "--json",
        "--tokens",
        &tokens.join(" "),
    ];
    let predict = [&predict[..], &["--weights", text(&weights)]].concat();
    let found = crate::common::run(&predict).done().stdout;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["logits"][0].as_f64(), Some(f64::from(dump.logits[0])));
    assert_eq!(
        found["step"].as_u64(),
        dump.meta.step.map(|step| step as u64)
    );
}

fn killed(name: &str, engine: &str, more: &[&str]) {
    let kill = |child: &Child, _: &mut Delays| send(child, "KILL");
    let was_killed = |finished: &Finished| {
        assert_eq!(finished.code, None, "{}", finished.stderr);
        true
    };
    stopped_again_and_again(name, engine, more, kill, stops_wanted(), was_killed);
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
    stopped_again_and_again(&name, engine, &[], interrupt, stops_wanted(), was_handled);
}

#[test]
fn killed_at_any_moment_fused() {
    killed("fused-KILL", "fused", &[]);
}

#[test]
fn killed_at_any_moment_burn() {
    killed("burn-KILL", "burn", &[]);
}

#[test]
fn interrupted_at_any_moment_fused() {
    interrupted("fused", "INT", 130);
}

#[test]
fn interrupted_at_any_moment_burn() {
    interrupted("burn", "TERM", 143);
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
            let more = ["training.epochs=10000", "checkpoint.every_steps=1000000"];
            let more = more.map(|set| ["--set", set]);
            let child = command(&path, engine, more.as_flattened()).spawn().unwrap();
            while !path.join("attention/step-000030.npz").exists() {
                sleep(Duration::from_millis(1));
            }
            send(&child, "INT");
            let finished = Finished::from(child.wait_with_output().unwrap());
            let steps = metrics(&path).into_iter().map(|row| row["step"].as_u64());
            let steps: Vec<u64> = steps.map(Option::unwrap).collect();
            let (last, before) = steps.split_last().unwrap();
            ended(&finished, 130, &[&format!("step {last}")]);
            assert_eq!(checkpoint(&path).counters.progress.step as u64, *last);
            assert!(!before.iter().any(between), "{before:?}");
            interrupted_between = between(last);
            best_of_one_step(&path);
            // Until the run is resumed, its last model may be its best.
            let loss = |row: &serde_json::Value| row["held_out_loss"].as_f64().unwrap();
            let rows = metrics(&path);
            let best = rows.iter().min_by(|a, b| loss(a).total_cmp(&loss(b)));
            let named = [
                "predict",
                text(&path),
                "--json",
                "--tokens",
                "0 1 2 3 4 5 6",
            ];
            let found = crate::common::run(&named).done().stdout;
            let found: serde_json::Value = serde_json::from_str(&found).unwrap();
            assert_eq!(found["step"], best.unwrap()["step"]);
        }
    }
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
    stopped_again_and_again("twice", "fused", &[], twice, 6, at_once);
}

/// Patience ends a run at the same step whether or not it was killed on the way, and the best model is kept
/// rather than the last.
#[test]
fn patience_and_the_best_model_survive_kills() {
    let sets = [
        "training.patience=3",
        "training.epochs=40",
        "training.learning_rate=0.05",
        "training.evaluate_every=10",
        "training.keep_best=held_out_accuracy",
        "data.samples=160",
        "data.held_out=100",
    ];
    let more: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
    let whole = folder("patience").join("whole");
    finish(&whole, "fused", &more);
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

    killed("patience", "fused", &more);
}

#[test]
fn divergence_keeps_the_last_good_checkpoint() {
    let folder = folder("diverged_kept");
    for engine in ["fused", "burn"] {
        // With a dump on the step that diverges, and without.
        for dump_every in ["1", "30"] {
            let path = folder.join(format!("{engine}-{dump_every}"));
            let every = format!("dump.every_steps={dump_every}");
            let sets = ["training.learning_rate=1e18", "checkpoint.every_steps=1"];
            let sets = sets.into_iter().chain([every.as_str()]);
            let more: Vec<&str> = sets.flat_map(|set| ["--set", set]).collect();
            let finished = attempt(&path, engine, &more);
            let place = text(&path);
            ended(&finished, 3, &["training.learning_rate", "1e18", place]);
            assert!(!path.join("report.md").exists());
            if dump_every == "1" {
                // The dump after the first step comes before any checkpoint.
                continue;
            }
            let kept = ["step 1", "best.safetensors", "step 0"];
            ended(&finished, 3, &kept);
            assert_eq!(checkpoint(&path).counters.progress.step, 1);
            assert!(path.join("best.safetensors").is_file());
            best_of_one_step(&path);
        }
    }
}

/// Weights can be finite while Adam's moments are not; such a state cannot be resumed, and so is not saved.
#[test]
fn moments_that_overflow_are_divergence() {
    let path = folder("moments").join("run");
    let sets = [
        "training.learning_rate=1e7",
        "training.epsilon=1e-30",
        "training.epochs=1",
        "data.samples=32",
        "data.held_out=0",
        "training.keep_best=loss",
        "checkpoint.every_steps=1",
    ];
    let more: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
    let diverged = attempt(&path, "fused", &more);
    ended(&diverged, 3, &["training.learning_rate"]);
    assert!(!path.join("report.md").exists());
    // The first step is saved, and resumes; the second is not.
    assert_eq!(checkpoint(&path).counters.progress.step, 1);
    ended(&attempt(&path, "fused", &more), 3, &["2"]);
}

/// `headlight train | head -1` succeeds, and so does the run.
#[test]
fn a_closed_pipe_does_not_stop_a_run() {
    let path = folder("closed-pipe").join("run");
    let mut child = command(&path, "fused", &[])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(path.join("report.md").is_file());
}

#[test]
fn a_deleted_run_directory_is_reported() {
    let path = folder("vanished").join("run");
    let child = command(&path, "burn", &["--set", "training.epochs=10000"])
        .spawn()
        .unwrap();
    while !path.join("attention/step-000030.npz").exists() {
        sleep(Duration::from_millis(1));
    }
    // The run may write a file while its folder is being removed.
    while fs::remove_dir_all(&path).is_err() && path.exists() {}
    let finished = Finished::from(child.wait_with_output().unwrap());
    ended(&finished, 1, &[text(&path)]);
    assert!(!path.exists());
}

/// Runs that fill their disk, early or late, resume on another one. Each disk is a small tmpfs in a mount
/// namespace of its own, which Linux lets any user create unless it is switched off; with `tmpfs` in
/// `HEADLIGHT_EXPECT` the test fails where it is.
#[test]
fn a_full_disk_loses_nothing() {
    let folder = folder("full-disk");
    let can_mount = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "mount"])
        .args(["-t", "tmpfs", "tmpfs", text(&folder)])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !can_mount {
        let expected = std::env::var("HEADLIGHT_EXPECT").unwrap_or_default();
        assert!(!expected.contains("tmpfs"), "no tmpfs can be mounted");
        println!("not tried: no tmpfs can be mounted here");
        return;
    }
    let undisturbed = folder.join("undisturbed");
    finish(&undisturbed, "fused", &[]);
    let undisturbed = files(&undisturbed);
    let disk = folder.join("disk");
    fs::create_dir(&disk).unwrap();
    let mut full = 0;
    for kilobytes in (20..).step_by(24) {
        let saved = folder.join(format!("saved-{kilobytes}"));
        let run = disk.join("run");
        let train = command(&run, "fused", &[]);
        let script = format!(
            "mount -t tmpfs -o size={kilobytes}k tmpfs '{}' || exit 99\n\
             \"$@\"; code=$?; cp -r '{}' '{}'; exit $code",
            text(&disk),
            text(&run),
            text(&saved)
        );
        let output = Command::new("unshare")
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                &script,
                "sh",
            ])
            .arg(train.get_program())
            .args(train.get_args())
            .current_dir(train.get_current_dir().unwrap())
            .output();
        let finished = Finished::from(output.unwrap());
        let unfinished = fs::read_dir(&saved).unwrap().any(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.starts_with(".unfinished-")
        });
        assert!(!unfinished, "{kilobytes} KiB");
        if finished.code == Some(0) {
            // The page alone may be missing: a run is complete without it.
            break;
        }
        full += 1;
        // No space left on device.
        ended(&finished, 1, &["os error 28", "--resume", text(&run)]);
        finish(&saved, "fused", &[]);
        assert_same(&saved, &undisturbed, &format!("{kilobytes} KiB"));
    }
    assert!(full > 5, "{full} disks were full");
}
