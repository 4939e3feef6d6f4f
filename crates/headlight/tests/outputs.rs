//! The files that commands write: what they replace, and what they never do.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::{SHORT, fed, folder, refused, refuses_in, run_in, text};

/// No command replaces a file, unless it is told to; and never what it reads.
#[test]
fn outputs_replace_nothing() {
    let folder = folder("outputs");
    run_in(
        &folder,
        &[&["train", "quick", "--run", "run"][..], &SHORT].concat(),
    )
    .done();
    let sweep = ["sweep", "quick", "--seeds", "0..2", "--out", "seeds.jsonl"];
    run_in(&folder, &[&sweep[..], &SHORT].concat()).done();
    fs::write(folder.join("tokens.txt"), "0 1 2 3 4 5 6\n").unwrap();
    run_in(&folder, &["init", "quick"]).done();
    let weights = [
        "--weights",
        "run/model.safetensors",
        "--tokens",
        "tokens.txt",
    ];
    let dump = [&["dump", "quick"][..], &weights].concat();
    let step = fs::read_dir(folder.join("run/attention")).unwrap();
    let step = step.map(|entry| entry.unwrap().path()).max().unwrap();

    let cases: [(&[&str], &str, &str, &str); 9] = [
        (&["data", "quick.toml"], "--out", "new.csv", "quick.toml"),
        (&dump, "--out", "new.npz", "tokens.txt"),
        (&["inspect", "run"], "--svg", "new.svg", text(&step)),
        (&["inspect", "run"], "--html", "new.html", text(&step)),
        (&["lab", "quick.toml"], "--html", "lab.html", "quick.toml"),
        (
            &["merge", "seeds.jsonl"],
            "--out",
            "merged.jsonl",
            "seeds.jsonl",
        ),
        (
            &["merge", "seeds.jsonl"],
            "--out",
            "merged.csv",
            "seeds.jsonl",
        ),
        (
            &["report", "seeds.jsonl"],
            "--svg",
            "report.svg",
            "seeds.jsonl",
        ),
        (
            &["report", "seeds.jsonl"],
            "--html",
            "report.html",
            "seeds.jsonl",
        ),
    ];
    for (command, flag, new, input) in cases {
        let to = |out| [command, &[flag, out]].concat();
        run_in(&folder, &to(new)).done();
        refuses_in(&folder, &to(new), &[new, "--force"]);
        run_in(&folder, &[&to(new)[..], &["--force"]].concat()).done();
        // A name that the format allows, so that the reason is the input.
        refuses_in(
            &folder,
            &[&to(input)[..], &["--force"]].concat(),
            &[Path::new(input).file_name().unwrap().to_str().unwrap()],
        );
    }
    // A sweep replaces its own picture, and no other.
    fs::write(folder.join("other.svg"), "a picture").unwrap();
    let other = ["sweep", "quick", "--seeds", "0..2", "--out", "other.jsonl"];
    let other = [&other[..], &SHORT].concat();
    refuses_in(&folder, &other, &["other.svg", "--force"]);
    run_in(&folder, &[&other[..], &["--force"]].concat()).done();
    run_in(&folder, &other).done();
    for other in ["x", "./x", "run/../x"] {
        let twice = ["report", "seeds.jsonl", "--svg", "x", "--html", other];
        refuses_in(&folder, &twice, &[other]);
    }
    fs::create_dir(folder.join("folder.csv")).unwrap();
    let to_folder = ["data", "quick", "--force", "--out", "folder.csv"];
    refuses_in(&folder, &to_folder, &["folder.csv"]);
}

/// No file of a run is an output, with `--force` either; other files beside a config are.
#[test]
fn runs_are_spared() {
    let folder = folder("outputs_runs");
    let train = ["train", "quick", "--run", "run"];
    run_in(&folder, &[&train[..], &SHORT].concat()).done();
    let dump = fs::read_dir(folder.join("run/attention")).unwrap().next();
    let dump = dump.unwrap().unwrap().path();
    let dump = text(dump.strip_prefix(&folder).unwrap());
    for out in [dump, "run/attention/new.npz", "run/checkpoint/new.npz"] {
        let data = ["data", "quick", "--force", "--out", out];
        refuses_in(&folder, &data, &["run"]);
    }
    let page = ["evaluate", "run", "--force", "--html", "run/inspector.html"];
    refuses_in(&folder, &page, &["run/inspector.html"]);
    // A damaged run is spared, too.
    for damaged in ["config.toml", "environment.json"] {
        fs::remove_file(folder.join("run").join(damaged)).unwrap();
        let data = ["data", "quick", "--force", "--out", "run/attention/new.npz"];
        refuses_in(&folder, &data, &["run"]);
    }
    fs::write(folder.join("config.toml"), "").unwrap();
    fs::write(folder.join("mine.csv"), "").unwrap();
    let data = ["data", "quick", "--force", "--out"];
    for out in ["mine.csv", "run/samples.npz"] {
        run_in(&folder, &[&data[..], &[out]].concat()).done();
    }
}

/// A dump of a run that is a link to a file elsewhere is a file of the run as well.
#[test]
#[cfg(unix)]
fn a_linked_dump_is_spared() {
    let folder = folder("outputs_linked_dump");
    let train = ["train", "quick", "--run", "run"];
    run_in(&folder, &[&train[..], &SHORT].concat()).done();
    let dump = folder.join("run/attention/step-000000.npz");
    let elsewhere = folder.join("elsewhere.npz");
    fs::rename(&dump, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &dump).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    let inspect = ["inspect", "run", "--force", "--svg"];
    let inspect = [&inspect[..], &["run/attention/step-000000.npz"]].concat();
    refuses_in(&folder, &inspect, &["step-000000.npz"]);
    assert!(dump.is_symlink());
    assert!(fs::read(&elsewhere).unwrap() == before);
}

/// Links are followed, permissions kept, pipes and devices written to.
#[test]
#[cfg(unix)]
fn outputs_keep_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::process::Command;

    let folder = folder("outputs_kinds");
    let data = |out: &str, more: &[&str]| {
        run_in(
            &folder,
            &[&["data", "quick", "--out", out][..], more].concat(),
        )
    };
    data("plain.csv", &[]).done();
    let written = fs::read(folder.join("plain.csv")).unwrap();

    fs::write(folder.join("target.csv"), "before").unwrap();
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(folder.join("target.csv"), private).unwrap();
    symlink("target.csv", folder.join("link.csv")).unwrap();
    symlink("absent.csv", folder.join("dangling.csv")).unwrap();
    refused(&data("link.csv", &[]), &["link.csv", "--force"]);
    data("link.csv", &["--force"]).done();
    data("dangling.csv", &[]).done();
    for (link, target) in [("link.csv", "target.csv"), ("dangling.csv", "absent.csv")] {
        assert!(folder.join(link).is_symlink());
        assert!(
            fs::read(folder.join(target)).unwrap() == written,
            "{target}"
        );
    }
    let mode = fs::metadata(folder.join("target.csv"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);

    let pipe = folder.join("pipe.csv");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::read(pipe).unwrap())
    };
    data("pipe.csv", &[]).done();
    assert!(reader.join().unwrap() == written);
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    // A device stays one: here a link to it.
    symlink("/dev/null", folder.join("null.csv")).unwrap();
    data("null.csv", &[]).done();
    let null = fs::metadata(folder.join("null.csv")).unwrap();
    assert!(null.file_type().is_char_device());
}

/// What goes to standard output is the file alone.
#[test]
fn standard_output_is_one_file() {
    let folder = folder("outputs_standard");
    let train = ["train", "quick", "--run", "run"];
    run_in(&folder, &[&train[..], &SHORT].concat()).done();
    let sweep = ["sweep", "quick", "--seeds", "0..3", "--out", "seeds.jsonl"];
    run_in(&folder, &[&sweep[..], &SHORT].concat()).done();
    let cases: [(&[&str], &str, &str); 7] = [
        (&["lab"], "--html", "</html>"),
        (&["evaluate", "run"], "--svg", "</svg>"),
        (&["evaluate", "run"], "--html", "</html>"),
        (&["report", "seeds.jsonl"], "--svg", "</svg>"),
        (&["report", "seeds.jsonl"], "--html", "</html>"),
        (&["inspect", "run"], "--svg", "</svg>"),
        (&["inspect", "run"], "--html", "</html>"),
    ];
    for (command, flag, end) in cases {
        let piped = run_in(&folder, &[command, &[flag, "-"]].concat()).done();
        assert!(piped.stdout.trim_end().ends_with(end), "{command:?} {flag}");
        assert!(!piped.stderr.is_empty());
        assert!(!piped.stderr.contains("standard input"), "{command:?}");
        if command[0] != "inspect" {
            let both = [command, &[flag, "-", "--json"]].concat();
            refuses_in(&folder, &both, &["--json"]);
        }
    }
    let predict = ["predict", "run", "-", "--json", "--out", "-"];
    refused(&fed(&folder, &predict, "0 1 2 3 4 5 6\n"), &["--json"]);
    let rows = fs::read_to_string(folder.join("seeds.jsonl")).unwrap();
    let merged = fed(&folder, &["merge", "-", "--out", "-"], &rows).done();
    assert_eq!(merged.stdout, rows);
}

/// Any text may be the name of a class or of a run; XML allows few control characters, and neither U+FFFE nor U+FFFF.
#[test]
fn pictures_are_xml_whatever_they_name() {
    let folder = folder("outputs_xml");
    let samples = "label,token_0\na\u{ffff}<&,3\n\u{fffe}b,4\na\u{ffff}<&,5\n\u{fffe}b,6\n";
    fs::write(folder.join("mine.csv"), samples).unwrap();
    let config =
        "data = { file = \"mine.csv\" }\nmodel = { d_model = 4 }\ntraining = { epochs = 2 }\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let run = "r\u{1}\u{ffff}";
    run_in(&folder, &["train", "mine.toml", "--run", run]).done();
    for arguments in [
        &["evaluate", run, "--svg", "-"][..],
        &["evaluate", run, "--html", "-"],
        &["inspect", run, "--svg", "-"],
    ] {
        let printed = run_in(&folder, arguments).done().stdout;
        let forbidden = |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
        assert!(!printed.contains(forbidden), "{arguments:?}");
    }
}
