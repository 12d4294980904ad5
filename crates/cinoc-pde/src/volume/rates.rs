//! Largest explicit steps.

use super::Mesh;

/// Largest coefficients of explicit terms; zero for those that are absent or implicit.
///
/// ```
/// use cinoc_pde::volume::{Mesh, Rates, Side};
///
/// let ring = Mesh::new(&[100], &[1.0], vec![[Side::Periodic, Side::Periodic]]);
/// let rates = Rates { speed: [2.0, 0.0, 0.0], ..Rates::default() };
/// assert_eq!((rates.tick(&ring), rates.substeps(&ring, 0.01)), (0.0025, 4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Largest `k` in `div(k grad z)`.
    pub diffusion: f64,
    /// Largest component of the velocity along each axis.
    pub speed: [f64; 3],
    /// Largest `σ` in `−σ·z`.
    pub decay: f64,
    /// Largest `c` in `−c·lap(lap z)`.
    pub fourth: f64,
}

impl Rates {
    /// Largest explicit Euler step that creates no new extrema; with a term of fourth order, that is stable. Infinite if
    /// all rates are zero.
    pub fn tick(&self, mesh: &Mesh) -> f64 {
        let mut laplacian = 0.0;
        let mut rate = self.decay;
        for axis in 0..mesh.dimensions() {
            let dx = mesh.spacing(axis);
            // A given value on a side is half a cell away. Extrapolation doubles what leaves a cell.
            rate += (if mesh.is_periodic(axis) { 2.0 } else { 3.0 }) * self.diffusion / dx.powi(2) + 2.0 * self.speed[axis] / dx;
            laplacian += 4.0 / dx.powi(2);
        }
        1.0 / (rate + 0.5 * self.fourth * laplacian * laplacian)
    }

    /// Number of explicit steps into which a tick is divided.
    ///
    /// # Panics
    /// With rates that are not finite.
    pub fn substeps(&self, mesh: &Mesh, tick: f64) -> usize {
        let steps = tick / self.tick(mesh);
        assert!(steps.is_finite(), "explicit terms need finite coefficients, not {self:?}");
        // A tick of exactly the largest step is one step.
        ((steps * (1.0 - 1e-9)).ceil() as usize).max(1)
    }
}
