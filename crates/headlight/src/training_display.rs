//! The progress of a training run: a bar, and a table of the evaluations.

use std::fmt::Write;

use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::{Column, Metric, StepMetrics, TERMINAL};
use headlight_report::number;
use headlight_trainer::training::run_writer::Display;
use indicatif::ProgressBar;

use crate::printing::detail;
use crate::terminal::{paragraphs, progress_bar};

/// Shows one line that updates: a bar of all steps, the last evaluation's F1, steps per second and the time left. With
/// `--verbose`, also a row for each evaluation, which alone is shown without a terminal.
pub(crate) struct TrainingDisplay {
    bar: ProgressBar,
    /// Whether each step draws its own samples, so that there are no epochs.
    is_fresh: bool,
    /// Whether there is uniform attention, of which attention is shown in multiples.
    has_uniform: bool,
}

/// The two lines above [`evaluation_row`], at most 60 characters wide.
fn header() -> String {
    let [mut first, mut second] = [String::new(), format!("{:>5} {:>6}", "epoch", "step")];
    for column in &TERMINAL {
        let [above, name] = column.heading;
        let _ = write!(second, " {name:>width$}", width = column.width);
        if !above.is_empty() {
            let room = second.len() - first.len();
            let _ = write!(first, "{above:>room$}");
        }
    }
    format!("{first}\n{second}")
}

/// What the columns hold.
fn legend(config: &ExperimentConfig) -> String {
    let (reader, heads) = (config.measured_readout_name(), config.model.n_heads);
    let over = if config.data.is_fresh() {
        "the step's batch"
    } else {
        "all training samples"
    };
    let heads = match heads {
        1 => String::new(),
        _ => format!(", mean over {heads} heads"),
    };
    let multiples = if config.model.attention.softmax {
        "in multiples of uniform attention (1.00x: no preference for them)"
    } else {
        "without a softmax"
    };
    let mut legend = vec![
        format!("loss (mean cross-entropy), accuracy, F1: over {over}"),
        "held-out F1: over samples that are not trained on".to_owned(),
        format!(
            "attention: of {reader} on the positions that decide the label, {multiples}, over samples of label 1 or more and of label \
             0{heads}"
        ),
        "–: not measured".to_owned(),
    ];
    if config.reads_mean() {
        legend.push("The class is read from the mean of all positions.".to_owned());
    }
    paragraphs(legend)
}

impl TrainingDisplay {
    /// The display of a training that starts at step `start`, of this config.
    pub(crate) fn new(steps: usize, start: usize, config: &ExperimentConfig) -> Self {
        let bar = progress_bar(steps, start, "steps");
        bar.suspend(|| detail(&format!("{}\n{}", legend(config), header())));
        let is_fresh = config.data.is_fresh();
        let has_uniform = config.model.attention.softmax;
        Self {
            bar,
            is_fresh,
            has_uniform,
        }
    }
}

impl Display for TrainingDisplay {
    fn step(&self, step: usize) {
        self.bar.set_position(step as u64);
    }

    fn evaluated(&self, metrics: &StepMetrics) {
        let (split, judged) = match &metrics.held_out {
            Some(held_out) => ("held-out F1", held_out),
            None => ("F1", &metrics.train),
        };
        let f1 = number(judged[Metric::F1], 3);
        self.bar.set_message(format!(" · {split} {f1}"));
        self.bar
            .suspend(|| detail(&evaluation_row(metrics, self.is_fresh, self.has_uniform)));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn evaluation_row(metrics: &StepMetrics, is_fresh: bool, has_uniform: bool) -> String {
    let epoch = match metrics.epoch {
        _ if is_fresh => "–".to_owned(),
        epoch => epoch.to_string(),
    };
    let mut row = format!("{epoch:>5} {:>6}", metrics.step);
    for column in &TERMINAL {
        let _ = write!(
            row,
            " {:>width$}",
            cell(metrics, column, has_uniform),
            width = column.width
        );
    }
    row
}

fn cell(metrics: &StepMetrics, column: &Column, has_uniform: bool) -> String {
    let split = if column.held_out {
        metrics.held_out.as_ref()
    } else {
        Some(&metrics.train)
    };
    let value = split.and_then(|split| split[column.metric]);
    let Some(over) = column.over.filter(|_| has_uniform) else {
        return number(value, column.decimals);
    };
    // Without a key that it may look at, nothing is a multiple of uniform attention.
    let uniform = split
        .and_then(|split| split[over])
        .filter(|&uniform| uniform > 0.0);
    let times = value.zip(uniform).map(|(value, uniform)| value / uniform);
    match times {
        Some(_) => format!("{}x", number(times, column.decimals)),
        None => number(None, column.decimals),
    }
}
