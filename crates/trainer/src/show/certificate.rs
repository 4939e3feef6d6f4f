//! How a model answers all possible inputs, as a section of a document and in a file of the run.

use headlight_analysis::certificate::{Certificate, ClassAnswers, Example, SampleEstimate};
use headlight_experiment::config::ExperimentConfig;
use headlight_experiment::outcome::with_thousands;
use headlight_page::{Evidence, Input};
use headlight_report::{Section, Table, number};

/// Inputs that a page shows.
const SHOWN: usize = 5;

/// What a certificate says of all inputs, in one sentence.
pub(crate) fn sentence(certificate: &Certificate) -> String {
    let (inputs, wrong) = (with_thousands(&certificate.inputs), certificate.wrong);
    match wrong {
        0 => format!("The model answers all {inputs} possible inputs correctly."),
        wrong => format!(
            "The model answers {} of all {inputs} possible inputs wrongly (a fraction of {}).",
            with_thousands(&wrong),
            share(certificate.share)
        ),
    }
}

/// Its entry among the origins of a page's numbers, with the inputs to look at: those with the smallest margins of all classes.
pub(crate) fn evidence(certificate: &Certificate) -> Evidence {
    let classes = certificate.classes.iter();
    let mut worst: Vec<&Example> = classes.flat_map(|class| &class.worst).collect();
    worst.sort_by(|a, b| a.margin.total_cmp(&b.margin));
    worst.truncate(SHOWN);
    let margin = number(certificate.smallest_margin, 3);
    Evidence {
        name: "All possible inputs".to_owned(),
        text: format!(
            "{} This is an exact count. The smallest margin is {margin}. These inputs have the smallest margins:",
            sentence(certificate)
        ),
        inputs: worst.into_iter().map(shown).collect(),
    }
}

/// An input of a page, with what to know of it before a click.
fn shown(example: &Example) -> Input {
    let (label, answer) = (example.label, example.predicted);
    let margin = number(Some(example.margin), 3);
    Input {
        tokens: example.tokens.clone(),
        about: format!("label {label}, answer {answer}, margin {margin}"),
    }
}

/// The section.
pub fn section(certificate: &Certificate, config: &ExperimentConfig) -> Section {
    let mut tables = vec![classes(certificate)];
    for class in &certificate.classes {
        tables.extend(worst(class, config));
        tables.extend(common(class));
    }
    let what = format!(
        "{} This is a count, not an estimate, of the answers of the fused engine. A margin is the \
         label's logit less the largest other one; with one logit, it is the label's log-odds. Below 0, the answer is wrong; at 0, the \
         answer is the label with the smaller number.",
        sentence(certificate)
    );
    Section::titled("All inputs", [what], tables)
}

/// What random inputs say, as a section.
pub fn sampled_section(sampled: &SampleEstimate) -> Section {
    let [low, high] = sampled.interval;
    let what = format!(
        "The model answers {} of {} random inputs wrongly. The share of all possible inputs that it answers wrongly lies between \
         {} and {} (Wilson's 95% interval).",
        with_thousands(&sampled.wrong),
        with_thousands(&sampled.inputs),
        share(low),
        share(high)
    );
    Section::titled("Random inputs", [what], [])
}

fn classes(certificate: &Certificate) -> Table {
    let header = ["label", "inputs", "wrong", "share", "smallest margin"];
    let row = |class: &ClassAnswers| {
        let share = class.wrong as f64 / class.inputs.max(1) as f64;
        vec![
            class.class.to_string(),
            with_thousands(&class.inputs),
            with_thousands(&class.wrong),
            self::share(share),
            number(class.smallest_margin, 3),
        ]
    };
    let occurring = certificate.classes.iter().filter(|class| class.inputs > 0);
    Table::of_rows(&header, occurring.map(row))
}

/// The inputs with the smallest margins.
fn worst(class: &ClassAnswers, config: &ExperimentConfig) -> Option<Table> {
    let row = |example: &Example| {
        let text = |&token: &u32| config.data.token_text(token, None);
        let tokens: Vec<String> = example.tokens.iter().map(text).collect();
        vec![
            tokens.join(" "),
            example.predicted.to_string(),
            number(Some(example.margin), 3),
        ]
    };
    let table = Table::of_rows(&["input", "answer", "margin"], class.worst.iter().map(row));
    let title = format!(
        "Label {}: the inputs with the smallest margins",
        class.class
    );
    (!class.worst.is_empty()).then(|| table.titled(title).left_aligned(&["input"]))
}

/// The tokens that wrong inputs have in common.
fn common(class: &ClassAnswers) -> Option<Table> {
    let first = class.common.first()?;
    let is_free = |&position: &usize| {
        let tokens = class.tokens.get(position);
        tokens.is_some_and(|counts| counts.len() > 1)
    };
    // Shares of each position, if they fit a page.
    let mut positions: Vec<usize> = (0..first.positions.len()).filter(is_free).collect();
    if positions.len() > 12 {
        positions.clear();
    }
    let name = |position: &usize| format!("position {position}");
    let names: Vec<String> = positions.iter().map(name).collect();
    let mut header = vec!["token", "per wrong input", "per right input"];
    header.extend(names.iter().map(String::as_str));
    let rows = class.common.iter().map(|common| {
        let mut row = vec![
            common.token.to_string(),
            number(Some(common.per_wrong_input), 2),
            number(Some(common.per_right_input), 2),
        ];
        let shares = positions.iter().map(|&position| common.positions[position]);
        row.extend(shares.map(|share| format!("{:.0}%", 100.0 * share)));
        row
    });
    let wrong = match class.wrong {
        1 => "the wrong input holds".to_owned(),
        wrong => format!("the {} wrong inputs hold", with_thousands(&wrong)),
    };
    let shares = match positions.len() {
        0 => "",
        _ => ", and the share of wrong inputs that hold each at each position",
    };
    let title = format!(
        "Label {}: tokens that {wrong} at least twice as often as the right ones do{shares}",
        class.class
    );
    Some(Table::of_rows(&header, rows).titled(title))
}

/// A share that may be tiny.
fn share(share: f64) -> String {
    match share {
        0.0 => "0".to_owned(),
        1e-3.. => format!("{share:.4}"),
        _ => format!("{share:.1e}"),
    }
}
