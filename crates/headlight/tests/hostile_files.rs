//! Files made to do harm, through the commands: exit code 2, one sentence, nothing written, within memory
//! and time.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Finished, folder, headlight, quick_run, text};
use headlight_npz::NpzWriter;

/// What a command may take, in KiB of address space for its data: 256 MB.
const MEMORY_KIB: usize = 250_000;

/// Runs a command that has so much memory, and is killed after 20 seconds.
fn bounded<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Finished {
    let binary = headlight();
    let script = format!("ulimit -d {MEMORY_KIB}; exec timeout -s KILL 20 \"$@\"");
    let output = Command::new("bash")
        .args(["-c", &script, "bounded"])
        .arg(binary.get_program())
        .args(arguments)
        .current_dir(binary.get_current_dir().unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    output.into()
}

/// Asserts that a command refuses its input in one sentence that holds `part`, and writes nothing.
fn refused(arguments: &[&str], out: &Path, part: &str) {
    let finished = bounded(arguments);
    let stderr = &finished.stderr;
    let shown: String = stderr.chars().take(2000).collect();
    assert_eq!(finished.code, Some(2), "{arguments:?}: {shown}");
    assert!(stderr.starts_with("error: "), "{shown}");
    assert!(stderr.contains(part), "`{part}` is not in: {shown}");
    assert!(!stderr.contains("panicked"), "{shown}");
    assert!(stderr.len() < 10_000, "{shown}");
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!stderr.contains(steers), "{shown}");
    assert_eq!(finished.stdout, "");
    assert!(!out.exists(), "{arguments:?} has written {}", out.display());
}

/// A sparse file: so many zeros after a beginning.
fn zeros(path: &Path, beginning: &[u8], length: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(beginning).unwrap();
    file.set_len(length).unwrap();
}

/// An npz archive of members as bytes of npy: a type, a shape, and zeros.
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
    let run = folder.join("run");
    let path = folder.join("c.toml");
    let deep = format!("x = {}", "[".repeat(100_000));
    let table = format!("[{}]\n", vec!["a"; 100_000].join("."));
    let name = format!("{} = 1\n", "a".repeat(900_000));
    let cases: [(&[u8], &str); 6] = [
        (deep.as_bytes(), "recurs"),
        (table.as_bytes(), "recurs"),
        (name.as_bytes(), "unknown key"),
        (b"a = \"\x1b]0;title\x07\"\n", "c.toml:1:"),
        (b"\xff\xfe", "not UTF-8"),
        (b"", "missing field"),
    ];
    for (bytes, part) in cases {
        fs::write(&path, bytes).unwrap();
        refused(&["train", text(&path), "--run", text(&run)], &run, part);
        if !bytes.is_empty() {
            refused(&["walkthrough", text(&path)], &run, part);
        }
    }
    // As much as the limit allows, in numbers of one digit.
    let numbers = "1,".repeat(520_000);
    let text_of = format!("title = \"t\"\ntokens = [\"a\"]\nx = [[{numbers}1]]");
    fs::write(&path, text_of).unwrap();
    refused(&["walkthrough", text(&path)], &run, "at most 4096");
    refused(
        &["train", text(&path), "--run", text(&run)],
        &run,
        "unknown key",
    );
    zeros(&path, b"", 1 << 30);
    let part = "larger than 1 MiB, the most that is read";
    refused(&["train", text(&path), "--run", text(&run)], &run, part);
    refused(&["walkthrough", text(&path)], &run, part);
    let key = format!("{}=1", vec!["a"; 50_000].join("."));
    let part = "a key of 50000 names";
    refused(&["train", "--set", &key, "--run", text(&run)], &run, part);
}

#[test]
fn what_is_no_file_neither_hangs_nor_is_read() {
    let folder = folder("hostile_kinds");
    let out = folder.join("out");
    let tokens = folder.join("tokens.txt");
    fs::write(&tokens, "0 45 48 1 4 4 40\n").unwrap();
    let link = |name: &str, to: &Path| {
        let path = folder.join(name);
        symlink(to, &path).unwrap();
        path
    };
    let fifo = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let kinds: [(PathBuf, &str); 4] = [
        (fifo, "it is a pipe or a device"),
        (PathBuf::from("/dev/zero"), "it is a pipe or a device"),
        (folder.clone(), "it is a folder"),
        (folder.join("loop"), "symbolic link"),
    ];
    symlink(folder.join("loop"), folder.join("loop")).unwrap();
    for (number, (target, part)) in kinds.iter().enumerate() {
        // By links, so that names end as they should.
        let named = |ending: &str| link(&format!("{number}.{ending}"), target);
        let toml = named("toml");
        let out_text = text(&out);
        refused(&["train", text(&toml), "--run", out_text], &out, part);
        refused(
            &["sweep", text(&toml), "--seeds", "0..1", "--out", out_text],
            &out,
            part,
        );
        refused(
            &["walkthrough", text(&toml), "--json", out_text],
            &out,
            part,
        );
        let mut paths = vec![named("csv"), named("jsonl"), named("npz"), named("txt")];
        for path in &paths {
            let weights = named_weights(&folder);
            let set = ["dump", "configs/quick.toml", "--weights", text(&weights)];
            let rest = ["--tokens", text(path), "--out", "never.npz"];
            refused(&[set, rest].concat(), &out, part);
        }
        let npz = paths.remove(2);
        // A folder is taken for a run.
        let part_of_run = if *part == "it is a folder" {
            "no run directory"
        } else {
            *part
        };
        refused(
            &["inspect", text(&npz), "--svg", out_text],
            &out,
            part_of_run,
        );
        let weights = named("safetensors");
        let set = ["dump", "configs/quick.toml", "--weights", text(&weights)];
        let rest = ["--tokens", text(&tokens), "--out", "never.npz"];
        refused(&[set, rest].concat(), &out, part);
        let csv = folder.join("merged.csv");
        refused(&["merge", text(&paths[1]), "--out", text(&csv)], &csv, part);
    }
    // A link to a file is a file.
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/quick.toml");
    let config = link("good.toml", &config.canonicalize().unwrap());
    let data = folder.join("data.csv");
    assert_eq!(
        bounded(["data", text(&config), "--out", text(&data)]).code,
        Some(0)
    );
}

/// A place where there are no weights; samples are read first.
fn named_weights(folder: &Path) -> PathBuf {
    folder.join("none.safetensors")
}

#[test]
fn datasets() {
    let folder = folder("hostile_datasets");
    let run = folder.join("run");
    let file = |name: &str| folder.join(name);
    zeros(&file("line.jsonl"), b"", 1 << 30);
    zeros(&file("record.csv"), b"split,label,token_0\n\"", 1 << 30);
    zeros(&file("large.npz"), b"PK", (1 << 30) + 1);
    fs::write(file("deep.jsonl"), "[".repeat(500_000)).unwrap();
    npz(
        &file("trillion.npz"),
        &[
            ("tokens", "<i8", "(1000000000000, 7)", 56),
            ("labels", "<f4", "(1000000000000,)", 4),
        ],
    );
    npz(
        &file("overflow.npz"),
        &[("tokens", "<i8", "(4294967296, 4294967296)", 56)],
    );
    npz(
        &file("bomb.npz"),
        &[("tokens", "|b1", "(143000000, 7)", 1_001_000_000)],
    );
    // Each within the limit, all together beyond it.
    npz(
        &file("bombs.npz"),
        &[
            ("tokens", "<i8", "(1000000, 7)", 56_000_000),
            ("labels", "<f4", "(1000000,)", 4_000_000),
            ("held_out_tokens", "<i8", "(1000000, 7)", 56_000_000),
        ],
    );
    let cases = [
        ("line.jsonl", "line 1: the line is longer than 1 MiB"),
        ("record.csv", "a record is too long"),
        ("large.npz", "larger than 1 GiB"),
        ("deep.jsonl", "line 1: "),
        (
            "trillion.npz",
            "`tokens.npy` cannot be read: it is shorter than its header says",
        ),
        (
            "overflow.npz",
            "`tokens.npy` cannot be read: it is shorter than its header says",
        ),
        (
            "bomb.npz",
            "`tokens.npy` cannot be read: it inflates to more than the 64 MiB",
        ),
        (
            "bombs.npz",
            "`tokens`, sample 0: a sample starts with [CLS]",
        ),
    ];
    for (name, part) in cases {
        let set = format!(
            "data={{ file = \"{}\", vocab_size = 51, seq_len = 6 }}",
            text(&file(name))
        );
        refused(
            &[
                "train",
                "configs/quick.toml",
                "--set",
                &set,
                "--run",
                text(&run),
            ],
            &run,
            part,
        );
    }
}

/// Members are looked up by name: what they are called is no path.
#[test]
fn archives_put_nothing_elsewhere() {
    let folder = folder("hostile_paths");
    let inner = folder.join("a/b");
    fs::create_dir_all(&inner).unwrap();
    let path = inner.join("slip.npz");
    let absolute = format!("{}/absolute", text(&folder));
    let mut members = vec![
        ("../../slip", "|b1", "(1,)", 1),
        (&absolute, "|b1", "(1,)", 1),
    ];
    members.push(("tokens", "|b1", "(1,)", 1));
    npz(&path, &members);
    let set = format!(
        "data={{ file = \"{}\", vocab_size = 51, seq_len = 6 }}",
        text(&path)
    );
    let run = folder.join("run");
    let arguments = [
        "train",
        "configs/quick.toml",
        "--set",
        &set,
        "--run",
        text(&run),
    ];
    refused(&arguments, &run, "has no member `labels.npy`");
    let entries = |path: &Path| fs::read_dir(path).unwrap().count();
    assert_eq!((entries(&folder), entries(&inner)), (1, 1));
}

#[test]
fn weights() {
    let folder = folder("hostile_weights");
    let path = folder.join("w.safetensors");
    let tokens = folder.join("tokens.txt");
    fs::write(&tokens, "0 45 48 1 4 4 40\n").unwrap();
    let out = folder.join("d.npz");
    let check = |part: &str| {
        let set = ["dump", "configs/quick.toml", "--weights", text(&path)];
        let rest = ["--tokens", text(&tokens), "--out", text(&out)];
        refused(&[set, rest].concat(), &out, part);
    };
    for length in [1_u64 << 60, u64::MAX, 1 << 40] {
        fs::write(&path, [&length.to_le_bytes()[..], b"{}"].concat()).unwrap();
        check("it was cut short");
    }
    zeros(&path, &(50_u64 << 20).to_le_bytes(), 60 << 20);
    check("its header is of 52428800 bytes");
    zeros(&path, &2_u64.to_le_bytes(), 1 << 30);
    check("larger than 64 MiB");
    let header = r#"{"x":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    fs::write(&path, [&length[..], header.as_bytes()].concat()).unwrap();
    check("it was cut short");
    zeros(&tokens, b"", 1 << 30);
    check("line 1: the line is longer than 1 MiB");
}

#[test]
fn runs() {
    let folder = folder("hostile_runs");
    let run = folder.join("run");
    quick_run(&run, &[]);
    let html = folder.join("page.html");
    let deep = "[".repeat(899_999) + "\n";
    for (name, length) in [
        ("metrics.jsonl", 1_u64 << 30),
        ("environment.json", 1 << 30),
    ] {
        let whole = fs::read(run.join(name)).unwrap();
        for (bytes, length) in [(&b""[..], length), (deep.as_bytes(), 900_000)] {
            zeros(&run.join(name), bytes, length);
            let inspect = ["inspect", text(&run), "--html", text(&html)];
            refused(&inspect, &html, name);
        }
        if name == "metrics.jsonl" {
            refused(&["compare", text(&run)], &html, name);
        }
        fs::write(run.join(name), whole).unwrap();
    }
    // A line that was cut short by a kill is no damage.
    let metrics = run.join("metrics.jsonl");
    let mut bytes = fs::read(&metrics).unwrap();
    bytes.extend(b"{\"epoch\":4,\"st");
    fs::write(&metrics, bytes).unwrap();
    assert_eq!(bounded(["compare", text(&run)]).code, Some(0));
    let config = run.join("config.toml");
    zeros(&config, b"", 1 << 30);
    let predict = ["predict", text(&run), "--tokens", "0 45 48 1 4 4 40"];
    refused(&predict, &html, "larger than 1 MiB");
}

#[test]
fn results() {
    let folder = folder("hostile_results");
    let (path, out) = (folder.join("r.jsonl"), folder.join("out.csv"));
    let list = vec!["0"; 1_000_000].join(",");
    let cases = [
        (
            "{\"seed\":0,\"point\":18446744073709551615,\"config_sha256\":\"a\"}\n".to_owned(),
            "`point`",
        ),
        (
            format!("{{\"seed\":0,\"config_sha256\":\"a\",\"x\":[{list}]}}\n"),
            "1000002 columns",
        ),
        (format!("{}\n", "[".repeat(1_000_000)), "line 1: "),
    ];
    for (rows, part) in cases {
        fs::write(&path, rows).unwrap();
        refused(&["merge", text(&path), "--out", text(&out)], &out, part);
    }
    let report = ["report", text(&path), "--html", text(&out)];
    for (rows, part) in [
        (
            format!("{{\"seed\":0,\"config_sha256\":\"a\",\"epoch_loss\":[{list}]}}\n"),
            "`epoch_loss` has 1000000 values",
        ),
        (format!("{}\n", "[".repeat(1_000_000)), "line 1: "),
        (
            format!(
                "{{\"seed\":0,\"config_sha256\":\"a\",\"model.x\":{}1",
                "[".repeat(1_000_000)
            ) + "}\n",
            "line 1: ",
        ),
        ("\u{1b}[2J\n".to_owned(), "line 1: "),
    ] {
        fs::write(&path, rows).unwrap();
        refused(&report, &out, part);
    }
    zeros(&path, b"", 1 << 30);
    refused(
        &["merge", text(&path), "--out", text(&out)],
        &out,
        "longer than 4 MiB",
    );
    refused(&report, &out, "longer than 4 MiB");
    let sweep = [
        "sweep",
        "configs/quick.toml",
        "--seeds",
        "0..1",
        "--out",
        text(&path),
    ];
    refused(&sweep, &out, "longer than 4 MiB");
    // What is refused is left as it was.
    assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 30);
}
