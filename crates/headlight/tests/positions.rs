//! A label per position, and the next token: training, files, predictions, texts.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{
    asked, config_of, folder, metrics, printed, read_dump, refuses_each, typed, weights,
};

const HISTOGRAM: &str = "\
data = { task = \"token-classification\", generator = \"chacha\", samples = 300, held_out = 60, vocab_size = 6, seq_len = 5, \
rule = { kind = \"histogram\", padding = 5 } }
model = { d_model = 8, n_heads = 2, attention = { padding_token = 5 } }
training = { epochs = 3, learning_rate = 0.01 }
checkpoint = { every_steps = 1 }
";

const NAMES: &str = "\
data = { task = \"next-token\", file = \"names.txt\", words = { level = \"character\" } }
model = { d_model = 8, attention = { mask = \"causal\" } }
training = { epochs = 3, learning_rate = 0.01 }
";

fn in_folder(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("h.toml"), HISTOGRAM).unwrap();
    fs::write(folder.join("n.toml"), NAMES).unwrap();
    let names = ["anna", "ana", "nan", "an", "naan"];
    let lines: Vec<&str> = names.into_iter().cycle().take(60).collect();
    fs::write(folder.join("names.txt"), lines.join("\n")).unwrap();
    folder
}

/// Accuracy of positions and of whole samples, dumps, predictions and the row of a sweep say the same.
#[test]
fn answers_are_counted_by_position() {
    let folder = in_folder("positions_counted");
    typed(&folder, "train h.toml --run r").done();
    let last = metrics(&folder.join("r")).pop().unwrap();
    let dump = read_dump(folder.join("r/attention/step-000057.npz"));
    assert!(dump.dims.per_position && dump.dims.logits == 6);
    let positions = dump.dims.positions;
    assert_eq!(dump.labels.len(), dump.dims.samples * positions);
    assert_eq!(dump.logits.len(), dump.dims.samples * positions * 6);
    for sample in 0..dump.dims.samples {
        let tokens = dump.tokens(sample);
        for (place, &token) in tokens.iter().enumerate() {
            let label = dump.labels[sample * positions + place];
            let count = tokens[1..].iter().filter(|&&other| other == token).count();
            let counts = place > 0 && token != 5;
            assert_eq!(label.is_nan(), !counts);
            assert!(!counts || label as usize == count);
        }
    }
    // The held-out samples as a file, with their labels; predictions of each, and their share that is right.
    typed(&folder, "data h.toml --out d.jsonl").done();
    let lines = fs::read_to_string(folder.join("d.jsonl")).unwrap();
    let held_out = lines.lines().filter(|line| line.contains("held_out"));
    let held_out: Vec<&str> = held_out.collect();
    let marked = held_out.join("\n").replace("held_out", "train");
    fs::write(folder.join("held.jsonl"), marked).unwrap();
    typed(&folder, "predict r held.jsonl --out p.jsonl").done();
    let predicted = fs::read_to_string(folder.join("p.jsonl")).unwrap();
    let (mut right, mut all, mut whole) = (0_usize, 0_usize, 0_usize);
    for (own, found) in held_out.iter().zip(predicted.lines()) {
        let own: Value = serde_json::from_str(own).unwrap();
        let found: Value = serde_json::from_str(found).unwrap();
        let labels = own["labels"].as_array().unwrap();
        // The file's labels start with that of [CLS], which has no answer.
        let predicted = found["predicted"].as_array().unwrap();
        let pairs = labels[1..].iter().zip(predicted);
        let pairs = pairs.filter(|(label, _)| !label.is_null());
        let counted: Vec<bool> = pairs.map(|(label, class)| label == class).collect();
        all += counted.len();
        right += counted.iter().filter(|&&is_right| is_right).count();
        whole += usize::from(counted.iter().all(|&is_right| is_right));
    }
    let close = |key: &str, share: f64| {
        let value = last[key].as_f64().unwrap();
        assert!((value - share).abs() < 1e-9, "{key}: {value}, not {share}");
    };
    close("held_out_accuracy", right as f64 / all as f64);
    close("held_out_sample_accuracy", whole as f64 / 60.0);
    let assessed = asked(&folder, "evaluate r");
    assert_eq!(assessed["samples"], json!(all));
    for key in ["accuracy", "sample_accuracy"] {
        close(&format!("held_out_{key}"), assessed[key].as_f64().unwrap());
    }
    let file = asked(&folder, "evaluate r held.jsonl");
    assert_eq!(file["accuracy"], assessed["accuracy"]);
    typed(&folder, "sweep h.toml --seeds 0..2 --out s.jsonl").done();
    let rows = fs::read_to_string(folder.join("s.jsonl")).unwrap();
    let row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(row["held_out_accuracy"], last["held_out_accuracy"]);
    assert_eq!(row["final_loss"], last["loss"]);
    for key in ["sample_accuracy", "held_out_sample_accuracy"] {
        assert!(row[key].is_number() && row[key] == last[key], "{key}");
    }
    let one = asked(&folder, "predict r --tokens '1 1 2'");
    let answers = one["predicted"].as_array().unwrap();
    assert_eq!(answers.len(), 6);
    assert!(answers[0].is_null() && answers[1]["label"] == json!(2) && answers[4].is_null());
    for line in ["inspect r", "verify r", "compare r"] {
        typed(&folder, line).done();
    }
    assert!(folder.join("r/inspector.html").exists());
}

/// Without a config, labels per token make the task.
#[test]
fn a_file_of_labels_per_token_is_trained_on() {
    let folder = in_folder("positions_without_config");
    let rows = (0..40).map(|row| {
        let tokens = [1 + row % 5, 1 + row % 3, 2];
        let labels = tokens.map(|token| token % 3);
        json!({ "tokens": tokens, "labels": labels }).to_string()
    });
    let rows: Vec<String> = rows.collect();
    fs::write(folder.join("tags.jsonl"), rows.join("\n")).unwrap();
    typed(&folder, "train tags.jsonl --run r").done();
    let config = config_of(&folder.join("r"));
    let data = &config["data"];
    assert_eq!(data["task"].as_str(), Some("token-classification"));
    assert_eq!(data["held_out"].as_integer(), Some(8));
    assert!(metrics(&folder.join("r")).pop().unwrap()["held_out_sample_accuracy"].is_number());
}

/// A file of the same samples trains to the same weights; a run that is resumed ends as one that never stopped.
#[test]
fn runs_can_be_repeated() {
    let folder = in_folder("positions_repeated");
    typed(&folder, "train h.toml --run a").done();
    for format in ["jsonl", "npz"] {
        let name = format!("d.{format}");
        typed(&folder, &format!("data h.toml --out {name}")).done();
        let config = format!(
            "data = {{ task = \"token-classification\", file = \"{name}\", vocab_size = 6, n_classes = 6 }}\n{}",
            HISTOGRAM.split_once('\n').unwrap().1
        );
        fs::write(folder.join("f.toml"), config).unwrap();
        typed(&folder, &format!("train f.toml --run {format}")).done();
        assert!(
            weights(&folder, format) == weights(&folder, "a"),
            "{format}"
        );
    }
    typed(&folder, "train h.toml --run b --set training.epochs=1").done();
    typed(&folder, "train h.toml --run b --resume").done();
    assert!(weights(&folder, "b") == weights(&folder, "a"));
    typed(&folder, "train h.toml --run c --engine burn").done();
    let (fused, burn) = (metrics(&folder.join("a")), metrics(&folder.join("c")));
    let loss = |rows: &[Value]| rows.last().unwrap()["loss"].as_f64().unwrap();
    assert!((loss(&fused) - loss(&burn)).abs() < 1e-4);
}

#[test]
fn a_model_of_the_next_token_writes_texts() {
    let folder = in_folder("positions_texts");
    let screen = printed(&folder, "train n.toml --run r");
    assert!(screen.contains("headlight generate r"), "{screen}");
    let generate = |more: &str| printed(&folder, &format!("generate r {more}"));
    let texts = generate("--count 7 --seed 4");
    assert_eq!(texts.lines().count(), 7);
    assert!(texts.chars().all(|c| "an\n".contains(c)));
    assert_eq!(texts, generate("--count 7 --seed 4"));
    assert_ne!(texts, generate("--count 7 --seed 5"));
    // More texts leave the first ones as they are.
    assert!(generate("--count 9 --seed 4").starts_with(&texts));
    let prompted = generate("--prompt na");
    assert!(prompted.lines().all(|line| line.starts_with("na")));
    let greedy = generate("--temperature 0 --count 3");
    for cold in ["1e-4", "1e-300", "5e-324"] {
        assert_eq!(greedy, generate(&format!("--temperature {cold} --count 3")));
    }
    let lines: Vec<&str> = greedy.lines().collect();
    assert!(lines.iter().all(|line| line == &lines[0]));
    assert_eq!(greedy, generate("--top-k 1 --count 3"));

    let refused = "
generate r --prompt anz?                | --prompt | `z`, `?`
generate r --tokens 99999999999         | `99999999999` | too large
generate r --tokens 0                   | [CLS] | leave it out
generate r --count 0                    | '--count | from 1 to 65535
generate r --count 1.5                  | '--count | from 1 to 65535
generate r --top-k 0                    | '--top-k | from 1 to 4294967295
generate r --seed 18446744073709551616  | '--seed | from 0 to 18446744073709551615
generate r --temperature 1e39           | '--temperature | from 0 to 1000000
generate -                              | name its directory
certify -                               | name its directory
verify -                                | name its directory
";
    refuses_each(&folder, "", refused);

    // The logarithm of a text's probability is the sum over its tokens, and its end.
    let made = asked(&folder, "generate r --prompt a");
    let mut samples = made["samples"].as_array().unwrap().iter();
    let ended = samples.find(|one| one["ended"] == true).unwrap();
    let text = ended["text"].as_str().unwrap();
    let predicted = asked(&folder, &format!("predict r --text {text}"));
    let each = predicted["predicted"].as_array().unwrap().iter();
    let logs = each.filter_map(|one| one["log_probability"].as_f64());
    // The first is that of the prompt.
    let sum: f64 = logs.skip(1).sum();
    let own = ended["log_probability"].as_f64().unwrap();
    assert!((sum - own).abs() < 1e-4, "{text}: {sum}, not {own}");

    // Loss in nats over all tokens, with the ends of texts.
    let last = metrics(&folder.join("r")).pop().unwrap();
    typed(&folder, "predict r names.txt --out p.jsonl").done();
    let lines = fs::read_to_string(folder.join("p.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 60);
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["log_probabilities"].as_array().unwrap().len(), 5);
    assert!(last["loss"].as_f64().unwrap() < 1.1, "{last}");
}

/// Samples may hold nothing but the token that is padding to the model.
#[test]
fn samples_of_padding_alone_are_reported() {
    let folder = folder("positions_padding");
    let config = "data = { task = \"next-token\", generator = \"chacha\", samples = 30, vocab_size = 2, seq_len = 3, cls = \"none\", \
        rule = { kind = \"repeat\", period = 1 } }\nmodel = { d_model = 4, attention = { mask = \"causal\", padding_token = 1 } }\n\
        training = { epochs = 1 }\n";
    fs::write(folder.join("c.toml"), config).unwrap();
    typed(&folder, "train c.toml --run r").done();
    assert!(folder.join("r/inspector.html").exists());
    // Each of its positions is shown, and looks nowhere.
    let shown = printed(&folder, "inspect r --sample 1");
    assert_eq!(shown.matches("[PAD]").count(), 6, "{shown}");
}

/// With one position, too, a label that is null does not count: losses are means over the other two samples, by both engines.
#[test]
fn one_position_may_have_no_label() {
    let folder = folder("positions_one");
    let rows = [("1", "\"a\""), ("2", "\"b\""), ("1", "null")];
    let rows =
        rows.map(|(token, label)| format!("{{\"tokens\":[{token}],\"labels\":[{label}]}}\n"));
    fs::write(folder.join("one.jsonl"), rows.concat()).unwrap();
    let config = "data = { task = \"token-classification\", file = \"one.jsonl\", cls = \"none\" }\n\
                  model = { d_model = 8 }\ntraining = { epochs = 3, batch_size = 3, learning_rate = 0.1 }\n";
    fs::write(folder.join("one.toml"), config).unwrap();
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap();
    let losses = ["fused", "burn"].map(|engine| {
        let train = format!("train one.toml --engine {engine} --run {engine}");
        typed(&folder, &train).done();
        let found = asked(&folder, &format!("evaluate {engine}"));
        assert_eq!(found["samples"], 2);
        let rows = metrics(&folder.join(engine));
        // The loss of the first batch, of all samples, is that of the model before it.
        assert!((number(&rows[1], "train_loss") - number(&rows[0], "loss")).abs() < 1e-6);
        number(&found, "loss")
    });
    let are_close = (losses[0] - losses[1]).abs() < 1e-5;
    assert!(are_close && losses[0] < 0.5, "{losses:?}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = in_folder("positions_refused");
    let short = "{\"tokens\": [1, 2], \"labels\": [0]}\n";
    fs::write(folder.join("short.jsonl"), short).unwrap();
    let config = "data = { task = \"token-classification\", file = \"short.jsonl\" }\nmodel = { d_model = 4 }\ntraining = { epochs = 1 }\n";
    fs::write(folder.join("s.toml"), config).unwrap();
    typed(&folder, "train h.toml --run h").done();
    typed(&folder, "train n.toml --run n").done();
    let refused = "
train h.toml --run r --set model.pooling=mean            | model.pooling
train h.toml --run r --set data.task=classification      | data.task
train h.toml --run r --set data.task=next-token          | data.task
train h.toml --run r --set data.n_classes=3              | data.n_classes
train h.toml --run r --set data.positive_rate=0.5        | data.positive_rate
train n.toml --run r --set model.attention.mask=none     | model.attention.mask
train n.toml --run r --set data.cls=last                 | data.cls
train n.toml --run r --set data.n_classes=3              | data.n_classes
train notebook --run r --set training.loss_per_sample=true | training.loss_per_sample
train s.toml --run r               | short.jsonl | line 1
train names.txt --run r            | names.txt | next-token
generate h                         | next-token
generate n --prompt xyz            | --prompt
generate n --prompt annanna        | data.seq_len
generate n --tokens 99             | 99
generate n --tokens a              | --tokens
embed n --word a                   | position
predict h --tokens '1 2' --explain | position
data h.toml --out d.csv            | npz
";
    refuses_each(&folder, "", refused);
}
