//! A summary as a document: what holds for all runs, then the groups.

use headlight_data::Task;
use headlight_report::{Document, Section, counted, number};

use super::all_runs::{all_runs, distributions, failures};
use super::cells::{MOST_ROWS, share};
use super::columns::ATTENTION_POSITIVE;
use super::comparison::{group_panels, group_table};
use super::folds;
use super::grid_map::{self, GridMap};
use super::lists::{epoch_losses, epoch_panel, epoch_table, positions_panel, positions_table};
use super::standouts;
use super::summary::{Counts, Summary};

impl Summary {
    /// The plots, as SVG.
    pub fn picture(&self, title: &str) -> String {
        self.document(title).plots_svg()
    }

    /// Paragraphs, tables and plots.
    pub fn document(&self, title: &str) -> Document {
        if self.failures() == self.runs() {
            let section = Section::titled("", [], failures(self));
            return Document {
                title: title.to_owned(),
                paragraphs: vec![format!("{}, all failed", counted(self.runs(), "run"))],
                sections: vec![section],
            };
        }
        let epochs = epoch_losses(self);
        let mut tables = Vec::from_iter(folds::table(self));
        tables.push(all_runs(self));
        tables.extend(failures(self));
        tables.extend(standouts::table(self));
        tables.extend(epoch_table(&epochs));
        tables.extend(positions_table(self));
        let mut panels = distributions(self);
        panels.extend(epoch_panel(&epochs));
        panels.extend(positions_panel(self));
        let mut paragraphs = paragraphs(self);
        for key in &self.choices.by {
            let mut values = self.values_of(key);
            if values.len() > MOST_ROWS {
                paragraphs.push(format!(
                    "{key} has {} values; the first {MOST_ROWS} are shown",
                    values.len()
                ));
                values.truncate(MOST_ROWS);
            }
            let groups = self.by_key(key, &values);
            tables.push(group_table(self, &format!("By {key}"), &groups));
            panels.extend(group_panels(self, key, &values, &groups));
        }
        let maps = grid_map::find(self);
        tables.extend(maps.iter().map(GridMap::table));
        panels.extend(maps.iter().map(GridMap::plot));
        let points = self.points.iter();
        let points = points.filter(|point| point.counts.runs > 0).count();
        match points {
            _ if self.choices.by.len() < 2 => {}
            2..=MOST_ROWS => {
                let groups = self.by_point();
                tables.push(group_table(self, "By point of the grid", &groups));
            }
            _ => paragraphs.push(format!("the grid has {points} points, too many to list")),
        }
        Document {
            title: title.to_owned(),
            paragraphs,
            sections: vec![Section {
                tables,
                plots: panels,
                ..Section::default()
            }],
        }
    }
}

fn paragraphs(summary: &Summary) -> Vec<String> {
    let counts = summary.counts();
    let Counts { runs, learned, .. } = counts;
    let failed = match counts.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    let runs_text = counted(runs, "run");
    let interval = match counts.interval() {
        Some(ends) => {
            let [low, high] = ends.map(|share| 100.0 * share);
            format!("95% confidence interval of that share (Wilson): {low:.2}% to {high:.2}%")
        }
        None => "that share has no interval, since the runs have different settings".to_owned(),
    };
    let (watched, from) = (summary.judging_metric(), summary.learned_from);
    let share = share(learned, runs);
    let mut except = match summary.lost {
        0 => String::new(),
        lost => format!("; {lost} more had reached it at a step, and lost it"),
    };
    if summary.of_one_class > 0 {
        let runs = counted(summary.of_one_class, "run");
        except = format!(
            "{except}; {runs} reached it only because the model predicts the most frequent class for all samples, and count as not learned"
        );
    }
    let mut paragraphs = if summary.facts.task == Task::NextToken {
        // Where chance has a part in what follows, no model has such an F1.
        vec![format!(
            "{runs_text}{failed}; models of the next token are compared by their loss"
        )]
    } else {
        vec![
            format!(
                "{runs_text}{failed}; {learned} learned ({share}): {watched} of the final model is {from} or more{except}"
            ),
            interval,
        ]
    };
    paragraphs.extend(summary.steps_from.map(|f1| {
        format!(
            "the rows say when runs learned, and which lost it again, only for an F1 of {f1} (the sweep's report.learned), so this \
             report leaves both out for {from}"
        )
    }));
    paragraphs.extend(attention(summary));
    if summary.facts.reads_mean && summary.is_measured() {
        paragraphs.push(format!(
            "models with model.pooling = \"mean\" read the class from the mean of all positions; the attention is that of {}, \
             one of them",
            summary.facts.reader
        ));
    }
    paragraphs
}

/// Where the runs look, or why that is unknown.
fn attention(summary: &Summary) -> Option<String> {
    let facts = &summary.facts;
    if summary.columns.list(ATTENTION_POSITIVE).is_empty() {
        return None;
    }
    let target = summary.target_name();
    if !summary.is_measured() {
        return Some(if summary.holds_deciding {
            format!(
                "attention on {target} is not known: no sample has a position that decides its label"
            )
        } else if facts.has_rule == Some(false) {
            "attention: no rule of the config says which positions decide the label; `headlight report FILE --position N` \
             measures one"
                .to_owned()
        } else {
            "attention on the positions that decide: these rows do not hold it; `headlight sweep` writes it in new rows, and \
             `headlight report FILE --position N` measures one position"
                .to_owned()
        });
    }
    let Some([towards, away]) = summary.counts().looks else {
        let why = if !facts.has_softmax {
            "without a softmax, there is no uniform attention to compare with"
        } else if facts.padded {
            "samples differ in length, so uniform attention differs, too"
        } else {
            "the config of the sweep, which says which keys may be looked at, is not beside the results"
        };
        return Some(format!(
            "attention is measured on {target}; whether runs look there more than uniformly is not known: {why}"
        ));
    };
    let reader = &facts.reader;
    let uniform = match summary.common_uniform() {
        Some(uniform) => format!("uniform attention, {}", number(Some(uniform), 3)),
        None => format!("uniform attention over the keys that {reader} may look at"),
    };
    let verb = if towards == 1 { "looks" } else { "look" };
    let paid = summary.attention.paid[0].iter();
    let runs = summary.columns.points.len();
    let part = match paid.filter(|value| value.is_finite()).count() {
        known if known == runs => String::new(),
        known => format!(" (measured in {known} of {})", counted(runs, "run")),
    };
    Some(format!(
        "{towards} {verb} at {target} more than uniformly, {away} less: the mean attention of {reader} there, in samples of {}, is \
         above or below {uniform}{part}",
        facts.classes[0]
    ))
}
