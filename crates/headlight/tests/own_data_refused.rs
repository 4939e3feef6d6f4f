//! Own samples that a run refuses, and those that it takes.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use crate::common::{
    Finished, config_of, folder, headlight, mentions, printed, refused, refuses_each,
    refuses_typed, table, typed, weights,
};
use headlight_npz::NpzWriter;

/// A folder with a run on samples of one to three tokens, 1 to 9.
fn trained(name: &str) -> PathBuf {
    let folder = folder(name);
    let config =
        "data = { file = \"mine.csv\" }\nmodel = { d_model = 4 }\ntraining = { epochs = 2 }\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let samples = "label,token_0,token_1,token_2\nspam,7,3,9\nham,2,5,\nspam,4,7,1\nham,8,,\n";
    fs::write(folder.join("mine.csv"), samples).unwrap();
    typed(&folder, "train mine.toml --run run").done();
    folder
}

#[test]
fn a_copy_as_npz_trains_the_same_model() {
    let folder = trained("refused_npz");
    typed(&folder, "data mine.toml --out copy.npz").done();
    let train = "train mine.toml --run npz --set data.file=copy.npz";
    typed(&folder, train).done();
    assert!(weights(&folder, "npz") == weights(&folder, "run"));
    let config = |run: &str| {
        let config = config_of(&folder.join(run));
        let data = &config["data"];
        let keys = ["vocab_size", "seq_len", "classes"].map(|key| data[key].clone());
        (keys, config["model"]["attention"]["padding_token"].clone())
    };
    assert_eq!(config("npz"), config("run"));
}

#[test]
fn samples_that_a_run_does_not_take_are_refused() {
    let folder = trained("refused_samples");
    let files = [
        ("padding.csv", "label,token_0,token_1,token_2\nham,3,10,3\n"),
        ("label.csv", "label,token_0\nham,3\neggs,3\n"),
        ("samples.TXT", "3\n"),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("some.csv"), "label,token_0\nham,3\n,4\n").unwrap();
    let predicted = printed(&folder, "predict run some.csv");
    assert_eq!(predicted.lines().count(), 3);
    let refused = "
evaluate run some.csv            | some.csv | line 3 | `label`
predict run --tokens '3 10 4'    | --tokens: token 10 | 1 to 9
predict run --tokens 10          | padding
predict run --tokens 99          | --tokens: token 99 | 1 to 9
predict run --tokens '1 2 3 4'   | 4 tokens | 1 to 3
predict run --tokens hello       | --tokens | hello
predict run --tokens label.csv   | --tokens | label.csv
predict run none.csv             | none.csv | --tokens
predict run padding.csv          | line 2 | token 10
predict run label.csv            | line 3 | eggs
predict run samples.TXT          | .txt
";
    refuses_each(&folder, "", refused);
}

/// Each format is known by its start.
#[test]
fn standard_input_takes_every_format() {
    let folder = trained("refused_standard");
    for format in ["csv", "jsonl", "npz"] {
        let name = format!("copy.{format}");
        typed(&folder, &format!("data mine.toml --out {name}")).done();
        let expected = typed(&folder, &format!("predict run {name}")).done();
        assert!(expected.stdout.lines().count() > 3, "{}", expected.stdout);
        let mut predict = headlight();
        predict.current_dir(&folder).args(["predict", "run", "-"]);
        predict.stdin(Stdio::from(fs::File::open(folder.join(&name)).unwrap()));
        let predicted = Finished::from(predict.output().unwrap()).done();
        assert_eq!(predicted.stdout, expected.stdout, "{format}");
    }
}

/// Types have NumPy's names, and the message lists those that are allowed: of labels, floating-point numbers too.
#[test]
fn types_of_arrays_have_the_names_of_numpy() {
    let folder = trained("refused_types");
    let write = |build: &dyn Fn(&mut NpzWriter) -> std::io::Result<()>| {
        let mut npz = NpzWriter::new();
        build(&mut npz).unwrap();
        fs::write(folder.join("own.npz"), npz.finish().unwrap()).unwrap();
        typed(&folder, "evaluate run own.npz")
    };
    let labels = write(&|npz| {
        npz.array("tokens", &[2, 1], &[3_i64, 4])?;
        npz.array("labels", &[2], &[0_u64, 1])
    });
    let allowed = "float32, float64, bool, int8, int16, int32, int64, uint8, uint16, uint32";
    refused(&labels, &["labels.npy", "uint64", allowed]);
    let tokens = write(&|npz| {
        npz.array("tokens", &[2, 1], &[3_f32, 4.0])?;
        npz.array("labels", &[2], &[0_i8, 1])
    });
    refused(&tokens, &["tokens.npy", "float32", "uint32"]);
    let more = write(&|npz| {
        npz.array("tokens", &[2, 1], &[3_u8, 4])?;
        npz.array("split", &[2], &[0_u8, 1])
    });
    refused(&more, &["own.npz", "split", "held_out_tokens"]);
    let half = write(&|npz| {
        npz.array("tokens", &[2, 1], &[3_u8, 4])?;
        npz.array("labels", &[2], &[0.0, 1.5])
    });
    refused(&half, &["`labels`", "1.5"]);
    let twice = write(&|npz| {
        npz.array("tokens", &[2, 1], &[3_u8, 4])?;
        npz.strings("classes", &["ham", "ham"])
    });
    refused(&twice, &["`classes`", "ham", "twice"]);
    let classes = ["ham", "spam"].map(str::to_owned);
    for done in [
        write(&|npz| {
            npz.array("tokens", &[2, 1], &[3_u8, 4])?;
            npz.array("labels", &[2], &[0_f64, 1.0])?;
            npz.strings("classes", &classes)
        }),
        write(&|npz| {
            npz.array("tokens", &[2, 1], &[3_i16, 4])?;
            npz.array("labels", &[2], &[0_u32, 1])?;
            npz.strings("classes", &classes)
        }),
    ] {
        done.done();
    }
    refused(
        &typed(&folder, "inspect own.npz"),
        &["own.npz", "a dataset"],
    );
}

/// A line that is JSON, but no object.
#[test]
fn a_line_of_json_is_an_object() {
    let folder = folder("refused_json");
    for (first, columns) in [("3", ""), ("3", "--label class"), ("\"x\"", "")] {
        fs::write(folder.join("mine.jsonl"), format!("{first}\n")).unwrap();
        let train = format!("train mine.jsonl --run run {columns}");
        refuses_typed(&folder, &train, &["mine.jsonl: line 1", "object"]);
    }
    let lines = "{\"label\":1,\"tokens\":[1]}\n3\n";
    fs::write(folder.join("mine.jsonl"), lines).unwrap();
    fs::write(folder.join("mine.toml"), "data.file = \"mine.jsonl\"\n").unwrap();
    let parts = ["mine.jsonl: line 2", "object"];
    refuses_typed(&folder, "train mine.toml --run run", &parts);
}

/// Keys of `[data]`, a setting, and parts of the message.
const CONTRADICTIONS: &str = r#"
file = "k.jsonl"                     | 'data.rule={ kind = "max" }' | --set data.rule | labels have 2 classes | gives 3
file = "short.jsonl", n_classes = 4  | 'data.rule={ kind = "max" }' | line 2: the label is 1 | gives 3, padding counted
file = "n.txt", cls = "none"         | data.task=next-token | texts need [CLS] | set cls = "first" (
file = "k.jsonl"                     | data.task=next-token | --set data.task | remove data.classes | not a, b
file = "tags.jsonl", task = "token-classification" | data.file=split.jsonl | split.jsonl: line 3: no held-out sample has a label
file = "tags.jsonl", task = "token-classification" | 'tests=[{ name = "x", file = "null.jsonl" }]' | test set `x` | all labels are null
file = "bare.jsonl"                  | seed=1 | bare.jsonl: it has no column `label` | set data.label
file = "k.jsonl"                     | 'tests=[{ name = "x", file = "bare.jsonl" }]' | test set `x` | no column `label` | this name
file = "n.txt", task = "next-token"  | 'data.classes=["a", "b"]' | --set data.classes | not a, b
file = "C:\temp.csv"                 | seed=1 | emp.csv | single quotes
"#;

/// What is wrong is what the user wrote, and not what the file made of it.
#[test]
fn a_config_that_contradicts_its_file_is_told_so() {
    let folder = folder("refused_contradictions");
    let lines = "{\"tokens\":[1,2],\"label\":\"a\"}\n{\"tokens\":[2,1],\"label\":\"b\"}\n";
    fs::write(folder.join("k.jsonl"), lines.repeat(3)).unwrap();
    let lines = "{\"tokens\":[1,2],\"label\":2}\n{\"tokens\":[1],\"label\":1}\n";
    fs::write(folder.join("short.jsonl"), lines.repeat(3)).unwrap();
    let null = "{\"tokens\":[1,2],\"labels\":[null,null]}\n";
    fs::write(folder.join("null.jsonl"), null).unwrap();
    let tags = "{\"tokens\":[1,2],\"labels\":[0,1]}\n{\"tokens\":[2,1],\"labels\":[1,0]}\n";
    fs::write(folder.join("tags.jsonl"), tags).unwrap();
    let held_out = null.replace("]}", "],\"split\":\"test\"}");
    fs::write(folder.join("split.jsonl"), tags.to_owned() + &held_out).unwrap();
    fs::write(folder.join("n.txt"), "good film\nbad film\n").unwrap();
    fs::write(folder.join("bare.jsonl"), "{\"tokens\":[1,2]}\n").unwrap();
    for cells in table(CONTRADICTIONS) {
        let keys = format!(
            "data = {{ {} }}\nmodel.d_model = 4\ntraining.epochs = 1\n",
            cells[0]
        );
        fs::write(folder.join("c.toml"), keys).unwrap();
        let train = format!("train c.toml --run run --set {}", cells[1]);
        refuses_typed(&folder, &train, &cells[2..]);
    }
}

/// Nothing is made of a size before it is checked.
#[test]
fn samples_of_any_length_are_refused_at_once() {
    let folder = folder("refused_lengths");
    fs::write(folder.join("n.txt"), "the cat sat\nthe dog sat\n").unwrap();
    let config = |data: &str, mask: &str| {
        format!(
            "data = {{ {data} }}\nmodel = {{ d_model = 8, attention = {{ mask = {mask} }} }}\ntraining = {{ epochs = 1 }}\n"
        )
    };
    let text = "task = \"next-token\", file = \"n.txt\"";
    fs::write(folder.join("text.toml"), config(text, "\"causal\"")).unwrap();
    let rule = "samples = 50, vocab_size = 9, seq_len = 3, rule = { kind = \"max\" }";
    fs::write(folder.join("none.toml"), config(rule, "\"none\"")).unwrap();
    refuses_typed(&folder, "data text.toml --out t.npz", &["t.npz", ".csv"]);
    let small = "train none.toml --run r --set model.attention.scale=1e-46";
    refuses_typed(&folder, small, &["attention.scale", "float32"]);
    for config in ["text.toml", "none.toml"] {
        for length in ["1000000", "9223372036854775807"] {
            for command in ["train --run q", "data --out q.jsonl"] {
                let line = format!("{command} {config} --set data.seq_len={length}");
                refuses_typed(&folder, &line, &["seq_len"]);
            }
        }
        for length in ["65537", "9223372036854775807"] {
            let set = format!("tests=[{{ name = \"long\", seq_len = {length} }}]");
            let parts: &[&str] = if config == "none.toml" {
                &["seq_len", "long"]
            } else {
                &[]
            };
            refuses_typed(
                &folder,
                &format!("train {config} --run r --set '{set}'"),
                parts,
            );
        }
    }
}

/// Another file may number its classes in another order.
#[test]
fn numbers_are_no_names_of_classes() {
    let folder = folder("refused_numbers");
    let rows = |labels: [&str; 3]| {
        let texts = ["fine", "dull", "fair"].map(|word| format!("{word} film,"));
        let rows = texts.iter().zip(labels);
        let rows: Vec<String> = rows.map(|(text, label)| text.clone() + label).collect();
        format!("text,label\n{}\n", rows.join("\n"))
    };
    let names = rows(["high", "low", "mid"]);
    let more = names.split_once('\n').unwrap().1.repeat(3);
    fs::write(folder.join("names.csv"), names + &more).unwrap();
    fs::write(folder.join("codes.csv"), rows(["2", "0", "1"])).unwrap();
    let train = "train names.csv --set training.epochs=1 --run named";
    typed(&folder, train).done();
    let names = ["codes.csv", "high, low, mid"];
    for line in ["evaluate named codes.csv", "predict named codes.csv"] {
        refuses_typed(&folder, line, &names);
    }
    let set = "tests=[{ name = \"codes\", file = \"codes.csv\" }]";
    let train = format!("train named/config.toml --set '{set}' --run tested");
    refuses_typed(&folder, &train, &names);
    typed(&folder, "evaluate named names.csv").done();
    refuses_typed(&folder, "evaluate named nope", &["nope", "does not exist"]);
    let parts = ["named", "it is a folder"];
    refuses_typed(&folder, "evaluate named named", &parts);
    let within = "train names.csv --run codes.csv/run";
    refuses_typed(&folder, within, &["codes.csv is a file"]);
    fs::write(folder.join("packed.csv"), b"\x1f\x8b\x08\0\0\0").unwrap();
    refuses_typed(&folder, "train packed.csv", &["packed.csv", "gzip"]);
    fs::write(folder.join("zero.csv"), "t\0xt,label\nfine film,1\n").unwrap();
    refuses_typed(
        &folder,
        "train zero.csv",
        &["zero.csv", "begins with a zero byte"],
    );
    let few = "label,token_0\n0,1\n1,2\n0,3\n1,4\n";
    fs::write(folder.join("few.csv"), few).unwrap();
    let found = typed(&folder, "train few.csv --set data.held_out=0.1 --run few");
    let found = found.stderr;
    let none = "held_out = 0.1 holds out no sample";
    assert!(mentions(&found, none), "{found}");
    let twice = "label,split,token_0\n0,train,1\n1,train,2\n0,test,1\n1,test,3\n";
    fs::write(folder.join("twice.csv"), twice).unwrap();
    let told = typed(&folder, "train twice.csv --run twice").done().stderr;
    assert!(told.contains("a training sample: 1"), "{told}");
    // The run's own file has numbers, to which its config gives names.
    let config = "data = { file = \"tokens.csv\", classes = [\"no\", \"yes\"] }\nmodel = { d_model = 4 }\ntraining = { epochs = 1 }\n";
    fs::write(folder.join("own.toml"), config).unwrap();
    fs::write(folder.join("tokens.csv"), "label,token_0\n0,1\n1,2\n").unwrap();
    typed(&folder, "train own.toml --run own").done();
    typed(&folder, "evaluate own tokens.csv").done();
}

/// The labels of a sample give a file its classes, unless the config does.
#[test]
fn a_copy_that_lacks_a_class_names_the_key() {
    let folder = folder("refused_classes");
    let config = |data: &str| {
        format!("data = {{ {data} }}\nmodel = {{ d_model = 4 }}\ntraining = {{ epochs = 1 }}\n")
    };
    let rule = "samples = 500, vocab_size = 9, seq_len = 3, rule = { kind = \"max\" }";
    fs::write(folder.join("rule.toml"), config(rule)).unwrap();
    fs::write(folder.join("copy.toml"), config("file = \"copy.csv\"")).unwrap();
    let told = typed(&folder, "data rule.toml --out copy.csv").done();
    let told = told.stdout + &told.stderr;
    let (_, keys) = told.trim_end().split_once("train on it with ").unwrap();
    assert!(mentions(keys, "data.n_classes=9"), "{told}");
    typed(&folder, "train rule.toml --run rule").done();
    typed(&folder, &format!("train copy.toml {keys} --run copy")).done();
    assert!(weights(&folder, "rule") == weights(&folder, "copy"));
}
