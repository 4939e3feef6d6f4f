//! The report of a run as Markdown: all that the notebook prints, and the attention matrices.

use std::cmp::Reverse;
use std::fmt::Write;

use headlight_architecture::ModelConfig;
use headlight_data::words::FIRST_WORD;
use headlight_data::{Dataset, Splits, Words};
use headlight_dump::AttentionDump;
use headlight_experiment::best::BestTracker;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::{
    Assessment, EvalMetrics, LEARNED, METRICS, Metric, StepMetrics,
};
use headlight_experiment::train::Progress;
use headlight_inspector::{counted, evenly_spread, largest, number, shorten};

use crate::assessment::{self, MOST_CLASSES, MOST_NAME};
use crate::reference::Comparison;
use crate::verdict;

/// The most positives, and the most names of classes, that are listed.
const LISTED: usize = 5;

/// Attention to the deciding positions that is this close to even attention's says that nothing is looked for.
const CLOSE_TO_UNIFORM: f64 = 0.02;

/// The most positions of a matrix that is shown whole.
pub const WHOLE_MATRIX: usize = 24;

/// The keys that are shown of a longer row.
const MAIN_KEYS: usize = 12;

/// The most bytes of all matrices, and about those of a matrix's title and of the keys of a longer row.
const MOST_MATRICES: usize = 9000;
const TITLE: usize = 80;
const ROW: usize = 320;

/// The most evaluations, and the most probabilities of a sample.
const MOST_EVALUATIONS: usize = 17;
const MOST_PROBABILITIES: usize = 8;

/// The most frequent words that are listed.
const MOST_WORDS: usize = 12;

/// The most tokens of a sample that are shown.
const SHOWN_TOKENS: usize = 64;

/// All that a report shows.
#[derive(Debug)]
pub struct RunReport<'a> {
    /// The experiment.
    pub config: &'a ExperimentConfig,
    /// Its samples.
    pub splits: &'a Splits,
    /// The evaluations; the last one measures the trained model.
    pub metrics: &'a [StepMetrics],
    /// The trained model on the held-out samples, or on the training samples if none are held out; `None` if its output
    /// is not a number.
    pub assessment: Option<&'a Assessment>,
    /// The trained model's dump of [`reported_samples`].
    pub dump: &'a AttentionDump,
    /// The comparisons with the reference run, if the run repeats one.
    pub comparisons: &'a [Comparison],
    /// The progress at which training was interrupted, if it was.
    pub interrupted: Option<Progress>,
    /// The best model, if the config keeps one.
    pub tracker: Option<&'a BestTracker>,
}

/// The samples that a report shows: sample 0, and the first positive.
pub fn reported_samples(train: &Dataset) -> Vec<usize> {
    let mut samples = vec![0];
    samples.extend(train.positives().find(|&sample| sample != 0));
    samples
}

impl RunReport<'_> {
    /// The report.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let rule = self.config.data.rule.as_ref();
        match rule {
            Some(rule) => writeln!(text, "# {}\n", rule.question())?,
            None => writeln!(text, "# {}\n", self.title())?,
        }
        self.write_early_end(text)?;
        if let Some(outcome) = self.outcome() {
            writeln!(text, "{outcome}\n")?;
        }
        writeln!(text, "## Data\n")?;
        if self.has_two_classes() && self.config.data.classes.is_empty() {
            self.write_positives(text)?;
        } else {
            self.write_classes(text)?;
        }
        if let Some(words) = &self.config.data.words {
            self.write_words(words, text)?;
        } else if let Some(token) = self.config.model.attention.padding_token {
            writeln!(
                text,
                "Token {token} pads shorter samples; it receives no attention.\n"
            )?;
        }
        let summary = self.config.model.summary(self.config.inputs());
        writeln!(text, "## Model\n\n{summary}")?;
        self.write_training(text)?;
        self.write_assessment(text)?;
        self.write_attention(self.dump, text)?;
        self.write_predictions(self.dump, text)?;
        self.write_comparisons(text)
    }

    /// The title of a run without a rule.
    fn title(&self) -> String {
        let count = match self.config.data.n_classes {
            2 => "Two".to_owned(),
            n_classes => n_classes.to_string(),
        };
        let names = 0..self.config.data.classes.len().min(LISTED);
        let names: Vec<String> = names.map(|class| self.class(class)).collect();
        let names = match self.config.data.classes.len() {
            0 => String::new(),
            all if all > LISTED => format!(": {}, ...", names.join(", ")),
            _ => format!(": {}", names.join(", ")),
        };
        format!("{count} classes from a file{names}")
    }

    /// The name of a class as Markdown, shortened, or else its number.
    fn class(&self, class: usize) -> String {
        let name = self.config.data.classes.get(class);
        name.map_or_else(
            || class.to_string(),
            |name| shorten(name, MOST_NAME).replace('|', "\\|"),
        )
    }

    fn write_early_end(&self, text: &mut String) -> std::fmt::Result {
        if let Some(Progress { step, epoch, .. }) = self.interrupted {
            let epochs = self.config.training.epochs;
            writeln!(
                text,
                "Interrupted after {step} steps ({epoch} of {epochs} epochs finished); all figures are from that step.\n"
            )?;
        }
        let Some(tracker) = self.tracker else {
            return Ok(());
        };
        let (Some(best), name) = (&tracker.best, tracker.measure.name()) else {
            return Ok(());
        };
        if tracker.is_out_of_patience() {
            let step = self.metrics.last().map_or(0, |last| last.step);
            let evaluations = counted(best.waited, "evaluation");
            writeln!(
                text,
                "Stopped after {step} steps, because {name} had not improved for {evaluations}. "
            )?;
        }
        writeln!(
            text,
            "Best {name}: {:.6} at step {}; that model is in best.safetensors.\n",
            best.value, best.step
        )
    }

    /// Whether the model learned the task, and what it does if it did not.
    fn outcome(&self) -> Option<String> {
        let labels = self.splits.train.labels();
        if let Some(&first) = labels.first()
            && labels.iter().all(|&label| label == first)
        {
            let nothing = verdict::NOTHING_TO_LEARN;
            return Some(format!(
                "{nothing}: all training samples are of class {}.",
                self.class(first.into())
            ));
        }
        let f1 =
            |metrics: &StepMetrics| metrics.held_out.as_ref().unwrap_or(&metrics.train)[Metric::F1];
        let has_learned = |metrics: &StepMetrics| f1(metrics) >= Some(LEARNED);
        let last = self.metrics.last()?;
        let samples = match last.held_out {
            Some(_) => "held-out samples",
            None => "training samples",
        };
        let not = verdict::NOT_LEARNED;
        let first = self.metrics.iter().find(|&metrics| has_learned(metrics));
        let f1 = number(f1(last), 3);
        let mut text = match (self.only_class(), first) {
            (Some((class, assessment)), _) => format!(
                "{not}: the model predicts class {} for all {samples}, which is right for {:.1}% of them.",
                self.class(class),
                100.0 * assessment.accuracy
            ),
            (None, Some(first)) if has_learned(last) => format!(
                "{}: F1 on the {samples} is {LEARNED} or more, first measured at step {}.",
                verdict::HAS_LEARNED,
                first.step
            ),
            (None, Some(first)) => format!(
                "{not}: F1 on the {samples} reached {LEARNED} at step {}, but is {f1} at the end.",
                first.step
            ),
            (None, None) => format!(
                "{not}: F1 on the {samples} is {f1}; a model has learned if it is {LEARNED} or more."
            ),
        };
        let stayed = |measured, uniform| {
            let (measured, uniform) = (last.train[measured]?, last.train[uniform]?);
            Some((measured - uniform).abs() < CLOSE_TO_UNIFORM)
        };
        let positive = stayed(Metric::AttentionPositive, Metric::UniformPositive);
        let negative = stayed(Metric::AttentionNegative, Metric::UniformNegative);
        if positive == Some(true) && negative != Some(false) {
            text.push_str(" Attention from [CLS] is still close to uniform.");
        }
        Some(text)
    }

    /// The class that the model predicts for all assessed samples, if there is only one.
    fn only_class(&self) -> Option<(usize, &Assessment)> {
        let assessment = self.assessment?;
        let counts = assessment.confusion.counts();
        let mut predicted = (0..counts.len()).filter(|&class| counts[class].predicted() > 0);
        let class = predicted.next()?;
        (predicted.next().is_none() && assessment.accuracy < 1.0).then_some((class, assessment))
    }

    fn write_positives(&self, text: &mut String) -> std::fmt::Result {
        let count = self.splits.train.positives().count();
        writeln!(
            text,
            "{} training samples, {count} of them positive ({:.1}%); {} held-out samples.\n",
            self.splits.train.len(),
            100.0 * count as f64 / self.splits.train.len() as f64,
            self.splits.held_out.len()
        )?;
        if count == 0 {
            return Ok(());
        }
        let shown = count.min(LISTED);
        let width = self.splits.train.len().to_string().len();
        writeln!(text, "Samples with label 1:\n\n```text")?;
        for sample in self.splits.train.positives().take(shown) {
            writeln!(
                text,
                "{sample:>width$}: {}",
                tokens(self.config, &self.splits.train, sample)
            )?;
        }
        if shown < count {
            writeln!(
                text,
                "... and {} more (`headlight data` writes them)",
                count - shown
            )?;
        }
        writeln!(text, "```\n")
    }

    /// That attention is a mean of several heads; empty with one head.
    fn mean_of_heads(&self) -> String {
        let ModelConfig {
            n_heads, n_layers, ..
        } = self.config.model;
        let layer = match n_layers {
            1 => "",
            _ => " of the last layer",
        };
        match n_heads {
            1 => String::new(),
            _ => format!(", mean of {n_heads} heads{layer}"),
        }
    }

    fn has_two_classes(&self) -> bool {
        self.config.data.n_classes == 2
    }

    fn write_classes(&self, text: &mut String) -> std::fmt::Result {
        writeln!(
            text,
            "{} training samples; {} held-out samples.\n\n| class | samples | share |\n|---:|---:|---:|",
            self.splits.train.len(),
            self.splits.held_out.len()
        )?;
        let counts = self.splits.train.class_counts(self.config.data.n_classes);
        for (class, count) in counts.into_iter().enumerate().take(MOST_CLASSES) {
            let share = 100.0 * count as f64 / self.splits.train.len() as f64;
            writeln!(text, "| {} | {count} | {share:.1}% |", self.class(class))?;
        }
        writeln!(text)?;
        self.write_left_out(text, "")?;
        match &self.config.data.classes[..] {
            [_, _] => writeln!(
                text,
                "Where this report speaks of positives, it means class {}.\n",
                self.class(1)
            ),
            _ => Ok(()),
        }
    }

    /// The vocabulary, its most frequent words, and what became of the others.
    fn write_words(&self, words: &Words, text: &mut String) -> std::fmt::Result {
        let mut counts = vec![0; words.vocab_size() as usize];
        for &token in self.splits.train.all_tokens() {
            counts[token as usize] += 1;
        }
        let mut frequent: Vec<u32> = (FIRST_WORD..words.vocab_size()).collect();
        frequent.sort_by_key(|&token| Reverse(counts[token as usize]));
        let frequent = frequent.iter().take(MOST_WORDS).map(|&token| {
            let word = shorten(words.text(token), MOST_NAME).replace('|', "\\|");
            format!("{word} ({})", counts[token as usize])
        });
        writeln!(
            text,
            "The vocabulary has {} words. The most frequent in the training samples: {}.\n",
            words.vocabulary.len(),
            frequent.collect::<Vec<_>>().join(", ")
        )?;
        let losses = self
            .splits
            .texts
            .map(|texts| texts.losses(self.config.data.seq_len));
        match losses.unwrap_or_default() {
            losses if losses.is_empty() => Ok(()),
            losses => writeln!(text, "{}\n", losses.join(" ")),
        }
    }

    fn write_training(&self, text: &mut String) -> std::fmt::Result {
        let table = METRICS.iter().filter(|info| info.is_ratio);
        writeln!(
            text,
            "## Training\n\nBatch loss is the mean loss of the batches since the epoch began. Loss is the mean \
             cross-entropy. Loss and the columns after it are measured over all training samples after that step.\n"
        )?;
        let labels: Vec<&str> = table.clone().map(|info| info.label).collect();
        let (columns, labels) = ("---:|".repeat(labels.len()), labels.join(" | "));
        writeln!(text, "| epoch | step | batch loss | {labels} |")?;
        writeln!(text, "|---:|---:|---:|{columns}")?;
        let count = self.metrics.len();
        for index in evenly_spread(count, MOST_EVALUATIONS) {
            let evaluation = &self.metrics[index];
            let values = table
                .clone()
                .map(|info| number(evaluation.train[info.metric], info.decimals));
            let values = values.collect::<Vec<_>>().join(" | ");
            let StepMetrics { epoch, step, .. } = evaluation;
            let loss = number(evaluation.train_loss, 5);
            writeln!(text, "| {epoch} | {step} | {loss} | {values} |")?;
        }
        text.push('\n');
        if count > MOST_EVALUATIONS {
            writeln!(
                text,
                "{MOST_EVALUATIONS} of {count} evaluations, evenly spread; metrics.jsonl has all.\n"
            )?;
        }
        let Some(last) = self.metrics.last() else {
            return Ok(());
        };
        if !self.has_two_classes() {
            return writeln!(
                text,
                "Precision, recall and F1 are means over the classes.\n"
            );
        }
        writeln!(
            text,
            "Smallest probability of a positive: {}. Largest of a negative: {}.\n",
            number(last.train[Metric::MinPositive], 4),
            number(last.train[Metric::MaxNegative], 4)
        )
    }

    fn write_assessment(&self, text: &mut String) -> std::fmt::Result {
        let Some(assessed) = self.assessment else {
            return Ok(());
        };
        let samples = match self.splits.held_out.len() {
            0 => "training samples, since none are held out",
            _ => "held-out samples",
        };
        writeln!(
            text,
            "{}",
            assessment::summary(samples, &self.config.data, assessed).trim_start()
        )
    }

    /// The mean attention over the samples of each class.
    fn write_class_attention(
        &self,
        place: &str,
        metrics: &EvalMetrics,
        text: &mut String,
    ) -> std::fmt::Result {
        writeln!(
            text,
            "From [CLS] to {place}, on average over the training samples of each class (uniform: if attention were \
             uniform):\n\n| class | attention | uniform |\n|---:|---:|---:|"
        )?;
        for (class, metrics) in metrics.classes.iter().enumerate().take(MOST_CLASSES) {
            writeln!(
                text,
                "| {} | {} | {} |",
                self.class(class),
                number(metrics.attention, 3),
                number(metrics.uniform, 3)
            )?;
        }
        writeln!(text)?;
        self.write_left_out(text, "; metrics.jsonl has all")
    }

    /// How many classes a table leaves out.
    fn write_left_out(&self, text: &mut String, remedy: &str) -> std::fmt::Result {
        match self.config.data.n_classes {
            0..=MOST_CLASSES => Ok(()),
            all => writeln!(text, "The first {MOST_CLASSES} of {all} classes{remedy}.\n"),
        }
    }

    fn write_attention(&self, dump: &AttentionDump, text: &mut String) -> std::fmt::Result {
        writeln!(text, "## Attention\n")?;
        if let (Some(rule), Some(last)) = (&self.config.data.rule, self.metrics.last()) {
            let place = format!("{}{}", rule.deciding_place(), self.mean_of_heads());
            if self.has_two_classes() {
                write_mean_attention(&place, &last.train, text)?;
            } else {
                self.write_class_attention(&place, &last.train, text)?;
            }
        }
        let positions = dump.dims.positions;
        let size = match positions {
            ..=WHOLE_MATRIX => TITLE + positions * (7 * positions + 2),
            _ => TITLE + ROW,
        };
        let heads = dump.dims.layers * dump.dims.heads;
        // Of many, those next to the output.
        let most = MOST_MATRICES / (dump.dims.samples * size).max(1);
        let first = heads - most.clamp(1, heads);
        for shown in 0..dump.dims.samples {
            for head in first..heads {
                let (layer, head) = (head / dump.dims.heads, head % dump.dims.heads);
                write_head(dump, shown, layer, head, text)?;
            }
        }
        if first > 0 {
            let shown = heads - first;
            writeln!(
                text,
                "The last {shown} of {}; `headlight inspect RUN --layer all --head all` shows the others.\n",
                counted(heads, "head")
            )?;
        }
        if positions > WHOLE_MATRIX {
            writeln!(
                text,
                "The folder `attention` has the whole matrices; `headlight inspect` draws them.\n"
            )?;
        }
        Ok(())
    }

    fn write_predictions(&self, dump: &AttentionDump, text: &mut String) -> std::fmt::Result {
        let header = match (self.has_two_classes(), &self.config.data.classes[..]) {
            (true, []) => "probability".to_owned(),
            (true, _) => format!("probability of {}", self.class(1)),
            _ if self.config.data.n_classes > MOST_PROBABILITIES => {
                format!("the {MOST_PROBABILITIES} largest probabilities, by class")
            }
            _ => "probability by class".to_owned(),
        };
        writeln!(
            text,
            "## Predictions\n\n| sample | tokens | label | {header} |\n|---:|---|---:|---:|"
        )?;
        for shown in 0..dump.dims.samples {
            let sample = dump.meta.samples[shown].unwrap_or(shown);
            let probabilities = dump.probabilities(shown);
            let probabilities: Vec<String> = match probabilities.len() {
                ..=MOST_PROBABILITIES => probabilities.iter().map(|p| format!("{p:.6}")).collect(),
                _ => largest(probabilities)
                    .into_iter()
                    .take(MOST_PROBABILITIES)
                    .map(|class| format!("{}: {:.6}", self.class(class), probabilities[class]))
                    .collect(),
            };
            writeln!(
                text,
                "| {sample} | {} | {} | {} |",
                tokens(self.config, &self.splits.train, sample),
                self.class(self.splits.train.label(sample).into()),
                probabilities.join(", ")
            )?;
        }
        Ok(())
    }

    fn write_comparisons(&self, text: &mut String) -> std::fmt::Result {
        let Some(reference) = &self.config.reference else {
            return Ok(());
        };
        writeln!(text, "\n## Compared with {}\n", reference.display())?;
        writeln!(
            text,
            "| level | what is compared | numbers | largest difference | bound | |\n|---|---|---:|---:|---:|---|"
        )?;
        for comparison in self.comparisons {
            let is_within = comparison.within;
            let within = if is_within { "within" } else { "BEYOND" };
            writeln!(
                text,
                "| {} | {} | {} | {:.1e} | {} | {} |",
                comparison.level,
                comparison.what,
                comparison.numbers,
                comparison.largest,
                comparison.bound,
                within
            )?;
        }
        Ok(())
    }
}

/// The attention of `[CLS]` to the place that decides the label, over positives and over negatives.
fn write_mean_attention(place: &str, metrics: &EvalMetrics, text: &mut String) -> std::fmt::Result {
    writeln!(
        text,
        "From [CLS] to {place}: {} on average over positives ({} if uniform), {} over negatives ({}).\n",
        number(metrics[Metric::AttentionPositive], 3),
        number(metrics[Metric::UniformPositive], 3),
        number(metrics[Metric::AttentionNegative], 3),
        number(metrics[Metric::UniformNegative], 3)
    )
}

/// The attention of a head in a sample of the dump.
fn write_head(
    dump: &AttentionDump,
    shown: usize,
    layer: usize,
    head: usize,
    text: &mut String,
) -> std::fmt::Result {
    let sample = dump.meta.samples[shown].unwrap_or(shown);
    let layer_name = match dump.dims.layers {
        1 => String::new(),
        _ => format!(" · layer {layer}"),
    };
    let title = format!("Attention weights (sample {sample}{layer_name} · head {head})");
    let weights = dump.weights(shown, layer, head);
    let positions = dump.dims.positions;
    if positions <= WHOLE_MATRIX {
        writeln!(text, "{title}, query by key:\n\n```text")?;
        matrix(text, weights, positions)?;
        return writeln!(text, "```\n");
    }
    let row = &weights[dump.cls_position() * positions..][..positions];
    writeln!(
        text,
        "{title} of [CLS], the largest of {positions} positions: {}.\n",
        main_keys(dump, shown, row)
    )
}

/// A square matrix with four decimals, in brackets, as NumPy prints it.
fn matrix(text: &mut String, cells: &[f32], size: usize) -> std::fmt::Result {
    for (index, row) in cells.chunks(size).enumerate() {
        let row: Vec<String> = row.iter().map(|cell| format!("{cell:.4}")).collect();
        let (open, close) = (
            if index == 0 { "[[" } else { " [" },
            if index + 1 == size { "]]" } else { "]" },
        );
        writeln!(text, "{open}{}{close}", row.join(" "))?;
    }
    Ok(())
}

/// The largest weights of a row, each with its key and the token there.
fn main_keys(dump: &AttentionDump, shown: usize, row: &[f32]) -> String {
    let keys = largest(row).into_iter().take(MAIN_KEYS);
    let token = |key: usize| {
        let text = dump.token_string(dump.tokens(shown)[key]);
        shorten(&text, MOST_NAME)
    };
    let keys: Vec<String> = keys
        .filter(|&key| row[key] > 0.0)
        .map(|key| format!("{:.4} on position {key} ({})", row[key], token(key)))
        .collect();
    keys.join(", ")
}

/// A sample's tokens; of a long one, the first.
fn tokens(config: &ExperimentConfig, dataset: &Dataset, sample: usize) -> String {
    let shape = config.sample_shape();
    let all: Vec<u32> = shape.without_padding(dataset.tokens(sample)).collect();
    let shown = &all[..all.len().min(SHOWN_TOKENS)];
    let text = |&token: &u32| match config.data.words {
        None => token.to_string(),
        Some(_) => config
            .data
            .token_text(token, shape.padding_token)
            .replace('|', "\\|"),
    };
    let mut tokens: Vec<String> = shown.iter().map(text).collect();
    if shown.len() < all.len() {
        tokens.push(format!("... ({} tokens)", all.len()));
    }
    tokens.join(" ")
}
