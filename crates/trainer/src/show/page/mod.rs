//! The interactive page of runs and dumps, and of a config without a run.

mod lab;
mod retraining;
mod samples;

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use headlight_data::{ClsPlace, LabelRule};
use headlight_dump::AttentionDump;
use headlight_experiment::Experiment;
use headlight_experiment::outcome::Outcome;
use headlight_input::FILE_LIMIT;
use headlight_page::{LossPoint, Page, PageRun, PageTraining};
use serde::Deserialize;

use crate::files::access::open;
use crate::files::run_files::{METRICS, PAGE, step_of};
use crate::show::evidence::evidence;
use crate::show::report::outcome_text;
use crate::{Failure, RunDir, shown};

pub use lab::lab;
use retraining::{outcome, retraining};

/// One source of a page: a run directory, or a single dump.
#[derive(Debug)]
pub struct PageSource {
    /// The run directory, or the dump.
    pub path: PathBuf,
    /// The run; `None` for a single dump.
    pub run: Option<RunDir>,
    /// The npz dumps, by step; at least one.
    pub dumps: Vec<PathBuf>,
    /// The dump of the run's best model, with its step, if the run keeps it.
    best: Option<(usize, PathBuf)>,
    /// The outcome of the run, and which samples are also training samples; `None` if [`page_run`] has yet to compute them.
    outcome: Option<(Outcome, Vec<(String, usize)>)>,
}

impl PageSource {
    /// Opens a run directory or a dump.
    ///
    /// # Errors
    /// When the path is neither, or the run holds no npz dump.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let run = path.is_dir().then(|| RunDir::open(path)).transpose()?;
        let (dumps, best) = match &run {
            Some(run) => (run.dumps()?, run.best_dump()?),
            None => (vec![path.to_owned()], None),
        };
        if dumps.is_empty() {
            return Err(no_dumps(path));
        }
        Ok(Self {
            path: path.to_owned(),
            run,
            dumps,
            best,
            outcome: None,
        })
    }

    /// Its file name, or its whole path if another source has the same file name.
    fn name(&self, all: &[Self]) -> String {
        let file_name = self.path.file_name();
        let is_same = |other: &&Self| other.path.file_name() == file_name;
        match file_name {
            Some(name) if all.iter().filter(is_same).count() == 1 => {
                name.to_string_lossy().into_owned()
            }
            _ => shown(&self.path),
        }
    }
}

/// The failure of a source without npz dumps.
pub fn no_dumps(source: &Path) -> Failure {
    Failure::reading(source, "it holds no npz dumps; add \"npz\" to dump.formats")
}

/// The page of runs and dumps.
///
/// # Errors
/// When a file cannot be read, or the sources do not belong together.
pub fn page(sources: &[PageSource]) -> Result<Page, Failure> {
    let mut page = Page::default();
    let (mut questions, mut named) = (Vec::new(), BTreeSet::new());
    for source in sources {
        if !named.insert(std::fs::canonicalize(&source.path).ok()) {
            return Err(Failure::reading(&source.path, "it is named twice"));
        }
        let Some(path) = source.dumps.last() else {
            return Err(no_dumps(&source.path));
        };
        let last = read_dump(path)?;
        let name = source.name(sources);
        questions.push(question(&last));
        let added = page.add(page_run(name, source, &last, sources.len())?);
        added.map_err(|reason| Failure::reading(&source.path, reason))?;
    }
    questions.dedup();
    if let [Some(question)] = &questions[..] {
        page.question = Some(question.clone());
    }
    Ok(page)
}

/// The question that the classifier of a dump answers, if its config has a rule.
fn question(dump: &AttentionDump) -> Option<String> {
    Some(rule(dump)?.question())
}

fn rule(dump: &AttentionDump) -> Option<LabelRule> {
    LabelRule::deserialize(&dump.meta.config["data"]["rule"]).ok()
}

/// The positions that decide each label of a dump with a label per position; empty without a rule. `[sample][position]`
fn deciding(dump: &AttentionDump) -> Vec<Vec<Vec<usize>>> {
    let cls = ClsPlace::deserialize(&dump.meta.config["data"]["cls"]);
    let (true, Some(rule), Ok(cls)) = (dump.dims.per_position, rule(dump), cls) else {
        return Vec::new();
    };
    let samples = (0..dump.dims.samples).map(|sample| {
        let tokens = dump.tokens(sample).iter();
        let tokens: Vec<u32> = tokens.map(|&token| token as u32).collect();
        let queries = 0..tokens.len();
        queries
            .map(|query| rule.deciding_at(&tokens, cls, query))
            .collect()
    });
    samples.collect()
}

/// A run with its loss and its evidence; a single dump has neither.
fn page_run(
    name: String,
    source: &PageSource,
    last: &AttentionDump,
    runs: usize,
) -> Result<PageRun, Failure> {
    let mut dumps = source.dumps.clone();
    // Runs side by side are compared at the steps that all of them have recorded.
    let best = source.best.clone().filter(|_| runs == 1);
    let best = best.map(|(step, path)| {
        let after = |dump: &PathBuf| step_of(dump) >= Some(step);
        let index = dumps.iter().position(after).unwrap_or(dumps.len());
        if dumps.get(index).and_then(|dump| step_of(dump)) != Some(step) {
            dumps.insert(index, path);
        }
        index
    });
    let again = match &source.run {
        Some(run) if runs == 1 => retraining(run, last)?,
        Some(_) => PageTraining::Recorded(
            "A page of several runs shows what their dumps recorded".to_owned(),
        ),
        None => PageTraining::Recorded("The page was made from dumps, not from a run".to_owned()),
    };
    let mut page_run = PageRun::new(name, last, dumps.len(), best, runs, again);
    page_run.deciding = deciding(last);
    for index in page_run.wanted().to_vec() {
        let path = &dumps[index];
        let added = if Some(path) == source.dumps.last() {
            page_run.add(last)
        } else {
            page_run.add(&read_dump(path)?)
        };
        added.map_err(|reason| Failure::reading(path, reason))?;
    }
    if let Some(run) = &source.run {
        page_run.loss = loss(run)?;
        page_run.evidence = evidence(run)?;
        let config = run.config()?;
        let outcome = match source.outcome.clone() {
            None => outcome(run, &config),
            known => known,
        };
        if let Some((outcome, repetitions)) = outcome {
            page_run.outcome = Some(outcome_text(&outcome, &config.data));
            let sentences = repetitions.iter();
            let sentences = sentences.map(|(what, count)| format!("{what}: {count}."));
            page_run.repetitions = sentences.collect();
        }
    }
    Ok(page_run)
}

/// Writes a run's page into its run directory and returns its path; `None` if the run has no npz dumps. `outcome` is the
/// run's, if it is known.
pub(crate) fn write(
    run: &RunDir,
    Experiment { config, splits, .. }: &Experiment,
    outcome: Option<&Outcome>,
) -> Result<Option<PathBuf>, Failure> {
    if run.dumps()?.is_empty() {
        return Ok(None);
    }
    let mut source = PageSource::open(run.path())?;
    let repetitions = || splits.repetitions(&config.data, &config.tests);
    source.outcome = outcome.map(|outcome| (outcome.clone(), repetitions()));
    let html = html(&page(&[source])?)?;
    run.write(PAGE, html.as_bytes())?;
    Ok(Some(run.file(PAGE)))
}

/// The page as HTML.
///
/// # Errors
/// When it cannot be made.
pub fn html(page: &Page) -> Result<String, Failure> {
    page.html()
        .map_err(|error| Failure::System(format!("the page cannot be made: {error}")))
}

/// Reads and checks a dump.
///
/// # Errors
/// When it is missing or damaged.
pub fn read_dump(path: &Path) -> Result<AttentionDump, Failure> {
    if let Some(extension @ ("json" | "csv")) = path.extension().and_then(|name| name.to_str()) {
        let reason = format!(
            "Headlight reads dumps only as .npz; its .{extension} files are for other programs"
        );
        return Err(Failure::reading(path, reason));
    }
    let file = open(path, FILE_LIMIT)?;
    AttentionDump::read_npz(BufReader::new(file)).map_err(|error| Failure::reading(path, error))
}

fn loss(run: &RunDir) -> Result<Vec<LossPoint>, Failure> {
    if !run.file(METRICS).is_file() {
        return Ok(Vec::new());
    }
    run.metrics(|row| {
        Some(LossPoint {
            step: usize::try_from(row["step"].as_u64()?).ok()?,
            loss: row["loss"].as_f64()?,
        })
    })
}
