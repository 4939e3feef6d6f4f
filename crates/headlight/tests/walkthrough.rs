//! Worked examples of attention: listed, printed, written; and files with mistakes.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::{asked, folder, mentions, printed, refuses_each, refuses_typed, run};

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
    let output = "She  1.2033 ≠1.26  1.1978 ≠1.26\n";
    assert!(shown.contains(output), "{shown}");
    // Unscaled, the printed weights are right.
    let unscaled = "She  0.4223 =0.42  0.1554 =0.16  0.4223 =0.42\n";
    assert!(shown.contains(unscaled), "{shown}");
    assert!(!shown.contains('\x1b'), "no colour without a terminal");
}

#[test]
fn every_walkthrough_can_be_printed_in_any_folder() {
    let folder = folder("walkthrough_anywhere");
    let list = printed(&folder, "walkthrough");
    let names = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let names: Vec<&str> = names.collect();
    assert!(names.len() >= 14, "{list}");
    for name in names {
        let shown = printed(&folder, &format!("walkthrough {name}"));
        assert!(shown.contains("weights"), "{name}");
    }
}

#[test]
fn a_file_works_like_a_built_in_walkthrough() {
    let built_in = run(&["walkthrough", "she-did-not"]).done().stdout;
    let file = run(&["walkthrough", "configs/walkthroughs/she-did-not.toml"]);
    assert_eq!(file.done().stdout, built_in);
    // A file needs no extension.
    let folder = folder("walkthrough_own");
    fs::write(folder.join("mine"), OWN).unwrap();
    let shown = printed(&folder, "walkthrough mine");
    assert!(shown.contains("0.6698"), "{shown}");
}

#[test]
fn a_page_is_written_beside_the_numbers() {
    let folder = folder("walkthrough_files");
    let html = folder.join("out.html");
    fs::write(&html, "an older page").unwrap();
    fs::write(folder.join("own.toml"), OWN).unwrap();
    let told = printed(&folder, "walkthrough own.toml --force --html out.html");
    assert!(mentions(&told, "out.html"), "{told}");

    let html = fs::read_to_string(html).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("Content-Security-Policy"));
    assert!(!html.contains("<script>alert"), "{html}");
    // The stepper's numbers are text.
    let escaped = r#"["\u003cscript>alert(1)\u003c/script>","#;
    for part in ["👩‍💻 שלום", ">0.6698</td>", escaped] {
        assert!(html.contains(part), "{html}");
    }

    let json = asked(&folder, "walkthrough own.toml");
    let mut stages = json["cases"][0]["stages"].as_array().unwrap().iter();
    let weights = stages.find(|stage| stage["stage"] == "weights").unwrap();
    assert_eq!(weights["rows"][1], "👩‍💻 שלום");
    let weight = weights["values"][0][0].as_f64().unwrap();
    // softmax([1 / sqrt 2, 0])
    assert!((weight - 0.669_761_5).abs() < 1e-6, "{weight}");
    // Nothing else is left.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn json_has_each_erratum_with_its_reason() {
    let folder = folder("walkthrough_json");
    let json = asked(&folder, "walkthrough scaling");
    assert_eq!(json["errata"], 1);
    let list = asked(&folder, "walkthrough");
    let mut listed = list["walkthroughs"].as_array().unwrap().iter();
    let own = listed.find(|own| own["name"] == "scaling").unwrap();
    assert_eq!(own["errata"], 1);
    let factors = [0, 1].map(|case| json["cases"][case]["factor"].as_f64());
    assert_eq!(factors, [Some(1.0), Some(0.125)]);
    let mut published = json["cases"][1]["published"].as_array().unwrap().iter();
    let erratum = published.find(|entry| entry["erratum"] == true).unwrap();
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
    let folder = folder("walkthrough_unknown");
    fs::create_dir(folder.join("configs")).unwrap();
    let refused = "
she-did-nt   | `she-did-nt` | `she-did-not`
xyzzy        | `xyzzy` | headlight walkthrough
nowhere.toml | nowhere.toml
configs      | configs
";
    refuses_each(&folder, "walkthrough", refused);
}

/// The message begins with the file, and with line and column of what the TOML reader refuses; nothing is written.
#[test]
fn mistakes_in_a_walkthrough_are_pointed_at() {
    let folder = folder("walkthrough_mistakes");
    let dog = "[[published]]\nstage = \"scores\"\nrow = \"dog\"\nvalues = [1]\ndecimals = 0";
    let second = |row: &str| OWN.replace("[0, 1]", row);
    for (content, parts) in [
        (String::new(), &["own.toml"][..]),
        (
            OWN.replace("tokens", "tokns"),
            &["own.toml:2:1", "`tokns`", "`tokens`"],
        ),
        (second("[0]"), &["own.toml:3:5", "row 1", "1"]),
        (
            second("[0, nan]"),
            &["own.toml:3:5", "row 1", "column 1", "NaN"],
        ),
        (
            second("[1e300, 1e300]"),
            &["own.toml", "`scores`", "smaller numbers"],
        ),
        (
            format!("{OWN}{dog}"),
            &["own.toml", "`published` entry 1", "\"dog\""],
        ),
    ] {
        fs::write(folder.join("own.toml"), content).unwrap();
        refuses_typed(&folder, "walkthrough own.toml --html out.html", parts);
    }
}

#[test]
fn files_that_cannot_be_written_are_named() {
    let folder = folder("walkthrough_unwritable");
    fs::write(folder.join("own.toml"), OWN).unwrap();
    // A walkthrough is not overwritten by its own numbers.
    let refused = "
scaling --html nowhere/out.html              | nowhere/out.html
--html out.html                              | --html
own.toml --json own.toml                     | own.toml
own.toml --json out.html --html out.html     | out.html
";
    refuses_each(&folder, "walkthrough", refused);
}
