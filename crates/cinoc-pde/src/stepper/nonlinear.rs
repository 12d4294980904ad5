//! Trait of fast nonlinear terms.

use crate::Real;
use crate::calculus::Layout;

/// A nonlinear term N(z) on packed spectra ([`Layout`]), with a hand-written derivative.
///
/// An optimisation of [`super::Spectral::nonlinear`], which defines the result.
pub trait Nonlinear: Send + Sync {
    /// Packing of the spectra.
    fn layout(&self) -> &dyn Layout;

    /// Count of numbers saved by [`prepare`](Self::prepare).
    fn kept(&self) -> usize;

    /// Length of the working space of each method.
    fn work(&self) -> usize;

    /// First half of N(z): computes the values in space that the second half and the derivative need.
    fn prepare(&self, z_hat: &[Real], kept: &mut [Real], work: &mut [Real]);

    /// Returns true if [`prepare`](Self::prepare) computes the fields themselves, in columns, as
    /// [`columns`](Self::columns) then does too.
    fn keeps_fields(&self) -> bool {
        false
    }

    /// Computes the result of [`prepare`](Self::prepare) from the fields without a transform, if it
    /// [keeps them](Self::keeps_fields).
    fn columns(&self, _fields: &[Real], _kept: &mut [Real], _work: &mut [Real]) {
        unreachable!("this term does not keep the fields")
    }

    /// Sets `z_hat` to the spectra of fields, and `kept` to the result of [`prepare`](Self::prepare).
    fn begin(&self, fields: &[Real], z_hat: &mut [Real], kept: &mut [Real], work: &mut [Real]) {
        self.layout().load(fields, z_hat, work);
        self.prepare(z_hat, kept, work);
    }

    /// Second half of N(z): computes the spectrum of N(z) + f.
    fn finish(&self, kept: &[Real], f_hat: &[Real], rate_hat: &mut [Real], work: &mut [Real]);

    /// Computes `z_bar = (∂N/∂z)ᵀ rate_bar`; cotangents are spectra of the cotangents of fields. `rate_bar` is
    /// overwritten.
    fn vjp(&self, kept: &[Real], rate_bar: &mut [Real], z_bar: &mut [Real], work: &mut [Real]);

    /// Speed of the fastest wave or flow, in cells per unit of time.
    fn speed(&self, _kept: &[Real]) -> Real {
        0.0
    }
}
