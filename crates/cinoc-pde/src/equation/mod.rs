//! Equations.

mod fisher_kpp;
mod heat;
mod heat2d;
mod kuramoto_sivashinsky1d;
mod kuramoto_sivashinsky2d;
mod transport2d;
mod vorticity2d;

pub use fisher_kpp::FisherKpp;
pub use heat::Heat1d;
pub use heat2d::Heat2d;
pub use kuramoto_sivashinsky1d::KuramotoSivashinsky1d;
pub use kuramoto_sivashinsky2d::KuramotoSivashinsky2d;
pub use transport2d::Transport2d;
pub use vorticity2d::Vorticity2d;

use crate::{Grid, Real};
use cinoc_tape::Var;

/// An equation with its time step.
///
/// Implementations written with [`Var`] operations are differentiable without further code:
///
/// ```
/// use cinoc_pde::{Grid, Real, Stepper};
/// use cinoc_tape::check::{assert_derivative, noise};
/// use cinoc_tape::Var;
///
/// /// `z_t = −z³ + f` at each node, by explicit Euler.
/// struct Decay(Grid);
///
/// impl Stepper for Decay {
///     fn grid(&self) -> &Grid {
///         &self.0
///     }
///
///     fn dt(&self) -> Real {
///         0.1
///     }
///
///     fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
///         z + (force - z * z.square()) * self.dt()
///     }
/// }
///
/// let decay = Decay(Grid::periodic(4, 1.0));
/// assert_derivative(&[(&[1, 4], &noise(4, 1)), (&[1, 4], &noise(4, 2))], |x| decay.step(x[0], x[1]));
/// ```
pub trait Stepper: Send + Sync {
    /// Grid of the field.
    fn grid(&self) -> &Grid;

    /// Time advanced by one [`step`](Self::step), including all substeps.
    fn dt(&self) -> Real;

    /// Substeps of one [`step`](Self::step), for estimates of work; 1 if there are none or their number varies.
    fn substeps(&self) -> usize {
        1
    }

    /// Approximate count of numbers stored by a recorded step, per field and once per batch, for estimates of memory.
    fn workspace(&self) -> [usize; 2] {
        [4 * self.grid().count(), 8 * self.grid().count()]
    }

    /// Advances the field by one step under a constant force.
    ///
    /// # Shapes
    /// `z` and the result are `[batch, nodes...]`. `force` has the shape of `z`; for equations driven by a flow it has
    /// one plane per component, `[batch, d, nodes...]`.
    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t>;

    /// Returns true if the equation depends on time.
    fn timed(&self) -> bool {
        false
    }

    /// The same for equations that depend on time; `now`: number of steps made, `[batch]`.
    fn step_at<'t>(&self, z: Var<'t>, force: Var<'t>, now: Option<Var<'t>>) -> Var<'t> {
        let _ = now;
        self.step(z, force)
    }
}
