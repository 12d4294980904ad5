//! Differentiable calculus in Fourier space.

use super::{Symbol, ToSpectrum, ToValues, Transform};

use crate::{Grid, Real};
use cinoc_tape::Var;
use std::sync::Arc;

/// Transforms, derivatives and products of periodic fields, for the nonlinear terms of spectral equations.
///
/// ```
/// use cinoc_pde::Grid;
/// use cinoc_pde::calculus::Fourier;
/// use cinoc_tape::{Arena, Tape};
///
/// // The derivative of sin x is cos x.
/// let grid = Grid::periodic(16, std::f64::consts::TAU as _);
/// let fourier = Fourier::new(&grid);
/// let tape = Tape::new(Arena::default(), &[]);
/// let sine: Vec<_> = grid.positions(0).iter().map(|x| x.sin() as _).collect();
/// let z = tape.constant([1, 16], &sine);
/// let slope = fourier.inverse(fourier.derivative(fourier.forward(z), 0)).value();
/// assert!((slope[0] - 1.0).abs() < 1e-5);
/// ```
///
/// Spectra are those of NumPy's `rfft` and `rfft2`: `[batch, (nx,) ny/2+1, 2]`, real and imaginary parts last.
#[derive(Debug)]
pub struct Fourier {
    modes: Vec<Vec<i64>>,
    nodes: Vec<usize>,
    wavenumbers: Vec<Vec<f64>>,
    to_spectrum: Arc<ToSpectrum>,
    to_values: Arc<ToValues>,
    derivatives: Vec<Arc<Symbol>>,
    two_thirds: Arc<Symbol>,
    without_mean: Arc<Symbol>,
    padded: Option<(Arc<ToValues>, Arc<ToSpectrum>)>,
}

impl Fourier {
    /// Creates the calculus of a grid.
    ///
    /// # Panics
    /// On grids with walls, with other than one or two dimensions, or with an odd number of nodes along an axis.
    pub fn new(grid: &Grid) -> Self {
        let transform = Transform::new(grid);
        let modes = modes(&grid.nodes);
        let scale = grid.wavenumber_units();
        let wavenumbers = modes.iter().map(|j| j.iter().zip(&scale).map(|(&j, s)| j as f64 * s).collect()).collect();
        let inside = |j: i64, axis: usize, times: usize| (times as i64 * j).unsigned_abs() < grid.nodes[axis] as u64;
        let derivative = |axis: usize| {
            let symbol = |j: &Vec<i64>| if inside(j[axis], axis, 2) { (j[axis] as f64 * scale[axis]) as Real } else { 0.0 };
            Arc::new(Symbol::imaginary(modes.iter().map(symbol).collect()))
        };
        let kept = |j: &Vec<i64>| (0..j.len()).all(|axis| inside(j[axis], axis, 3));
        let four = grid.nodes.iter().all(|n| n.is_multiple_of(4));
        Self {
            derivatives: (0..grid.dimensions()).map(derivative).collect(),
            two_thirds: Arc::new(Symbol::real(modes.iter().map(|j| kept(j) as u8 as Real).collect())),
            without_mean: Arc::new(Symbol::real(modes.iter().map(|j| j.iter().any(|&j| j != 0) as u8 as Real).collect())),
            padded: four.then(|| {
                let padded = Transform::padded(grid);
                (Arc::new(ToValues(padded.clone())), Arc::new(ToSpectrum(padded)))
            }),
            to_spectrum: Arc::new(ToSpectrum(transform.clone())),
            to_values: Arc::new(ToValues(transform)),
            nodes: grid.nodes.clone(),
            modes,
            wavenumbers,
        }
    }

    /// Wavenumbers of each mode along each axis.
    pub fn wavenumbers(&self) -> &[Vec<f64>] {
        &self.wavenumbers
    }

    /// Creates a real symbol `σ(k)`, a function of the wavenumber along each axis.
    pub fn symbol(&self, sigma: impl Fn(&[f64]) -> f64) -> Arc<Symbol> {
        Arc::new(Symbol::real(self.wavenumbers.iter().map(|k| sigma(k) as Real).collect()))
    }

    /// Creates an imaginary symbol `i·σ(k)`, zero at the Nyquist modes of any axis, where an odd function has no real
    /// meaning.
    pub fn odd_symbol(&self, sigma: impl Fn(&[f64]) -> f64) -> Arc<Symbol> {
        let nyquist = |j: &[i64]| j.iter().zip(&self.nodes).any(|(j, &n)| 2 * j.unsigned_abs() == n as u64);
        let each = self.modes.iter().zip(&self.wavenumbers);
        Arc::new(Symbol::imaginary(each.map(|(j, k)| if nyquist(j) { 0.0 } else { sigma(k) as Real }).collect()))
    }

    /// Returns the spectrum of a field.
    pub fn forward<'t>(&self, z: Var<'t>) -> Var<'t> {
        z.apply(&self.to_spectrum)
    }

    /// Returns the field of a spectrum.
    pub fn inverse<'t>(&self, z_hat: Var<'t>) -> Var<'t> {
        z_hat.apply(&self.to_values)
    }

    /// Computes `∂z/∂x` along an axis; the Nyquist mode of that axis is dropped.
    pub fn derivative<'t>(&self, z_hat: Var<'t>, axis: usize) -> Var<'t> {
        z_hat.apply(&self.derivatives[axis])
    }

    /// Drops the modes with 3|j| ≥ N along any axis (2/3 rule). The product of two such fields, computed on the grid
    /// and truncated likewise, is free of aliasing.
    pub fn dealias<'t>(&self, z_hat: Var<'t>) -> Var<'t> {
        z_hat.apply(&self.two_thirds)
    }

    /// Drops the mean of the field.
    pub fn remove_mean<'t>(&self, z_hat: Var<'t>) -> Var<'t> {
        z_hat.apply(&self.without_mean)
    }

    /// Returns the values on a grid with 3/2 of the nodes along each axis, for products by the 3/2 rule. Nyquist modes
    /// are dropped.
    ///
    /// # Panics
    /// Unless 4 divides the number of nodes.
    pub fn fine<'t>(&self, z_hat: Var<'t>) -> Var<'t> {
        z_hat.apply(&self.padding().0)
    }

    /// Returns the spectrum on the coarse grid of values on the fine grid. Nyquist modes are dropped.
    ///
    /// # Panics
    /// Unless 4 divides the number of nodes.
    pub fn coarse<'t>(&self, values: Var<'t>) -> Var<'t> {
        values.apply(&self.padding().1)
    }

    fn padding(&self) -> &(Arc<ToValues>, Arc<ToSpectrum>) {
        self.padded.as_ref().unwrap_or_else(|| panic!("the 3/2 rule needs numbers of nodes that 4 divides, not {:?}", self.nodes))
    }

    /// Returns the spectrum of a product by the 2/3 rule: factors and result are truncated.
    pub fn product<'t>(&self, a_hat: Var<'t>, b_hat: Var<'t>) -> Var<'t> {
        self.dealias(self.forward(self.inverse(self.dealias(a_hat)) * self.inverse(self.dealias(b_hat))))
    }
}

/// Signed mode numbers of the half spectrum, last axis fastest; Nyquist modes are positive along the last axis,
/// negative along the first.
fn modes(nodes: &[usize]) -> Vec<Vec<i64>> {
    let signed = |j: usize, n: usize| if 2 * j < n { j as i64 } else { j as i64 - n as i64 };
    match *nodes {
        [n] => (0..=n / 2).map(|j| vec![j as i64]).collect(),
        [n, m] => (0..n).flat_map(|i| (0..=m / 2).map(move |j| vec![signed(i, n), j as i64])).collect(),
        _ => unreachable!("`Transform` has refused grids of {} dimensions", nodes.len()),
    }
}
