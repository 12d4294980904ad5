//! A custom equation, written with differentiable operations.
//!
//! Allen–Cahn on a ring, `z_t = ε z_xx + z − z³ + f`, by explicit Euler. Run it with
//! `cargo run --release -p cinoc-pde --example own_equation`.

use cinoc_pde::{Grid, Real, Stepper};
use cinoc_tape::check::{Point, compare, noise};
use cinoc_tape::{Arena, Shape, Tape, Var};
use std::sync::Arc;

struct AllenCahn {
    grid: Grid,
    epsilon: Real,
    dt: Real,
    left: Arc<[u32]>,
    right: Arc<[u32]>,
}

impl AllenCahn {
    fn new(nodes: usize, epsilon: Real, dt: Real) -> Self {
        let n = nodes as u32;
        Self {
            grid: Grid::periodic(nodes, 1.0),
            epsilon,
            dt,
            left: (0..n).map(|i| (i + n - 1) % n).collect(),
            right: (0..n).map(|i| (i + 1) % n).collect(),
        }
    }
}

impl Stepper for AllenCahn {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dt(&self) -> Real {
        self.dt
    }

    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        let rate = self.epsilon / (self.grid.spacing(0) as Real).powi(2);
        let diffusion = (z.gather(&self.left) + z.gather(&self.right) - 2.0 * z) * rate;
        z + (diffusion + z - z * z.square() + force) * self.dt
    }
}

fn main() {
    let equation = AllenCahn::new(64, 2e-4, 1e-2);
    let mut z = noise(64, 1);
    let mut memory = Arena::default();
    for _ in 0..2000 {
        let tape = Tape::new(memory, &[]);
        z = equation.step(tape.constant([1, 64], &z), tape.zeros([1, 64])).value();
        memory = tape.into_arena();
    }
    let settled = z.iter().filter(|z| z.abs() > 0.9).count();
    println!("after 20 time units {settled} of 64 nodes are within 0.1 of one of the two phases");
    assert!(settled > 40);

    let point: Point = vec![(Shape::new(&[1, 64]), z), (Shape::new(&[1, 64]), noise(64, 2))];
    let found = compare(&point, &|x| equation.step(x[0], x[1]), 1e-3, 1);
    println!("its derivative, obtained automatically, agrees with central differences to {:.0e}", found.error);
    assert!(found.error < 1e-2);
}
