//! Finite volumes: diffusion, transport and decay with maps as coefficients on intervals, rectangles and boxes.
//!
//! - [`Mesh`]: equal cells, with a [`Side`] at both ends of each axis and solid cells.
//! - [`Volume`]: the operators of a mesh, each with derivatives with respect to all of its inputs.
//! - [`Linear`]: linear terms with an implicit step, of first or second order ([`Order`]); of several fields
//!   [together](step_together).
//! - [`Rates`]: the largest step of explicit terms.
//!
//! Heat through a wall of two layers into a room: inside 20 °C is given, outside air at −5 °C takes heat by an exchange.
//! After two days the profile is that of three resistances in series, two layers and the air.
//!
//! ```
//! use cinoc_pde::Real;
//! use cinoc_pde::volume::{Mesh, Order, Side, Volume};
//! use cinoc_tape::{Arena, Tape};
//!
//! // 10 cm of insulation (k = 0.05) and 20 cm of brick (k = 0.8 W/mK), h = 25 W/m²K; 1 MJ/m³K in both.
//! let wall = Mesh::new(&[30], &[0.3], vec![[Side::Value, Side::exchange(25.0 / 1e6)]]);
//! let k: Vec<Real> = wall.positions(0).iter().map(|x| if *x < 0.1 { 0.05e-6 } else { 0.8e-6 }).collect();
//! let volume = Volume::new(wall);
//! let linear = volume.linear(3600.0, Order::Second, false);
//!
//! let tape = Tape::new(Arena::default(), &[]);
//! let (k, none) = (tape.constant([1, 30], &k), tape.zeros([1]));
//! let outside = tape.constant([1, 2], &[20.0, -5.0]);
//! let system = linear.factor(k, none, none);
//! let mut z = tape.zeros([1, 30]);
//! for _ in 0..480 {
//!     z = system.step(z, outside, |z| z.tape().zeros([1, 30]));
//! }
//!
//! let flux = 25.0 / (0.1 / 0.05 + 0.2 / 0.8 + 1.0 / 25.0);
//! let middle = 20.0 - flux * 0.1 / 0.05;
//! let z = z.value();
//! assert!((0.5 * (z[9] + z[10]) as f64 - middle).abs() < 1.5, "between the layers: {middle:.1} °C");
//! assert!((z[29] as f64 - (-5.0 + flux * (1.0 / 25.0 + 0.005 / 0.8))).abs() < 1e-3, "at the outer surface");
//! ```

mod band;
mod conductance;
mod diffusion;
mod gradient;
mod implicit;
mod laplacian;
mod linear;
mod lines;
mod matrix;
mod mesh;
mod multigrid;
#[cfg(test)]
mod plain;
mod rates;
mod solver;
mod spread;
mod stencil;
mod transport;
mod upwind;

pub use linear::{Linear, Order, System, step_together};
pub use mesh::{Mesh, Side};
pub use rates::Rates;

use cinoc_tape::Var;
use diffusion::Diffusion;
use gradient::Gradient;
use laplacian::Laplacian;
use std::sync::Arc;
use transport::Transport;

/// Operators of a mesh.
///
/// # Shapes
/// A field is `[batch, cells…]`. Other inputs are numbers or maps, for all instances or one for each: `[1]`, `[batch]`,
/// `[1, cells…]` or `[batch, cells…]`. For `outside`, the numbers of the sides, a map has one number per face,
/// `[1, faces]` or `[batch, faces]` ([`Mesh::side`]).
#[derive(Clone, Debug)]
pub struct Volume {
    mesh: Arc<Mesh>,
    diffusion: Arc<Diffusion>,
    laplacian: Arc<Laplacian>,
    gradients: Vec<Arc<Gradient>>,
    transport: Arc<Transport>,
    advection: Arc<Transport>,
}

impl Volume {
    /// Creates the operators.
    pub fn new(mesh: Mesh) -> Self {
        let mesh = Arc::new(mesh);
        let transport = |conservative| Arc::new(Transport { mesh: mesh.clone(), conservative });
        Self {
            diffusion: Arc::new(Diffusion { mesh: mesh.clone() }),
            laplacian: Arc::new(Laplacian::new(&mesh)),
            gradients: (0..mesh.dimensions()).map(|axis| Arc::new(Gradient::new(&mesh, axis))).collect(),
            transport: transport(true),
            advection: transport(false),
            mesh,
        }
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// `div(k grad z)`. Of two layers the flux is exact, however much `k` jumps.
    pub fn diffusion<'t>(&self, z: Var<'t>, k: Var<'t>, outside: Var<'t>) -> Var<'t> {
        z.tape().record(&self.diffusion, [z, k, outside])
    }

    /// `lap z`.
    pub fn laplacian<'t>(&self, z: Var<'t>, outside: Var<'t>) -> Var<'t> {
        z.tape().record(&self.laplacian, [z, outside])
    }

    /// `∂z/∂x` along an axis; `outside` is read on sides of kind [`Side::Value`] only.
    pub fn gradient<'t>(&self, axis: usize, z: Var<'t>, outside: Var<'t>) -> Var<'t> {
        z.tape().record(&self.gradients[axis], [z, outside])
    }

    /// `div(v z)` with one velocity component per axis.
    pub fn transport<'t>(&self, z: Var<'t>, velocity: &[Var<'t>], outside: Var<'t>) -> Var<'t> {
        record(&self.transport, z, velocity, outside)
    }

    /// `v·grad z` with one velocity component per axis.
    pub fn advection<'t>(&self, z: Var<'t>, velocity: &[Var<'t>], outside: Var<'t>) -> Var<'t> {
        record(&self.advection, z, velocity, outside)
    }

    /// Creates implicit steps of length `tick`, with a term of fourth order or without.
    pub fn linear(&self, tick: f64, order: Order, fourth: bool) -> Linear {
        Linear::new(&self.mesh, tick, order, fourth)
    }
}

fn record<'t>(op: &Arc<Transport>, z: Var<'t>, velocity: &[Var<'t>], outside: Var<'t>) -> Var<'t> {
    match *velocity {
        [x] => z.tape().record(op, [z, outside, x]),
        [x, y] => z.tape().record(op, [z, outside, x, y]),
        [x, y, w] => z.tape().record(op, [z, outside, x, y, w]),
        _ => panic!("a velocity has one to three components, not {}", velocity.len()),
    }
}
