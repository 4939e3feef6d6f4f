//! Every stage of the built-in walkthroughs against NumPy.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use headlight_walkthrough::{BUILT_IN, Computed, Walkthrough, WorkedCase};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    stages: BTreeMap<String, Vec<Vec<Option<f64>>>>,
    /// Stage, row, columns.
    errata: Vec<(String, usize, Vec<usize>)>,
}

/// Origin: `scripts/evidence/test_walkthroughs.py`.
fn expected() -> BTreeMap<String, Vec<Expected>> {
    serde_json::from_str(include_str!("expected.json")).unwrap()
}

#[test]
fn every_file_of_the_folder_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/walkthroughs");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    let mut names = BUILT_IN.map(|built_in| built_in.name.to_owned());
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn every_stage_is_numpys() {
    let expected = expected();
    assert_eq!(expected.len(), BUILT_IN.len());
    for built_in in BUILT_IN {
        let worked = Walkthrough::read("f", built_in.text.as_bytes()).unwrap();
        let cases = &expected[built_in.name];
        assert_eq!(worked.cases.len(), cases.len(), "{}", built_in.name);
        for (case, expected) in worked.cases.iter().zip(cases) {
            assert_eq!(
                case.stages.len(),
                expected.stages.len(),
                "{}",
                built_in.name
            );
            for computed in &case.stages {
                let name = computed.stage.name();
                assert_close(computed, &expected.stages[name], built_in.name);
            }
        }
    }
}

fn assert_close(computed: &Computed, expected: &[Vec<Option<f64>>], walkthrough: &str) {
    let name = computed.stage.name();
    assert_eq!(
        computed.matrix.rows(),
        expected.len(),
        "{walkthrough}: {name}"
    );
    for (row, numbers) in computed.matrix.0.iter().zip(expected) {
        assert_eq!(row.len(), numbers.len());
        for (&ours, &theirs) in row.iter().zip(numbers) {
            let theirs = theirs.unwrap_or(f64::NEG_INFINITY);
            let close = ours.to_bits() == theirs.to_bits()
                || (ours - theirs).abs() <= 1e-6 * theirs.abs().max(1.0);
            assert!(close, "{walkthrough}: {name}: {ours} is not {theirs}");
        }
    }
}

#[test]
fn the_errata_are_those_that_numpy_finds_and_each_says_why() {
    let expected = expected();
    for built_in in BUILT_IN {
        let worked = Walkthrough::read("f", built_in.text.as_bytes()).unwrap();
        for (case, expected) in worked.cases.iter().zip(&expected[built_in.name]) {
            assert_eq!(errata(case), expected.errata, "{}", built_in.name);
            for published in &case.published {
                // Numbers that agree are not mentioned.
                assert_eq!(
                    published.erratum,
                    published.note.is_some(),
                    "{}: {published:?}",
                    built_in.name
                );
            }
        }
    }
}

fn errata(case: &WorkedCase) -> Vec<(String, usize, Vec<usize>)> {
    let published = case.published.iter().filter(|entry| entry.erratum);
    published
        .map(|entry| {
            let columns = entry.columns.iter().zip(&entry.differs);
            (
                entry.stage.name().to_owned(),
                entry.row,
                columns
                    .filter(|(_, differs)| **differs)
                    .map(|(column, _)| *column)
                    .collect(),
            )
        })
        .collect()
}
