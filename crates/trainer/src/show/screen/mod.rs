//! The first screen after training: what came of it, where attention looks, what decided in a sample.

mod model;
mod positions;
mod samples;
mod texts;

use std::path::Path;

use headlight_architecture::HeadStrength;
use headlight_data::words::UNK;
use headlight_data::{LabelRule, Source, Task};
use headlight_experiment::Experiment;
use headlight_report::{Screen, ScreenPart};

use crate::files::run_files::{PAGE, REPORT};
use crate::show::certificate;
use crate::show::finished_run::FinishedRun;
use crate::show::report::{data_title, f1_of, quoted_answer, test_lines};
use crate::{Failure, RunDir, shell_path, shell_word, shown};

use model::UsedModel;

/// The columns beside the names of links.
const PATH: usize = 71;

/// Of fewer samples, the held-out ones alone say little.
const FEW: usize = 200;

impl FinishedRun {
    /// The first screen of the run; `again` is its config on a command line, and its options there.
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
            parts.push(ScreenPart::Sentences(samples::counts(experiment)));
        }
        parts.push(ScreenPart::Sentences(self.verdict(experiment)));
        if data.task.is_per_position() {
            parts.extend(positions::parts(&mut model)?);
        } else if has_words {
            parts.extend(texts::parts(&mut model, self.strongest.1)?);
        } else {
            parts.extend(samples::attention_parts(
                &mut model,
                &self.dump,
                self.strongest.1.head,
            )?);
        }
        let (_, head) = self.strongest;
        let several = self.dump.dims.heads > 1 && !data.task.is_per_position();
        let why = several.then(|| format!("     (head {} {})", head.head, head.reason()));
        parts.push(links(experiment, run, again, &why.unwrap_or_default()));
        let title = data.rule.as_ref().map(question);
        Ok(Screen {
            title: title.unwrap_or_else(|| data_title(data)),
            parts,
        })
    }

    /// What came of training, and what limits that.
    fn verdict(&self, experiment: &Experiment) -> Vec<String> {
        let config = &experiment.config;
        let name = |class: u32| quoted_answer(&config.data, class);
        let mut lines = Vec::new();
        if let Some(outcome) = &self.outcome {
            lines.push(outcome.verdict_text(name, f1_of(&config.data).as_deref()));
            let parts = config.data.text_unit().name();
            lines.extend(outcome.baseline_texts(name, parts));
            lines.extend(outcome.remarks(name, parts));
            lines.extend(test_lines(&self.tests));
        }
        lines.extend(config.mean_note());
        let which_head = self.which_head();
        lines.extend(
            which_head.filter(|_| self.strongest.1.by == HeadStrength::DecidingBelowUniform),
        );
        lines.extend(self.certificate.as_ref().map(certificate::sentence));
        lines.extend(self.interruption_sentence(experiment));
        lines
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

/// The command that tests on all samples; where it is too long, in lines that a shell joins, each of which begins with an option.
fn folds(run: &RunDir, again: &[String]) -> String {
    // The run's own name: rows of a sweep with other options would not belong.
    let name = run.path().file_name().unwrap_or_default().to_string_lossy();
    let out = shell_path(Path::new(&format!("{name}-folds.jsonl")));
    let added = ["--folds 5".to_owned(), format!("--out {out}")];
    let (mut text, mut width) = ("headlight sweep".to_owned(), 15);
    for option in again.iter().chain(&added) {
        let length = option.chars().count();
        if width + 1 + length > PATH - 4 && option.starts_with('-') {
            text.push_str(" \\\n          ");
            width = length;
        } else {
            text.push(' ');
            width += 1 + length;
        }
        text.push_str(option);
    }
    text
}

/// `why`: why the head is shown that is shown, beside the report's name.
fn links(experiment: &Experiment, run: &RunDir, again: &[String], why: &str) -> ScreenPart {
    let link = |name: &str, target: String| [name.to_owned(), target];
    let hinted = |name: &str, path: String, hint: &str| {
        let has_room = path.len() + hint.len() <= PATH;
        link(name, path + if has_room { hint } else { "" })
    };
    let data = &experiment.config.data;
    let run_path = shell_path(run.path());
    let mut links = Vec::new();
    if data.task == Task::NextToken {
        links.push(link("Try", format!("headlight generate {run_path}")));
    } else if data.words.is_some() {
        let text = match row(experiment) {
            // An option's value that begins with a hyphen would be another option.
            Some(row) => format!("--text={row}"),
            None => "--text \"a text of your own\"".to_owned(),
        };
        links.push(link("Try", format!("headlight predict {run_path} {text}")));
    }
    let page = run.file(PAGE);
    if page.exists() {
        links.push(hinted("Page", shown(&page), "     (--open shows it)"));
    }
    links.push(hinted("Report", shown(&run.file(REPORT)), why));
    if has_few(experiment) {
        links.push(link("Test all", folds(run, again)));
    }
    ScreenPart::Links(links)
}

/// A row of the data as `--text` takes it, quoted for a shell; `None` if samples are not rows of columns. All its values are
/// known, if there is such a row.
fn row(experiment: &Experiment) -> Option<String> {
    let data = &experiment.config.data;
    let (words, features) = (data.words.as_ref()?, &data.columns.features);
    if features.is_empty() {
        return None;
    }
    let judged = experiment.splits.judging_samples();
    let is_known = |&row: &usize| !judged.tokens(row).contains(&UNK);
    let row = (0..judged.len()).find(is_known).unwrap_or(0);
    let cls = experiment.config.inputs().cls;
    let tokens = judged.tokens(row).iter().enumerate();
    let tokens = tokens.filter(|&(position, _)| Some(position) != cls);
    let values = tokens.zip(features).map(|((_, &token), name)| {
        let rest = words.text(token).strip_prefix(name.as_str());
        let value = rest
            .and_then(|rest| rest.strip_prefix('='))
            .unwrap_or_default();
        if value.contains([',', '"']) {
            format!("\"{}\"", value.replace('"', "\"\""))
        } else {
            value.to_owned()
        }
    });
    let values: Vec<String> = values.collect();
    Some(shell_word(values.join(",").as_ref()))
}

/// The question of a rule: the one that the page asks, with the rule's numbers, or else that of its report.
fn question(rule: &LabelRule) -> String {
    let filled = || {
        let keys = serde_json::to_value(rule).ok()?;
        let (_, choice) = LabelRule::OFFERS
            .iter()
            .find(|(kind, _)| keys["kind"] == **kind)?;
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
