//! The brush of a visitor.

use cinoc::Real;
use cinoc::pde::Grid;

/// A smooth bump: `amount·exp(−|x − at|²/2width²)`, which vanishes at walls, where fields are held at zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brush {
    /// Its centre; on a line the second number is not read.
    pub at: [f64; 2],
    /// Its width.
    pub width: f64,
    /// The height of a single bump, or the level that a stroke leads to.
    pub amount: f64,
}

/// Properties of a field that painting preserves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nature {
    /// True if it may be negative.
    pub signed: bool,
    /// True if the equation conserves its sum: painting then does too.
    pub conserved: bool,
}

/// A line drawn without lifting the brush. Each node is covered by the largest bump that has passed it, so that
/// the result depends on where the brush has been, and not on how long it took.
#[derive(Clone, Debug, Default)]
pub struct Stroke {
    /// Coverage of each node, from 0 to 1; empty before the first bump.
    covered: Vec<f64>,
}

impl Stroke {
    /// Moves the brush to its place and moves what it newly covers of `field` towards the level `brush.amount`.
    pub fn paint(&mut self, brush: &Brush, grid: &Grid, nature: Nature, field: &mut [Real]) {
        let shares = self.cover(brush, grid);
        self.apply(&shares, brush.amount, nature, field);
    }

    /// Adds a bump to what is covered; returns by which share of its distance to the level each node moves.
    pub fn cover(&mut self, brush: &Brush, grid: &Grid) -> Vec<f64> {
        self.covered.resize(grid.count(), 0.0);
        let share = |(covered, shape): (&mut f64, f64)| {
            let (before, now) = (*covered, covered.max(shape));
            *covered = now;
            if before < 1.0 { (now - before) / (1.0 - before) } else { 0.0 }
        };
        self.covered.iter_mut().zip(brush.shape(grid)).map(share).collect()
    }

    /// Moves each node of a field by its share of the distance to a level.
    pub fn apply(&self, shares: &[f64], level: f64, nature: Nature, field: &mut [Real]) {
        let level = if nature.signed { level } else { level.max(0.0) };
        preserving(nature, field, |field| {
            for (z, share) in field.iter_mut().zip(shares) {
                *z += ((level - *z as f64) * share) as Real;
            }
        });
    }
}

/// Changes a field; afterwards its sum is as before where the equation conserves it.
fn preserving(nature: Nature, field: &mut [Real], change: impl FnOnce(&mut [Real])) {
    let sum = |field: &[Real]| field.iter().map(|&z| z as f64).sum::<f64>();
    let before = sum(field);
    change(field);
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

impl Brush {
    /// Adds the bump to a field, less where the field approaches `most`: targets stay within what agents can reach.
    pub fn paint(&self, grid: &Grid, nature: Nature, most: f64, field: &mut [Real]) {
        let shape = self.shape(grid);
        preserving(nature, field, |field| {
            for (z, shape) in field.iter_mut().zip(shape) {
                let room = if self.amount * *z as f64 > 0.0 { (1.0 - (*z as f64).abs() / most).max(0.0) } else { 1.0 };
                *z += (self.amount * shape * room) as Real;
                if !nature.signed {
                    *z = z.max(0.0);
                }
            }
        });
    }

    /// The bump of height 1 at each node.
    fn shape(&self, grid: &Grid) -> Vec<f64> {
        let along: Vec<Vec<f64>> = (0..grid.dimensions()).map(|axis| self.along(grid, axis)).collect();
        let rows = along.get(1).map_or(1, Vec::len);
        let at = |i: usize| along[0][i / rows] * along.get(1).map_or(1.0, |y| y[i % rows]);
        (0..grid.count()).map(at).collect()
    }

    /// The bump along one axis: on a plane it is a product.
    fn along(&self, grid: &Grid, axis: usize) -> Vec<f64> {
        let length = grid.lengths[axis] as f64;
        let bump = |distance: f64| (-0.5 * (distance / self.width).powi(2)).exp();
        let shape = |x: f64| {
            let away = (x - self.at[axis]).abs();
            if grid.periodic[axis] {
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
    fn a_stroke_reaches_its_level_however_often_it_passes() {
        let grid = Grid::plane([41, 41], [1.0, 1.0], false);
        let paint = |passes: usize| {
            let (mut stroke, mut field) = (Stroke::default(), vec![0.0; grid.count()]);
            for k in 0..passes * 20 {
                let at = [0.3 + 0.02 * (k % 20) as f64, 0.5];
                stroke.paint(&Brush { at, width: 0.05, amount: 2.0 }, &grid, SIGNED, &mut field);
            }
            field
        };
        let (once, often) = (paint(1), paint(30));
        assert!((once[20 * 41 + 20] - 2.0).abs() < 1e-5, "on the line it is the level: {}", once[20 * 41 + 20]);
        let largest = once.iter().zip(&often).fold(0.0, |most: Real, (a, b)| most.max((a - b).abs()));
        assert!(largest < 1e-5, "a slow stroke is like a fast one but for {largest}");
        assert!(once[20 * 41 + 28].abs() < 0.05, "four widths aside nothing is painted: {}", once[20 * 41 + 28]);
    }

    #[test]
    fn a_second_stroke_of_the_other_sign_leads_to_the_other_level() {
        let grid = Grid::plane([21, 21], [1.0, 1.0], false);
        let mut field = vec![0.0; grid.count()];
        for amount in [1.0, -0.5] {
            Stroke::default().paint(&Brush { at: [0.5, 0.5], width: 0.1, amount }, &grid, SIGNED, &mut field);
        }
        assert!((field[10 * 21 + 10] + 0.5).abs() < 1e-5);
        let unsigned = Nature { signed: false, conserved: false };
        Stroke::default().paint(&Brush { at: [0.5, 0.5], width: 0.1, amount: -1.0 }, &grid, unsigned, &mut field);
        assert!(field[10 * 21 + 10].abs() < 1e-5, "a population is lowered to 0 at most");
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
