//! Fixed points of a closed loop.

use super::closed_loop::ClosedLoop;
use super::krylov::{norm, solve};
use super::tick::Tick;
use cinoc::{Error, Real};

/// Newton steps, and dimensions of the Krylov subspace of each.
const STEPS: usize = 30;
const DIMENSIONS: usize = 120;

/// Computes the fixed point of a closed loop near a state, by Newton's method with GMRES and finite-difference
/// derivatives.
///
/// All iterates keep the symmetry of the loop and of the initial state: on a lattice of equal cells the search stays
/// among states that are equal in every cell, whether or not waves over several cells grow.
pub fn fixed_point(closed: &ClosedLoop, from: Vec<f64>) -> Result<Vec<f64>, Error> {
    let mut tick = Tick::new(closed, 1);
    let mut x = from;
    // To the accuracy of the numbers: the map itself is computed to about this many digits.
    let exact = 20.0 * Real::EPSILON as f64 * (closed.size() as f64).sqrt();
    let mut left = residual(&mut tick, &x);
    for _ in 0..STEPS {
        let size = norm(&left);
        if size <= exact * (1.0 + norm(&x) / (x.len() as f64).sqrt()) {
            return Ok(x);
        }
        let (at, scale) = (x.clone(), (Real::EPSILON as f64).cbrt() * (x.len() as f64).sqrt());
        let mut apply = |v: &[f64]| {
            let mut moved = |side: f64| {
                let x: Vec<f64> = at.iter().zip(v).map(|(x, v)| x + side * scale * v).collect();
                tick.next(&x)
            };
            let (ahead, behind) = (moved(1.0), moved(-1.0));
            v.iter().zip(ahead.iter().zip(&behind)).map(|(v, (a, b))| v - (a - b) / (2.0 * scale)).collect()
        };
        let step = solve(&left, DIMENSIONS, 1e-3, &mut apply);
        // Damped where the full step increases the residual.
        let shorter = (0..12).map(|halvings| 0.5f64.powi(halvings)).find_map(|share| {
            let moved: Vec<f64> = x.iter().zip(&step).map(|(x, step)| x + share * step).collect();
            let left = residual(&mut tick, &moved);
            (norm(&left) < size).then_some((moved, left))
        });
        match shorter {
            Some(better) => (x, left) = better,
            None if size < 1e3 * exact => return Ok(x),
            None => break,
        }
    }
    let found = format!("at a residual of {:.1e}", norm(&left));
    Err(Error::bad("the closed loop", found, "one that rests somewhere near zero"))
}

fn residual(tick: &mut Tick, x: &[f64]) -> Vec<f64> {
    tick.next(x).iter().zip(x).map(|(next, x)| next - x).collect()
}
