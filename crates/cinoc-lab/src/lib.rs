//! Analysis of learned swarm controllers: studies, optimal control, linear stability analysis, scaling, checks of
//! derivatives. The command line of CINOC calls them (`cinoc study`, `optimum`, `stability`, `scale`, `check`).
//!
//! ```
//! use cinoc::{Registry, Threads};
//! use cinoc_lab::study::{self, Bench, Case, UncontrolledScores};
//!
//! // Relative error of the shipped heat1d policy if half of its agents fail from the start, in short episodes.
//! let (registry, model) = (Registry::builtin(), cinoc::pretrained("heat1d")?);
//! let (threads, uncontrolled) = (Threads::single(), UncontrolledScores::default());
//! let (registry, model, threads, uncontrolled) = (&registry, &model, &threads, &uncontrolled);
//! let bench = Bench { registry, model, seed: 0, instances: Some(2), threads, uncontrolled };
//! let case = Case { fail: 0.5, used: vec!["physics.ticks=60".into()], ..Case::default() };
//! let rows = study::score(&bench, &case)?;
//! assert!(rows[0].value < 1.0);
//! # Ok::<(), cinoc::Error>(())
//! ```
//!
//! | to | see |
//! |---|---|
//! | vary one quantity: agents, failures, noise, delay, physics, … | [`study`] |
//! | find optimal actions, or control by a receding horizon | [`optimum`] |
//! | compute growth rates of the closed loop | [`stability`] |
//! | design a linear-quadratic regulator | [`classical`] |
//! | time ticks against the number of agents and nodes | [`scaling`] |
//! | check derivatives, memory and speed of a problem | [`inspect`] |

pub mod classical;
pub mod convergence;
pub mod inspect;
pub mod optimum;
pub mod scaling;
pub mod stability;
pub mod study;
