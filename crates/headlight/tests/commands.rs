//! The commands around training.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use common::sweeps::{self, refused};
use common::{Finished, folder, headlight, quick_run, run, text};
use headlight_dump::AttentionDump;
use headlight_npz::NpzReader;

#[test]
fn data_writes_what_numpy_draws() {
    let out = folder("data").join("d.npz");
    let printed = run(&["data", "--out", text(&out)]).done().stdout;
    assert!(
        printed.contains("8000 training samples (168 positive), 2000 held out"),
        "{printed}"
    );
    let mut npz = NpzReader::new(Cursor::new(fs::read(&out).unwrap())).unwrap();
    let tokens = npz.integers("tokens").unwrap();
    assert_eq!(tokens.shape, [8000, 7]);
    // Both samples are printed in the notebook.
    assert_eq!(tokens.values[..7], [0, 45, 48, 1, 4, 4, 40]);
    assert_eq!(tokens.values[70..77], [0, 16, 5, 42, 43, 32, 2]);
    let labels = npz.floats("labels").unwrap().values;
    assert_eq!(labels.iter().filter(|&&label| label > 0.5).count(), 168);
}

#[test]
fn predict_says_what_and_why() {
    let path = folder("predict_says").join("run");
    quick_run(&path, &[]);
    let output = run(&["predict", text(&path), "--tokens", "0 16 5 42 43 32 2"])
        .done()
        .stdout;
    assert!(
        output.contains("rule: token 42 stands at position 3: positive"),
        "{output}"
    );
    assert!(output.contains("probability 0.99"), "{output}");
    assert!(output.contains("   3* 42"), "{output}");
    let weights: f64 = output
        .lines()
        .filter(|line| line.contains('█'))
        .filter_map(|line| line.split_whitespace().nth(2)?.parse::<f64>().ok())
        .sum();
    assert!((weights - 1.0).abs() < 4e-4, "{output}");
}

/// A run's weights, given back to `dump`, compute what the run recorded.
#[test]
fn dump_repeats_what_a_run_recorded() {
    let folder = folder("dump_repeats");
    let path = folder.join("run");
    quick_run(&path, &[]);
    let read = |path: &std::path::Path| {
        AttentionDump::read_npz(Cursor::new(fs::read(path).unwrap())).unwrap()
    };
    let recorded = read(&path.join("attention/step-000300.npz"));
    let lines: Vec<String> = (0..recorded.dims.samples)
        .map(|sample| {
            recorded
                .tokens(sample)
                .iter()
                .map(i64::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    fs::write(folder.join("tokens.txt"), lines.join("\n")).unwrap();
    let out = folder.join("again.npz");
    run(&[
        "dump",
        "configs/quick.toml",
        "--weights",
        text(&path.join("model.safetensors")),
        "--tokens",
        text(&folder.join("tokens.txt")),
        "--out",
        text(&out),
    ])
    .done();
    let again = read(&out);
    assert_eq!(again.attention_weights, recorded.attention_weights);
    assert_eq!(again.residual, recorded.residual);
    assert_eq!(again.labels, recorded.labels);
    assert_eq!(again.meta.samples, vec![None; recorded.dims.samples]);
}

/// A run's page has its loss and its evidence, a dump's only the dump; neither writes over a dump.
#[test]
fn inspect_writes_a_page_of_a_run_and_of_a_dump() {
    let path = folder("inspect-html").join("run");
    quick_run(&path, &[]);
    let html = path.join("page.html");
    run(&["inspect", text(&path), "--html", text(&html)]).done();
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("\"loss\":[{\"step\":0,"), "{}", &page[..400]);
    assert!(page.contains("SHA-256 of model.safetensors"));
    let dump = path.join("attention/step-000000.npz");
    let said = run(&["inspect", text(&dump), "--html", text(&html)]).done();
    assert!(said.stdout.contains("1 steps, "), "{}", said.stdout);
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("\"loss\":[]"));
    let before = fs::read(&dump).unwrap();
    let refused = run(&["inspect", text(&path), "--html", text(&dump)]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert_eq!(fs::read(&dump).unwrap(), before);
}

/// What a page says of its runs and seeds.
fn head(html: &Path) -> serde_json::Value {
    let page = fs::read_to_string(html).unwrap();
    let (_, rest) = page.split_once("id=\"facts\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn inspect_compares_runs_in_a_page() {
    let folder = folder("compare-page");
    let [first, second, html] = ["first", "second", "page.html"].map(|name| folder.join(name));
    quick_run(&first, &[]);
    quick_run(&second, &["--set", "seed=5"]);
    let page = |others: &[&Path]| {
        let others: Vec<&str> = others.iter().map(|path| text(path)).collect();
        run(&[
            &["inspect", text(&first), "--html", text(&html)],
            &others[..],
        ]
        .concat())
    };
    let said = page(&[&second]).done().stdout;
    assert!(said.contains("2 runs of 7, 7 steps"), "{said}");
    let head = head(&html);
    assert_eq!(head["runs"][1]["name"], "second");
    assert_eq!(head["runs"][1]["seed"], 5);
    assert_eq!(head["apart"], serde_json::Value::Null);
    for run in head["runs"].as_array().unwrap() {
        let evidence = run["evidence"].to_string();
        for name in ["model.safetensors", "config.toml"] {
            assert!(
                evidence.contains(&format!("SHA-256 of {name}")),
                "{evidence}"
            );
        }
    }

    let longer = folder.join("longer");
    quick_run(&longer, &["--set", "data.seq_len=9"]);
    let garbage = folder.join("garbage.npz");
    fs::write(&garbage, b"PK").unwrap();
    for (others, part) in [
        (
            &longer,
            "it has 1 block of 1 head over 10 positions, and first has 1 block of 1 head over 7 positions",
        ),
        (&first, "it is named twice"),
        (&folder.join("missing"), "missing: No such file"),
        (&folder, "it is no run directory"),
        (&garbage, "garbage.npz: "),
    ] {
        let before = fs::read(&html).unwrap();
        let failed = page(&[others]);
        refused(&failed, part);
        assert_eq!(failed.stderr.lines().count(), 1, "{}", failed.stderr);
        assert_eq!(fs::read(&html).unwrap(), before, "the page before is kept");
    }
    let without = run(&["inspect", text(&first), text(&second)]);
    refused(&without, "--html");
}

#[test]
fn inspect_shows_a_run_among_the_seeds_of_a_sweep() {
    let folder = folder("seeds-page");
    let [path, html, rows] = ["run", "page.html", "seeds.jsonl"].map(|name| folder.join(name));
    quick_run(&path, &["--set", "seed=1"]);
    let config = path.join("config.toml");
    let sweep = [
        "sweep",
        text(&config),
        "--seeds",
        "0..4",
        "--out",
        text(&rows),
    ];
    run(&sweep).done();
    let page = |source: &Path, rows: &Path| {
        run(&[
            "inspect",
            text(source),
            "--html",
            text(&html),
            "--sweep",
            text(rows),
        ])
    };
    page(&path, &rows).done();
    let seeds = head(&html)["seeds"].clone();
    let lines = sweeps::rows(&rows);
    assert_eq!(seeds["count"], 4);
    assert_eq!(seeds["own"][0]["positive"], lines[1]["attention_positive"]);
    let mean = lines
        .iter()
        .map(|row| row["attention_positive"][3].as_f64().unwrap());
    let mean = mean.sum::<f64>() / 4.0;
    assert!((seeds["positive"]["mean"][3].as_f64().unwrap() - mean).abs() < 1e-12);

    // A seed that is not in the sweep has the row of what it recorded.
    let apart = folder.join("apart");
    quick_run(&apart, &["--set", "seed=9"]);
    page(&apart, &rows).done();
    let own = head(&html)["seeds"]["own"][0].clone();
    assert!(
        own["over"]
            .as_str()
            .unwrap()
            .contains("recorded samples only")
    );
    let row = own["positive"].as_array().unwrap();
    let sum: f64 = row.iter().map(|weight| weight.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");

    let whole = fs::read_to_string(&rows).unwrap();
    let first = whole.lines().next().unwrap();
    let other = folder.join("other");
    quick_run(&other, &["--set", "training.learning_rate=0.02"]);
    let bad = folder.join("bad.jsonl");
    for (content, part) in [
        (
            "seed,attention\n".to_owned(),
            "line 1: it is no JSON object",
        ),
        (String::new(), "it holds no run that ended well"),
        (
            format!("{first}\n{first}\n"),
            "line 2: seed 0 stands there twice",
        ),
        (
            format!(
                "{}\n",
                first.replace("\"attention_positive\":[", "\"attention_positive\":[0.1,")
            ),
            "line 1: its `attention_positive` is no list of 7 numbers",
        ),
        (
            format!("{}\n", first.replace("attention_negative", "other")),
            "its `attention_negative` is no list of 7 numbers",
        ),
    ] {
        fs::write(&bad, content).unwrap();
        refused(&page(&path, &bad), part);
    }
    refused(&page(&other, &rows), "line 1: the row is of another config");
    refused(
        &page(&path, &folder.join("none.jsonl")),
        "none.jsonl: No such file",
    );
    refused(
        &page(&path.join("attention/step-000000.npz"), &rows),
        "is a dump",
    );
    let over = [
        "inspect",
        text(&path),
        "--html",
        text(&rows),
        "--sweep",
        text(&rows),
    ];
    refused(&run(&over), "is what is read");
    assert_eq!(fs::read_to_string(&rows).unwrap(), whole);
}

/// The page is handed to the desktop; where there is none, that is said and the work is done.
#[test]
#[cfg(target_os = "linux")]
fn open_hands_the_page_to_the_desktop() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("open");
    let [bin, told, path] = ["bin", "told", "run"].map(|name| folder.join(name));
    fs::create_dir(&bin).unwrap();
    let stub = bin.join("xdg-open");
    // Complete before it takes its name, since the test waits for the name.
    fs::write(
        &stub,
        format!(
            "#!/bin/sh\nprintf %s \"$1\" > '{0}.part'\n/bin/mv '{0}.part' '{0}'\n",
            text(&told)
        ),
    )
    .unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let with_path = |path: &Path, arguments: &[&str]| -> Finished {
        let mut command = headlight();
        command
            .args(arguments)
            .env("PATH", path)
            .env_remove("BROWSER");
        command.output().unwrap().into()
    };
    let opened = || {
        for _ in 0..500 {
            if told.exists() {
                let page = fs::read_to_string(&told).unwrap();
                fs::remove_file(&told).unwrap();
                return page;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("xdg-open was not called");
    };
    let train = [
        "train",
        "configs/quick.toml",
        "--open",
        "--run",
        text(&path),
    ];
    with_path(&bin, &train).done();
    let page = path.join("inspector.html");
    assert_eq!(opened(), text(&page));
    let html = folder.join("page.html");
    let inspect = ["inspect", text(&path), "--html", text(&html), "--open"];
    with_path(&bin, &inspect).done();
    assert_eq!(opened(), text(&html));

    let nowhere = folder.join("nowhere");
    let said = with_path(&nowhere, &inspect).done().stderr;
    assert!(
        said.contains("page.html cannot be opened here (") && said.contains("by hand"),
        "{said}"
    );
    let without = ["--run", text(&nowhere), "--set", "dump.formats=[\"csv\"]"];
    let said = with_path(&bin, &[&train[..3], &without].concat())
        .done()
        .stderr;
    assert!(said.contains("no inspector.html to open"), "{said}");
    refused(&run(&["inspect", text(&path), "--open"]), "--html");
}

/// What a run is made of is not written over, and the same run is not two.
#[cfg(unix)]
#[test]
fn inspect_spares_runs() {
    let folder = folder("inspect-spares");
    let path = folder.join("run");
    quick_run(&path, &[]);
    let weights = path.join("model.safetensors");
    let before = fs::read(&weights).unwrap();
    for flag in ["--html", "--svg", "--png"] {
        let finished = run(&["inspect", text(&path), flag, text(&weights)]);
        refused(&finished, "is a file of a run");
        assert_eq!(fs::read(&weights).unwrap(), before);
    }
    let link = folder.join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let html = folder.join("page.html");
    let finished = run(&["inspect", text(&path), text(&link), "--html", text(&html)]);
    refused(&finished, "it is named twice");
}

#[test]
fn inspect_draws_a_run_and_a_dump() {
    let path = folder("inspect").join("run");
    quick_run(&path, &[]);
    let last = run(&["inspect", text(&path)]).done().stdout;
    assert!(
        last.contains("attention weights · sample 0 · head 0") && last.contains("step 300"),
        "{last}"
    );
    assert!(
        last.contains("[CLS]") && last.contains("* decides the label"),
        "{last}"
    );
    assert!(!last.contains('\x1b'), "no colour without a terminal");
    let dump = path.join("attention/step-000300.npz");
    assert_eq!(run(&["inspect", text(&dump)]).done().stdout, last);
    let first = run(&["inspect", text(&path), "--step", "0", "--scores"])
        .done()
        .stdout;
    assert!(
        first.contains("attention scores") && first.contains("step 0"),
        "{first}"
    );
}

/// Each dump is drawn once, in order, and the command ends when the run has.
#[test]
fn inspect_follows_a_run_while_it_trains() {
    let path = folder("watch").join("run");
    // Long enough to be under way when the other starts to look.
    let long = ["--set", "training.epochs=12", "--engine", "burn"];
    let start = ["train", "configs/quick.toml", "--run", text(&path)];
    let mut training = headlight();
    training
        .args(start.iter().chain(&long))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut training = training.spawn().unwrap();
    while !path.join("attention/step-000000.npz").exists() {
        assert!(training.try_wait().unwrap().is_none(), "it trains");
        sleep(Duration::from_millis(5));
    }
    let followed = run(&["inspect", text(&path), "--watch"]).done().stdout;
    assert!(training.wait().unwrap().success());
    let steps: Vec<usize> = followed
        .lines()
        .filter_map(|line| line.split("step ").nth(1)?.parse().ok())
        .collect();
    let expected: Vec<usize> = (0..=1200).step_by(50).collect();
    assert_eq!(steps, expected);
}

#[test]
fn inspect_writes_pictures() {
    let folder = folder("pictures");
    let path = folder.join("run");
    quick_run(&path, &[]);
    let [svg, png] = ["a.svg", "a.png"].map(|name| folder.join(name));
    let both = ["--svg", text(&svg), "--png", text(&png)];
    let told = run(&[&["inspect", text(&path), "--sample", "0"][..], &both].concat()).done();
    assert!(told.stdout.contains("a.svg: attention weights · sample 0"));
    let drawn = run(&["inspect", text(&path), "--sample", "0"])
        .done()
        .stdout;
    let picture = fs::read_to_string(&svg).unwrap();
    // The numbers of the terminal's first row are in the picture.
    let row = drawn.lines().find(|line| line.contains("0 [CLS]")).unwrap();
    let numbers: Vec<&str> = row
        .split_whitespace()
        .filter(|part| part.contains('.'))
        .collect();
    assert_eq!(numbers.len(), 7);
    assert!(numbers.iter().all(|number| picture.contains(number)));
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));

    // What is read is not written over, and one file does not become two.
    let dump = path.join("attention/step-000000.npz");
    let before = fs::read(&dump).unwrap();
    let refused = run(&["inspect", text(&dump), "--svg", text(&dump)]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("is what is read"),
        "{}",
        refused.stderr
    );
    assert!(fs::read(&dump).unwrap() == before);
    let refused = run(&[
        "inspect",
        text(&dump),
        "--svg",
        text(&svg),
        "--png",
        text(&svg),
    ]);
    assert!(
        refused.stderr.contains("is named twice"),
        "{}",
        refused.stderr
    );
}

#[test]
fn compare_shows_where_runs_differ() {
    let folder = folder("compare");
    let (first, second) = (folder.join("a"), folder.join("b"));
    quick_run(&first, &[]);
    quick_run(&second, &["--set", "seed=5", "--set", "training.epochs=2"]);
    let table = run(&["compare", text(&first), text(&second)]).done().stdout;
    let row = |name: &str| -> Vec<&str> {
        let line = table
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")))
            .unwrap();
        line.split_whitespace().collect()
    };
    assert_eq!(row("seed"), ["seed", "0", "5"]);
    assert_eq!(row("training.epochs"), ["training.epochs", "3", "2"]);
    assert_eq!(row("step"), ["step", "300", "200"]);
    assert!(
        !table.contains("data.seq_len"),
        "what is equal is left out:\n{table}"
    );
}

#[test]
fn devices_lists_what_can_be_built() {
    let list = run(&["devices"]).done().stdout;
    assert!(
        list.contains("flex ") && list.contains("in this build"),
        "{list}"
    );
    assert!(list.contains("GPU adapters"), "{list}");
    if !cfg!(feature = "ndarray") {
        assert!(list.contains("build with --features ndarray"), "{list}");
    }
}

#[test]
fn help_of_each_command_has_an_example() {
    for command in [
        "train", "data", "predict", "dump", "inspect", "compare", "devices",
    ] {
        let help = run(&[command, "--help"]).done().stdout;
        assert!(
            help.contains(&format!("Example: headlight {command}")),
            "{help}"
        );
    }
}
