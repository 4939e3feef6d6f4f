//! Principal components (Pearson 1901): the plane that shows the most of how vectors differ.

use headlight_data::order;

/// Vectors in the plane of their two leading principal components.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// Where each vector is, from the mean of all. `[vector][component]`
    pub points: Vec<[f64; 2]>,
    /// The share of the variance along each component; 0 if the vectors do not differ.
    pub shares: [f64; 2],
}

/// The most sweeps of rotations. Ten are plenty for the sizes of models here.
const SWEEPS: usize = 50;

impl Plane {
    /// The plane of some vectors. Of each component, the number with the largest magnitude is positive.
    ///
    /// # Panics
    /// When `width` is 0 or does not divide the number of values.
    pub fn of(vectors: &[f32], width: usize) -> Self {
        assert!(
            vectors.len().is_multiple_of(width),
            "vectors have {width} numbers"
        );
        let rows: Vec<&[f32]> = vectors.chunks(width).collect();
        let count = rows.len().max(1) as f64;
        let mut mean = vec![0.0; width];
        for row in &rows {
            mean.iter_mut()
                .zip(*row)
                .for_each(|(sum, &value)| *sum += f64::from(value) / count);
        }
        let centred: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                row.iter()
                    .zip(&mean)
                    .map(|(&value, mean)| f64::from(value) - mean)
                    .collect()
            })
            .collect();
        let mut covariance = vec![vec![0.0; width]; width];
        for row in &centred {
            for (i, line) in covariance.iter_mut().enumerate() {
                line.iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += row[i] * value / count);
            }
        }
        let total: f64 = (0..width).map(|i| covariance[i][i]).sum();
        let leading = leading(covariance);
        let mut found = Self {
            points: vec![[0.0; 2]; rows.len()],
            shares: [0.0; 2],
        };
        // What is left of vectors that are the same is rounding.
        let largest = vectors
            .iter()
            .fold(0.0_f64, |most, &value| most.max(f64::from(value).abs()));
        if total <= 1e-12 * largest * largest {
            return found;
        }
        for (component, (variance, axis)) in leading.into_iter().enumerate() {
            found.shares[component] = (variance / total).max(0.0);
            for (point, row) in found.points.iter_mut().zip(&centred) {
                point[component] = row
                    .iter()
                    .zip(&axis)
                    .map(|(value, part)| value * part)
                    .sum();
            }
        }
        found
    }
}

/// The two largest eigenvalues of a symmetric matrix, with their eigenvectors, by Jacobi's rotations (Golub and Van Loan,
/// "Matrix Computations", 8.5). Fewer if the matrix is smaller.
fn leading(mut matrix: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let size = matrix.len();
    // Each row becomes an eigenvector.
    let mut axes: Vec<Vec<f64>> = (0..size)
        .map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                let (off, gap) = (matrix[p][q], matrix[q][q] - matrix[p][p]);
                if off.abs() <= f64::EPSILON * (matrix[p][p] * matrix[q][q]).abs().sqrt() {
                    continue;
                }
                rotated = true;
                let slope = gap / (2.0 * off);
                let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = tangent * cosine;
                let rotate = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
                for row in &mut matrix {
                    (row[p], row[q]) = rotate(row[p], row[q]);
                }
                for rows in [&mut matrix, &mut axes] {
                    let (first, rest) = rows.split_at_mut(q);
                    let pairs = first[p].iter_mut().zip(&mut rest[0]);
                    pairs.for_each(|(a, b)| (*a, *b) = rotate(*a, *b));
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let variance = |index: usize| matrix[index][index];
    let by_variance = order(size, &|one, other| {
        variance(other).total_cmp(&variance(one))
    });
    let leading = by_variance.into_iter().take(2);
    leading
        .map(|index| {
            let mut axis = std::mem::take(&mut axes[index]);
            let largest = axis
                .iter()
                .copied()
                .max_by(|a, b| a.abs().total_cmp(&b.abs()));
            if largest < Some(0.0) {
                for part in &mut axis {
                    *part = -*part;
                }
            }
            (matrix[index][index], axis)
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::float_cmp, clippy::unreadable_literal)] // Zeros are exact; NumPy's numbers stand as it prints them.
mod tests {
    use super::*;

    /// `x = [[1, 2, 0], [3, 5, 1], [2, 1, 4], [0, -1, 2], [4, 4, 4]]`, `c = x - x.mean(0)`,
    /// `w, v = numpy.linalg.eigh(c.T @ c / 5)`: `w[::-1] / w.sum()` and `c @ v[:, [2, 1]]`, with the signs of the docstring.
    #[test]
    fn the_plane_is_that_of_numpy() {
        let vectors = [
            1.0, 2.0, 0.0, 3.0, 5.0, 1.0, 2.0, 1.0, 4.0, 0.0, -1.0, 2.0, 4.0, 4.0, 4.0,
        ];
        let plane = Plane::of(&vectors, 3);
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        };
        let expected = (
            [
                [-0.910620910173, -2.245858862849],
                [2.771681305707, -1.608498669169],
                [-0.837551355209, 1.993252988743],
                [-3.775528315833, 0.159205914703],
                [2.752019275508, 1.701898628572],
            ],
            [0.680727283585, 0.318552915414],
        );
        for (found, expected) in plane.points.iter().zip(expected.0) {
            (0..2).for_each(|component| close(found[component], expected[component]));
        }
        (0..2).for_each(|component| close(plane.shares[component], expected.1[component]));
    }

    #[test]
    fn vectors_in_a_plane_keep_their_distances() {
        let vectors: Vec<f32> = (0..7_u8)
            .flat_map(|i| {
                let (a, b) = (f32::from(i * i), f32::from(5 - i.min(5)));
                [a + b, a - b, 2.0 * b, a, 1.0]
            })
            .collect();
        let plane = Plane::of(&vectors, 5);
        assert!((plane.shares[0] + plane.shares[1] - 1.0).abs() < 1e-12);
        assert!(plane.shares[0] >= plane.shares[1]);
        for i in 0..7 {
            for j in 0..7 {
                let both = vectors[5 * i..5 * i + 5].iter().zip(&vectors[5 * j..]);
                let apart: f64 = both.map(|(a, b)| f64::from(a - b).powi(2)).sum();
                let [x, y] = [0, 1].map(|c| plane.points[i][c] - plane.points[j][c]);
                assert!((x.hypot(y) - apart.sqrt()).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_same_vectors_are_one_point() {
        for plane in [
            Plane::of(&[0.1; 12], 4),
            Plane::of(&[], 4),
            Plane::of(&[2.0; 3], 1),
        ] {
            assert_eq!(plane.shares, [0.0, 0.0]);
            assert!(plane.points.iter().all(|point| point == &[0.0, 0.0]));
        }
    }
}
