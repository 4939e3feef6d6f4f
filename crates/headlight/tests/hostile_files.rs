//! Files made to do harm, through the commands: exit code 2, one sentence, nothing written, within limits of
//! memory and time.
#![cfg(all(feature = "burn", target_os = "linux"))]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::sweeps::whole;
use crate::common::{Finished, folder, headlight, mentions, typed};
use headlight_npz::NpzWriter;

/// Limit of a command's memory, in KiB of address space for its data: 256 MB.
const MEMORY_KIB: usize = 250_000;

/// Runs a line in a folder within the limit of memory, and kills it after 20 seconds.
fn bounded(folder: &Path, line: &str) -> Finished {
    let script = format!("ulimit -d {MEMORY_KIB}; exec timeout -s KILL 20 \"$@\"");
    let mut bash = Command::new("bash");
    bash.args(["-c", &script, "bounded"]);
    bash.arg(headlight().get_program());
    bash.args(shlex::split(line).unwrap()).current_dir(folder);
    bash.stdin(Stdio::null()).output().unwrap().into()
}

/// Asserts that a command refuses its input in one sentence that names all parts, and writes nothing into the folder.
fn refuses(folder: &Path, line: &str, parts: &[&str]) {
    let names = |folder: &Path| -> Vec<_> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = names(folder);
    let finished = bounded(folder, line);
    let stderr = &finished.stderr;
    let shown: String = stderr.chars().take(2000).collect();
    let line: String = line.chars().take(200).collect();
    assert_eq!(finished.code, Some(2), "{line}: {shown}");
    assert!(stderr.starts_with("error: "), "{shown}");
    for part in parts {
        assert!(mentions(stderr, part), "{line}: `{part}` not in: {shown}");
    }
    assert!(!stderr.contains("panicked"), "{shown}");
    assert!(stderr.len() < 10_000, "{shown}");
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!stderr.contains(steers), "{shown}");
    assert_eq!(finished.stdout, "");
    assert!(names(folder) == before, "{line} wrote something");
}

/// Writes a sparse file: a beginning, then zeros.
fn zeros(path: &Path, beginning: &[u8], length: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(beginning).unwrap();
    file.set_len(length).unwrap();
}

/// Writes an npz archive. Each member has a name, a type, a shape, and a number of zero bytes.
fn npz(path: &Path, members: &[(&str, &str, &str, usize)]) {
    let mut npz = NpzWriter::new();
    for (name, descr, shape, zeros) in members {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut npy = b"\x93NUMPY\x01\x00".to_vec();
        npy.extend((header.len() as u16).to_le_bytes());
        npy.extend(header.as_bytes());
        npy.resize(npy.len() + zeros, 0);
        npz.bytes(&format!("{name}.npy"), &npy).unwrap();
    }
    fs::write(path, npz.finish().unwrap()).unwrap();
}

#[test]
fn configs_and_walkthroughs() {
    let folder = folder("hostile_configs");
    let path = folder.join("c.toml");
    let [train, walkthrough] = ["train c.toml --run run", "walkthrough c.toml"];
    let deep = format!("x = {}", "[".repeat(100_000));
    let table = format!("[{}]\n", vec!["a"; 100_000].join("."));
    let name = format!("{} = 1\n", "a".repeat(900_000));
    let cases: [(&[u8], &[&str]); 6] = [
        (deep.as_bytes(), &["c.toml"]),
        (table.as_bytes(), &["c.toml"]),
        (name.as_bytes(), &["c.toml:1:"]),
        (b"a = \"\x1b]0;title\x07\"\n", &["c.toml:1:"]),
        (b"\xff\xfe", &["c.toml", "UTF-8"]),
        (b"", &["c.toml"]),
    ];
    for (bytes, parts) in cases {
        fs::write(&path, bytes).unwrap();
        refuses(&folder, train, parts);
        if !bytes.is_empty() {
            refuses(&folder, walkthrough, parts);
        }
    }
    // As much as the limit allows, in numbers of one digit.
    let numbers = "1,".repeat(520_000);
    let title = format!("title = \"t\"\ntokens = [\"a\"]\nx = [[{numbers}1]]");
    fs::write(&path, title).unwrap();
    refuses(&folder, walkthrough, &["c.toml:3:", "4096"]);
    refuses(&folder, train, &["c.toml:1:", "`title`"]);
    zeros(&path, b"", 1 << 30);
    refuses(&folder, train, &["c.toml", "16 MiB"]);
    refuses(&folder, walkthrough, &["c.toml", "1 MiB"]);
    let key = vec!["a"; 50_000].join(".");
    let set = format!("train --set {key}=1 --run run");
    refuses(&folder, &set, &["50000", "16"]);
}

#[test]
fn paths_that_are_not_files_are_refused_unread() {
    let folder = folder("hostile_kinds");
    fs::write(folder.join("tokens.txt"), "0 45 48 1 4 4 40\n").unwrap();
    let fifo = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    symlink(folder.join("loop"), folder.join("loop")).unwrap();
    let kinds = [
        fifo,
        PathBuf::from("/dev/zero"),
        folder.clone(),
        folder.join("loop"),
    ];
    for target in &kinds {
        // Through links, so that names have the expected file extensions. Samples are read before weights.
        for line in [
            "train x.toml --run out",
            "sweep x.toml --seeds 0..1 --out out.jsonl",
            "walkthrough x.toml --html out",
            "inspect x.npz --svg out.svg",
            "dump quick --weights none --out out.npz --samples x.csv",
            "dump quick --weights none --out out.npz --samples x.jsonl",
            "dump quick --weights none --out out.npz --samples x.npz",
            "dump quick --weights none --out out.npz --samples x.txt",
            "dump quick --samples tokens.txt --out out.npz --weights x.safetensors",
            "merge x.jsonl --out out.csv",
        ] {
            let named = line.split(' ').find(|word| word.starts_with("x."));
            let link = folder.join(named.unwrap());
            symlink(target, &link).unwrap();
            refuses(&folder, line, &[named.unwrap()]);
            fs::remove_file(link).unwrap();
        }
    }
    // A link to a file is a file.
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/quick.toml");
    symlink(config.canonicalize().unwrap(), folder.join("good.toml")).unwrap();
    bounded(&folder, "data good.toml --out data.csv").done();
}

#[test]
fn datasets() {
    let folder = folder("hostile_datasets");
    let file = |name: &str| folder.join(name);
    zeros(&file("line.jsonl"), b"", 1 << 30);
    zeros(&file("record.csv"), b"split,label,token_0\n\"", 1 << 30);
    zeros(&file("large.npz"), b"PK", (1 << 30) + 1);
    fs::write(file("deep.jsonl"), "[".repeat(500_000)).unwrap();
    let bomb = [("tokens", "|b1", "(143000000, 7)", 1_001_000_000)];
    npz(&file("bomb.npz"), &bomb);
    // Members are looked up by name: a name is never used as a path.
    let slip = [("../slip", "|b1", "(1,)", 1), ("tokens", "|b1", "(1,)", 1)];
    npz(&file("slip.npz"), &slip);
    let cases: [(&str, &[&str]); 6] = [
        ("line.jsonl", &["line 1", "1 MiB"]),
        ("record.csv", &[]),
        ("large.npz", &["1 GiB"]),
        ("deep.jsonl", &["line 1"]),
        ("bomb.npz", &["`tokens.npy`", "64 MiB"]),
        ("slip.npz", &["../slip", "tokens"]),
    ];
    for (name, parts) in cases {
        let data = format!("data={{ file = \"{name}\", vocab_size = 51, seq_len = 6 }}");
        let train = format!("train quick --run run --set '{data}'");
        refuses(&folder, &train, &[parts, &[name]].concat());
    }
    assert!(!folder.join("../slip.npy").exists());
}

#[test]
fn weights() {
    let folder = folder("hostile_weights");
    let path = folder.join("w.safetensors");
    let tokens = folder.join("tokens.txt");
    fs::write(&tokens, "0 45 48 1 4 4 40\n").unwrap();
    let dump = "dump quick --weights w.safetensors --samples tokens.txt --out d.npz";
    let header = r#"{"x":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}}"#;
    for (length, header) in [
        (1_u64 << 60, "{}"),
        (u64::MAX, "{}"),
        (1 << 40, "{}"),
        (header.len() as u64, header),
    ] {
        let bytes = [&length.to_le_bytes()[..], header.as_bytes()].concat();
        fs::write(&path, bytes).unwrap();
        refuses(&folder, dump, &["w.safetensors"]);
    }
    zeros(&path, &(50_u64 << 20).to_le_bytes(), 60 << 20);
    refuses(&folder, dump, &["w.safetensors", "52428800"]);
    zeros(&path, &2_u64.to_le_bytes(), 1 << 30);
    refuses(&folder, dump, &["w.safetensors", "64 MiB"]);
    zeros(&tokens, b"", 1 << 30);
    refuses(&folder, dump, &["tokens.txt", "line 1", "1 MiB"]);
}

#[test]
fn runs() {
    let folder = folder("hostile_runs");
    typed(&folder, "train quick --run run").done();
    let run = folder.join("run");
    let inspect = "inspect run --html page.html";
    let deep = "[".repeat(899_999) + "\n";
    for name in ["metrics.jsonl", "environment.json"] {
        let whole = fs::read(run.join(name)).unwrap();
        for (bytes, length) in [("", 1_u64 << 30), (&deep, 900_000)] {
            zeros(&run.join(name), bytes.as_bytes(), length);
            refuses(&folder, inspect, &[name]);
        }
        if name == "metrics.jsonl" {
            refuses(&folder, "compare run", &[name]);
        }
        fs::write(run.join(name), whole).unwrap();
    }
    // A last line that a kill cut short is not an error.
    let metrics = run.join("metrics.jsonl");
    let mut bytes = fs::read(&metrics).unwrap();
    bytes.extend(b"{\"epoch\":4,\"st");
    fs::write(&metrics, bytes).unwrap();
    bounded(&folder, "compare run").done();
    zeros(&run.join("config.toml"), b"", 1 << 30);
    let predict = "predict run --tokens '0 45 48 1 4 4 40'";
    refuses(&folder, predict, &["config.toml", "16 MiB"]);
}

#[test]
fn results() {
    let folder = folder("hostile_results");
    let path = folder.join("r.jsonl");
    let list = vec!["0"; 1_000_000].join(",");
    let row = "{\"seed\":0,\"config_sha256\":\"a\"";
    let deep = "[".repeat(1_000_000);
    let [merge, report] = [
        "merge r.jsonl --out out.csv",
        "report r.jsonl --html out.html",
    ];
    for (command, rows, parts) in [
        (merge, format!("{deep}\n"), &["line 1"][..]),
        (
            report,
            whole(&format!("{row},\"epoch_loss\":[{list}]}}")) + "\n",
            &["line 1", "262144 columns"],
        ),
        (report, format!("{deep}\n"), &["line 1"]),
        (
            report,
            format!("{row},\"model.x\":{deep}1}}\n"),
            &["line 1"],
        ),
        (report, "\u{1b}[2J\n".to_owned(), &["line 1"]),
    ] {
        fs::write(&path, rows).unwrap();
        refuses(&folder, command, parts);
    }
    zeros(&path, b"", 1 << 30);
    for command in [merge, report, "sweep quick --seeds 0..1 --out r.jsonl"] {
        refuses(&folder, command, &["r.jsonl", "4 MiB"]);
    }
    // The refused file is left as it was.
    assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 30);
}
