//! Uniform attention over the keys of each query, and the head that is shown first, through the binary.
#![allow(clippy::format_push_string, missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{asked, folder, last_dump, mentions, metrics, printed, set, typed};

/// Texts of 3 to 7 words; those with "good" are yes.
fn texts(folder: &Path) {
    let mut csv = "text,label\n".to_owned();
    for sample in 0..120 {
        let words = "the film was a long one by".split(' ').cycle();
        let words: Vec<&str> = words.skip(sample).take(2 + sample % 5).collect();
        let (word, label) = [("bad", "no"), ("good", "yes")][sample % 2];
        csv.push_str(&format!("{} {word},{label}\n", words.join(" ")));
    }
    fs::write(folder.join("texts.csv"), csv).unwrap();
}

/// A text of n words in 12 positions: [CLS] may look at n + 1 keys, and so may each query.
#[test]
fn padding_is_no_key() {
    let folder = folder("keys-padding");
    texts(&folder);
    let config = "data = { file = \"texts.csv\", seq_len = 11 }\nmodel = { d_model = 8, n_heads = 1 }\n\
                  training.epochs = 1\ndump.positives = 8\n";
    fs::write(folder.join("texts.toml"), config).unwrap();
    typed(&folder, "train texts.toml --run run").done();
    let dump = last_dump(&folder.join("run"));
    for row in 0..dump.dims.samples {
        let words = dump.tokens(row).iter().filter(|&&token| token > 1).count();
        assert!(words < 8, "{:?}", dump.tokens(row));
        let number = dump.meta.samples[row].unwrap();
        let uniform = format!("uniform: {:.4}", 1.0 / (words + 1) as f64);
        let told = printed(&folder, &format!("inspect run --sample {number} --query 0"));
        assert!(told.contains(&uniform), "{uniform}: {told}");
    }
}

#[test]
fn a_mask_leaves_each_query_its_keys() {
    let folder = folder("keys-mask");
    let causal = set("model.attention.mask=causal data.cls=last training.epochs=1");
    typed(&folder, &format!("train quick --run causal {causal}")).done();
    for query in 0..7 {
        let told = printed(&folder, &format!("inspect causal --query {query}"));
        let uniform = format!("uniform: {:.4}", 1.0 / f64::from(query + 1));
        assert!(told.contains(&uniform), "{uniform}: {told}");
    }
    // The rule asks for position 3 of the tokens, which all seven keys of [CLS] are equally near to.
    let last = metrics(&folder.join("causal")).pop().unwrap();
    let uniform = last["uniform_positive"].as_f64().unwrap();
    assert!((uniform - 1.0 / 7.0).abs() < 1e-6, "{uniform}");

    // Query 1 may look at no key: it has no multiple of uniform attention.
    let rows: Vec<String> = (0..7)
        .map(|query| format!("[{}]", [if query == 1 { "0" } else { "1" }; 7].join(",")))
        .collect();
    let mask = format!(
        "model.attention.mask=[{}] training.epochs=1",
        rows.join(",")
    );
    typed(&folder, &format!("train quick --run none {}", set(&mask))).done();
    let told = printed(&folder, "inspect none --query 1");
    let is_none = told.contains("no key") && !told.contains("uniform");
    assert!(is_none, "{told}");
}

/// Terminal, pictures, report and page show the same head first: that of the last layer which gives most to what decides.
#[test]
fn all_open_on_the_strongest_head_of_the_last_block() {
    let folder = folder("keys-strongest");
    let mut seen = [false; 2];
    for seed in 0..6 {
        let path = folder.join(format!("run{seed}"));
        let sets = set(&format!("model.n_layers=2 model.n_heads=2 seed={seed}"));
        typed(&folder, &format!("train quick --run run{seed} {sets}")).done();
        let dump = last_dump(&path);
        let positions = dump.dims.positions;
        let paid = |head: usize| -> f32 {
            let positive = (0..dump.dims.samples).filter(|&sample| dump.labels[sample] > 0.5);
            let decided = |sample: usize| {
                let row = &dump.weights(sample, 1, head)[..positions];
                let decides = dump.meta.label_positions[sample].iter();
                decides.map(|&key| row[key]).sum::<f32>()
            };
            positive.map(decided).sum()
        };
        let head = usize::from(paid(1) > paid(0));
        seen[head] = true;
        let inspected = |more: &str| printed(&folder, &format!("inspect run{seed} {more}"));
        let chosen = format!("--layer 1 --head {head}");
        let first = inspected("");
        for more in [&chosen, "--layer 1", &format!("--head {head}")] {
            assert_eq!(inspected(more), first, "{more}");
        }
        assert_ne!(inspected("--layer 0 --head 0"), first);
        let own = inspected(&format!("{chosen} --svg -"));
        assert_eq!(inspected("--svg -"), own);

        let report = fs::read_to_string(path.join("report.md")).unwrap();
        let (_, first) = report.split_once("Attention weights (").unwrap();
        let (name, _) = first.split_once(')').unwrap();
        assert!(name.ends_with(&format!("layer 1 · head {head}")), "{name}");
        let page = fs::read_to_string(path.join("inspector.html")).unwrap();
        assert!(page.contains(&format!("\"strongest\":{head}")));
        let explain = format!("predict run{seed} --tokens '1 2 3 42 5 6' --explain");
        assert_eq!(asked(&folder, &explain)["explanation"]["head"], head);
        // The first screen and the report name it, too.
        let shown = format!("layer 1, head {head} is shown");
        assert!(mentions(&report, &shown), "{report}");
    }
    assert_eq!(seen, [true; 2], "some seeds have the other head");
}

/// Before training the scores are near 0, and so all weights near uniform attention.
#[test]
fn a_uniform_head_says_so() {
    let folder = folder("keys-uniform");
    typed(&folder, "train quick --run run --set training.epochs=12").done();
    let step = last_dump(&folder.join("run")).meta.step.unwrap();
    for (more, says) in [
        ("--step 0", true),
        ("--step 0 --query 2", true),
        ("--step 0 --svg -", true),
        ("--step 0 --scores", false),
        (&format!("--step {step}"), false),
    ] {
        let shown = printed(&folder, &format!("inspect run {more}"));
        assert_eq!(shown.contains("close to uniform"), says, "{more}: {shown}");
    }
}
