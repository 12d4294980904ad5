//! Learned controllers for partial differential equations when the actuators are a swarm of any size.
//!
//! One small network is shared by all agents. Each agent observes the field around it and answers with an actuation
//! and, if it can move, a velocity; training backpropagates through the differentiable solver.
//!
//! ```
//! let problem = cinoc::problem("heat1d")?.with(&["physics.ticks=60"])?;
//! let policy = cinoc::pretrained("heat1d")?;
//!
//! // Score the policy with twice the agents it was trained with.
//! let report = problem.evaluate(&policy).agents(16).instances(4).run()?;
//! assert!(report.ratio < 0.1);
//!
//! // Step a batch of four episodes with actions of your own.
//! let mut env = problem.env(4)?;
//! let actions = vec![0.0; env.action_len()];
//! let step = env.step(&actions);
//! assert!(!step.done[0]);
//! # Ok::<(), cinoc::Error>(())
//! ```
//!
//! Training writes a run folder with checkpoints:
//!
//! ```no_run
//! let policy = cinoc::problem("heat1d")?.train().updates(200).run("runs/mine")?;
//! # Ok::<(), cinoc::Error>(())
//! ```
//!
//! # Where to look
//!
//! | to | see |
//! |---|---|
//! | evaluate, step or train a shipped problem | [`problem()`], [`Scenario`] |
//! | step episodes with your own actions | [`env`](mod@env) |
//! | differentiate through an episode | [`rollout`] |
//! | write a problem, a task or a policy | [`prelude`], [`problem`](mod@problem), [`task`], [`policy`] |
//! | put agents together: sensors, limits, actuators | [`swarm`] |
//! | export one agent's controller as C or ONNX | [`export`] |
//!
//! Studies, optimal control, stability analysis and scaling are in the crate `cinoc-lab`, the command line in
//! `cinoc-cli`. `cinoc-f64` is this crate in double precision.

// Macros of this crate refer to it by the name that dependants use.
extern crate self as cinoc;

#[doc(hidden)]
pub use serde;

pub mod env;
pub mod evaluate;
pub mod export;
pub mod policy;
pub mod prelude;
pub mod problem;
pub mod rollout;
pub mod run;
pub mod settings;
pub mod swarm;
pub mod task;
pub mod train;

mod actuate;
mod agents;
mod attractor;
mod budget;
mod disk;
mod error;
mod file;
mod geometry;
mod library;
mod limit;
mod measure;
mod number;
mod place;
mod problems;
mod random;
mod ranks;
mod recipe;
mod registry;
mod scenario;
mod sense;
mod threads;
mod trace;
mod vary;
mod vector;

pub use cinoc_pde as pde;
pub use cinoc_tape as tape;
pub use cinoc_tape::Real;
pub use error::Error;
pub use problem::Problem;
pub use registry::Registry;
pub use scenario::{Evaluation, Scenario, Training, pretrained, problem};
pub use settings::Config;
pub use threads::Threads;

/// Items for the other crates of this workspace, which are released together with this one. No stability is promised.
#[doc(hidden)]
pub mod internal {
    pub use crate::error::{shortened, shown};

    /// Re-exports the public items of private modules under their names.
    macro_rules! modules {
        ($($name:ident)*) => {
            $(pub mod $name {
                pub use crate::$name::*;
            })*
        };
    }

    modules! {
        actuate agents attractor budget disk geometry library limit measure number place problems random ranks recipe registry
        sense threads trace
    }

    pub mod rollout {
        pub use crate::rollout::recorder::*;
    }
}
