//! Which of four numbers is the largest? Gross et al. 2024.

use headlight_experiment::metrics::wilson;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict, between, percents, table};
use crate::regression::area;
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
            "errors_near",
            "worst_class",
            "errors_in_worst_class",
            "held_out_accuracy",
            "score_order",
            "neighbour_order",
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
    neighbours: Vec<f64>,
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
        neighbours: rows.numbers("neighbour_order"),
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
        let failing = self.rows.with("accuracy_on_all", |exact| exact < FAILED);
        let labels: Vec<bool> = exact.iter().map(|&exact| exact < FAILED).collect();
        let says = ["neighbour_order", "score_order", "copying"].map(|name| {
            let values = self.rows.numbers(name);
            let disorder: Vec<f64> = values.iter().map(|value| -value).collect();
            let (area, interval) = area(&disorder, &labels);
            let interval = between(Some(interval), 3);
            let correlation = spearman(&values, exact);
            format!("{area:.3} ({interval}), rank correlation with the accuracy {correlation:.2}")
        });
        let mean = exact.iter().sum::<f64>() / count.max(1) as f64;
        let squares = exact.iter().map(|exact| (exact - mean).powi(2));
        let deviation = (squares.sum::<f64>() / count.max(1) as f64).sqrt();
        vec![
            format!(
                "Of {count} seeds, the mean accuracy over all 16,777,216 inputs is {} (standard deviation {}), and the median {}; the worst has {}, \
                 the best {}. {perfect} are right for all of them.",
                percent(mean),
                percent(deviation),
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
                "The accuracy on 1,024 held-out samples differs from the exact one by {:.2} percentage points in the median, and by {:.2} at most. Sampling alone gives such \
                 differences.",
                100.0 * median(&off),
                100.0 * quantile(&off, 1.0)
            ),
            format!(
                "Of all wrong answers, {} name a number that differs from the right one by 1 or 2 ({} in the median seed), and {} another number \
                 of the input ({}). In the median seed, {} of the wrong answers belong to one right answer; in the median failed seed, {}.",
                percent(self.of_wrong("errors_near")),
                percent(median(&self.rows.numbers("errors_near"))),
                percent(self.of_wrong("errors_on_tokens")),
                percent(median(&self.rows.numbers("errors_on_tokens"))),
                percent(median(&self.rows.numbers("errors_in_worst_class"))),
                percent(median(&failing.numbers("errors_in_worst_class"))),
            ),
            format!(
                "What the weights say of failing, as the area under the ROC curve (95% interval): how often the larger of two neighbours, such as 31 \
                 and 30, gets the larger score {}; the order of the scores of all numbers (Kendall's tau) {}; how often a value is largest \
                 for its own class {}.",
                says[0], says[1], says[2],
            ),
        ]
    }

    /// A share of wrong answers, over those of all seeds.
    fn of_wrong(&self, measure: &str) -> f64 {
        let shares = self.rows.numbers(measure);
        let wrong = self
            .exact
            .iter()
            .zip(shares)
            .filter(|(_, share)| share.is_finite());
        let (own, all) = wrong.fold((0.0, 0.0), |(own, all), (exact, share)| {
            (own + (1.0 - exact) * share, all + (1.0 - exact))
        });
        own / all
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
            beside(
                "how often the larger of two neighbours gets the larger score",
                &self.neighbours,
            ),
            beside(
                "how often a value is largest for its own class",
                &self.copying,
            ),
            Plot::Histogram {
                label: "the largest number with the most wrong answers, by seed".to_owned(),
                values: self.rows.numbers("worst_class"),
                mark: None,
            },
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
            "near",
            "worst number",
            "its share",
            "neighbours in order",
            "copying",
        ];
        let [near, worst_class, share] = ["errors_near", "worst_class", "errors_in_worst_class"]
            .map(|name| self.rows.numbers(name));
        let rows = worst.iter().take(10).map(|&run| {
            vec![
                seeds[run].to_string(),
                percent(self.exact[run]),
                format!("{:.0}", (1.0 - self.exact[run]) * INPUTS),
                format!("{:.2}", near[run]),
                format!("{:.0}", worst_class[run]),
                format!("{:.2}", share[run]),
                format!("{:.3}", self.neighbours[run]),
                format!("{:.3}", self.copying[run]),
            ]
        });
        table(
            "The worst seeds",
            "near: of the wrong answers, the share that differs by 1 or 2; worst number: the largest number with the most of them",
            &header,
            rows,
        )
    }
}
