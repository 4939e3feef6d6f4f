//! `headlight inspect`: attention in the terminal, as a picture, or as a page.

use std::path::{Path, PathBuf};

use headlight_dump::AttentionDump;
use headlight_inspector::{ColourRange, Heatmap, Quantity, counted, png};
use headlight_trainer::Failure;
use headlight_trainer::outputs::{Output, print_beside};
use headlight_trainer::page::{self, Source, no_dumps, read_dump};
use headlight_trainer::printing::print;
use headlight_trainer::run_dir::{RunDir, step_of};
use headlight_trainer::standard::shown;

use super::{seeds, watch};
use crate::cli::{Chosen, InspectArguments};
use crate::{browser, terminal};

/// The most cells of a picture: 32 heads over 100 positions, or one head over 565.
const PICTURE_LIMIT: usize = 320_000;

/// Prints the attention of one sample, of one head or of several, or writes it as a picture, or writes a page of all
/// dumps.
///
/// # Errors
/// When a dump cannot be read, lacks the requested sample, step, layer or head, or a file cannot be written.
pub(crate) fn run(arguments: &InspectArguments) -> Result<(), Failure> {
    if arguments.watch {
        return watch::follow(&RunDir::open(&arguments.source)?, |path| {
            Ok(heatmap(arguments, path)?.text(terminal::options(), arguments.query))
        });
    }
    if let Some(html) = &arguments.html {
        return write_page(arguments, html);
    }
    if arguments.open {
        return open_page(&arguments.source);
    }
    let path = dump_path(arguments)?;
    let heatmap = heatmap(arguments, &path)?;
    let paths = [&arguments.svg, &arguments.png].map(Option::as_deref);
    let outputs = Output::all(paths, &[&path], arguments.output.force)?;
    if outputs.iter().all(Option::is_none) {
        return print(&heatmap.text(terminal::options(), arguments.query));
    }
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
    let [svg, picture] = outputs;
    if let Some(out) = svg {
        out.write_all(heatmap.svg().as_bytes())?;
    }
    if let Some(out) = picture {
        let picture = png(&heatmap.svg()).map_err(|error| {
            Failure::System(format!("cannot write {}: {error}", shown(out.path())))
        })?;
        out.write_all(&picture)?;
    }
    let paths = outputs.iter().flatten().map(|out| shown(out.path()));
    let written = paths.map(|path| format!("{path}: {}\n", heatmap.title));
    print_beside(&outputs, &written.collect::<String>())
}

/// The requested heads of a dump.
fn heatmap(arguments: &InspectArguments, path: &Path) -> Result<Heatmap, Failure> {
    let dump = read_dump(path)?;
    let sample = sample_row(&dump, arguments.sample)?;
    let layers = indices("--layer", arguments.layer, dump.dims.layers)?;
    let heads = indices("--head", arguments.head, dump.dims.heads)?;
    let positions = dump.dims.positions;
    if let Some(query) = arguments.query.filter(|&query| query >= positions) {
        return Err(Failure::Input(format!(
            "--query {query}: queries are counted from 0, and a sample has {positions} positions"
        )));
    }
    let quantity = if arguments.scores {
        Quantity::Scores
    } else {
        Quantity::Weights
    };
    let mut heatmap = Heatmap::of(&dump, sample, &layers, &heads, quantity);
    if let Some(range) = arguments.range {
        if arguments.scores && range != ColourRange::Data {
            return Err(Failure::Input(
                "--scores: for scores, --range must be `data`; the other ranges are for weights"
                    .to_owned(),
            ));
        }
        heatmap.range = range;
    }
    Ok(heatmap)
}

/// Writes the page of runs and single dumps.
fn write_page(arguments: &InspectArguments, html: &Path) -> Result<(), Failure> {
    let paths = [&arguments.source].into_iter().chain(&arguments.others);
    let sources: Vec<Source> = paths
        .map(|path| Source::open(path))
        .collect::<Result<_, _>>()?;
    let dumps = sources.iter().flat_map(|source| &source.dumps);
    let inputs: Vec<&Path> = dumps
        .chain(&arguments.sweep)
        .map(PathBuf::as_path)
        .collect();
    let out = Output::new(html, &inputs, arguments.output.force)?;
    let page = match &arguments.sweep {
        Some(results) => seeds::page(&sources, results)?,
        None => page::page(&sources, |_, _, _| Ok(()))?,
    };
    let text = page::html(&page)?;
    out.write_all(text.as_bytes())?;
    let size = text.len() as f64 / 1000.0;
    out.tell(&format!("{}, {size:.0} KB", page.extent()))?;
    if arguments.open {
        browser::open(html);
    }
    Ok(())
}

/// Opens the page that a run has.
fn open_page(source: &Path) -> Result<(), Failure> {
    if !source.is_dir() {
        let message = format!("{} has no page; write one with --html FILE", shown(source));
        return Err(Failure::Input(message));
    }
    let page = RunDir::open(source)?.page_path();
    if !page.exists() {
        return Err(Failure::Input(format!(
            "there is no {}; write a page with --html FILE",
            shown(&page)
        )));
    }
    browser::open(&page);
    print(&format!("{}\n", shown(&page)))
}

/// The dump itself, or a run's dump of the requested step.
fn dump_path(arguments: &InspectArguments) -> Result<PathBuf, Failure> {
    if !arguments.source.is_dir() {
        return match arguments.step {
            None => Ok(arguments.source.clone()),
            Some(_) => Err(Failure::Input(
                "--step selects a dump of a run directory; a dump has only one step".to_owned(),
            )),
        };
    }
    let dumps = RunDir::open(&arguments.source)?.dumps()?;
    let found = match arguments.step {
        None => dumps.last(),
        Some(step) => dumps.iter().find(|path| step_of(path) == Some(step)),
    };
    found.cloned().ok_or_else(|| {
        let steps: Vec<String> = dumps
            .iter()
            .filter_map(|path| step_of(path))
            .map(|step| step.to_string())
            .collect();
        match (arguments.step, steps.as_slice()) {
            (Some(step), [_, ..]) => Failure::reading(
                &arguments.source,
                format!(
                    "it has no dump of step {step}; its dumps are of steps {}",
                    steps.join(", ")
                ),
            ),
            _ => no_dumps(&arguments.source),
        }
    })
}

/// The row of the requested sample, which is an index of the training set or, in a dump of other samples,
/// the row itself.
fn sample_row(dump: &AttentionDump, sample: Option<usize>) -> Result<usize, Failure> {
    let numbers: Vec<usize> = dump
        .meta
        .samples
        .iter()
        .enumerate()
        .map(|(row, index)| index.unwrap_or(row))
        .collect();
    let wanted = sample.or(numbers.first().copied());
    numbers
        .iter()
        .position(|&number| Some(number) == wanted)
        .ok_or_else(|| {
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            Failure::Input(match sample {
                Some(sample) => format!(
                    "--sample {sample}: the dump holds samples {}",
                    numbers.join(", ")
                ),
                None => "the dump holds no samples".to_owned(),
            })
        })
}

/// The layers or heads that a flag chooses.
fn indices(flag: &str, chosen: Chosen, count: usize) -> Result<Vec<usize>, Failure> {
    match chosen {
        Chosen::All => Ok((0..count).collect()),
        Chosen::One(index) if index < count => Ok(vec![index]),
        Chosen::One(index) => Err(Failure::Input(format!(
            "{flag} {index}: {}s are counted from 0, and the dump has {count}",
            flag.trim_start_matches('-')
        ))),
    }
}
