//! What a visitor paints with.

use cinoc::Real;
use cinoc::pde::Grid;

/// A smooth bump: `amount·exp(−|x − at|²/2width²)`, fading out at walls, where fields are held at zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brush {
    /// Its middle; on a line the second number is not read.
    pub at: [f64; 2],
    /// Its width.
    pub width: f64,
    /// Its height.
    pub amount: f64,
}

/// What a field is like, so that what is painted is like it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nature {
    /// Whether it may be negative.
    pub signed: bool,
    /// Whether the equation keeps its sum: then so does a brush.
    pub conserved: bool,
}

impl Brush {
    /// Paints on a field, the less the nearer it comes to `most`: what agents have to reach should be what they can reach, and without kinks.
    pub fn paint(&self, grid: &Grid, nature: Nature, most: f64, field: &mut [Real]) {
        let along: Vec<Vec<f64>> = (0..grid.dimensions()).map(|axis| self.along(grid, axis)).collect();
        let sum = |field: &[Real]| field.iter().map(|&z| z as f64).sum::<f64>();
        let before = sum(field);
        let rows = along.get(1).map_or(1, Vec::len);
        for (i, z) in field.iter_mut().enumerate() {
            let shape = along[0][i / rows] * along.get(1).map_or(1.0, |y| y[i % rows]);
            let room = if self.amount * *z as f64 > 0.0 { (1.0 - (*z as f64).abs() / most).max(0.0) } else { 1.0 };
            *z += (self.amount * shape * room) as Real;
            if !nature.signed {
                *z = z.max(0.0);
            }
        }
        let after = sum(field);
        if !nature.conserved || after == before {
            return;
        }
        if nature.signed {
            let shift = ((before - after) / field.len() as f64) as Real;
            field.iter_mut().for_each(|z| *z += shift);
        } else if before > 0.0 && after > 0.0 {
            let scale = (before / after) as Real;
            field.iter_mut().for_each(|z| *z *= scale);
        }
    }

    /// The bump along one axis: on a plane it is a product.
    fn along(&self, grid: &Grid, axis: usize) -> Vec<f64> {
        let length = grid.lengths[axis] as f64;
        let bump = |distance: f64| (-0.5 * (distance / self.width).powi(2)).exp();
        let shape = |x: f64| {
            let away = (x - self.at[axis]).abs();
            if grid.periodic {
                return bump(away.min(length - away));
            }
            let wall = x.min(length - x).max(0.0);
            bump(away) * (1.0 - bump(2.0 * wall))
        };
        grid.positions(axis).into_iter().map(shape).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNED: Nature = Nature { signed: true, conserved: false };
    const ANY: f64 = f64::INFINITY;

    #[test]
    fn a_bump_is_highest_where_it_is_put_and_zero_at_walls() {
        let grid = Grid::plane([21, 11], [2.0, 1.0], false);
        let mut field = vec![0.0; grid.count()];
        Brush { at: [1.0, 0.5], width: 0.1, amount: 3.0 }.paint(&grid, SIGNED, ANY, &mut field);
        let highest = field.iter().copied().fold(0.0, Real::max);
        assert!((field[10 * 11 + 5] - 3.0).abs() < 1e-5 && highest == field[10 * 11 + 5]);
        Brush { at: [0.0, 0.0], width: 0.3, amount: 1.0 }.paint(&grid, SIGNED, ANY, &mut field);
        for (i, z) in field.iter().enumerate() {
            let wall = [0, 20].contains(&(i / 11)) || [0, 10].contains(&(i % 11));
            assert!(!wall || *z == 0.0, "{z} at a wall");
        }
    }

    #[test]
    fn what_is_painted_again_and_again_stays_within_reach() {
        let grid = Grid::walls(21, 1.0);
        let mut field = vec![0.0; 21];
        (0..200).for_each(|_| Brush { at: [0.5, 0.0], width: 0.1, amount: 0.05 }.paint(&grid, SIGNED, 2.0, &mut field));
        assert!(field[10] > 1.8 && field.iter().all(|z| *z < 2.0), "{field:?}");
        Brush { at: [0.5, 0.0], width: 0.1, amount: -0.5 }.paint(&grid, SIGNED, 2.0, &mut field);
        assert!(field[10] < 1.5, "the way back is not held up");
    }

    #[test]
    fn a_bump_reaches_around_a_ring() {
        let grid = Grid::periodic(16, 1.0);
        let mut field = vec![0.0; 16];
        Brush { at: [0.0, 0.0], width: 0.1, amount: 1.0 }.paint(&grid, SIGNED, ANY, &mut field);
        assert!((field[1] - field[15]).abs() < 1e-6 && field[15] > 0.5);
    }

    #[test]
    fn what_an_equation_keeps_a_brush_keeps() {
        let grid = Grid::periodic(16, 1.0);
        let mut waves: Vec<Real> = (0..16).map(|i| (i as Real).sin()).collect();
        let sum = |field: &[Real]| field.iter().map(|&z| z as f64).sum::<f64>();
        let before = sum(&waves);
        let brush = Brush { at: [0.5, 0.0], width: 0.1, amount: 2.0 };
        brush.paint(&grid, Nature { signed: true, conserved: true }, ANY, &mut waves);
        assert!((sum(&waves) - before).abs() < 1e-5);
        let mut density = vec![0.5; 16];
        brush.paint(&grid, Nature { signed: false, conserved: true }, ANY, &mut density);
        assert!((sum(&density) - 8.0).abs() < 1e-5 && density[8] > 1.0);
        Brush { amount: -100.0, ..brush }.paint(&grid, Nature { signed: false, conserved: true }, ANY, &mut density);
        assert!(density.iter().all(|z| *z >= 0.0) && (sum(&density) - 8.0).abs() < 1e-4);
    }
}
