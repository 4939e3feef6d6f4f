//! Own samples that a run refuses, and those that it takes.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use crate::common::{Finished, config_of, folder, headlight, refused, refuses_in, run_in, typed};
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
    let set = ["--set", "data.file=copy.npz"];
    run_in(
        &folder,
        &[&["train", "mine.toml", "--run", "npz"], &set[..]].concat(),
    )
    .done();
    let file = |run: &str, name: &str| fs::read(folder.join(run).join(name)).unwrap();
    assert!(file("npz", "model.safetensors") == file("run", "model.safetensors"));
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
        ("quote.csv", "label,token_0,note\nham,3,\"oops\nham,3,a\n"),
        ("large.csv", "token_0\n4000000000\n"),
        ("samples.TXT", "3\n"),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    for (tokens, parts) in [
        ("3 10 4", &["--tokens: token 10", "1 to 9"][..]),
        ("10", &["padding"]),
        ("99", &["--tokens: token 99", "1 to 9"]),
        ("1 2 3 4", &["4 tokens", "1 to 3"]),
        ("hello", &["--tokens", "hello"]),
        ("label.csv", &["--tokens", "label.csv"]),
    ] {
        refused(
            &typed(&folder, &format!("predict run --tokens '{tokens}'")),
            parts,
        );
    }
    for (file, parts) in [
        ("none.csv", &["none.csv", "--tokens"][..]),
        ("padding.csv", &["line 2", "token 10"]),
        ("label.csv", &["line 3", "eggs"]),
        ("quote.csv", &["line 2", "quote"]),
        ("large.csv", &["large.csv: line 2", "4000000000"]),
        ("samples.TXT", &[".txt"]),
    ] {
        refused(&typed(&folder, &format!("predict run {file}")), parts);
    }
    let some = "label,token_0\nham,3\n,4\n";
    fs::write(folder.join("some.csv"), some).unwrap();
    let predicted = typed(&folder, "predict run some.csv").done();
    assert_eq!(predicted.stdout.lines().count(), 3);
    refused(
        &typed(&folder, "evaluate run some.csv"),
        &["some.csv", "line 3", "`label`"],
    );
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
    for done in [
        write(&|npz| {
            npz.array("tokens", &[2, 1], &[3_u8, 4])?;
            npz.array("labels", &[2], &[0_f64, 1.0])
        }),
        write(&|npz| {
            npz.array("tokens", &[2, 1], &[3_i16, 4])?;
            npz.array("labels", &[2], &[0_u32, 1])
        }),
    ] {
        done.done();
    }
}

/// A line that is JSON, but no object.
#[test]
fn a_line_of_json_is_an_object() {
    let folder = folder("refused_json");
    for (first, columns) in [("3", &[][..]), ("3", &["--label", "class"]), ("\"x\"", &[])] {
        fs::write(folder.join("mine.jsonl"), format!("{first}\n")).unwrap();
        let train = [&["train", "mine.jsonl", "--run", "run"][..], columns].concat();
        let finished = run_in(&folder, &train);
        refused(&finished, &["mine.jsonl: line 1", "object"]);
    }
    let lines = "{\"label\":1,\"tokens\":[1]}\n3\n";
    fs::write(folder.join("mine.jsonl"), lines).unwrap();
    fs::write(folder.join("mine.toml"), "data.file = \"mine.jsonl\"\n").unwrap();
    let finished = typed(&folder, "train mine.toml --run run");
    refused(&finished, &["mine.jsonl: line 2", "object"]);
}

/// What is wrong is what the user wrote, and not what the file made of it.
#[test]
fn a_config_that_contradicts_its_file_is_told_so() {
    let folder = folder("refused_contradictions");
    let lines = "{\"tokens\":[1,2],\"label\":\"a\"}\n{\"tokens\":[2,1],\"label\":\"b\"}\n";
    fs::write(folder.join("k.jsonl"), lines.repeat(3)).unwrap();
    let lines = "{\"tokens\":[1,2],\"label\":2}\n{\"tokens\":[1],\"label\":1}\n";
    fs::write(folder.join("short.jsonl"), lines.repeat(3)).unwrap();
    fs::write(folder.join("n.txt"), "good film\nbad film\n").unwrap();
    let train = ["train", "c.toml", "--run", "run", "--set"];
    for (data, set, parts) in [
        (
            "file = \"k.jsonl\"",
            "data.rule={ kind = \"max\" }",
            &["the file's labels have 2 classes", "gives 3"][..],
        ),
        (
            "file = \"short.jsonl\", n_classes = 4",
            "data.rule={ kind = \"max\" }",
            &["line 2: the label is 1", "gives 3, padding counted"],
        ),
        (
            "file = \"n.txt\", cls = \"none\"",
            "data.task=next-token",
            &["texts need [CLS]", "set cls = \"first\" ("],
        ),
        (
            "file = \"k.jsonl\"",
            "data.task=next-token",
            &["remove data.classes", "not a, b"],
        ),
        (
            "file = \"n.txt\", task = \"next-token\"",
            "data.classes=[\"a\", \"b\"]",
            &["--set data.classes", "not a, b"],
        ),
        (
            "file = \"C:\\temp.csv\"",
            "seed=1",
            &["emp.csv", "single quotes"],
        ),
    ] {
        fs::write(
            folder.join("c.toml"),
            format!(
                "data = {{ {data} }}\nmodel = {{ d_model = 4 }}\ntraining = {{ epochs = 1 }}\n"
            ),
        )
        .unwrap();
        refuses_in(&folder, &[&train[..], &[set]].concat(), parts);
    }
}
