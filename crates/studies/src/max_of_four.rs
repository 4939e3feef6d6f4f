//! Which of four numbers is the largest? Gross et al. 2024.

use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, interval_of_share, median, quantile, spearman};
use crate::{Part, Study};

pub(crate) static STUDY: Study = Study {
    name: "max-of-four",
    question: "Do all seeds of a model that names the largest of four numbers learn it, and for every input?",
    source: "Gross et al. 2024, Compact Proofs of Model Performance via Mechanistic Interpretability (arXiv 2406.11779)",
    parts: &[Part {
        name: "seeds",
        config: include_str!("../../../studies/max-of-four/seeds.toml"),
        changes: &[],
        grid: &[],
        seeds: 5000,
        quick: 100,
        seconds: 0.6,
        fields: &[
            "accuracy_on_all",
            "errors_on_tokens",
            "held_out_accuracy",
            "held_out_loss",
            "score_order",
            "copying",
        ],
    }],
    page,
};

/// All inputs.
const INPUTS: f64 = 16_777_216.0;

/// The accuracy below which a seed counts as failed.
const FAILED: f64 = 0.99;

fn page(parts: &[Rows]) -> Page {
    let rows = &parts[0];
    let exact = rows.numbers("accuracy_on_all");
    let sampled = rows.numbers("held_out_accuracy");
    let [order, copying] = ["score_order", "copying"].map(|name| rows.numbers(name));
    let count = rows.len();
    let failed: Vec<usize> = (0..count).filter(|&run| exact[run] < FAILED).collect();
    let perfect = exact.iter().filter(|&&accuracy| accuracy == 1.0).count();
    let share = |count_of: usize| {
        let [low, high] = interval_of_share(count_of, count);
        format!("{:.2}% to {:.2}%", 100.0 * low, 100.0 * high)
    };
    let percent = |share: f64| format!("{:.3}%", 100.0 * share);
    let middle = interval_of_median(&exact).map_or_else(
        || "–".to_owned(),
        |[low, high]| format!("{} to {}", percent(low), percent(high)),
    );
    let wrong: Vec<f64> = exact
        .iter()
        .map(|accuracy| (1.0 - accuracy) * INPUTS)
        .collect();
    let off = exact
        .iter()
        .zip(&sampled)
        .map(|(exact, sampled)| (exact - sampled).abs());
    let off: Vec<f64> = off.collect();
    let mut findings = vec![
        format!(
            "The median seed of {count} is right for {} of all 16,777,216 inputs. The worst is right for {}, the best for {}; {perfect} are \
             right for all of them.",
            percent(median(&exact)),
            percent(quantile(&exact, 0.0)),
            percent(quantile(&exact, 1.0)),
        ),
        format!(
            "{} of the seeds are below {}: {} (95% interval {}).",
            failed.len(),
            percent(FAILED),
            percent(failed.len() as f64 / count as f64),
            share(failed.len())
        ),
        format!(
            "A test of 1,024 samples is off by up to {:.2} percentage points, by {:.2} in the median.",
            100.0 * quantile(&off, 1.0),
            100.0 * median(&off)
        ),
    ];
    findings.push(format!(
        "Of a seed's wrong answers, {} name another number of the input in the median; the others name a number that the input does not \
         have.",
        percent(median(&rows.numbers("errors_on_tokens")))
    ));
    findings.push(format!(
        "Two numbers from the weights say how a seed does it: whether larger tokens get larger scores (Kendall's tau, median {:.3}), and \
         how often a token's value adds most to its own class (median {:.3}). Their rank correlations with the exact accuracy over all \
         seeds are {:.2} and {:.2}.",
        median(&order),
        median(&copying),
        spearman(&order, &exact),
        spearman(&copying, &exact),
    ));
    let mut worst: Vec<usize> = (0..count).filter(|&run| exact[run].is_finite()).collect();
    worst.sort_by(|&a, &b| exact[a].total_cmp(&exact[b]));
    let seeds: Vec<u64> = rows.seeds().collect();
    let mut table = vec![
        [
            "seed",
            "accuracy on all",
            "wrong inputs",
            "score order",
            "copying",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    table.extend(worst.iter().take(10).map(|&run| {
        vec![
            seeds[run].to_string(),
            percent(exact[run]),
            format!("{:.0}", wrong[run]),
            format!("{:.3}", order[run]),
            format!("{:.3}", copying[run]),
        ]
    }));
    Page {
        findings,
        compared: vec![
            Compared {
                quantity: "accuracy over all inputs, median".to_owned(),
                published: None,
                ours: percent(median(&exact)),
                interval: middle,
                verdict: Verdict::NotPublished,
            },
            Compared {
                quantity: format!("seeds below {}", percent(FAILED)),
                published: None,
                ours: failed.len().to_string(),
                interval: share(failed.len()),
                verdict: Verdict::NotPublished,
            },
        ],
        how: vec![
            "The recipe is the published one: 3,000 steps of 128 fresh samples. The paper trained 151 seeds and proves lower bounds of \
             their accuracies; the accuracies themselves are not in the paper's repository, as far as was looked."
                .to_owned(),
            "The accuracy over all inputs is exact. A key's score depends on the query's token, the key's token and its position alone, so \
             all inputs are computed from tables, in double precision. Where the two largest logits differ by less than 0.0001, the engine \
             computes the input."
                .to_owned(),
        ],
        figures: vec![
            Plot::Histogram {
                label: "wrong inputs, of 16,777,216".to_owned(),
                values: wrong,
                mark: None,
            },
            Plot::Scatter {
                labels: ["whether larger tokens get larger scores".to_owned(), "accuracy over all inputs".to_owned()],
                points: order.iter().zip(&exact).map(|(&a, &b)| [a, b]).collect(),
            },
            Plot::Scatter {
                labels: ["how often a value is largest for its own class".to_owned(), "accuracy over all inputs".to_owned()],
                points: copying.iter().zip(&exact).map(|(&a, &b)| [a, b]).collect(),
            },
        ],
        tables: vec![Table::of_text("The worst seeds", "", table)],
    }
}
