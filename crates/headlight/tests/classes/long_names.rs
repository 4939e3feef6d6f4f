//! Many classes and columns, with long names that begin alike: screens stay within their width, and no two look alike.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{asked, folder, printed, typed};

const CLASSES: usize = 20;

/// A run on texts of 20 classes whose names differ in their last word alone.
fn trained(name: &str) -> PathBuf {
    let folder = folder(name);
    let mut rows = "text,label\n".to_owned();
    for row in 0..200 {
        let class = row % CLASSES;
        writeln!(
            rows,
            "a word{class} w{row},question of the department number {class}"
        )
        .unwrap();
    }
    fs::write(folder.join("x.csv"), rows).unwrap();
    typed(&folder, "train x.csv --run run --set training.epochs=8").done();
    folder
}

fn narrow(folder: &Path, line: &str) -> String {
    let text = printed(folder, line);
    for shown in text.lines() {
        assert!(shown.chars().count() <= 80, "{line}: {shown}");
    }
    text
}

#[test]
fn classes_that_begin_alike_stay_apart_in_80_columns() {
    let folder = trained("names_classes");
    let predicted = narrow(&folder, "predict run --text 'a word7'");
    let classes = predicted
        .lines()
        .filter_map(|line| line.split_once("  probability"));
    let classes: BTreeSet<&str> = classes.map(|(class, _)| class.trim()).collect();
    assert_eq!(classes.len(), CLASSES, "{predicted}");

    let evaluated = narrow(&folder, "evaluate run x.csv");
    let numbered = |class: usize| evaluated.contains(&format!("{class}  "));
    assert!((0..8).all(numbered), "{evaluated}");
    typed(&folder, "evaluate run x.csv --svg e.svg").done();
    let picture = fs::read_to_string(folder.join("e.svg")).unwrap();
    // A cell of the confusion matrix is as wide as two digits, its classes' names stand upright.
    assert!(picture.contains("rotate(-90)"));

    // Of many classes, the title names the predicted one.
    let inspected = printed(&folder, "inspect run --sample 0");
    assert!(inspected.contains("predicted question of"), "{inspected}");
    assert!(asked(&folder, "evaluate run x.csv")["accuracy"].is_number());
}

#[test]
fn settings_side_by_side_stay_apart_in_80_columns() {
    let folder = trained("names_compare");
    typed(&folder, "train x.csv --run more --set training.epochs=9").done();
    let compared = narrow(&folder, "compare run more");
    let row = compared
        .lines()
        .find(|line| line.starts_with("training.epochs"));
    let cells: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!(cells, ["training.epochs", "8", "9"]);
}
