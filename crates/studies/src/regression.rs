//! Logistic regression, and how well its odds rank.

use headlight_experiment::metrics::Ranking;

/// Logistic regression with a small penalty on all weights but the first, which belongs to a column of ones.
pub(crate) struct Logistic {
    weights: Vec<f64>,
}

impl Logistic {
    /// Fitted by Newton's method to rows, of which `labels` says which are true. All rows have the same length.
    pub(crate) fn fit(rows: &[Vec<f64>], labels: &[bool]) -> Self {
        const PENALTY: f64 = 1.0;
        const STEPS: usize = 12;
        let width = rows.first().map_or(0, Vec::len);
        let mut weights = vec![0.0; width];
        for _ in 0..STEPS {
            let mut gradient: Vec<f64> = weights.iter().map(|weight| -PENALTY * weight).collect();
            if let Some(first) = gradient.first_mut() {
                *first = 0.0;
            }
            let mut hessian = vec![0.0; width * width];
            for index in 1..width {
                hessian[index * width + index] = PENALTY;
            }
            for (row, &label) in rows.iter().zip(labels) {
                let probability = 1.0 / (1.0 + (-product(&weights, row)).exp());
                let error = f64::from(u8::from(label)) - probability;
                let curvature = (probability * (1.0 - probability)).max(1e-9);
                for (i, &x) in row.iter().enumerate() {
                    gradient[i] += error * x;
                    let scaled = curvature * x;
                    let own = &mut hessian[i * width..=i * width + i];
                    for (sum, &y) in own.iter_mut().zip(row) {
                        *sum += scaled * y;
                    }
                }
            }
            for (weight, step) in weights.iter_mut().zip(solve(hessian, gradient)) {
                *weight += step;
            }
        }
        Self { weights }
    }

    /// The log-odds of a row.
    pub(crate) fn odds(&self, row: &[f64]) -> f64 {
        product(&self.weights, row)
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves a symmetric positive definite system, of whose matrix the lower half is given, by Cholesky's method.
fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let width = right.len();
    for i in 0..width {
        for j in 0..=i {
            let done: f64 = (0..j)
                .map(|k| matrix[i * width + k] * matrix[j * width + k])
                .sum();
            let rest = matrix[i * width + j] - done;
            matrix[i * width + j] = if i == j {
                rest.max(1e-12).sqrt()
            } else {
                rest / matrix[j * width + j]
            };
        }
    }
    for i in 0..width {
        let done: f64 = (0..i).map(|k| matrix[i * width + k] * right[k]).sum();
        right[i] = (right[i] - done) / matrix[i * width + i];
    }
    for i in (0..width).rev() {
        let done: f64 = (i + 1..width)
            .map(|k| matrix[k * width + i] * right[k])
            .sum();
        right[i] = (right[i] - done) / matrix[i * width + i];
    }
    right
}

/// The area under the ROC curve of scores, and its 95% interval (Hanley and `McNeil` 1982). NaN without both labels.
pub(crate) fn area(scores: &[f64], labels: &[bool]) -> (f64, [f64; 2]) {
    let ranking = Ranking::of(scores.iter().copied().zip(labels.iter().copied()));
    let area = ranking.roc_auc().unwrap_or(f64::NAN);
    let ones = labels.iter().filter(|&&label| label).count() as f64;
    let zeros = labels.len() as f64 - ones;
    let (q1, q2) = (area / (2.0 - area), 2.0 * area * area / (1.0 + area));
    let variance = (area * (1.0 - area)
        + (ones - 1.0) * (q1 - area * area)
        + (zeros - 1.0) * (q2 - area * area))
        / (ones * zeros);
    let half = 1.96 * variance.max(0.0).sqrt();
    (area, [area - half, (area + half).min(1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_found() {
        let rows: Vec<Vec<f64>> = (0..2000)
            .map(|index| {
                let x = (f64::from(index) * 0.618).fract() - 0.5;
                let y = (f64::from(index) * 0.732).fract() - 0.5;
                vec![1.0, x, y]
            })
            .collect();
        let labels: Vec<bool> = rows.iter().map(|row| 2.0 * row[1] - row[2] > 0.3).collect();
        let model = Logistic::fit(&rows, &labels);
        let odds: Vec<f64> = rows.iter().map(|row| model.odds(row)).collect();
        let (area, [low, high]) = area(&odds, &labels);
        assert!(area > 0.999 && low > 0.99 && high <= 1.0, "{area}");
        let ratio = model.weights[1] / model.weights[2];
        assert!((ratio + 2.0).abs() < 0.2, "{ratio}");
    }
}
