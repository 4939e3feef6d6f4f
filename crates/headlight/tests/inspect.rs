//! `headlight inspect`: pages, heatmaps and pictures of runs and dumps.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{
    Finished, folder, headlight, mentions, quick_run, read_dump, refused, refuses, run, text,
};
use sha2::{Digest, Sha256};

/// A run's page has its loss and its evidence, a dump's only the dump; neither writes over a dump.
#[test]
fn inspect_writes_a_page_of_a_run_and_of_a_dump() {
    let [path, html] = ["run", "page.html"].map(|name| folder("inspect-html").join(name));
    quick_run(&path, &[]);
    let weights = fs::read(path.join("model.safetensors")).unwrap();
    run(&["inspect", text(&path), "--html", text(&html)]).done();
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("\"loss\":[{\"step\":0,"), "{}", &page[..400]);
    let sha256 = format!("{:x}", Sha256::digest(weights));
    assert!(page.contains(&sha256), "the page quotes the weights' hash");
    let dump = path.join("attention/step-000000.npz");
    let told = run(&["inspect", text(&dump), "--html", text(&html), "--force"]).done();
    assert!(mentions(&told.stdout, "1"), "{}", told.stdout);
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("\"loss\":[]"));
    let over_the_dump = ["inspect", text(&path), "--html", text(&dump)];
    refuses(&path, &over_the_dump, &[text(&dump)]);
}

/// The facts in a page about its runs.
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
            &["inspect", text(&first), "--html", text(&html), "--force"],
            &others[..],
        ]
        .concat())
    };
    let told = page(&[&second]).done().stdout;
    assert!(mentions(&told, "2") && mentions(&told, "7"), "{told}");
    let head = head(&html);
    assert_eq!(head["runs"][1]["name"], "second");
    assert_eq!(head["runs"][1]["seed"], 5);
    for run in head["runs"].as_array().unwrap() {
        let evidence = run["evidence"].to_string();
        for name in ["model.safetensors", "config.toml"] {
            assert!(mentions(&evidence, name), "{evidence}");
        }
    }

    let longer = folder.join("longer");
    quick_run(&longer, &["--set", "data.seq_len=9"]);
    let garbage = folder.join("garbage.npz");
    fs::write(&garbage, b"PK").unwrap();
    let missing = folder.join("missing");
    for (other, parts) in [
        (&longer, &["longer", "first", "10", "7"][..]),
        (&first, &["first"]),
        (&missing, &["missing"]),
        (&folder, &[text(&folder)]),
        (&garbage, &["garbage.npz"]),
    ] {
        let before = fs::read(&html).unwrap();
        let finished = page(&[other]);
        refused(&finished, parts);
        assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
        assert_eq!(fs::read(&html).unwrap(), before, "the page before is kept");
    }
    let without = run(&["inspect", text(&first), text(&second)]);
    refused(&without, &["--html"]);
}

/// `--open` hands the page to the desktop; without a desktop the command says so and succeeds.
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
    let told = with_path(&nowhere, &[&inspect[..], &["--force"]].concat())
        .done()
        .stderr;
    assert!(mentions(&told, "page.html"), "{told}");
    let without = ["--run", text(&nowhere), "--set", "dump.formats=[\"csv\"]"];
    let told = with_path(&bin, &[&train[..3], &without].concat())
        .done()
        .stderr;
    assert!(mentions(&told, "dump.formats"), "{told}");
    with_path(&bin, &["inspect", text(&path), "--open"]).done();
    assert_eq!(opened(), text(&page));
    refused(&run(&["inspect", text(&nowhere), "--open"]), &["--html"]);
}

/// `inspect` does not write over the files of a run, nor show one run twice.
#[cfg(unix)]
#[test]
fn inspect_does_not_write_over_a_run() {
    let folder = folder("inspect-spares");
    let path = folder.join("run");
    quick_run(&path, &[]);
    let weights = path.join("model.safetensors");
    for flag in ["--html", "--svg"] {
        let inspect = ["inspect", text(&path), flag, text(&weights), "--force"];
        refuses(&folder, &inspect, &[text(&weights)]);
    }
    let link = folder.join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let html = folder.join("page.html");
    let inspect = ["inspect", text(&path), text(&link), "--html", text(&html)];
    refuses(&folder, &inspect, &[text(&link)]);
}

#[test]
fn inspect_draws_a_run_and_a_dump() {
    let path = folder("inspect").join("run");
    quick_run(&path, &[]);
    let last = run(&["inspect", text(&path)]).done().stdout;
    for part in ["weights", "sample 0", "head 0", "step 300", "[CLS]"] {
        assert!(mentions(&last, part), "{part}: {last}");
    }
    assert!(!last.contains('\x1b'), "no colour without a terminal");
    let dump = path.join("attention/step-000300.npz");
    assert_eq!(run(&["inspect", text(&dump)]).done().stdout, last);
    let first = run(&["inspect", text(&path), "--step", "0", "--scores"])
        .done()
        .stdout;
    for part in ["scores", "step 0"] {
        assert!(mentions(&first, part), "{part}: {first}");
    }
}

/// A long sample in a pipe: no wider than 80 columns, with the largest weights of `[CLS]` that the dump holds.
#[test]
fn inspect_shows_the_largest_weights_of_a_long_sample() {
    let path = folder("inspect-long").join("run");
    quick_run(
        &path,
        &["--set", "data.seq_len=49", "--set", "model.n_heads=2"],
    );
    let dump = read_dump(path.join("attention/step-000300.npz"));
    let mut keys: Vec<(usize, f32)> = dump.weights(0, 0, 1)[..50]
        .iter()
        .copied()
        .enumerate()
        .collect();
    keys.sort_by(|a, b| b.1.total_cmp(&a.1));

    let inspect = |more: &[&str]| {
        let told = run(&[&["inspect", text(&path)], more].concat())
            .done()
            .stdout;
        assert!(
            told.lines().all(|line| line.chars().count() <= 80),
            "{told}"
        );
        assert!(told.len() <= 20_000, "{}", told.len());
        told
    };
    let told = inspect(&["--head", "1"]);
    let bars = told.lines().filter(|line| line.contains('█'));
    let shown: Vec<(String, String)> = bars
        .map(|line| {
            let parts: Vec<&str> = line.split_whitespace().collect();
            (
                parts[0].trim_end_matches('*').to_owned(),
                parts[2].to_owned(),
            )
        })
        .collect();
    let largest = keys.iter().take(12);
    let largest: Vec<(String, String)> = largest
        .map(|(key, weight)| (key.to_string(), format!("{weight:.4}")))
        .collect();
    assert_eq!(shown, largest, "{told}");
    for part in ["38 others", "--svg", "--html", "--query"] {
        assert!(mentions(&told, part), "{part}: {told}");
    }
    let heads = inspect(&["--head", "all"]);
    let first = format!("{}:", keys[0].0);
    let line = heads
        .lines()
        .find(|line| line.starts_with("head 1"))
        .unwrap();
    assert!(line.replace("*:", ":").contains(&first), "{heads}");
    let query = inspect(&["--query", "49"]);
    assert!(mentions(&query, "query 49"), "{query}");
}

/// All heads in one picture, and the colour ranges, each of which draws another picture.
#[test]
fn inspect_draws_all_heads_and_colour_ranges() {
    let folder = folder("inspect-heads");
    let path = folder.join("run");
    quick_run(
        &path,
        &["--set", "model.n_heads=2", "--set", "model.n_layers=2"],
    );
    let out = folder.join("heads.svg");
    let draw = |more: &[&str]| {
        let svg = ["inspect", text(&path), "--svg", text(&out), "--force"];
        run(&[&svg[..], more].concat()).done();
        fs::read_to_string(&out).unwrap()
    };
    let all = draw(&["--head", "all", "--layer", "all"]);
    for title in ["2 layers", "2 heads", ">layer 1<", ">head 1<"] {
        assert!(all.contains(title), "{title}");
    }
    assert_eq!(all.matches("</title></rect>").count(), 4 * 49);
    assert_eq!(draw(&[]).matches("</title></rect>").count(), 49);
    let [unit, uniform, data] = ["unit", "uniform", "data"].map(|range| draw(&["--range", range]));
    assert!(unit != uniform && uniform != data && unit != data);
    assert_eq!(uniform, draw(&[]), "the default");
    assert!(mentions(&uniform, "1/7"));
    assert_eq!(draw(&["--scores"]), draw(&["--scores", "--range", "data"]));
    for wrong in [
        &["--scores", "--range", "unit"][..],
        &["--range", "log"],
        &["--head", "first"],
        &["--query", "1", "--svg", "query.svg"],
    ] {
        refuses(
            &folder,
            &[&["inspect", text(&path)], wrong].concat(),
            &[wrong[0]],
        );
    }
}

/// `--watch` draws each dump once, in order, and ends when the run has ended.
#[test]
fn inspect_follows_a_run_while_it_trains() {
    let path = folder("watch").join("run");
    // Long enough to be still training when `inspect` starts.
    let long = ["--set", "training.epochs=12", "--engine", "burn"];
    let start = ["train", "configs/quick.toml", "--run", text(&path)];
    let mut training = headlight();
    training
        .args(start.iter().chain(&long))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut training = training.spawn().unwrap();
    while !path.join("attention/step-000000.npz").exists() {
        assert!(training.try_wait().unwrap().is_none(), "still training");
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
    let svg = folder.join("a.svg");
    let picture = ["--sample", "0", "--svg", text(&svg)];
    let told = run(&[&["inspect", text(&path)][..], &picture].concat()).done();
    for part in ["a.svg", "sample 0"] {
        assert!(mentions(&told.stdout, part), "{}", told.stdout);
    }
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

    // An input file is not written over.
    let dump = path.join("attention/step-000000.npz");
    let onto_itself = ["inspect", text(&dump), "--svg", text(&dump)];
    refuses(&folder, &onto_itself, &[text(&dump)]);
    // Nor does a picture get the name of another format.
    for [flag, name] in [["--svg", "b.PNG"], ["--html", "b.csv"]] {
        let name = folder.join(name);
        refuses(
            &folder,
            &["inspect", text(&path), flag, text(&name)],
            &[flag],
        );
    }
    refuses(
        &folder,
        &["inspect", text(&path), "--sample", "9999"],
        &["9999", "choose"],
    );
}
