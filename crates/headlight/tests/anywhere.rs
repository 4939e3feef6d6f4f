//! The binary alone, in an empty folder: built-in configs, and outputs that replace nothing.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use common::{contents, folder, mentions, refused, run_in, text};
use headlight_trainer::built_in::CONFIGS;

/// Runs a command that must refuse and change nothing.
fn refuses_in(folder: &Path, arguments: &[&str], parts: &[&str]) {
    let before = contents(folder);
    refused(&run_in(folder, arguments), parts);
    assert!(contents(folder) == before, "{arguments:?} wrote something");
}

const SHORT: [&str; 6] = [
    "--set",
    "training.epochs=1",
    "--set",
    "data.samples=64",
    "--set",
    "data.held_out=16",
];

#[test]
fn train_knows_the_built_in_configs() {
    let folder = folder("anywhere_train");
    for (arguments, run) in [
        (&["train"][..], "runs/notebook-1"),
        (&["train", "quick"], "runs/quick-1"),
        (&["train", "claims/causal_mask"], "runs/causal_mask-1"),
    ] {
        run_in(&folder, &[arguments, &SHORT].concat()).done();
        assert!(folder.join(run).join("report.md").exists(), "{run}");
    }
    for name in CONFIGS.iter().map(|config| config.name) {
        let data = format!("{}.npz", name.replace('/', "-"));
        run_in(&folder, &["data", name, "--out", &data]).done();
    }
    let seeds = ["sweep", "quick", "--seeds", "0..2", "--out", "seeds.jsonl"];
    run_in(&folder, &[&seeds[..], &SHORT].concat()).done();
}

/// The recorded run that a built-in config names is built in too, for its resumption as well.
#[test]
fn a_reference_run_needs_no_file() {
    let folder = folder("anywhere_reference");
    let run = ["--run", "run"];
    run_in(&folder, &[&["train", "keras_classes"][..], &run].concat()).done();
    let resumed = run_in(&folder, &[&["train", "--resume"][..], &run].concat());
    assert!(mentions(&resumed.done().stdout, "run"));
    assert!(folder.join("run/reference.json").exists());
}

#[test]
fn init_writes_a_config_to_edit() {
    let folder = folder("anywhere_init");
    let listed = run_in(&folder, &["init", "--list"]).done().stdout;
    assert_eq!(listed.lines().count(), CONFIGS.len());
    run_in(&folder, &["init"]).done();
    run_in(&folder, &["init", "claims/scaling"]).done();
    let written = fs::read_to_string(folder.join("notebook.toml")).unwrap();
    assert_eq!(written, CONFIGS[0].content);
    assert!(folder.join("scaling.toml").exists());

    let edited = written.replace("epochs = 3", "epochs = 1");
    assert_ne!(edited, written);
    fs::write(folder.join("notebook.toml"), &edited).unwrap();
    refuses_in(&folder, &["init"], &["notebook.toml", "--force"]);
    // A file wins over the built-in config, with and without its ending.
    for name in ["notebook", "notebook.toml"] {
        let run = ["--run", &format!("run-{name}"), "--set", "data.samples=64"];
        run_in(&folder, &[&["train", name][..], &run].concat()).done();
        let config = folder.join(format!("run-{name}/config.toml"));
        assert!(fs::read_to_string(config).unwrap().contains("epochs = 1"));
    }
    run_in(&folder, &["init", "--force"]).done();
    assert_eq!(
        fs::read_to_string(folder.join("notebook.toml")).unwrap(),
        written
    );

    refuses_in(&folder, &["init", "notebok"], &["notebok", "notebook"]);
    refuses_in(&folder, &["train", "zzz"], &["zzz", "--list"]);
    refuses_in(&folder, &["train", "missing.toml"], &["missing.toml"]);
}

/// No command replaces a file, unless it is told to; and never what it reads.
#[test]
fn outputs_replace_nothing() {
    let folder = folder("anywhere_outputs");
    run_in(
        &folder,
        &[&["train", "quick", "--run", "run"][..], &SHORT].concat(),
    )
    .done();
    let sweep = ["sweep", "quick", "--seeds", "0..2", "--out", "seeds.jsonl"];
    run_in(&folder, &[&sweep[..], &SHORT].concat()).done();
    fs::write(folder.join("tokens.txt"), "0 1 2 3 4 5 6\n").unwrap();
    run_in(&folder, &["init", "quick"]).done();
    let weights = [
        "--weights",
        "run/model.safetensors",
        "--tokens",
        "tokens.txt",
    ];
    let dump = [&["dump", "quick"][..], &weights].concat();
    let step = fs::read_dir(folder.join("run/attention")).unwrap();
    let step = step.map(|entry| entry.unwrap().path()).max().unwrap();

    let cases: [(&[&str], &str, &str, &str); 9] = [
        (&["data", "quick.toml"], "--out", "new.csv", "quick.toml"),
        (&dump, "--out", "new.npz", "tokens.txt"),
        (&["inspect", "run"], "--svg", "new.svg", text(&step)),
        (&["inspect", "run"], "--png", "new.png", text(&step)),
        (&["inspect", "run"], "--html", "new.html", text(&step)),
        (
            &["merge", "seeds.jsonl"],
            "--out",
            "merged.jsonl",
            "seeds.jsonl",
        ),
        (
            &["merge", "seeds.jsonl"],
            "--out",
            "merged.csv",
            "seeds.jsonl",
        ),
        (
            &["report", "seeds.jsonl"],
            "--svg",
            "report.svg",
            "seeds.jsonl",
        ),
        (
            &["report", "seeds.jsonl"],
            "--html",
            "report.html",
            "seeds.jsonl",
        ),
    ];
    for (command, flag, new, input) in cases {
        let to = |out| [command, &[flag, out]].concat();
        run_in(&folder, &to(new)).done();
        refuses_in(&folder, &to(new), &[new, "--force"]);
        run_in(&folder, &[&to(new)[..], &["--force"]].concat()).done();
        // A name that the format allows, so that the reason is the input.
        refuses_in(&folder, &[&to(input)[..], &["--force"]].concat(), &[]);
        refuses_in(&folder, &to("run/config.toml"), &[]);
    }
    // A sweep replaces its own picture, and no other.
    fs::write(folder.join("other.svg"), "a picture").unwrap();
    let other = ["sweep", "quick", "--seeds", "0..2", "--out", "other.jsonl"];
    let other = [&other[..], &SHORT].concat();
    refuses_in(&folder, &other, &["other.svg", "--force"]);
    run_in(&folder, &[&other[..], &["--force"]].concat()).done();
    run_in(&folder, &other).done();
    let twice = ["report", "seeds.jsonl", "--svg", "x", "--html", "x"];
    refuses_in(&folder, &twice, &["x"]);
}

/// The block of all keys in `docs/config.md` runs as it is, and is the notebook's experiment.
#[test]
fn the_documented_config_is_the_notebooks() {
    let folder = folder("anywhere_documented");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
    let page = fs::read_to_string(page).unwrap();
    let block = page
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    fs::write(folder.join("documented.toml"), block).unwrap();
    for name in ["documented", "notebook"] {
        run_in(&folder, &["train", name, "--run", &format!("run-{name}")]).done();
    }
    let weights = |name| fs::read(folder.join(format!("run-{name}/model.safetensors"))).unwrap();
    assert!(weights("documented") == weights("notebook"));
}

/// Likely mistakes are answered with what to write instead.
#[test]
fn mistakes_are_answered_with_the_remedy() {
    let folder = folder("anywhere_mistakes");
    let cases: [(&[&str], &[&str]); 7] = [
        (&["train", "--set", "d_model=4"], &["model.d_model"]),
        (&["train", "--set", "model.epochs=4"], &["training.epochs"]),
        (&["train", "--epochs", "5"], &["--set", "training.epochs"]),
        (&["train", "--set", "dump.samples=[1,2"], &["dump.samples"]),
        (&["train", "--device", "cuda"], &["cuda", "vulkan", "wgpu"]),
        (&["train", "--set", "compute.device=mps"], &["mps", "metal"]),
        (&["inspect", "step.json"], &["step.json", ".npz"]),
    ];
    fs::write(folder.join("step.json"), "{}").unwrap();
    for (arguments, parts) in cases {
        let finished = run_in(&folder, arguments);
        common::ended(&finished, 2, parts);
        assert!(!folder.join("runs").exists());
    }
}
