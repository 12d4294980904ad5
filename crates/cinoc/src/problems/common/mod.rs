//! Settings and parts shared by several problems.

mod agents;
mod line;
mod plane;
mod rest;
mod robust;

pub use agents::{Mobile, Static, crowd};
pub use line::{LineDomain, tune_line, tune_tracking};
pub use plane::{Heat2dPhysics, HeatPlane};
pub use rest::{PlaneStates, Rest, States, calm, nodes_fit, rest_needs_no_view, states_fit, tori};
pub use robust::{RANGE, Variation, harden};

use crate::Error;
use crate::problem::Sweep;

/// Diffusivities in studies of the heat equations, which are trained with 0.2.
pub const DIFFUSIVITIES: &[Sweep] =
    &[Sweep { key: "physics.nu", symbol: "ν", believed: Some("observe.believed_nu"), values: &[0.05, 0.1, 0.2, 0.4, 0.8] }];

/// Rejects a window wider than the domain, which would show parts of it repeatedly.
pub fn window_fits(window: f64, length: f64) -> Result<(), Error> {
    if window <= length {
        return Ok(());
    }
    Err(Error::bad("observe.window", window.to_string(), format!("at most the length of the domain, {length}")))
}
