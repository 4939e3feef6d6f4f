//! Where attention looks: means over the samples of each class, and the matrices of single samples.

use headlight_architecture::ModelConfig;
use headlight_data::LabelRule;
use headlight_dump::AttentionDump;
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::metrics::{EvalMetrics, Metric, StepMetrics};
use headlight_report::{
    Heatmap, Listing, Quantity, Section, Table, counted, largest, number, shorten,
};

use super::names::{class_name, left_out};
use crate::show::assessment::{MOST_CLASSES, MOST_NAME};

/// The most positions of a matrix that is shown whole.
pub const WHOLE_MATRIX: usize = 24;

/// The keys that are shown of a longer row.
const MAIN_KEYS: usize = 12;

/// The most bytes of all matrices, and about those of a matrix's title and of the keys of a longer row.
const MOST_MATRICES: usize = 9000;
const TITLE: usize = 80;
const ROW: usize = 320;

/// `used_evaluation` is the evaluation of the model that the dump is of, and `strongest` the layer and the head that come first, for the
/// reason of `which_head`.
pub(super) fn sections(
    config: &ExperimentConfig,
    used_evaluation: Option<&StepMetrics>,
    dump: &AttentionDump,
    strongest: (usize, usize),
    which_head: Option<String>,
) -> Vec<Section> {
    let mean = config.mean_note().map(|note| note + ".");
    let mut sections = vec![Section::titled("Attention", mean, [])];
    if let (Some(rule), Some(metrics)) = (&config.data.rule, used_evaluation) {
        let (metrics, split) = match &metrics.held_out {
            Some(held_out) if config.data.is_fresh() => (held_out, "held-out"),
            _ => (&metrics.train, "training"),
        };
        sections.extend(means(config, rule, metrics, split));
    }
    let which_head = which_head.map(|sentence| Section::of_paragraph(sentence + "."));
    sections.extend(which_head);
    sections.extend(heads(dump, strongest));
    sections
}

/// The samples that means are over.
const WITH_PLACE: &str = "in which a position decides the label";

/// The attention of the readout position to the place that decides the label, on average over the samples
/// of each class; `split` says which samples.
fn means(
    config: &ExperimentConfig,
    rule: &LabelRule,
    metrics: &EvalMetrics,
    split: &str,
) -> Vec<Section> {
    let reader = config.measured_readout_name();
    let place = format!("{}{}", rule.deciding_place(), mean_of_heads(&config.model));
    let has_uniform = config.model.attention.softmax;
    let columns = if has_uniform { 2 } else { 1 };
    if metrics.classes.is_empty() {
        let uniform = |metric: Metric, more: &str| {
            let text = || format!(" ({}{more})", number(metrics[metric], 3));
            has_uniform.then(text).unwrap_or_default()
        };
        return vec![Section::of_paragraph(format!(
            "From {reader} to {place}, on average over the {split} samples {WITH_PLACE}: {} for positives{}, {} for negatives{}.",
            number(metrics[Metric::AttentionPositive], 3),
            uniform(Metric::UniformPositive, " if uniform"),
            number(metrics[Metric::AttentionNegative], 3),
            uniform(Metric::UniformNegative, "")
        ))];
    }
    let classes = metrics.classes.iter().enumerate().take(MOST_CLASSES);
    let rows = classes.map(|(class, metrics)| {
        let values = [metrics.attention, metrics.uniform].map(|value| number(value, 3));
        [class_name(&config.data, class)]
            .into_iter()
            .chain(values.into_iter().take(columns))
            .collect()
    });
    let uniform = if has_uniform {
        " (uniform: if attention were uniform)"
    } else {
        ""
    };
    let over = format!(
        "From {reader} to {place}, on average over the {split} samples of each class {WITH_PLACE}{uniform}:"
    );
    let table = Table::of_rows(&["class", "attention", "uniform"][..=columns], rows);
    let table = Section::titled("", [over], [table]);
    let left_out = left_out(&config.data, "; metrics.jsonl has all");
    [table].into_iter().chain(left_out).collect()
}

/// That attention is a mean of several heads; empty with one head.
fn mean_of_heads(model: &ModelConfig) -> String {
    let layer = match model.n_layers {
        1 => "",
        _ => " of the last layer",
    };
    match model.n_heads {
        1 => String::new(),
        n_heads => format!(", mean of {n_heads} heads{layer}"),
    }
}

/// The heads of each sample of the dump, the strongest first; of many, those next to the output.
fn heads(dump: &AttentionDump, strongest: (usize, usize)) -> Vec<Section> {
    let lengths = (0..dump.dims.samples).map(|sample| dump.unpadded(sample).len());
    let longest = lengths.max().unwrap_or(0);
    let size = match longest {
        ..=WHOLE_MATRIX => TITLE + longest * (7 * longest + 2),
        _ => TITLE + ROW,
    };
    let heads = dump.dims.layers * dump.dims.heads;
    let most = MOST_MATRICES / (dump.dims.samples * size).max(1);
    let shown = most.clamp(1, heads);
    let all_heads = (0..heads).map(|head| (head / dump.dims.heads, head % dump.dims.heads));
    let others: Vec<_> = all_heads.filter(|&head| head != strongest).collect();
    let others = &others[heads - shown..];
    let of_sample = |sample| {
        let listed = [&strongest].into_iter().chain(others);
        listed.map(move |&(layer, head)| one_head(dump, sample, layer, head))
    };
    let mut sections: Vec<Section> = (0..dump.dims.samples).flat_map(of_sample).collect();
    if shown < heads {
        sections.push(Section::of_paragraph(format!(
            "{shown} of {}, the strongest first; `headlight inspect RUN --layer all --head all` shows the others.",
            counted(heads, "head")
        )));
    }
    if longest > WHOLE_MATRIX {
        let remedy =
            "The folder `attention` has the whole matrices; `headlight inspect` draws them.";
        sections.push(Section::of_paragraph(remedy.to_owned()));
    }
    sections
}

/// The attention of a head in a sample of the dump: the whole matrix, or the main keys of the readout position.
fn one_head(dump: &AttentionDump, shown: usize, layer: usize, head: usize) -> Section {
    let sample = dump.meta.samples[shown].unwrap_or(shown);
    let layer_name = match dump.dims.layers {
        1 => String::new(),
        _ => format!(" · layer {layer}"),
    };
    let title = format!("Attention weights (sample {sample}{layer_name} · head {head})");
    let heatmap = Heatmap::of(dump, shown, &[layer], &[head], Quantity::Weights);
    let (weights, count) = (&heatmap.cells, heatmap.tokens.len());
    // With an answer per position, it would be about the one that is shown alone.
    let uniform = heatmap.uniform(None).filter(|_| !dump.dims.per_position);
    let uniform = uniform.map(str::to_owned);
    if count <= WHOLE_MATRIX {
        let title = format!("{title}, query by key:");
        let matrix = if dump.meta.config.pointer("/data/words").is_some() {
            Listing::of_matrix(title, &heatmap.tokens, weights)
        } else {
            let lines = matrix(weights, count);
            Listing { title, lines }
        };
        return Section {
            paragraphs: uniform.into_iter().collect(),
            listings: vec![matrix],
            ..Section::default()
        };
    }
    let keys = main_keys(&heatmap);
    let keys = format!(
        "{title} of {}, the largest of {count} positions: {keys}.",
        dump.readout_name(shown)
    );
    Section::titled("", [keys].into_iter().chain(uniform), [])
}

/// A square matrix with four decimals, in brackets, as NumPy prints it.
fn matrix(cells: &[f32], size: usize) -> Vec<String> {
    // A sample may hold nothing but padding.
    let rows = cells.chunks(size.max(1)).enumerate().map(|(index, row)| {
        let row: Vec<String> = row.iter().map(|cell| format!("{cell:.4}")).collect();
        let open = if index == 0 { "[[" } else { " [" };
        let close = if index + 1 == size { "]]" } else { "]" };
        format!("{open}{}{close}", row.join(" "))
    });
    rows.collect()
}

/// The largest weights of the readout position, each with its key and the token there.
fn main_keys(heatmap: &Heatmap) -> String {
    let count = heatmap.tokens.len();
    let row = &heatmap.cells[heatmap.read * count..][..count];
    let keys = largest(row).into_iter().take(MAIN_KEYS);
    let on = |key: usize| {
        let token = shorten(&heatmap.tokens[key], MOST_NAME);
        let position = heatmap.positions[key];
        format!("{:.4} on position {position} ({token})", row[key])
    };
    let keys: Vec<String> = keys.filter(|&key| row[key] > 0.0).map(on).collect();
    keys.join(", ")
}
