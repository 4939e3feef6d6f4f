//! `headlight train`: the files of a run, and what its model has learned.
//!
//! One file, because all its tests share the run that they look at.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{
    Finished, asked, folder, headlight, mentions, metrics, printed, read_dump, refuses_typed, set,
    typed, weights,
};

#[test]
fn a_run_directory_has_all_files() {
    let folder = folder("whole");
    let path = folder.join("run");
    let formats = "--verbose --set 'dump.formats=[\"npz\",\"json\",\"csv\"]'";
    let trained = typed(&folder, &format!("train quick --run run {formats}"));
    let Finished { stdout, stderr, .. } = trained.done();

    // Steps 0, 50, ..., 300; evaluations at the same ones.
    let names = |folder: &str| {
        let entries = fs::read_dir(path.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let files = ".lock attention checkpoint config.toml environment.json inspector.html loss.npy \
                 manifest.sha256 metrics.jsonl model.safetensors report.md";
    assert_eq!(names("").join(" "), files);
    let steps = (0..=300).step_by(50);
    let dumps = steps.clone().flat_map(|step| {
        ["csv", "json", "npz"].map(|extension| format!("step-{step:06}.{extension}"))
    });
    assert!(dumps.eq(names("attention")));

    let lines = metrics(&path);
    let evaluated = lines.iter().map(|line| line["step"].as_u64().unwrap());
    assert!(steps.eq(evaluated));
    // The losses of an epoch's steps have the mean that its evaluation tells.
    let losses = fs::read(path.join("loss.npy")).unwrap();
    let (header, losses) = losses.split_at(losses.len() - 4 * 300);
    assert!(String::from_utf8_lossy(header).contains("'shape': (300,"));
    let losses = losses.as_chunks().0.iter();
    let losses = losses.map(|&bytes| f64::from(f32::from_le_bytes(bytes)));
    let losses: Vec<f64> = losses.collect();
    for (epoch, losses) in losses.chunks(100).enumerate() {
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let told = lines[2 * epoch + 2]["train_loss"].as_f64().unwrap();
        assert!((mean - told).abs() < 1e-12, "{mean} {told}");
    }
    let last = lines.last().unwrap();
    for key in ["accuracy", "precision", "recall", "f1", "held_out_f1"] {
        assert_eq!(last[key], 1.0, "{key}");
    }
    assert!(last["attention_positive"].as_f64() > last["uniform_positive"].as_f64());

    let report = fs::read_to_string(path.join("report.md")).unwrap();
    let listed = report.lines().filter(|line| line.contains(": 0 ")).count();
    assert_eq!(listed, 5, "the first positives are listed");
    assert!(mentions(&report, "795") && mentions(&stdout, "795"));
    let end = |text: &str| {
        text[text.find("## Model").unwrap()..text.find("## Predictions").unwrap()].to_owned()
    };
    assert_eq!(end(&report), end(&stdout));
    // A table of the evaluations: its head, and a row for each.
    let head = stderr.lines().skip_while(|line| !line.starts_with("epoch"));
    let table = head.take_while(|line| !line.starts_with("trained"));
    let table: Vec<&str> = table.collect();
    assert_eq!(table.len(), 1 + 7, "{stderr}");
    let cells: Vec<&str> = table[7].split_whitespace().collect();
    assert_eq!(cells[..2], ["3", "300"], "{stderr}");
    // The loss is that of `metrics.jsonl`, and attention is in multiples of uniform attention.
    let value = |name: &str| last[name].as_f64().unwrap();
    assert_eq!(cells[2], format!("{:.4}", value("loss")));
    let times = value("attention_positive") / value("uniform_positive");
    assert_eq!(cells[6], format!("{times:.2}x"));
    let widest = table.iter().map(|line| line.chars().count()).max();
    assert!(widest <= Some(60), "{stderr}");
}

/// The resolved config repeats a run, and a seed always gives the same bytes.
#[test]
fn the_same_config_gives_the_same_bytes() {
    for engine in ["burn", "fused"] {
        let folder = folder(&format!("bytes-{engine}"));
        let train = format!("train quick --engine {engine}");
        typed(&folder, &format!("{train} --run first")).done();
        typed(&folder, "train first/config.toml --run again").done();
        for file in [
            "config.toml",
            "metrics.jsonl",
            "model.safetensors",
            "report.md",
            "attention/step-000300.npz",
        ] {
            let bytes = |run: &str| fs::read(folder.join(run).join(file)).unwrap();
            assert!(bytes("first") == bytes("again"), "{file}, {engine}");
        }
        typed(&folder, &format!("{train} --run other --set seed=1")).done();
        assert_ne!(weights(&folder, "first"), weights(&folder, "other"));
    }
}

/// The notebook's experiment, over ten seeds.
///
/// About one start in twenty ends with one or two negative samples above one half. Seed 5 is one of these:
/// Keras, given the same weights and order, makes the same mistake.
#[test]
fn the_notebook_is_learned_with_each_seed() {
    for (engine, seeds) in [("burn", 3), ("fused", 10)] {
        let folder = folder(&format!("notebook-{engine}"));
        let perfect = (0..seeds).filter(|&seed| is_perfect(&folder, engine, seed));
        let perfect = perfect.count();
        // Of so many seeds, one may classify a training sample wrongly.
        assert!(perfect + 1 >= seeds, "{perfect} of {seeds}");
    }
}

/// Whether a run of the notebook, which must learn its rule, classifies every training sample correctly.
fn is_perfect(folder: &Path, engine: &str, seed: usize) -> bool {
    let path = folder.join(seed.to_string());
    let train = format!("train --engine {engine} --set seed={seed} --run {seed}");
    typed(folder, &train).done();
    let last = metrics(&path).pop().unwrap();
    let number = |key: &str| last[key].as_f64().unwrap();
    assert!(number("accuracy") >= 7_999.0 / 8_000.0, "{seed}: {last}");
    assert_eq!(last["recall"], 1.0, "seed {seed}");
    assert_eq!(last["held_out_accuracy"], 1.0, "seed {seed}");
    let attention = number("attention_positive");
    assert!((0.40..=0.65).contains(&attention), "{seed}: {attention}");

    let dump = read_dump(path.join("attention/step-001500.npz"));
    let probability = |sample| {
        let mut samples = dump.meta.samples.iter();
        dump.probabilities[samples.position(|&number| number == Some(sample)).unwrap()]
    };
    // A negative sample, and the first positive.
    let [negative, positive] = [0, 10].map(probability);
    assert!(negative < 0.01, "seed {seed}: {negative}");
    assert!(positive > 0.95, "seed {seed}: {positive}");
    assert!(dump.worst_row_sum() < 1e-6, "seed {seed}");
    last["accuracy"] == 1.0 && last["precision"] == 1.0
}

/// Each shipped config is valid, and its rule is learned.
#[test]
fn each_rule_is_learned_with_its_config() {
    let folder = folder("rules");
    for config in ["token_anywhere", "token_before_token", "equal_positions"] {
        typed(&folder, &format!("train {config} --run {config}")).done();
        let lines = metrics(&folder.join(config));
        // Before training, a first layer's attention is nearly uniform for both classes.
        for class in ["positive", "negative"] {
            let at_start = |what: &str| lines[0][format!("{what}_{class}")].as_f64();
            if let (Some(paid), Some(uniform)) = (at_start("attention"), at_start("uniform")) {
                let is_near = (paid / uniform - 1.0).abs() < 0.1;
                assert!(
                    config == "equal_positions" || is_near,
                    "{config}: {paid} {uniform}"
                );
            }
        }
        let last = lines.last().unwrap();
        let f1 = last["held_out_f1"].as_f64().unwrap();
        assert!(f1 > 0.98, "{config}: held-out F1 {f1}");
    }
}

#[test]
fn a_run_directory_is_never_written_over() {
    let folder = folder("occupied");
    typed(&folder, "train quick --run mine").done();
    let again = "train quick --run mine";
    refuses_typed(&folder, again, &["mine", "--run", "--resume"]);
}

#[test]
fn runs_without_a_name_are_numbered() {
    let folder = folder("numbered");
    for number in 1..=2 {
        let place = format!("runs/quick-{number}");
        let told = printed(&folder, "train quick");
        assert!(mentions(&told, &place), "{told}");
        assert!(folder.join(place).join("report.md").is_file());
    }
}

#[test]
fn a_dataset_from_a_file_trains_like_the_one_it_was_written_from() {
    let folder = folder("from_file");
    typed(&folder, "train quick --run generated").done();
    for format in ["npz", "csv", "jsonl"] {
        typed(&folder, &format!("data quick --out data.{format}")).done();
        let data = format!("data={{ file = \"data.{format}\", vocab_size = 51, seq_len = 6 }}");
        let train = format!("train quick --run {format} --set '{data}'");
        typed(&folder, &train).done();
        assert!(
            weights(&folder, "generated") == weights(&folder, format),
            "{format}"
        );
    }
}

/// `2>&1 | head -1` and a full standard error do not end the training.
#[cfg(unix)]
#[test]
fn closed_and_full_output_streams_do_not_end_a_run() {
    let folder = folder("unheard");
    for (name, tail) in [
        ("closed", "2>&1 | head -1"),
        ("full", ">/dev/full 2>/dev/full || true"),
    ] {
        let script = format!("\"$0\" train quick --run {name} {tail}");
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &script]).arg(headlight().get_program());
        let output = bash.current_dir(&folder).output().unwrap();
        assert!(output.status.success());
        for file in ["report.md", "model.safetensors"] {
            assert!(folder.join(name).join(file).is_file(), "{name}");
        }
    }
}

/// The report counts the samples that a file marks as held out.
#[test]
fn the_report_counts_held_out_samples_of_a_file() {
    let folder = folder("counts");
    let rows =
        "split,label,token_0,token_1\ntrain,1,0,1\ntrain,0,0,2\nheld_out,0,0,3\nheld_out,1,0,1\n";
    fs::write(folder.join("data.csv"), rows).unwrap();
    let config = "[data]\nfile = \"data.csv\"\nvocab_size = 5\nseq_len = 1\n[model]\nd_model = 4\n[training]\nepochs = 1\n";
    fs::write(folder.join("file.toml"), config).unwrap();
    let report = printed(&folder, "train file.toml --verbose --run run");
    let data = report.split("## ").find(|part| part.starts_with("Data"));
    let counts = data.unwrap().lines().nth(2).unwrap();
    let counts = counts.split(|c: char| !c.is_ascii_digit() && c != '.');
    let counts = counts.filter(|number| !number.trim_matches('.').is_empty());
    let counts: Vec<&str> = counts.collect();
    assert_eq!(counts, ["2", "1", "50.0", "2"], "{report}");
    // The resolved config works from another folder.
    typed(&folder.join("run"), "train config.toml --run ../again").done();
    assert!(weights(&folder, "run") == weights(&folder, "again"));
}

/// A model that predicts one class has learned nothing, however high its F1 is.
#[test]
fn a_constant_model_has_not_learned() {
    let folder = folder("constant");
    let mut data = "label,token_1,token_2\n".to_owned();
    for sample in 0..500 {
        let label = if sample % 125 == 60 { "rare" } else { "usual" };
        let _ = writeln!(data, "{label},{},{}", sample % 7 + 1, sample % 11 + 1);
    }
    fs::write(folder.join("mine.csv"), data).unwrap();
    let config = "[data]\nfile = \"mine.csv\"\nclasses = [\"rare\", \"usual\"]\n[model]\nd_model = 4\n\
                  [training]\nepochs = 1\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let trained = asked(&folder, "train mine.toml --run run");
    assert_eq!(trained["learned"], false);
    assert_eq!(trained["judgement"]["verdict"], "no_better_than_baselines");
    assert_eq!(trained["judgement"]["one_class"], 1);
    let path = folder.join("run");
    let f1 = metrics(&path).last().unwrap()["f1"].as_f64().unwrap();
    assert!(f1 > 0.99, "{f1}");
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    assert!(report.contains("usual"), "{report}");
    assert!(!report.contains("\nLearned"), "{report}");
}

/// Many classes, epochs, heads and positions: what is left out is elsewhere, and the text says so.
#[test]
fn what_is_printed_is_short() {
    let folder = folder("short");
    let mut data = String::new();
    for sample in 0..200 {
        let name = format!("{}{}", "class".repeat(8), sample % 100);
        let tokens: Vec<String> = (0..23)
            .map(|t| (sample * (t + 1) % 9 + 1).to_string())
            .collect();
        let _ = writeln!(data, "{name},{}", tokens.join(","));
    }
    let header: Vec<String> = (1..24).map(|t| format!("token_{t}")).collect();
    let data = format!("label,{}\n{data}", header.join(","));
    fs::write(folder.join("mine.csv"), data).unwrap();
    let config = "[data]\nfile = \"mine.csv\"\n[model]\nd_model = 4\nn_heads = 2\nn_layers = 2\n\
                  [training]\nepochs = 20\n[dump]\nevery_epochs = 100\npositives = 1\nnegatives = 1\n";
    fs::write(folder.join("mine.toml"), config).unwrap();
    let trained = printed(&folder, "train mine.toml -v --run classes");
    let evaluated = printed(&folder, "evaluate classes");
    let long = set(
        "data.seq_len=90 data.held_out=8 data.samples=32 model.n_layers=12 model.n_heads=4 \
        training.epochs=1 dump.every_epochs=100 dump.positives=1 dump.negatives=1",
    );
    let deep = printed(&folder, &format!("train quick -v --run heads {long}"));
    for (shown, remedy) in [
        (trained, "metrics.jsonl"),
        (evaluated, "--json"),
        (deep, "headlight inspect"),
    ] {
        assert!((2000..21_000).contains(&shown.len()), "{shown}");
        assert!(shown.contains(remedy), "{shown}");
    }
}
