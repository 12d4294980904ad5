//! What an equation may offer to be stepped fast.

use crate::Real;
use crate::calculus::Layout;

/// A nonlinear term N(z) on packed spectra ([`Layout`]), with its derivative written by hand.
///
/// An optimisation: the same term written with plain operations ([`super::Spectral::nonlinear`]) says what it must compute.
pub trait Nonlinear: Send + Sync {
    /// How spectra are packed.
    fn layout(&self) -> &dyn Layout;

    /// How many numbers [`prepare`](Self::prepare) keeps.
    fn kept(&self) -> usize;

    /// How many numbers of working space each method needs.
    fn work(&self) -> usize;

    /// The first half of N(z): the values in space from which the second half and the derivative follow.
    fn prepare(&self, z_hat: &[Real], kept: &mut [Real], work: &mut [Real]);

    /// Whether what [`prepare`](Self::prepare) gives are the fields themselves, in columns: then [`columns`](Self::columns) gives it too.
    fn keeps_fields(&self) -> bool {
        false
    }

    /// What [`prepare`](Self::prepare) gives, without a transform, from the fields; only where it [keeps them](Self::keeps_fields).
    fn columns(&self, _fields: &[Real], _kept: &mut [Real], _work: &mut [Real]) {
        unreachable!("this term does not keep the fields")
    }

    /// Sets `z_hat` to the spectra of fields, and `kept` to what [`prepare`](Self::prepare) gives.
    fn begin(&self, fields: &[Real], z_hat: &mut [Real], kept: &mut [Real], work: &mut [Real]) {
        self.layout().load(fields, z_hat, work);
        self.prepare(z_hat, kept, work);
    }

    /// The second half: the spectrum of N(z) + f.
    fn finish(&self, kept: &[Real], f_hat: &[Real], rate_hat: &mut [Real], work: &mut [Real]);

    /// `z_bar = (∂N/∂z)ᵀ rate_bar`; cotangents are spectra of the cotangents of fields. `rate_bar` is used up.
    fn vjp(&self, kept: &[Real], rate_bar: &mut [Real], z_bar: &mut [Real], work: &mut [Real]);

    /// Cells per unit of time that the fastest wave or flow crosses.
    fn speed(&self, _kept: &[Real]) -> Real {
        0.0
    }
}
