//! Which of four numbers is the largest? Gross et al. 2024.

use headlight_experiment::metrics::wilson;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict, percents, table};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, median, quantile, spearman};
use crate::study::{Part, Study};

pub(crate) static STUDY: Study = Study {
    name: "max-of-four",
    question: "Do all seeds of a model that names the largest of four numbers learn it, and for every input?",
    source: "Published as Gross et al. 2024, Compact Proofs of Model Performance via Mechanistic Interpretability (arXiv 2406.11779)",
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

/// The numbers of all seeds.
struct Seeds<'a> {
    rows: &'a Rows,
    exact: Vec<f64>,
    order: Vec<f64>,
    copying: Vec<f64>,
}

fn percent(share: f64) -> String {
    format!("{:.3}%", 100.0 * share)
}

fn page(parts: &[Rows]) -> Page {
    let rows = &parts[0];
    let seeds = Seeds {
        rows,
        exact: rows.numbers("accuracy_on_all"),
        order: rows.numbers("score_order"),
        copying: rows.numbers("copying"),
    };
    Page {
        findings: seeds.findings(),
        compared: seeds.compared(),
        how: vec![
            "The recipe is the published one: 3,000 steps of 128 fresh samples. The paper trained 151 seeds and proves lower bounds of \
             their accuracies, of which that by brute force is the accuracy over all inputs. The accuracies of the seeds are not in its \
             repository, and the mean in its tables could not be looked up here."
                .to_owned(),
            "The accuracy over all inputs is exact. A key's score depends on the query's token, the key's token and its position alone, so \
             all inputs are computed from tables, in double precision. Where the two largest logits differ by less than 0.0001, the engine \
             computes the input."
                .to_owned(),
        ],
        figures: seeds.figures(),
        tables: vec![seeds.worst()],
    }
}

impl Seeds<'_> {
    /// How many seeds failed, and the 95% interval of their share.
    fn failed(&self) -> (usize, String) {
        let failed = self
            .exact
            .iter()
            .filter(|&&accuracy| accuracy < FAILED)
            .count();
        (failed, percents(wilson(failed, self.rows.len()), 2))
    }

    fn findings(&self) -> Vec<String> {
        let (count, exact) = (self.rows.len(), &self.exact);
        let perfect = exact.iter().filter(|&&accuracy| accuracy == 1.0).count();
        let sampled = self.rows.numbers("held_out_accuracy");
        let off = exact
            .iter()
            .zip(&sampled)
            .map(|(exact, sampled)| (exact - sampled).abs());
        let off: Vec<f64> = off.collect();
        let (failed, interval) = self.failed();
        vec![
            format!(
                "Of {count} seeds, the median accuracy over all 16,777,216 inputs is {}; the worst has {}, the best {}. {perfect} are right for \
                 all of them.",
                percent(median(exact)),
                percent(quantile(exact, 0.0)),
                percent(quantile(exact, 1.0)),
            ),
            format!(
                "{failed} of the seeds are below {}: {} (95% interval {interval}).",
                percent(FAILED),
                percent(failed as f64 / count.max(1) as f64),
            ),
            format!(
                "The accuracy on 1,024 held-out samples differs from the exact one by {:.2} percentage points in the median, and by {:.2} at most.",
                100.0 * median(&off),
                100.0 * quantile(&off, 1.0)
            ),
            format!(
                "Of all wrong answers, {} name another number of the input; in the median seed, {}. The others name a number that the input \
                 does not have.",
                percent(self.on_tokens()),
                percent(median(&self.rows.numbers("errors_on_tokens")))
            ),
            format!(
                "Two numbers from the weights are weakly associated with the exact accuracy: whether larger tokens get larger scores (Kendall's \
                 tau, median {:.3}; rank correlation {:.2}), and how often a token's value adds most to its own class (median {:.3}; {:.2}).",
                median(&self.order),
                spearman(&self.order, exact),
                median(&self.copying),
                spearman(&self.copying, exact),
            ),
        ]
    }

    /// The share of the wrong answers of all seeds that name another number of the input.
    fn on_tokens(&self) -> f64 {
        let shares = self.rows.numbers("errors_on_tokens");
        let wrong = self
            .exact
            .iter()
            .zip(shares)
            .filter(|(_, share)| share.is_finite());
        let (on_tokens, all) = wrong.fold((0.0, 0.0), |(on_tokens, all), (exact, share)| {
            (on_tokens + (1.0 - exact) * share, all + (1.0 - exact))
        });
        on_tokens / all
    }

    fn compared(&self) -> Vec<Compared> {
        let (failed, interval) = self.failed();
        let of_median = interval_of_median(&self.exact);
        vec![
            Compared {
                quantity: "accuracy over all inputs, median".to_owned(),
                published: None,
                ours: percent(median(&self.exact)),
                interval: of_median
                    .map_or_else(|| "–".to_owned(), |interval| percents(interval, 3)),
                verdict: Verdict::NotPublished,
            },
            Compared {
                quantity: format!("seeds below {}", percent(FAILED)),
                published: None,
                ours: failed.to_string(),
                interval,
                verdict: Verdict::NotPublished,
            },
        ]
    }

    fn figures(&self) -> Vec<Plot> {
        let beside = |label: &str, values: &[f64]| Plot::Scatter {
            labels: [label.to_owned(), "accuracy over all inputs".to_owned()],
            points: values
                .iter()
                .zip(&self.exact)
                .map(|(&a, &b)| [a, b])
                .collect(),
        };
        let wrong = self.exact.iter().map(|accuracy| (1.0 - accuracy) * INPUTS);
        vec![
            Plot::Histogram {
                label: "wrong inputs, of 16,777,216".to_owned(),
                values: wrong.collect(),
                mark: None,
            },
            beside("whether larger tokens get larger scores", &self.order),
            beside(
                "how often a value is largest for its own class",
                &self.copying,
            ),
        ]
    }

    fn worst(&self) -> Table {
        let known = (0..self.rows.len()).filter(|&run| self.exact[run].is_finite());
        let mut worst: Vec<usize> = known.collect();
        worst.sort_by(|&a, &b| self.exact[a].total_cmp(&self.exact[b]));
        let seeds: Vec<u64> = self.rows.seeds().collect();
        let header = [
            "seed",
            "accuracy on all",
            "wrong inputs",
            "score order",
            "copying",
        ];
        let rows = worst.iter().take(10).map(|&run| {
            vec![
                seeds[run].to_string(),
                percent(self.exact[run]),
                format!("{:.0}", (1.0 - self.exact[run]) * INPUTS),
                format!("{:.3}", self.order[run]),
                format!("{:.3}", self.copying[run]),
            ]
        });
        table("The worst seeds", "", &header, rows)
    }
}
