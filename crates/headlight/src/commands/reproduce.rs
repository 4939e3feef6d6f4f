//! `headlight reproduce`: published studies again, with many seeds, and plans of one's own.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use headlight_report::{Document, Section, Table, counted};
use headlight_sweep::{ReportChoices, Shard, Study, StudyPart, Summary};
use headlight_trainer::files::built_in;
use headlight_trainer::files::config;
use headlight_trainer::{
    Destination, Failure, Output, STANDARD, Session, Signals, shell_path, shown,
};
use indicatif::HumanDuration;

use crate::arguments::{count, threads};
use crate::printing::{note, print};
use crate::rows;
use crate::terminal;

/// Run a published study again with many seeds, or a study of your own
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight reproduce max-of-four --quick\nWithout a name, it lists the studies and the time that each takes on this machine."
)]
pub(crate) struct Arguments {
    /// The name of a study, or a plan of your own (plan.toml)
    #[arg(value_name = "NAME|PLAN")]
    study: Option<PathBuf>,
    /// Train only a part of the same runs, in a minute or two
    #[arg(long, requires = "study")]
    quick: bool,
    /// The folder for the results [default: the name of the study]; runs that it holds are skipped
    #[arg(long, value_name = "FOLDER", requires = "study")]
    out: Option<PathBuf>,
    /// Run only shard I of N of each part, for `headlight merge`
    #[arg(long, value_name = "I/N", requires = "study")]
    shard: Option<Shard>,
    /// Keep the first and last parameters of each run, in the folder PART.weights
    #[arg(long, requires = "study")]
    save_weights: bool,
    /// The number of runs at a time [default: one per core]
    #[arg(long, value_parser = count)]
    threads: Option<usize>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let threads = threads(arguments.threads);
    let Some(path) = &arguments.study else {
        return list(threads);
    };
    let study = Study::find(path)?;
    let name = &study.name;
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from(name));
    let is_standard = folder == Path::new(STANDARD);
    if is_standard || folder.exists() && !folder.is_dir() {
        let what = if is_standard {
            "standard output"
        } else {
            "a file"
        };
        return Err(Failure::Input(format!(
            "--out {}: that is {what}; choose a folder",
            folder.display()
        )));
    }
    let mut files = Vec::new();
    for part in &study.parts {
        files.push(PartFiles::of(part, &folder)?);
    }
    announce(&study, path, arguments, threads)?;
    fs::create_dir_all(&folder).map_err(|error| Failure::writing(&folder, &error))?;
    let signals = Signals::listen()?;
    let mut listed = Vec::new();
    let mut failed = 0;
    for (part, files) in study.parts.iter().zip(&files) {
        let (found, failures) = files.train(part, arguments, threads, &signals)?;
        failed += failures;
        let grid = part.grid.join("; ");
        let grid = if grid.is_empty() { "–" } else { &grid };
        let all = part.runs(false).to_string();
        listed.push(vec![
            part.name.clone(),
            found.to_string(),
            all,
            grid.to_owned(),
        ]);
    }
    if let Some(shard) = arguments.shard {
        return print(&format!(
            "shard {shard} of {name} is in {}\nTo join the shards of each part, write PART.jsonl with `headlight merge`, all in one FOLDER.\n\
             For the reports, run: headlight reproduce {}{} --out FOLDER\n",
            shown(&folder),
            shell_path(path),
            if arguments.quick { " --quick" } else { "" }
        ));
    }
    let table = Table::of_rows(&["part", "runs", "of", "grid"], listed);
    let document = Document {
        title: study.question.clone(),
        paragraphs: vec![study.source.clone()],
        sections: vec![Section::titled("", [], [table.left_aligned(&["grid"])])],
    };
    print(&format!(
        "\n{}\nof each part, {} has the rows (PART.jsonl) and a report (PART.html)\n",
        terminal::written(&document),
        shown(&folder)
    ))?;
    if failed > 0 {
        return Err(Failure::Diverged(format!(
            "{} failed; their rows say why",
            counted(failed, "run")
        )));
    }
    Ok(())
}

/// The files of a part.
struct PartFiles {
    config: PathBuf,
    rows: PathBuf,
    report: Destination,
}

impl PartFiles {
    /// Refuses files that are not of this part.
    fn of(part: &StudyPart, folder: &Path) -> Result<Self, Failure> {
        let file = |ending: &str| folder.join(format!("{}.{ending}", part.name));
        let files = Self {
            config: file("toml"),
            rows: file("jsonl"),
            report: Destination::from(file("html")),
        };
        if files.config.exists() && !files.has_config(part) {
            return Err(Failure::Input(format!(
                "{} is not the config of part `{}` of this study; choose another --out, or move the file",
                shown(&files.config),
                part.name
            )));
        }
        // A report that this study wrote may be replaced, and no other file.
        Output::new(&files.report, files.has_config(part))?;
        Ok(files)
    }

    /// Whether the folder has the config of the part.
    fn has_config(&self, part: &StudyPart) -> bool {
        fs::read_to_string(&self.config).is_ok_and(|found| found == part.config_text())
    }

    /// Trains the runs that the folder lacks, and writes the report, unless only a shard is asked for. Returns how many rows there
    /// are, and how many of them are of failed runs.
    fn train(
        &self,
        part: &StudyPart,
        arguments: &Arguments,
        threads: usize,
        signals: &Signals,
    ) -> Result<(usize, usize), Failure> {
        // What an earlier, whole run left is of no use to a quick one without this part.
        if part.runs(arguments.quick) == 0 {
            return Ok((0, 0));
        }
        if !self.has_config(part) {
            let config = Destination::from(self.config.clone());
            Output::new(&config, false)?.write_all(part.config_text().as_bytes())?;
        }
        let mut plan = part.plan(&self.config, arguments.quick)?;
        let runs = runs(part, arguments);
        let out = match arguments.shard {
            Some(shard) => shard.file(&self.rows),
            None => self.rows.clone(),
        };
        plan.save_weights(&out, arguments.save_weights)?;
        note(&format!("{}: {}", part.name, counted(runs.len(), "run")));
        rows::train(&plan, runs, &out, threads, signals)?;
        if arguments.shard.is_some() {
            return Ok((0, 0));
        }
        let summary = Summary::read(&out, &ReportChoices::default())?;
        let title = format!("{}: {}", part.name, counted(summary.runs(), "run"));
        let report = summary.document(&title).html();
        Output::new(&self.report, true)?.write_all(report.as_bytes())?;
        Ok((summary.runs(), summary.failures()))
    }
}

/// The runs of a part, or of its shard.
fn runs(part: &StudyPart, arguments: &Arguments) -> Range<usize> {
    let count = part.runs(arguments.quick);
    arguments.shard.map_or(0..count, |shard| shard.runs(count))
}

/// Says how long a study will take, and what to do if that is days.
fn announce(
    study: &Study,
    path: &Path,
    arguments: &Arguments,
    threads: usize,
) -> Result<(), Failure> {
    const DAY: f64 = 86_400.0;
    let name = &study.name;
    let parts = study.parts.iter();
    let seconds = parts.map(|part| part.seconds * runs(part, arguments).len() as f64);
    let seconds = seconds.sum::<f64>() * slowness()? / threads as f64;
    if seconds > 0.0 {
        note(&format!(
            "{name}: about {} on this machine, or less if the folder already has some of the runs",
            time(seconds)
        ));
    }
    if seconds > DAY && arguments.shard.is_none() {
        note(&format!(
            "that is more than a day; `headlight reproduce {} --quick` runs a part of it, and --shard 1/N runs 1/N of it on each of N \
             machines",
            shell_path(path)
        ));
    }
    Ok(())
}

/// Prints the studies, and the time that each takes.
fn list(threads: usize) -> Result<(), Failure> {
    let slowness = slowness()? / threads as f64;
    let header = ["study", "runs", "time", "with --quick", "question"];
    let mut rows = Vec::new();
    for study in Study::all()? {
        let runs = study.parts.iter().map(|part| part.runs(false));
        rows.push(vec![
            study.name.clone(),
            runs.sum::<usize>().to_string(),
            time(study.seconds(false) * slowness),
            time(study.seconds(true) * slowness),
            study.question.clone(),
        ]);
    }
    let table = Table::of_rows(&header, rows).left_aligned(&["question"]);
    let document = Document {
        title: "Published studies".to_owned(),
        paragraphs: vec![format!(
            "Times are estimates for this machine, with {} at a time.",
            counted(threads, "run")
        )],
        sections: vec![Section::titled("", [], [table])],
    };
    print(&format!("{}\n", terminal::written(&document)))
}

/// A duration in words.
fn time(seconds: f64) -> String {
    let duration = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    HumanDuration(duration).to_string()
}

/// How much longer a step takes on this machine than on that of [`StudyPart::seconds`].
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
