//! Headlight in scripts: one line of JSON, pipes, silence, completions and manual pages.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{
    Finished, asked, fed, folder, metrics, printed, refused, refuses_each, refuses_typed, typed,
};

const SHORT: &str = "--set training.epochs=1 --set data.samples=256";

#[test]
fn results_are_one_line_of_json() {
    let folder = folder("scripts_json");
    let trained = asked(&folder, &format!("train quick --run run {SHORT}"));
    let last = metrics(&folder.join("run")).pop().unwrap();
    assert_eq!(trained["metrics"], last);
    assert_eq!(trained["step"], trained["steps"]);
    assert_eq!(trained["run"], "run");
    let report = fs::read_to_string(folder.join("run/report.md")).unwrap();
    let outcome = trained["outcome"].as_str().unwrap();
    assert!(report.lines().any(|line| line == outcome), "{outcome}");
    let learned = last["held_out_f1"].as_f64() >= Some(0.99);
    assert_eq!(trained["learned"], learned);
    for file in ["report", "page"] {
        assert!(folder.join(trained[file].as_str().unwrap()).is_file());
    }
    let again = asked(&folder, "train --resume --run run");
    assert_eq!(again, trained, "a run that has ended says the same");

    let sample = asked(&folder, "predict run --tokens '0 45 48 42 4 4 40'");
    let weights = sample["attention_of_readout"][0][0].as_array().unwrap();
    let sum: f64 = weights.iter().map(|weight| weight.as_f64().unwrap()).sum();
    assert!(weights.len() == 7 && (sum - 1.0).abs() < 1e-5, "{sample}");
    assert_eq!(sample["label"], 1);
    let (logit, probability) = (&sample["logits"][0], &sample["probabilities"][0]);
    let sigmoid = 1.0 / (1.0 + (-logit.as_f64().unwrap()).exp());
    assert!((sigmoid - probability.as_f64().unwrap()).abs() < 1e-6);

    let samples = "0 45 48 42 4 4 40\n0 1 2 3 4 5 6\n";
    fs::write(folder.join("samples.txt"), samples).unwrap();
    let of_file = "predict run samples.txt --json";
    refuses_typed(&folder, of_file, &["--json", "--out"]);
    let count = asked(&folder, "predict run samples.txt --out out.jsonl");
    assert_eq!(count["samples"], 2);

    let compared = asked(&folder, "compare run run");
    assert_eq!(compared["runs"][1]["metrics"], last);
    assert_eq!(compared["runs"][0]["config"]["training"]["epochs"], 1);

    let sweep = format!("sweep quick --seeds 0..5 --out seeds.jsonl {SHORT}");
    typed(&folder, &sweep).done();
    let report = asked(&folder, "report seeds.jsonl");
    assert_eq!([&report["runs"], &report["failed"]], [5, 0]);
    let share = report["learned"].as_f64().unwrap() / 5.0;
    assert_eq!(report["learned_share"].as_f64(), Some(share));
    let loss = &report["samples"]["final_loss"];
    for key in ["mean", "margin", "median"] {
        assert!(loss[key].as_f64() > Some(0.0), "{report}");
    }

    let devices = asked(&folder, "devices");
    assert!(devices["devices"].as_array().unwrap().len() > 1);
}

/// Whether a model has learned, in a run that has; and nothing on standard output where training failed.
#[test]
fn a_verdict_or_nothing_is_printed() {
    let folder = folder("scripts_verdict");
    let train = "train quick --set training.learning_rate";
    for (rate, learned) in [("1e-2", true), ("1e-9", false)] {
        assert_eq!(
            asked(&folder, &format!("{train}={rate}"))["learned"],
            learned
        );
    }
    let diverged = typed(&folder, &format!("{train}=1e18 --json"));
    assert_eq!((diverged.code, &*diverged.stdout), (Some(3), ""));
}

#[test]
fn dashes_are_standard_input_and_output() {
    let folder = folder("scripts_pipes");
    typed(&folder, "init quick").done();
    let config = fs::read_to_string(folder.join("quick.toml")).unwrap();
    let piped = |line: &str, input: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        fed(&folder, &words, input)
    };
    piped(&format!("train - --run run {SHORT}"), &config).done();
    typed(&folder, &format!("train quick --run named {SHORT}")).done();
    for file in ["model.safetensors", "config.toml", "loss.npy"] {
        let read = |run: &str| fs::read(folder.join(run).join(file)).unwrap();
        assert!(read("run") == read("named"), "{file}");
    }

    typed(&folder, "data quick --out data.csv").done();
    let data = typed(&folder, "data quick --out -").done();
    let same = |printed: &Finished, file: &str| {
        let written = fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(printed.stdout, written);
        // What was written is told elsewhere.
        assert!(!printed.stderr.is_empty());
    };
    same(&data, "data.csv");

    let samples = "0 45 48 42 4 4 40\n0 1 2 3 4 5 6\n";
    fs::write(folder.join("samples.txt"), samples).unwrap();
    typed(&folder, "predict run samples.txt --out predictions.csv").done();
    for line in ["predict run -", "predict run - --out -"] {
        same(&piped(line, samples).done(), "predictions.csv");
    }

    let wrong = piped("predict run -", "0 1 2 3 4 5 6\n0 x\n");
    refused(&wrong, &["standard input", "line 2", "`x`"]);

    let sweep = "sweep quick --seeds 0..5 --out";
    typed(&folder, &format!("{sweep} seeds.jsonl {SHORT}")).done();
    refuses_typed(&folder, &format!("{sweep} -"), &["--out"]);
    refuses_typed(&folder, "train quick --run -", &["--run"]);
    let config = format!("sede = 1\n{config}");
    refused(&piped("train -", &config), &["standard input:"]);
    let merged = typed(&folder, "merge seeds.jsonl --out -").done();
    same(&merged, "seeds.jsonl");
    // Beside standard input there is no config of the sweep.
    fs::copy(folder.join("seeds.jsonl"), folder.join("alone.jsonl")).unwrap();
    let told = printed(&folder, "report alone.jsonl");
    assert_eq!(piped("report -", &merged.stdout).done().stdout, told);
}

/// The result is the same; notes and progress are left out, errors are not.
#[test]
fn quiet_leaves_results_and_errors() {
    let folder = folder("scripts_quiet");
    let [usual, quiet, verbose] = ["", "-q", "-v"].map(|flag| {
        let folder = folder.join(format!("run{flag}"));
        fs::create_dir(&folder).unwrap();
        typed(&folder, &format!("train quick {SHORT} {flag}")).done()
    });
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout, usual.stdout);
    // Details about the model follow: its report.
    assert!(verbose.stdout.starts_with(&usual.stdout));
    let mut lines = usual.stderr.lines();
    assert!(lines.all(|line| verbose.stderr.contains(line)));
    assert!(verbose.stderr.contains("fused") && !usual.stderr.contains("fused"));
    refuses_typed(&folder, "train -q nothing.toml", &["nothing.toml"]);
    refuses_typed(&folder, "train -q -v", &["--quiet", "--verbose"]);
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
        let script = printed(&folder, &format!("completions {shell}"));
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    let manual = printed(&folder, "man");
    for command in commands {
        assert!(manual.contains(command), "{command}");
        let page = printed(&folder, &format!("man {command}"));
        assert!(page.contains(".TH") && page.contains("OPTIONS"), "{page}");
    }
    let refused = "man nothing | nothing\ncompletions nothing | nothing | bash";
    refuses_each(&folder, "", refused);
}

/// `docs/reference/scripts.md` lists the commands with `--json`.
#[test]
fn the_documented_list_of_json_is_complete() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scripts.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("With `--json`, the commands").unwrap();
    let (list, _) = rest.split_once("print").unwrap();
    let mut listed: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    listed.sort_unstable();
    let program = headlight::command();
    let commands = program.get_subcommands();
    let with = commands.filter(|own| own.get_arguments().any(|one| one.get_id() == "json"));
    let mut with: Vec<&str> = with.map(clap::Command::get_name).collect();
    with.sort_unstable();
    assert_eq!(listed, with);
}
