//! Principal components by Jacobi rotations (Jacobi 1846; Golub and Van Loan, "Matrix Computations", 8.5): additions,
//! multiplications, divisions and square roots in one order, so that all machines get the same bytes.

/// Off-diagonal elements whose squares sum to this share of all squares are as good as 0.
const TOLERANCE: f64 = 1e-26;

/// Rounds over all pairs; about ten are enough.
const MOST_ROUNDS: usize = 60;

/// The first principal components of points, the one with the largest variance first: each point's place along it, scaled so
/// that the squares sum to 1. `None` for a component along which all points have the same place. `[component][point]`
pub(super) fn principal_components(points: &[Vec<f64>], count: usize) -> Vec<Option<Vec<f64>>> {
    let (n, width) = (points.len(), points.first().map_or(0, Vec::len));
    let means: Vec<f64> = (0..width)
        .map(|column| points.iter().map(|point| point[column]).sum::<f64>() / n as f64)
        .collect();
    let centred: Vec<Vec<f64>> = points
        .iter()
        .map(|point| point.iter().zip(&means).map(|(x, mean)| x - mean).collect())
        .collect();
    // Both have the same eigenvalues but 0: the products of columns, or those of points.
    let columns: Vec<Vec<f64>> = (0..width)
        .map(|column| centred.iter().map(|point| point[column]).collect())
        .collect();
    let of_columns = width <= n;
    let sides = if of_columns { &columns } else { &centred };
    let products = sides
        .iter()
        .map(|a| sides.iter().map(|b| dot(a, b)).collect())
        .collect();
    let mut pairs = eigenpairs(products);
    pairs.truncate(count);
    let place = |(_, vector): (f64, Vec<f64>)| {
        if of_columns {
            unit(centred.iter().map(|point| dot(point, &vector)).collect())
        } else {
            unit(vector)
        }
    };
    // Rounding alone leaves a component without variance a direction.
    let largest = pairs.first().map_or(0.0, |(value, _)| *value);
    let known = |pair: (f64, Vec<f64>)| (pair.0 > 1e-12 * largest).then(|| place(pair)).flatten();
    let mut components: Vec<Option<Vec<f64>>> = pairs.into_iter().map(known).collect();
    components.resize(count, None);
    components
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A vector scaled to length 1; `None` if it is 0.
fn unit(vector: Vec<f64>) -> Option<Vec<f64>> {
    let length = dot(&vector, &vector).sqrt();
    (length > 0.0).then(|| vector.into_iter().map(|number| number / length).collect())
}

/// The eigenvalues of a symmetric matrix, the largest first, each with its eigenvector of length 1.
fn eigenpairs(mut matrix: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = matrix.len();
    let mut vectors: Vec<Vec<f64>> = (0..n)
        .map(|row| {
            (0..n)
                .map(|column| f64::from(u8::from(row == column)))
                .collect()
        })
        .collect();
    let all: f64 = matrix.iter().map(|row| dot(row, row)).sum();
    for _ in 0..MOST_ROUNDS {
        let above = |(row, values): (usize, &Vec<f64>)| dot(&values[row + 1..], &values[row + 1..]);
        let left: f64 = matrix.iter().enumerate().map(above).sum();
        if left <= TOLERANCE * all {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if matrix[p][q] != 0.0 {
                    let turn = Turn::that_removes(&matrix, p, q);
                    turn.of_matrix(&mut matrix, p, q);
                    turn.of_rows(&mut vectors, p, q);
                }
            }
        }
    }
    let values: Vec<f64> = (0..n).map(|index| matrix[index][index]).collect();
    let mut pairs: Vec<(f64, Vec<f64>)> = values.into_iter().zip(vectors).collect();
    pairs.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    pairs
}

/// A rotation in the plane of two axes.
struct Turn {
    tangent: f64,
    cosine: f64,
    sine: f64,
}

impl Turn {
    /// The rotation by at most 45 degrees after which `matrix[p][q]` is 0.
    fn that_removes(matrix: &[Vec<f64>], p: usize, q: usize) -> Self {
        let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
        let tangent = 1.0 / (theta.abs() + (theta * theta + 1.0).sqrt());
        let tangent = if theta < 0.0 { -tangent } else { tangent };
        let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
        Self {
            tangent,
            cosine,
            sine: tangent * cosine,
        }
    }

    /// Of both sides of a symmetric matrix.
    fn of_matrix(&self, matrix: &mut [Vec<f64>], p: usize, q: usize) {
        let (a, b, off) = (matrix[p][p], matrix[q][q], matrix[p][q]);
        self.of_rows(matrix, p, q);
        matrix[p][p] = a - self.tangent * off;
        matrix[q][q] = b + self.tangent * off;
        (matrix[p][q], matrix[q][p]) = (0.0, 0.0);
        for other in (0..matrix.len()).filter(|&other| other != p && other != q) {
            matrix[other][p] = matrix[p][other];
            matrix[other][q] = matrix[q][other];
        }
    }

    fn of_rows(&self, rows: &mut [Vec<f64>], p: usize, q: usize) {
        let (before, after) = rows.split_at_mut(q);
        for (x, y) in before[p].iter_mut().zip(&mut after[0]) {
            (*x, *y) = (
                self.cosine * *x - self.sine * *y,
                self.sine * *x + self.cosine * *y,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `[[2, 1], [1, 2]]` by hand; of `[[4, 1, -2], [1, 2, 0], [-2, 0, 3]]` by `numpy.linalg.eigvalsh`.
    #[test]
    fn eigenvalues_are_known_ones() {
        let values = |matrix: &[&[f64]]| -> Vec<f64> {
            let rows = matrix.iter().map(|row| row.to_vec()).collect();
            eigenpairs(rows).iter().map(|(value, _)| *value).collect()
        };
        let close = |found: &[f64], expected: &[f64]| {
            found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12)
        };
        assert!(close(&values(&[&[2.0, 1.0], &[1.0, 2.0]]), &[3.0, 1.0]));
        let three = values(&[&[4.0, 1.0, -2.0], &[1.0, 2.0, 0.0], &[-2.0, 0.0, 3.0]]);
        let expected = [5.732_050_807_568_877, 2.267_949_192_431_123, 1.0];
        assert!(close(&three, &expected), "{three:?}");
        assert_eq!(values(&[&[0.0, 0.0], &[0.0, 5.0]]), [5.0, 0.0]);
    }

    /// Equal numbers on the diagonal leave the direction open: one is chosen, so that the signs of eigenvectors are the same everywhere.
    #[test]
    fn a_rotation_by_45_degrees_is_forwards() {
        for off in [1.0, -1.0] {
            let turn = Turn::that_removes(&[vec![2.0, off], vec![off, 2.0]], 0, 1);
            assert!(
                (turn.tangent - 1.0).abs() < 1e-15,
                "{off}: {}",
                turn.tangent
            );
        }
    }

    /// `A v = λ v` for a matrix of golden-ratio fractions, and `V V^T = 1`.
    #[test]
    fn eigenvectors_are_those_of_the_matrix() {
        let n = 40;
        let number = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
        let matrix: Vec<Vec<f64>> = (0..n)
            .map(|row| {
                (0..n)
                    .map(|column| number(row * column + row + column))
                    .collect()
            })
            .collect();
        let pairs = eigenpairs(matrix.clone());
        for (index, (value, vector)) in pairs.iter().enumerate() {
            for (row, entry) in matrix.iter().zip(vector) {
                assert!((dot(row, vector) - value * entry).abs() < 1e-11);
            }
            for (other, (_, vector_of_other)) in pairs.iter().enumerate() {
                let expected = f64::from(u8::from(other == index));
                assert!((dot(vector, vector_of_other) - expected).abs() < 1e-12);
            }
        }
        assert!(pairs.is_sorted_by(|(a, _), (b, _)| a >= b));
    }

    /// Points along two directions, with more columns than points and with fewer.
    #[test]
    fn components_are_the_directions_of_points() {
        let places = [[3.0, 0.5], [-3.0, 0.5], [1.0, -0.5], [-1.0, -0.5]];
        for width in [3, 9] {
            let point = |[a, b]: [f64; 2]| {
                let mut point = vec![7.0; width];
                point[0] += a;
                point[2] += b;
                point
            };
            let points: Vec<Vec<f64>> = places.map(point).into();
            let components = principal_components(&points, 3);
            for (axis, component) in components[..2].iter().enumerate() {
                let found = component.as_deref();
                let expected: Vec<f64> = places.iter().map(|place| place[axis]).collect();
                let length = dot(&expected, &expected).sqrt();
                let cosine = found.map_or(0.0, |found| dot(found, &expected) / length);
                assert!(
                    (cosine.abs() - 1.0).abs() < 1e-12,
                    "{width} {axis}: {cosine}"
                );
            }
            assert_eq!(components[2], None);
        }
        assert_eq!(
            principal_components(&[vec![1.0; 5], vec![1.0; 5]], 2),
            [None, None]
        );
    }
}
