//! Is a string of brackets balanced, and does each seed find the circuit that is taught? ARENA, chapter 1.5.1.

use headlight_experiment::metrics::wilson;
use headlight_inspector::{Plot, Table};

use crate::page::{Compared, Page, Verdict, between, percents, table};
use crate::rows::Rows;
use crate::statistics::{interval_of_median, median};
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

/// The rise of the loss, without a head, from which it confirms that the model needs the head.
const RISES: f64 = 0.1;

const LAYERS: usize = 3;
const HEADS: usize = 2;

/// How the evidence reaches the position that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One head of the last block carries unequal totals, the other one a wrong order, and neither carries both.
    Taught,
    /// One head of the last block carries both.
    OneHead,
    /// Each is carried most by another head of the last block, and one of the two carries both.
    Overlapping,
    /// One is carried by a head of an earlier block.
    Earlier,
    /// No head carries half of one of them.
    Spread,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Taught,
        Self::OneHead,
        Self::Overlapping,
        Self::Earlier,
        Self::Spread,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Taught => "as taught: one head of the last block each",
            Self::OneHead => "one head of the last block for both",
            Self::Overlapping => "two heads of the last block, one for both",
            Self::Earlier => "a head of an earlier block",
            Self::Spread => "no head carries half",
        }
    }
}

/// What a head carries. `[layer][head]`
type Shares = [[f64; HEADS]; LAYERS];

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
        if (0..2).any(|gap| self.share(gap, most[gap]) < CARRIES) {
            Kind::Spread
        } else if most.iter().any(|[layer, _]| *layer != LAYERS - 1) {
            Kind::Earlier
        } else if most[0] == most[1] {
            Kind::OneHead
        } else if (0..2).any(|gap| self.share(1 - gap, most[gap]) >= CARRIES) {
            Kind::Overlapping
        } else {
            Kind::Taught
        }
    }

    /// Whether the loss on all held-out strings rises without each of the heads that carry most.
    fn is_confirmed(&self) -> bool {
        (0..2).all(|gap| {
            let [layer, head] = self.most(gap);
            self.removal[layer][head] >= RISES
        })
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
    models
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
    for ((part, rows), size) in STUDY.parts.iter().zip(parts).zip(["full size", "small"]) {
        let models = models(rows);
        let (count, runs) = (models.len(), rows.len());
        if count == 0 {
            continue;
        }
        let steps = learned(rows).numbers("learned_at_step");
        page.findings.push(format!(
            "Of {runs} models of {size}, {count} learn: {} ({}). The median one had learned after {:.0} steps.",
            percent(count, runs),
            percents(wilson(count, runs), 1),
            median(&steps),
        ));
        let of_kind = |kind: Kind| models.iter().filter(|model| model.kind() == kind).count();
        let taught = of_kind(Kind::Taught);
        let confirmed = models.iter().filter(|model| model.is_confirmed()).count();
        let common = Kind::ALL.into_iter().max_by_key(|&kind| of_kind(kind));
        let common = common.unwrap_or(Kind::Spread);
        page.findings.push(format!(
            "{taught} of these {count} have the circuit that is taught ({}). The most common kind is “{}” ({} of {count}). In {confirmed}, \
             the loss rises by {RISES} or more without each of the heads that carry most.",
            percents(wilson(taught, count), 1),
            common.name(),
            of_kind(common),
        ));
        page.compared.push(Compared {
            quantity: format!("has the taught circuit, {size}"),
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
        "The model is the taught one, with [CLS] as the start token and without an end token. No recipe was published, so there is no \
         verdict beyond the count; ours is AdamW with a rate that falls evenly. Half of the strings are balanced. Of the others, half are a \
         balanced one with two brackets exchanged. `small` has width 16 and up to 20 brackets."
            .to_owned(),
        format!(
            "The position that is read learns of a string only through the contexts of its heads there. So patching these contexts says \
             which head carries what: in up to 64 balanced held-out strings, one head's context is replaced by that of the same string with \
             one bracket turned (unequal totals), or with two brackets exchanged so that a prefix falls below zero (wrong order). A head \
             carries a failure if this alone gives at least {} of the fall of the log-odds.",
            percent(50, 100)
        ),
        format!(
            "The criterion was committed before the runs. A model has learned if it answers {} of 1,000 held-out strings. It has the taught \
             circuit if one head of the last block carries unequal totals, the other a wrong order, and neither carries both. Another \
             intervention on all 1,000 strings confirms a kind: the loss rises by {RISES} or more without each of the two heads that carry \
             most.",
            percent(99, 100)
        ),
    ]
}

fn kinds(name: &str, models: &[Model]) -> Table {
    let header = ["kind", "models", "share", "95% interval", "confirmed"];
    let rows = Kind::ALL.map(|kind| {
        let own: Vec<&Model> = models.iter().filter(|model| model.kind() == kind).collect();
        let confirmed = own.iter().filter(|model| model.is_confirmed()).count();
        vec![
            kind.name().to_owned(),
            own.len().to_string(),
            percent(own.len(), models.len()),
            percents(wilson(own.len(), models.len()), 1),
            confirmed.to_string(),
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
        "carries half of totals",
        "of order",
        "largest share of totals, median",
        "95% interval",
        "of order, median",
        "95% interval",
    ];
    let rows = (0..LAYERS).map(|layer| {
        let largest = [0, 1].map(|gap| -> Vec<f64> {
            let shares = models.iter().map(|model| model.carried[gap][layer]);
            shares
                .map(|shares| shares.into_iter().fold(f64::NEG_INFINITY, f64::max))
                .collect()
        });
        let carrying = largest
            .each_ref()
            .map(|shares| shares.iter().filter(|&&share| share >= CARRIES).count());
        let mut cells = vec![layer.to_string()];
        cells.extend(carrying.map(|count| percent(count, models.len())));
        for shares in &largest {
            cells.push(format!("{:.2}", median(shares)));
            cells.push(between(interval_of_median(shares), 2));
        }
        cells
    });
    table(
        &format!("Heads by block, {name}"),
        "models with such a head; the larger of the block's two heads",
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
