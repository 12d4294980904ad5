//! Policies: shipped ones, from files and from run folders.

use crate::border::{CinocCode, Object, close, guard_on, numbers, open, output, room, settings, state, text};
use cinoc::export::Program;
use cinoc::internal::library;
use cinoc::policy::Policy;
use cinoc::run::Model;
use cinoc::{Problem, Real, Registry};
use std::ffi::c_char;
use std::sync::Arc;

/// A trained policy and the problem that it was trained on.
pub struct CinocPolicy {
    pub(crate) model: Model,
    pub(crate) problem: Arc<Problem>,
    pub(crate) policy: Box<dyn Policy>,
    program: Program,
    broken: bool,
}

impl Object for CinocPolicy {
    const NAME: &'static str = "policy";

    fn broken(&mut self) -> &mut bool {
        &mut self.broken
    }
}

/// Numbers of inputs and outputs of a policy, for one agent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CinocPolicySizes {
    /// Readings of an agent's sensors.
    pub readings: usize,
    /// Numbers that an agent keeps from tick to tick: the memory of the network, then the last valid reading of each
    /// sensor.
    pub memory: usize,
    /// Numbers of an action.
    pub actions: usize,
}

/// Opens a model: the name of a shipped one (heat1d), a .safetensors file, or a run folder. `changes` are settings of
/// its problem to change, one `key=value` per line, or NULL. `*policy` is NULL after a failure.
///
/// # Safety
/// Strings end with a zero; `policy` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_policy_open(
    model: *const c_char,
    changes: *const c_char,
    policy: *mut *mut CinocPolicy,
) -> CinocCode {
    // SAFETY: `policy` points to a pointer, by the contract of this function.
    unsafe {
        open(policy, || {
            let registry = Registry::builtin();
            // SAFETY (of both): strings that end with a zero, by the contract of this function.
            let (name, changes) = (text("model", model)?, settings(changes)?);
            let model = library::find(&registry, name)?.with(&registry, &changes)?;
            let (problem, policy) = model.build(&registry)?;
            let program = Program::record(&problem, &*policy, &model.params, false)?;
            Ok(CinocPolicy { model, problem, policy, program, broken: false })
        })
    }
}

/// Closes a policy; NULL is allowed.
///
/// # Safety
/// `policy` is NULL, or was opened and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_policy_close(policy: *mut CinocPolicy) {
    // SAFETY: the contract of this function is that of `close`.
    unsafe { close(policy) }
}

/// Writes the numbers of inputs and outputs of a policy.
///
/// # Safety
/// `policy` was opened; `sizes` points to one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_policy_sizes(policy: *mut CinocPolicy, sizes: *mut CinocPolicySizes) -> CinocCode {
    // SAFETY: `policy` was opened and `sizes` points to one, by the contract of this function.
    unsafe {
        guard_on(policy, |CinocPolicy { program, .. }| {
            let found = CinocPolicySizes { readings: program.readings(), memory: program.state(), actions: program.width() };
            output("sizes", sizes, found)
        })
    }
}

/// Decides once for one agent, as an exported controller does: from its readings (cinoc_env_observe) and its memory
/// (zeros before the first tick; updated) to its action, in the units of the actuators, always finite and within their
/// limits.
///
/// A reading that is NaN, infinite or beyond 1e6 in magnitude counts as missing: the last valid reading of that sensor,
/// kept in `memory`, is held (0 before the first). The strength is limited to [0, 1], a missing one is 0. An agent of
/// strength 0 is inactive: action 0, memory of the network 0. A memory of the network with a number that is not finite
/// or beyond 1e6 is reset to 0.
///
/// # Safety
/// `policy` was opened, and no other thread uses it; arrays have the given lengths and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_policy_act(
    policy: *mut CinocPolicy,
    readings: *const Real,
    reading_count: usize,
    memory: *mut Real,
    memory_count: usize,
    action: *mut Real,
    action_count: usize,
) -> CinocCode {
    // SAFETY: `policy` was opened and arrays have the given lengths, by the contract of this function.
    unsafe {
        guard_on(policy, |CinocPolicy { program, .. }| {
            let readings = numbers("readings", readings, reading_count, program.readings())?;
            let memory = state("memory", memory, memory_count, program.state())?;
            let action = room("action", action, action_count, program.width())?;
            action.copy_from_slice(&program.run(readings, memory));
            Ok(())
        })
    }
}
