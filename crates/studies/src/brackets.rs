//! Is a string of brackets balanced, and does each seed find the circuit that is taught? ARENA, chapter 1.5.1.

use headlight_experiment::metrics::wilson;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict, percents, table};
use crate::rows::Rows;
use crate::statistics::{median, spearman};
use crate::study::{Part, Study};

macro_rules! part {
    ($name:literal, $changes:expr, $seeds:literal, $quick:literal, $seconds:literal) => {
        Part {
            name: $name,
            config: include_str!("../../../studies/brackets/models.toml"),
            changes: $changes,
            grid: &[],
            seeds: $seeds,
            quick: $quick,
            seconds: $seconds,
            fields: &[
                "held_out_accuracy",
                "learned_at_step",
                "head_removal",
                "gap_of_totals",
                "gap_of_order",
                "totals_by_head",
                "order_by_head",
            ],
        }
    };
}

pub(crate) static STUDY: Study = Study {
    name: "brackets",
    question: "Do all seeds of a model of balanced brackets find the circuit that is taught from one of them?",
    source: "Taught in ARENA, chapter 1.5.1 (github.com/callummcdougall/ARENA_3.0), from one trained model",
    parts: &[
        part!("full", &[], 60, 1, 40.0),
        part!(
            "small",
            &[
                "data.seq_len=20",
                "model.d_model=16",
                "model.d_ff=16",
                "training.learning_rate=3e-3",
                "training.steps=2000",
            ],
            1000,
            40,
            2.0
        ),
    ],
    page,
};

/// The held-out accuracy from which a model has learned the task.
const LEARNED: f64 = 0.99;

/// The share of a gap from which a head carries it.
const CARRIES: f64 = 0.5;

const LAYERS: usize = 3;
const HEADS: usize = 2;

/// How the evidence reaches the position that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One head of the last block carries unequal totals, the other one a wrong order, and neither carries both.
    Taught,
    /// The same head of the last block carries most of both.
    OneHead,
    /// Each is carried most by another head of the last block, and at least one of the two carries both.
    Overlapping,
    /// Each is carried by a head, and one of them stands in an earlier block.
    Earlier,
    TotalsAlone,
    OrderAlone,
    /// No head carries half of either.
    Spread,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Taught,
        Self::OneHead,
        Self::Overlapping,
        Self::Earlier,
        Self::TotalsAlone,
        Self::OrderAlone,
        Self::Spread,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Taught => "as taught: one head of the last block for each",
            Self::OneHead => "one head of the last block for both",
            Self::Overlapping => "two heads of the last block, at least one for both",
            Self::Earlier => "a head for each, at least one in an earlier block",
            Self::TotalsAlone => "a head carries half of totals, and none half of order",
            Self::OrderAlone => "a head carries half of order, and none half of totals",
            Self::Spread => "no head carries half of either",
        }
    }
}

/// What a head carries. `[layer][head]`
type Shares = [[f64; HEADS]; LAYERS];

/// The larger number of a block's heads.
fn larger(shares: &Shares, layer: usize) -> f64 {
    shares[layer].into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// A model that learned.
struct Model {
    seed: u64,
    /// Of unequal totals, and of a wrong order.
    carried: [Shares; 2],
    removal: Shares,
}

impl Model {
    /// The head that carries most of a gap.
    fn most(&self, gap: usize) -> [usize; 2] {
        let heads = (0..LAYERS).flat_map(|layer| (0..HEADS).map(move |head| [layer, head]));
        let share = |&[layer, head]: &[usize; 2]| self.carried[gap][layer][head];
        heads
            .max_by(|a, b| share(a).total_cmp(&share(b)))
            .unwrap_or_default()
    }

    fn share(&self, gap: usize, [layer, head]: [usize; 2]) -> f64 {
        self.carried[gap][layer][head]
    }

    fn kind(&self) -> Kind {
        let most = [self.most(0), self.most(1)];
        let carries = [0, 1].map(|gap| self.share(gap, most[gap]) >= CARRIES);
        match carries {
            [false, false] => return Kind::Spread,
            [true, false] => return Kind::TotalsAlone,
            [false, true] => return Kind::OrderAlone,
            [true, true] => {}
        }
        if most.iter().any(|[layer, _]| *layer != LAYERS - 1) {
            Kind::Earlier
        } else if most[0] == most[1] {
            Kind::OneHead
        } else if (0..2).any(|gap| self.share(1 - gap, most[gap]) >= CARRIES) {
            Kind::Overlapping
        } else {
            Kind::Taught
        }
    }
}

/// The models of a part that learned.
fn models(rows: &Rows) -> Vec<Model> {
    let learned = learned(rows);
    let shares = |field: &str| -> Vec<Shares> {
        let mut all = vec![Shares::default(); learned.len()];
        for layer in 0..LAYERS {
            for head in 0..HEADS {
                let values = learned.numbers(&format!("{field}/{layer}/{head}"));
                for (own, value) in all.iter_mut().zip(values) {
                    own[layer][head] = value;
                }
            }
        }
        all
    };
    let [totals, order, removal] = ["totals_by_head", "order_by_head", "head_removal"].map(shares);
    let models = learned.seeds().zip(totals).zip(order).zip(removal);
    let is_known = |shares: &Shares| shares.iter().flatten().all(|share| share.is_finite());
    models
        .filter(|(((_, totals), order), _)| is_known(totals) && is_known(order))
        .map(|(((seed, totals), order), removal)| Model {
            seed,
            carried: [totals, order],
            removal,
        })
        .collect()
}

fn learned(rows: &Rows) -> Rows {
    rows.with("held_out_accuracy", |accuracy| accuracy >= LEARNED)
}

fn percent(count: usize, of: usize) -> String {
    format!("{:.1}%", 100.0 * count as f64 / of.max(1) as f64)
}

fn page(parts: &[Rows]) -> Page {
    let mut page = Page {
        how: how(),
        ..Page::default()
    };
    for ((part, rows), size) in STUDY.parts.iter().zip(parts).zip(["full-size", "small"]) {
        let models = models(rows);
        let (count, runs) = (models.len(), rows.len());
        if count == 0 {
            continue;
        }
        let steps = learned(rows).numbers("learned_at_step");
        page.findings.push(format!(
            "Of {runs} {size} models, {count} learn: {} ({}). The median one has a held-out F1 of 99% after {:.0} steps.",
            percent(count, runs),
            percents(wilson(count, runs), 1),
            median(&steps),
        ));
        let of_kind = |kind: Kind| models.iter().filter(|model| model.kind() == kind).count();
        let taught = of_kind(Kind::Taught);
        let both = taught + of_kind(Kind::Overlapping);
        let listed: Vec<String> = Kind::ALL
            .into_iter()
            .filter(|&kind| of_kind(kind) > 0)
            .map(|kind| format!("{} ({})", kind.name(), of_kind(kind)))
            .collect();
        page.findings.push(format!(
            "In {taught} of these {count}, the heads of the last block have the roles that are taught ({}). Added afterwards: if heads may carry \
             both, {both} do. By kind: {}.",
            percents(wilson(taught, count), 1),
            listed.join("; "),
        ));
        let of_last = |gap: usize| -> Vec<f64> {
            let shares = models.iter().map(|model| model.carried[gap][LAYERS - 1]);
            shares.flatten().collect()
        };
        let alike = spearman(&of_last(0), &of_last(1));
        page.findings.push(format!(
            "The two shares of a head of the last block have a rank correlation of {alike:.2}.{}",
            if alike > 0.5 {
                " So these heads do not divide the work: one that carries much of totals carries much of order."
            } else {
                ""
            }
        ));
        let rises: Vec<f64> = (0..LAYERS)
            .map(|layer| {
                let rises = models.iter().map(|model| larger(&model.removal, layer));
                median(&rises.collect::<Vec<f64>>())
            })
            .collect();
        let in_blocks = rises.iter().enumerate();
        let in_blocks: Vec<String> = in_blocks
            .map(|(layer, rise)| format!("{rise:.2} in block {layer}"))
            .collect();
        page.findings.push(format!(
            "Without the head of a block that matters more, at all positions, the loss on 1,000 held-out strings rises in the median by {}.{}",
            in_blocks.join(", "),
            if rises[LAYERS - 1] < 0.1 {
                " So most of these models need no single head of the last block."
            } else {
                ""
            }
        ));
        page.compared.push(Compared {
            quantity: format!("last block has the taught roles, {size}"),
            published: Some("1 of 1".to_owned()),
            ours: percent(taught, count),
            interval: percents(wilson(taught, count), 1),
            verdict: Verdict::NotComparable,
        });
        page.figures.push(Plot::Scatter {
            labels: [
                format!("share of the gap of totals that a head of the last block carries, {size}"),
                "share of the gap of order".to_owned(),
            ],
            points: models
                .iter()
                .flat_map(|model| {
                    (0..HEADS).map(|head| [0, 1].map(|gap| model.share(gap, [LAYERS - 1, head])))
                })
                .collect(),
        });
        page.tables.push(kinds(part.name, &models));
        page.tables.push(heads(part.name, &models));
        page.tables.push(examples(part.name, &models));
    }
    page
}

fn how() -> Vec<String> {
    vec![
        "The model is the taught one, with [CLS] as the start token and without an end token. No recipe was published, so nothing is comparable \
         beyond the count. Ours is AdamW with a learning rate that falls linearly, from 0.001 over 5,000 steps; `small` has width 16, up to 20 \
         brackets, a rate of 0.003 and 2,000 steps. Half of the strings are balanced. Of the others, half are a balanced one with two \
         brackets exchanged."
            .to_owned(),
        "The position that is read learns of a string only through the contexts of its heads there. So patching them says which head \
         carries what. In up to 64 balanced held-out strings, one head's context is replaced by that of the same string with one bracket \
         turned (unequal totals), or with two brackets exchanged so that a prefix falls below zero (wrong order). A head carries a failure \
         if this alone gives at least half of the fall of the log-odds. Shares need not sum to 1: heads interact. A turned bracket also \
         breaks the order, read from one of the two ends, so a head that sees order alone carries a part of totals, too."
            .to_owned(),
        "The criterion was committed before the runs. A model has learned if it answers 99% of 1,000 held-out strings. It has the taught \
         roles if one head of the last block carries unequal totals, the other a wrong order, and neither carries both. That is a part of \
         the taught circuit: what earlier blocks compute is not tested. We do not know whether the taught model itself meets the criterion. The \
         last three kinds were one kind before the runs."
            .to_owned(),
    ]
}

fn kinds(name: &str, models: &[Model]) -> Table {
    let header = ["kind", "models", "share", "95% interval"];
    let rows = Kind::ALL.map(|kind| {
        let own = models.iter().filter(|model| model.kind() == kind).count();
        vec![
            kind.name().to_owned(),
            own.to_string(),
            percent(own, models.len()),
            percents(wilson(own, models.len()), 1),
        ]
    });
    table(
        &format!("Kinds, {name}"),
        "of models that learned",
        &header,
        rows,
    )
}

fn heads(name: &str, models: &[Model]) -> Table {
    let header = [
        "block",
        "has the head that carries most of totals",
        "half or more",
        "its larger share, median",
        "has the head that carries most of order",
        "half or more",
        "its larger share, median",
    ];
    let rows = (0..LAYERS).map(|layer| {
        let mut cells = vec![layer.to_string()];
        for gap in 0..2 {
            let shares = models
                .iter()
                .map(|model| larger(&model.carried[gap], layer));
            let shares: Vec<f64> = shares.collect();
            let most = models.iter().filter(|model| model.most(gap)[0] == layer);
            let half = shares.iter().filter(|&&share| share >= CARRIES);
            cells.extend([
                percent(most.count(), models.len()),
                percent(half.count(), models.len()),
                format!("{:.2}", median(&shares)),
            ]);
        }
        cells
    });
    table(
        &format!("Heads by block, {name}"),
        "shares of models; the larger share of the block's two heads",
        &header,
        rows,
    )
}

/// The first seed of each kind.
fn examples(name: &str, models: &[Model]) -> Table {
    let header = [
        "kind",
        "seed",
        "head of totals",
        "share of totals",
        "of order",
        "loss without it",
        "head of order",
        "share of totals",
        "of order",
        "loss without it",
    ];
    let of_kind = |kind: Kind| models.iter().find(|model| model.kind() == kind);
    let examples = Kind::ALL
        .into_iter()
        .filter_map(|kind| Some((kind, of_kind(kind)?)));
    let rows = examples.map(|(kind, model)| {
        let mut cells = vec![kind.name().to_owned(), model.seed.to_string()];
        for gap in 0..2 {
            let [layer, head] = model.most(gap);
            cells.push(format!("{layer}.{head}"));
            cells.extend([0, 1].map(|gap| format!("{:.2}", model.share(gap, [layer, head]))));
            cells.push(format!("+{:.2}", model.removal[layer][head]));
        }
        cells
    });
    table(
        &format!("The first seed of each kind, {name}"),
        "block.head; how much the loss on held-out strings rises without it",
        &header,
        rows,
    )
}
