//! Which words decided, from outside: `predict --explain` as JSON, text and a picture, and what it refuses.
#![allow(clippy::format_push_string, missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{asked, folder, mentions, printed, refuses_each, refuses_typed, typed};
use serde_json::Value;

/// Words of three classes: one word of each sentence decides.
fn trained(name: &str) -> PathBuf {
    let folder = folder(name);
    let mut rows = "text,animal\n".to_owned();
    for index in 0..60 {
        let noise = ["a", "the", "one"][index % 3];
        let (animal, sound) =
            [("cat", "purrs"), ("dog", "barks"), ("cow", "grazes")][index / 3 % 3];
        rows.push_str(&format!("{noise} small pet {sound},{animal}\n"));
    }
    fs::write(folder.join("pets.csv"), rows).unwrap();
    let config = "data = { file = \"pets.csv\", label = \"animal\" }\n\
                  model = { d_model = 8, n_heads = 2, n_layers = 2 }\n\
                  training = { epochs = 30, learning_rate = 0.01 }\n";
    fs::write(folder.join("pets.toml"), config).unwrap();
    typed(&folder, "train pets.toml --run run --quiet").done();
    folder
}

fn explained(folder: &Path, sample: &str) -> Value {
    asked(folder, &format!("predict run --explain {sample}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn the_word_that_decides_is_found() {
    let folder = trained("explain_words");
    let found = explained(&folder, "--text 'The small Zebra purrs loudly today'");
    let own = &found["explanation"];
    assert_eq!(found["predicted"], "cat");
    assert_eq!(own["predicted"], "cat");
    let likely = number(&found["probabilities"][0]);
    assert!((number(&own["probability"]) - likely).abs() < 1e-5);
    let words = own["words"].as_array().unwrap();
    let texts: Vec<&str> = words
        .iter()
        .map(|word| word["word"].as_str().unwrap())
        .collect();
    // As they were typed; four fit.
    assert_eq!(texts, ["The", "small", "Zebra", "purrs"]);
    let unknown: Vec<bool> = words.iter().map(|word| word["unknown"] == true).collect();
    assert_eq!(unknown, [false, false, true, false]);
    assert_eq!(own["cut"].as_array().unwrap().len(), 2);
    assert_eq!(own["cut"][0], "loudly");

    let (last, others) = words.split_last().unwrap();
    for other in others {
        assert!(number(&last["change"]) < number(&other["change"]));
        assert!(number(&last["integrated_gradients"]) > number(&other["integrated_gradients"]));
    }
    assert_ne!(last["predicted_without"], "cat");
    let sum = words
        .iter()
        .map(|word| number(&word["integrated_gradients"]))
        .sum::<f64>();
    let parts = sum + number(&own["integrated_gradients_of_cls"]) + number(&own["baseline_logit"]);
    assert!((parts - number(&own["logit"])).abs() < 1e-3);
    let head = own["head"].as_u64().unwrap() as usize;
    for word in words {
        let position = word["position"].as_u64().unwrap() as usize;
        let weight = number(&found["attention_of_readout"][1][head][position]);
        assert!((number(&word["weight"]) - weight).abs() < 1e-5);
        // Five keys: the words and [CLS].
        assert!((number(&word["attention"]) - 5.0 * weight).abs() < 1e-4);
        let change = number(&word["probability_without"]) - number(&own["probability"]);
        assert!((number(&word["change"]) - change).abs() < 1e-12);
    }

    // Padding has no row, and no query to show.
    let short = explained(&folder, "--text barks");
    assert_eq!(short["explanation"]["words"].as_array().unwrap().len(), 1);
    assert_eq!(short["explanation"]["uniform"], 0.5);
}

#[test]
fn people_see_a_table_and_a_picture() {
    let folder = trained("explain_shown");
    let command = "predict run --text 'The small Zebra barks loudly' --explain";
    let shown = printed(&folder, command);
    let (_, table) = shown.split_once("Which words").unwrap();
    for line in table.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for part in ["Zebra (unknown)", "barks", "loudly"] {
        assert!(mentions(&shown, part), "{part}: {shown}");
    }
    for part in ["[PAD]", "[UNK] "] {
        assert!(!shown.contains(part), "{shown}");
    }

    let picture = format!("{command} --svg words.svg");
    assert_eq!(printed(&folder, &picture), shown);
    let svg = fs::read_to_string(folder.join("words.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(">Zebra (unknown)<"));
    assert!(svg.matches("class=\"set").count() >= 4);
    refuses_typed(&folder, &picture, &["words.svg"]);
    // On standard output, the picture stands alone.
    assert_eq!(printed(&folder, &format!("{command} --svg -")), svg);
}

#[test]
fn samples_of_tokens_are_explained_too() {
    let folder = folder("explain_tokens");
    typed(&folder, "train notebook --run run --quiet").done();
    let found = explained(&folder, "--tokens '16 5 42 43 32 2'");
    let own = &found["explanation"];
    assert_eq!(own["predicted"], 1);
    let words = own["words"].as_array().unwrap();
    assert_eq!((words.len(), &words[2]["word"]), (6, &Value::from("42")));
    // The notebook's question: token 42 at position 3.
    for (index, word) in words.iter().enumerate() {
        assert_eq!(word["predicted_without"], u8::from(index != 2));
        assert_eq!(number(&word["attention"]) > 2.0, index == 2);
    }
}

#[test]
fn a_row_of_columns_is_explained_by_its_values() {
    let folder = folder("explain_columns");
    let mut rows = "size,color of it,label\n".to_owned();
    for index in 0..90 {
        let (color, label) = [("red", "no"), ("dark, blue", "yes"), ("green", "no")][index / 3 % 3];
        rows.push_str(&format!("{},\"{color}\",{label}\n", index % 3));
    }
    fs::write(folder.join("rows.csv"), rows).unwrap();
    typed(&folder, "train rows.csv --run run --quiet").done();
    let row = "--text '7,\"dark, blue\"'";
    let found = explained(&folder, row);
    assert_eq!(found["predicted"], "yes");
    let words = found["explanation"]["words"].as_array().unwrap();
    let names: Vec<&Value> = words.iter().map(|word| &word["word"]).collect();
    assert_eq!(names, ["size=7", "color of it=dark, blue"]);
    let unknown: Vec<&Value> = words.iter().map(|word| &word["unknown"]).collect();
    assert_eq!(unknown, [true, false]);
    assert_eq!(words[1]["predicted_without"], "no");
    assert!(found["explanation"]["cut"].as_array().unwrap().is_empty());
    typed(
        &folder,
        &format!("predict run --explain --svg row.svg {row}"),
    )
    .done();
    let svg = fs::read_to_string(folder.join("row.svg")).unwrap();
    assert!(svg.contains(">size=7 (unknown)<"));
}

#[test]
fn one_sample_and_one_model_are_explained() {
    let folder = trained("explain_refused");
    fs::write(folder.join("new.txt"), "the dog barks\n").unwrap();
    let refused = "
new.txt --explain                    | --explain | FILE
--text barks --svg x.svg             | --explain
--text barks --explain --json --svg - | --json
";
    refuses_each(&folder, "predict run", refused);
}
