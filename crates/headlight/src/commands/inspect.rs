//! `headlight inspect`: attention in the terminal, as a picture, or as a page.

use std::io::Write;
use std::path::{Path, PathBuf};

use headlight_dump::AttentionDump;
use headlight_inspector::{Heatmap, Quantity, png};
use headlight_trainer::Failure;
use headlight_trainer::files::{check_outputs, print, write_whole};
use headlight_trainer::page::{self, Source, no_dumps, read_dump};
use headlight_trainer::run_dir::{RunDir, step_of};

use super::{seeds, watch};
use crate::cli::InspectArguments;
use crate::{browser, terminal};

/// The most positions of a picture, whose cells are their square.
const PICTURE_LIMIT: usize = 512;

/// Draws one head's attention for one sample, writes its picture, or a page of all of them.
///
/// # Errors
/// When the dump cannot be read or does not hold what is asked for, or a picture cannot be written.
pub(crate) fn run(arguments: &InspectArguments) -> Result<(), Failure> {
    if arguments.watch {
        return watch::follow(&RunDir::open(&arguments.source)?, |path| {
            Ok(heatmap(arguments, path)?.text(terminal::options()))
        });
    }
    if let Some(html) = &arguments.html {
        return write_page(arguments, html);
    }
    let path = dump_path(arguments)?;
    let heatmap = heatmap(arguments, &path)?;
    let paths = [&arguments.svg, &arguments.png];
    let paths: Vec<&Path> = paths.into_iter().flatten().map(PathBuf::as_path).collect();
    if paths.is_empty() {
        return print(&heatmap.text(terminal::options()));
    }
    check_outputs(&path, &paths)?;
    paths.iter().try_for_each(|path| spare_runs(path))?;
    let positions = heatmap.tokens.len();
    if positions > PICTURE_LIMIT {
        return Err(Failure::Input(format!(
            "a picture of {positions} positions would have {} cells; at most {PICTURE_LIMIT} positions are \
             drawn (`headlight dump --out x.csv` lists all)",
            positions * positions
        )));
    }
    if let Some(path) = &arguments.svg {
        write_whole(path, |file| file.write_all(heatmap.svg().as_bytes()))?;
    }
    if let Some(path) = &arguments.png {
        let picture = png(&heatmap.svg()).map_err(|error| {
            Failure::System(format!("cannot write {}: {error}", path.display()))
        })?;
        write_whole(path, |file| file.write_all(&picture))?;
    }
    let written = paths
        .iter()
        .map(|path| format!("{}: {}\n", path.display(), heatmap.title));
    print(&written.collect::<String>())
}

/// What is asked for, of a dump.
fn heatmap(arguments: &InspectArguments, path: &Path) -> Result<Heatmap, Failure> {
    let dump = read_dump(path)?;
    let sample = sample_row(&dump, arguments.sample)?;
    within("--layer", arguments.layer, dump.dims.layers)?;
    within("--head", arguments.head, dump.dims.heads)?;
    let quantity = if arguments.scores {
        Quantity::Scores
    } else {
        Quantity::Weights
    };
    let (layer, head) = (arguments.layer, arguments.head);
    Ok(Heatmap::of(&dump, sample, layer, head, quantity))
}

/// Writes the page of runs or single dumps.
fn write_page(arguments: &InspectArguments, html: &Path) -> Result<(), Failure> {
    let paths = [&arguments.source].into_iter().chain(&arguments.others);
    let sources: Vec<Source> = paths
        .map(|path| Source::open(path))
        .collect::<Result<_, _>>()?;
    let dumps = sources.iter().flat_map(|source| &source.dumps);
    for read in dumps.chain(&arguments.sweep) {
        check_outputs(read, &[html])?;
    }
    spare_runs(html)?;
    let page = match &arguments.sweep {
        Some(results) => seeds::page(&sources, results)?,
        None => page::page(&sources, |_, _, _| Ok(()))?,
    };
    let text = page::html(&page)?;
    write_whole(html, |file| file.write_all(text.as_bytes()))?;
    print(&format!(
        "{}: {}, {:.0} KB\n",
        html.display(),
        page.extent(),
        text.len() as f64 / 1000.0
    ))?;
    if arguments.open {
        browser::open(html);
    }
    Ok(())
}

/// Refuses to put a page or a picture in the place of what a run is made of.
fn spare_runs(out: &Path) -> Result<(), Failure> {
    let folder = out.parent().unwrap_or(Path::new(""));
    let ours = out
        .extension()
        .is_some_and(|ending| ["html", "svg", "png"].iter().any(|own| ending == *own));
    if !ours && out.exists() && folder.join("config.toml").is_file() {
        return Err(Failure::Input(format!(
            "{} is a file of a run; name another one",
            out.display()
        )));
    }
    Ok(())
}

/// The dump itself, or a run's dump of the step that is asked for.
fn dump_path(arguments: &InspectArguments) -> Result<PathBuf, Failure> {
    if !arguments.source.is_dir() {
        return match arguments.step {
            None => Ok(arguments.source.clone()),
            Some(_) => Err(Failure::Input(
                "--step chooses among the dumps of a run; a single dump is of one step".to_owned(),
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
                format!("no dump is of step {step}; there are {}", steps.join(", ")),
            ),
            _ => no_dumps(&arguments.source),
        }
    })
}

/// The row of a sample, given by its index in the training set or, in dumps of other samples, by
/// its row.
fn sample_row(dump: &AttentionDump, sample: Option<usize>) -> Result<usize, Failure> {
    let numbers: Vec<usize> = dump
        .meta
        .samples
        .iter()
        .enumerate()
        .map(|(row, number)| number.unwrap_or(row))
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

fn within(flag: &str, index: usize, count: usize) -> Result<(), Failure> {
    if index < count {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{flag} {index}: the dump has {count}, counted from 0"
    )))
}
