//! Imports for custom problems, tasks and policies: `use cinoc::prelude::*;`.

pub use crate::actuate::{Actuate, Kernel, Push};
pub use crate::agents::{Advance, Swarm};
pub use crate::limit::{EachLimit, Limit};
pub use crate::place::{CellCentres, Place};
pub use crate::policy::{Context, Decision, Plant, Policy, PolicyDefinition, PolicyInputs};
pub use crate::problem::{Definition, Explanation, Preset, Problem};
pub use crate::problems::{Mobile, Static, window_fits};
pub use crate::random::{Rng, Split};
pub use crate::recipe::{Recipe, Schedule, Train};
pub use crate::sense::{Features, Observation, Sense, Sight, Window};
pub use crate::task::{Instance, PlotLabels, Status, Task, Transition, mean_square};
pub use crate::{Error, Real, Registry, settings, words};
pub use cinoc_pde::calculus::Fourier;
pub use cinoc_pde::stepper::{CrankNicolsonEuler, Etdrk4, Rk4, Spectral, SpectralStepper, Substeps};
pub use cinoc_pde::{Grid, Stepper};
pub use cinoc_tape::{Leaves, Op, Params, Shape, Tape, Var};
