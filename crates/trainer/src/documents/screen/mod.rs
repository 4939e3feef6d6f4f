//! The first screen after training: what came of it, where attention looks, what decided in a sample.

mod model;
mod positions;
mod samples;
mod texts;

use std::path::{Path, PathBuf};

use headlight_architecture::Parameter;
use headlight_data::words::UNK;
use headlight_data::{LabelRule, Source, Task};
use headlight_dump::AttentionDump;
use headlight_experiment::Experiment;
use headlight_experiment::metrics::TestMetrics;
use headlight_experiment::outcome::Outcome;
use headlight_experiment::train::Progress;
use headlight_inspector::{Part, Screen, counted};

use crate::Failure;
use crate::documents::certificate;
use crate::documents::report::{data_title, f1_of, quoted_answer, test_lines};
use crate::sessions::session::is_blind;
use crate::storage::run_dir::RunDir;
use crate::storage::standard::{quoted, shown};

use model::UsedModel;

/// The columns beside the names of links.
const PATH: usize = 71;

/// Of fewer samples, the held-out ones alone say little.
const FEW: usize = 200;

/// A trained run, after all of its files are written.
#[derive(Debug)]
pub struct Trained {
    /// Whether the model learned its task; `None` without an evaluation.
    pub outcome: Option<Outcome>,
    /// How the model that is used does on all test sets.
    pub tests: Vec<TestMetrics>,
    /// The report as Markdown.
    pub report: String,
    /// The dump of the samples in the report: by the best model if the run keeps it, or else by the last one.
    pub dump: AttentionDump,
    /// The layer and the head to look at first, as the run's dumps say.
    pub strongest: (usize, usize),
    /// The step of the best model, if the run keeps one.
    pub best_step: Option<usize>,
    /// The parameters of the model that is used, in the model's order.
    pub parameters: Vec<Parameter>,
    /// The run's page; `None` if it was not written.
    pub page: Option<PathBuf>,
    /// The progress of training at its end.
    pub progress: Progress,
    /// Whether training was interrupted.
    pub was_interrupted: bool,
    /// Whether the run lacks its certificate, since the count was interrupted or would take too long.
    pub is_uncounted: bool,
}

impl Trained {
    /// The first screen of the run; `again` is its config on a command line, word by word.
    ///
    /// # Errors
    /// When the model does not suit the config.
    pub fn screen(
        &self,
        experiment: &Experiment,
        run: &RunDir,
        again: &[String],
    ) -> Result<Screen, Failure> {
        let data = &experiment.config.data;
        let mut model = UsedModel::new(experiment, &self.parameters)?;
        let has_words = data.words.is_some();
        let mut parts = Vec::new();
        if data.rule.is_none() || has_words {
            parts.push(Part::Sentences(samples::counts(experiment)));
        }
        parts.push(Part::Sentences(self.verdict(experiment, run)?));
        if data.task.is_per_position() {
            parts.extend(positions::parts(&mut model)?);
        } else if has_words {
            parts.extend(texts::parts(&mut model)?);
        } else {
            parts.extend(samples::parts(&mut model)?);
        }
        parts.push(links(experiment, run, again));
        let title = data.rule.as_ref().map(question);
        Ok(Screen {
            title: title.unwrap_or_else(|| data_title(data)),
            parts,
        })
    }

    /// What came of training, and what limits that.
    fn verdict(&self, experiment: &Experiment, run: &RunDir) -> Result<Vec<String>, Failure> {
        let config = &experiment.config;
        let name = |class: u32| quoted_answer(&config.data, class);
        let mut lines = Vec::new();
        if let Some(outcome) = &self.outcome {
            lines.push(outcome.verdict_text(name, f1_of(&config.data).as_deref()));
            let parts = config.data.parts().name();
            lines.extend(outcome.baseline_texts(name, parts));
            lines.extend(outcome.remarks(name, parts));
            lines.extend(test_lines(&self.tests));
            if is_blind(config) {
                let reader = config.reader();
                lines.push(format!(
                    "The mask lets {reader} look at no token but itself"
                ));
            }
        }
        lines.extend(config.mean_note());
        if let Some(certificate) = run.certificate()? {
            lines.push(certificate::sentence(&certificate));
        }
        if self.was_interrupted {
            let Progress { step, epoch, .. } = self.progress;
            lines.push(if experiment.is_fresh() {
                format!("Interrupted after step {step} of {}", experiment.steps())
            } else {
                let epochs = counted(experiment.epochs(), "epoch");
                format!("Interrupted after step {step}, with {epoch} of {epochs} finished")
            });
        }
        Ok(lines)
    }
}

/// Whether the samples are those of a file, and few, and may be split in another way: not those of a fold, nor of a file
/// with a split of its own.
fn has_few(experiment: &Experiment) -> bool {
    let (data, splits) = (&experiment.config.data, &experiment.splits);
    let is_file = matches!(data.source, Source::File(_));
    let may_differ = data.held_out > 0 || splits.held_out.is_empty();
    is_file && may_differ && splits.train.len() + splits.held_out.len() < FEW
}

/// The command that tests on all samples, in lines that a shell joins.
fn folds(run: &RunDir, again: &[String]) -> String {
    // The run's own name: rows of a sweep with other options would not belong.
    let name = run.path().file_name().unwrap_or_default().to_string_lossy();
    let out = quoted(Path::new(&format!("{name}-folds.jsonl")));
    let out = format!("--out {out}");
    let words = again.iter().map(String::as_str).chain(["--folds 5", &out]);
    let (mut text, mut width) = ("headlight sweep".to_owned(), 15);
    for word in words {
        width += 1 + word.chars().count();
        // A backslash follows the last word of a line.
        if width + 2 > PATH {
            text.push_str(" \\\n          ");
            width = 1 + word.chars().count();
        }
        text.push(' ');
        text.push_str(word);
    }
    text
}

fn links(experiment: &Experiment, run: &RunDir, again: &[String]) -> Part {
    let link = |name: &str, target: String| [name.to_owned(), target];
    let data = &experiment.config.data;
    let own = quoted(run.path());
    let mut links = Vec::new();
    if data.task == Task::NextToken {
        links.push(link("Try", format!("headlight generate {own}")));
    } else if data.words.is_some() {
        let text = match row(experiment) {
            // An option's value that begins with a hyphen would be another option.
            Some(row) => format!("--text={row}"),
            None => "--text \"a text of your own\"".to_owned(),
        };
        links.push(link("Try", format!("headlight predict {own} {text}")));
    }
    let page = run.page_path();
    if page.exists() {
        let hint = "     (--open shows it)";
        let shown = shown(&page);
        let has_room = shown.len() + hint.len() <= PATH;
        links.push(link("Page", shown + if has_room { hint } else { "" }));
    }
    links.push(link("Report", shown(&run.report_path())));
    if has_few(experiment) {
        links.push(link("Test all", folds(run, again)));
    }
    Part::Links(links)
}

/// A row of the data as `--text` takes it, quoted for a shell; `None` if samples are not rows of columns. All its values are
/// known, if there is such a row.
fn row(experiment: &Experiment) -> Option<String> {
    let data = &experiment.config.data;
    let (words, features) = (data.words.as_ref()?, &data.columns.features);
    if features.is_empty() {
        return None;
    }
    let judged = experiment.splits.judged();
    let is_known = |&row: &usize| !judged.tokens(row).contains(&UNK);
    let row = (0..judged.len()).find(is_known).unwrap_or(0);
    let cls = experiment.config.inputs().cls;
    let tokens = judged.tokens(row).iter().enumerate();
    let tokens = tokens.filter(|&(position, _)| Some(position) != cls);
    let values = tokens.zip(features).map(|((_, &token), name)| {
        let own = words.text(token).strip_prefix(name.as_str());
        let value = own
            .and_then(|own| own.strip_prefix('='))
            .unwrap_or_default();
        if value.contains([',', '"']) {
            format!("\"{}\"", value.replace('"', "\"\""))
        } else {
            value.to_owned()
        }
    });
    let values: Vec<String> = values.collect();
    Some(quoted(Path::new(&values.join(","))))
}

/// The question of a rule: the one that the page asks, with the rule's numbers, or else that of its report.
fn question(rule: &LabelRule) -> String {
    let filled = || {
        let keys = serde_json::to_value(rule).ok()?;
        let (_, kind) = LabelRule::KINDS
            .iter()
            .find(|(kind, _)| keys["kind"] == **kind)?;
        let choice = kind.choice?;
        let mut text = choice.question.to_owned();
        for parameter in choice.parameters {
            let (name, value) = (parameter.key, &keys[parameter.key]);
            text = text.replace(&format!("{{{name}}}"), &value.to_string());
        }
        let first = text.get(..1)?.to_uppercase();
        Some(first + text.get(1..)?)
    };
    filled().unwrap_or_else(|| rule.question())
}
