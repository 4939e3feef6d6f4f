//! The interactive page of runs and dumps.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use headlight_dump::AttentionDump;
use headlight_input::FILE_LIMIT;
use headlight_inspector::{Again, LossPoint, Page, PageRun};

use crate::Failure;
use crate::evidence::evidence;
use crate::files::open;
use crate::hash::file_sha256;
use crate::run_dir::RunDir;
use crate::standard::shown;

/// One source of a page: a run directory, or a single dump.
#[derive(Debug)]
pub struct Source {
    /// The run directory, or the dump.
    pub path: PathBuf,
    /// The run; `None` for a single dump.
    pub run: Option<RunDir>,
    /// The npz dumps, by step; at least one.
    pub dumps: Vec<PathBuf>,
}

impl Source {
    /// Opens a run directory or a dump.
    ///
    /// # Errors
    /// When the path is neither, or the run holds no npz dump.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let (run, dumps) = if path.is_dir() {
            let run = RunDir::open(path)?;
            let dumps = run.dumps()?;
            (Some(run), dumps)
        } else {
            (None, vec![path.to_owned()])
        };
        if dumps.is_empty() {
            return Err(no_dumps(path));
        }
        Ok(Self {
            path: path.to_owned(),
            run,
            dumps,
        })
    }

    /// Its file name, or its whole path if another source has the same file name.
    fn name(&self, all: &[Self]) -> String {
        let file_name = |source: &Self| {
            let name = source.path.file_name();
            name.map_or_else(
                || shown(&source.path),
                |name| name.to_string_lossy().into_owned(),
            )
        };
        let name = file_name(self);
        if all.iter().filter(|other| file_name(other) == name).count() > 1 {
            return shown(&self.path);
        }
        name
    }
}

/// The failure of a source without npz dumps.
pub fn no_dumps(source: &Path) -> Failure {
    Failure::reading(source, "it holds no npz dumps; add \"npz\" to dump.formats")
}

/// The page of runs and dumps. Calls `visit` with the name and the last dump of each source.
///
/// # Errors
/// When a file cannot be read, the sources do not belong together, or `visit` fails.
pub fn page(
    sources: &[Source],
    mut visit: impl FnMut(&Source, &str, &AttentionDump) -> Result<(), Failure>,
) -> Result<Page, Failure> {
    let mut page = Page::default();
    for (index, source) in sources.iter().enumerate() {
        let real = |source: &Source| std::fs::canonicalize(&source.path).ok();
        let mut earlier = sources[..index].iter();
        if earlier.any(|other| real(other) == real(source)) {
            return Err(Failure::reading(&source.path, "it is named twice"));
        }
        let Some(path) = source.dumps.last() else {
            return Err(no_dumps(&source.path));
        };
        let last = read_dump(path)?;
        let name = source.name(sources);
        visit(source, &name, &last)?;
        let added = page.add(page_run(name, source, &last, sources.len())?);
        added.map_err(|reason| Failure::reading(&source.path, reason))?;
    }
    Ok(page)
}

/// A run with its loss and its evidence; a single dump has neither.
fn page_run(
    name: String,
    source: &Source,
    last: &AttentionDump,
    runs: usize,
) -> Result<PageRun, Failure> {
    let dumps = &source.dumps;
    let again = match &source.run {
        Some(run) if runs == 1 => again(run, last)?,
        Some(_) => {
            Again::Recorded("A page of several runs shows what their dumps recorded".to_owned())
        }
        None => Again::Recorded("The page was made from dumps, not from a run".to_owned()),
    };
    let mut page_run = PageRun::new(name, last, dumps.len(), runs, again);
    for index in page_run.wanted().to_vec() {
        let path = &dumps[index];
        let added = if index + 1 == dumps.len() {
            page_run.add(last)
        } else {
            page_run.add(&read_dump(path)?)
        };
        added.map_err(|reason| Failure::reading(path, reason))?;
    }
    if let Some(run) = &source.run {
        page_run.loss = loss(run)?;
        page_run.evidence = evidence(run.path())?;
    }
    Ok(page_run)
}

/// Whether the page can train a run again: the fused engine on a CPU trained it, on samples that follow from its config.
fn again(run: &RunDir, last: &AttentionDump) -> Result<Again, Failure> {
    let config = &last.meta.config;
    let recorded = |reason: &str| Ok(Again::Recorded(reason.to_owned()));
    if !config["data"]["file"].is_null() {
        return recorded("The samples of this run come from a file");
    }
    if !config["reference"].is_null() {
        return recorded("The first weights of this run and its batches come from a reference run");
    }
    if config["compute"]["engine"] != "fused" {
        return recorded("The page has the fused engine alone, and another one trained this run");
    }
    let metrics = run.last_metrics()?;
    let steps = metrics.and_then(|row| row["step"].as_u64());
    let (Some(steps), true) = (steps, run.has_weights()) else {
        return recorded("The run has no weights yet");
    };
    let weights = run.path().join("model.safetensors");
    let count = |key: &str, name: &str| config[key][name].as_f64().unwrap_or(0.0);
    let positions = count("data", "seq_len") + 1.0;
    let width = count("model", "d_model");
    let token = 4.0 * width * width + 2.0 * width * (count("model", "d_ff") + positions);
    let batch = count("training", "batch_size") * positions;
    Ok(Again::Live {
        config: config.clone(),
        steps: usize::try_from(steps).unwrap_or(usize::MAX),
        weights_sha256: file_sha256(&weights)?,
        operations: steps as f64 * batch * token * count("model", "n_layers").max(1.0) * 3.0,
    })
}

/// Writes a run's page into its run directory and returns its path; `None` if the run has no npz dumps.
///
/// # Errors
/// When a file of the run cannot be read, or the page cannot be written.
pub fn write(run: &RunDir) -> Result<Option<PathBuf>, Failure> {
    if run.dumps()?.is_empty() {
        return Ok(None);
    }
    let html = html(&page(&[Source::open(run.path())?], |_, _, _| Ok(()))?)?;
    run.write_page(&html)?;
    Ok(Some(run.page_path()))
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
        let reason =
            format!("a dump is read from its .npz file; this .{extension} is for other programs");
        return Err(Failure::reading(path, reason));
    }
    let file = open(path, FILE_LIMIT)?;
    AttentionDump::read_npz(BufReader::new(file)).map_err(|error| Failure::reading(path, error))
}

fn loss(run: &RunDir) -> Result<Vec<LossPoint>, Failure> {
    if !run.path().join("metrics.jsonl").is_file() {
        return Ok(Vec::new());
    }
    run.metrics(|row| {
        Some(LossPoint {
            step: usize::try_from(row["step"].as_u64()?).ok()?,
            loss: row["loss"].as_f64()?,
        })
    })
}
