//! Uniform attention, and whether runs look towards the target or away from it.

use std::cmp::Ordering;

use headlight_architecture::Keys;

use super::columns::{NEGATIVE, POSITIVE};
use super::summary::Summary;

impl Summary {
    /// Whether a run looks towards the target: its attention of positives is above uniform attention. `None` where it is
    /// neither above nor below, or not measured.
    pub(super) fn looks_towards(&self, run: usize) -> Option<bool> {
        let (paid, uniform) = (f64::from(self.attention[0][run]), self.uniform[run]);
        let order = paid.partial_cmp(&uniform)?;
        (order != Ordering::Equal).then_some(order == Ordering::Greater)
    }

    /// Whether the attention to the target is known of some run.
    pub(super) fn is_measured(&self) -> bool {
        self.attention
            .iter()
            .flatten()
            .any(|value| value.is_finite())
    }

    /// Whether it is known what uniform attention to the target would be, so that runs look towards it or away.
    pub(super) fn knows_uniform(&self) -> bool {
        self.is_measured() && self.uniform.iter().any(|uniform| uniform.is_finite())
    }

    /// What uniform attention to the target is, if it is the same in all runs.
    pub(super) fn common_uniform(&self) -> Option<f64> {
        let mut known = self.uniform.iter().filter(|uniform| uniform.is_finite());
        let first = *known.next()?;
        known
            .all(|uniform| (uniform - first).abs() < 1e-6)
            .then_some(first)
    }

    /// The keys that `[CLS]` may look at: positions that get no attention in any run are masked. None where samples
    /// may hold padding, since each then has its own keys.
    pub(super) fn visible(&self) -> Keys {
        let classes = [POSITIVE, NEGATIVE].map(|class| self.columns.list(class));
        let looks = |column: &Vec<f32>| column.iter().any(|&weight| weight > 0.0);
        let is_key = |key: &usize| {
            classes
                .iter()
                .any(|columns| columns.get(*key).is_some_and(looks))
        };
        let positions = classes[0].len().max(classes[1].len());
        let keys = (0..positions).filter(is_key);
        let keys: Keys = keys.filter(|_| !self.padded).collect();
        // Points with different rates have no uniform attention in common.
        let mut rates = self.rates.iter().copied();
        let first = rates.next().unwrap_or(Some(1.0));
        keys.weighted_by(first.filter(|_| rates.all(|rate| rate == first)))
    }
}
