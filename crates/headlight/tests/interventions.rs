//! Interventions from outside: `predict` and `evaluate` without heads, positions and layers, and with vectors of dumps.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{asked, folder, printed, refuses_each, refuses_typed, set, typed};
use serde_json::Value;

/// Two samples that differ in each position; the second one holds the token that the rule asks for.
const OWN: &str = "16 5 9 43 32 2";
const OTHER: &str = "1 8 42 4 30 6";

/// A model of two layers of two heads in `run`, and dumps of samples: `own.npz`, `other.npz`, and both in `both.npz`.
fn trained(name: &str) -> PathBuf {
    let folder = folder(name);
    typed(&folder, "init quick --out quick.toml").done();
    let sets = set("model.n_heads=2 model.n_layers=2 model.d_ff=8 training.epochs=1");
    typed(&folder, &format!("train quick.toml --run run {sets}")).done();
    let both = format!("{OWN}\n{OTHER}\n");
    for (name, samples) in [("own", OWN), ("other", OTHER), ("both", &both)] {
        fs::write(folder.join(format!("{name}.txt")), samples).unwrap();
        dump(&folder, "run", name);
    }
    folder
}

/// Writes a dump of the samples in `NAME.txt`.
fn dump(folder: &Path, run: &str, name: &str) {
    let dump = format!("dump {run}/config.toml --weights {run}/model.safetensors");
    let files = format!("--samples {name}.txt --out {name}.npz --force");
    typed(folder, &format!("{dump} {files}")).done();
}

fn predict(folder: &Path, tokens: &str, interventions: &str) -> Value {
    asked(
        folder,
        &format!("predict run --tokens '{tokens}' {interventions}"),
    )
}

fn logit(folder: &Path, tokens: &str, interventions: &str) -> f64 {
    let found = predict(folder, tokens, interventions);
    found["logits"][0].as_f64().unwrap()
}

/// `--patch` at each position of a sample.
fn everywhere(array: &str, file: &str) -> String {
    let patches = (0..7).map(|position| format!(" --patch {array}:{position}={file}"));
    patches.collect()
}

#[test]
fn what_is_removed_no_longer_counts() {
    let folder = trained("interventions_removed");
    // The token at position 3 decides, and without the position it is like any other.
    let others = |interventions| {
        ["16 5 42 43 32 2", "16 5 9 43 32 2"].map(|sample| logit(&folder, sample, interventions))
    };
    let [one, other] = others("");
    assert_ne!(one, other);
    let [one, other] = others("--without-position 3");
    assert_eq!(one, other);
    // Each head and each layer gives something of its own.
    let heads = ["0.0", "0.1", "1.0", "1.1"].map(|head| format!("--without-head {head}"));
    let layers = ["0", "1"].map(|layer| format!("--without-layer {layer}"));
    let parts = [&heads[..], &layers].concat();
    let mut logits = vec![logit(&folder, OTHER, "")];
    logits.extend(parts.iter().map(|part| logit(&folder, OTHER, part)));
    for (index, own) in logits.iter().enumerate() {
        assert!(!logits[..index].contains(own), "{index}: {logits:?}");
    }
    // Without all heads, and without all layers, [CLS] sees nothing but itself.
    for group in [&heads[..], &layers] {
        let removed = group.join(" ");
        let alone = logit(&folder, OWN, &removed);
        assert_eq!(alone, logit(&folder, OTHER, &removed));
        // The order of removals does not matter.
        let mut turned = group.to_vec();
        turned.reverse();
        assert_eq!(alone, logit(&folder, OWN, &turned.join(" ")));
    }
}

#[test]
fn a_patch_is_the_vector_of_its_dump() {
    let folder = trained("interventions_patched");
    let streams = [
        "embeddings",
        "residual.0",
        "output.0",
        "residual.1",
        "output.1",
    ];
    let heads = ["context.0", "head.0.1", "context.1", "head.1.0"];
    // A sample's own vectors change nothing.
    let plain = predict(&folder, OWN, "");
    for array in streams.iter().chain(&heads) {
        let both = everywhere(array, "both.npz");
        let predict_both = format!("predict run --tokens '{OWN}' {both}");
        refuses_typed(&folder, &predict_both, &["both.npz", "2", "1"]);
        let mut patched = predict(&folder, OWN, &everywhere(array, "own.npz"));
        let applied = patched.as_object_mut().unwrap().remove("interventions");
        assert_eq!(applied.unwrap().as_array().unwrap().len(), 7);
        assert_eq!(patched, plain, "{array}");
    }
    // All vectors of another sample make its prediction; of heads and contexts they do not, since the stream is another.
    let other = logit(&folder, OTHER, "");
    for array in streams {
        let patches = everywhere(array, "other.npz");
        assert_eq!(logit(&folder, OWN, &patches), other, "{array}");
    }
    // A context is that of its heads together.
    let [context, first, second] =
        ["context.1", "head.1.0", "head.1.1"].map(|array| everywhere(array, "other.npz"));
    let whole = logit(&folder, OWN, &context);
    assert_eq!(logit(&folder, OWN, &format!("{first}{second}")), whole);
    assert_ne!(logit(&folder, OWN, &first), whole);
    assert_ne!(whole, plain["logits"][0].as_f64().unwrap());
    // What is removed comes first: the patch brings the heads' contexts back.
    let removed = format!("{context} --without-head 1.0 --without-head 1.1");
    assert_eq!(logit(&folder, OWN, &removed), whole);
    // Only one vector differs where the reader looks: that of [CLS] after the last block.
    assert_eq!(logit(&folder, OWN, "--patch output.1:0=other.npz"), other);
}

/// The probabilities of a file's samples, as `predict` writes them.
fn probabilities(folder: &Path, interventions: &str) -> Vec<f64> {
    let printed = printed(folder, &format!("predict run both.txt {interventions}"));
    let mut rows = csv::Reader::from_reader(printed.as_bytes());
    let rows = rows.records().map(|row| row.unwrap()[2].parse().unwrap());
    rows.collect()
}

#[test]
fn files_get_a_vector_for_each_sample_or_one_for_all() {
    let folder = trained("interventions_files");
    let plain = probabilities(&folder, "");
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(!close(&plain[..1], &plain[1..]));
    let own = everywhere("residual.1", "both.npz");
    assert!(close(&probabilities(&folder, &own), &plain));
    let one = everywhere("residual.1", "other.npz");
    let same = probabilities(&folder, &one);
    assert!(close(&same, &[plain[1]; 2]), "{same:?} {plain:?}");

    // Many samples, more than a pass has: all with the vector of one.
    typed(&folder, "data quick --out data.csv").done();
    let line = asked(&folder, &format!("predict run data.csv --out p.csv {one}"));
    assert_eq!(line["interventions"][6], "--patch residual.1:6=other.npz");
    let mut rows = csv::Reader::from_path(folder.join("p.csv")).unwrap();
    let mut names = rows.headers().unwrap().iter();
    let column = names.position(|name| name == "probability").unwrap();
    let found = rows
        .records()
        .map(|row| row.unwrap()[column].parse().unwrap());
    let found: Vec<f64> = found.collect();
    assert_eq!(found.len(), 2000);
    assert!(found.iter().all(|found| close(&[*found], &plain[1..])));
}

#[test]
fn an_evaluation_says_what_was_changed() {
    let folder = trained("interventions_evaluated");
    let plain = asked(&folder, "evaluate run");
    assert_eq!(plain.get("interventions"), None);
    let removed = asked(
        &folder,
        "evaluate run --without-position 3 --without-head 1.0",
    );
    let applied = removed["interventions"].as_array().unwrap();
    assert_eq!(applied[..], ["--without-head 1.0", "--without-position 3"]);
    // Position 3 has the token that decides.
    assert_eq!(plain["accuracy"], 1.0);
    assert!(removed["accuracy"].as_f64().unwrap() < 0.7, "{removed}");
    // In the first layer all vectors but those of position 1 decide nothing.
    let other = asked(&folder, "evaluate run --patch embeddings:1=other.npz");
    assert_eq!(other["accuracy"], 1.0);

    let page = "evaluate run --html e.html --without-head 1.0 --without-layer 0";
    let shown = printed(&folder, page);
    let html = fs::read_to_string(folder.join("e.html")).unwrap();
    for text in [&shown, &html] {
        let named = ["--without-head 1.0", "--without-layer 0"];
        assert!(named.iter().all(|part| text.contains(part)), "{text}");
    }
    let predict = format!("predict run --tokens '{OWN}' --patch head.0.1:2=own.npz");
    let shown = printed(&folder, &predict);
    assert!(shown.contains("--patch head.0.1:2=own.npz"), "{shown}");
}

const LACKING: &str = "
--without-head 0.2               | --without-head | 0.2 | head 2 | 0 to 1
--without-head 2.0               | --without-head | layer 2 | 0 to 1
--without-head 1                 | --without-head | 0.1
--without-head 0.0.1             | --without-head | 0.1
--without-position 7             | --without-position | position 7 | 0 to 6
--without-position=-1            | --without-position
--without-layer 2                | --without-layer | layer 2 | 0 to 1
--patch residual.0:3             | --patch | ARRAY:POSITION=FILE
--patch residual.0=own.npz       | --patch | ARRAY:POSITION=FILE
--patch residual:3=own.npz       | residual | residual.L
--patch query.0:3=own.npz        | query.0 | residual.L
--patch head.0:3=own.npz         | head.0 | head.L.H
--patch embeddings.0:3=own.npz   | embeddings.0
--patch residual.0:7=own.npz     | position 7 | 0 to 6
--patch output.2:0=own.npz       | layer 2 | 0 to 1
--patch head.0.2:0=own.npz       | head 2 | 0 to 1
--patch residual.0:3=none.npz    | none.npz
--patch residual.0:3=text.npz    | text.npz
--patch residual.0:3=own.txt     | own.txt
--without-head 0.0 --explain     | --without-head | --explain
--patch residual.0:3=own.npz --explain | --patch | --explain
";

#[test]
fn what_the_model_lacks_is_refused() {
    let folder = trained("interventions_refused");
    let predict = format!("predict run --tokens '{OWN}'");
    fs::write(folder.join("text.npz"), "no archive").unwrap();
    refuses_each(&folder, &predict, LACKING);
    // Burn cannot be changed on its way; the fused engine takes its place where it is asked for.
    let config = folder.join("run/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    assert!(text.contains("engine = \"fused\""), "{text}");
    fs::write(&config, text.replace("\"fused\"", "\"burn\"")).unwrap();
    let removed = format!("{predict} --without-head 0.0");
    refuses_typed(&folder, &removed, &["--without-head", "burn", "flex"]);
    typed(&folder, &format!("{removed} --device flex")).done();
    fs::write(&config, text).unwrap();

    let evaluate = "evaluate run --patch embeddings:1=both.npz";
    refuses_typed(&folder, evaluate, &["both.npz", "2", "400"]);
}

#[test]
fn dumps_of_other_models_and_older_ones_are_refused() {
    let folder = trained("interventions_strange");
    let patch = format!("predict run --tokens '{OWN}' --patch embeddings:3=strange.npz");
    for (other, name) in [
        ("model.d_model=16", "d_head 8"),
        ("model.n_heads=1", "heads 1"),
        ("model.n_layers=1", "layers 1"),
        ("data.seq_len=5", "positions 6"),
    ] {
        let sets = format!("model.n_heads=2 model.n_layers=2 training.steps=1 {other}");
        let train = format!("train quick.toml --run strange {}", set(&sets));
        typed(&folder, &train).done();
        let is_short = other.contains("seq_len");
        let samples = if is_short { "1 2 3 4 5" } else { OWN };
        fs::write(folder.join("strange.txt"), samples).unwrap();
        dump(&folder, "strange", "strange");
        refuses_typed(&folder, &patch, &["strange.npz", name]);
        fs::remove_dir_all(folder.join("strange")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn no_output_takes_the_place_of_a_dump() {
    let folder = trained("interventions_kept");
    for (command, link) in [
        ("predict run both.txt --out", "p.csv"),
        ("evaluate run --html", "e.html"),
        ("evaluate run --svg", "e.svg"),
    ] {
        std::os::unix::fs::symlink("other.npz", folder.join(link)).unwrap();
        let patch = "--force --patch embeddings:1=other.npz";
        refuses_typed(&folder, &format!("{command} {link} {patch}"), &[link]);
    }
}
