//! Every input of the notebook: how many of all that are possible its seeds answer wrongly, which, and what changes that.

use std::collections::BTreeMap;

use headlight_experiment::metrics::wilson;

use crate::certified::{config, crowded, which};
use crate::every_input_tables::{
    CHEAP, Group, Samples, WRONG, cheap, conditions, figures, grouped, of_datasets, perfect, to,
};
use crate::page::{Compared, Page, Verdict, between, percents};
use crate::regression::area;
use crate::rows::Rows;
use crate::statistics::{
    interval_of_median, interval_of_spearman, median, quantile, sorted, spearman,
};
use crate::study::{Part, Study};

const CONFIG: &str = include_str!("../../../studies/every-input/seeds.toml");

/// A part of the study, of the same config.
const fn part(name: &'static str, changes: &'static [&str], grid: &'static [&str]) -> Part {
    Part {
        name,
        config: CONFIG,
        changes,
        grid,
        seeds: 150,
        quick: 5,
        seconds: 0.2,
        fields: &[
            WRONG,
            "held_out_f1",
            "held_out_final_loss",
            "final_loss",
            "learned_at_step",
            "max_negative",
            "min_positive",
            "attention_positive",
            "attention_negative",
            "training.epochs",
            "training.weight_decay",
            "data.positive_rate",
            "data.seed",
        ],
    }
}

pub(crate) static STUDY: Study = Study {
    name: "every-input",
    question: "How many of all possible inputs do seeds of the notebook answer wrongly, although they answer the held-out samples correctly?",
    source: "Headlight's own question; no paper",
    parts: &[
        Part {
            seeds: 1000,
            quick: 100,
            ..part("seeds", &[], &[])
        },
        Part {
            seconds: 0.8,
            ..part("epochs", &[], &["training.epochs=6,12,24"])
        },
        Part {
            seeds: 100,
            seconds: 0.12,
            ..part(
                "decay",
                &["training.optimizer=adamw"],
                &["training.weight_decay=0,0.01,0.1"],
            )
        },
        Part {
            seeds: 25,
            quick: 1,
            seconds: 2.0,
            ..part(
                "positives",
                &["data.generator=chacha"],
                &["data.positive_rate=0.02,0.5"],
            )
        },
        Part {
            seeds: 25,
            quick: 2,
            seconds: 1.1,
            ..part("datasets", &[], &["data.seed=1,2,3,4,5,6,7,8"])
        },
    ],
    page,
};

/// All inputs.
const INPUTS: f64 = 15_625_000_000.0;

impl Samples {
    fn of(seed: f64, rows: &Rows) -> Option<Self> {
        let change = format!("data.seed={seed:.0}");
        Some(Self {
            seed,
            crowded: crowded(&config(CONFIG, &[&change])?)?,
            wrong: rows.numbers(WRONG),
        })
    }
}

fn page(parts: &[Rows]) -> Page {
    let rows = &parts[0];
    let mut groups = vec![Group {
        name: "the notebook: Adam, 3 epochs".to_owned(),
        rows: rows.clone(),
    }];
    let names = [
        ("training.epochs", "epochs", ""),
        ("training.weight_decay", "AdamW, weight decay", ""),
        (
            "data.positive_rate",
            "positive samples",
            " (other generator)",
        ),
    ];
    for ((field, name, end), own) in names.iter().zip(&parts[1..]) {
        groups.extend(by(own, field).into_iter().map(|(value, rows)| Group {
            name: format!("{name} {value}{end}"),
            rows,
        }));
    }
    let datasets = [(0.0, rows.clone())].into_iter();
    let datasets = datasets.chain(by(&parts[4], "data.seed"));
    let datasets: Vec<Samples> = datasets
        .filter_map(|(seed, rows)| Samples::of(seed, &rows))
        .collect();
    let config = config(CONFIG, &[]);
    let wrong = rows.numbers(WRONG);
    let is_away = is_away(rows);
    let mut findings = of_seeds(rows, &wrong);
    let mut tables = vec![conditions(&groups), of_datasets(&datasets)];
    if let Some(config) = &config {
        let (found, table) = which(config, rows, &is_away);
        findings.extend(found);
        tables.push(table);
    }
    findings.extend(of_samples(&datasets));
    findings.push(of_ways(&wrong, &is_away));
    findings.extend(of_changes(&groups));
    findings.push(of_cheap(rows, &wrong));
    tables.push(cheap(rows, &wrong));
    Page {
        findings,
        compared: compared(&wrong),
        how: vec![
            "Of each seed, the model and the recipe are the notebook's, unless the tables say otherwise. `wrong_inputs` counts the wrong answers \
             to all 15,625,000,000 inputs: 50 tokens at each of 6 positions. It is exact, as the engine answers, rounding included. Token 42 is \
             at position 3 in 312,500,000 of them. Without it there, 12,054 inputs have token 42 at four or five other positions, 1,188,544 at \
             three or more, and 58,836,554 at two or more."
                .to_owned(),
            "All runs of a part train on the same samples, except in the part `datasets`. So the numbers of the thousand seeds hold for one \
             dataset. Datasets with a chosen share of positive samples need another generator; their baseline has 2% positive samples, the share that \
             chance gives. The baseline of AdamW has a weight decay of 0, because its epsilon and its cross-entropy differ from those of the \
             Adam runs."
                .to_owned(),
        ],
        figures: figures(&wrong, rows, &datasets),
        tables,
    }
}

/// The rows of each value of a key, ascending.
fn by(rows: &Rows, field: &str) -> Vec<(f64, Rows)> {
    let mut values = sorted(&rows.numbers(field));
    values.dedup();
    let groups = values.into_iter();
    groups
        .map(|value| (value, rows.with(field, |own| own == value)))
        .collect()
}

/// Whether each attends less to position 3 when it holds token 42.
fn is_away(rows: &Rows) -> Vec<bool> {
    let [with, without] =
        ["attention_positive/3", "attention_negative/3"].map(|path| rows.numbers(path));
    with.iter().zip(&without).map(|(a, b)| a < b).collect()
}

/// How many of how many are right on every input, with the interval of their share.
fn of_perfect(wrong: &[f64]) -> String {
    let perfect = perfect(wrong);
    let interval = percents(wilson(perfect, wrong.len()), 1);
    format!("{perfect} of {} ({interval})", wrong.len())
}

/// The median of a group, with its interval.
fn of_median(wrong: &[f64]) -> String {
    let interval = to(interval_of_median(wrong));
    format!("{} ({interval})", grouped(median(wrong)))
}

fn of_seeds(rows: &Rows, wrong: &[f64]) -> Vec<String> {
    let f1 = rows.numbers("held_out_f1");
    let quantiles = [0.05, 0.25, 0.75, 0.95].map(|share| grouped(quantile(wrong, share)));
    vec![
        format!(
            "{} of {} seeds make no error on 2,000 held-out samples. Of all 15,625,000,000 inputs, {} are right on every one. The median seed \
             answers {} wrongly (95% interval {}): one in {}. The 5th, 25th, 75th and 95th percentiles are {}; the most is {}.",
            f1.iter().filter(|&&f1| f1 == 1.0).count(),
            wrong.len(),
            of_perfect(wrong),
            grouped(median(wrong)),
            to(interval_of_median(wrong)),
            grouped(INPUTS / median(wrong)),
            quantiles.join(", "),
            grouped(quantile(wrong, 1.0)),
        ),
        format!(
            "Held-out samples cannot show this. Of 2,000 random inputs, the median seed is expected to answer {:.4} wrongly, and the worst {:.2}.",
            2000.0 * median(wrong) / INPUTS,
            2000.0 * quantile(wrong, 1.0) / INPUTS,
        ),
    ]
}

fn of_ways(wrong: &[f64], is_away: &[bool]) -> String {
    let of = |away: bool| -> Vec<f64> {
        let own = wrong.iter().zip(is_away).filter(|(_, own)| **own == away);
        own.map(|(&wrong, _)| wrong).collect()
    };
    let [away, there] = [true, false].map(of);
    let (more, interval) = area(wrong, is_away);
    let verdict = if (interval[0]..interval[1]).contains(&0.5) {
        "whether they fail more often is open"
    } else if more > 0.5 {
        "they fail more often"
    } else {
        "they fail less often"
    };
    format!(
        "The seeds that look away from position 3 when it holds token 42 (the study second-way) fail on inputs of the same kind (see the table), and \
         {verdict}: one of them has more wrong inputs than one of the others with probability {more:.2} ({}). The medians are {} and {}; right on \
         every input are {} and {}.",
        between(Some(interval), 2),
        of_median(&away),
        of_median(&there),
        of_perfect(&away),
        of_perfect(&there),
    )
}

/// Of seeds in both groups, how many have fewer wrong inputs in the second, and how many have a different number.
fn falls(before: &Rows, after: &Rows) -> [usize; 2] {
    let before: BTreeMap<u64, f64> = before.seeds().zip(before.numbers(WRONG)).collect();
    let pairs = after.seeds().zip(after.numbers(WRONG));
    let changes = pairs.filter_map(|(seed, after)| Some(after - before.get(&seed)?));
    let changes: Vec<f64> = changes.filter(|&change| change != 0.0).collect();
    let fallen = changes.iter().filter(|&&change| change < 0.0).count();
    [fallen, changes.len()]
}

/// What the samples with several tokens 42 have to do with it.
fn of_samples(datasets: &[Samples]) -> Option<String> {
    let medians = |accepts: &dyn Fn(usize) -> bool| -> Vec<f64> {
        let own = datasets.iter().filter(|own| accepts(own.crowded[1]));
        own.map(|own| median(&own.wrong)).collect()
    };
    let [without, with] = [
        medians(&|crowded| crowded == 0),
        medians(&|crowded| crowded > 0),
    ];
    let said = |medians: &[f64]| {
        let [low, high] = [0.0, 1.0].map(|share| grouped(quantile(medians, share)));
        format!(
            "{} datasets the medians over seeds are {low} to {high}",
            medians.len()
        )
    };
    (!without.is_empty() && !with.is_empty()).then(|| {
        format!(
            "The dataset matters most. Of {} datasets that are drawn alike, some have no negative training sample with token 42 at three or more \
             positions: in these {}. Others have one or two such samples among 8,000: in these {}. Inputs of this kind are 1,188,544 in all. \
             The datasets differ in more than that, and the split was made after their first counts had been seen.",
            datasets.len(),
            said(&without),
            said(&with),
        )
    })
}

fn of_changes(groups: &[Group]) -> Vec<String> {
    let said = |own: &Group, base: &Group| {
        let [fallen, all] = falls(&base.rows, &own.rows);
        let interval = wilson(fallen, all);
        let verdict = match interval {
            [low, _] if low > 0.5 => "fewer",
            [_, high] if high < 0.5 => "more",
            _ => "no clear change",
        };
        format!(
            "{}: median {}, {verdict} (fewer in {fallen} of the {all} seeds that change, {})",
            own.name,
            grouped(median(&own.rows.numbers(WRONG))),
            percents(interval, 0),
        )
    };
    let samples = |rate: f64| {
        let rate = format!("data.positive_rate={rate}");
        let config = config(CONFIG, &["data.generator=chacha", &rate]);
        let crowded = config.and_then(|config| crowded(&config));
        crowded.unwrap_or_default()
    };
    let [few, half] = [0.02, 0.5].map(samples);
    let against = |name: &str, base: &str| {
        let base = groups.iter().find(|own| own.name.starts_with(base));
        let own = groups.iter().filter(|own| own.name.starts_with(name));
        let own = own.filter(|own| base.is_some_and(|base| base.name != own.name));
        let said = own.filter_map(|own| Some(said(own, base?)));
        said.collect::<Vec<_>>().join("; ")
    };
    let mut findings = vec![
        format!(
            "More epochs, each beside the same seeds after 3: {}.",
            against("epochs", "the notebook")
        ),
        format!(
            "Weight decay, beside AdamW without it: {}.",
            against("AdamW", "AdamW, weight decay 0")
        ),
        format!(
            "Half of the samples positive, beside 2%: {}. Their datasets have {} negative training samples with token 42 at two positions and {} with \
             more; those of 2% have {} and {}.",
            against("positive samples", "positive samples 0.02"),
            half[0],
            half[1],
            few[0],
            few[1],
        ),
    ];
    findings.retain(|finding| !finding.contains(": ."));
    findings
}

fn of_cheap(rows: &Rows, wrong: &[f64]) -> String {
    let said = [0, 1, 2].map(|index| {
        let (name, field) = CHEAP[index];
        let values = rows.numbers(field);
        let interval = between(interval_of_spearman(&values, wrong), 2);
        format!("{name} {:.2} ({interval})", spearman(&values, wrong))
    });
    format!(
        "Rank correlation with the number of wrong inputs (95% interval): {}. All three are columns of every sweep.",
        said.join(", ")
    )
}

fn compared(wrong: &[f64]) -> Vec<Compared> {
    let own = |quantity: &str, ours: String, interval: String| Compared {
        quantity: quantity.to_owned(),
        published: None,
        ours,
        interval,
        verdict: Verdict::NotPublished,
    };
    vec![
        own(
            "right on every input",
            perfect(wrong).to_string(),
            percents(wilson(perfect(wrong), wrong.len()), 1),
        ),
        own(
            "wrong inputs, median",
            grouped(median(wrong)),
            to(interval_of_median(wrong)),
        ),
    ]
}
