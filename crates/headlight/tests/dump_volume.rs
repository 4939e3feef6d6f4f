//! How much a run dumps: by default less than 20 MB; what a config asks for, if it is announced or forced.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{ended, folder, last_dump, limited, mentions, refused, refuses_typed, typed};

/// The bytes of a run's dumps, how many there are, and the samples of the last.
fn dumps(run: &Path) -> (u64, usize, Vec<usize>) {
    let files = fs::read_dir(run.join("attention")).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    let bytes = files.iter().map(|path| path.metadata().unwrap().len());
    let last = last_dump(run);
    let samples = last.meta.samples.iter().map(|sample| sample.unwrap());
    (bytes.sum(), files.len(), samples.collect())
}

/// A config of `length` tokens and `classes` classes, as `config.toml`.
fn configure(folder: &Path, classes: usize, length: usize) {
    let mut csv = "label".to_owned();
    for position in 0..length {
        write!(csv, ",token_{position}").unwrap();
    }
    for sample in 0..classes * 10 {
        write!(csv, "\n{}", sample % classes).unwrap();
        for position in 0..length {
            write!(csv, ",{}", 1 + (sample * 31 + position * 17) % 90).unwrap();
        }
    }
    fs::write(folder.join("samples.csv"), csv + "\n").unwrap();
    let config = "[data]\nfile = \"samples.csv\"\n[training]\nbatch_size = 64\n[model]\nd_model = 16\nn_heads = 2\n";
    fs::write(folder.join("config.toml"), config).unwrap();
}

#[test]
fn default_dumps_stay_below_20_mb() {
    for (name, classes, length, epochs) in [("epochs", 2, 150, 30), ("samples", 59, 60, 4)] {
        let folder = folder(&format!("dumps-{name}"));
        configure(&folder, classes, length);
        let train = |more: &str| {
            let train = format!("train config.toml --set training.epochs={epochs} --run");
            typed(&folder, &format!("{train} {more}")).done().stderr
        };
        let told = train("run");
        assert!(mentions(&told, "[dump]"), "{told}");
        let (bytes, count, samples) = dumps(&folder.join("run"));
        assert!((1_000_000..20_000_000).contains(&bytes), "{name}: {bytes}");
        assert_eq!(count, 2, "{name}");
        // Resumed with its own config, or with the one that leaves them out, a run keeps its selection.
        for (config, epochs) in [("", epochs + 1), ("config.toml", epochs + 2)] {
            let resume =
                format!("train {config} --resume --run run --set training.epochs={epochs}");
            typed(&folder, &resume).done();
            assert_eq!(dumps(&folder.join("run")).2, samples);
        }
        // What a config sets is obeyed.
        if name == "epochs" {
            assert_eq!(samples.len(), 16);
            let told = train("set --set dump.every_epochs=1");
            assert!(!mentions(&told, "reduced"), "{told}");
            let (bytes, count, samples) = dumps(&folder.join("set"));
            assert!(bytes > 20_000_000);
            assert_eq!((count, samples.len()), (epochs + 1, 16));
        }
    }
}

/// Many dumps are announced, with their number and size; too large ones are refused without `--force`. A limit of the system
/// ends these runs before they write all of it.
#[test]
fn the_dumps_of_a_run_have_a_limit() {
    let folder = folder("dump_volume");
    let stopped = |blocks: usize, line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        limited(&folder, &format!("-f {blocks}"), &words)
    };
    // Of 501 epochs of four steps: 668 multiples of 3, 501 of 4, less 167 of 12; and step 0.
    let many = "train quick --run many --set data.samples=64 --set dump.every_steps=3 --set dump.every_epochs=1 \
                --set training.epochs=501 --set training.batch_size=16";
    ended(&stopped(4, many), 1, &["1003 dumps", "MB"]);

    let large = "train quick --run large --set dump.every_steps=1 --set dump.positives=800 --set dump.negatives=800 \
                 --set training.epochs=30 --set dump.formats=[\"npz\",\"json\",\"csv\"]";
    let parts = ["3001 dumps", "MB", "dump.every_steps", "--force"];
    let quoted = large.replace("[\"npz\",\"json\",\"csv\"]", "'[\"npz\",\"json\",\"csv\"]'");
    refuses_typed(&folder, &quoted, &parts);
    ended(&stopped(64, &format!("{large} --force")), 1, &["ulimit -f"]);
    let resume = "train --resume --run large";
    ended(&stopped(64, resume), 1, &["ulimit -f"]);
    let longer = format!("{resume} --set training.epochs=40");
    refused(&stopped(64, &longer), &["--force"]);
}
