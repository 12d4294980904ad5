//! A problem, a task and a policy of one's own; `docs/own-problem.md` walks through the files.

mod equation;
mod policy;
mod problem;
mod task;

/// What comes with CINOC, and what this crate adds.
pub fn registry() -> cinoc::Registry {
    cinoc::Registry::builtin().problem::<problem::Phases>().policy::<policy::LinearIntegral>()
}
