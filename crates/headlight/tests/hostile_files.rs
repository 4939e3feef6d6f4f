//! Files made to do harm, through the commands: exit code 2, one sentence, nothing written, within limits of
//! memory and time.
#![cfg(all(feature = "burn", target_os = "linux"))]
#![allow(missing_docs, clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Finished, folder, headlight, mentions, quick_run, text};
use headlight_npz::NpzWriter;

/// Limit of a command's memory, in KiB of address space for its data: 256 MB.
const MEMORY_KIB: usize = 250_000;

/// Runs a command within the limit of memory, and kills it after 20 seconds.
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

/// Asserts that a command refuses its input in one sentence that names all parts, and does not write `out`.
fn refuses(arguments: &[&str], out: &Path, parts: &[&str]) {
    let finished = bounded(arguments);
    let stderr = &finished.stderr;
    let shown: String = stderr.chars().take(2000).collect();
    assert_eq!(finished.code, Some(2), "{arguments:?}: {shown}");
    assert!(stderr.starts_with("error: "), "{shown}");
    for part in parts {
        assert!(mentions(stderr, part), "`{part}` is not in: {shown}");
    }
    assert!(!stderr.contains("panicked"), "{shown}");
    assert!(stderr.len() < 10_000, "{shown}");
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!stderr.contains(steers), "{shown}");
    assert_eq!(finished.stdout, "");
    assert!(!out.exists(), "{arguments:?} wrote {}", out.display());
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
    let run = folder.join("run");
    let path = folder.join("c.toml");
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
        refuses(&["train", text(&path), "--run", text(&run)], &run, parts);
        if !bytes.is_empty() {
            refuses(&["walkthrough", text(&path)], &run, parts);
        }
    }
    // As much as the limit allows, in numbers of one digit.
    let numbers = "1,".repeat(520_000);
    let text_of = format!("title = \"t\"\ntokens = [\"a\"]\nx = [[{numbers}1]]");
    fs::write(&path, text_of).unwrap();
    refuses(&["walkthrough", text(&path)], &run, &["c.toml:3:", "4096"]);
    let train = ["train", text(&path), "--run", text(&run)];
    refuses(&train, &run, &["c.toml:1:", "`title`"]);
    zeros(&path, b"", 1 << 30);
    refuses(&train, &run, &["c.toml", "1 MiB"]);
    refuses(&["walkthrough", text(&path)], &run, &["c.toml", "1 MiB"]);
    let key = format!("{}=1", vec!["a"; 50_000].join("."));
    let set = ["train", "--set", &key, "--run", text(&run)];
    refuses(&set, &run, &["50000", "16"]);
}

#[test]
fn paths_that_are_not_files_are_refused_unread() {
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
    symlink(folder.join("loop"), folder.join("loop")).unwrap();
    let kinds = [
        fifo,
        PathBuf::from("/dev/zero"),
        folder.clone(),
        folder.join("loop"),
    ];
    let missing = folder.join("none.safetensors");
    for (number, target) in kinds.iter().enumerate() {
        // Through links, so that names have the expected file extensions.
        let named = |extension: &str| link(&format!("{number}.{extension}"), target);
        let (toml, npz) = (named("toml"), named("npz"));
        let out_text = text(&out);
        let place = [text(&toml)];
        let sweep = ["sweep", text(&toml), "--seeds", "0..1", "--out", out_text];
        refuses(&["train", text(&toml), "--run", out_text], &out, &place);
        refuses(&sweep, &out, &place);
        let walkthrough = ["walkthrough", text(&toml), "--json", out_text];
        refuses(&walkthrough, &out, &place);
        let inspect = ["inspect", text(&npz), "--svg", out_text];
        refuses(&inspect, &out, &[text(&npz)]);
        // Samples are read before weights.
        let jsonl = named("jsonl");
        for path in [&named("csv"), &jsonl, &npz, &named("txt")] {
            refuses(&dump_of(&missing, path), &out, &[text(path)]);
        }
        let weights = named("safetensors");
        refuses(&dump_of(&weights, &tokens), &out, &[text(&weights)]);
        let csv = folder.join("merged.csv");
        let merge = ["merge", text(&jsonl), "--out", text(&csv)];
        refuses(&merge, &csv, &[text(&jsonl)]);
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

/// The arguments that dump samples with weights.
fn dump_of<'a>(weights: &'a Path, tokens: &'a Path) -> [&'a str; 8] {
    let (weights, tokens) = (text(weights), text(tokens));
    let [command, config, out] = ["dump", "configs/quick.toml", "never.npz"];
    [
        command,
        config,
        "--weights",
        weights,
        "--tokens",
        tokens,
        "--out",
        out,
    ]
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
    // Each member is within the limit, all together exceed it.
    npz(
        &file("bombs.npz"),
        &[
            ("tokens", "<i8", "(1000000, 7)", 56_000_000),
            ("labels", "<f4", "(1000000,)", 4_000_000),
            ("held_out_tokens", "<i8", "(1000000, 7)", 56_000_000),
        ],
    );
    let cases: [(&str, &[&str]); 8] = [
        ("line.jsonl", &["line 1", "1 MiB"]),
        ("record.csv", &[]),
        ("large.npz", &["1 GiB"]),
        ("deep.jsonl", &["line 1"]),
        ("trillion.npz", &["`tokens.npy`"]),
        ("overflow.npz", &["`tokens.npy`"]),
        ("bomb.npz", &["`tokens.npy`", "64 MiB"]),
        ("bombs.npz", &["`held_out_tokens.npy`", "MiB"]),
    ];
    for (name, parts) in cases {
        let data = text(&file(name)).to_owned();
        let set = format!("data={{ file = \"{data}\", vocab_size = 51, seq_len = 6 }}");
        let train = ["train", "configs/quick.toml", "--set", &set];
        let train = [&train[..], &["--run", text(&run)]].concat();
        refuses(&train, &run, &[parts, &[name]].concat());
    }
}

/// Members are looked up by name: a name is never used as a path.
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
    refuses(&arguments, &run, &["slip.npz", "`tokens`"]);
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
    let check = |parts: &[&str]| {
        let dump = ["dump", "configs/quick.toml", "--weights", text(&path)];
        let rest = ["--tokens", text(&tokens), "--out", text(&out)];
        refuses(&[dump, rest].concat(), &out, parts);
    };
    for length in [1_u64 << 60, u64::MAX, 1 << 40] {
        fs::write(&path, [&length.to_le_bytes()[..], b"{}"].concat()).unwrap();
        check(&["w.safetensors"]);
    }
    zeros(&path, &(50_u64 << 20).to_le_bytes(), 60 << 20);
    check(&["w.safetensors", "52428800"]);
    zeros(&path, &2_u64.to_le_bytes(), 1 << 30);
    check(&["w.safetensors", "64 MiB"]);
    let header = r#"{"x":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    fs::write(&path, [&length[..], header.as_bytes()].concat()).unwrap();
    check(&["w.safetensors"]);
    zeros(&tokens, b"", 1 << 30);
    check(&["tokens.txt", "line 1", "1 MiB"]);
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
            refuses(&inspect, &html, &[name]);
        }
        if name == "metrics.jsonl" {
            refuses(&["compare", text(&run)], &html, &[name]);
        }
        fs::write(run.join(name), whole).unwrap();
    }
    // A last line that a kill cut short is not an error.
    let metrics = run.join("metrics.jsonl");
    let mut bytes = fs::read(&metrics).unwrap();
    bytes.extend(b"{\"epoch\":4,\"st");
    fs::write(&metrics, bytes).unwrap();
    assert_eq!(bounded(["compare", text(&run)]).code, Some(0));
    let config = run.join("config.toml");
    zeros(&config, b"", 1 << 30);
    let predict = ["predict", text(&run), "--tokens", "0 45 48 1 4 4 40"];
    refuses(&predict, &html, &["config.toml", "1 MiB"]);
}

#[test]
fn results() {
    let folder = folder("hostile_results");
    let (path, out) = (folder.join("r.jsonl"), folder.join("out.csv"));
    let list = vec!["0"; 1_000_000].join(",");
    let row = "{\"seed\":0,\"config_sha256\":\"a\"";
    let deep = "[".repeat(1_000_000);
    let cases = [
        (
            format!("{row},\"point\":18446744073709551615}}\n"),
            &["line 1", "`point`"][..],
        ),
        (format!("{row},\"x\":[{list}]}}\n"), &["1000002", "65536"]),
        (format!("{deep}\n"), &["line 1"]),
    ];
    let merge = ["merge", text(&path), "--out", text(&out)];
    for (rows, parts) in cases {
        fs::write(&path, rows).unwrap();
        refuses(&merge, &out, parts);
    }
    let page = folder.join("out.html");
    let report = ["report", text(&path), "--html", text(&page)];
    for (rows, parts) in [
        (
            format!("{row},\"epoch_loss\":[{list}]}}\n"),
            &["line 1", "`epoch_loss`", "1000000"][..],
        ),
        (format!("{deep}\n"), &["line 1"]),
        (format!("{row},\"model.x\":{deep}1}}\n"), &["line 1"]),
        ("\u{1b}[2J\n".to_owned(), &["line 1"]),
    ] {
        fs::write(&path, rows).unwrap();
        refuses(&report, &page, parts);
    }
    zeros(&path, b"", 1 << 30);
    let sweep = ["sweep", "configs/quick.toml", "--seeds", "0..1"];
    let sweep = [&sweep[..], &["--out", text(&path)]].concat();
    for command in [&merge[..], &report, &sweep] {
        refuses(command, &out, &["r.jsonl", "4 MiB"]);
    }
    // The refused file is left as it was.
    assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 30);
}
