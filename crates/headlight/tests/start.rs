//! Training from given parameters: of a run, or of a file.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{QUICK, asked, config_of, folder, printed, refuses_each, typed, weights};
use headlight_trainer::files::weights::decode;

/// Steps of this size hardly change a parameter.
const STILL: &str = "--set training.learning_rate=1e-30";

fn parameters(folder: &Path, run: &str) -> Vec<f32> {
    let mut found = decode(&weights(folder, run)).unwrap();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let values = found.into_iter().flat_map(|parameter| parameter.values);
    values.collect()
}

#[test]
fn a_run_starts_from_the_parameters_of_another() {
    let folder = folder("start");
    printed(&folder, &format!("train {QUICK} --run first"));
    let first = parameters(&folder, "first");
    let starts = [
        ("run", "--start first"),
        ("file", "--start first/model.safetensors"),
        ("key", "--set training.start=first --set seed=9"),
        ("burn", "--start first --engine burn"),
    ];
    for (name, start) in starts {
        if name == "burn" && !cfg!(feature = "burn") {
            continue;
        }
        printed(
            &folder,
            &format!("train {QUICK} {STILL} {start} --run {name}"),
        );
        let pairs = parameters(&folder, name).into_iter().zip(&first);
        let far = pairs.filter(|(now, before)| (now - **before).abs() > 1e-20);
        assert_eq!(far.count(), 0, "{name}");
        let path = config_of(&folder.join(name))["training"]["start"].clone();
        assert!(path.as_str().unwrap().starts_with('/'), "{path}");
    }
    // Every seed of a sweep does.
    let sweep =
        format!("sweep {QUICK} {STILL} --set training.start=first --seeds 0..3 --out rows.jsonl");
    typed(&folder, &sweep).done();
    let rows = fs::read_to_string(folder.join("rows.jsonl")).unwrap();
    let hashes = rows.lines().map(|row| row.split("weights_sha256").nth(1));
    let hashes: Vec<_> = hashes.collect();
    assert!(hashes.len() == 3 && hashes.windows(2).all(|pair| pair[0] == pair[1]));
    // A run whose start has changed since is not trained further.
    fs::copy(
        folder.join("first/model.safetensors"),
        folder.join("moved.safetensors"),
    )
    .unwrap();
    printed(
        &folder,
        &format!("train {QUICK} --start moved.safetensors --set seed=5 --run second"),
    );
    assert!(parameters(&folder, "second") != first);
    fs::copy(
        folder.join("second/model.safetensors"),
        folder.join("moved.safetensors"),
    )
    .unwrap();
    let more = "--set training.epochs=2";
    refuses_each(
        &folder,
        "train",
        &format!(
            "
--resume --run second {more} | second | training.start
quick --start nowhere.safetensors | nowhere.safetensors
quick --start second/config.toml | second/config.toml | safetensors
quick --start second --set model.d_model=16 | second/model.safetensors | `token_embedding` | 16
quick --start second --set model.n_layers=2 | second/model.safetensors | `blocks.1.attention.query.weight`
sentiment --start first --set model.d_model=8 --set model.n_heads=1 --set model.n_layers=1 | first | `token_embedding`"
        ),
    );
    // The page has no parameters to start from.
    refuses_each(
        &folder,
        "lab quick --html page.html",
        "--set training.start=first | training.start",
    );
    let again = asked(
        &folder,
        &format!("train {QUICK} {STILL} --start first --resume --run run"),
    );
    assert_eq!(again["step"], 4);
}

/// Token ids of one vocabulary are other words in another.
#[test]
fn words_are_those_of_the_start() {
    let folder = folder("start_words");
    let table = |words: [&str; 2]| {
        let rows = (0..20).map(|row| format!("{} it,{}\n", words[row % 2], row % 2));
        format!("text,label\n{}", rows.collect::<String>())
    };
    fs::write(folder.join("a.csv"), table(["good", "bad"])).unwrap();
    fs::write(folder.join("b.csv"), table(["bad", "fine"])).unwrap();
    let few = "--set training.epochs=1";
    printed(&folder, &format!("train a.csv {few} --run a"));
    refuses_each(
        &folder,
        &format!("train b.csv {few} --run b"),
        "--start a | a: | a/config.toml | data.file
         --start a/model.safetensors | a/model.safetensors | a/config.toml",
    );
    let told = typed(
        &folder,
        &format!("train a/config.toml --set seed=2 {few} --start a --run c"),
    );
    assert!(!told.done().stderr.contains("held-out samples may"));
    let own = format!("train a/config.toml --set data.file=b.csv {few} --start a --run b");
    let told = typed(&folder, &own).done().stderr;
    assert!(told.contains("held-out samples may"), "{told}");
}
