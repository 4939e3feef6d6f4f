//! Data in place of a config, in an empty folder: tables of texts and of categories, as people have them.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;

use crate::common::{
    asked, config_of, folder, json, mentions, printed, refused, refuses_typed, set, table, typed,
    weights,
};

/// A teacher's sentences as a spreadsheet saves them: semicolons, a byte order mark, line breaks of Windows.
fn sentences() -> String {
    let mut text = "\u{feff}Nr;Satz;Urteil\r\n".to_owned();
    for row in 0..60 {
        let (word, label) = [("schön", "gut"), ("öde", "schlecht")][row % 2];
        write!(
            text,
            "{row};\"Der Film {} war {word}; ja\";{label}\r\n",
            row / 2
        )
        .unwrap();
    }
    text
}

/// A data frame, with its index: the label is whether a red thing occurs at least twice.
fn frame(rows: usize) -> String {
    let mut text = ",color,size,count,price,label\n".to_owned();
    for row in 0..rows {
        let color = ["red", "green", "dark blue"][row % 3];
        let size = ["S", "M", "L"][row / 3 % 3];
        let count = row / 9 % 4;
        let label = if color == "red" && count > 1 {
            "yes"
        } else {
            "no"
        };
        writeln!(
            text,
            "{row},{color},{size},{count},{}.5,{label}",
            row * 7 % 13
        )
        .unwrap();
    }
    text
}

const SHORT: &str = "--set training.epochs=2";

/// The columns of [`sentences`].
const NAMED: &str = "--text Satz --label Urteil";

#[test]
fn a_file_of_texts_trains_as_the_config_that_init_writes() {
    let folder = folder("data_texts");
    fs::write(folder.join("sätze.csv"), sentences()).unwrap();
    for line in [
        format!("train sätze.csv --run a {NAMED} {SHORT}"),
        format!("init sätze.csv {NAMED}"),
        format!("train sätze.toml --run b {SHORT}"),
    ] {
        typed(&folder, &line).done();
    }
    for file in ["config.toml", "model.safetensors", "best.safetensors"] {
        let [a, b] = ["a", "b"].map(|run| fs::read(folder.join(run).join(file)).unwrap());
        assert!(a == b, "{file}");
    }
    let config = config_of(&folder.join("a"));
    let data = &config["data"];
    assert_eq!(data["text"].as_str(), Some("Satz"));
    assert_eq!(data["label"].as_str(), Some("Urteil"));
    assert_eq!(data["held_out"].as_integer(), Some(12));
    assert_eq!(config["model"]["d_model"].as_integer(), Some(16));
    assert_eq!(config["model"]["n_heads"].as_integer(), Some(2));
    let training = &config["training"];
    assert_eq!(training["keep_best"].as_str(), Some("held_out_loss"));
    assert_eq!(training["patience"].as_integer(), Some(5));

    // New texts: other columns pass through, in their order and with their separator.
    let new = "Datum;Satz;Klasse\r\n2024-01-05;Der Film war öde;\"7;b\"\r\n;schön;\r\n";
    fs::write(folder.join("neu.csv"), new).unwrap();
    let predicted = printed(&folder, "predict a neu.csv");
    let lines: Vec<&str> = predicted.lines().collect();
    assert_eq!(
        lines[0],
        "Datum;Satz;Klasse;predicted;probability_gut;probability_schlecht"
    );
    assert!(lines[1].starts_with("2024-01-05;Der Film war öde;\"7;b\";"));
    assert!(lines[2].starts_with(";schön;;"));
    assert_eq!(lines.len(), 3);
    let count = asked(&folder, "predict a neu.csv --out neu.jsonl");
    assert_eq!(count["samples"], 2);
    let written = fs::read_to_string(folder.join("neu.jsonl")).unwrap();
    let first = json(written.lines().next().unwrap());
    assert_eq!(first["Klasse"], "7;b");
    assert!(first["probabilities"]["schlecht"].is_number());

    let one = asked(&folder, "predict a --text öde");
    assert_eq!(one["class_names"], serde_json::json!(["gut", "schlecht"]));
}

#[test]
fn a_data_frame_has_a_position_for_each_column() {
    let folder = folder("data_frame");
    fs::write(folder.join("frame.csv"), frame(180)).unwrap();
    let trained = asked(&folder, "train frame.csv --run a");
    assert_eq!(trained["class_names"], serde_json::json!(["no", "yes"]));
    assert_eq!(trained["learned"], true);
    let own = config_of(&folder.join("a"));
    let data = &own["data"];
    let features = data["features"].as_array().unwrap();
    let features: Vec<&str> = features.iter().filter_map(toml::Value::as_str).collect();
    assert_eq!(features, ["color", "size", "count"]);
    assert_eq!(data["seq_len"].as_integer(), Some(3));
    let words = data["words"]["vocabulary"].as_array().unwrap();
    assert_eq!(words.len(), 10);
    assert!(words.contains(&"color=dark blue".into()));
    assert!(!folder.join("a/tokenizer.json").exists());

    // The same frame as JSON lines, and compressed tabs, gives the same samples.
    let table = frame(180);
    let objects = table.lines().skip(1).fold(String::new(), |mut text, line| {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, color, size, count, _, label] = cells[..] else {
            panic!("six cells")
        };
        writeln!(
            text,
            r#"{{"color":"{color}","size":"{size}","count":{count},"label":"{label}"}}"#
        )
        .unwrap();
        text
    });
    fs::write(folder.join("frame.jsonl"), objects).unwrap();
    let tabs = fs::File::create(folder.join("frame.tsv.gz")).unwrap();
    let mut tabs = flate2::write::GzEncoder::new(tabs, flate2::Compression::default());
    std::io::Write::write_all(&mut tabs, table.replace(',', "\t").as_bytes()).unwrap();
    tabs.finish().unwrap();
    let mut all = Vec::new();
    for (file, out) in [
        ("frame.csv", "a.npz"),
        ("frame.tsv.gz", "b.npz"),
        ("frame.jsonl", "c.npz"),
    ] {
        // Of JSON, keys are in no order.
        let order = "data.features=[\"color\", \"size\", \"count\"]";
        typed(&folder, &format!("data {file} --set '{order}' --out {out}")).done();
        all.push(fs::read(folder.join(out)).unwrap());
    }
    assert!(all[0] == all[1] && all[0] == all[2]);

    // What is written is read again.
    typed(&folder, "data frame.csv --out copy.csv").done();
    let copy = fs::read_to_string(folder.join("copy.csv")).unwrap();
    assert!(copy.starts_with("split,label,color,size,count\n"), "{copy}");
    typed(&folder, "evaluate a copy.csv --json").done();

    let one = asked(&folder, "predict a --text red,M,3");
    assert_eq!(one["predicted"], "yes");
    assert_eq!(
        one["words"],
        serde_json::json!(["[CLS]", "color=red", "size=M", "count=3"])
    );
    refuses_typed(&folder, "predict a --text red", &["color,size,count"]);

    let new = "{\"id\": 7, \"color\": \"red\", \"size\": \"S\", \"count\": 2}\n";
    fs::write(folder.join("new.jsonl"), new).unwrap();
    let predicted = printed(&folder, "predict a new.jsonl");
    assert!(predicted.starts_with(&new[..new.len() - 2]));
    assert_eq!(json(&predicted)["predicted"], "yes");

    typed(&folder, "sweep frame.csv --seeds 0..2 --out s.jsonl").done();
    let rows = fs::read_to_string(folder.join("s.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 2);
}

#[test]
fn token_ids_have_a_fifth_held_out() {
    let folder = folder("data_tokens");
    let mut text = "class\ttoken_0\ttoken_1\n".to_owned();
    for row in 0..40 {
        writeln!(text, "{}\t{}\t{}", row % 2, row % 2 + 1, row % 7 + 1).unwrap();
    }
    fs::write(folder.join("ids.tsv"), text).unwrap();
    typed(&folder, "data ids.tsv --out ids.npz").done();
    for file in ["ids.tsv", "ids.npz"] {
        typed(&folder, &format!("train {file} --run {file}-run {SHORT}")).done();
        let config = config_of(&folder.join(format!("{file}-run")));
        assert_eq!(config["model"]["d_model"].as_integer(), Some(16));
        if file == "ids.tsv" {
            assert_eq!(config["data"]["held_out"].as_integer(), Some(8));
        }
    }
}

/// Files, with `/` between lines; options; parts of the message.
const MISTAKES: &str = "
a,b/                                     |             | no samples
text,label/hello you,1/the you,1/        |             | label | 1 | --label
text,label/hello you,a/the you,a /       |             | `a` and `a ` | two classes
text,label/hello you,1/the you,2/some,3/ |             | label | --label
text,label/3,1/4,0/3,1/4,0/              |             | text | 3 | --text
first,second/a few words here,and some more words/other words than these,more of other words/ |  | first | second | --label
text,mark/a few words here,0.5/other words than these,1/ |  | --label | mark
text,class,mood/hello you,1,2/the you,0,1/ |           | class | mood | --label
text,label/hello you,1/the you,0/        | --text nix  | --text | nix | text | label
text,label/hello you,1/the you,0/        | --label nix | --label | nix | text | label
text,label/hello you,1/the you,0/        | --label text | text
text,label/hello you,/the you,/          |             | label | --label
";

#[test]
fn mistakes_name_the_columns_and_the_remedy() {
    let folder = folder("data_mistakes");
    for cells in table(MISTAKES) {
        fs::write(folder.join("bad.csv"), cells[0].replace('/', "\n")).unwrap();
        refuses_typed(&folder, &format!("train bad.csv {}", cells[1]), &cells[2..]);
    }
    // Bytes that are not compressed, and a name without a file.
    fs::write(folder.join("bad.csv.gz"), "text,label\n").unwrap();
    refused(&typed(&folder, "train bad.csv.gz"), &["gzip"]);
    refused(&typed(&folder, "train missing.csv"), &["missing.csv"]);
    refused(&typed(&folder, "train texts"), &["headlight train"]);
}

#[test]
fn a_column_of_a_prediction_is_not_written_over() {
    let folder = folder("data_taken");
    fs::write(folder.join("a.csv"), sentences()).unwrap();
    typed(&folder, &format!("train a.csv --run a {NAMED} {SHORT}")).done();
    fs::write(folder.join("new.csv"), "Satz,predicted\nja,1\n").unwrap();
    refused(&typed(&folder, "predict a new.csv"), &["predicted"]);
}

/// Names of columns and values as people have them: long, with commas and quotes; days; numbers of rows; one label empty.
fn guests(rows: usize) -> String {
    let mut text = "\u{feff}number of the reservation in our own book,day,code,where the guests came from at first,kind,status\n".to_owned();
    for row in 0..rows {
        let place = ["\"a \"\"far\"\" place, west\"", "-near", "it's"][row % 3];
        let status = ["stayed", "left"][usize::from(row % 3 == 1)];
        writeln!(
            text,
            "{},2024-{:02}-01,c{},{place},k{},{status}",
            row % 7,
            row % 12 + 1,
            row % 150,
            row % 2
        )
        .unwrap();
    }
    text
}

#[test]
fn the_screen_of_a_table_fits_and_its_command_runs() {
    let folder = folder("data_guests");
    fs::write(folder.join("guests.csv"), guests(450)).unwrap();
    let train = format!("train guests.csv --label status --run a {SHORT}");
    let screen = typed(&folder, &train).done();
    let own = config_of(&folder.join("a"));
    // More than 100 different values are left out.
    let features = own["data"]["features"].as_array().unwrap();
    assert_eq!(features.len(), 4, "{features:?}");
    assert!(mentions(&screen.stderr, "`code`"), "{}", screen.stderr);
    let lines = screen.stdout.lines();
    let command = lines.clone().find_map(|line| line.strip_prefix("Try "));
    let command = command.unwrap().trim_start().strip_prefix("headlight ");
    typed(&folder, command.unwrap()).done();
    let explained = asked(&folder, &format!("{} --explain", command.unwrap()));
    let known = explained["explanation"]["words"].as_array().unwrap();
    assert!(known.iter().all(|word| word["unknown"] == false));
    for line in lines.filter(|line| !line.starts_with("Try ")) {
        assert!(line.chars().count() <= 80, "{line}");
        assert!(!line.ends_with("F1") && !line.ends_with("head"), "{line}");
    }
    assert!(screen.stdout.contains("…=") && !screen.stdout.contains('\u{a0}'));

    // The file that it was trained on: a byte order mark stays, and rows that it knows are counted.
    let told = typed(&folder, "predict a guests.csv --out again.csv").done();
    let told = told.stdout + &told.stderr;
    // All 450 are classified, and all 450 are known: those held out have the values of others.
    assert_eq!(told.matches("450").count(), 2, "{told}");
    let written = fs::read_to_string(folder.join("again.csv")).unwrap();
    assert!(written.starts_with('\u{feff}'));
    assert!(!written[3..].contains('\u{feff}'));

    let table = guests(6);
    let without = table.replace(",status\n", ",end\n");
    fs::write(folder.join("without.csv"), &without).unwrap();
    let judge = |file| typed(&folder, &format!("evaluate a {file}"));
    refused(&judge("without.csv"), &["without.csv", "`status`"]);
    fs::write(folder.join("other.csv"), table.replace("stayed", "moved")).unwrap();
    let other = typed(&folder, "predict a other.csv");
    refused(&other, &["moved", "column"]);
    let empty = guests(60).replacen(",stayed\n", ",\n", 1);
    fs::write(folder.join("empty.csv"), empty).unwrap();
    refused(&judge("empty.csv"), &["line 2", "`status`"]);
    let train = typed(&folder, "train empty.csv --label status --run b");
    refused(&train, &["line 2", "`status`"]);
}

#[test]
fn columns_beside_texts_are_left_out_with_a_note() {
    let folder = folder("data_beside_texts");
    fs::write(folder.join("s.csv"), sentences()).unwrap();
    let told = typed(&folder, &format!("train s.csv --run a {NAMED} {SHORT}")).done();
    assert!(mentions(&told.stderr, "`Nr`"), "{}", told.stderr);
}

/// Files, and their texts.
const MEANT: &str = r#"
wrong.csv   | label,token_0,token_1,token_2\n1,2,1,1\n1,1,1,3\n0,2,1,1\n0,2,3,1
data.toml   | DRAWN[[tests]]\nname = "x"\nfile = "wrong.csv"
own.toml    | DRAWN[[tests]]\nname = "x"\nfile = "wrong.csv"\nRULE
tags.jsonl  | {"tokens":[1,2],"labels":["a","b"]}\n{"tokens":[2,1],"labels":["b","a"]}\n{"tokens":[1,1],"labels":[null,null]}\n{"tokens":[2,2],"labels":[null,null]}
tags.toml   | [data]\ntask = "token-classification"\nfile = "tags.jsonl"\n[training]\nepochs = 1\n[model]\nd_model = 4
right.jsonl | {"tokens":[1,2],"label":0}\n{"tokens":[2],"label":1}
right.toml  | [data]\nfile = "right.jsonl"\nMODEL
left.jsonl  | {"tokens":[3,2],"label":1}\n{"tokens":[1,2],"label":0}
mixed.jsonl | {"tokens":[3,2],"label":1}\n{"tokens":[1,3],"label":0}
mixed.toml  | [data]\nfile = "mixed.jsonl"\nMODELattention = { padding_token = 3 }
texts.csv   | text,label\na b,x\nc d,y\na b,x\nc d,y\na b,x\nc d,y\na b,x\nc d,y
none.csv    | a b,x\nc d,y\na b,x\nc d,y
new.txt     | e
"#;

const SIGNS: [(&str, &str); 4] = [
    (
        "DRAWN",
        "[data]\ngenerator = \"chacha\"\nsamples = 50\nvocab_size = 5\nseq_len = 3\nRULE\nMODEL",
    ),
    ("RULE", "rule = { kind = \"token-anywhere\", token = 2 }"),
    (
        "MODEL",
        "[training]\nepochs = 60\nlearning_rate = 0.05\n[model]\nd_model = 4\n",
    ),
    (r"\n", "\n"),
];

/// Commands in their order, each with its exit code, and how often a text stands in its output.
const SAID: &str = "
train own.toml --run o                | 2 | 1 | line 3: the label is 1
train data.toml --run d               | 0 | 1 | line 3: the label is 1
evaluate d                            | 0 | 0 | line 3
evaluate d wrong.csv                  | 0 | 1 | Accuracy 0.25
evaluate d wrong.csv                  | 0 | 1 | line 3: the label is 1
predict d wrong.csv                   | 0 | 1 | line 3: the label is 1
train tags.toml --run t               | 0 | 1 | in 0.0%
evaluate t                            | 0 | 1 | whole samples 0.00
predict t tags.jsonl --out p.jsonl    | 0 | 1 | 0.00% of the 2 with
train right.toml --run p              | 0 | 0 | begin with padding
predict p left.jsonl                  | 0 | 1 | begin with padding: 1; that end with it: 0
train mixed.toml --run m              | 0 | 1 | begin with padding: 1; that end with it: 1
train texts.csv --run w               | 0 | 1 | also training texts
predict w new.txt                     | 0 | 0 | also training texts
evaluate w                            | 0 | 1 | also training texts
predict w ids.npz                     | 0 | 1 | 1 sample classified
predict w empty.txt                   | 2 | 1 | empty.txt: it holds no samples
train none.csv                        | 2 | 1 | --label
";

/// Headlight prints each note on a file's labels, padding and words, and prints it once.
#[test]
fn files_are_read_as_they_are_meant() {
    let folder = folder("data_meant");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    for line in MEANT.trim().lines() {
        let (name, text) = line.split_once('|').unwrap();
        let signs = SIGNS.iter();
        let text = signs.fold(text.trim().to_owned(), |text, (sign, own)| {
            text.replace(sign, own)
        });
        write(name.trim(), format!("{text}\n").as_bytes());
    }
    write("empty.txt", b"");
    let mut npz = headlight_npz::NpzWriter::new();
    npz.array("tokens", &[1, 2], &[3_i64, 4]).unwrap();
    write("ids.npz", &npz.finish().unwrap());
    for cells in table(SAID) {
        let done = typed(&folder, cells[0]);
        let printed = done.stdout + &done.stderr;
        let code = done.code.unwrap().to_string();
        assert_eq!(code, cells[1], "{cells:?}: {printed}");
        let times = printed.matches(cells[3]).count();
        assert_eq!(times.to_string(), cells[2], "{cells:?}: {printed}");
    }
    let report = fs::read_to_string(folder.join("w/report.md")).unwrap();
    assert!(report.contains("also training texts"));
}

/// What a copy of samples does not hold stands in the options that `data` prints.
#[test]
fn a_copy_trains_to_the_same_weights_with_what_is_printed() {
    let folder = folder("data_copy");
    let row = |row: usize| {
        let tokens: Vec<usize> = (0..2 + row % 3)
            .map(|place| 1 + (row + place) % 4)
            .collect();
        let label = ["b", "a"][usize::from(tokens[0] > 2)];
        format!("{{\"tokens\": {tokens:?}, \"label\": \"{label}\"}}\n")
    };
    let rows: String = (0..80).map(row).collect();
    fs::write(folder.join("own.jsonl"), rows).unwrap();
    let sets = set("data.cls=none data.classes=[\"b\",\"a\"] model.attention.padding_token=0");
    typed(
        &folder,
        &format!("train own.jsonl --run own {sets} {SHORT}"),
    )
    .done();
    let told = printed(&folder, "data own/config.toml --out copy.jsonl").replace('\n', " ");
    let (_, options) = told.split_once("train on it with ").unwrap();
    typed(
        &folder,
        &format!("train copy.jsonl --run copy {SHORT} {options}"),
    )
    .done();
    assert_eq!(
        weights(&folder, "own"),
        weights(&folder, "copy"),
        "{options}"
    );
}
