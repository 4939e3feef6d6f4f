//! Attention of `[CLS]` over the seeds of a sweep.

use serde::Serialize;

/// The attention of `[CLS]` in the last block after one seed's training, mean over heads and over the
/// training samples of a class; `None` for a class without samples. `[position]`
#[derive(Clone, Debug, PartialEq)]
pub struct SeedRow {
    /// Over positive samples.
    pub positive: Option<Vec<f64>>,
    /// Over negative samples.
    pub negative: Option<Vec<f64>>,
}

/// The same of one of the page's own runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OwnRow {
    /// The run's name.
    pub name: String,
    /// The samples of the mean, in words.
    pub over: String,
    /// Over positive samples.
    pub positive: Option<Vec<f64>>,
    /// Over negative samples.
    pub negative: Option<Vec<f64>>,
}

/// The seeds of a sweep, and the page's own runs to compare with them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedComparison {
    name: String,
    count: usize,
    failed: usize,
    positive: Option<OverSeeds>,
    negative: Option<OverSeeds>,
    /// The number of seeds whose attention on each position is higher in positive samples than in negative ones.
    harder: Option<Vec<usize>>,
    /// The page's own runs.
    pub own: Vec<OwnRow>,
}

/// One class over all seeds. `[position]`
#[derive(Clone, Debug, PartialEq, Serialize)]
struct OverSeeds {
    mean: Vec<f64>,
    /// The sample standard deviation; `None` for one seed.
    deviation: Option<Vec<f64>>,
    /// The number of seeds whose attention is highest on each position.
    most: Vec<usize>,
}

impl SeedComparison {
    /// Summarises the rows of a sweep in which `failed` other seeds failed; `None` without rows.
    ///
    /// # Panics
    /// If rows differ in length.
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
