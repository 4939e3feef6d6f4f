//! The tables of the page of `clock_and_pizza.rs`.

use headlight_inspector::Table;

use crate::clock_medians::{Beside, FIELDS, NAMES, RATE, rates};
use crate::clock_published::{bin, of_width};
use crate::page::table;
use crate::rows::Rows;
use crate::statistics::median;

/// Both measures at each rate.
pub(crate) fn by_rate(beside: &[[Beside; 2]]) -> Table {
    let header = [
        "attention rate",
        "runs that generalise",
        "circular",
        "gradient symmetricity",
        "95% interval",
        "published",
        "distance irrelevance",
        "95% interval",
        "published",
    ];
    let lines = beside.iter().map(|both| {
        let mut cells = vec![
            format!("{:.2}", both[0].rate),
            both[0].runs.to_string(),
            both[0].circular.to_string(),
        ];
        for beside in both {
            cells.extend([
                format!("{:.3}", beside.ours),
                beside.interval(),
                format!("{:.3}", beside.published),
            ]);
        }
        cells
    });
    table(
        "Small recipe, by attention rate",
        "medians over runs",
        &header,
        lines,
    )
}

/// The runs of one seed at several lengths.
pub(crate) fn by_steps(rows: &Rows) -> Table {
    let header = [
        "attention rate",
        "steps",
        "held-out accuracy",
        "gradient symmetricity",
        "distance irrelevance",
        "circularity",
    ];
    let columns: Vec<Vec<f64>> = FIELDS.iter().map(|name| rows.numbers(name)).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| {
        (columns[0][a], columns[1][a])
            .partial_cmp(&(columns[0][b], columns[1][b]))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let lines = order.into_iter().map(|run| {
        let mut cells = vec![
            format!("{:.2}", columns[0][run]),
            format!("{}", columns[1][run]),
        ];
        cells.extend(
            columns[2..]
                .iter()
                .map(|column| format!("{:.3}", column[run])),
        );
        cells
    });
    table(
        "Width 64 and the published recipe, by steps",
        "one seed each",
        &header,
        lines,
    )
}

/// The runs of each width.
pub(crate) fn by_width(learned: &[Rows]) -> Table {
    let header = [
        "width",
        "attention rate",
        "runs that generalise",
        "gradient symmetricity",
        "published",
        "distance irrelevance",
        "published",
        "circularity",
    ];
    let mut lines = Vec::new();
    for (width, rows) in [(128, &learned[1]), (32, &learned[2])] {
        let published = of_width(width, false);
        for rate in rates(rows) {
            let own = rows.with(RATE, |other| other == rate);
            let mut cells = vec![
                width.to_string(),
                format!("{rate:.2}"),
                own.len().to_string(),
            ];
            for (index, name) in NAMES.iter().enumerate() {
                cells.push(format!("{:.3}", median(&own.numbers(name))));
                let published = published.map(|group| group.medians[bin(rate)][index]);
                cells.push(
                    published.map_or_else(String::new, |published| format!("{published:.3}")),
                );
            }
            cells.push(format!("{:.3}", median(&own.numbers("circularity"))));
            lines.push(cells);
        }
    }
    table(
        "The published recipe, stopped at 1,500 of 20,000 steps, by width",
        "medians over runs that generalise; published: of widths 128, and 32 to 48, whatever the circularity",
        &header,
        lines,
    )
}
