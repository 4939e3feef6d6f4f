//! `headlight inspect`: attention in the terminal, as a picture, or as a page.

mod chosen;
mod page;
mod watch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use headlight_architecture::Keys;
use headlight_dump::AttentionDump;
use headlight_report::{ColourRange, Heatmap, Quantity, counted, wrap};
use headlight_trainer::files::run_files::step_of;
use headlight_trainer::show::page::{no_dumps, read_dump};
use headlight_trainer::{Destination, Failure, Output, RunDir, shown};

use crate::arguments::{Force, index};
use crate::printing::{note, print, print_beside};
use crate::{browser, terminal};

use chosen::{Chosen, layers_and_heads, ranges};

/// Show attention in the terminal, as a picture or as a page
#[derive(Args, Debug)]
#[command(
    after_help = "Example: headlight inspect runs/notebook-1 --sample 10 --step 500\nAll heads in one picture: headlight inspect runs/notebook-1 --layer all --head all --svg heads.svg\nTwo runs on one page: headlight inspect runs/notebook-1 runs/notebook-2 --html page.html --open"
)]
pub(crate) struct Arguments {
    /// A run directory or a dump (.npz)
    source: PathBuf,
    /// More run directories or dumps, to compare on one page
    #[arg(value_name = "OTHER", requires = "html", conflicts_with = "svg")]
    others: Vec<PathBuf>,
    /// The sample: its index in the training set, or its row in a dump of other samples
    /// [default: the first sample of the dump]
    #[arg(long, value_parser = index)]
    sample: Option<usize>,
    /// The step of the run's dump [default: that of the best model if the run keeps it, or else the last step]
    #[arg(long, value_parser = index)]
    step: Option<usize>,
    /// Follow a run during training: draw each new dump until the run ends
    #[arg(long, conflicts_with_all = ["step", "svg"])]
    watch: bool,
    /// The layer, counted from 0, or `all` [default: the last]
    #[arg(long, value_name = "N|all")]
    layer: Option<Chosen>,
    /// The attention head, counted from 0, or `all`: a picture then has a column for each head [default: the head in which
    /// the readout position looks most at what decides the label, or, if that is unknown, the one furthest from uniform
    /// attention; without a softmax, the one with the largest weights]
    #[arg(long, value_name = "N|all")]
    head: Option<Chosen>,
    /// Print only the attention from this position, the largest values first [default for several heads: the
    /// readout position]
    #[arg(long, value_name = "N", conflicts_with = "svg", value_parser = index)]
    query: Option<usize>,
    /// Which values the colours stand for: `unit`, from 0 to 1; `uniform`, multiples of uniform attention, on a log scale; `data`, from the
    /// smallest to the largest value [default: uniform, or data for scores and without a softmax]
    #[arg(long, value_parser = ranges())]
    range: Option<ColourRange>,
    /// Show attention scores, before the softmax, instead of attention weights
    #[arg(long)]
    scores: bool,
    /// Write the heatmap as an SVG picture instead of printing it
    #[arg(long, value_name = "FILE")]
    svg: Option<Destination>,
    /// Write a page of all samples, steps and heads instead of printing one heatmap
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sample", "step", "layer", "head", "query", "range", "scores", "svg", "watch"])]
    html: Option<Destination>,
    /// Open a page in a browser: the one that --html writes, or else the run's own page
    #[arg(long, conflicts_with_all = ["svg", "watch"])]
    open: bool,
    #[command(flatten)]
    output: Force,
}

/// The most cells of a picture: 32 heads over 100 positions, or one head over 565.
const PICTURE_LIMIT: usize = 320_000;

/// What shows the values that have no room.
pub(in crate::commands) const ALL_VALUES: &str = "--svg FILE, --html FILE and the CSV of `headlight dump` give all values; --query N lists more keys of one query.";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.watch {
        return watch::follow(&RunDir::open(&arguments.source)?, |path| {
            Ok(heatmap(arguments, path)?.text(terminal::options(), arguments.query, ALL_VALUES))
        });
    }
    if let Some(html) = &arguments.html {
        let sources = [&arguments.source].into_iter().chain(&arguments.others);
        let page = || page::html_and_extent(sources);
        return browser::write(html, arguments.output.force, arguments.open, page);
    }
    if arguments.open {
        return page::open(&arguments.source);
    }
    let (path, is_best) = dump_path(arguments)?;
    let mut heatmap = heatmap(arguments, &path)?;
    if is_best {
        heatmap.title.push("best model".to_owned());
    }
    let outputs = Output::all([("svg", arguments.svg.as_ref())], arguments.output.force)?;
    let [Some(picture)] = outputs else {
        return print(&heatmap.text(terminal::options(), arguments.query, ALL_VALUES));
    };
    let cells = heatmap.cells.len();
    if cells > PICTURE_LIMIT {
        let remedy = match heatmap.matrices() {
            1 => "`headlight dump --out x.csv` writes all cells",
            _ => "choose one --head, or one --layer",
        };
        return Err(Failure::Input(format!(
            "a picture of {} positions and {} would have {cells} cells; the limit is {PICTURE_LIMIT} ({remedy})",
            heatmap.tokens.len(),
            counted(heatmap.matrices(), "head")
        )));
    }
    picture.write_all(heatmap.svg().as_bytes())?;
    let written = format!(
        "{}: {}\n",
        picture.display_name(),
        heatmap.title.join(" · ")
    );
    print_beside(&outputs, &written)
}

/// The requested heads of a dump.
fn heatmap(arguments: &Arguments, path: &Path) -> Result<Heatmap, Failure> {
    let dump = read_dump(path)?;
    let sample = sample_row(&dump, arguments.sample)?;
    let (layers, heads) = layers_and_heads(&dump, arguments.layer, arguments.head)?;
    let positions = dump.dims.positions;
    let quantity = if arguments.scores {
        Quantity::Scores
    } else {
        Quantity::Weights
    };
    let mut heatmap = Heatmap::of(&dump, sample, &layers, &heads, quantity);
    let is_shown = |query: &usize| heatmap.positions.contains(query);
    if let Some(query) = arguments.query.filter(|query| !is_shown(query)) {
        return Err(Failure::Input(if query < positions {
            let tokens = heatmap.positions.len();
            format!(
                "--query {query}: this position is padding; the {tokens} tokens of the sample are the queries"
            )
        } else {
            let last = positions.saturating_sub(1);
            format!("--query {query}: the positions of a sample go from 0 to {last}")
        }));
    }
    if let Some(range) = arguments.range {
        if arguments.scores && range != ColourRange::Data {
            return Err(Failure::Input(
                "--scores: for scores, --range must be `data`; the other ranges are for weights"
                    .to_owned(),
            ));
        }
        let has_uniform = heatmap.keys.iter().all(Keys::has_uniform);
        if range == ColourRange::Uniform && !has_uniform {
            return Err(Failure::Input(
                "--range uniform: without a softmax (model.attention.softmax = false) there is no uniform attention; choose \
                 `data` or `unit`"
                    .to_owned(),
            ));
        }
        heatmap.range = range;
    }
    Ok(heatmap)
}

/// The dump itself, or a run's dump of the requested step. Also whether it is by the best model of a run.
fn dump_path(arguments: &Arguments) -> Result<(PathBuf, bool), Failure> {
    if !arguments.source.is_dir() {
        return match arguments.step {
            None => Ok((arguments.source.clone(), false)),
            Some(_) => Err(Failure::Input(
                "--step selects a dump of a run directory; a dump has only one step".to_owned(),
            )),
        };
    }
    let run = RunDir::open(&arguments.source)?;
    let (dumps, best) = (run.dumps()?, run.best_dump()?);
    if let Some((best, path)) = &best
        && arguments.step.is_none_or(|step| step == *best)
    {
        return Ok((path.clone(), true));
    }
    let found = match arguments.step {
        None => dumps.last(),
        Some(step) => dumps.iter().find(|path| step_of(path) == Some(step)),
    };
    if let (None, Some(last)) = (arguments.step, found)
        && run.kept_model(&run.config()?).is_best
    {
        note(&format!(
            "the run has no dump of its best model; this is the last dump, {}",
            shown(last)
        ));
    }
    if let Some(path) = found {
        return Ok((path.clone(), false));
    }
    let best = best.map(|(step, _)| step);
    let steps = dumps.iter().filter_map(|path| step_of(path)).chain(best);
    let steps: BTreeSet<usize> = steps.collect();
    let steps: Vec<usize> = steps.into_iter().collect();
    Err(match arguments.step {
        Some(step) if !steps.is_empty() => Failure::reading(
            &arguments.source,
            format!(
                "it has no dump of step {step}; its dumps are of steps {}",
                listed(&steps)
            ),
        ),
        _ => no_dumps(&arguments.source),
    })
}

/// The row of the requested sample, which is an index of the training set or, in a dump of other samples,
/// the row itself.
fn sample_row(dump: &AttentionDump, sample: Option<usize>) -> Result<usize, Failure> {
    let numbers = dump.meta.samples.iter().enumerate();
    let numbers: Vec<usize> = numbers.map(|(row, index)| index.unwrap_or(row)).collect();
    let wanted = sample.or(numbers.first().copied());
    let found = numbers.iter().position(|&number| Some(number) == wanted);
    found.ok_or_else(|| {
        Failure::Input(match sample {
            Some(sample) => format!(
                "--sample {sample}: the dump does not hold this sample; choose one of {}",
                listed(&numbers)
            ),
            None => "the dump holds no samples".to_owned(),
        })
    })
}

/// Numbers as part of a sentence: of many, the first ones.
fn listed(numbers: &[usize]) -> String {
    let all: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let mut lines = wrap(&all.join(", "), 60).into_iter();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() {
        first + " …"
    } else {
        first
    }
}
