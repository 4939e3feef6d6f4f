//! `headlight train`: the files of a run, and what its model has learned.
//!
//! One file, because all its tests share the run that they look at.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{
    Finished, ended, folder, headlight, mentions, metrics, quick_run, refuses, run, run_in, send,
    text,
};
use headlight_dump::AttentionDump;

#[test]
fn a_run_directory_has_all_files() {
    let path = folder("whole").join("run");
    let Finished { stdout, stderr, .. } = quick_run(
        &path,
        &[
            "--verbose",
            "--set",
            "dump.formats=[\"npz\",\"json\",\"csv\"]",
        ],
    );

    // Steps 0, 50, ..., 300; evaluations at the same ones.
    let names = |folder: &str| {
        let entries = fs::read_dir(path.join(folder)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        names(""),
        [
            ".lock",
            "attention",
            "checkpoint",
            "config.toml",
            "environment.json",
            "inspector.html",
            "loss.npy",
            "manifest.sha256",
            "metrics.jsonl",
            "model.safetensors",
            "report.md"
        ]
    );
    let dumps: Vec<String> = (0..=300)
        .step_by(50)
        .flat_map(|step| {
            ["csv", "json", "npz"].map(|extension| format!("step-{step:06}.{extension}"))
        })
        .collect();
    assert_eq!(names("attention"), dumps);

    let lines = metrics(&path);
    let steps: Vec<u64> = lines
        .iter()
        .map(|line| line["step"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, [0, 50, 100, 150, 200, 250, 300]);
    // The losses of an epoch's steps have the mean that its evaluation tells.
    let losses = fs::read(path.join("loss.npy")).unwrap();
    let (header, losses) = losses.split_at(losses.len() - 4 * 300);
    assert!(String::from_utf8_lossy(header).contains("'shape': (300,"));
    let losses: Vec<f64> = losses
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| f64::from(f32::from_le_bytes(bytes)))
        .collect();
    for (epoch, losses) in losses.chunks(100).enumerate() {
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let told = lines[2 * epoch + 2]["train_loss"].as_f64().unwrap();
        assert!((mean - told).abs() < 1e-12, "{mean} {told}");
    }
    let last = lines.last().unwrap();
    for key in ["accuracy", "precision", "recall", "f1", "held_out_f1"] {
        assert_eq!(last[key], 1.0, "{key}");
    }
    assert!(last["attention_positive"].as_f64() > last["uniform_positive"].as_f64());

    let report = fs::read_to_string(path.join("report.md")).unwrap();
    let listed = report.lines().filter(|line| line.contains(": 0 ")).count();
    assert_eq!(listed, 5, "the first positives are listed");
    assert!(mentions(&report, "795") && mentions(&stdout, "795"));
    let end = |text: &str| {
        text[text.find("## Model").unwrap()..text.find("## Predictions").unwrap()].to_owned()
    };
    assert_eq!(end(&report), end(&stdout));
    // A table of the evaluations: its head, and a row for each.
    let head = stderr.lines().skip_while(|line| !line.starts_with("epoch"));
    let table: Vec<&str> = head
        .take_while(|line| !line.starts_with("trained"))
        .collect();
    assert_eq!(table.len(), 1 + 7, "{stderr}");
    let cells: Vec<&str> = table[7].split_whitespace().collect();
    assert_eq!(cells[..2], ["3", "300"], "{stderr}");
    // The loss is that of `metrics.jsonl`, and attention is in multiples of uniform attention.
    let value = |name: &str| last[name].as_f64().unwrap();
    assert_eq!(cells[2], format!("{:.4}", value("loss")));
    let times = value("attention_positive") / value("uniform_positive");
    assert_eq!(cells[6], format!("{times:.2}x"));
    let widest = table.iter().map(|line| line.chars().count()).max();
    assert!(widest <= Some(60), "{stderr}");
}

/// The resolved config repeats a run, and a seed always gives the same bytes.
#[test]
fn the_same_config_gives_the_same_bytes() {
    for engine in ["burn", "fused"] {
        let folder = folder(&format!("bytes-{engine}"));
        let [first, again, other] = ["first", "again", "other"].map(|name| folder.join(name));
        quick_run(&first, &["--engine", engine]);
        let config = first.join("config.toml");
        run(&["train", text(&config), "--run", text(&again)]).done();
        for file in [
            "config.toml",
            "metrics.jsonl",
            "model.safetensors",
            "report.md",
            "attention/step-000300.npz",
        ] {
            let bytes = |run: &Path| fs::read(run.join(file)).unwrap();
            assert_eq!(bytes(&first), bytes(&again), "{file}, {engine}");
        }
        quick_run(&other, &["--engine", engine, "--set", "seed=1"]);
        let weights = |run: &Path| fs::read(run.join("model.safetensors")).unwrap();
        assert_ne!(weights(&first), weights(&other));
    }
}

/// The notebook's experiment, over ten seeds.
///
/// About one start in twenty ends with one or two negative samples above one half. Seed 5 is one of these:
/// Keras, given the same weights and order, makes the same mistake (EXPERIMENTS.md).
#[test]
fn the_notebook_is_learned_with_each_of_ten_seeds() {
    for engine in ["burn", "fused"] {
        ten_seeds(engine);
    }
}

fn ten_seeds(engine: &str) {
    let folder = folder(&format!("notebook-{engine}"));
    let mut perfect = 0;
    for seed in 0..10 {
        let path = folder.join(seed.to_string());
        let set = format!("seed={seed}");
        run(&[
            "train",
            "--engine",
            engine,
            "--set",
            &set,
            "--run",
            text(&path),
        ])
        .done();
        let last = metrics(&path).pop().unwrap();
        let number = |key: &str| last[key].as_f64().unwrap();
        assert!(
            number("accuracy") >= 7_999.0 / 8_000.0,
            "seed {seed}: {}",
            number("accuracy")
        );
        assert_eq!(last["recall"], 1.0, "seed {seed}");
        assert_eq!(last["held_out_accuracy"], 1.0, "seed {seed}");
        perfect += u32::from(last["accuracy"] == 1.0 && last["precision"] == 1.0);
        let attention = number("attention_positive");
        assert!(
            (0.40..=0.65).contains(&attention),
            "seed {seed}: attention {attention}"
        );

        let npz = fs::read(path.join("attention/step-001500.npz")).unwrap();
        let dump = AttentionDump::read_npz(Cursor::new(npz)).unwrap();
        let probability = |sample| {
            let row = dump
                .meta
                .samples
                .iter()
                .position(|&number| number == Some(sample));
            dump.probabilities[row.unwrap()]
        };
        assert!(
            probability(0) < 0.01,
            "seed {seed}: sample 0 {}",
            probability(0)
        );
        assert!(
            probability(10) > 0.95,
            "seed {seed}: first positive {}",
            probability(10)
        );
        assert!(
            dump.worst_row_sum() < 1e-6,
            "seed {seed}: {}",
            dump.worst_row_sum()
        );
    }
    assert!(
        perfect >= 9,
        "{perfect} of 10 seeds classify every training sample correctly"
    );
}

/// Each shipped config is valid, and its rule is learned.
#[test]
fn each_rule_is_learned_with_its_config() {
    let folder = folder("rules");
    for config in ["token_anywhere", "token_before_token", "equal_positions"] {
        let path = folder.join(config);
        run(&[
            "train",
            &format!("configs/{config}.toml"),
            "--run",
            text(&path),
        ])
        .done();
        let lines = metrics(&path);
        // Before training, a first block's attention is nearly uniform for both classes.
        for class in ["positive", "negative"] {
            let at_start = |what: &str| lines[0][format!("{what}_{class}")].as_f64();
            if let (Some(paid), Some(uniform)) = (at_start("attention"), at_start("uniform")) {
                assert!(
                    config == "equal_positions" || (paid / uniform - 1.0).abs() < 0.1,
                    "{config}: {paid} {uniform}"
                );
            }
        }
        let last = lines.last().unwrap();
        let f1 = last["held_out_f1"].as_f64().unwrap();
        assert!(f1 > 0.98, "{config}: held-out F1 {f1}");
    }
}

#[test]
fn a_run_directory_is_never_written_over() {
    let path = folder("occupied").join("run");
    quick_run(&path, &[]);
    let again = ["train", "configs/quick.toml", "--run", text(&path)];
    refuses(&path, &again, &[text(&path), "--run", "--resume"]);
}

#[test]
fn runs_without_a_name_are_numbered() {
    let folder = folder("numbered");
    let config = fs::canonicalize(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../configs/quick.toml"
    ))
    .unwrap();
    for number in 1..=2 {
        let output = headlight()
            .args(["train", text(&config)])
            .current_dir(&folder)
            .output()
            .unwrap();
        let finished = Finished::from(output).done();
        let place = format!("runs/quick-{number}");
        assert!(mentions(&finished.stdout, &place), "{}", finished.stdout);
        assert!(
            folder
                .join(format!("runs/quick-{number}/report.md"))
                .is_file()
        );
    }
}

#[test]
fn a_dataset_from_a_file_trains_like_the_one_it_was_written_from() {
    let folder = folder("from_file");
    for name in ["data.npz", "data.csv", "data.jsonl"] {
        run(&[
            "data",
            "configs/quick.toml",
            "--out",
            text(&folder.join(name)),
        ])
        .done();
    }
    quick_run(&folder.join("generated"), &[]);
    for extension in ["npz", "csv", "jsonl"] {
        let data = folder.join(format!("data.{extension}"));
        let config = fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../configs/quick.toml"
        ))
        .unwrap();
        let generated = ["generator", "positive_rate", "samples", "held_out"];
        let kept: Vec<&str> = config
            .lines()
            .filter(|line| !generated.iter().any(|key| line.starts_with(key)))
            .collect();
        let kept = kept
            .join("\n")
            .replace("[data]", &format!("[data]\nfile = {data:?}"));
        let config = folder.join(format!("{extension}.toml"));
        fs::write(&config, kept).unwrap();
        run(&[
            "train",
            text(&config),
            "--run",
            text(&folder.join(extension)),
        ])
        .done();
        let weights = |run: &str| fs::read(folder.join(run).join("model.safetensors")).unwrap();
        assert_eq!(weights("generated"), weights(extension), "{extension}");
    }
}

#[test]
fn divergence_has_an_exit_code_of_its_own() {
    let path = folder("diverged").join("run");
    let train = ["train", "configs/quick.toml", "--run", text(&path)];
    let set = ["--set", "training.learning_rate=1e38"];
    let finished = run(&[&train[..], &set].concat());
    ended(&finished, 3, &["step 2", "training.learning_rate", "1e38"]);
    assert!(!path.join("model.safetensors").exists());
}

/// `2>&1 | head -1` and a full standard error do not end the training.
#[cfg(unix)]
#[test]
fn closed_and_full_output_streams_do_not_end_a_run() {
    let folder = folder("unheard");
    for (name, tail) in [
        ("closed", "2>&1 | head -1"),
        ("full", ">/dev/full 2>/dev/full || true"),
    ] {
        let path = folder.join(name);
        let binary = headlight();
        let command = format!(
            "'{}' train configs/quick.toml --run '{}' {tail}",
            binary.get_program().to_str().unwrap(),
            text(&path)
        );
        let mut shell = std::process::Command::new("bash");
        let status = shell
            .args(["-c", &command])
            .current_dir(binary.get_current_dir().unwrap());
        assert!(status.output().unwrap().status.success());
        assert!(
            path.join("report.md").is_file() && path.join("model.safetensors").is_file(),
            "{name}"
        );
    }
}

/// The report counts the samples that a file marks as held out.
#[test]
fn the_report_counts_held_out_samples_of_a_file() {
    let folder = folder("counts");
    let rows =
        "split,label,token_0,token_1\ntrain,1,0,1\ntrain,0,0,2\nheld_out,0,0,3\nheld_out,1,0,1\n";
    fs::write(folder.join("data.csv"), rows).unwrap();
    let config = "[data]\nfile = \"data.csv\"\nvocab_size = 5\nseq_len = 1\n[model]\nd_model = 4\n[training]\nepochs = 1\n";
    fs::write(folder.join("file.toml"), config).unwrap();
    let output = headlight()
        .args(["train", "file.toml", "--verbose", "--run", "run"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let report = Finished::from(output).done().stdout;
    let data = report.split("## ").find(|part| part.starts_with("Data"));
    let counts = data.unwrap().lines().nth(2).unwrap();
    let counts: Vec<&str> = counts
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter(|number| !number.trim_matches('.').is_empty())
        .collect();
    assert_eq!(counts, ["2", "1", "50.0", "2"], "{report}");
    // The resolved config works from another folder.
    let again = folder.join("again");
    run(&[
        "train",
        text(&folder.join("run/config.toml")),
        "--run",
        text(&again),
    ])
    .done();
    let weights = |run: &str| fs::read(folder.join(run).join("model.safetensors")).unwrap();
    assert_eq!(weights("run"), weights("again"));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_with_everything_so_far_saved() {
    let folder = folder("signals");
    for (signal, code) in [("INT", 130), ("TERM", 143), ("USR1", 138)] {
        let path = folder.join(signal);
        let endless = ["train", "--set", "training.epochs=100000", "--force"];
        let child = headlight()
            .args(endless)
            .args(["--run", text(&path)])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The dump after the first epoch shows that training has begun.
        while !path.join("attention/step-000500.npz").exists() {
            sleep(Duration::from_millis(5));
        }
        send(&child, signal);
        let finished = Finished::from(child.wait_with_output().unwrap());
        ended(&finished, code, &[text(&path), "--resume"]);
        // The report has the step of the interruption, and its attention.
        let message = finished.stderr.lines().last().unwrap();
        let step = message.split("step ").nth(1).unwrap();
        let step = step.split(|c: char| !c.is_ascii_digit()).next().unwrap();
        let report = fs::read_to_string(path.join("report.md")).unwrap();
        for part in [step, "100000", "sample 0", "head 0"] {
            assert!(mentions(&report, part), "{part}: {report}");
        }
        let predict = run(&["predict", text(&path), "--tokens", "0 45 48 1 4 4 40"]).done();
        let answer = &predict.stdout;
        assert!(answer.contains("probability of yes 0."), "{answer}");
    }
}

/// A model that predicts one class has learned nothing, however high its F1 is.
#[test]
fn a_constant_model_has_not_learned() {
    let folder = folder("constant");
    let mut data = "label,token_1,token_2\n".to_owned();
    for sample in 0..500 {
        let label = if sample % 125 == 60 { "rare" } else { "usual" };
        let _ = writeln!(data, "{label},{},{}", sample % 7 + 1, sample % 11 + 1);
    }
    fs::write(folder.join("mine.csv"), data).unwrap();
    let config = "[data]\nfile = \"mine.csv\"\nclasses = [\"rare\", \"usual\"]\n[model]\nd_model = 4\n\
                  [training]\nepochs = 1\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let trained = run_in(&folder, &["train", "mine.toml", "--run", "run", "--json"]).done();
    let trained: serde_json::Value = serde_json::from_str(&trained.stdout).unwrap();
    assert_eq!(trained["learned"], false);
    assert_eq!(trained["judgement"]["verdict"], "no_better_than_baselines");
    assert_eq!(trained["judgement"]["one_class"], 1);
    let path = folder.join("run");
    let f1 = metrics(&path).last().unwrap()["f1"].as_f64().unwrap();
    assert!(f1 > 0.99, "{f1}");
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    assert!(
        !report.contains("\nLearned") && report.contains("usual"),
        "{report}"
    );
}

/// Many classes, epochs, heads and positions: what is left out is elsewhere, and the text says so.
#[test]
fn what_is_printed_is_short() {
    let folder = folder("short");
    let mut data = String::new();
    for sample in 0..200 {
        let name = format!("{}{}", "class".repeat(8), sample % 100);
        let tokens: Vec<String> = (0..23)
            .map(|t| (sample * (t + 1) % 9 + 1).to_string())
            .collect();
        let _ = writeln!(data, "{name},{}", tokens.join(","));
    }
    let header: Vec<String> = (1..24).map(|t| format!("token_{t}")).collect();
    let data = format!("label,{}\n{data}", header.join(","));
    fs::write(folder.join("mine.csv"), data).unwrap();
    let config = "[data]\nfile = \"mine.csv\"\n[model]\nd_model = 4\nn_heads = 2\nn_layers = 2\n\
                  [training]\nepochs = 20\n[dump]\nevery_epochs = 100\npositives = 1\nnegatives = 1\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let trained = run_in(&folder, &["train", "mine.toml", "-v", "--run", "classes"]).done();
    let evaluated = run_in(&folder, &["evaluate", "classes"]).done();
    let long = [
        "data.seq_len=90",
        "data.held_out=8",
        "model.n_layers=12",
        "model.n_heads=4",
        "training.epochs=1",
        "data.samples=32",
        "dump.every_epochs=100",
        "dump.positives=1",
        "dump.negatives=1",
    ];
    let set: Vec<&str> = long.iter().flat_map(|set| ["--set", set]).collect();
    let command = ["train", "quick", "-v", "--run", "heads"];
    let deep = run_in(&folder, &[&command[..], &set].concat()).done();
    for (finished, remedy) in [
        (&trained, "metrics.jsonl"),
        (&evaluated, "--json"),
        (&deep, "headlight inspect"),
    ] {
        let length = finished.stdout.len();
        assert!(
            (2000..21_000).contains(&length),
            "{length}: {}",
            finished.stdout
        );
        assert!(mentions(&finished.stdout, remedy) || finished.stdout.contains(remedy));
    }
}
