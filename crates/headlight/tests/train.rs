//! `headlight train`: what a run leaves behind, and what it has learned.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Cursor;

use common::{Finished, folder, headlight, metrics, quick_run, run, text};
use headlight_dump::AttentionDump;

#[test]
fn a_run_directory_holds_all_of_a_run() {
    let path = folder("whole").join("run");
    let Finished { stdout, stderr, .. } =
        quick_run(&path, &["--set", "dump.formats=[\"npz\",\"json\",\"csv\"]"]);

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
            "metrics.jsonl",
            "model.safetensors",
            "report.md"
        ]
    );
    let dumps: Vec<String> = (0..=300)
        .step_by(50)
        .flat_map(|step| ["csv", "json", "npz"].map(|ending| format!("step-{step:06}.{ending}")))
        .collect();
    assert_eq!(names("attention"), dumps);

    let lines = metrics(&path);
    let steps: Vec<u64> = lines
        .iter()
        .map(|line| line["step"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, [0, 50, 100, 150, 200, 250, 300]);
    let last = lines.last().unwrap();
    for key in ["accuracy", "precision", "recall", "f1", "held_out_f1"] {
        assert_eq!(last[key], 1.0, "{key}");
    }
    assert!(last["attention_positive"].as_f64() > last["uniform_positive"].as_f64());

    let report = fs::read_to_string(path.join("report.md")).unwrap();
    assert!(report.starts_with("# Is it true that token 42 stands at position 3?"));
    let listed = report.lines().filter(|line| line.contains(": 0 ")).count();
    assert_eq!(listed, 800, "every positive is listed");
    // The printed form is shorter only in the list of positives.
    assert!(stdout.contains("... and 795 more"));
    let end = |text: &str| {
        text[text.find("## Model").unwrap()..text.find("## Predictions").unwrap()].to_owned()
    };
    assert_eq!(end(&report), end(&stdout));
    let table: Vec<&str> = stderr.lines().collect();
    assert_eq!(table.len(), 1 + 7, "{stderr}");
    assert!(
        table[0].starts_with("ep.   step    loss") && table[7].starts_with("  3    300"),
        "{stderr}"
    );
}

/// The resolved config is enough to repeat a run, and a seed always gives the same bytes, whatever
/// number of threads the machine offers.
#[test]
fn the_same_config_gives_the_same_bytes() {
    for engine in ["burn", "fused"] {
        let folder = folder(&format!("bytes-{engine}"));
        quick_run(&folder.join("first"), &["--engine", engine]);
        let config = folder.join("first/config.toml");
        for (name, threads) in [("one", "1"), ("two", "2")] {
            let output = headlight()
                .args(["train", text(&config), "--run", text(&folder.join(name))])
                .env("RAYON_NUM_THREADS", threads)
                .output()
                .unwrap();
            Finished::from(output).done();
            for file in [
                "config.toml",
                "metrics.jsonl",
                "model.safetensors",
                "report.md",
                "attention/step-000300.npz",
            ] {
                let bytes = |run: &str| fs::read(folder.join(run).join(file)).unwrap();
                assert_eq!(
                    bytes("first"),
                    bytes(name),
                    "{file}, {engine}, {threads} threads"
                );
            }
        }
        quick_run(
            &folder.join("other"),
            &["--engine", engine, "--set", "seed=1"],
        );
        let weights = |run: &str| fs::read(folder.join(run).join("model.safetensors")).unwrap();
        assert_ne!(weights("first"), weights("other"));
    }
}

/// The notebook's experiment, over ten seeds.
///
/// About one start in twenty ends with a negative sample or two above one half, and seed 5 is such
/// a one: Keras, given the same weights and order, makes the same mistake (EXPERIMENTS.md).
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

/// The shipped configs are no decoration: each is valid and its rule is learned.
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
        // Before training a first block's attention is all but uniform, for either class.
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
    let before = fs::read(path.join("environment.json")).unwrap();
    let again = run(&["train", "configs/quick.toml", "--run", text(&path)]);
    assert_eq!(again.code, Some(2));
    assert!(
        again.stderr.contains("exists already") && again.stderr.contains("--run"),
        "{}",
        again.stderr
    );
    assert_eq!(fs::read(path.join("environment.json")).unwrap(), before);
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
        assert!(
            finished
                .stdout
                .contains(&format!("saved in runs/quick-{number}"))
        );
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
    for ending in ["npz", "csv", "jsonl"] {
        let data = folder.join(format!("data.{ending}"));
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
        let config = folder.join(format!("{ending}.toml"));
        fs::write(&config, kept).unwrap();
        run(&["train", text(&config), "--run", text(&folder.join(ending))]).done();
        let weights = |run: &str| fs::read(folder.join(run).join("model.safetensors")).unwrap();
        assert_eq!(weights("generated"), weights(ending), "{ending}");
    }
}

#[test]
fn divergence_has_an_exit_code_of_its_own() {
    let path = folder("diverged").join("run");
    let arguments = [
        "train",
        "configs/quick.toml",
        "--run",
        text(&path),
        "--set",
        "training.learning_rate=1e38",
    ];
    let finished = run(&arguments);
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert!(
        finished
            .stderr
            .contains("training diverged: the loss became"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("training.learning_rate below"),
        "{}",
        finished.stderr
    );
    assert!(!path.join("model.safetensors").exists());
}

/// `2>&1 | head -1` and a full standard error end the reading, not the training.
#[cfg(unix)]
#[test]
fn nobody_has_to_listen() {
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

/// The held-out samples that a file names are counted as such.
#[test]
fn the_report_counts_held_out_samples_of_a_file() {
    let folder = folder("counts");
    let rows =
        "split,label,token_0,token_1\ntrain,1,0,1\ntrain,0,0,2\nheld_out,0,0,3\nheld_out,1,0,1\n";
    fs::write(folder.join("data.csv"), rows).unwrap();
    let config = "[data]\nfile = \"data.csv\"\nvocab_size = 5\nseq_len = 1\n[model]\nd_model = 4\n[training]\nepochs = 1\n";
    fs::write(folder.join("file.toml"), config).unwrap();
    let output = headlight()
        .args(["train", "file.toml", "--run", "run"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let report = Finished::from(output).done().stdout;
    assert!(
        report.contains("2 training samples, 1 of them positive (50.0%); 2 held-out samples."),
        "{report}"
    );
    // The resolved config means the same from another folder.
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
        let mut child = headlight()
            .args([
                "train",
                "--set",
                "training.epochs=100000",
                "--run",
                text(&path),
            ])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // The first epoch's record says that training is under way.
        while !path.join("attention/step-000500.npz").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let kill = std::process::Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        let report = fs::read_to_string(path.join("report.md")).unwrap();
        assert!(report.contains("Interrupted after "), "{report}");
        assert!(report.contains("Attention weights (sample 0 · head 0)"));
        let predict = run(&["predict", text(&path), "--tokens", "0 45 48 1 4 4 40"]).done();
        assert!(
            predict.stdout.contains("probability 0."),
            "{}",
            predict.stdout
        );
    }
}
