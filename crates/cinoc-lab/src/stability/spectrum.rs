//! All eigenvalues of a matrix.
//!
//! The Jacobians here have many eigenvalues near zero, those of waves that decay within a tick. Iterations that compare
//! a subdiagonal entry with its neighbours on the diagonal, as nalgebra's does, then do not converge. This one compares
//! with the norm of the matrix, which is as accurate as its entries.

use nalgebra::{Complex, DMatrix};

/// Number of steps without a result after which an exceptional shift breaks a cycle.
const STUCK: usize = 12;

/// Returns the eigenvalues of a complex matrix, by QR steps with Wilkinson's shift on its Hessenberg form.
pub fn eigenvalues(matrix: DMatrix<Complex<f64>>) -> Vec<Complex<f64>> {
    let n = matrix.nrows();
    let small = f64::EPSILON * matrix.norm();
    let ready = (2..n).all(|i| (0..i - 1).all(|j| matrix[(i, j)].norm() == 0.0));
    let mut h = if ready { matrix } else { matrix.hessenberg().unpack_h() };
    // Rows from `end` on are done.
    let (mut end, mut steps) = (n, 0);
    while end > 1 {
        let first = (1..end).rev().find(|&k| h[(k, k - 1)].norm() <= small).unwrap_or(0);
        if first + 1 == end {
            (end, steps) = (end - 1, 0);
            continue;
        }
        steps += 1;
        let shift = match steps % STUCK {
            0 => h[(end - 1, end - 1)] + h[(end - 1, end - 2)].norm(),
            _ => wilkinson(&h, end),
        };
        step(&mut h, first, end, shift);
    }
    (0..n).map(|k| h[(k, k)]).collect()
}

/// Returns the eigenvalue of the last two rows and columns before `end` that is nearer to the last diagonal entry.
fn wilkinson(h: &DMatrix<Complex<f64>>, end: usize) -> Complex<f64> {
    let [a, b, c, d] = [(2, 2), (2, 1), (1, 2), (1, 1)].map(|(i, j)| h[(end - i, end - j)]);
    let half = (a - d) / 2.0;
    let root = (half * half + b * c).sqrt();
    let far = if (half + root).norm() > (half - root).norm() { half + root } else { half - root };
    if far.norm() == 0.0 { d } else { d - b * c / far }
}

/// Performs `H − σ = QR`, `H ← RQ + σ`, in the rows and columns from `first` to before `end`; the others do not affect
/// eigenvalues.
fn step(h: &mut DMatrix<Complex<f64>>, first: usize, end: usize, shift: Complex<f64>) {
    (first..end).for_each(|k| h[(k, k)] -= shift);
    let mut turns = Vec::with_capacity(end - first);
    for k in first..end - 1 {
        let (x, y) = (h[(k, k)], h[(k + 1, k)]);
        let length = x.norm().hypot(y.norm());
        let (c, s) = if length > 0.0 { (x / length, y / length) } else { (Complex::new(1.0, 0.0), Complex::new(0.0, 0.0)) };
        for j in k..end {
            let (x, y) = (h[(k, j)], h[(k + 1, j)]);
            h[(k, j)] = c.conj() * x + s.conj() * y;
            h[(k + 1, j)] = c * y - s * x;
        }
        turns.push((c, s));
    }
    for (k, (c, s)) in (first..).zip(turns) {
        for i in first..(k + 2).min(end) {
            let (x, y) = (h[(i, k)], h[(i, k + 1)]);
            h[(i, k)] = x * c + y * s;
            h[(i, k + 1)] = y * c.conj() - x * s.conj();
        }
    }
    (first..end).for_each(|k| h[(k, k)] += shift);
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc::internal::random::{Rng, Stream};

    /// Returns a matrix with these eigenvalues in a random basis.
    fn with(values: &[Complex<f64>], seed: u64) -> DMatrix<Complex<f64>> {
        let (n, mut rng) = (values.len(), Rng::new(seed, Stream::Test, 0));
        let basis = DMatrix::from_fn(n, n, |_, _| Complex::new(rng.normal(), rng.normal())).qr().q();
        // Arbitrary entries above the diagonal.
        let triangle = DMatrix::from_fn(n, n, |i, j| match j {
            j if j == i => values[i],
            j if j > i => Complex::new(0.3 * rng.normal(), 0.3 * rng.normal()),
            _ => Complex::new(0.0, 0.0),
        });
        &basis * triangle * basis.adjoint()
    }

    fn assert_spectrum(mut found: Vec<Complex<f64>>, expected: &[Complex<f64>], tolerance: f64) {
        for value in expected {
            let nearest =
                (0..found.len()).min_by(|&a, &b| (found[a] - value).norm().total_cmp(&(found[b] - value).norm())).unwrap();
            let found = found.swap_remove(nearest);
            assert!((found - value).norm() < tolerance, "{found} instead of {value}");
        }
    }

    #[test]
    fn eigenvalues_are_those_of_the_triangle() {
        for n in [1, 2, 3, 10, 40] {
            let mut rng = Rng::new(n as u64, Stream::Test, 1);
            let values: Vec<Complex<f64>> =
                (0..n).map(|_| Complex::from_polar(rng.uniform(0.5, 1.2), rng.uniform(0.0, 6.0))).collect();
            assert_spectrum(eigenvalues(with(&values, 7)), &values, 1e-8);
        }
    }

    /// Most waves decay within a tick.
    #[test]
    fn many_eigenvalues_may_be_zero_or_nearly() {
        let values: Vec<Complex<f64>> = (0..60).map(|k| Complex::new(10f64.powi(-k), 0.0)).collect();
        let found = eigenvalues(DMatrix::from_diagonal(&nalgebra::DVector::from_vec(values.clone())));
        assert_spectrum(found, &values, 1e-12);
        let found = eigenvalues(with(&values, 3));
        let largest = found.iter().map(|value| value.norm()).fold(0.0, f64::max);
        assert!((largest - 1.0).abs() < 1e-9 && found.len() == 60, "{largest}");
        assert!(eigenvalues(DMatrix::zeros(5, 5)).iter().all(|value| value.norm() == 0.0));
    }

    #[test]
    fn a_rotation_turns() {
        let turn = [0.0, -2.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.5].map(|x| Complex::new(x, 0.0));
        let expected = [Complex::new(0.0, 2.0), Complex::new(0.0, -2.0), Complex::new(0.5, 0.0)];
        assert_spectrum(eigenvalues(DMatrix::from_row_slice(3, 3, &turn)), &expected, 1e-12);
    }
}
