//! Headlight in scripts: one line of JSON, pipes, silence, completions and manual pages.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{Finished, fed, folder, refused, run_in, typed};
use serde_json::Value;

const SHORT: [&str; 4] = ["--set", "training.epochs=1", "--set", "data.samples=256"];

/// The object that is all of standard output, on one line.
fn object(finished: Finished) -> Value {
    let Finished { stdout, .. } = finished.done();
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert!(value.is_object(), "{stdout}");
    value
}

#[test]
fn results_are_one_line_of_json() {
    let folder = folder("scripts_json");
    let train = ["train", "quick", "--run", "run", "--json"];
    let trained = run_in(&folder, &[&train[..], &SHORT].concat()).done();
    assert!(!trained.stderr.contains("## Model"));
    let trained = object(trained);
    let last = fs::read_to_string(folder.join("run/metrics.jsonl")).unwrap();
    let last: Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(trained["metrics"], last);
    assert_eq!(trained["step"], trained["steps"]);
    assert_eq!(trained["run"], "run");
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    let outcome = trained["outcome"].as_str().unwrap();
    assert!(report.lines().any(|line| line == outcome), "{outcome}");
    assert_eq!(
        trained["learned"],
        last["held_out_f1"].as_f64() >= Some(0.99)
    );
    assert!(folder.join(trained["report"].as_str().unwrap()).is_file());
    assert!(folder.join(trained["page"].as_str().unwrap()).is_file());
    let again = object(typed(&folder, "train --resume --run run --json"));
    assert_eq!(again, trained, "a run that has ended says the same");

    let predict = ["predict", "run", "--json", "--tokens"];
    let sample = object(run_in(
        &folder,
        &[&predict[..], &["0 45 48 42 4 4 40"]].concat(),
    ));
    let weights = sample["attention_of_readout"][0][0].as_array().unwrap();
    let sum: f64 = weights.iter().map(|weight| weight.as_f64().unwrap()).sum();
    assert!(weights.len() == 7 && (sum - 1.0).abs() < 1e-5, "{sample}");
    assert_eq!(sample["label"], 1);
    let (logit, probability) = (&sample["logits"][0], &sample["probabilities"][0]);
    let sigmoid = 1.0 / (1.0 + (-logit.as_f64().unwrap()).exp());
    assert!((sigmoid - probability.as_f64().unwrap()).abs() < 1e-6);

    fs::write(
        folder.join("samples.txt"),
        "0 45 48 42 4 4 40\n0 1 2 3 4 5 6\n",
    )
    .unwrap();
    let of_file = ["predict", "run", "samples.txt", "--json"];
    refused(&run_in(&folder, &of_file), &["--json", "--out"]);
    let count = object(run_in(
        &folder,
        &[&of_file[..], &["--out", "out.jsonl"]].concat(),
    ));
    assert_eq!(count["samples"], 2);

    let compared = object(typed(&folder, "compare run run --json"));
    assert_eq!(compared["runs"][1]["metrics"], last);
    assert_eq!(compared["runs"][0]["config"]["training"]["epochs"], 1);

    let sweep = ["sweep", "quick", "--seeds", "0..5", "--out", "seeds.jsonl"];
    run_in(&folder, &[&sweep[..], &SHORT].concat()).done();
    let report = object(typed(&folder, "report seeds.jsonl --json"));
    assert_eq!((&report["runs"], &report["failed"]), (&5.into(), &0.into()));
    let share = report["learned"].as_f64().unwrap() / 5.0;
    assert_eq!(report["learned_share"].as_f64(), Some(share));
    let loss = &report["samples"]["final_loss"];
    let [mean, margin, median] = ["mean", "margin", "median"].map(|key| loss[key].as_f64());
    assert!(
        mean > Some(0.0) && margin > Some(0.0) && median > Some(0.0),
        "{report}"
    );

    let devices = object(typed(&folder, "devices --json"));
    assert!(devices["devices"].as_array().unwrap().len() > 1);
}

/// Whether a model has learned, in a run that has; and nothing on standard output where training failed.
#[test]
fn a_verdict_or_nothing_is_printed() {
    let folder = folder("scripts_verdict");
    let train = ["train", "quick", "--json", "--set"];
    let rate = |rate: &str| {
        let set = format!("training.learning_rate={rate}");
        run_in(&folder, &[&train[..], &[&set]].concat())
    };
    assert_eq!(object(rate("1e-2"))["learned"], true);
    assert_eq!(object(rate("1e-9"))["learned"], false);
    let diverged = rate("1e18");
    assert_eq!((diverged.code, &*diverged.stdout), (Some(3), ""));
}

#[test]
fn dashes_are_standard_input_and_output() {
    let folder = folder("scripts_pipes");
    let config = typed(&folder, "init quick");
    config.done();
    let config = fs::read_to_string(folder.join("quick.toml")).unwrap();
    let train = ["train", "-", "--run", "run"];
    fed(&folder, &[&train[..], &SHORT].concat(), &config).done();
    run_in(
        &folder,
        &[&["train", "quick", "--run", "named"][..], &SHORT].concat(),
    )
    .done();
    for file in ["model.safetensors", "config.toml", "loss.npy"] {
        let read = |run: &str| fs::read(folder.join(run).join(file)).unwrap();
        assert!(read("run") == read("named"), "{file}");
    }

    typed(&folder, "data quick --out data.csv").done();
    let data = typed(&folder, "data quick --out -").done();
    let same = |printed: &Finished, file: &str| {
        assert_eq!(
            printed.stdout,
            fs::read_to_string(folder.join(file)).unwrap()
        );
        assert!(
            !printed.stderr.is_empty(),
            "what was written is told elsewhere"
        );
    };
    same(&data, "data.csv");

    let samples = "0 45 48 42 4 4 40\n0 1 2 3 4 5 6\n";
    fs::write(folder.join("samples.txt"), samples).unwrap();
    let predict = ["predict", "run"];
    let write = ["samples.txt", "--out", "predictions.csv"];
    run_in(&folder, &[&predict[..], &write].concat()).done();
    for out in [&["-"][..], &["-", "--out", "-"]] {
        let piped = fed(&folder, &[&predict[..], out].concat(), samples).done();
        same(&piped, "predictions.csv");
    }

    let wrong = fed(
        &folder,
        &[&predict[..], &["-"]].concat(),
        "0 1 2 3 4 5 6\n0 x\n",
    );
    refused(&wrong, &["standard input", "line 2", "`x`"]);

    let sweep = ["sweep", "quick", "--seeds", "0..5", "--out"];
    run_in(&folder, &[&sweep[..], &["seeds.jsonl"], &SHORT].concat()).done();
    refused(&run_in(&folder, &[&sweep[..], &["-"]].concat()), &["--out"]);
    refused(&typed(&folder, "train quick --run -"), &["--run"]);
    assert!(!folder.join("-").exists());
    let config = format!("sede = 1\n{config}");
    refused(
        &fed(&folder, &["train", "-"], &config),
        &["standard input:"],
    );
    let merged = typed(&folder, "merge seeds.jsonl --out -").done();
    same(&merged, "seeds.jsonl");
    // Beside standard input there is no config of the sweep.
    fs::copy(folder.join("seeds.jsonl"), folder.join("alone.jsonl")).unwrap();
    let told = typed(&folder, "report alone.jsonl").done().stdout;
    assert_eq!(
        fed(&folder, &["report", "-"], &merged.stdout).done().stdout,
        told
    );
}

/// The result is the same; notes and progress are left out, errors are not.
#[test]
fn quiet_leaves_results_and_errors() {
    let folder = folder("scripts_quiet");
    let train = |name: &str, more: &[&str]| {
        let folder = folder.join(name);
        fs::create_dir(&folder).unwrap();
        run_in(&folder, &[&["train", "quick"][..], &SHORT, more].concat()).done()
    };
    let (usual, quiet, verbose) = (
        train("usual", &[]),
        train("quiet", &["-q"]),
        train("verbose", &["-v"]),
    );
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout, usual.stdout);
    // Details about the model follow: its report.
    assert!(verbose.stdout.starts_with(&usual.stdout));
    assert!(
        usual
            .stderr
            .lines()
            .all(|line| verbose.stderr.contains(line))
    );
    assert!(verbose.stderr.contains("fused") && !usual.stderr.contains("fused"));
    refused(&typed(&folder, "train -q nothing.toml"), &["nothing.toml"]);
    refused(&typed(&folder, "train -q -v"), &["--quiet", "--verbose"]);
}

#[test]
fn shells_and_manuals_know_every_command() {
    let folder = folder("scripts_shell");
    let commands = [
        "train",
        "predict",
        "inspect",
        "sweep",
        "report",
        "completions",
    ];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = typed(&folder, &format!("completions '{shell}'"))
            .done()
            .stdout;
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    let manual = typed(&folder, "man").done().stdout;
    for command in commands {
        assert!(manual.contains(command), "{command}");
        let page = typed(&folder, &format!("man '{command}'")).done().stdout;
        assert!(page.contains(".TH") && page.contains("OPTIONS"), "{page}");
    }
    refused(&typed(&folder, "man nothing"), &["nothing"]);
    refused(&typed(&folder, "completions nothing"), &["nothing", "bash"]);
}

/// `docs/reference/scripts.md` lists the commands with `--json`.
#[test]
fn the_documented_list_of_json_is_complete() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scripts.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("With `--json`, the commands").unwrap();
    let mut listed: Vec<&str> = rest
        .split_once("print")
        .unwrap()
        .0
        .split('`')
        .skip(1)
        .step_by(2)
        .collect();
    listed.sort_unstable();
    let program = headlight::command();
    let commands = program.get_subcommands();
    let with = commands.filter(|own| own.get_arguments().any(|one| one.get_id() == "json"));
    let mut with: Vec<&str> = with.map(clap::Command::get_name).collect();
    with.sort_unstable();
    assert_eq!(listed, with);
}
