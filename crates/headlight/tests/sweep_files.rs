//! Results files: their bytes depend on the plan alone, however often a sweep is killed, split or merged.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Map, Value, from_str};

use crate::common::sweeps::{rows, whole};
use crate::common::{
    Delays, Finished, contents, ended, folder, headlight, limited, mentions, refused,
    refuses_typed, send, text, typed,
};

/// A sweep of the notebook's experiment, trained for one epoch.
const SWEEP: &str = "sweep notebook --set training.epochs=1";

/// Starts a command, and waits until its file has as many bytes, or the command has ended.
fn start_until(folder: &Path, line: &str, out: &str, bytes: u64) -> Child {
    let mut command = headlight();
    command.current_dir(folder).args(line.split(' '));
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    while length(&folder.join(out)) < bytes && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_micros(100));
    }
    child
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

#[test]
fn bytes_depend_on_the_plan_alone() {
    let folder = folder("sweep_bytes");
    let of = |seeds: &str, name: &str, more: &str| {
        let line = format!("{SWEEP} --seeds {seeds} --out {name} {more}");
        let told = typed(&folder, line.trim()).done();
        (fs::read(folder.join(name)).unwrap(), told)
    };
    let (one, _) = of("0..60", "1.jsonl", "--threads 1");
    for threads in ["2", "7"] {
        let name = format!("{threads}.jsonl");
        let (found, _) = of("0..60", &name, &format!("--threads {threads}"));
        assert!(found == one, "{threads} threads");
    }
    // More seeds later, in the same file, or in one go.
    let (later, told) = of("0..80", "1.jsonl", "");
    ended(&told, 0, &["60", "80"]);
    let (once, _) = of("0..80", "once.jsonl", "");
    assert!(later == once && once.starts_with(&one));
    // A finished sweep succeeds again, and changes nothing.
    assert!(of("0..80", "once.jsonl", "").0 == once);
    for cut in [1, 2, 300, once.len() / 2, once.len() - 1] {
        fs::write(folder.join("once.jsonl"), &once[..once.len() - cut]).unwrap();
        let (found, told) = of("0..80", "once.jsonl", "");
        ended(&told, 0, &["once.jsonl"]);
        assert!(found == once, "{cut} bytes less");
    }
}

/// 5,000 runs in four shards, killed repeatedly at any moment: no row is lost, and none comes twice; merged in any order,
/// they are the bytes of the single run.
#[test]
fn a_long_sweep_survives_kills_at_any_moment() {
    let folder = folder("sweep_long");
    let sweep = "sweep quick --seeds 0..5000 --set training.epochs=1 --out";
    typed(&folder, &format!("{sweep} whole.jsonl")).done();
    let whole = fs::read(folder.join("whole.jsonl")).unwrap();

    let mut delays = Delays(13);
    let mut kills = 0;
    for shard in 1..=4 {
        let out = format!("{shard}.jsonl");
        loop {
            // The file's length sets the time of the kill, so that the machine's speed does not matter.
            let enough = length(&folder.join(&out)) + delays.below(whole.len() as u64 / 20);
            let line = format!("{sweep} {out} --shard {shard}/4");
            let mut child = start_until(&folder, &line, &out, enough);
            send(&child, "KILL");
            if child.wait().unwrap().success() {
                break;
            }
            kills += 1;
        }
    }
    println!("{kills} kills");
    assert!(kills >= 12, "{kills} kills");
    // A merge of merges, with rows that come twice, is the same too.
    for (files, out, told) in [
        ("3.jsonl 1.jsonl 4.jsonl 2.jsonl", "merged.jsonl", "5000"),
        ("2.jsonl merged.jsonl", "again.jsonl", "1250"),
    ] {
        let merged = typed(&folder, &format!("merge {files} --out {out}")).done();
        assert!(mentions(&merged.stdout, told), "{}", merged.stdout);
        assert!(fs::read(folder.join(out)).unwrap() == whole, "{out}");
    }
}

#[test]
fn a_signal_leaves_whole_rows_and_the_same_command_resumes() {
    let folder = folder("sweep_signal");
    let out = folder.join("rows.jsonl");
    let sweep = "sweep notebook --seeds 0..5000 --threads 2 --out rows.jsonl";
    for (signal, code) in [("INT", 130), ("TERM", 143), ("USR1", 138)] {
        let child = start_until(&folder, sweep, "rows.jsonl", length(&out) + 3000);
        // Two sweeps do not write one file.
        refused(&typed(&folder, sweep), &["rows.jsonl"]);
        send(&child, signal);
        let finished = Finished::from(child.wait_with_output().unwrap());
        ended(&finished, code, &["5000", "rows.jsonl"]);
        let rows = rows(&out);
        let seeds = rows.iter().map(|row| row["seed"].as_u64().unwrap());
        assert!(seeds.eq(0..rows.len() as u64));
    }
}

#[test]
fn a_signal_leaves_nothing_of_a_merge() {
    let folder = folder("merge_signal");
    let row = whole(r#"{"seed":SEED,"final_loss":0.5,"config_sha256":"a"}"#) + "\n";
    let row = |seed: u32| row.replace("SEED", &seed.to_string());
    let rows: String = (0..200_000).map(row).collect();
    fs::write(folder.join("a.jsonl"), rows).unwrap();
    let mut merge = headlight();
    merge
        .current_dir(&folder)
        .args(["merge", "a.jsonl", "--out", "b.csv"]);
    let child = merge.stderr(Stdio::piped()).spawn().unwrap();
    let names = || fs::read_dir(&folder).unwrap().count();
    while names() == 1 {
        sleep(Duration::from_micros(100));
    }
    send(&child, "INT");
    let finished = Finished::from(child.wait_with_output().unwrap());
    assert_eq!((finished.code, names()), (None, 1), "{}", finished.stderr);
}

/// A results file that holds something else, or rows that no sweep writes, stays as it is.
#[test]
fn what_is_no_row_of_this_sweep_is_left_alone() {
    let folder = folder("sweep_foreign");
    let out = folder.join("rows.jsonl");
    let sweep = |more: &str| format!("{SWEEP} --out rows.jsonl --seeds {more}");
    typed(&folder, &sweep("0..2")).done();
    let own = fs::read_to_string(&out).unwrap();
    let first = own.lines().next().unwrap();
    let row: Map<String, Value> = from_str(first).unwrap();
    let changed = |key: &str, to: Option<Value>| {
        let mut row = row.clone();
        row.remove(key);
        row.extend(to.map(|to| (key.to_owned(), to)));
        serde_json::to_string(&row).unwrap() + "\n"
    };
    let hash = row["config_sha256"].as_str().unwrap();
    let foreign = [
        "my notes".to_owned(),
        "a,b\r1,2\r".to_owned(),
        "{\"label\":1,\"tokens\":[1]}".to_owned(),
        "{\"seed\":7,".to_owned(),
        first.replace(hash, &hash.replace(['a', '1'], "0")),
        own.clone() + "my notes",
        "\0".repeat(512) + "my notes",
        changed("f1", None),
        changed("f1", Some("x".into())),
        changed("epoch_loss", Some("x".into())),
        changed("epoch_loss", Some(vec![0.5, 0.5].into())),
        changed("attention_positive", Some(vec![0.5].into())),
        changed("model.d_model", Some(4.into())),
    ];
    for foreign in foreign {
        fs::write(&out, &foreign).unwrap();
        refuses_typed(&folder, &sweep("0..3 --force"), &["rows.jsonl"]);
    }
    fs::write(&out, &own).unwrap();
    // Rows of another shard.
    let other = sweep("0..10 --shard 2/4");
    refuses_typed(
        &folder,
        &other,
        &["rows.jsonl", "line 1", "seed 0", "seed 2"],
    );
    // The beginning of a row may be dropped, however short.
    for length in [0, 1, 9, first.len()] {
        fs::write(&out, &first[..length]).unwrap();
        typed(&folder, &sweep("0..2")).done();
        assert_eq!(fs::read_to_string(&out).unwrap(), own);
    }
}

/// `train` can repeat every row: seeds end where TOML's integers do.
#[test]
fn every_seed_of_a_sweep_can_be_trained() {
    const LARGEST: &str = "9223372036854775807";
    let folder = folder("large_seeds");
    typed(&folder, "init quick").done();
    let config = fs::read_to_string(folder.join("quick.toml")).unwrap();
    for number in ["9223372036854775808", "99999999999999999999999999999999999"] {
        let large = format!("seed = {number}\n{config}");
        fs::write(folder.join("large.toml"), large).unwrap();
        for line in [
            "train large.toml --run run".to_owned(),
            format!("train quick --run run --set data.seed={number}"),
            format!("sweep quick --out a.jsonl --seeds 0..2 --grid data.seed=1,{number}"),
            format!("sweep quick --out a.jsonl --seeds 0..{number}0"),
            format!("sweep quick --out a.jsonl --seeds 9223372036854775807..{number}1"),
        ] {
            refuses_typed(&folder, &line, &[LARGEST]);
        }
    }
    let last = "9223372036854775806..9223372036854775808";
    typed(
        &folder,
        &format!("sweep quick --out a.jsonl --seeds {last}"),
    )
    .done();
    let row = fs::read_to_string(folder.join("a.jsonl")).unwrap();
    assert!(mentions(row.lines().last().unwrap(), LARGEST));
    typed(
        &folder,
        &format!("train quick --run run --set seed={LARGEST}"),
    )
    .done();
}

#[test]
fn a_sweep_that_fails_before_its_first_row_leaves_no_file() {
    let folder = folder("no_first_row");
    let sweep = ["sweep", "quick", "--seeds", "0..4", "--out", "rows.jsonl"];
    ended(&limited(&folder, "-f 0", &sweep), 1, &["ulimit -f"]);
    assert!(contents(&folder).is_empty());
}

/// More shards than runs.
#[test]
fn a_shard_without_runs_is_done() {
    let folder = folder("empty_shard");
    typed(&folder, "sweep quick --seeds 0..2 --out whole.jsonl").done();
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let shard = |index: usize| {
        format!("sweep quick --seeds 0..2 --shard {index}/3 --out rows-{index}-of-3.jsonl")
    };
    let parts = [1, 2, 3].map(|index| format!("rows-{index}-of-3.jsonl"));
    // A task that is started again is done too.
    for index in [1, 2, 3, 1, 2, 3] {
        let done = typed(&folder, &shard(index)).done().stdout;
        assert!(mentions(&done, &parts[index - 1]), "{done}");
    }
    let merge = format!("merge {} --out merged.jsonl", parts.join(" "));
    typed(&folder, &merge).done();
    assert!(read("merged.jsonl") == read("whole.jsonl"));

    let empty: Vec<usize> = (0..3).filter(|&at| read(&parts[at]).is_empty()).collect();
    assert_eq!(empty.len(), 1);
    let name = &parts[empty[0]];
    for command in ["merge --out none.jsonl", "report"] {
        let line = format!("{command} {name}");
        refuses_typed(&folder, &line, &[name, "no rows"]);
    }
    // An empty shard has no place for rows.
    fs::copy(folder.join("whole.jsonl"), folder.join(name)).unwrap();
    refuses_typed(&folder, &shard(empty[0] + 1), &[name]);
}

/// The line of each scheduler in `docs/how-to/clusters.md` trains its shard, and all shards together are the sweep: here a small one
/// in its place.
#[test]
fn the_shards_of_each_scheduler_are_the_sweep() {
    const DOCUMENTED: &str = "notebook --seeds 0..100000 --threads 4";
    const SMALL: &str = "notebook --seeds 0..10 --threads 1 --set training.epochs=1";
    let folder = folder("shards_recipes");
    typed(&folder, &format!("sweep {SMALL} --out whole.jsonl")).done();
    let whole = fs::read(folder.join("whole.jsonl")).unwrap();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/clusters.md");
    let document = fs::read_to_string(document).unwrap();
    let merge = "headlight merge results/seeds-*-of-8.jsonl --out results/seeds.jsonl";
    assert!(document.contains(merge));
    let binary = Path::new(env!("CARGO_BIN_EXE_headlight")).parent().unwrap();
    let path = format!("{}:{}", text(binary), std::env::var("PATH").unwrap());
    let shell = |line: &str, variable: &str, index: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", line]).env("PATH", &path);
        // GNU parallel puts the index in place of `{}`, the others hand it over as a variable.
        shell.envs((variable != "{}").then_some((variable, index)));
        Finished::from(shell.current_dir(&folder).output().unwrap()).done();
    };
    for (variable, first) in [
        ("SLURM_ARRAY_TASK_ID", 1),
        ("{}", 1),
        ("HQ_TASK_ID", 1),
        ("JOB_COMPLETION_INDEX", 0),
    ] {
        let mut lines = document.lines();
        let line = lines.find(|line| line.contains("headlight sweep") && line.contains(variable));
        let line = line.unwrap_or_else(|| panic!("no line with {variable}"));
        assert!(line.contains(DOCUMENTED), "{line}");
        let start = line.find("headlight sweep").unwrap();
        let end = line.find(".jsonl").unwrap() + ".jsonl".len();
        let quote = usize::from(line[end..].starts_with('"'));
        let line = line[start..end + quote].replace(DOCUMENTED, SMALL);
        let results = folder.join("results");
        fs::create_dir_all(&results).unwrap();
        for index in first..first + 8 {
            let index = index.to_string();
            shell(&line.replace("{}", &index), variable, &index);
        }
        shell(merge, "{}", "");
        let merged = fs::read(results.join("seeds.jsonl")).unwrap();
        assert!(merged == whole, "{variable}");
        // A file for each shard, the merged one, and the config.
        assert_eq!(fs::read_dir(&results).unwrap().count(), 10, "{variable}");
        fs::remove_dir_all(&results).unwrap();
    }
}

/// The runs of a shard that is not among the files are missing, also beyond the largest seed and point of the rows.
#[test]
fn the_runs_of_a_missing_shard_are_named() {
    let folder = folder("sweep_missing");
    let sweep = "sweep quick --seeds 3..6 --set training.epochs=1 --grid model.d_model=2,4";
    for shard in 1..=3 {
        let line = format!("{sweep} --shard {shard}/3 --out part-{shard}-of-3.jsonl");
        typed(&folder, &line).done();
    }
    for (files, count, missing) in [
        ("1 2", "2", &["seed 5 point 0", "seed 5 point 1"][..]),
        ("2 3", "2", &["seed 3 point 0", "seed 3 point 1"]),
        ("2", "4", &["seed 3 point 0", "seed 5 point 1"]),
    ] {
        let name = |file: &str| format!(" part-{file}-of-3.jsonl");
        let files: String = files.split(' ').map(name).collect();
        let told = typed(&folder, &format!("merge{files} --out some.jsonl --force"));
        ended(&told, 0, &[&[count], missing].concat());
    }
    // A merged file tells it as well.
    let told = typed(&folder, "merge some.jsonl --out again.csv");
    ended(&told, 0, &["seed 5 point 1"]);
    let all = "merge part-1-of-3.jsonl part-2-of-3.jsonl part-3-of-3.jsonl --out all.jsonl";
    assert!(!typed(&folder, all).done().stderr.contains("missing"));
}
