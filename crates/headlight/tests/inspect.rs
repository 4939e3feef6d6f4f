//! `headlight inspect`: pages, heatmaps and pictures of runs and dumps.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{
    Finished, QUICK, folder, headlight, mentions, printed, read_dump, refuses_each, refuses_typed,
    text, typed, weights,
};
use sha2::{Digest, Sha256};

/// A run's page has its loss and its evidence, a dump's only the dump; neither writes over a dump.
#[test]
fn inspect_writes_a_page_of_a_run_and_of_a_dump() {
    let folder = folder("inspect-html");
    typed(&folder, "train quick --run run").done();
    typed(&folder, "inspect run --html page.html").done();
    let page = || fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page().contains("\"loss\":[{\"step\":0,"));
    let sha256 = format!("{:x}", Sha256::digest(weights(&folder, "run")));
    assert!(
        page().contains(&sha256),
        "the page quotes the weights' hash"
    );
    let dump = "run/attention/step-000000.npz";
    let told = printed(&folder, &format!("inspect {dump} --html page.html --force"));
    assert!(mentions(&told, "1"), "{told}");
    assert!(page().contains("\"loss\":[]"));
    refuses_typed(&folder, &format!("inspect run --html {dump}"), &[dump]);
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
    typed(&folder, "train quick --run first").done();
    typed(&folder, "train quick --run second --set seed=5").done();
    typed(&folder, "train quick --run longer --set data.seq_len=9").done();
    let told = printed(&folder, "inspect first second --html page.html");
    assert!(mentions(&told, "2") && mentions(&told, "7"), "{told}");
    let head = head(&folder.join("page.html"));
    assert_eq!(head["runs"][1]["name"], "second");
    assert_eq!(head["runs"][1]["seed"], 5);
    for run in head["runs"].as_array().unwrap() {
        let evidence = run["evidence"].to_string();
        for name in ["model.safetensors", "config.toml"] {
            assert!(mentions(&evidence, name), "{evidence}");
        }
    }

    fs::write(folder.join("garbage.npz"), b"PK").unwrap();
    let refused = "
longer --html page.html --force      | longer | first | 10 | 7
first --html page.html --force       | first
missing --html page.html --force     | missing
. --html page.html --force           | config.toml
garbage.npz --html page.html --force | garbage.npz
second                               | --html
";
    refuses_each(&folder, "inspect first", refused);
}

/// `--open` hands the page to the desktop; without a desktop the command says so and succeeds.
#[test]
#[cfg(target_os = "linux")]
fn open_hands_the_page_to_the_desktop() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("open");
    let [bin, told] = ["bin", "told"].map(|name| folder.join(name));
    fs::create_dir(&bin).unwrap();
    let stub = bin.join("xdg-open");
    // Complete before it takes its name, since the test waits for the name.
    let script = "#!/bin/sh\nprintf %s \"$1\" > 'TOLD.part'\n/bin/mv 'TOLD.part' 'TOLD'\n";
    fs::write(&stub, script.replace("TOLD", text(&told))).unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let with_path = |path: &Path, line: &str| -> Finished {
        let mut command = headlight();
        command.args(line.split(' ')).current_dir(&folder);
        command.env("PATH", path).env_remove("BROWSER");
        Finished::from(command.output().unwrap()).done()
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
    with_path(&bin, "train quick --open --run run");
    assert!(opened().ends_with("run/inspector.html"));
    let inspect = "inspect run --html page.html --open";
    with_path(&bin, inspect);
    assert!(opened().ends_with("page.html"));

    let nowhere = folder.join("nowhere");
    let told = with_path(&nowhere, &format!("{inspect} --force")).stderr;
    assert!(mentions(&told, "page.html"), "{told}");
    let without = "train quick --open --run nowhere --set dump.formats=[\"csv\"]";
    let told = with_path(&bin, without).stderr;
    assert!(mentions(&told, "dump.formats"), "{told}");
    with_path(&bin, "inspect run --open");
    assert!(opened().ends_with("run/inspector.html"));
    refuses_typed(&folder, "inspect nowhere --open", &["--html"]);
}

/// `inspect` does not write over the files of a run, nor show one run twice.
#[cfg(unix)]
#[test]
fn inspect_does_not_write_over_a_run() {
    let folder = folder("inspect-spares");
    typed(&folder, &format!("train {QUICK} --run run")).done();
    std::os::unix::fs::symlink("run", folder.join("link")).unwrap();
    let refused = "
--html run/model.safetensors --force | run/model.safetensors
--svg run/model.safetensors --force  | run/model.safetensors
link --html page.html                | link
";
    refuses_each(&folder, "inspect run", refused);
}

#[test]
fn inspect_draws_a_run_and_a_dump() {
    let folder = folder("inspect");
    typed(&folder, "train quick --run run").done();
    let last = printed(&folder, "inspect run");
    for part in ["weights", "sample 0", "head 0", "step 300", "[CLS]"] {
        assert!(mentions(&last, part), "{part}: {last}");
    }
    assert!(!last.contains('\x1b'), "no colour without a terminal");
    let dump = "inspect run/attention/step-000300.npz";
    assert_eq!(printed(&folder, dump), last);
    let first = printed(&folder, "inspect run --step 0 --scores");
    for part in ["scores", "step 0"] {
        assert!(mentions(&first, part), "{part}: {first}");
    }
}

/// A long sample in a pipe: no wider than 80 columns, with the largest weights of `[CLS]` that the dump holds.
#[test]
fn inspect_shows_the_largest_weights_of_a_long_sample() {
    let folder = folder("inspect-long");
    let train = "train quick --run run --set data.seq_len=49 --set model.n_heads=2";
    typed(&folder, train).done();
    let dump = read_dump(folder.join("run/attention/step-000300.npz"));
    let mut keys: Vec<(usize, f32)> = dump.weights(0, 0, 1)[..50]
        .iter()
        .copied()
        .enumerate()
        .collect();
    keys.sort_by(|a, b| b.1.total_cmp(&a.1));

    let inspect = |more: &str| {
        let told = printed(&folder, &format!("inspect run {more}"));
        let widest = told.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{told}");
        assert!(told.len() <= 20_000, "{}", told.len());
        told
    };
    let told = inspect("--head 1");
    let bars = told.lines().filter(|line| line.contains('█'));
    let shown: Vec<(String, String)> = bars
        .map(|line| {
            let parts: Vec<&str> = line.split_whitespace().collect();
            let key = parts[0].trim_end_matches('*');
            (key.to_owned(), parts[2].to_owned())
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
    let heads = inspect("--head all");
    let first = format!("{}:", keys[0].0);
    let line = heads.lines().find(|line| line.starts_with("head 1"));
    assert!(line.unwrap().replace("*:", ":").contains(&first), "{heads}");
    let query = inspect("--query 49");
    assert!(mentions(&query, "query 49"), "{query}");
}

/// All heads in one picture, and the colour ranges, each of which draws another picture.
#[test]
fn inspect_draws_all_heads_and_colour_ranges() {
    let folder = folder("inspect-heads");
    let train = "train quick --run run --set model.n_heads=2 --set model.n_layers=2";
    typed(&folder, train).done();
    let draw = |more: &str| printed(&folder, &format!("inspect run --svg - {more}"));
    let all = draw("--head all --layer all");
    for title in ["2 layers", "2 heads", ">layer 1<", ">head 1<"] {
        assert!(all.contains(title), "{title}");
    }
    assert_eq!(all.matches("</title></rect>").count(), 4 * 49);
    assert_eq!(draw("").matches("</title></rect>").count(), 49);
    let [unit, uniform, data] =
        ["unit", "uniform", "data"].map(|range| draw(&format!("--range {range}")));
    assert!(unit != uniform && uniform != data && unit != data);
    assert_eq!(uniform, draw(""), "the default");
    assert!(mentions(&uniform, "1/7"));
    assert_eq!(draw("--scores"), draw("--scores --range data"));
    let refused = "
--scores --range unit     | --scores
--range log               | --range
--head first              | --head
--query 1 --svg query.svg | --query
";
    refuses_each(&folder, "inspect run", refused);
}

/// `--watch` draws each dump once, in order, and ends when the run has ended.
#[test]
fn inspect_follows_a_run_while_it_trains() {
    let folder = folder("watch");
    // Long enough to be still training when `inspect` starts.
    let long = "train quick --run run --set training.epochs=12 --engine burn";
    let mut training = headlight();
    training.args(long.split(' ')).current_dir(&folder);
    training.stdout(Stdio::null()).stderr(Stdio::null());
    let mut training = training.spawn().unwrap();
    while !folder.join("run/attention/step-000000.npz").exists() {
        assert!(training.try_wait().unwrap().is_none(), "still training");
        sleep(Duration::from_millis(5));
    }
    let followed = printed(&folder, "inspect run --watch");
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
    typed(&folder, &format!("train {QUICK} --run run")).done();
    let told = printed(&folder, "inspect run --sample 0 --svg a.svg");
    for part in ["a.svg", "sample 0"] {
        assert!(mentions(&told, part), "{told}");
    }
    let drawn = printed(&folder, "inspect run --sample 0");
    let picture = fs::read_to_string(folder.join("a.svg")).unwrap();
    // The numbers of the terminal's first row are in the picture.
    let row = drawn.lines().find(|line| line.contains("0 [CLS]")).unwrap();
    let numbers: Vec<&str> = row
        .split_whitespace()
        .filter(|part| part.contains('.'))
        .collect();
    assert_eq!(numbers.len(), 7);
    assert!(numbers.iter().all(|number| picture.contains(number)));

    // An input file is not written over, and a picture does not get the name of another format.
    let refused = "
run/attention/step-000000.npz --svg run/attention/step-000000.npz | step-000000.npz
run --svg b.PNG    | --svg
run --html b.csv   | --html
run --sample 9999  | 9999 | choose
";
    refuses_each(&folder, "inspect", refused);
}
