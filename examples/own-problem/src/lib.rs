//! A custom problem, task and policy; `docs/guide/extending.md` walks through the files.

mod policy;
mod problem;
mod task;

/// Returns the registry of CINOC with the problem and the policy of this crate.
pub fn registry() -> cinoc::Registry {
    cinoc::Registry::builtin().problem::<problem::Phases>().policy::<policy::LinearIntegral>()
}
