//! Learned control of partial differential equations by swarms of any size.
//!
//! ```text
//! Registry::config ──► Config ──► Problem { stepper, swarm, task } + Policy + Params
//! Task::sample     ──► Instance (start, target)
//! tick: observe → act → limits → safety → actuate → step → move → cost     the only copy: everything that controls a field calls it
//! Rollout: ticks with their backward sweep
//! Trainer: shards of instances on threads, summed in a fixed order; clip → Adam → validate
//! evaluate: other numbers of agents, failures ──► scores
//! ```

// The macros name this crate as others do.
extern crate self as cinoc;

#[doc(hidden)]
pub use serde;

pub mod actuate;
pub mod agents;
pub mod attractor;
pub mod certificate;
pub mod disk;
pub mod env;
pub mod evaluate;
pub mod export;
pub mod geometry;
pub mod inspect;
pub mod library;
pub mod limit;
pub mod measure;
pub mod memory;
pub mod number;
pub mod optimum;
pub mod place;
pub mod policy;
pub mod prelude;
pub mod problem;
pub mod problems;
pub mod random;
pub mod ranks;
pub mod recipe;
pub mod registry;
pub mod rollout;
pub mod run;
pub mod scaling;
pub mod sense;
pub mod settings;
pub mod study;
pub mod task;
pub mod threads;
pub mod trace;
pub mod train;

mod error;
mod vector;

pub use cinoc_pde as pde;
pub use cinoc_tape as tape;
pub use cinoc_tape::Real;
pub use error::{Error, shortened};
pub use problem::Problem;
pub use registry::Registry;
pub use settings::Config;
