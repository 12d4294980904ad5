//! Environments: episodes side by side, to be stepped by given actions or by a policy.

use crate::border::{CinocCode, Mistake, finite, give, guard, handle, numbers, room, settings, take, text, wrong};
use crate::policy::CinocPolicy;
use cinoc::env::Env;
use cinoc::problem::Preset;
use cinoc::random::Stream;
use cinoc::rollout::Beginning;
use cinoc::threads::Threads;
use cinoc::{Problem, Real, Registry, evaluate};
use std::ffi::c_char;
use std::sync::Arc;

/// Episodes of one problem side by side.
pub struct CinocEnv {
    pub(crate) env: Env,
    /// Whether episodes have begun.
    pub(crate) begun: bool,
    readings: usize,
}

/// How many numbers there are of everything.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CinocEnvSizes {
    /// Episodes side by side.
    pub episodes: usize,
    /// Agents of each.
    pub agents: usize,
    /// Ticks of an episode.
    pub ticks: usize,
    /// Nodes of a field.
    pub nodes: usize,
    /// Space dimensions of a position.
    pub dimensions: usize,
    /// Numbers that the instruments of an agent read.
    pub readings: usize,
    /// Numbers of an agent's action.
    pub actions: usize,
}

fn open(problem: Arc<Problem>, episodes: usize, agents: usize, threads: usize) -> Result<CinocEnv, Mistake> {
    let agents = if agents == 0 { problem.agents } else { agents };
    let readings = problem.swarm.instruments().iter().map(|one| one.count).sum();
    Ok(CinocEnv { env: Env::new(problem, episodes, agents, Threads::new(threads)?)?, begun: false, readings })
}

/// Opens an environment of a problem by name (heat1d). `changes` are settings to change, a line `key=value` each, or NULL; 0 agents are as many as in
/// training, 0 threads as many as there are cores.
///
/// # Safety
/// Strings end with a zero; `env` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_open(
    problem: *const c_char,
    changes: *const c_char,
    episodes: usize,
    agents: usize,
    threads: usize,
    env: *mut *mut CinocEnv,
) -> CinocCode {
    guard(|| {
        let registry = Registry::builtin();
        // SAFETY: as the caller says.
        let (name, changes) = unsafe { (text("problem", problem)?, settings(changes)?) };
        let problem = registry.build(&registry.config(name, Preset::Tuned, &changes)?)?;
        // SAFETY: likewise.
        unsafe { give("env", env, open(Arc::new(problem), episodes, agents, threads)?) }
    })
}

/// Opens an environment of the problem of a policy, likewise.
///
/// # Safety
/// `policy` was opened; `env` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_open_for(
    policy: *mut CinocPolicy,
    episodes: usize,
    agents: usize,
    threads: usize,
    env: *mut *mut CinocEnv,
) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let policy = unsafe { handle("policy", policy) }?;
        // SAFETY: likewise.
        unsafe { give("env", env, open(policy.problem.clone(), episodes, agents, threads)?) }
    })
}

/// Closes an environment; NULL is none.
///
/// # Safety
/// `env` is NULL, or was opened and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_close(env: *mut CinocEnv) {
    // SAFETY: as the caller says.
    unsafe { take(env) }
}

/// How many numbers there are of everything.
///
/// # Safety
/// `env` was opened; `sizes` points to one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_sizes(env: *mut CinocEnv, sizes: *mut CinocEnvSizes) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let (CinocEnv { env, readings, .. }, sizes) = unsafe { (handle("env", env)?, handle("sizes", sizes)?) };
        let problem = env.problem();
        *sizes = CinocEnvSizes {
            episodes: env.instances(),
            agents: env.agents(),
            ticks: problem.ticks,
            nodes: problem.stepper.grid().count(),
            dimensions: problem.swarm.dimensions(),
            readings: *readings,
            actions: problem.swarm.action_width(),
        };
        Ok(())
    })
}

/// Begins all episodes anew, with the held-out instances of a seed from number `first` on. On problems of chaos the first call for a seed makes
/// long free runs, which are kept on the disk.
///
/// # Safety
/// `env` was opened, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_reset(env: *mut CinocEnv, seed: u64, first: usize) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let CinocEnv { env, begun, .. } = unsafe { handle("env", env) }?;
        let (problem, agents) = (env.problem().clone(), env.agents());
        let which = vec![true; env.instances()];
        env.reset(&which, &mut |i| Beginning::drawn(&problem, agents, seed, Stream::Test, first.wrapping_add(i)));
        *begun = true;
        Ok(())
    })
}

impl CinocEnv {
    /// The environment, once its episodes have begun.
    pub(crate) fn begun(&mut self) -> Result<&mut Env, Mistake> {
        if !self.begun {
            return wrong("no episode has begun; call cinoc_env_reset first");
        }
        Ok(&mut self.env)
    }
}

/// What the instruments of all agents read, `[episodes, agents, readings]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `readings` has room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_observe(env: *mut CinocEnv, readings: *mut Real, count: usize) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let own = unsafe { handle("env", env) }?;
        let each = own.readings;
        let env = own.begun()?;
        let each = env.agents() * each;
        // SAFETY: likewise.
        let readings = unsafe { room("readings", readings, count, env.instances() * each) }?;
        readings.chunks_exact_mut(each).enumerate().for_each(|(i, readings)| readings.copy_from_slice(&env.readings(i)));
        Ok(())
    })
}

/// One tick with given actions, `[episodes, agents, actions]`, in the units of the actuators; limits and safety hold for them. `cost` receives what
/// the tick cost in each episode, `done` 1 where an episode is over; either may be NULL.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `actions` has `count` numbers, `cost` and `done` room for one per episode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_step(
    env: *mut CinocEnv,
    actions: *const Real,
    count: usize,
    cost: *mut f64,
    done: *mut u8,
) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let env = unsafe { handle("env", env) }?.begun()?;
        // SAFETY: likewise.
        let actions = unsafe { numbers("actions", actions, count, env.actions()) }?;
        finite("actions", actions)?;
        env.step(actions);
        // SAFETY: likewise.
        unsafe { report(env, cost, done) }
    })
}

/// So many ticks driven by a policy, which decides for all agents; `cost` receives that of the last one, `done` as in cinoc_env_step.
///
/// # Safety
/// `env` and `policy` were opened, and no other thread uses them; `cost` and `done` are NULL or have room for one per episode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_run(
    env: *mut CinocEnv,
    policy: *mut CinocPolicy,
    ticks: usize,
    cost: *mut f64,
    done: *mut u8,
) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let (env, own) = unsafe { (handle("env", env)?.begun()?, handle("policy", policy)?) };
        let (plant, other) = (own.problem.plant(), env.problem().plant());
        if (plant.features, plant.action_width) != (other.features, other.action_width) {
            return wrong(
                "this policy was made for agents that see or act otherwise; open the environment with cinoc_env_open_for",
            );
        }
        evaluate::decide(&*own.policy, env.agents(), env.instances())?;
        env.run(&*own.policy, &own.model.params, ticks, &mut |_| {});
        // SAFETY: likewise.
        unsafe { report(env, cost, done) }
    })
}

/// Tells what the last tick gave.
///
/// # Safety
/// `cost` and `done` are null or have room for one per episode.
unsafe fn report(env: &Env, cost: *mut f64, done: *mut u8) -> Result<(), Mistake> {
    let (step, episodes) = (env.last(), env.instances());
    if !cost.is_null() {
        // SAFETY: as the caller says.
        unsafe { room("cost", cost, episodes, episodes) }?.copy_from_slice(step.cost);
    }
    if !done.is_null() {
        // SAFETY: likewise.
        let done = unsafe { room("done", done, episodes, episodes) }?;
        done.iter_mut().zip(step.done).for_each(|(to, from)| *to = u8::from(*from));
    }
    Ok(())
}

/// Copies numbers of an episode.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
unsafe fn read(
    env: *mut CinocEnv,
    episode: usize,
    out: *mut Real,
    count: usize,
    of: impl Fn(&Env, usize) -> &[Real],
) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let env = unsafe { handle("env", env) }?.begun()?;
        if episode >= env.instances() {
            return wrong(format!("there is no episode {episode}; choose one from 0 to {}", env.instances() - 1));
        }
        let values = of(env, episode);
        // SAFETY: likewise.
        unsafe { room("out", out, count, values.len()) }?.copy_from_slice(values);
        Ok(())
    })
}

/// The field of an episode, `[nodes]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_field(env: *mut CinocEnv, episode: usize, out: *mut Real, count: usize) -> CinocCode {
    // SAFETY: as the caller says.
    unsafe { read(env, episode, out, count, Env::field) }
}

/// The field that an episode should reach, `[nodes]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_target(env: *mut CinocEnv, episode: usize, out: *mut Real, count: usize) -> CinocCode {
    // SAFETY: as the caller says.
    unsafe { read(env, episode, out, count, Env::target) }
}

/// Where the agents of an episode are, `[agents, dimensions]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_positions(env: *mut CinocEnv, episode: usize, out: *mut Real, count: usize) -> CinocCode {
    // SAFETY: as the caller says.
    unsafe { read(env, episode, out, count, Env::positions) }
}

/// What the agents of an episode did in the last tick, `[agents, actions]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_actions(env: *mut CinocEnv, episode: usize, out: *mut Real, count: usize) -> CinocCode {
    // SAFETY: as the caller says.
    unsafe { read(env, episode, out, count, Env::action) }
}

/// The score of an episode, once it is over: the first measure of its problem.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `score` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_score(env: *mut CinocEnv, episode: usize, score: *mut f64) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let (env, score) = unsafe { (handle("env", env)?.begun()?, handle("score", score)?) };
        if episode >= env.instances() || !env.last().done[episode] {
            return wrong(format!("episode {episode} has no score yet; ask for one of an episode that is done"));
        }
        *score = env.measures(episode)[0];
        Ok(())
    })
}
