//! Smooth random fields of texts.

use cinoc_pde::Grid;
use cinoc_pde::sampler::GaussianProcess;
use std::f64::consts::{SQRT_2, TAU};

/// A Gaussian process of mean 0 and variance 1 with a correlation length, periodic along periodic axes.
pub enum RandomField {
    /// On a line or in the plane, between walls.
    Walls(GaussianProcess),
    /// Products of modes along each axis.
    Products(Vec<Modes>),
}

/// Modes along one axis, `[modes, nodes]`, with their amplitudes.
pub struct Modes {
    nodes: usize,
    values: Vec<f64>,
}

/// Relative amplitude below which modes are left out.
const LEAST: f64 = 1e-4;

impl Modes {
    /// Waves around a periodic axis.
    fn periodic(nodes: usize, length: f64, correlation: f64) -> Self {
        let amplitude = |m: usize| (-(TAU * m as f64 * correlation / length).powi(2) / 4.0).exp();
        let modes: Vec<f64> = (0..nodes.div_ceil(2)).map(amplitude).take_while(|a| *a > LEAST).collect();
        let norm = modes.iter().enumerate().map(|(m, a)| if m == 0 { a * a } else { 2.0 * a * a }).sum::<f64>().sqrt();
        let mut values = Vec::new();
        for (m, amplitude) in modes.iter().enumerate() {
            let angle = |i: usize| TAU * ((m * i) % nodes) as f64 / nodes as f64;
            if m == 0 {
                values.extend((0..nodes).map(|_| amplitude / norm));
            } else {
                values.extend((0..nodes).map(|i| SQRT_2 * amplitude / norm * angle(i).cos()));
                values.extend((0..nodes).map(|i| SQRT_2 * amplitude / norm * angle(i).sin()));
            }
        }
        Self { nodes, values }
    }

    /// Principal components between walls, with variance 1 in the mean over the nodes.
    fn walls(positions: &[f64], correlation: f64) -> Self {
        let (nodes, process) = (positions.len(), GaussianProcess::new(positions, correlation));
        let unit = |m: usize| (0..process.modes()).map(|i| f64::from(u8::from(i == m))).collect::<Vec<_>>();
        let square = |mode: &[f64]| mode.iter().map(|z| z * z).sum::<f64>();
        let (mut values, mut largest) = (Vec::new(), 0.0);
        for m in 0..process.modes() {
            let mode = process.draw(&unit(m));
            largest = f64::max(largest, square(&mode));
            if square(&mode) < LEAST * LEAST * largest {
                break;
            }
            values.extend(mode);
        }
        let norm = (square(&values) / nodes as f64).sqrt();
        values.iter_mut().for_each(|z| *z /= norm);
        Self { nodes, values }
    }

    fn count(&self) -> usize {
        self.values.len() / self.nodes
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.nodes)
    }
}

impl RandomField {
    pub fn new(grid: &Grid, correlation: f64) -> Self {
        if grid.has_walls() && grid.dimensions() < 3 {
            return Self::Walls(GaussianProcess::on(grid, correlation));
        }
        let modes = |axis: usize| match grid.periodic[axis] {
            true => Modes::periodic(grid.nodes[axis], grid.lengths[axis] as f64, correlation),
            false => Modes::walls(&grid.positions(axis), correlation),
        };
        Self::Products((0..grid.dimensions()).map(modes).collect())
    }

    /// Count of standard normal numbers per draw.
    pub fn numbers(&self) -> usize {
        match self {
            Self::Walls(process) => process.modes(),
            Self::Products(axes) => axes.iter().map(Modes::count).product(),
        }
    }

    /// Draws a field from standard normal numbers.
    pub fn draw(&self, normal: &[f64]) -> Vec<f64> {
        let axes = match self {
            Self::Walls(process) => return process.draw(normal),
            Self::Products(axes) => axes,
        };
        // Sums over the modes of one axis after the other: [modes of x, modes of y] becomes [nodes of x, nodes of y].
        let mut field = normal.to_vec();
        for axis in axes {
            let rest = field.len() / axis.count();
            let mut next = vec![0.0; rest * axis.nodes];
            for (row, weights) in axis.rows().zip(field.chunks_exact(rest)) {
                for (r, weight) in weights.iter().enumerate() {
                    next[r * axis.nodes..][..axis.nodes].iter_mut().zip(row).for_each(|(z, b)| *z += weight * b);
                }
            }
            field = next;
        }
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Rng, Stream};

    #[test]
    fn fields_in_a_box_have_variance_one_and_their_correlation() {
        for periodic in [[false; 3], [true; 3], [false, true, false]] {
            let grid = Grid { nodes: vec![12, 10, 8], lengths: vec![1.1, 0.9, 0.7], periodic: periodic.to_vec() };
            let process = RandomField::new(&grid, 0.15);
            let dx = grid.spacing(2);
            let (mut square, mut product, count) = (0.0, 0.0, 400);
            for i in 0..count {
                let z = process.draw(&Rng::new(1, Stream::Test, i).normals(process.numbers()));
                square += z.iter().map(|z| z * z).sum::<f64>() / z.len() as f64;
                product += z.chunks_exact(8).map(|z| z[3] * z[4]).sum::<f64>() / (z.len() / 8) as f64;
            }
            let (square, correlation) = (square / count as f64, product / square);
            assert!((square - 1.0).abs() < 0.05, "{square}");
            assert!((correlation - (-0.5 * (dx / 0.15).powi(2)).exp()).abs() < 0.05, "periodic {periodic:?}: {correlation}");
        }
    }

    #[test]
    fn periodic_fields_have_variance_one_and_their_correlation() {
        for grid in [Grid::torus([32, 24], [2.0, 1.0]), Grid { periodic: vec![true, false], ..Grid::torus([32, 24], [2.0, 1.0]) }]
        {
            let process = RandomField::new(&grid, 0.15);
            let (mut square, mut product, count) = (0.0, 0.0, 400);
            for i in 0..count {
                let z = process.draw(&Rng::new(1, Stream::Test, i).normals(process.numbers()));
                square += z.iter().map(|z| z * z).sum::<f64>() / z.len() as f64;
                // Two cells of 1/16 along x.
                product += (0..32 * 24).map(|i| z[i] * z[(i + 2 * 24) % z.len()]).sum::<f64>() / z.len() as f64;
            }
            let (square, correlation) = (square / count as f64, product / square);
            assert!((square - 1.0).abs() < 0.1, "{square}");
            assert!((correlation - (-0.5 * (0.125f64 / 0.15).powi(2)).exp()).abs() < 0.05, "{correlation}");
        }
    }
}
