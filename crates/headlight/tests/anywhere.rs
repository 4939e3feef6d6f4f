//! The binary alone, in an empty folder: built-in configs.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{
    QUICK, folder, mentions, printed, refuses_each, refuses_typed, typed, weights,
};
use headlight_trainer::files::built_in::CONFIGS;

#[test]
fn train_knows_the_built_in_configs() {
    let folder = folder("anywhere_train");
    let short = QUICK.trim_start_matches("quick");
    for (config, run) in [
        ("", "runs/notebook-1"),
        ("quick", "runs/quick-1"),
        ("claims/causal_mask", "runs/causal_mask-1"),
    ] {
        typed(&folder, &format!("train {config} {short}")).done();
        assert!(folder.join(run).join("report.md").exists(), "{run}");
    }
    for name in CONFIGS.iter().map(|config| config.name) {
        // An .npz has no place for the end of a name.
        let ending = if name == "names" { "csv" } else { "npz" };
        let data = format!("{}.{ending}", name.replace('/', "-"));
        typed(&folder, &format!("data {name} --out '{data}'")).done();
    }
    let sweep = format!("sweep {QUICK} --seeds 0..2 --out seeds.jsonl");
    typed(&folder, &sweep).done();
}

#[test]
fn init_writes_a_config_to_edit() {
    let folder = folder("anywhere_init");
    let listed = printed(&folder, "init --list");
    assert_eq!(listed.lines().count(), CONFIGS.len());
    typed(&folder, "init").done();
    typed(&folder, "init claims/scaling").done();
    let written = fs::read_to_string(folder.join("notebook.toml")).unwrap();
    // The built-in config, with the sentences of its keys.
    for line in CONFIGS[0].content.lines() {
        assert!(written.lines().any(|written| written == line), "{line}");
    }
    assert!(mentions(&written, "# Samples per step.\nbatch_size = 16\n"));
    assert!(folder.join("scaling.toml").exists());

    let edited = written.replace("epochs = 3", "epochs = 1");
    assert_ne!(edited, written);
    fs::write(folder.join("notebook.toml"), &edited).unwrap();
    refuses_typed(&folder, "init", &["notebook.toml", "--force"]);
    // A file wins over the built-in config, with and without its ending.
    for name in ["notebook", "notebook.toml"] {
        let train = format!("train {name} --run run-{name} --set data.samples=64");
        typed(&folder, &train).done();
        let config = folder.join(format!("run-{name}/config.toml"));
        assert!(fs::read_to_string(config).unwrap().contains("epochs = 1"));
    }
    typed(&folder, "init --force").done();
    let again = fs::read_to_string(folder.join("notebook.toml")).unwrap();
    assert_eq!(again, written);

    // A folder is not a config.
    fs::create_dir(folder.join("token_anywhere")).unwrap();
    typed(&folder, "data token_anywhere --out anywhere.csv").done();

    refuses_typed(&folder, "init notebok", &["notebok", "notebook"]);
    refuses_typed(&folder, "train zzz", &["zzz", "--list"]);
    refuses_typed(&folder, "train missing.toml", &["missing.toml"]);
    refuses_typed(&folder, "init v/config.toml", &["init --out v/config.toml"]);
}

/// With the binary alone, a walkthrough can be written, edited and computed; `--out` names the file.
#[test]
#[cfg(feature = "burn")]
fn init_writes_a_walkthrough_and_takes_a_name() {
    let folder = folder("anywhere_walkthrough");
    typed(&folder, "init she-did-not").done();
    typed(&folder, "init she-did-not --out mine.toml").done();
    refuses_typed(&folder, "init --out mine.toml", &["mine.toml", "--force"]);
    let own = printed(&folder, "walkthrough mine.toml");
    assert_eq!(printed(&folder, "walkthrough she-did-not"), own);
    let piped = printed(&folder, "init quick --out -");
    fs::write(folder.join("quick.toml"), piped).unwrap();
    typed(&folder, "data quick.toml --out x.csv").done();
}

/// The block of all keys in `docs/reference/config.md` runs as it is, and is the notebook's experiment.
#[test]
fn the_documented_config_is_the_notebooks() {
    let folder = folder("anywhere_documented");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/config.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once("```toml\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    fs::write(folder.join("documented.toml"), block).unwrap();
    for name in ["documented", "notebook"] {
        typed(&folder, &format!("train {name} --run run-{name}")).done();
    }
    assert!(weights(&folder, "run-documented") == weights(&folder, "run-notebook"));
}

const REMEDIES: &str = r#"
train --set data.rule.kind=token-anywhere | position | 'data.rule={ kind = "token-anywhere", token = 42 }'
sweep --seeds 0..1 --out x.jsonl --grid model.d_model=4,x | "x"
train --set d_model=4                     | model.d_model
train --set model.epochs=4                | training.epochs
train --epochs 5                          | --set | training.epochs
train --set 'dump.samples=[1,2'           | dump.samples
train --device cuda                       | cuda | vulkan | wgpu
train --set compute.device=mps            | mps | metal
inspect step.json                         | step.json | .npz
"#;

/// Likely mistakes are answered with what to write instead.
#[test]
fn mistakes_are_answered_with_the_remedy() {
    let folder = folder("anywhere_mistakes");
    fs::write(folder.join("step.json"), "{}").unwrap();
    refuses_each(&folder, "", REMEDIES);
}

#[test]
fn every_config_of_the_repository_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let mut found = Vec::new();
    for (prefix, folder) in [("", folder.clone()), ("claims/", folder.join("claims"))] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
                found.push(format!("{prefix}{stem}"));
            }
        }
    }
    found.sort();
    let mut names = CONFIGS.each_ref().map(|config| config.name.to_owned());
    names.sort();
    assert_eq!(found, names);
}
