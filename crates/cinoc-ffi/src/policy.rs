//! Policies: those that come with the library, from files and from runs.

use crate::border::{CinocCode, finite, give, guard, handle, numbers, room, settings, take, text};
use cinoc::export::Program;
use cinoc::policy::Policy;
use cinoc::run::Model;
use cinoc::{Problem, Real, Registry, library};
use std::ffi::c_char;
use std::sync::Arc;

/// A trained policy and the problem that it was trained on.
pub struct CinocPolicy {
    pub(crate) model: Model,
    pub(crate) problem: Arc<Problem>,
    pub(crate) policy: Box<dyn Policy>,
    program: Program,
}

/// How many numbers a policy takes and gives, for one agent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CinocPolicySizes {
    /// Numbers that the instruments of an agent read.
    pub readings: usize,
    /// Numbers that it remembers from tick to tick.
    pub memory: usize,
    /// Numbers of its action.
    pub actions: usize,
}

/// Opens a model: the name of one that comes with the library (heat1d), a .safetensors file, or a run folder. `changes` are settings of its problem to
/// change, a line `key=value` each, or NULL.
///
/// # Safety
/// Strings end with a zero; `policy` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_policy_open(
    model: *const c_char,
    changes: *const c_char,
    policy: *mut *mut CinocPolicy,
) -> CinocCode {
    guard(|| {
        let registry = Registry::builtin();
        // SAFETY: as the caller says.
        let (name, changes) = unsafe { (text("model", model)?, settings(changes)?) };
        let model = library::find(&registry, name)?.with(&registry, &changes)?;
        let (problem, own) = model.build(&registry)?;
        let program = Program::record(&problem, &*own, &model.params, false)?;
        // SAFETY: as the caller says.
        unsafe { give("policy", policy, CinocPolicy { model, problem, policy: own, program }) }
    })
}

/// Closes a policy; NULL is none.
///
/// # Safety
/// `policy` is NULL, or was opened and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_policy_close(policy: *mut CinocPolicy) {
    // SAFETY: as the caller says.
    unsafe { take(policy) }
}

/// How many numbers a policy takes and gives.
///
/// # Safety
/// `policy` was opened; `sizes` points to one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_policy_sizes(policy: *mut CinocPolicy, sizes: *mut CinocPolicySizes) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let (policy, sizes) = unsafe { (handle("policy", policy)?, handle("sizes", sizes)?) };
        let program = &policy.program;
        *sizes = CinocPolicySizes { readings: program.readings(), memory: program.memory(), actions: program.width() };
        Ok(())
    })
}

/// One decision for one agent, as an exported controller makes it: from what its instruments read (cinoc_env_observe) and what it remembers
/// (zeros at first; written anew) to its action, in the units of the actuators and within their limits.
///
/// # Safety
/// `policy` was opened, and no other thread uses it; arrays are as long as said.
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
    guard(|| {
        // SAFETY: as the caller says.
        let policy = unsafe { handle("policy", policy) }?;
        let program = &mut policy.program;
        // SAFETY: likewise.
        let readings = unsafe { numbers("readings", readings, reading_count, program.readings()) }?;
        let mut nothing = [0.0; 0];
        let memory: &mut [Real] = match program.memory() {
            0 => &mut nothing,
            // SAFETY: likewise.
            needed => unsafe { room("memory", memory, memory_count, needed) }?,
        };
        // SAFETY: likewise.
        let action = unsafe { room("action", action, action_count, program.width()) }?;
        finite("readings", readings)?;
        finite("memory", memory)?;
        action.copy_from_slice(&program.run(readings, memory));
        Ok(())
    })
}
