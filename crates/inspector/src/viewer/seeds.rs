//! The seeds of a sweep: where `[CLS]` looks, over all of them.

use serde::Serialize;

/// Where `[CLS]` looks after one seed's training: in the last block, mean over heads, and over the
/// training samples of a class; `None` where the class has none. `[position]`
#[derive(Clone, Debug, PartialEq)]
pub struct SeedRow {
    /// Over positive samples.
    pub positive: Option<Vec<f64>>,
    /// Over negative samples.
    pub negative: Option<Vec<f64>>,
}

/// The same of a run of the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnRow {
    /// The run's name.
    pub name: String,
    /// Which samples it is over, in words.
    pub over: String,
    /// Over positive samples.
    pub positive: Option<Vec<f64>>,
    /// Over negative samples.
    pub negative: Option<Vec<f64>>,
}

/// What the page says of a sweep's seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seeds {
    name: String,
    count: usize,
    failed: usize,
    positive: Option<OverSeeds>,
    negative: Option<OverSeeds>,
    /// How many seeds look at each position harder in positive samples than in negative ones.
    harder: Option<Vec<usize>>,
    /// Rows of the page's own runs.
    pub own: Vec<OwnRow>,
}

/// A class over the seeds. `[position]`
#[derive(Clone, Debug, PartialEq, Serialize)]
struct OverSeeds {
    mean: Vec<f64>,
    /// Of the sample; `None` for one seed.
    deviation: Option<Vec<f64>>,
    /// How many seeds look at each position most.
    most: Vec<usize>,
}

impl Seeds {
    /// Sums up the rows of a sweep, which has failed in so many other seeds; `None` without a row.
    ///
    /// # Panics
    /// When rows are of different lengths.
    pub fn of(name: String, rows: &[SeedRow], failed: usize) -> Option<Self> {
        let positions = rows
            .iter()
            .find_map(|row| row.positive.as_ref().or(row.negative.as_ref()))?
            .len();
        let both = rows
            .iter()
            .map(|row| Some((row.positive.as_ref()?, row.negative.as_ref()?)));
        let both: Option<Vec<_>> = both.collect();
        let harder = both.map(|both| {
            let count = |at: usize| {
                both.iter()
                    .filter(|(positive, negative)| positive[at] > negative[at])
                    .count()
            };
            (0..positions).map(count).collect()
        });
        Some(Self {
            name,
            count: rows.len(),
            failed,
            positive: OverSeeds::of(rows.iter().map(|row| row.positive.as_deref())),
            negative: OverSeeds::of(rows.iter().map(|row| row.negative.as_deref())),
            harder,
            own: Vec::new(),
        })
    }
}

impl OverSeeds {
    fn of<'a>(rows: impl Iterator<Item = Option<&'a [f64]>>) -> Option<Self> {
        let rows: Vec<&[f64]> = rows.collect::<Option<_>>()?;
        let positions = rows.first()?.len();
        let count = rows.len() as f64;
        let at = |position: usize| rows.iter().map(move |row| row[position]);
        let mean: Vec<f64> = (0..positions)
            .map(|position| at(position).sum::<f64>() / count)
            .collect();
        let spread = |position: usize| {
            let squares: f64 = at(position)
                .map(|value| (value - mean[position]).powi(2))
                .sum();
            (squares / (count - 1.0)).sqrt()
        };
        let deviation = (rows.len() > 1).then(|| (0..positions).map(spread).collect());
        let mut most = vec![0; positions];
        for row in &rows {
            let largest = (0..positions).max_by(|&one, &other| row[one].total_cmp(&row[other]));
            most[largest.unwrap_or(0)] += 1;
        }
        Some(Self {
            mean,
            deviation,
            most,
        })
    }
}
