//! How do models add modulo 59? Zhong et al. 2023.

use headlight_inspector::{Curve, Plot};

use crate::clock_medians::{Beside, FIELDS, NAMES, RATE, STEPS, beside, crossing, medians};
use crate::clock_published::{BINS, CIRCULAR, GROUPS, ONE_MODE, ONE_MODE_IN_BINS, of_width};
use crate::clock_tables::{by_rate, by_steps, by_width};
use crate::page::{Compared, Page};
use crate::rows::Rows;
use crate::statistics::{median, one_mode, probability, spearman};
use crate::study::{Part, Study};

/// The middles of the published table's bins.
const RATES: &str = "model.attention.rate=0.05,0.15,0.25,0.35,0.45,0.55,0.65,0.75,0.85,0.95";
const SMALL: &str = include_str!("../../../studies/clock-and-pizza/small.toml");
const PUBLISHED: &str = include_str!("../../../studies/clock-and-pizza/published.toml");

pub(crate) static STUDY: Study = Study {
    name: "clock-and-pizza",
    question: "Are there two algorithms of addition modulo 59, and what decides which one a model learns?",
    source: "Published as Zhong et al. 2023, The Clock and the Pizza (arXiv 2306.17844)",
    parts: &[
        Part {
            name: "small",
            config: SMALL,
            changes: &[],
            grid: &[RATES],
            seeds: 15,
            quick: 1,
            seconds: 5.9,
            fields: FIELDS,
        },
        Part {
            name: "width-128",
            config: PUBLISHED,
            changes: &[],
            grid: &["model.attention.rate=0.05,0.25,0.45,0.65,0.85,0.95"],
            seeds: 2,
            quick: 0,
            seconds: 33.5,
            fields: FIELDS,
        },
        Part {
            name: "width-32",
            config: PUBLISHED,
            changes: &["model.d_model=32", "model.d_ff=128"],
            grid: &[RATES],
            seeds: 10,
            quick: 1,
            seconds: 3.5,
            fields: FIELDS,
        },
        Part {
            name: "longer",
            config: PUBLISHED,
            changes: &["model.d_model=64", "model.d_ff=256"],
            grid: &[
                "training.steps=1500,5000,20000",
                "model.attention.rate=0.05,0.45,0.65,0.95",
            ],
            seeds: 1,
            quick: 0,
            seconds: 53.0,
            fields: FIELDS,
        },
    ],
    page,
};

/// The probability below which one mode is ruled out.
const LEVEL: f64 = 0.05;

fn page(parts: &[Rows]) -> Page {
    let learned: Vec<Rows> = parts
        .iter()
        .map(|rows| rows.with("held_out_accuracy", |accuracy| accuracy >= 0.99))
        .collect();
    let beside = beside(&learned[0]);
    let compared: Vec<Compared> = beside.iter().flatten().map(Beside::compared).collect();
    Page {
        findings: findings(parts, &learned, &beside),
        compared,
        how: vec![
            format!(
                "The published runs have width 128, 80% of the pairs to train on, weight decay 2, learning rate 0.001 and 20,000 steps. Their \
                 medians here are of the {} of {} with a circularity of {CIRCULAR} or more, by bins of the attention rate. Ours stop earlier: the small \
             recipe has width 64, half of the pairs, weight decay 1, learning rate 0.003 and 1,500 steps, and every run with a held-out \
             accuracy of 99% or more counts. So nothing is comparable in the strict sense; the part `longer` shows whether the measures \
             still move.",
                GROUPS[0].runs,
                of_width(128, false).map_or(0, |group| group.runs)
            ),
            "The attention rate r mixes softmax weights with weights of 1: r softmax(scores) + 1 - r. Distance irrelevance says how little a - b \
             matters to the logit of the right class. Gradient symmetricity says how alike the two numbers act on a logit. A pizza has high symmetricity and \
             low irrelevance, and a clock the reverse. Circularity says how close to circles the embeddings lie. docs/sweeps.md has the \
             definitions."
                .to_owned(),
            "We test the distance irrelevance of all runs of the small recipe that answer 99% of the held-out pairs, by Silverman's test of one \
             mode. If the test rules out one mode at the level 0.05, we say two. The attention rates of the runs are spread evenly, so a \
             quantity that moves evenly with the rate has one mode."
                .to_owned(),
        ],
        figures: figures(&learned[0], &beside),
        tables: [
            (by_rate(&beside), learned[0].len()),
            (by_steps(&parts[3]), parts[3].len()),
            (by_width(&learned), learned[1].len() + learned[2].len()),
        ]
        .into_iter()
        .filter(|(_, rows)| *rows > 0)
        .map(|(table, _)| table)
        .collect(),
    }
}

fn figures(small: &Rows, beside: &[[Beside; 2]]) -> Vec<Plot> {
    let curves = (0..2).map(|name| {
        let curve = |title: &str, value: fn(&Beside) -> f64| Curve {
            name: title.to_owned(),
            points: beside
                .iter()
                .map(|both| [both[name].rate, value(&both[name])])
                .collect(),
        };
        Plot::Curves {
            labels: [
                "attention rate".to_owned(),
                format!("{}, median", NAMES[name].replace('_', " ")),
            ],
            curves: vec![
                curve("ours, small recipe", |beside| beside.ours),
                curve("published", |beside| beside.published),
            ],
            mark: None,
        }
    });
    let mut figures: Vec<Plot> = curves.collect();
    let [symmetricity, irrelevance] = NAMES.map(|name| small.numbers(name));
    figures.push(Plot::Scatter {
        labels: NAMES.map(|name| name.replace('_', " ")),
        points: symmetricity
            .into_iter()
            .zip(irrelevance.iter().copied())
            .map(|(a, b)| [a, b])
            .collect(),
    });
    figures.push(Plot::Histogram {
        label: "distance irrelevance".to_owned(),
        values: irrelevance,
        mark: None,
    });
    figures
}

fn findings(parts: &[Rows], learned: &[Rows], beside: &[[Beside; 2]]) -> Vec<String> {
    let small = &learned[0];
    let rates = small.numbers(RATE);
    let correlation = |name: &str| spearman(&rates, &small.numbers(name));
    let mut findings = vec![format!(
        "The attention rate moves gradient symmetricity strongly, with a rank correlation of {:.2} over the runs of the small recipe, and \
         distance irrelevance less ({:.2}). Our runs do not decide whether there are two algorithms or a continuum.",
        correlation(NAMES[0]),
        correlation(NAMES[1]),
    )];
    let answered = |part: usize| format!("{} of {}", learned[part].len(), parts[part].len());
    findings.push(format!(
        "{} runs of the small recipe answer at least 99% of the held-out pairs, and so do {} of width 32. {} of the first are circular as the \
         authors ask, too few to look at these alone.",
        answered(0),
        answered(2),
        small.with("circularity", |value| value >= CIRCULAR).len(),
    ));
    let within: Vec<String> = (0..2)
        .filter_map(|name| {
            let known = beside.iter().filter_map(|both| {
                let [low, high] = both[name].interval?;
                Some((low..=high).contains(&both[name].published))
            });
            let known: Vec<bool> = known.collect();
            let within = known.iter().filter(|&&within| within).count();
            let name = NAMES[name].replace('_', " ");
            (!known.is_empty()).then(|| format!("{within} of {} of {name}", known.len()))
        })
        .collect();
    if !within.is_empty() {
        findings.push(format!(
            "Of the published medians by attention rate, these lie in the 95% interval of ours, although the recipe is another one: {}.",
            within.join(", ")
        ));
    }
    findings.extend(explained(learned));
    findings.extend(modes(small));
    findings.extend(boundaries(parts, learned));
    findings
}

/// Whether distance irrelevance has one mode.
fn modes(small: &Rows) -> Option<String> {
    let value = one_mode(&small.numbers("distance_irrelevance"))?;
    let verdict = if value < LEVEL {
        "rules"
    } else {
        "does not rule"
    };
    let [ruled_out, bins] = ONE_MODE_IN_BINS;
    Some(format!(
        "The test that we fixed before the runs {verdict} out one mode of distance irrelevance ({}, {} runs). Added afterwards: it does rule it out \
         in the {} circular published runs ({}), and in all of widths 49 to 80. So neither the number of runs nor the \
         filter is the difference; recipe and steps remain. Two modes over all rates do not prove two algorithms: an S-shaped dependence on \
         the rate gives them, too. Within a bin of the rate, the published circular runs rule out one mode in {ruled_out} of {bins} bins.",
        probability(value),
        small.len(),
        GROUPS[0].runs,
        probability(ONE_MODE),
    ))
}

/// What is known of why distance irrelevance at the lowest rate differs from the published value; needs the parts that `--quick`
/// leaves out.
fn explained(learned: &[Rows]) -> Option<String> {
    const LOWEST: f64 = 0.05;
    let at = |rows: &Rows, steps: Option<f64>| {
        let own = rows.with(RATE, |rate| rate == LOWEST);
        let own = own.with(STEPS, |own| steps.is_none_or(|steps| own == steps));
        let value = median(&own.numbers("distance_irrelevance"));
        value.is_finite().then_some(value)
    };
    let published = |is_circular: bool| Some(of_width(64, is_circular)?.medians[0][1]);
    Some(format!(
        "Ours differ most in the distance irrelevance at low rates: {:.2} at {LOWEST}. Published runs of widths 49 to 80 have {:.2} there, and {:.2} if \
         circular ones alone count, so the filter explains little. In one seed of width 64 by the published recipe, the value falls from \
         {:.2} after 1,500 steps to {:.2} after 20,000. So the number of steps is the likely cause, which one seed does not prove.",
        at(&learned[0], None)?,
        published(false)?,
        published(true)?,
        at(&learned[3], Some(1500.0))?,
        at(&learned[3], Some(20_000.0))?,
    ))
}

/// The attention rate at which the median gradient symmetricity falls below 0.9, by width.
fn boundaries(parts: &[Rows], learned: &[Rows]) -> Option<String> {
    let steps = |steps: f64| parts[3].with(STEPS, |own| own == steps);
    let own = [
        ("32", learned[2].clone()),
        ("64, one seed", steps(1500.0)),
        ("64, after 20,000 steps", steps(20_000.0)),
        ("128, two seeds a rate", learned[1].clone()),
        ("64, small recipe", learned[0].clone()),
    ];
    let own: Vec<String> = own
        .iter()
        .filter_map(|(name, rows)| Some(format!("{:.2} ({name})", crossing(&medians(rows))?)))
        .collect();
    let published = GROUPS.iter().filter(|group| !group.is_circular);
    let published = published.map(|group| {
        let medians = group.medians.iter().enumerate();
        let medians = medians.map(|(index, both)| ((index as f64 + 0.5) / BINS as f64, both[0]));
        let place = crossing(&medians.collect::<Vec<_>>());
        let place = place.map_or_else(|| "no rate".to_owned(), |place| format!("{place:.2}"));
        let [least, most] = group.widths;
        if least == most {
            format!("{place} ({least})")
        } else {
            format!("{place} ({least} to {most})")
        }
    });
    (!own.is_empty()).then(|| {
        format!(
            "In the published table, the attention rate at which the median gradient symmetricity falls below 0.9 rises with the width: {}. Ours \
             do not test this well: {}. All but the small recipe are of the published one, after 1,500 steps where no other number stands.",
            published.collect::<Vec<_>>().join(", "),
            own.join(", ")
        )
    })
}
