//! `headlight certify`: the count over all inputs, in the terminal, in runs and in sweeps.
#![allow(missing_docs, clippy::float_cmp, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::common::{
    asked, contents, folder, headlight, json, metrics, printed, refuses_each, send, text, typed,
};
use serde_json::Value;

/// A run whose training samples are all 8^4 inputs, so that `evaluate` answers each of them.
fn run_on_all(name: &str, more: &str) -> PathBuf {
    let folder = folder(name);
    let settings = r#"
        data = { generator = "all", vocab_size = 9, seq_len = 4, rule = { kind = "equal-positions", first = 1, second = 3 } }
        model = { d_model = 6, n_heads = 2, d_ff = 8 }
        training = { epochs = 1, learning_rate = 2e-3 }
        dump = { every_epochs = 0 }
    "#;
    fs::write(folder.join("all.toml"), settings).unwrap();
    typed(&folder, &format!("train all.toml --run run {more}")).done();
    folder
}

/// The certificate that a run keeps.
fn certificate(run: &Path) -> Value {
    json(&fs::read_to_string(run.join("certificate.json")).unwrap())
}

/// The confusion matrix of `evaluate` over all inputs has the same counts.
#[test]
fn the_count_is_that_of_all_inputs_evaluated() {
    let folder = run_on_all("certify_all", "");
    let evaluated = asked(&folder, "evaluate run --split train");
    let confusion: Vec<Vec<u64>> = serde_json::from_value(evaluated["confusion"].clone()).unwrap();
    let found = asked(&folder, "certify run");
    assert_eq!(found["inputs"], 4096);
    let mut all = 0;
    for (class, row) in confusion.iter().enumerate() {
        let own = &found["classes"][class];
        let wrong = row.iter().sum::<u64>() - row[class];
        assert_eq!(own["inputs"], row.iter().sum::<u64>());
        assert_eq!(own["wrong"], wrong);
        let worst = own["worst"].as_array().unwrap();
        assert_eq!(worst.len(), 10);
        assert_eq!(worst[0]["margin"], own["smallest_margin"]);
        assert_eq!(wrong > 0, worst[0]["predicted"] != class);
        all += wrong;
    }
    assert!(
        all > 0,
        "the model has learned its task: the test shows nothing"
    );
    assert_eq!(found["wrong"], all);
    assert_eq!(found["share"], all as f64 / 4096.0);
    let shown = printed(&folder, "certify run");
    assert!(shown.contains(&all.to_string()), "{shown}");
}

/// The quick run's held-out samples are a few of all inputs.
#[test]
fn all_inputs_are_worse_than_held_out_ones() {
    let folder = folder("certify_quick");
    typed(&folder, "train quick --run run --set dump.every_steps=0").done();
    let found = asked(&folder, "certify run --examples 3");
    assert_eq!(found["inputs"], 50_u64.pow(6));
    let last = metrics(&folder.join("run")).pop().unwrap();
    for (class, key) in [(0, "held_out_max_negative"), (1, "held_out_min_positive")] {
        let own = &found["classes"][class];
        assert_eq!(own["worst"].as_array().unwrap().len(), 3);
        let probability = last[key].as_f64().unwrap();
        let log_odds = (probability / (1.0 - probability)).ln();
        let margin = if class == 1 { log_odds } else { -log_odds };
        assert!(own["smallest_margin"].as_f64().unwrap() <= margin + 1e-4);
    }
    let counted = asked(&folder, "certify run --examples 0");
    assert_eq!(counted["wrong"], found["wrong"]);
    assert_eq!(counted["smallest_margin"], Value::Null);
}

#[test]
fn random_inputs_give_an_interval() {
    let folder = run_on_all("certify_sample", "");
    let all = asked(&folder, "certify run --examples 0");
    let share = all["share"].as_f64().unwrap();
    let found = asked(&folder, "certify run --sample 20000");
    let [low, high] = [0, 1].map(|end| found["sampled"]["interval"][end].as_f64().unwrap());
    assert_eq!(found["sampled"]["inputs"], 20_000);
    // One interval in twenty does not hold the share; this one, of the run's seed, does.
    assert!(low <= share && share <= high, "{share}: {low} to {high}");
    assert_eq!(found, asked(&folder, "certify run --sample 20000"));
}

#[test]
fn a_run_keeps_its_certificate() {
    let folder = run_on_all("certify_kept", "--certify");
    let path = folder.join("run");
    let mut found = asked(&folder, "certify run");
    found.as_object_mut().unwrap().remove("run");
    assert_eq!(certificate(&path), found);
    let manifest = fs::read_to_string(path.join("manifest.sha256")).unwrap();
    assert!(manifest.contains("certificate.json"));
    typed(&folder, "verify run").done();
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    assert!(report.contains("## All inputs") && report.contains("smallest_margin"));
    // `certify` itself writes nothing.
    let before = contents(&folder);
    typed(&folder, "certify run").done();
    assert!(contents(&folder) == before);
}

/// The measures of all inputs are of no samples: `evaluate` has none of them, and the line of `train` has the count.
#[test]
fn the_count_is_of_the_run_and_not_of_samples() {
    let folder = run_on_all("certify_line", "--certify");
    let line = asked(&folder, "train all.toml --certify --run again");
    assert_eq!(line["wrong_inputs"], asked(&folder, "certify run")["wrong"]);
    let evaluated = asked(&folder, "evaluate run --split train");
    assert!(!evaluated.to_string().contains("wrong_inputs"));
    // A run that is trained further has the count of its new model.
    typed(&folder, "train --resume --run run --set training.epochs=2").done();
    let found = asked(&folder, "certify run");
    assert_eq!(certificate(&folder.join("run"))["wrong"], found["wrong"]);
}

/// A signal during the count leaves a complete run without a certificate.
#[cfg(unix)]
#[test]
fn a_run_whose_count_is_interrupted_is_complete() {
    let folder = folder("certify_interrupted");
    let path = folder.join("run");
    let mut command = headlight();
    command.args(["train", "quick", "--certify", "--set", "data.seq_len=11"]);
    command.args(["--set", "data.rule={kind = \"sum-mod\", modulus = 2}"]);
    command.args(["--run", text(&path)]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The count takes hours, and nothing but it comes between the weights and the report.
    while !path.join("model.safetensors").exists() {
        thread::sleep(Duration::from_millis(10));
        assert!(child.try_wait().unwrap().is_none());
    }
    thread::sleep(Duration::from_millis(500));
    send(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!path.join("certificate.json").exists());
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    assert!(!report.contains("wrong_inputs"));
    typed(&folder, "verify run").done();
    let line = asked(&folder, "train --resume --run run");
    assert_eq!(line["interrupted"], false);
    assert_eq!(line["wrong_inputs"], Value::Null);
}

#[test]
fn rows_of_a_sweep_have_the_count() {
    let folder = run_on_all("certify_swept", "--set seed=1");
    let found = asked(&folder, "certify run --examples 1");
    let swept = |name: &str, more: &str| {
        let sweep = format!("sweep all.toml --seeds 0..2 --certify --out {name} {more}");
        typed(&folder, &sweep).done();
        fs::read_to_string(folder.join(name)).unwrap()
    };
    let rows = swept("seeds.jsonl", "");
    let row = json(rows.lines().nth(1).unwrap());
    assert_eq!(row["wrong_inputs"].as_f64(), found["wrong"].as_f64());
    assert_eq!(row["smallest_margin"], found["smallest_margin"]);
    assert_eq!(swept("two.jsonl", "--threads 1"), rows);
}

#[test]
fn models_and_rules_without_a_certificate_are_refused() {
    let folder = folder("certify_refused");
    for line in [
        "train quick --run run --set dump.every_steps=0 --set model.n_layers=2",
        "certify run --sample 1000",
        "train quick --run wide --set dump.every_steps=0 --set data.seq_len=12",
        "train apple --run words --set training.epochs=1",
    ] {
        typed(&folder, line).done();
    }
    let refused = "
certify run                               | 2 | --sample
certify run --sample 0                    | 1000000000
certify run --sample 1000000001           | 1000000000
certify run --sample 18446744073709551615 | 1000000000
certify wide                              | 12 | 50 | --sample
certify words                             | data.rule
certify words --sample 9                  | data.rule
sweep apple --seeds 0..1 --certify --out rows.jsonl | --certify | data.rule
train apple --certify --run new           | --certify | data.rule
";
    refuses_each(&folder, "", refused);
}
