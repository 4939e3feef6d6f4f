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
    /// Which samples attention is a mean over, in a word, if not those for training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<&'static str>,
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

/// The figures of a comparison, from one row after the other: of a million rows, none is kept.
#[derive(Clone, Debug, Default)]
pub struct SeedFigures {
    rows: usize,
    positive: ClassFigures,
    negative: ClassFigures,
    /// The rows with both classes.
    both: usize,
    harder: Vec<usize>,
}

/// The rows that have a class. `[position]`
#[derive(Clone, Debug, Default)]
struct ClassFigures {
    rows: usize,
    sums: Vec<f64>,
    /// Means so far, and the sums of squared deviations from them (Welford, 1962).
    means: Vec<f64>,
    squares: Vec<f64>,
    most: Vec<usize>,
}

impl SeedFigures {
    /// Adds a row.
    ///
    /// # Panics
    /// If rows differ in length.
    pub fn add(&mut self, row: &SeedRow) {
        self.rows += 1;
        let classes = [&mut self.positive, &mut self.negative];
        for (figures, values) in classes.into_iter().zip([&row.positive, &row.negative]) {
            if let Some(values) = values {
                figures.add(values);
            }
        }
        if let (Some(positive), Some(negative)) = (&row.positive, &row.negative) {
            self.both += 1;
            self.harder.resize(positive.len(), 0);
            for (position, count) in self.harder.iter_mut().enumerate() {
                *count += usize::from(positive[position] > negative[position]);
            }
        }
    }

    /// Compares the rows of a sweep in which `failed` other seeds failed; `None` without rows.
    pub fn compare(self, name: String, failed: usize) -> Option<SeedComparison> {
        let count = self.rows;
        (self.positive.rows + self.negative.rows > 0).then(|| SeedComparison {
            name,
            count,
            failed,
            positive: self.positive.over(count),
            negative: self.negative.over(count),
            harder: (self.both == count).then_some(self.harder),
            own: Vec::new(),
            over: None,
        })
    }
}

impl ClassFigures {
    fn add(&mut self, values: &[f64]) {
        self.rows += 1;
        for column in [&mut self.sums, &mut self.means, &mut self.squares] {
            column.resize(values.len(), 0.0);
        }
        self.most.resize(values.len(), 0);
        for (position, value) in values.iter().enumerate() {
            self.sums[position] += value;
            let above = value - self.means[position];
            self.means[position] += above / self.rows as f64;
            self.squares[position] += above * (value - self.means[position]);
        }
        let largest =
            (0..values.len()).max_by(|&one, &other| values[one].total_cmp(&values[other]));
        if let Some(largest) = largest {
            self.most[largest] += 1;
        }
    }

    /// The figures of `count` seeds; `None` if not all of them have the class.
    fn over(self, count: usize) -> Option<OverSeeds> {
        let mean = self.sums.iter().map(|sum| sum / count as f64);
        let spread = |squares: &f64| (squares / (count as f64 - 1.0)).sqrt();
        (self.rows == count).then(|| OverSeeds {
            mean: mean.collect(),
            deviation: (count > 1).then(|| self.squares.iter().map(spread).collect()),
            most: self.most,
        })
    }
}
