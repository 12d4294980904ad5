//! Helpers for the tests of the spectral equations.
#![allow(dead_code)]

use cinoc_pde::{Real, Stepper};
use cinoc_tape::check::pull_back;
use cinoc_tape::{Arena, Shape, Tape};
use npyz::npz::NpzArchive;

/// `[batch, nodes...]`
pub fn shape(stepper: &dyn Stepper, batch: usize) -> Vec<usize> {
    [batch].into_iter().chain(stepper.grid().nodes.iter().copied()).collect()
}

/// Fields after some steps under a constant force (zero if empty).
pub fn run(stepper: &dyn Stepper, start: &[Real], force: &[Real], steps: usize) -> Vec<Real> {
    let shape = shape(stepper, start.len() / stepper.grid().count());
    let (mut memory, mut z) = (Arena::default(), start.to_vec());
    for _ in 0..steps {
        let tape = Tape::new(memory, &[]);
        let force = if force.is_empty() { tape.zeros(&shape[..]) } else { tape.constant(&shape[..], force) };
        z = stepper.step(tape.constant(&shape[..], &z), force).value();
        memory = tape.into_arena();
    }
    z
}

/// Largest difference, relative to the largest number of `b`.
pub fn difference(a: &[Real], b: &[Real]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(1e-30, |size: f64, b| size.max(b.abs() as f64));
    let off = a.iter().zip(b).map(|(a, b)| (a - b).abs() as f64);
    off.fold(0.0, |most: f64, off| if off.is_nan() { f64::INFINITY } else { most.max(off) }) / size
}

/// Asserts that two steppers agree, and so do their derivatives with respect to field and force.
pub fn assert_same(what: &str, a: &dyn Stepper, b: &dyn Stepper, z: &[Real], force: &[Real], limit: f64) {
    let shape = Shape::new(&shape(a, z.len() / a.grid().count()));
    let point = vec![(shape, z.to_vec()), (shape, force.to_vec())];
    let y_bar = cinoc_tape::check::noise(z.len(), 99);
    let (y, bars) = pull_back(&point, &|x| a.step(x[0], x[1]), Some(&y_bar));
    let (y_other, bars_other) = pull_back(&point, &|x| b.step(x[0], x[1]), Some(&y_bar));
    let off = [difference(&y, &y_other), difference(&bars[0], &bars_other[0]), difference(&bars[1], &bars_other[1])];
    assert!(off.iter().all(|&off| off < limit), "{what}: field, cotangent of the field, of the force off by {off:?}");
}

/// Numbers of an independent implementation (JAX in float64): five steps from a start under given actions.
pub struct Golden(NpzArchive<std::io::BufReader<std::fs::File>>);

impl Golden {
    pub fn open(problem: &str) -> Self {
        let crate_folder = if cfg!(double) { "../../cinoc-pde" } else { "." };
        let path = format!("{}/{crate_folder}/tests/golden/{problem}.npz", env!("CARGO_MANIFEST_DIR"));
        Self(NpzArchive::open(&path).expect("golden vectors"))
    }

    pub fn get(&mut self, name: &str) -> (Vec<usize>, Vec<f64>) {
        let array = self.0.by_name(name).expect("readable archive").unwrap_or_else(|| panic!("no {name}"));
        (array.shape().iter().map(|&n| n as usize).collect(), array.into_vec().expect("numbers"))
    }

    fn real(&mut self, name: &str) -> Vec<Real> {
        self.get(name).1.into_iter().map(|x| x as Real).collect()
    }

    /// The force of each tick: Gaussians of width `sigma` around the agents, nearest images.
    fn forces(&mut self, stepper: &dyn Stepper, sigma: f64) -> Vec<Vec<Real>> {
        let ((shape, actions), (_, xi)) = (self.get("actions"), self.get("xi0"));
        let &[batch, ticks, agents, _] = &shape[..] else { panic!("actions {shape:?}") };
        let (grid, axes) = (stepper.grid(), stepper.grid().dimensions());
        let bump = |axis: usize, xi: f64| -> Vec<f64> {
            let length = grid.lengths[axis] as f64;
            let near = |d: f64| d - length * (d / length).round();
            grid.positions(axis).iter().map(|x| (-near(x - xi).powi(2) / (2.0 * sigma * sigma)).exp()).collect()
        };
        let mut forces = vec![vec![0.0; batch * grid.count()]; ticks];
        for (b, agent) in (0..batch).flat_map(|b| (0..agents).map(move |agent| (b, agent))) {
            let bumps: Vec<Vec<f64>> = (0..axes).map(|axis| bump(axis, xi[(b * agents + agent) * axes + axis])).collect();
            for (tick, force) in forces.iter_mut().enumerate() {
                let u = actions[(b * ticks + tick) * agents + agent];
                let force = &mut force[b * grid.count()..][..grid.count()];
                let last = &bumps[axes - 1];
                for (i, f) in force.iter_mut().enumerate() {
                    let first = if axes == 2 { bumps[0][i / last.len()] } else { 1.0 };
                    *f += (u * first * last[i % last.len()]) as Real;
                }
            }
        }
        forces
    }

    /// Compares five steps, and the gradient of `weight·mean z²` over them by the start.
    pub fn compare(&mut self, stepper: &dyn Stepper, sigma: f64, weight: f64) {
        let limit = if cfg!(double) { 1e-9 } else { 1e-4 };
        let (start, forces) = (self.real("z0"), self.forces(stepper, sigma));
        let batch = start.len() / stepper.grid().count();
        let shape = shape(stepper, batch);
        let first = run(stepper, &start, &forces[0], 1);
        assert!(
            difference(&first, &self.real("z_first")) < limit,
            "one step off by {:.1e}",
            difference(&first, &self.real("z_first"))
        );
        let mut last = first;
        forces[1..].iter().for_each(|force| last = run(stepper, &last, force, 1));
        assert!(
            difference(&last, &self.real("z_last")) < limit,
            "five steps off by {:.1e}",
            difference(&last, &self.real("z_last"))
        );
        let point = vec![(Shape::new(&shape), start)];
        let (_, bars) = pull_back(
            &point,
            &|x| {
                let (mut z, mut cost) = (x[0], None);
                for force in &forces {
                    z = stepper.step(z, z.tape().constant(&shape[..], force));
                    let term = z.square().mean_keeping(1) * (weight / forces.len() as f64) as Real;
                    cost = Some(cost.map_or(term, |cost| cost + term));
                }
                cost.expect("ticks")
            },
            Some(&vec![1.0; batch]),
        );
        let off = difference(&bars[0], &self.real("grad/z0"));
        assert!(off < limit, "gradient off by {off:.1e}");
    }
}
