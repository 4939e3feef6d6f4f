//! Pages that train: `headlight lab`, which needs no run, and pages of runs whose samples come from a file.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{
    QUICK, folder, mentions, printed, refuses_each, refuses_typed, text, typed, weights,
};
use serde_json::{Value, json};

/// The facts that a page holds.
fn facts(page: &Path) -> Value {
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("id=\"facts\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The same command writes the same bytes in any folder; what the config says is in the page, and nothing of the machine.
#[test]
fn a_page_without_a_run_depends_on_its_config_alone() {
    let folder = folder("lab_alone");
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    let told = printed(&folder, "lab");
    assert!(mentions(&told, "lab.html"), "{told}");
    typed(&other, "init").done();
    typed(&other, "lab notebook.toml --html mine.html").done();
    let [page, same] =
        [folder.join("lab.html"), other.join("mine.html")].map(|path| fs::read(path).unwrap());
    assert!(page == same);
    assert!(!String::from_utf8(page).unwrap().contains(text(&folder)));
    let found = facts(&folder.join("lab.html"));
    assert_eq!(found["lab"]["name"], "notebook");
    assert_eq!(found["lab"]["config"]["compute"]["engine"], "fused");
    assert_eq!(found["lab"]["config"]["data"]["samples"], 8000);
    assert_eq!(found["lab"]["data"], Value::Null);
    assert_eq!(found["runs"], json!([]));
    let question = found["question"].as_str().unwrap();
    assert!(mentions(question, "42") && mentions(question, "3"));

    let piped = printed(&folder, "lab count --set model.d_model=16 --html -");
    assert!(piped.starts_with("<!doctype html>"));
    fs::write(folder.join("wide.html"), piped).unwrap();
    let found = facts(&folder.join("wide.html"));
    assert_eq!(found["lab"]["name"], "count");
    assert_eq!(found["lab"]["config"]["model"]["d_model"], 16);
}

/// Readers without scripts see the question.
#[test]
fn the_question_stands_in_the_page() {
    let folder = folder("lab_question");
    typed(&folder, &format!("train {QUICK} --run run")).done();
    typed(&folder, "lab quick").done();
    let question = "<h1>Is it true that token 42 is at position 3?</h1>";
    for page in ["lab.html", "run/inspector.html"] {
        let page = fs::read_to_string(folder.join(page)).unwrap();
        let (_, body) = page.split_once("<body>").unwrap();
        assert!(body[..400].contains(question), "{}", &body[..400]);
    }
}

#[test]
fn what_a_page_cannot_train_is_refused() {
    let folder = folder("lab_refused");
    typed(&folder, "lab quick").done();
    // As a number of a script, the large seed would be another one.
    let refused = "
quick                                                       | lab.html | --force
nowhere                                                     | nowhere
quick --open --html -                                       | --open | --html
quick --html new.html --set compute.engine=burn             | compute.engine | burn
quick --html new.html --set data.samples=0                  | samples
quick --html new.html --set dump.samples=[99999]            | dump.samples | 99999
quick --html new.html --set data.seq_len=200000             | data.seq_len
quick --html new.html --set data.seed=9007199254740993      | data.seed | 9007199254740992
";
    refuses_each(&folder, "lab", refused);
    typed(&folder, "lab quick --force").done();
}

const CONFIG: &str = "[data]\nfile = \"mine.csv\"\n[model]\nd_model = 4\n[training]\nepochs = 2\n";

/// Samples of a file, of different lengths, with names.
fn samples(count: usize, names: [&str; 2], has_splits: bool) -> String {
    let mut csv = "split,label,token_0,token_1,token_2\n".to_owned();
    for row in 0..count {
        let split = if has_splits && row % 4 == 1 {
            "test"
        } else {
            "train"
        };
        let (first, last) = (row % 7 + 1, if row % 3 == 0 { "" } else { "9" });
        let name = names[usize::from(first > 3)];
        let _ = writeln!(csv, "{split},{name},{first},8,{last}");
    }
    csv
}

/// The samples in a page, written to a file in the page's order, train the run again: the same weights.
#[test]
fn samples_of_a_file_travel_in_the_page() {
    for (name, names, has_splits, held_out) in [
        ("named", ["ham", "spam"], true, 0),
        ("numbered", ["0", "1"], false, 10),
        ("numbers as names", ["3", "-7"], false, 0),
    ] {
        let folder = folder(&format!("lab_samples_{}", name.replace(' ', "_")));
        fs::write(folder.join("mine.csv"), samples(60, names, has_splits)).unwrap();
        fs::write(folder.join("mine.toml"), CONFIG).unwrap();
        let own = format!("mine.toml --set data.held_out={held_out}");
        typed(&folder, &format!("train {own} --run run")).done();
        let again = &facts(&folder.join("run/inspector.html"))["runs"][0]["again"]["live"];
        let data = &again["data"];
        let tokens = data["tokens"].as_array().unwrap();
        assert_eq!(tokens.len(), 60, "{name}");
        assert_eq!(tokens[..2], [json!([1, 8]), json!([2, 8, 9])]);
        assert_eq!(data["splits"].is_array(), has_splits, "{name}");

        let rows = tokens.iter().enumerate().map(|(row, tokens)| {
            let split = data["splits"].get(row).unwrap_or(&json!("train")).clone();
            json!({"tokens": tokens, "label": data["labels"][row], "split": split}).to_string()
        });
        let rows: Vec<String> = rows.collect();
        fs::write(folder.join("again.jsonl"), rows.join("\n")).unwrap();
        let again = "train run/config.toml --set data.file=again.jsonl --run again";
        typed(&folder, again).done();
        assert!(
            weights(&folder, "run") == weights(&folder, "again"),
            "{name}"
        );

        typed(&folder, &format!("lab {own}")).done();
        let page = facts(&folder.join("lab.html"));
        assert_eq!(page["lab"]["data"], *data, "{name}");
        assert_eq!(page["lab"]["config"]["data"]["file"], "mine.csv");
        let file = folder.join("mine.csv");
        let whole = format!(
            "lab {own} --html whole.html --set 'data.file={}'",
            text(&file)
        );
        typed(&folder, &whole).done();
        let [page, whole] =
            ["lab.html", "whole.html"].map(|page| fs::read(folder.join(page)).unwrap());
        assert!(page == whole, "{name}");
    }
}

/// Other samples than those of the run, or too many of them, are not called its samples.
#[test]
fn a_page_has_the_samples_of_its_run_or_says_why_not() {
    let folder = folder("lab_samples_changed");
    let whole = samples(60, ["ham", "spam"], true);
    fs::write(folder.join("mine.csv"), &whole).unwrap();
    fs::write(folder.join("mine.toml"), CONFIG).unwrap();
    typed(&folder, "train mine.toml --run run").done();
    let again = || {
        typed(&folder, "inspect run --html page.html --force").done();
        let run = facts(&folder.join("page.html"))["runs"][0].clone();
        run["again"].clone()
    };
    assert!(again()["live"]["data"].is_object());
    fs::write(folder.join("mine.csv"), whole.replacen("ham,1", "ham,2", 1)).unwrap();
    let says = |reason: &str| mentions(again()["recorded"].as_str().unwrap(), reason);
    assert!(says("changed"));
    fs::remove_file(folder.join("mine.csv")).unwrap();
    assert!(says("cannot be read"));
    fs::write(folder.join("mine.csv"), &whole).unwrap();
    assert!(again()["live"].is_object());
    fs::remove_dir_all(folder.join("run/checkpoint")).unwrap();
    assert!(says("checkpoint"));

    let many = samples(20_000, ["ham", "spam"], true);
    fs::write(folder.join("mine.csv"), many).unwrap();
    let short = "--set training.epochs=1 --set training.batch_size=4096";
    typed(&folder, &format!("train mine.toml --run large {short}")).done();
    let large = facts(&folder.join("large/inspector.html"))["runs"][0].clone();
    let reason = large["again"]["recorded"].as_str().unwrap();
    assert!(mentions(reason, "200 kB"), "{reason}");
    // Of long texts, a recording has a part.
    let words = |text: usize| (0..120).map(move |at| format!(" w{}", (text * 7 + at * at) % 800));
    let line = |text| {
        let words: String = words(text).collect();
        format!("{},{words}\n", ["a", "b"][text % 2])
    };
    let lines: String = (0..1000).map(line).collect();
    fs::write(folder.join("long.csv"), format!("label,text\n{lines}")).unwrap();
    typed(&folder, "train long.csv --run long --set training.steps=2").done();
    let page = fs::metadata(folder.join("long/inspector.html")).unwrap();
    assert!(page.len() < 3_000_000, "{}", page.len());
    refuses_typed(&folder, "lab mine.toml", &["mine.csv", "200 kB"]);
}

/// Weights are part of the samples: a page does not train without them, and a run is not resumed with others.
#[test]
fn weights_of_samples_stay_with_their_run() {
    let folder = folder("lab_sample_weights");
    let weighted = |of_others: f32| {
        let samples = samples(60, ["ham", "spam"], true);
        let lines = samples
            .lines()
            .enumerate()
            .map(|(number, line)| match number {
                0 => format!("{line},w\n"),
                1 => format!("{line},3\n"),
                _ => format!("{line},{of_others}\n"),
            });
        fs::write(folder.join("mine.csv"), lines.collect::<String>()).unwrap();
    };
    weighted(0.5);
    fs::write(folder.join("mine.toml"), CONFIG).unwrap();
    typed(&folder, "train mine.toml --run plain").done();
    let own = "mine.toml --set data.sample_weight=w";
    typed(&folder, &format!("train {own} --run run")).done();
    assert!(weights(&folder, "run") != weights(&folder, "plain"));
    let page = facts(&folder.join("run/inspector.html"))["runs"][0]["again"].clone();
    let reason = page["recorded"].as_str().unwrap();
    assert!(mentions(reason, "weights"), "{reason}");
    refuses_typed(
        &folder,
        &format!("lab {own}"),
        &["mine.csv", "have weights"],
    );
    refuses_typed(
        &folder,
        &format!("data {own} --out copy.npz"),
        &["data.sample_weight"],
    );
    typed(&folder, "predict run mine.csv --out predictions.csv").done();

    weighted(0.25);
    let resumed = format!("train {own} --set training.epochs=3 --run run --resume");
    refuses_typed(&folder, &resumed, &["samples of [data] have changed"]);
}
