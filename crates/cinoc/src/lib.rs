//! Learned control of partial differential equations by swarms of any size.
//!
//! ```text
//! config (TOML) ──► Problem { stepper, swarm, task } + Policy + Params
//! Task::sample  ──► Instance (start, target)
//! tick: observe → act → limit → actuate → step → move → cost      the only copy: training, evaluation and drawing call it
//! Rollout: ticks in segments, backward per segment
//! Trainer: shards of instances on threads, summed in a fixed order; clip → Adam → checkpoint
//! evaluate: other numbers of agents, failures ──► scores
//! ```
//!
//! The agents are put together in [`agents`] from parts that do not know of one another: [`place`], [`sense`], [`limit`], [`actuate`]. Agents, `task`
//! and `policy` do not know of one another either; only [`rollout`] sees all three; only [`run`] touches the disk.

pub mod actuate;
pub mod agents;
pub mod config;
pub mod evaluate;
pub mod geometry;
pub mod inspect;
pub mod limit;
pub mod measure;
pub mod place;
pub mod policy;
pub mod pool;
pub mod problem;
pub mod random;
pub mod rollout;
pub mod run;
pub mod scaling;
pub mod sense;
pub mod task;
pub mod train;

mod error;
mod vector;

pub use cinoc_tape::Real;
pub use config::Config;
pub use error::Error;
pub use problem::Problem;
