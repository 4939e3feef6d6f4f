//! Worked examples of attention: listed, printed, written; and files with mistakes.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::{Finished, folder, headlight, mentions, refused, refuses, run, text};
use serde_json::Value;

const OWN: &str = r#"title = "Two tokens"
tokens = ["<script>alert(1)</script>", "👩‍💻 שלום"]
x = [[1, 0], [0, 1]]
"#;

#[test]
fn the_list_groups_walkthroughs_by_document() {
    let list = run(&["walkthrough"]).done().stdout;
    let place = |part: &str| list.find(part).unwrap_or_else(|| panic!("{part}:\n{list}"));
    let order = [
        "A First Look at Self-Attention\n",
        "  she-did-not           4 errata   “She did not”\n",
        "\nSelf Attention\n",
        "  it-weighted-sum       3 errata ",
        "\nL03 - Self-Attention: The Search Engine of Language\n",
        "\nWhat Problem Does Self-Attention Solve?\n",
        "  plain-similarity      no errata  ",
        "\nSelf-Attention\n",
        "  scaling               1 erratum  ",
    ];
    let places = order.map(place);
    assert!(places.is_sorted(), "{list}");
}

/// The weights of “She did not”: computed, and published.
#[test]
fn an_example_is_printed_stage_by_stage_with_its_errata() {
    let shown = run(&["walkthrough", "she-did-not"]).done().stdout;
    let weights = "\
weights: softmax of each row of scaled
        She           did           not
She  0.4011 ≠0.42  0.1978 ≠0.16  0.4011 ≠0.42
did  0.1978 ≠0.16  0.4011 ≠0.42  0.4011 ≠0.42
not  0.2483 ≠0.26  0.2483 ≠0.26  0.5035 ≠0.48
";
    assert!(shown.contains(weights), "{shown}");
    assert!(
        shown.contains("She  1.2033 ≠1.26  1.1978 ≠1.26\n"),
        "{shown}"
    );
    // Unscaled, the printed weights are right.
    assert!(
        shown.contains("She  0.4223 =0.42  0.1554 =0.16  0.4223 =0.42\n"),
        "{shown}"
    );
    assert!(!shown.contains('\x1b'), "no colour without a terminal");
}

#[test]
fn every_walkthrough_can_be_printed_in_any_folder() {
    let folder = folder("walkthrough_anywhere");
    let list = run(&["walkthrough"]).done().stdout;
    let names: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    assert!(names.len() >= 14, "{list}");
    for name in names {
        let finished: Finished = headlight()
            .current_dir(&folder)
            .args(["walkthrough", name])
            .output()
            .unwrap()
            .into();
        assert!(finished.done().stdout.contains("weights"), "{name}");
    }
}

#[test]
fn a_file_works_like_a_built_in_walkthrough() {
    let built_in = run(&["walkthrough", "she-did-not"]).done().stdout;
    let file = run(&["walkthrough", "configs/walkthroughs/she-did-not.toml"]);
    assert_eq!(file.done().stdout, built_in);
    // A file needs no extension.
    let path = folder("walkthrough_own").join("mine");
    fs::write(&path, OWN).unwrap();
    let shown = run(&["walkthrough", text(&path)]).done().stdout;
    assert!(shown.contains("0.6698"), "{shown}");
}

#[test]
fn a_page_is_written_beside_the_numbers() {
    let folder = folder("walkthrough_files");
    let html = folder.join("out.html");
    fs::write(&html, "an older page").unwrap();
    let source = folder.join("own.toml");
    fs::write(&source, OWN).unwrap();
    let told = run(&[
        "walkthrough",
        text(&source),
        "--force",
        "--html",
        text(&html),
    ])
    .done()
    .stdout;
    assert!(mentions(&told, "out.html"), "{told}");

    let html = fs::read_to_string(html).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("Content-Security-Policy"));
    assert!(
        html.contains("👩‍💻 שלום") && !html.contains("<script>alert"),
        "{html}"
    );
    assert!(html.contains(">0.6698</td>"), "{html}");
    assert!(
        html.contains(r#"["\u003cscript>alert(1)\u003c/script>","#),
        "the stepper's numbers are text: {html}"
    );

    let json = run(&["walkthrough", text(&source), "--json"]);
    let json: Value = serde_json::from_str(&json.done().stdout).unwrap();
    let stages = json["cases"][0]["stages"].as_array().unwrap();
    let weights = stages
        .iter()
        .find(|stage| stage["stage"] == "weights")
        .unwrap();
    assert_eq!(weights["rows"][1], "👩‍💻 שלום");
    let weight = weights["values"][0][0].as_f64().unwrap();
    // softmax([1 / sqrt 2, 0])
    assert!((weight - 0.669_761_5).abs() < 1e-6, "{weight}");
    assert_eq!(
        fs::read_dir(&folder).unwrap().count(),
        2,
        "nothing else is left"
    );
}

#[test]
fn json_has_each_erratum_with_its_reason() {
    let asked = |more: &[&str]| -> Value {
        let told = run(&[&["walkthrough", "--json"][..], more].concat());
        serde_json::from_str(&told.done().stdout).unwrap()
    };
    let json = asked(&["scaling"]);
    assert_eq!(json["errata"], 1);
    let listed = asked(&[])["walkthroughs"].as_array().unwrap().clone();
    let own = listed.iter().find(|own| own["name"] == "scaling").unwrap();
    assert_eq!(own["errata"], 1);
    let factors = [0, 1].map(|case| json["cases"][case]["factor"].as_f64());
    assert_eq!(factors, [Some(1.0), Some(0.125)]);
    let published = json["cases"][1]["published"].as_array().unwrap();
    let erratum = published
        .iter()
        .find(|entry| entry["erratum"] == true)
        .unwrap();
    assert_eq!(
        erratum["values"],
        serde_json::json!([0.42, 0.32, 0.04, 0.22])
    );
    assert_eq!(
        erratum["differs"],
        serde_json::json!([true, true, true, true])
    );
    assert!(!erratum["note"].as_str().unwrap().is_empty());
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    for (name, parts) in [
        ("she-did-nt", &["`she-did-nt`", "`she-did-not`"][..]),
        ("xyzzy", &["`xyzzy`", "headlight walkthrough"]),
        ("nowhere.toml", &["nowhere.toml"]),
        ("configs", &["configs"]),
    ] {
        refused(&run(&["walkthrough", name]), parts);
    }
}

/// The message begins with the file, and with line and column of what the TOML reader refuses; nothing is written.
#[test]
fn mistakes_in_a_walkthrough_are_pointed_at() {
    let folder = folder("walkthrough_mistakes");
    let path = folder.join("own.toml");
    let out = folder.join("out.html");
    let dog = "[[published]]\nstage = \"scores\"\nrow = \"dog\"\nvalues = [1]\ndecimals = 0";
    let cases = [
        (String::new(), &["own.toml"][..]),
        (
            OWN.replace("tokens", "tokns"),
            &["own.toml:2:1", "`tokns`", "`tokens`"],
        ),
        (
            OWN.replace("[0, 1]", "[0]"),
            &["own.toml:3:5", "row 1", "1"],
        ),
        (
            OWN.replace("[0, 1]", "[0, nan]"),
            &["own.toml:3:5", "row 1", "column 1", "NaN"],
        ),
        (
            OWN.replace("[0, 1]", "[1e300, 1e300]"),
            &["own.toml", "`scores`", "smaller numbers"],
        ),
        (
            format!("{OWN}{dog}"),
            &["own.toml", "`published` entry 1", "\"dog\""],
        ),
    ];
    for (content, parts) in cases {
        fs::write(&path, content).unwrap();
        let page = ["walkthrough", text(&path), "--html", text(&out)];
        refuses(&folder, &page, parts);
    }
}

#[test]
fn files_that_cannot_be_written_are_named() {
    let folder = folder("walkthrough_unwritable");
    let out = folder.join("nowhere/out.html");
    let page = ["walkthrough", "scaling", "--html", text(&out)];
    refuses(&folder, &page, &[text(&out)]);
    refused(&run(&["walkthrough", "--html", "out.html"]), &["--html"]);
    // A walkthrough is not overwritten by its own numbers.
    let own = folder.join("own.toml");
    fs::write(&own, OWN).unwrap();
    let onto_itself = ["walkthrough", text(&own), "--json", text(&own)];
    refuses(&folder, &onto_itself, &[text(&own)]);
    let twice = ["--json", text(&out), "--html", text(&out)];
    let twice = [&["walkthrough", text(&own)][..], &twice].concat();
    refuses(&folder, &twice, &[text(&out)]);
}
