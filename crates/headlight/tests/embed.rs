//! Vectors of words from outside: their numbers against the run's weights and dumps, and what is refused.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{asked, config_of, folder, mentions, printed, refuses_each, typed};
use safetensors::SafeTensors;
use serde_json::Value;

/// A short run of the grammar, whose `apple` stands twice in each sentence.
fn apples(name: &str) -> PathBuf {
    let folder = folder(name);
    let sets = "--set data.samples=800 --set data.held_out=60 --set training.epochs=2";
    typed(&folder, &format!("train apple --run run {sets}")).done();
    folder
}

type Row = BTreeMap<String, String>;

fn rows(folder: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(folder.join("vectors.csv")).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].parse().unwrap()
}

fn vector(row: &Row) -> Vec<f32> {
    let numbers = (0..).map_while(|index| row.get(&format!("v{index}")));
    numbers.map(|number| number.parse().unwrap()).collect()
}

#[test]
fn vectors_are_the_models() {
    let folder = apples("embed_vectors");
    let embed = "embed run --word Apple --occurrences 30 --csv vectors.csv";
    let found = asked(&folder, embed);
    assert_eq!(found["occurrences"], 30);
    assert_eq!(found["split"], "held-out");
    let names: Vec<&str> = found["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["level"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["word", "position", "block_0", "block_1"]);
    let rows = rows(&folder);
    assert_eq!(rows.len(), 4 * 30);

    // Each sentence has the word twice, and is about one of them.
    let of_first = rows
        .iter()
        .filter(|row| row["level"] == "word" && row["sample"] == "0");
    let asked: Vec<&str> = of_first.map(|row| row["asked"].as_str()).collect();
    assert_eq!(asked.len(), 2);
    assert!(asked.contains(&"0") && asked.contains(&"1"));

    let weights = fs::read(folder.join("run/model.safetensors")).unwrap();
    let weights = SafeTensors::deserialize(&weights).unwrap();
    let tensor = |name: &str, row: usize| -> Vec<f32> {
        let tensor = weights.tensor(name).unwrap();
        let width = tensor.shape()[1];
        let bytes = &tensor.data()[4 * row * width..4 * (row + 1) * width];
        let numbers = bytes
            .chunks(4)
            .map(|four| f32::from_le_bytes(four.try_into().unwrap()));
        numbers.collect()
    };
    let config = config_of(&folder.join("run"));
    let words = config["data"]["words"]["vocabulary"].as_array().unwrap();
    let apple = words.iter().position(|word| word.as_str() == Some("apple"));
    let own = tensor("token_embedding", 3 + apple.unwrap());
    for row in rows.iter().filter(|row| row["level"] == "word") {
        assert_eq!(vector(row), own);
    }
    for row in rows.iter().filter(|row| row["level"] == "position") {
        let place = tensor("position_embedding", number(row, "position") as usize);
        let both = own.iter().zip(&place).map(|(a, b)| a + b);
        let close = both
            .zip(vector(row))
            .all(|(expected, found)| (expected - found).abs() < 1e-6);
        assert!(close);
    }

    // A plane: components do not correlate, and their variances are the shares of the whole.
    for (level, name) in found["levels"]
        .as_array()
        .unwrap()
        .iter()
        .zip(names)
        .skip(1)
    {
        let of_level: Vec<&Row> = rows.iter().filter(|row| row["level"] == name).collect();
        let count = of_level.len() as f64;
        let mean_product = |a: &str, b: &str| {
            of_level
                .iter()
                .map(|row| number(row, a) * number(row, b))
                .sum::<f64>()
                / count
        };
        let total: f64 = (0..own.len())
            .map(|index| {
                let name = format!("v{index}");
                let mean = of_level.iter().map(|row| number(row, &name)).sum::<f64>() / count;
                mean_product(&name, &name) - mean * mean
            })
            .sum();
        for (component, name) in ["pc1", "pc2"].into_iter().enumerate() {
            let share = level["plane"][component].as_f64().unwrap();
            assert!(
                (mean_product(name, name) / total - share).abs() < 1e-4,
                "{name} {share}"
            );
        }
        assert!(mean_product("pc1", "pc2").abs() / total < 1e-5);
    }
}

/// With one vector of each of two classes, a separation means nothing, wherever they are.
#[test]
fn few_occurrences_measure_no_separation() {
    let folder = apples("embed_few");
    let few = asked(&folder, "embed run --word apple --occurrences 8");
    let levels = few["levels"].as_array().unwrap();
    assert!(levels.iter().all(|level| level["separation"].is_null()));
    assert_eq!(few["chance"], Value::Null);
    let told = printed(&folder, "embed run --word apple --occurrences 8");
    assert!(mentions(&told, "--occurrences"), "{told}");
    // Where there are no more, none are advised.
    fs::write(
        folder.join("few.csv"),
        "text,label,split\na dog,x,train\na bee,x,train\na cat,y,train\nno cat,y,train\na bee,x,test\n",
    )
    .unwrap();
    typed(&folder, "train few.csv --run few").done();
    let told = printed(&folder, "embed few --word bee");
    let advised = told.contains("--occurrences");
    assert!(told.contains("1 occurrence ") && !advised, "{told}");

    let more = asked(&folder, "embed run --word apple --occurrences 60");
    let classes = more["classes"].as_object().unwrap();
    let asked: u64 = classes.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(asked, 30);
    let chance = more["chance"].as_f64().unwrap();
    assert!((chance - 1.0 / 29.0).abs() < 1e-12, "{chance}");
    assert!(more["levels"][3]["separation"].is_f64());
}

/// The share of the variance between the means of the classes, by its definition.
#[test]
fn a_trained_model_separates_the_meanings() {
    let folder = folder("embed_separation");
    let sets = "--set data.samples=4000 --set data.held_out=200 --set seed=1";
    typed(&folder, &format!("train pronoun --run run {sets}")).done();
    let embed = "embed run --word it --occurrences 150 --csv vectors.csv";
    let found = asked(&folder, embed);
    let levels = found["levels"].as_array().unwrap();
    assert_eq!(levels[0]["separation"], Value::Null);
    let last = levels.last().unwrap();
    let rows = rows(&folder);
    let of_last: Vec<&Row> = rows
        .iter()
        .filter(|row| row["level"] == last["level"].as_str().unwrap() && row["asked"] == "1")
        .collect();
    let mean = |of: &[&Row]| -> Vec<f64> {
        let vectors: Vec<Vec<f32>> = of.iter().map(|row| vector(row)).collect();
        let width = vectors[0].len();
        let sum = |index: usize| {
            vectors
                .iter()
                .map(|vector| f64::from(vector[index]))
                .sum::<f64>()
        };
        (0..width)
            .map(|index| sum(index) / vectors.len() as f64)
            .collect()
    };
    let squares = |from: &[f64], of: &[&Row]| -> f64 {
        let apart = |row: &&Row| -> f64 {
            vector(row)
                .iter()
                .zip(from)
                .map(|(&a, b)| (f64::from(a) - b).powi(2))
                .sum()
        };
        of.iter().map(apart).sum()
    };
    let mut within = 0.0;
    for label in ["animal", "place"] {
        let own: Vec<&Row> = of_last
            .iter()
            .copied()
            .filter(|row| row["label"] == label)
            .collect();
        assert!(!own.is_empty(), "{:?}", of_last[0]["label"]);
        within += squares(&mean(&own), &own);
    }
    let expected = 1.0 - within / squares(&mean(&of_last), &of_last);
    let separation = last["separation"].as_f64().unwrap();
    assert!(
        (separation - expected).abs() < 1e-4,
        "{separation} {expected}"
    );
    assert!(separation > 0.5, "{separation}");
}

#[test]
fn tokens_are_words_too_and_faults_are_refused() {
    let folder = apples("embed_refused");
    typed(&folder, "train quick --run tokens --set training.epochs=1").done();
    let found = asked(&folder, "embed tokens --word 4");
    assert_eq!(found["occurrences"], 40);

    // A value of a column, as pictures and reports show it.
    let rows = (0..40).map(|row| format!("{},{}\n", ["Big Pro", "Team"][row % 2], row % 2));
    let rows = "plan,label\n".to_owned() + &rows.collect::<String>();
    fs::write(folder.join("plans.csv"), rows).unwrap();
    typed(
        &folder,
        "train plans.csv --set training.epochs=1 --run plans",
    )
    .done();
    typed(&folder, "embed plans --word 'plan=Big Pro'").done();
    let faults = "
run --word aple                        | aple | apple
run --word 'red apple'                 | red apple
run --word ''                          | --word
run --word apple --csv run/config.toml | config.toml
missing --word apple                   | missing
tokens --word 4000                     | 4000
tokens --word apple                    | apple
plans --word team                      | plan=Team
";
    refuses_each(&folder, "embed", faults);
}
