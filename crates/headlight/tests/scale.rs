//! Many rows: memory that more rows do not increase.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use crate::common::{Finished, folder, headlight, quick_run, run, sweeps, text};

/// The rows, and the memory that a command over them may take, in KiB: 80 bytes per row. The attention of a row takes
/// 190 bytes.
const ROWS: usize = 200_000;
const MEMORY_KIB: usize = 16_000;

/// Runs a command with a limit of address space for its data.
fn bounded(arguments: &[&str]) -> Finished {
    let binary = headlight();
    let script = format!("ulimit -d {MEMORY_KIB}; exec \"$@\"");
    let output = Command::new("bash")
        .args(["-c", &script, "bounded"])
        .arg(binary.get_program())
        .args(arguments)
        .current_dir(binary.get_current_dir().unwrap())
        .output();
    output.unwrap().into()
}

/// Writes rows of the run's config, that of seed 0 first; one in a thousand failed. The attention of positives on
/// position 3 is 0.25 and 0.75 in turn.
fn write_rows(path: &Path, first: &str, config: &str) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    writeln!(out, "{first}").unwrap();
    let negative = "[0.1,0.1,0.1,0.4,0.1,0.1,0.1]";
    for seed in 1..ROWS {
        if seed % 1000 == 0 {
            let row = format!("{{\"seed\":{seed},\"error\":\"diverged\",{config}}}");
            writeln!(out, "{row}").unwrap();
            continue;
        }
        let (most, rest) = [(0.25, 0.125), (0.75, 0.041_67)][seed % 2];
        writeln!(
            out,
            "{{\"seed\":{seed},\"final_loss\":0.001,\"attention_positive\":[{rest},{rest},{rest},{most},{rest},{rest},{rest}],\
             \"attention_negative\":{negative},\"weights_sha256\":\"{seed:064x}\",{config}}}"
        )
        .unwrap();
    }
    out.flush().unwrap();
}

#[test]
fn a_page_over_many_seeds_takes_little_memory() {
    let folder = folder("scale-seeds");
    let [path, html, one, rows] =
        ["run", "page.html", "one.jsonl", "rows.jsonl"].map(|name| folder.join(name));
    quick_run(&path, &[]);
    let config = path.join("config.toml");
    let sweep = [
        "sweep",
        text(&config),
        "--seeds",
        "0..1",
        "--out",
        text(&one),
    ];
    run(&sweep).done();
    let first = fs::read_to_string(&one).unwrap();
    let row = &sweeps::rows(&one)[0];
    let hash = format!("\"config_sha256\":{}", row["config_sha256"]);
    write_rows(&rows, first.trim_end(), &hash);

    let inspect = [
        "inspect",
        text(&path),
        "--html",
        text(&html),
        "--sweep",
        text(&rows),
    ];
    bounded(&inspect).done();
    let page = fs::read_to_string(&html).unwrap();
    let facts = page.split("id=\"facts\">").nth(1).unwrap();
    let facts: serde_json::Value =
        serde_json::from_str(facts.split("</script>").next().unwrap()).unwrap();
    let seeds = &facts["seeds"];
    let (failed, count) = (ROWS / 1000 - 1, ROWS - ROWS / 1000 + 1);
    assert_eq!(
        (&seeds["count"], &seeds["failed"]),
        (&count.into(), &failed.into())
    );
    let near = |found: &serde_json::Value, expected: f64| {
        let found = found.as_f64().unwrap();
        assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    };
    near(&seeds["positive"]["mean"][3], 0.5);
    near(&seeds["positive"]["deviation"][3], 0.25);
    near(&seeds["negative"]["mean"][3], 0.4);
    assert_eq!(seeds["positive"]["most"][3], count);
    assert_eq!(seeds["own"][0]["positive"], row["attention_positive"]);
    fs::remove_file(&rows).unwrap();
}
