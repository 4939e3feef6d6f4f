//! Walkthrough files: the ones that are refused, with place and key of the mistake, and the ones that are read.
#![allow(missing_docs, clippy::unwrap_used)]

use headlight_walkthrough::{BUILT_IN, Stage, Walkthrough, built_in};
use proptest::prelude::*;

const GOOD: &str = r#"title = "t"
tokens = ["a", "b"]
query = [[1, 0], [0, 1]]
key = [[1, 0], [0, 1]]
value = [[1], [2]]
[[published]]
stage = "weights"
row = "a"
values = [0.67, 0.33]
decimals = 2
"#;

fn refused(text: &str) -> String {
    Walkthrough::read("f", text.as_bytes()).unwrap_err()
}

#[test]
fn the_example_is_good() {
    assert_eq!(Walkthrough::read("f", GOOD.as_bytes()).unwrap().errata, 0);
}

/// Each case puts something in the place of a text of the example. The message names the key, and line and column of what
/// the TOML reader refuses.
#[test]
fn mistakes_are_named() {
    let cases = r#"
        title = "t" =>  => `title` is missing
        tokens = ["a", "b"] =>  => `tokens` is missing
        tokens = => tokns = => 2:1: unknown key `tokns`; did you mean `tokens`?
        value = [[1], [2]] => zzz = 1 => 5:1: unknown key `zzz`; it can be title, source
        title = "t" => title = 1 => 1:9: invalid type: integer `1`, expected a string
        title = "t" => title = "t"\n[[ => 2:3:
        "b"] => ""] => 2:10: token 1 is empty
        "b"] => "\u001b[0m"] => 2:10: token 1 is empty or holds a control character
        ["a", "b"] => [] => 2:10: there are 0 tokens
        ["a", "b"] => ["a"] => the number of rows of `query` is 2; it must be 1, one for each token
        key = [[1, 0], [0, 1]] => key = [[1, 0], [1]] => 4:7: the length of row 1 is 1; that of row 0 is 2
        key = [[1, 0], [0, 1]] => key = [[1], [0]] => query · keyᵀ cannot be computed: the first has 2 columns, the second 1 row
        key = [[1, 0], [0, 1]] =>  => `query` with `key`
        key = [[1, 0], [0, 1]] => key = [] => 4:7: there are no numbers
        key = [[1, 0], [0, 1]] => key = [[], []] => 4:7: there are no numbers
        key = [[1, 0], [0, 1]] => key = [[1, nan], [0, 1]] => 4:7: row 0, column 1 is NaN; it must be a finite number
        key = [[1, 0], [0, 1]] => key = [[1, 0], ["x", 1]] => 4:17: invalid type: string "x", expected a number
        value = [[1], [2]] => value = [[1], [2], [3]] => the number of rows of `value` is 3; it must be 2, one for each token
        value = [[1], [2]] => scores = [[1, 2], [3, 4]] => give one thing to compute from
        value = [[1], [2]] => memory = [[1, 2], [3, 4]] => `memory` has no effect
        value = [[1], [2]] => d_k = 4 => `d_k` has no effect
        value = [[1], [2]] => mask = [[1, 0]] => the mask has 1 rows; there are 2 queries
        value = [[1], [2]] => mask = [[1, 0, 1], [1, 1, 1]] => row 0 of the mask has 3 columns; there are 2 keys
        value = [[1], [2]] => mask = "casual" => "causal"
        value = [[1], [2]] => scale = inf => `scale` must be a finite number
        value = [[1], [2]] => temperature = 0 => `temperature` is 0; it must be a positive number
        value = [[1], [2]] => temperature = nan => `temperature` is NaN; it must be a positive number
        value = [[1], [2]] => temperature = 1e-308\nscale = 1e10 => `scale` must be a finite number
        key = [[1, 0], [0, 1]] => key = [[1e308, 1e308], [0, 1]]\nscale = 1e10 => `scaled` has a number that is too large
        value = [[1], [2]] => query_rows = [] => `query_rows` is empty
        value = [[1], [2]] => query_rows = [2] => `query_rows`: there is no index 2; indices go from 0 to 1
        value = [[1], [2]] => query_rows = [-1] => 5:1
        "weights" => "wieghts" => 7:9: unknown stage `wieghts`; did you mean `weights`?
        "weights" => "masked" => `published` entry 1: this case has no such stage; its stages are query, key, value, scores, scaled, weights, output
        row = "a" => row = "c" => `published` entry 1: there is no "c"
        row = "a" => row = "a"\ncolumns = ["x"] => there is no "x"
        0.33] => 0.33, 0] => `published` entry 1: `values` must hold 2 numbers, one for each column
        0.33] => nan] => `values` must hold 2 numbers
        decimals = 2 => decimals = 9 => `decimals` is 9; it can be at most 6
        decimals = 2 =>  => missing key `decimals`
        decimals = 2\n => decimals = 2\n[[case]]\ntitle = "c"\n => in a file with cases, `published`
    "#;
    for case in cases.trim().lines() {
        let parts: Vec<String> = case
            .split(" => ")
            .map(|part| part.trim().replace(r"\n", "\n"))
            .collect();
        let [from, to, message] = &parts[..] else {
            panic!("{case}")
        };
        assert!(GOOD.contains(from), "{from}");
        let found = refused(&GOOD.replacen(from, to, 1));
        assert!(found.contains(message), "{case}: {found}");
        assert!(!found.contains('\n'), "one line: {found}");
    }
}

#[test]
fn other_files_are_refused() {
    assert_eq!(refused(" \n"), "f: `title` is missing");
    let latin = Walkthrough::read("f", b"title = \"\xe9\"").unwrap_err();
    assert_eq!(latin, "f: the file is not UTF-8 text");
    let large = vec![b' '; (1 << 20) + 1];
    let large = Walkthrough::read("f", &large).unwrap_err();
    assert_eq!(large, "f: the file is larger than 1 MiB");
    let nothing = refused("title = \"t\"\ntokens = [\"a\"]");
    assert!(
        nothing.contains("give one thing to compute from"),
        "{nothing}"
    );
    let weights = refused("title = \"t\"\ntokens = [\"a\"]\nweights = [[1]]\nmask = \"causal\"");
    assert!(weights.contains("`mask` has no effect"));
    let scores = refused("title = \"t\"\ntokens = [\"a\"]\nscores = [[1]]");
    assert!(
        scores.contains("give `d_k`, or `scale = false`"),
        "{scores}"
    );
}

#[test]
fn sizes_are_bounded() {
    let names = |count: usize| vec!["\"a\""; count].join(",");
    let many = format!("title = \"t\"\ntokens = [{}]\nscale = false\n", names(257));
    assert!(refused(&many).contains("there are 257 tokens; there must be 1 to 256"));
    let wide = format!(
        "title = \"t\"\ntokens = [\"a\"]\nx = [[{}]]",
        vec!["0"; 4097].join(",")
    );
    assert!(refused(&wide).contains("3:5: the matrix is 1 × 4097"));
    let cases = "[[case]]\ntitle = \"c\"\n".repeat(17);
    let cases = format!("title = \"t\"\ntokens = [\"a\"]\nx = [[1]]\n{cases}");
    assert!(refused(&cases).contains("there are 17 cases; at most 16"));
    let largest = format!(
        "title = \"t\"\ntokens = [{}]\nx = [{}]",
        names(256),
        vec![format!("[{}]", vec!["0.5"; 64].join(",")); 256].join(",")
    );
    let worked = Walkthrough::read("f", largest.as_bytes()).unwrap();
    assert_eq!(worked.cases[0].stages[1].matrix.rows(), 256);
}

/// Every projection must fit its input, and keys must fit queries.
#[test]
fn projections_fit() {
    let head = "title = \"t\"\ntokens = [\"a\"]\nkey_tokens = [\"b\", \"c\"]\nx = [[1, 2]]\n";
    let cases = r"
         => the number of columns of `scores` is 1; it must be 2, one for each token
        memory = [[1, 2]] => the number of rows of `memory` is 1; it must be 2
        memory = [[1], [2]] => x · memoryᵀ cannot be computed: the first has 2 columns, the second 1 row
        memory = [[1], [2]]\nw_query = [[1]] => x · w_query cannot be computed: the first has 2 columns, the second 1 row
        memory = [[1], [2]]\nw_key = [[1, 2, 3]] => x · keyᵀ cannot be computed: the first has 2 columns, the second 3 rows
        memory = [[1], [2]]\nw_key = [[1, 2]]\nw_value = [[1], [2]] => memory · w_value cannot be computed: the first has 1 column, the second 2 rows
    ";
    for case in cases.trim().lines() {
        let (more, message) = case.split_once("=> ").unwrap();
        let more = more.trim().replace(r"\n", "\n");
        let found = refused(&format!("{head}{more}"));
        assert!(found.contains(message), "{case}: {found}");
    }
    let good = format!("{head}memory = [[1], [2]]\nw_key = [[1, 2]]\nw_value = [[1, 2, 3]]");
    let worked = Walkthrough::read("f", good.as_bytes()).unwrap();
    let output = worked.cases[0].stages.last().unwrap();
    assert_eq!((output.stage, output.matrix.columns()), (Stage::Output, 3));
}

/// A case inherits the keys that it lacks from the top, but not another starting point.
#[test]
fn cases_complete_themselves_from_the_top() {
    let text = r#"
        title = "t"
        tokens = ["a", "b"]
        x = [[1, 0], [0, 1]]
        mask = "causal"
        [[case]]
        title = "as at the top"
        [[case]]
        title = "from scores"
        scores = [[1, 2], [3, 4]]
        scale = false
        mask = "none"
        [[case]]
        title = "one token"
        tokens = ["c"]
        x = [[2]]
    "#;
    let worked = Walkthrough::read("f", text.as_bytes()).unwrap();
    let stages = |case: usize| -> Vec<&str> {
        let stages = worked.cases[case].stages.iter();
        stages.map(|computed| computed.stage.name()).collect()
    };
    assert_eq!(
        stages(0),
        ["x", "scores", "scaled", "masked", "weights", "output"]
    );
    assert_eq!(stages(1), ["scores", "weights"]);
    assert_eq!(
        stages(2),
        [
            "x",
            "scores",
            "masked",
            "weights",
            "contributions",
            "output"
        ]
    );
}

#[test]
fn a_token_that_occurs_twice_is_its_first_place_or_an_index() {
    let twice = GOOD.replace("[\"a\", \"b\"]", "[\"a\", \"a\"]");
    assert_eq!(Walkthrough::read("f", twice.as_bytes()).unwrap().errata, 0);
    let by_index = twice
        .replace("row = \"a\"", "row = 1")
        .replace("0.67, 0.33", "0.33, 0.67");
    assert_eq!(
        Walkthrough::read("f", by_index.as_bytes()).unwrap().errata,
        0
    );
}

/// A number differs if the computed one cannot be rounded to it. The computed numbers are 0.6698 and 0.3302.
#[test]
fn rounding_is_no_erratum() {
    let errata = |values: &str, decimals: usize| {
        let text = GOOD
            .replace("0.67, 0.33", values)
            .replace("decimals = 2", &format!("decimals = {decimals}"));
        Walkthrough::read("f", text.as_bytes()).unwrap().errata
    };
    assert_eq!(errata("0.67, 0.33", 2), 0);
    assert_eq!(errata("0.66, 0.33", 2), 1);
    assert_eq!(errata("0.670, 0.330", 3), 0);
    assert_eq!(errata("0.67, 0.33", 4), 1);
    assert_eq!(errata("1, 0", 0), 0);
    assert_eq!(errata("-inf, 0", 0), 1);
}

#[test]
fn a_query_that_may_look_nowhere_gathers_nothing() {
    let text = GOOD.replace("value =", "mask = [[0, 0], [1, 1]]\nvalue =");
    let text = text.replace("0.67, 0.33", "0, 0");
    let worked = Walkthrough::read("f", text.as_bytes()).unwrap();
    assert_eq!(worked.errata, 0);
    let output = worked.cases[0].stages.last().unwrap();
    assert!(output.matrix.0[0][0].abs() < f64::EPSILON);
    assert!(serde_json::to_string(&worked).unwrap().contains("null"));
}

#[test]
fn names_that_are_nearly_right_are_suggested() {
    assert_eq!(built_in("she-did-not").unwrap().name, "she-did-not");
    assert_eq!(built_in("she_did_not").unwrap_err(), Some("she-did-not"));
    assert_eq!(built_in("xyzzy").unwrap_err(), None);
}

proptest! {
    /// Text that is nearly a walkthrough is read or refused without a panic. Every walkthrough that is read can
    /// be drawn.
    #[test]
    fn damaged_files_are_read_or_refused(
        file in 0..BUILT_IN.len(),
        at in any::<prop::sample::Index>(),
        length in 0_usize..40,
        put in "[\\[\\]0-9a-z\"=,.\\-\n ]{0,12}",
    ) {
        let text: Vec<char> = BUILT_IN[file].text.chars().collect();
        let start = at.index(text.len());
        let end = (start + length).min(text.len());
        let damaged: String = text[..start].iter().copied().chain(put.chars()).chain(text[end..].iter().copied()).collect();
        match Walkthrough::read("f", damaged.as_bytes()) {
            Ok(worked) => {
                let page = worked.document();
                prop_assert!(page.html().ends_with("</html>\n"));
                prop_assert!(serde_json::to_string(&worked).is_ok());
            }
            Err(mistake) => prop_assert!(!mistake.contains('\n')),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = Walkthrough::read("f", text.as_bytes());
    }

    /// The weights of a row sum to 1 if the query may look at any key.
    #[test]
    fn weights_sum_to_one(
        (queries, keys, width) in (1_usize..5, 1_usize..5, 1_usize..5),
        numbers in prop::collection::vec(-9.0_f32..9.0, 40),
        causal in any::<bool>(),
    ) {
        let matrix = |rows: usize, skip: usize| {
            let row = |row: usize| {
                let numbers = (0..width).map(|column| numbers[skip + row * width + column].to_string());
                format!("[{}]", numbers.collect::<Vec<_>>().join(","))
            };
            format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join(","))
        };
        let names = |count: usize| format!("[{}]", vec!["\"a\""; count].join(","));
        let text = format!(
            "title = \"t\"\ntokens = {}\nkey_tokens = {}\nquery = {}\nkey = {}\nmask = \"{}\"",
            names(queries),
            names(keys),
            matrix(queries, 0),
            matrix(keys, 20),
            if causal { "causal" } else { "none" }
        );
        let worked = Walkthrough::read("f", text.as_bytes()).unwrap();
        let weights = worked.cases[0].stages.iter().find(|computed| computed.stage == Stage::Weights).unwrap();
        for row in &weights.matrix.0 {
            let sum: f64 = row.iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-12, "{}", sum);
        }
    }
}
