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
use cinoc_tape::{Shape, Var};

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
    /// Grid of each field.
    fn grid(&self) -> &Grid;

    /// Number of fields of the state: one after another along its first axis.
    #[doc(hidden)]
    fn fields(&self) -> usize {
        1
    }

    /// Count of numbers of the state.
    #[doc(hidden)]
    fn state_count(&self) -> usize {
        self.fields() * self.grid().count()
    }

    /// Axes of the state in arrays and files: the nodes along each axis, behind the number of fields if there are several.
    #[doc(hidden)]
    fn state_axes(&self) -> Vec<usize> {
        let several = (self.fields() > 1).then(|| self.fields());
        several.into_iter().chain(self.grid().nodes.iter().copied()).collect()
    }

    /// Shape of a batch of states on a tape.
    #[doc(hidden)]
    fn state(&self, batch: usize) -> Shape {
        let nodes = &self.grid().nodes;
        let mut state = [batch; Shape::AXES];
        state[1..=nodes.len()].copy_from_slice(nodes);
        state[1] *= self.fields();
        Shape::new(&state[..=nodes.len()])
    }

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
    /// `z` and the result are `[batch, nodes...]`, several fields one after another along the first of these axes. `force`
    /// is `[batch, nodes...]`; for equations driven by a flow it has one plane per component, `[batch, d, nodes...]`.
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
