//! Random experiments through the commands: configs of every key, and the corners of data, such as one position, one token, one
//! class or padding alone. No command panics, ends with an exit code that is not documented, or takes long, and what it computes
//! is what the definition in f64 gives.
//!
//! `HEADLIGHT_SECONDS` says how long, and `HEADLIGHT_CASE` repeats one case. A case that fails prints its number and its commands.
//! `HEADLIGHT_PROGRAM` names another binary to try.
#![cfg(feature = "burn")]
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../architecture/tests/definition/mod.rs"]
#[allow(dead_code)]
mod definition;
mod draw;

use std::env;
use std::fs::{self, File};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use definition::{Definition, Values};
use headlight_architecture::{Inputs, Parameter};
use headlight_data::{Dataset, Stream, Task};
use headlight_dump::Array;
use headlight_experiment::config::ExperimentConfig;
use headlight_trainer::files::{config, weights};
use headlight_trainer::session::dataset;
use serde_json::Value;

use crate::common::{Finished, folder, headlight, json, read_dump};
use definition::draw::Draw;

/// The longest that a command may take, on a machine that does much else.
const LIMIT: Duration = Duration::from_mins(1);

/// The most samples that are dumped.
const MOST: usize = 40;

/// An experiment on its way through the commands.
#[derive(Default)]
struct Case {
    number: u64,
    folder: PathBuf,
    commands: Vec<String>,
}

/// A case that fails says how to repeat it.
impl Drop for Case {
    fn drop(&mut self) {
        if thread::panicking() {
            let config = fs::read_to_string(self.folder.join("case.toml")).unwrap_or_default();
            let (number, folder) = (self.number, self.folder.display());
            let lines = self.commands.join("\n");
            eprintln!("HEADLIGHT_CASE={number}, in {folder}:\n{config}\n{lines}");
        }
    }
}

impl Case {
    /// Runs a command line to its end, in the case's folder; its last arguments may hold blanks.
    fn run(&mut self, line: &str, more: &[&str]) -> Finished {
        self.commands.push(format!("headlight {line} {more:?}"));
        let program = env::var_os("HEADLIGHT_PROGRAM");
        let mut command = program.map_or_else(headlight, Command::new);
        let [out, err] = ["out", "err"].map(|name| self.folder.join(name));
        command.args(line.split(' ')).args(more);
        command.current_dir(&self.folder).stdin(Stdio::null());
        command.stdout(File::create(&out).unwrap());
        command.stderr(File::create(&err).unwrap());
        let (mut child, start) = (command.spawn().unwrap(), Instant::now());
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > LIMIT {
                child.kill().unwrap();
                panic!("a command takes more than {LIMIT:?}");
            }
            sleep(Duration::from_millis(1));
        };
        let [stdout, stderr] = [out, err].map(|path| fs::read_to_string(path).unwrap());
        let code = status.code();
        assert!(matches!(code, Some(0 | 2 | 3)), "{code:?}: {stderr}");
        let errors = stderr.matches("error: ").count();
        assert_eq!(errors, usize::from(code != Some(0)), "{stderr}");
        assert!(code == Some(0) || stdout.is_empty(), "{stdout}");
        Finished {
            code,
            stdout,
            stderr,
        }
    }

    /// Runs a command that may refuse, or else prints JSON.
    fn ask(&mut self, line: &str, more: &[&str]) -> Option<Value> {
        let finished = self.run(&format!("{line} --json"), more);
        (finished.code == Some(0)).then(|| json(&finished.stdout))
    }
}

/// What the definition makes of a model.
struct Expected<'a> {
    config: &'a ExperimentConfig,
    inputs: Inputs,
    n_logits: usize,
    definition: Definition<'a>,
}

impl Expected<'_> {
    /// The logarithms of the probabilities of each class, by an answer of a sample.
    fn log_probabilities(&self, values: &Values, answer: usize) -> Vec<f64> {
        let logits = &values.logits[answer * self.n_logits..][..self.n_logits];
        let logits = [&[0.0][..usize::from(self.n_logits == 1)], logits].concat();
        let most = logits.iter().copied().fold(f64::MIN, f64::max);
        let total: f64 = logits.iter().map(|logit| (logit - most).exp()).sum();
        logits.iter().map(|x| x - most - total.ln()).collect()
    }

    /// Mean loss, the share of right answers, and that of answers which rounding may change, over the labels that count.
    fn evaluate(&self, samples: &Dataset) -> [f64; 3] {
        let (mut sums, mut count) = ([0.0; 3], 0.0);
        for sample in 0..samples.len() {
            let values = self.definition.forward(samples.tokens(sample));
            for (answer, label) in samples.counted_labels(sample) {
                let mut others = self.log_probabilities(&values, answer);
                let own = others.remove(label as usize);
                let margin = own - others.into_iter().fold(f64::MIN, f64::max);
                let [is_right, is_unsure] = [margin > 0.0, margin.abs() < 1e-3].map(u8::from);
                sums[0] -= own;
                sums[1] += f64::from(is_right);
                sums[2] += f64::from(is_unsure);
                count += 1.0;
            }
        }
        sums.map(|sum| sum / count)
    }
}

/// Asserts that numbers are those of the definition, up to the rounding of float32 along the way.
fn assert_close(what: &str, found: impl IntoIterator<Item = f64>, exact: &[f64]) {
    let found: Vec<f64> = found.into_iter().collect();
    assert_eq!(found.len(), exact.len(), "{what}");
    let largest = exact.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    for (found, exact) in found.iter().zip(exact) {
        let is_close = (found - exact).abs() <= 2e-3 * largest;
        assert!(is_close, "{what}: {found}, not {exact}");
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

fn joined(tokens: &[u32]) -> String {
    let tokens: Vec<String> = tokens.iter().map(u32::to_string).collect();
    tokens.join(" ")
}

/// Draws an experiment and takes it through the commands. Returns whether it is trained.
fn try_case(number: u64, folder: &Path) -> bool {
    let mut case = Case::default();
    (case.number, case.folder) = (number, folder.join(number.to_string()));
    fs::create_dir(&case.folder).unwrap();
    let mut drawn = draw::experiment(number, &case.folder);
    let trained = case.run("train case.toml --run run --json", &[]);
    let run = case.folder.join("run");
    if trained.code == Some(0) {
        assert!(drawn.is_valid, "it was trained");
        through_commands(&mut case, &mut drawn.draw, &run);
    } else {
        // Divergence leaves what was good.
        assert!(trained.code == Some(3) || !run.exists(), "a run is left");
    }
    fs::remove_dir_all(&case.folder).unwrap();
    trained.code == Some(0)
}

fn through_commands(case: &mut Case, draw: &mut Draw, run: &Path) {
    let config = config::load(&run.join("config.toml"), &[]).unwrap();
    let best = run.join("best.safetensors").exists();
    let model = ["model.safetensors", "best.safetensors"][usize::from(best)];
    let parameters = Parameter::weights(&weights::load(&config, &run.join(model)).unwrap());
    // After long steps, rounding takes float32 far from the definition.
    if parameters.iter().any(|weight| weight.abs() > 4.0) {
        for line in ["evaluate run", "inspect run", "generate run", "certify run"] {
            case.run(line, &[]);
        }
        return;
    }
    let inputs = config.inputs();
    let expected = Expected {
        config: &config,
        inputs,
        n_logits: config.model.n_logits(inputs.n_classes),
        definition: Definition::new(&config.model, inputs, &parameters),
    };
    let splits = dataset::dataset(&config).unwrap();
    let judged = splits.judging_samples();
    if let Some(found) = case.ask("evaluate run", &[]) {
        let [loss, right, unsure] = expected.evaluate(judged);
        assert_close("loss", found["loss"].as_f64(), &[loss]);
        let wrong = (found["accuracy"].as_f64().unwrap() - right).abs();
        assert!(wrong <= unsure + 1e-9, "accuracy: {found}, not {right}");
    }
    let sample = draw.below(judged.len());
    let tokens = judged.tokens(sample);
    let own = &tokens[usize::from(inputs.cls == Some(0))..][..config.data.seq_len];
    if let Some(found) = case.ask("predict run", &["--tokens", &joined(own)])
        && !inputs.per_position
    {
        let values = expected.definition.forward(tokens);
        assert_close("logits", numbers(&found["logits"]), &values.logits);
        let exact = expected.log_probabilities(&values, 0);
        let exact: Vec<f64> = exact.into_iter().map(f64::exp).collect();
        let shown = &exact[exact.len() - expected.n_logits..];
        assert_close("probabilities", numbers(&found["probabilities"]), shown);
    }
    case.run("predict run --explain --text", &["a b"]);
    let rows = judged.len().min(MOST);
    let lines: Vec<String> = (0..rows).map(|row| joined(judged.tokens(row))).collect();
    fs::write(case.folder.join("rows.txt"), lines.join("\n") + "\n").unwrap();
    let line =
        format!("dump run/config.toml --weights run/{model} --samples rows.txt --out rows.npz");
    if case.run(&line, &[]).code == Some(0) {
        let dump = read_dump(case.folder.join("rows.npz"));
        // Where samples are texts, the rows are texts of unknown words.
        let tokens: Vec<u32> = dump.tokens.iter().map(|&token| token as u32).collect();
        let samples = tokens.chunks(inputs.positions);
        let samples = samples.map(|tokens| expected.definition.forward(tokens));
        let samples: Vec<Values> = samples.collect();
        let compare = |name: &str, found: &[f32], exact: Vec<&Vec<f64>>| {
            let exact: Vec<f64> = exact.into_iter().flatten().copied().collect();
            assert_close(name, found.iter().map(|&x| x.into()), &exact);
        };
        for array in Array::ALL {
            let blocks = samples.iter().flat_map(|own| &own.blocks);
            let exact = match array {
                Array::Embeddings => samples.iter().map(|own| &own.embeddings).collect(),
                _ => blocks.filter_map(|own| own.get(array.name())).collect(),
            };
            compare(array.name(), &dump.arrays[array], exact);
        }
        let logits = samples.iter().map(|own| &own.logits).collect();
        compare("logits", &dump.logits, logits);
        let sample = format!("inspect rows.npz --sample {}", draw.below(rows));
        case.run(&sample, &["--layer", "all"]).done();
        case.run(&sample, &["--svg", "a.svg"]).done();
    }
    case.run("inspect run", &[]);
    case.run("inspect run --html page.html", &[]);
    if case.run("data case.toml --out data.npz", &[]).code == Some(0) {
        case.run("evaluate run data.npz", &[]);
    }
    generate(case, draw, &expected);
    certify(case, &expected);
}

/// Each sample that is generated has the probability that the definition gives it.
fn generate(case: &mut Case, draw: &mut Draw, expected: &Expected<'_>) {
    let (config, data) = (expected.config, &expected.config.data);
    let temperature = ["0", "1e-300", "1e-5", "0.003", "0.7", "1", "1e6"][draw.below(7)];
    let found = case.ask("generate run --count 3", &["--temperature", temperature]);
    if data.task != Task::NextToken {
        assert_eq!(found, None);
    }
    let samples = found.unwrap_or_default()["samples"].clone();
    let first = usize::from(expected.inputs.cls == Some(0));
    let padding = config.model.attention.padding_token;
    for sample in samples.as_array().into_iter().flatten() {
        let own = numbers(&sample["tokens"]);
        let own: Vec<u32> = own.into_iter().map(|token| token as u32).collect();
        let mut row = [&vec![0; first], &own[..]].concat();
        row.resize(expected.inputs.positions, padding.unwrap_or(1));
        let values = expected.definition.forward(&row);
        let mut total = 0.0;
        for (place, &token) in own.iter().enumerate() {
            let likely = expected.log_probabilities(&values, first + place - 1);
            total += likely[token as usize];
            // Padding, an unknown word and, in places, the end cannot follow.
            let may = |other: u32| Some(other) != padding && (other > 2 || data.words.is_none());
            let others = (data.cls.first_token()..data.vocab_size).filter(|&other| may(other));
            let others = others.map(|other| likely[other as usize]);
            let most = others.fold(f64::MIN, f64::max);
            let is_cold = ["0", "1e-300", "1e-5"].contains(&temperature);
            assert!(!is_cold || likely[token as usize] > most - 1e-2, "{sample}");
        }
        if sample["ended"] == true {
            total += expected.log_probabilities(&values, first + own.len() - 1)[0];
        }
        assert_close("text", sample["log_probability"].as_f64(), &[total]);
    }
}

/// Counts the wrong answers to random inputs, which are drawn again here.
fn certify(case: &mut Case, expected: &Expected<'_>) {
    case.run("certify run --examples 1", &[]);
    let Some(found) = case.ask("certify run --sample 99", &[]) else {
        return;
    };
    let data = &expected.config.data;
    let mut numbers = Stream::Inputs.numbers(expected.config.seed);
    let mut samples = Dataset::empty(data.seq_len, data.cls);
    for _ in 0..99 {
        let mut token = |position| match expected.inputs.cls {
            Some(cls) if cls == position => 0,
            _ => data.cls.first_token() + numbers(data.vocab_size - data.cls.first_token()),
        };
        let row: Vec<u32> = (0..expected.inputs.positions).map(&mut token).collect();
        samples.push_labelled(&row, data.rule.as_ref().unwrap(), data.n_classes);
    }
    let [_, right, unsure] = expected.evaluate(&samples);
    let wrong = found["sampled"]["wrong"].as_f64().unwrap() / 99.0;
    let is_close = (wrong + right - 1.0).abs() <= unsure + 1e-9;
    assert!(is_close, "{found}, not {right} right");
}

/// In two threads, for machines with two cores.
#[test]
fn any_experiment_goes_through_the_commands() {
    let folder = folder("any-experiment");
    let variable = |name| env::var(name).ok().map(|value| value.parse().unwrap());
    let (only, seconds) = (variable("HEADLIGHT_CASE"), variable("HEADLIGHT_SECONDS"));
    let (start, next) = (Instant::now(), AtomicU64::new(only.unwrap_or(0)));
    let seconds = seconds.unwrap_or(10) * u64::from(only.is_none());
    let (trained, failed) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        loop {
            let case = next.fetch_add(1, Ordering::Relaxed);
            match catch_unwind(|| try_case(case, &folder)) {
                Ok(is_trained) => trained.fetch_add(is_trained.into(), Ordering::Relaxed),
                Err(_) => failed.fetch_add(1, Ordering::Relaxed),
            };
            if start.elapsed().as_secs() >= seconds || failed.load(Ordering::Relaxed) > 20 {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 - usize::from(only.is_some()) {
            scope.spawn(work);
        }
    });
    let (trained, cases) = (trained.into_inner(), next.into_inner() - only.unwrap_or(0));
    println!("{trained} of {cases} experiments were trained");
    assert_eq!(failed.into_inner(), 0, "cases failed; see above");
    assert!(cases < 100 || trained * 2 > cases, "most are refused");
}
