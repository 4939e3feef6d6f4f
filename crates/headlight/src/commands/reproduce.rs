//! `headlight reproduce`: published studies again, with many seeds.

use std::fs;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use headlight_inspector::{Document, Section, Table, counted};
use headlight_studies::{Part, Rows, STUDIES, Study, study};
use headlight_sweep::{Plan, Seeds, Shard, records};
use headlight_trainer::Failure;
use headlight_trainer::sessions::session::Session;
use headlight_trainer::sessions::signals::Signals;
use headlight_trainer::storage::built_in;
use headlight_trainer::storage::config;
use headlight_trainer::storage::files::cannot_write;
use headlight_trainer::storage::hash::file_sha256;
use headlight_trainer::storage::outputs::{Destination, Output};
use headlight_trainer::storage::standard::shown;

use super::rows;
use crate::arguments::at_least_one;
use crate::printing::{note, print};
use crate::terminal;

/// Run a published study again, with many seeds
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight reproduce max-of-four --quick\nWithout a name, it lists the studies and the time that each takes on this machine."
)]
pub(crate) struct Arguments {
    /// The name of a study
    name: Option<String>,
    /// Run only a part of the same runs, in about a minute or two
    #[arg(long, requires = "name")]
    quick: bool,
    /// The folder for the results [default: the name of the study]; runs that it holds are skipped
    #[arg(long, value_name = "FOLDER", requires = "name")]
    out: Option<PathBuf>,
    /// Run only shard I of N of each part, for `headlight merge`
    #[arg(long, value_name = "I/N", requires = "name")]
    shard: Option<Shard>,
    /// The number of runs at a time [default: one per core]
    #[arg(long, value_parser = at_least_one)]
    threads: Option<NonZeroUsize>,
}

/// Lists the studies, or runs one.
///
/// # Errors
/// When the name is unknown, the folder holds other results, the machine fails, or a signal comes.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let threads = match arguments.threads {
        Some(threads) => threads.get(),
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let Some(name) = &arguments.name else {
        return list(threads);
    };
    let study = study(name)?;
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from(name));
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::Input(format!(
            "--out {}: that is a file; choose a folder",
            shown(&folder)
        )));
    }
    // A page that this study wrote may be replaced, and no other file.
    let is_own = study.parts.iter().any(|part| has_config(part, &folder));
    let files = FILES.map(|file| Destination::from(folder.join(file)));
    if !is_own && let Some(name) = FILES.iter().find(|name| folder.join(name).exists()) {
        return Err(Failure::Input(format!(
            "{} is not of this study; choose another --out, or move the file",
            shown(&folder.join(name))
        )));
    }
    let parts = study.parts.iter();
    let seconds = parts.map(|part| part.seconds * runs(part, arguments).len() as f64);
    announce(
        study,
        seconds.sum::<f64>() * slowness()? / threads as f64,
        arguments,
    );
    fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
    let signals = Signals::listen()
        .map_err(|error| Failure::System(format!("signals cannot be handled: {error}")))?;
    let mut parts = Vec::new();
    let header = ["part", "runs", "of", "sha256 of the rows", "grid"];
    let mut listed = vec![header.map(str::to_owned).to_vec()];
    for part in study.parts {
        let found = train(part, &folder, arguments, threads, &signals)?;
        listed.push(vec![
            part.name.to_owned(),
            found.len().to_string(),
            part.runs(false).to_string(),
            hash_of_rows(part, &folder)?,
            if part.grid.is_empty() {
                "–".to_owned()
            } else {
                part.grid.join("; ")
            },
        ]);
        parts.push(found);
    }
    if let Some(shard) = arguments.shard {
        return print(&format!(
            "shard {shard} of {name} is in {}; join the shards of each part with `headlight merge`, as PART.jsonl in one folder, and \
             run `headlight reproduce {name}{} --out FOLDER` for the page\n",
            shown(&folder),
            if arguments.quick { " --quick" } else { "" }
        ));
    }
    let parts_table = Table::of_text("What was run", "", listed);
    let parts_table = parts_table.left_aligned(&["sha256 of the rows", "grid"]);
    let found: usize = parts.iter().map(Rows::len).sum();
    let whole: u64 = study.parts.iter().map(|part| part.runs(false)).sum();
    let page = (study.page)(&parts);
    let mut document = page.document(study.question, study.source, parts_table);
    if (found as u64) < whole {
        document.paragraphs.push(format!(
            "This page is of {found} of the {whole} runs of the plan, so what it says can change. `headlight reproduce {name}` trains the others."
        ));
    }
    let mut without_plots = document.clone();
    for section in &mut without_plots.sections {
        section.plots.clear();
    }
    without_plots
        .sections
        .retain(|section| section.title != "Figures");
    let contents = [
        document.html(),
        without_plots.markdown_file(120) + "\n![The figures](figures.svg)\n",
        document.plots_svg(),
    ];
    for (file, content) in files.iter().zip(contents) {
        Output::new(file, true)?.write_all(content.as_bytes())?;
    }
    let written = FILES.map(|file| shown(&folder.join(file)));
    print(&format!(
        "\n{}\nwritten: {}\n",
        terminal::written(&document),
        written.join(", ")
    ))
}

/// The files that a study writes besides those of its parts.
const FILES: [&str; 3] = ["page.html", "page.md", "figures.svg"];

/// The runs of a part, or of its shard.
fn runs(part: &Part, arguments: &Arguments) -> Range<usize> {
    let count = part.runs(arguments.quick) as usize;
    arguments.shard.map_or(0..count, |shard| shard.runs(count))
}

/// The file of a part's config.
fn config_of(part: &Part, folder: &Path) -> PathBuf {
    folder.join(format!("{}.toml", part.name))
}

/// Whether a folder has the config of a part.
fn has_config(part: &Part, folder: &Path) -> bool {
    fs::read_to_string(config_of(part, folder)).is_ok_and(|found| found == part.config)
}

/// Trains the runs of a part that the folder lacks; returns its rows.
fn train(
    part: &Part,
    folder: &Path,
    arguments: &Arguments,
    threads: usize,
    signals: &Signals,
) -> Result<Rows, Failure> {
    let seeds = part.seeds(arguments.quick);
    let out = folder.join(format!("{}.jsonl", part.name));
    if seeds > 0 {
        let config = config_of(part, folder);
        write_config(part, folder)?;
        let changes: Vec<String> = part
            .changes
            .iter()
            .map(|&change| change.to_owned())
            .collect();
        let grid = part.grid.iter().map(|grid| grid.parse());
        let grid = grid
            .collect::<Result<Vec<_>, _>>()
            .map_err(Failure::Input)?;
        let plan = Plan::new(&config, &changes, &Seeds(0..seeds), &grid)?;
        let out = arguments
            .shard
            .map_or_else(|| out.clone(), |shard| shard.file(&out));
        let runs = runs(part, arguments);
        note(&format!("{}: {}", part.name, counted(runs.len(), "run")));
        rows::train(&plan, runs, &out, threads, signals)?;
    }
    if !out.exists() {
        return Ok(Rows::default());
    }
    Ok(Rows::new(records(&out, |field| {
        part.fields.contains(&field)
    })?))
}

/// The first digits of the hash of a part's rows, which tells other rows apart; a dash without rows.
fn hash_of_rows(part: &Part, folder: &Path) -> Result<String, Failure> {
    let rows = folder.join(format!("{}.jsonl", part.name));
    if !rows.exists() {
        return Ok("–".to_owned());
    }
    Ok(file_sha256(&rows)?[..16].to_owned())
}

/// Writes the config of a part, unless the folder has it.
fn write_config(part: &Part, folder: &Path) -> Result<(), Failure> {
    let path = config_of(part, folder);
    if has_config(part, folder) {
        return Ok(());
    }
    if path.exists() {
        return Err(Failure::Input(format!(
            "{} is not the config of this study's part; choose another --out, or move the file",
            shown(&path)
        )));
    }
    let destination = Destination::from(path);
    Output::new(&destination, false)?.write_all(part.config.as_bytes())
}

/// Says how long a study will take, and what to do if that is days.
fn announce(study: &Study, seconds: f64, arguments: &Arguments) {
    const DAY: f64 = 86_400.0;
    let name = study.name;
    note(&format!(
        "{name}: about {} on this machine, less what its folder has",
        time(seconds)
    ));
    if seconds > DAY && arguments.shard.is_none() {
        note(&format!(
            "that is more than a day; `headlight reproduce {name} --quick` runs a part of it, and --shard 1/N runs 1/N of it on each of N \
             machines"
        ));
    }
}

/// Prints the studies, and the time that each takes.
fn list(threads: usize) -> Result<(), Failure> {
    let slowness = slowness()? / threads as f64;
    let header = ["study", "runs", "time", "with --quick", "question"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(STUDIES.iter().map(|study| {
        let runs: u64 = study.parts.iter().map(|part| part.runs(false)).sum();
        vec![
            study.name.to_owned(),
            runs.to_string(),
            time(study.seconds(false) * slowness),
            time(study.seconds(true) * slowness),
            study.question.to_owned(),
        ]
    }));
    let document = Document {
        title: "Published studies".to_owned(),
        paragraphs: vec![format!(
            "Times are about those on this machine, with {}.",
            counted(threads, "run") + " at a time"
        )],
        sections: vec![Section {
            tables: vec![Table::of_text("", "", rows).left_aligned(&["question"])],
            ..Section::default()
        }],
    };
    print(&format!("{}\n", terminal::written(&document)))
}

/// A duration in words.
fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 129_600.0 => format!("{:.1} h", seconds / 3600.0),
        seconds => format!("{:.1} days", seconds / 86_400.0),
    }
}

/// How much longer a step takes on this machine than on that of [`Part::seconds`].
fn slowness() -> Result<f64, Failure> {
    /// Seconds per step of the notebook there.
    const THERE: f64 = 1.5e-6;
    const STEPS: usize = 5_000;
    let session = Session::open(config::load(Path::new(built_in::DEFAULT), &[])?)?;
    let experiment = &session.experiment;
    let mut engine = session.engine()?;
    let batches = experiment.batches(1);
    let train = &experiment.splits.train;
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for batch in batches.iter().cycle().take(STEPS) {
            engine.step(train, batch, 1e-3);
        }
        least = least.min(start.elapsed());
    }
    Ok(least.as_secs_f64() / STEPS as f64 / THERE)
}
