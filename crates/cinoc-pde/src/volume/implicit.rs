//! Implicit steps of linear terms.

use super::Mesh;
use super::conductance::Conductances;
use super::matrix::Matrix;
use super::solver::Solver;
use super::spread::Spread;
use crate::Real;
use cinoc_tape::{Cotangents, Inputs, Op, Shape};
use std::sync::Arc;

/// The linear part `L z = div(k grad z) − σ·z − c·lap(lap z)` of an implicit step of length `τ`.
#[derive(Debug)]
pub(super) struct Implicit {
    mesh: Arc<Mesh>,
    solver: Solver,
    tau: Real,
    /// Conductances of `lap`, if there is a term of fourth order.
    lap: Option<Vec<Real>>,
}

impl Implicit {
    pub fn new(mesh: &Arc<Mesh>, tau: f64, fourth: bool) -> Self {
        let lap = fourth.then(|| mesh.unit_conductances());
        Self { mesh: mesh.clone(), solver: Solver::new(mesh, fourth), tau: tau as Real, lap }
    }

    /// Length of the step.
    pub fn tau(&self) -> Real {
        self.tau
    }

    /// Matrix `1 − τ·L` of an instance with the fourth-order coefficient `c`.
    fn matrix<'a>(&'a self, second: Conductances<'a>, c: Real) -> Matrix<'a> {
        let fourth = self.lap().map(|lap| (self.tau * c, lap.matrix));
        Matrix { second: second.matrix, fourth }
    }

    fn lap(&self) -> Option<Conductances<'_>> {
        self.lap.as_ref().map(|lap| self.mesh.conductances(lap))
    }

    fn coefficients(&self, [k, decay, c]: [Shape; 3], batch: usize) -> [Spread; 3] {
        let n = self.mesh.count();
        let k = Spread::new("coefficient of diffusion", k, batch, n);
        [k, Spread::new("decay", decay, batch, n), Spread::new("coefficient of fourth order", c, batch, 1)]
    }
}

/// Factorisation of `1 − τ·L`. Inputs: `k`, `σ`, `c`; the result has one row for all instances or one for each.
///
/// It has no derivative: [`Solve`] has that with respect to the coefficients.
#[derive(Debug)]
pub(super) struct Factor(pub Arc<Implicit>);

impl Op for Factor {
    fn name(&self) -> &'static str {
        "factorisation"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        let batch = x.iter().map(|x| x.sizes().first().copied().unwrap_or(1)).max().unwrap_or(1);
        self.0.coefficients([x[0], x[1], x[2]], batch);
        Shape::new(&[batch, self.0.mesh.conductances_len() + self.0.solver.len()])
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        self.0.mesh.count()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], map: &mut [Real]) {
        let Implicit { mesh, solver, tau, .. } = &*self.0;
        let size = mesh.conductances_len() + solver.len();
        let [k_at, decay_at, c_at] = self.0.coefficients([x.shape(0), x.shape(1), x.shape(2)], y.len() / size);
        let map = &mut map[..mesh.count()];
        for (b, y) in y.chunks_exact_mut(size).enumerate() {
            let (g, factors) = y.split_at_mut(mesh.conductances_len());
            k_at.expand(&x[0], b, map);
            mesh.conduct(map, *tau, g);
            decay_at.expand(&x[1], b, map);
            for ((own, decay), fluid) in g.iter_mut().zip(&*map).zip(mesh.fluid()) {
                *own += tau * decay * fluid;
            }
            let mut c = [0.0];
            c_at.expand(&x[2], b, &mut c);
            solver.factor(mesh, &self.0.matrix(mesh.conductances(g), c[0]), factors);
        }
    }

    fn vjp(&self, _: &Inputs, _: &[Real], _: &[Real], _: &[Real], _: &mut Cotangents, _: &mut [Real]) {}
}

/// Solution of `z' = p + τ·(L z' + f)`. Inputs: `p`, `f`, `outside`, `k`, `σ`, `c`, the result of [`Factor`].
///
/// Computed as `z' = p + (1 − τL)⁻¹ τ(L p + f)`: rounding affects the increment only, which is also what an iteration
/// starts from. With `w = (1 − τL)⁻ᵀ z̄'`, the same solution since the matrix is symmetric, the cotangents are `p̄ = w`,
/// `f̄ = τw`, and those of the coefficients are those of `τ⟨w, L z'⟩`. Solid cells keep their value.
#[derive(Debug)]
pub(super) struct Solve(pub Arc<Implicit>);

/// Layouts of `outside` and of the coefficients, and the row length of the factorisation; 0 if it is shared.
struct Layout {
    outside: Spread,
    coefficients: [Spread; 3],
    factors: usize,
}

impl Solve {
    fn layout(&self, x: &[Shape]) -> Layout {
        let Implicit { mesh, solver, .. } = &*self.0;
        let batch = mesh.batch("implicit step", x[0]);
        assert!(x[1] == x[0], "implicit step: field {:?}, force {:?}", x[0], x[1]);
        let size = mesh.conductances_len() + solver.len();
        let rows = x[6].sizes()[0];
        assert!(x[6].last() == size && (rows == 1 || rows == batch), "implicit step: {batch} fields, factors {:?}", x[6]);
        Layout {
            outside: Spread::new("numbers outside", x[2], batch, mesh.faces()),
            coefficients: self.0.coefficients([x[3], x[4], x[5]], batch),
            factors: if rows == 1 { 0 } else { size },
        }
    }
}

impl Op for Solve {
    fn name(&self) -> &'static str {
        "implicit step"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        self.layout(x);
        x[0]
    }

    fn scratch(&self, _: &[Shape]) -> usize {
        4 * self.0.mesh.count() + 2 * self.0.mesh.faces() + self.0.solver.work()
    }

    fn forward(&self, x: &Inputs, y: &mut [Real], _: &mut [Real], scratch: &mut [Real]) {
        let Implicit { mesh, solver, tau, .. } = &*self.0;
        let (n, layout) = (mesh.count(), self.layout(x.shapes()));
        let (r, rest) = scratch.split_at_mut(n);
        let (lap_z, rest) = rest.split_at_mut(n);
        let (outside, rest) = rest.split_at_mut(mesh.faces());
        for (b, (p, y)) in x[0].chunks_exact(n).zip(y.chunks_exact_mut(n)).enumerate() {
            let (g, factors) = x[6][b * layout.factors..].split_at(mesh.conductances_len());
            let (g, mut c) = (mesh.conductances(g), [0.0]);
            layout.outside.expand(&x[2], b, outside);
            layout.coefficients[2].expand(&x[5], b, &mut c);
            g.matrix.apply(p, [&x[1][b * n..][..n], mesh.fluid()], r, |r, az, _, [f, fluid]| *r = fluid * (tau * f) - az);
            mesh.add_inflow(g.sides, outside, *tau, r);
            if let Some(lap) = self.0.lap() {
                // −lap z, then −lap of that with zero outside.
                lap.matrix.apply(p, [p, p], lap_z, |lap_z, gz, _, _| *lap_z = -gz);
                mesh.add_inflow(lap.sides, outside, 1.0, lap_z);
                lap.matrix.apply(lap_z, [p, p], r, |r, glz, _, _| *r += tau * c[0] * glz);
            }
            solver.solve(factors, &self.0.matrix(g, c[0]), r, y, rest);
            y.iter_mut().zip(p).for_each(|(y, p)| *y += p);
        }
    }

    fn vjp(&self, x: &Inputs, y: &[Real], y_bar: &[Real], _: &[Real], bars: &mut Cotangents, scratch: &mut [Real]) {
        let Implicit { mesh, solver, tau, .. } = &*self.0;
        let (n, layout) = (mesh.count(), self.layout(x.shapes()));
        let (w, rest) = scratch.split_at_mut(n);
        let (r, rest) = rest.split_at_mut(n);
        let (map, rest) = rest.split_at_mut(n);
        let (bar_map, rest) = rest.split_at_mut(n);
        let (outside, rest) = rest.split_at_mut(mesh.faces());
        let (outside_bar, rest) = rest.split_at_mut(mesh.faces());
        for (b, (z, y_bar)) in y.chunks_exact(n).zip(y_bar.chunks_exact(n)).enumerate() {
            let (g, factors) = x[6][b * layout.factors..].split_at(mesh.conductances_len());
            let (g, mut c) = (mesh.conductances(g), [0.0]);
            layout.outside.expand(&x[2], b, outside);
            layout.coefficients[2].expand(&x[5], b, &mut c);
            r.iter_mut().zip(y_bar).zip(mesh.fluid()).for_each(|((r, bar), fluid)| *r = bar * fluid);
            solver.solve(factors, &self.0.matrix(g, c[0]), r, w, rest);
            if let Some(bar) = bars.get(0) {
                let bar = bar[b * n..][..n].iter_mut().zip(&*w).zip(y_bar).zip(mesh.fluid());
                bar.for_each(|(((bar, w), y_bar), fluid)| *bar += if *fluid > 0.0 { *w } else { *y_bar });
            }
            if let Some(bar) = bars.get(1) {
                bar[b * n..][..n].iter_mut().zip(&*w).for_each(|(bar, w)| *bar += tau * w);
            }
            if let Some(bar) = bars.get(3) {
                layout.coefficients[0].expand(&x[3], b, map);
                mesh.pull_conductivity(map, z, w, outside, *tau, bar_map);
                layout.coefficients[0].add(bar_map, b, bar);
            }
            if let Some(bar) = bars.get(4) {
                bar_map.iter_mut().zip(&*w).zip(z).for_each(|((bar, w), z)| *bar = -tau * w * z);
                layout.coefficients[1].add(bar_map, b, bar);
            }
            outside_bar.fill(0.0);
            mesh.pull_inflow(g.sides, w, *tau, outside_bar);
            if let Some(lap) = self.0.lap() {
                // ⟨w, −c·lap(lap z)⟩ = −c ⟨lap w, lap z⟩, with zero outside for the lap of w.
                lap.matrix.apply(w, [w, w], map, |lap_w, gw, _, _| *lap_w = -gw);
                lap.matrix.apply(z, [z, z], r, |lap_z, gz, _, _| *lap_z = -gz);
                mesh.add_inflow(lap.sides, outside, 1.0, r);
                if let Some(bar) = bars.get(5) {
                    let sum: f64 = map.iter().zip(&*r).map(|(a, b)| (a * b) as f64).sum();
                    layout.coefficients[2].add(&[-tau * sum as Real], b, bar);
                }
                map.iter_mut().for_each(|lap_w| *lap_w *= -tau * c[0]);
                mesh.pull_inflow(lap.sides, map, 1.0, outside_bar);
            }
            if let Some(bar) = bars.get(2) {
                layout.outside.add(outside_bar, b, bar);
            }
        }
    }
}
