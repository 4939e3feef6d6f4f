//! The page of a run: its facts, its policy, and the fixture for the tests of
//! its script (`page/tests`), which read its numbers.
//!
//! One file, because all its tests share the runs that they make.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use headlight_dump::{Array, Arrays, AttentionDump, Dims, Meta, VERSION, axes};
use headlight_page::{Lab, OtherAttention, OwnData, OwnLabel, Page, PageRun, PageTraining};
use headlight_report::{ColourRange, Heatmap, Quantity};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("../src/bundle/page.js");

const POSITIONS: usize = 3;
const SAMPLES: usize = 2;

/// A dump with a causal mask, whose scores differ from step to step.
fn dump(step: usize) -> AttentionDump {
    let dims = Dims {
        per_position: false,
        samples: SAMPLES,
        layers: 1,
        heads: 2,
        positions: POSITIONS,
        d_head: 2,
        d_model: 4,
        d_ff: 0,
        logits: 1,
    };
    let row = |row: usize, allowed: usize| -> (Vec<f32>, Vec<f32>) {
        let score = |key: usize| ((row * 7 + key * 3 + step * 5) % 11) as f32 * 0.317 - 1.5;
        let scores: Vec<f32> = (0..POSITIONS).map(score).collect();
        let sum: f32 = scores[..allowed].iter().map(|score| score.exp()).sum();
        let weight = |(key, score): (usize, &f32)| {
            if key < allowed {
                score.exp() / sum
            } else {
                0.0
            }
        };
        let weights = scores.iter().enumerate().map(weight).collect();
        (scores, weights)
    };
    let rows: Vec<_> = (0..SAMPLES * 2 * POSITIONS)
        .map(|index| row(index, index % POSITIONS + 1))
        .collect();
    let vectors = |seed: usize| -> Vec<f32> {
        let count = SAMPLES * POSITIONS * 4;
        (0..count)
            .map(|index| ((index + seed) as f32).sin())
            .collect()
    };
    let causal = (0..SAMPLES * POSITIONS * POSITIONS)
        .map(|index| index % POSITIONS <= index / POSITIONS % POSITIONS);
    let names = [
        (0, "[CLS]"),
        (1, "</script><script>alert(1)</script>"),
        (2, "שלום"),
        (3, "👩‍💻 & \"x\""),
    ];
    AttentionDump {
        dims,
        meta: Meta {
            version: VERSION,
            axes: axes(dims, true),
            step: Some(step),
            epoch: Some(0),
            seed: Some(7),
            samples: vec![Some(10), Some(12)],
            token_strings: names
                .map(|(id, name)| (id, name.to_owned()))
                .into_iter()
                .collect::<BTreeMap<_, _>>(),
            label_positions: vec![vec![2], vec![1, 99]],
            read_position: None,
            config: json!({"model": {"attention": {"scale": true, "temperature": 2.0}}}),
        },
        tokens: vec![0, 1, 2, 0, 3, 1],
        labels: vec![1.0, f32::NAN],
        logits: vec![0.5 + step as f32, -0.25],
        probabilities: vec![0.9, 0.437_823_5],
        arrays: Arrays::from_fn(|array| match array {
            Array::Scores => rows.iter().flat_map(|row| row.0.clone()).collect(),
            Array::Weights => rows.iter().flat_map(|row| row.1.clone()).collect(),
            _ if !array.exists(dims) => Vec::new(),
            _ => vectors(array as usize + step),
        }),
        attention_mask: Some(causal.collect()),
    }
}

fn run(name: &str, dumps: &[AttentionDump]) -> PageRun {
    run_again(
        name,
        dumps,
        PageTraining::Recorded("It is a test".to_owned()),
    )
}

fn run_again(name: &str, dumps: &[AttentionDump], again: PageTraining) -> PageRun {
    let last = &dumps[dumps.len() - 1];
    let mut run = PageRun::new(name.to_owned(), last, dumps.len(), None, 1, again);
    for dump in dumps {
        run.add(dump).unwrap();
    }
    run
}

fn page() -> (Page, Vec<AttentionDump>) {
    let dumps: Vec<AttentionDump> = (0..12).map(dump).collect();
    let mut page = Page::default();
    page.add(run("a <b>run</b>", &dumps)).unwrap();
    (page, dumps)
}

/// A page that can train its run again has WebAssembly and few recorded steps, and may run both.
#[test]
fn a_live_page_has_the_experiment() {
    let dumps: Vec<AttentionDump> = (0..12).map(dump).collect();
    let again = PageTraining::Live {
        config: json!({"seed": 7}),
        steps: 11,
        weights_sha256: "ab".repeat(32),
        data: None,
    };
    let mut live = Page::default();
    live.add(run_again("live", &dumps, again)).unwrap();
    let run = &facts(&live)["runs"][0];
    let expected = json!({"config": {"seed": 7}, "steps": 11, "weights_sha256": "ab".repeat(32)});
    assert_eq!(run["again"], json!({ "live": expected }));
    assert_eq!(run["vectors"].as_array().unwrap().len(), 1);
    // It computes the others soon.
    let (kept, all) = (vectors(&live), vectors(&page().0));
    assert_eq!(kept.last().unwrap(), "residual");
    assert_eq!(all, [&kept[..], &["output".to_owned()]].concat());
    let (live, recorded) = (live.html().unwrap(), page().0.html().unwrap());
    let [live_body, recorded_body] =
        [&live, &recorded].map(|html| between(html, "<body>", "<script>"));
    assert!(live_body.contains("id=\"lab\"") && !recorded_body.contains("id=\"lab\""));
    // What the policy of a page that computes allows besides, and nothing else.
    let [live, recorded] = [live, recorded].map(|html| policy(&html).to_owned());
    let live = live.replace("'wasm-unsafe-eval' ", "");
    assert_eq!(live.replace("; worker-src blob:", ""), recorded);
    assert_ne!(live, recorded);
}

/// A page without a run has an experiment and the module that trains it, and no recorded numbers.
#[test]
fn a_page_without_a_run_has_an_experiment() {
    let data = OwnData {
        tokens: vec![vec![1, 2], vec![2]],
        labels: vec![OwnLabel::Class(1), OwnLabel::Name("no".to_owned())],
        ..OwnData::default()
    };
    let lab = |data| Lab {
        name: "a <b>config</b>".to_owned(),
        config: json!({"seed": 7}),
        data,
    };
    let mut page = Page::without_a_run(lab(None));
    page.question = Some("Is it true that 1 < 2?".to_owned());
    let html = page.html().unwrap();
    assert!(policy(&html).contains("'wasm-unsafe-eval'"));
    assert!(html.contains("id=\"lab\">") && !html.contains("id=\"numbers\">"));
    assert!(html.contains("<title>Headlight lab: a &lt;b&gt;config&lt;/b&gt;</title>"));
    assert!(html.contains("<h1>Is it true that 1 &lt; 2?</h1>"));
    let does = "A tiny transformer trains in your browser, and you see where its attention looks.";
    for meta in [
        format!("name=\"description\" content=\"Is it true that 1 &lt; 2? {does}\""),
        "property=\"og:title\" content=\"Is it true that 1 &lt; 2?\"".to_owned(),
        format!("property=\"og:description\" content=\"Is it true that 1 &lt; 2? {does}\""),
    ] {
        assert!(html.contains(&meta), "{meta}");
    }
    assert!(between(&html, "<noscript>", "</noscript>").contains("scripts"));
    let found = facts(&page);
    assert_eq!(
        found["lab"],
        json!({"name": "a <b>config</b>", "config": {"seed": 7}})
    );
    assert_eq!(found["runs"], json!([]));
    assert_eq!(found["question"], "Is it true that 1 < 2?");
    let expected = json!({"tokens": [[1, 2], [2]], "labels": [1, "no"]});
    let page = Page::without_a_run(lab(Some(data)));
    assert_eq!(facts(&page)["lab"]["data"], expected);
    assert_eq!(Page::default().html().unwrap(), "");
}

fn facts(page: &Page) -> Value {
    let html = page.html().unwrap();
    serde_json::from_str(between(&html, "id=\"facts\">", "</script>")).unwrap()
}

/// The arrays of vectors of a page's first run.
fn vectors(page: &Page) -> Vec<String> {
    let facts = facts(page);
    let arrays = facts["runs"][0]["vector_arrays"].as_array().unwrap().iter();
    arrays
        .map(|array| array[0].as_str().unwrap().to_owned())
        .collect()
}

/// A run whose first dumps an older program wrote has the arrays that all dumps have.
#[test]
fn a_page_keeps_the_arrays_that_all_dumps_have() {
    let of = |old: usize| {
        let mut dumps: Vec<AttentionDump> = (0..12).map(dump).collect();
        for dump in &mut dumps[..old] {
            dump.arrays[Array::Output].clear();
        }
        let mut page = Page::default();
        page.add(run("run", &dumps)).unwrap();
        page
    };
    assert!(vectors(&of(0)).contains(&"output".to_owned()));
    assert_eq!(of(1).html().unwrap(), of(12).html().unwrap());
}

/// A script or style in a policy.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The content security policy of a page.
fn policy(html: &str) -> &str {
    between(html, "Content-Security-Policy\" content=\"", "\"")
}

/// The text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

#[test]
fn the_facts_describe_the_run() {
    let run = &facts(&page().0)["runs"][0];
    assert_eq!(run["vectors"], json!([0, 11]));
    assert_eq!(run["samples"][1]["label"], Value::Null);
    assert_eq!(run["samples"][1]["marked"], json!([1]));
    assert_eq!(run["factor_text"], "1 / √2 / temperature 2");
    assert!((run["factor"].as_f64().unwrap() - 0.5_f64.sqrt() / 2.0).abs() < 1e-12);
    assert_eq!(
        run["token_strings"]["1"],
        "</script><script>alert(1)</script>"
    );
    assert!(run["notes"].to_string().contains("for the steps 0, 11"));
}

/// Of a model that answers at each position, a sample has a label per position and the positions that decide it.
#[test]
fn a_page_has_the_labels_of_each_position() {
    let mut dump = dump(0);
    dump.dims.per_position = true;
    dump.meta.config["data"]["task"] = json!("token-classification");
    dump.labels = vec![1.0, f32::NAN, 0.0, 0.0, 1.0, f32::NAN];
    dump.logits = vec![0.5; SAMPLES * POSITIONS];
    dump.probabilities = vec![0.6; SAMPLES * POSITIONS];
    let recorded = PageTraining::Recorded(String::new());
    let mut run = PageRun::new("run".to_owned(), &dump, 1, None, 1, recorded);
    run.deciding = vec![vec![vec![2], vec![0], vec![]], vec![vec![1, 2]; 3]];
    run.add(&dump).unwrap();
    let mut page = Page::default();
    page.add(run).unwrap();
    let run = &facts(&page)["runs"][0];
    assert_eq!(run["task"], "token-classification");
    let each = [&run["samples"][0]["each"], &run["samples"][1]["each"]];
    let first = json!([[1, [2]], [null, []], [0, []]]);
    let second = json!([[0, [1, 2]], [1, [1, 2]], [null, []]]);
    assert_eq!(each, [&first, &second]);
    assert!(facts(&self::page().0)["runs"][0]["samples"][0]["each"].is_null());
}

#[test]
fn the_page_runs_its_own_script_only_and_loads_nothing() {
    let html = page().0.html().unwrap();
    let policy = policy(&html);
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    let loader = between(&html, "<script>", "</script>");
    let script = SCRIPT;
    let colours = between(&html, "<style>", "</style>");
    let style = include_str!("../src/bundle/page.css");
    let scripts = format!("script-src {} {};", source(loader), source(script));
    let styles = format!("style-src {} {};", source(colours), source(style));
    for sources in [scripts, styles] {
        assert!(policy.contains(&sources), "{policy}");
    }
    // Facts, numbers, style, script, and the loader of the last two.
    assert_eq!(html.matches("<script").count(), 5);
    assert_eq!(html.matches("</script").count(), 5);
    for part in style.split("var(").skip(1) {
        let name = part.split([')', ',']).next().unwrap();
        // A colour of the theme, or what the script measures.
        let is_set = script.contains(&format!("\"{name}\":"));
        let is_set = is_set || style.contains(&format!("{name}:"));
        assert!(is_set || colours.contains(&format!("{name}:")), "{name}");
    }
    // Names of XML and places in a picture, which no browser asks for.
    let without_names = [&html, script, style].concat();
    let without_names = without_names.replace("http://www.w3.org/", "");
    let without_names = without_names.replace("url(#", "");
    for forbidden in [
        "http:",
        "https:",
        "eval(",
        "fetch(",
        "XMLHttpRequest",
        "@import",
        "url(",
        " style=\"",
        " onclick=\"",
    ] {
        assert!(!without_names.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("<title>Attention of a &lt;b&gt;run&lt;/b&gt;</title>"));
}

/// Readers without scripts see the question, and what the page needs.
#[test]
fn without_a_script_the_page_says_what_it_needs() {
    let (mut page, _) = page();
    let html = page.html().unwrap();
    assert!(html.contains("<header><h1>Attention of a &lt;b&gt;run&lt;/b&gt;</h1></header>"));
    assert!(between(&html, "<noscript>", "</noscript>").contains("This page needs scripts."));
    page.question = Some("Is it true?".to_owned());
    let html = page.html().unwrap();
    assert!(between(&html, "<body>", "<noscript>").contains("<h1>Is it true?</h1>"));
}

#[test]
fn dumps_of_other_samples_are_refused() {
    let mut run = run("run", &[dump(0)]);
    let mut other = dump(3);
    other.tokens[1] = 2;
    assert!(run.add(&other).unwrap_err().contains("samples"));
}

#[test]
fn a_page_has_several_runs() {
    let (mut page, dumps) = page();
    page.add(run("other", &dumps[3..5])).unwrap();
    let facts = facts(&page);
    assert_eq!(facts["runs"][1]["name"], "other");
    assert_eq!(facts["runs"][1]["steps"], json!([3, 4]));
    assert!(page.extent().contains("2 runs of 12, 2 steps"));
}

#[test]
fn runs_of_another_shape_are_refused() {
    let (mut page, _) = page();
    let mut wide = dump(0);
    wide.dims.heads = 1;
    wide.dims.layers = 2;
    let refused = page.add(run("wide", &[wide])).unwrap_err();
    assert_eq!(
        refused,
        "it has 2 layers of 1 head over 3 positions, and a <b>run</b> has 1 layer of 2 heads over 3 \
         positions; all runs of a page must have the same shape"
    );
}

fn other_attention() -> OtherAttention {
    let words = ["<b>", "two"].map(str::to_owned).to_vec();
    OtherAttention {
        title: "Elsewhere & more".to_owned(),
        layers: 1,
        heads: 2,
        tokens: vec![words.clone(), words],
        weights: [[1.0, 0.0, 0.25, 0.75]; 4].concat(),
        scores: None,
        mask: [[true, false, true, true]; 2].concat(),
    }
}

#[test]
fn attention_from_anywhere_has_a_page() {
    let page = Page::of_attention(other_attention()).unwrap();
    let html = page.html().unwrap();
    assert!(html.contains("<title>Elsewhere &amp; more</title>"));
    assert!(!policy(&html).contains("wasm"), "it trains nothing");
    let facts = facts(&page);
    let run = &facts["runs"][0];
    assert_eq!((&run["logits"], &run["heads"]), (&json!(0), &json!(2)));
    assert_eq!(
        (&run["masked"], &run["without_scores"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(run["samples"].as_array().unwrap().len(), 2);
    assert_eq!(run["read"], 1, "the first query sees itself alone");

    let scores = Some([[0.0, f32::NEG_INFINITY, 0.0, 1.0]; 4].concat());
    let with_scores = Page::of_attention(OtherAttention {
        scores,
        ..other_attention()
    });
    let facts = self::facts(&with_scores.unwrap());
    assert!(facts["runs"][0].get("without_scores").is_none());
    assert_eq!(facts["runs"][0]["masked"], true);
    // A weight of 0 is no mask where the mask says otherwise.
    let unmasked = Page::of_attention(OtherAttention {
        mask: vec![true; 8],
        ..other_attention()
    });
    let facts = self::facts(&unmasked.unwrap());
    assert_eq!(facts["runs"][0]["masked"], false);
}

#[test]
fn attention_that_is_none_is_refused() {
    type Change = fn(&mut OtherAttention);
    let changes: [(Change, &str); 7] = [
        (|own| own.weights[3] = 1.5, "1.5"),
        (|own| own.weights[3] = f32::NAN, "NaN"),
        (|own| own.heads = 0, "no attention"),
        (|own| own.tokens[1].truncate(1), "number of tokens"),
        (|own| own.tokens.clear(), "no attention"),
        (|own| own.scores = Some(vec![f32::INFINITY; 16]), "inf"),
        (
            |own| own.mask[6] = false,
            "query 1 gives key 0 the weight 0.25",
        ),
    ];
    for (change, expected) in changes {
        let mut attention = other_attention();
        change(&mut attention);
        let refused = Page::of_attention(attention).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
}

/// `page/tests` reads these pages and compares their numbers (`.ci/check page-script`, `.ci/evidence browser`).
#[test]
#[ignore = "writes the fixture of the script's tests to the file that PAGE_FIXTURE names"]
fn writes_the_fixture_of_the_script_tests() {
    let steps: Vec<AttentionDump> = (0..12).map(dump).collect();
    // Without a mask, and with scores that need more than two bytes.
    let large = steps[3..5].iter().cloned().map(|mut dump| {
        dump.attention_mask = None;
        for score in &mut dump.arrays[Array::Scores] {
            *score *= 5000.0;
        }
        dump
    });
    let runs = [steps.clone(), large.collect(), steps];
    let mut page = Page::default();
    for (index, dumps) in runs.iter().enumerate() {
        page.add(run(&format!("run {index}"), dumps)).unwrap();
    }
    let rounded = |values: &[f32]| -> Vec<f64> {
        let text = values.iter().map(|value| format!("{value:.4}"));
        text.map(|text| text.parse().unwrap()).collect()
    };
    let numbers = |dump: &AttentionDump| {
        let mut all = json!({
            "scores": rounded(&dump.arrays[Array::Scores]), "weights": rounded(&dump.arrays[Array::Weights]),
            "logits": rounded(&dump.logits), "probabilities": rounded(&dump.probabilities),
            "mask": dump.attention_mask,
        });
        for array in Array::ALL {
            all[array.name()] = json!(dump.arrays[array]);
        }
        all
    };
    let runs = runs.map(|dumps| dumps.iter().map(numbers).collect::<Vec<_>>());
    let heatmap = Heatmap {
        title: Vec::new(),
        quantity: Quantity::Weights,
        range: ColourRange::Unit,
        read: 0,
        keys: vec![(0..5).collect(); 5],
        layers: vec![0],
        heads: vec![0],
        positions: (0..5).collect(),
        tokens: vec![String::new(); 5],
        marked: Vec::new(),
        cells: (0..25_u8).map(|cell| f32::from(cell) / 24.0).collect(),
    };
    let attention = Page::of_attention(other_attention()).unwrap();
    let fixture = json!({
        "html": page.html().unwrap(), "attention": attention.html().unwrap(), "runs": runs, "heatmap": heatmap.svg(), "shares": heatmap.cells,
    });
    std::fs::write(std::env::var("PAGE_FIXTURE").unwrap(), fixture.to_string()).unwrap();
}
