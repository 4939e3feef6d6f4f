//! The attention of runs on the positions at which a report measures it.

use std::cmp::Ordering;

use headlight_experiment::metrics::Metric;
use headlight_trainer::Failure;

use super::columns::{ATTENTION_NEGATIVE, ATTENTION_POSITIVE};
use super::facts::DecidingPositions;
use super::summary::{Summary, TargetAttention};
use crate::fields::Quantity;

impl Summary {
    /// Measures the attention of all runs to the target, and counts where they look.
    pub(super) fn measure(&mut self, path: &str) -> Result<(), Failure> {
        self.attention = match &*self.choices.positions {
            [] => {
                let values = |metric| self.columns.number(Quantity::Deciding(metric)).to_vec();
                TargetAttention {
                    paid: [Metric::AttentionPositive, Metric::AttentionNegative].map(values),
                    uniform: values(Metric::UniformPositive),
                }
            }
            named => {
                let lists =
                    [ATTENTION_POSITIVE, ATTENTION_NEGATIVE].map(|class| self.columns.list(class));
                let positions = lists[0].len().max(lists[1].len());
                if let Some(outside) = named.iter().find(|position| **position >= positions)
                    && positions > 0
                {
                    return Err(Failure::Input(format!(
                        "--position {outside}: the runs of {path} have positions 0 to {}",
                        positions - 1
                    )));
                }
                let points = &self.columns.points;
                let paid = lists.map(|list| {
                    let at = |run: usize, position: &usize| {
                        list.get(*position)
                            .map_or(f64::NAN, |column| column.values[run])
                    };
                    let of_run = |run| named.iter().map(|position| at(run, position)).sum();
                    (0..points.len()).map(of_run).collect()
                });
                let uniform = |&point: &u32| self.facts.keys(point as usize)?.uniform(named);
                let uniform = points.iter().map(uniform);
                TargetAttention {
                    paid,
                    uniform: uniform.map(|known| known.unwrap_or(f64::NAN)).collect(),
                }
            }
        };
        if self.knows_uniform() {
            for point in &mut self.points {
                point.counts.looks = Some([0, 0]);
            }
            for run in 0..self.columns.points.len() {
                let (towards, point) = (self.looks_towards(run), self.columns.points[run]);
                let looks = &mut self.points[point as usize].counts.looks;
                if let (Some(towards), Some(looks)) = (towards, looks) {
                    looks[usize::from(!towards)] += 1;
                }
            }
        }
        Ok(())
    }

    /// The positions of the target, if they are the same in all samples.
    pub(super) fn target_positions(&self) -> Option<&[usize]> {
        match (&*self.choices.positions, &self.facts.deciding) {
            ([], DecidingPositions::Fixed(positions)) => Some(positions),
            ([], DecidingPositions::ByPoint | DecidingPositions::BySample) => None,
            (named, _) => Some(named),
        }
    }

    /// The target's name in tables and plots.
    pub(super) fn target_name(&self) -> String {
        match self.target_positions() {
            None => "the positions that decide".to_owned(),
            Some([position]) => format!("position {position}"),
            Some(positions) => {
                let all: Vec<String> = positions.iter().map(usize::to_string).collect();
                format!("positions {}", all.join(" and "))
            }
        }
    }

    /// Whether the target is at other positions in each sample.
    pub(super) fn target_differs(&self) -> bool {
        self.choices.positions.is_empty()
            && matches!(self.facts.deciding, DecidingPositions::BySample)
    }

    /// Whether a run looks towards the target: its attention of positives is above uniform attention. `None` where it is
    /// neither above nor below, or not measured.
    pub(super) fn looks_towards(&self, run: usize) -> Option<bool> {
        let paid = self.attention.paid[0][run];
        let order = paid.partial_cmp(&self.attention.uniform[run])?;
        (order != Ordering::Equal).then_some(order == Ordering::Greater)
    }

    /// Whether the attention to the target is known of some run.
    pub(super) fn is_measured(&self) -> bool {
        let mut paid = self.attention.paid.iter().flatten();
        paid.any(|value| value.is_finite())
    }

    /// Whether it is known what uniform attention to the target would be, so that runs look towards it or away.
    pub(super) fn knows_uniform(&self) -> bool {
        let mut uniform = self.attention.uniform.iter();
        self.is_measured() && uniform.any(|uniform| uniform.is_finite())
    }

    /// What uniform attention to the target is, if it is the same in all runs.
    pub(super) fn common_uniform(&self) -> Option<f64> {
        let uniform = self.attention.uniform.iter();
        let mut known = uniform.filter(|uniform| uniform.is_finite());
        let first = *known.next()?;
        known
            .all(|uniform| (uniform - first).abs() < 1e-6)
            .then_some(first)
    }
}
