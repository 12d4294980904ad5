//! The discrete algebraic Riccati equation.

use nalgebra::DMatrix;

/// Doublings after which the search for a solution ends: the closed loop of 2⁶⁰ ticks.
const MOST_DOUBLINGS: usize = 60;

/// Returns the stabilising solution P of P = AᵀPA − AᵀPB(R + BᵀPB)⁻¹BᵀPA + Q with R = `effort`·I, by the
/// structure-preserving doubling algorithm (Chu, Fan, Lin, Wang, Int. J. Control 77, 2004); `None` if it does not
/// converge.
pub fn riccati(a: &DMatrix<f64>, b: &DMatrix<f64>, q: &DMatrix<f64>, effort: f64) -> Option<DMatrix<f64>> {
    let identity = DMatrix::identity(a.nrows(), a.nrows());
    let (mut a, mut g, mut h) = (a.clone(), b * b.transpose() / effort, q.clone());
    for _ in 0..MOST_DOUBLINGS {
        let both = (&identity + &g * &h).lu();
        let (left, right) = (both.solve(&a)?, both.solve(&g)?);
        let more = a.transpose() * &h * &left;
        g += symmetric(&a * right * a.transpose());
        a = &a * left;
        h += symmetric(more.clone());
        if !h.iter().all(|x| x.is_finite()) {
            return None;
        }
        if more.amax() <= 1e-13 * h.amax() {
            return Some(h);
        }
    }
    None
}

fn symmetric(x: DMatrix<f64>) -> DMatrix<f64> {
    0.5 * (&x + x.transpose())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scalar has the solution of a quadratic equation: p² b² + p (r − a² r − q b²) = q r.
    #[test]
    fn a_scalar_has_the_root_of_its_quadratic() {
        let (a, b, q, r): (f64, f64, f64, f64) = (1.3, 0.7, 2.0, 0.1);
        let linear = r - a * a * r - q * b * b;
        let expected = (-linear + (linear * linear + 4.0 * b * b * q * r).sqrt()) / (2.0 * b * b);
        let one = |x: f64| DMatrix::from_element(1, 1, x);
        let found = riccati(&one(a), &one(b), &one(q), r).unwrap();
        assert!((found[0] - expected).abs() < 1e-12 * expected, "{} instead of {expected}", found[0]);
    }

    #[test]
    fn a_solution_solves_the_equation_and_stabilises() {
        let a = DMatrix::from_row_slice(3, 3, &[1.1, 0.2, 0.0, -0.1, 0.9, 0.3, 0.0, 0.1, 1.05]);
        let b = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        let (q, r) = (DMatrix::identity(3, 3), 0.01);
        let p = riccati(&a, &b, &q, r).unwrap();
        let gain = (DMatrix::identity(2, 2) * r + b.transpose() * &p * &b).lu().solve(&(b.transpose() * &p * &a)).unwrap();
        let closed = &a - &b * gain;
        let residual = a.transpose() * &p * &closed + &q - &p;
        assert!(residual.amax() < 1e-10 * p.amax(), "{residual}");
        assert!(closed.complex_eigenvalues().iter().all(|x| x.norm() < 1.0));
    }
}
