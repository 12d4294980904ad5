//! Waves over a lattice of equal cells: the Jacobian of a tick, one cell at a time, by Bloch's theorem.

use super::closed_loop::ClosedLoop;
use super::krylov::{largest, leading};
use super::opened::{Between, certain};
use super::spectrum::eigenvalues;
use super::symmetry::{Translation, basis, indices, shortest_way, translations};
use super::tick::Tick;
use cinoc_pde::Grid;
use nalgebra::{Complex, DMatrix, DVector};
use std::collections::HashSet;
use std::f64::consts::{PI, TAU};

/// Least rise to continue: on a flat ridge there would be no end.
const CREEP: f64 = 1e-6;

/// Size of a matrix from which its largest eigenvalues are found by Arnoldi's method.
const LARGE: usize = 128;

/// The rows of one cell of the Jacobian of the opened loop, which is the same in every cell.
///
/// A disturbance `x_p = e^{iκ·p}·y` with the same `y` in every cell keeps this form, and one tick multiplies `y` by
/// `J(κ)_{rs} = Σ_p J_{rp} e^{iκ·(p−r)}`, the sum over all positions `p` that are `s` in some cell. These disturbances
/// are complete.
pub struct Bloch {
    /// State variables and actions of one cell.
    sizes: [usize; 2],
    /// Two vectors (on a line: one) from a cell to its neighbours.
    pub basis: Vec<Vec<f64>>,
    /// Row, column in the cell, displacement between the two positions, and the derivative.
    entries: Vec<(usize, usize, [f64; 2], f64)>,
    /// Largest derivative with respect to variables further away than two fifths of the domain, relative to the largest
    /// of all: coupling around the domain.
    pub far: f64,
    nominal: Between,
    tick_time: f64,
}

impl Bloch {
    /// Linearises a closed loop at the state `x`, equal in every cell.
    pub fn new(grid: &Grid, closed: &ClosedLoop, x: &[f64]) -> Self {
        let count = x.len() + closed.actions();
        Self::of_cells(grid, closed, &translations(grid, &closed.places, &closed.strength), x, count)
    }

    /// Linearises a field without agents: every node is a cell.
    pub fn free(grid: &Grid, closed: &ClosedLoop, x: &[f64]) -> Self {
        Self::of_cells(grid, closed, &translations(grid, &[], &[]), x, grid.count())
    }

    /// Linearises at the state `x`, which a group of translations maps to itself; of state and actions, the first `count`
    /// variables.
    fn of_cells(grid: &Grid, closed: &ClosedLoop, group: &[Translation], x: &[f64], count: usize) -> Self {
        let ([nodes, memory, _], d, xi) = (closed.sizes(), grid.dimensions(), &closed.places);
        let [remembered, acted] = [memory, closed.actions()].map(|all| (all / closed.agents).max(1));
        // The agent of a variable, and the first of its variables of this kind.
        let owner = |i: usize| match i {
            _ if i < nodes => None,
            _ if i < x.len() => Some(((i - nodes) / remembered, nodes, remembered)),
            _ => Some(((i - x.len()) / acted, x.len(), acted)),
        };
        // The index in its cell and the position of each variable; the first of its kind represents the cell.
        let mut kind = vec![usize::MAX; count];
        let mut rows = Vec::new();
        for i in 0..count {
            if kind[i] != usize::MAX {
                continue;
            }
            for by in group {
                let image = match owner(i) {
                    None => by.node(grid, i),
                    Some((agent, first, each)) => first + by.agent(agent) * each + (i - first) % each,
                };
                kind[image] = rows.len();
            }
            rows.push(i);
        }
        let place = |i: usize| -> Vec<f64> {
            let axes = 0..d;
            match owner(i) {
                None => indices(grid, i).into_iter().zip(axes).map(|(at, axis)| at as f64 * grid.spacing(axis)).collect(),
                Some((agent, ..)) => axes.map(|axis| xi[agent * d + axis] as f64).collect(),
            }
        };
        let places: Vec<Vec<f64>> = (0..count).map(place).collect();
        let (mut entries, mut most, mut far) = (Vec::new(), 0.0f64, 0.0f64);
        for (row, derivatives) in jacobian_rows(closed, x, &rows).into_iter().enumerate() {
            for (i, derivative) in derivatives.into_iter().enumerate().filter(|(i, x)| *i < count && *x != 0.0) {
                let way = shortest_way(grid, &places[rows[row]], &places[i]);
                most = most.max(derivative.abs());
                if (0..d).any(|axis| way[axis].abs() > 0.4 * grid.lengths[axis] as f64) {
                    far = far.max(derivative.abs());
                }
                entries.push((row, kind[i], way, derivative));
            }
        }
        let states = rows.iter().filter(|row| **row < x.len()).count();
        let (sizes, nominal) = ([states, rows.len() - states], Between::nominal(closed));
        Self { sizes, basis: basis(grid, group), entries, far: far / most, nominal, tick_time: closed.problem.tick_time() }
    }

    /// Returns the wave number κ of a wave whose phase grows by `phase` from a cell to its neighbours along the basis.
    fn wave_number(&self, phase: &[f64]) -> Vec<f64> {
        match &self.basis[..] {
            [a] => vec![phase[0] / a[0]],
            [a, b, ..] => {
                let volume = a[0] * b[1] - a[1] * b[0];
                vec![(b[1] * phase[0] - a[1] * phase[1]) / volume, (a[0] * phase[1] - b[0] * phase[0]) / volume]
            }
            [] => Vec::new(),
        }
    }

    /// Returns the number of cells in a piece of this size.
    pub fn cells(&self, volume: f64) -> usize {
        let cell = match &self.basis[..] {
            [a, b] => (a[0] * b[1] - a[1] * b[0]).abs(),
            _ => self.basis[0][0],
        };
        (volume / cell).round() as usize
    }

    /// Returns the matrix of the opened loop for waves of this phase.
    pub fn open(&self, phase: &[f64]) -> DMatrix<Complex<f64>> {
        let (kappa, size) = (self.wave_number(phase), self.sizes.iter().sum());
        let mut matrix = DMatrix::from_element(size, size, Complex::new(0.0, 0.0));
        for (row, column, way, derivative) in &self.entries {
            let angle: f64 = kappa.iter().zip(way).map(|(k, x)| k * x).sum();
            matrix[(*row, *column)] += Complex::from_polar(1.0, angle) * *derivative;
        }
        matrix
    }

    /// Returns the matrix of the closed loop from that of the opened one.
    pub fn close(&self, open: &DMatrix<Complex<f64>>) -> DMatrix<Complex<f64>> {
        self.nominal.close(open, self.sizes[0])
    }

    /// Returns the largest factors per tick of the closed loop from the matrix of the opened one, to within a tolerance if
    /// they have to be approximated.
    fn factors(&self, open: &DMatrix<Complex<f64>>, between: Between, tolerance: impl Fn(f64) -> f64) -> [Complex<f64>; 2] {
        let matrix = between.close(open, self.sizes[0]);
        if matrix.nrows() < LARGE {
            return largest(&eigenvalues(matrix));
        }
        leading(matrix.nrows(), tolerance, &mut |v| (&matrix * DVector::from_column_slice(v)).as_slice().to_vec())
    }

    /// Returns true if the loop with something between decision and effect grows by less than `limit` per unit of time.
    pub fn stable(&self, open: &DMatrix<Complex<f64>>, between: Between, limit: f64) -> bool {
        let limit = (limit * self.tick_time).exp();
        self.factors(open, between, certain(limit))[0].norm() < limit
    }

    /// Returns the growth rates of waves of this phase: of all, and of those that do not change sign from tick to tick.
    pub fn rates(&self, phase: &[f64]) -> [f64; 2] {
        let factors = self.factors(&self.open(phase), self.nominal, |_| 1e-4 * self.tick_time);
        factors.map(|factor| factor.norm().ln() / self.tick_time)
    }

    /// Returns the phases of all waves that fit a ring or a torus of this length, one of each pair κ, −κ; empty if
    /// cells do not fit.
    pub fn phases_on(&self, length: f64) -> Vec<Vec<f64>> {
        let d = self.basis.len();
        let cells = self.cells(length.powi(d as i32)) as i64;
        let (mut seen, mut phases) = (HashSet::new(), Vec::new());
        for m in 0..cells.pow(d as u32) {
            let waves = [m % cells, m / cells];
            // In fractions of a turn, of which a torus has one per cell.
            let turns: Vec<f64> =
                self.basis.iter().map(|a| (0..d).map(|i| waves[i] as f64 * a[i]).sum::<f64>() / length).collect();
            let parts: Vec<f64> = turns.iter().map(|t| t * cells as f64).collect();
            if parts.iter().any(|part| (part - part.round()).abs() > 1e-3) {
                return Vec::new();
            }
            let whole: Vec<i64> = parts.iter().map(|part| (part.round() as i64).rem_euclid(cells)).collect();
            let mirrored: Vec<i64> = whole.iter().map(|part| (-part).rem_euclid(cells)).collect();
            if !seen.contains(&mirrored) && seen.insert(whole.clone()) {
                phases.push(whole.iter().map(|part| TAU * *part as f64 / cells as f64).collect());
            }
            if seen.len() as i64 == cells {
                break;
            }
        }
        phases
    }

    /// Returns, for each of two heights, the phase at which it is largest and its value: on a grid first, then refined
    /// around its maximum in steps down to `finest`.
    pub fn maximise(&self, per_turn: usize, finest: f64, height: impl Fn(&[f64]) -> [f64; 2]) -> [(Vec<f64>, f64); 2] {
        let (d, half) = (self.basis.len(), per_turn / 2);
        let first = PI / half as f64;
        let grid = (0..=half).flat_map(|i| {
            let others = if d == 1 { 0..1 } else { 0..per_turn };
            others.map(move |j| [i, j][..d].iter().map(|&k| k as f64 * first).collect::<Vec<f64>>())
        });
        let tried: Vec<(Vec<f64>, [f64; 2])> = grid.map(|phase| (phase.clone(), height(&phase))).collect();
        let best = |which: usize| {
            let highest = tried.iter().max_by(|a, b| a.1[which].total_cmp(&b.1[which])).expect("a grid of phases");
            let (mut at, mut most, mut step) = (highest.0.clone(), highest.1[which], first);
            while step > finest {
                let around = (0..2 * d).map(|i| {
                    let mut phase = at.clone();
                    phase[i / 2] += if i % 2 == 0 { step } else { -step };
                    (height(&phase)[which], phase)
                });
                let next = around.max_by(|a, b| a.0.total_cmp(&b.0)).expect("neighbours");
                match next.0 > most + CREEP {
                    true => (most, at) = next,
                    false => step *= 0.5,
                }
            }
            (at, most)
        };
        let all = best(0);
        // Usually both coincide.
        let same = height(&all.0)[1] == all.1;
        [all.clone(), if same { all } else { best(1) }]
    }
}

/// Computes some rows of the Jacobian of the opened loop: of state and actions with respect to state and actions.
pub fn jacobian_rows(closed: &ClosedLoop, x: &[f64], rows: &[usize]) -> Vec<Vec<f64>> {
    let batch = rows.len().min((1 << 14) / closed.sizes()[0].max(1 << 10)).max(1);
    let (mut tick, size) = (Tick::new(closed, batch), x.len() + closed.actions());
    tick.next(&x.repeat(batch));
    let mut found = Vec::new();
    for rows in rows.chunks(batch) {
        let mut cotangents = vec![0.0; batch * size];
        rows.iter().enumerate().for_each(|(i, row)| cotangents[i * size + row] = 1.0);
        let pulled = tick.pull(&cotangents);
        found.extend(pulled.chunks_exact(size).take(rows.len()).map(<[f64]>::to_vec));
    }
    found
}
