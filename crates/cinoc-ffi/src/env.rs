//! Environments: parallel episodes, stepped by given actions or by a policy.

use crate::border::{
    CinocCode, Failure, Object, close, finite, guard_on, handle, mark_broken, numbers, open, output, room, settings, text, wrong,
};
use crate::policy::CinocPolicy;
use cinoc::env::Env;
use cinoc::internal::random::Stream;
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::rollout::InitialCondition;
use cinoc::{Problem, Real, Registry, evaluate};
use std::ffi::c_char;
use std::sync::Arc;

/// Parallel episodes of one problem.
pub struct CinocEnv {
    pub(crate) env: Env,
    /// True after the first reset.
    pub(crate) begun: bool,
    readings: usize,
    broken: bool,
}

impl Object for CinocEnv {
    const NAME: &'static str = "env";

    fn broken(&mut self) -> &mut bool {
        &mut self.broken
    }
}

/// Sizes of an environment.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CinocEnvSizes {
    /// Parallel episodes.
    pub episodes: usize,
    /// Agents of each.
    pub agents: usize,
    /// Ticks of an episode.
    pub ticks: usize,
    /// Numbers of a state: nodes, times the number of fields.
    pub nodes: usize,
    /// Space dimensions of a position.
    pub dimensions: usize,
    /// Readings of an agent's sensors.
    pub readings: usize,
    /// Numbers of an action.
    pub actions: usize,
}

fn make(problem: Arc<Problem>, episodes: usize, agents: usize, threads: usize) -> Result<CinocEnv, Failure> {
    let agents = if agents == 0 { problem.agents } else { agents };
    let readings = problem.swarm.instruments().iter().map(|one| one.count).sum();
    let env = Env::new(problem, episodes, agents, Threads::new(threads)?)?;
    Ok(CinocEnv { env, begun: false, readings, broken: false })
}

/// Opens an environment of a problem by name (heat1d). `changes` are settings to change, one `key=value` per line, or
/// NULL. 0 agents: the number in training; 0 threads: one per core. `*env` is NULL after a failure.
///
/// # Safety
/// Strings end with a zero; `env` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_open(
    problem: *const c_char,
    changes: *const c_char,
    episodes: usize,
    agents: usize,
    threads: usize,
    env: *mut *mut CinocEnv,
) -> CinocCode {
    let work = || {
        let registry = Registry::builtin();
        // SAFETY: strings that end with a zero, by the contract of this function.
        let (name, changes) = unsafe { (text("problem", problem)?, settings(changes)?) };
        let problem = registry.build(&registry.config(name, Preset::Shipped, &changes)?)?;
        make(Arc::new(problem), episodes, agents, threads)
    };
    // SAFETY: `env` points to a pointer, by the contract of this function.
    unsafe { open(env, work) }
}

/// Opens an environment of the problem of a policy, in the same way.
///
/// # Safety
/// `policy` was opened; `env` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_open_for(
    policy: *mut CinocPolicy,
    episodes: usize,
    agents: usize,
    threads: usize,
    env: *mut *mut CinocEnv,
) -> CinocCode {
    // SAFETY: `policy` was opened, by the contract of this function.
    let work = || make(unsafe { handle(policy) }?.problem.clone(), episodes, agents, threads);
    // SAFETY: `env` points to a pointer, by the contract of this function.
    unsafe { open(env, work) }
}

/// Closes an environment; NULL is allowed.
///
/// # Safety
/// `env` is NULL, or was opened and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_close(env: *mut CinocEnv) {
    // SAFETY: the contract of this function is that of `close`.
    unsafe { close(env) }
}

/// Writes the sizes of an environment.
///
/// # Safety
/// `env` was opened; `sizes` points to one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_sizes(env: *mut CinocEnv, sizes: *mut CinocEnvSizes) -> CinocCode {
    let work = |CinocEnv { env, readings, .. }: &mut CinocEnv| {
        let problem = env.problem();
        let found = CinocEnvSizes {
            episodes: env.instances(),
            agents: env.agents(),
            ticks: problem.ticks,
            nodes: problem.stepper.state_count(),
            dimensions: problem.swarm.dimensions(),
            readings: *readings,
            actions: problem.swarm.action_width(),
        };
        // SAFETY: `sizes` points to one, by the contract of this function.
        unsafe { output("sizes", sizes, found) }
    };
    // SAFETY: `env` was opened, by the contract of this function.
    unsafe { guard_on(env, work) }
}

/// Starts all episodes, with the held-out instances of a seed from number `first` on. On chaotic problems the first
/// call for a seed makes long uncontrolled runs, which are cached on disk.
///
/// # Safety
/// `env` was opened, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_reset(env: *mut CinocEnv, seed: u64, first: usize) -> CinocCode {
    let work = |CinocEnv { env, begun, .. }: &mut CinocEnv| {
        let (problem, agents) = (env.problem().clone(), env.agents());
        let which = vec![true; env.instances()];
        env.reset(&which, &mut |i| InitialCondition::drawn(&problem, agents, seed, Stream::Test, first.wrapping_add(i)));
        *begun = true;
        Ok(())
    };
    // SAFETY: `env` was opened and no other thread uses it, by the contract of this function.
    unsafe { guard_on(env, work) }
}

impl CinocEnv {
    /// Returns the environment, after its first reset.
    pub(crate) fn begun(&mut self) -> Result<&mut Env, Failure> {
        if !self.begun {
            return wrong("no episode has begun; call cinoc_env_reset first");
        }
        Ok(&mut self.env)
    }
}

/// Writes the readings of all agents, `[episodes, agents, readings]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `readings` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_observe(env: *mut CinocEnv, readings: *mut Real, count: usize) -> CinocCode {
    let work = |own: &mut CinocEnv| {
        let each = own.readings;
        let env = own.begun()?;
        let each = env.agents() * each;
        // SAFETY: `readings` has `count` numbers, by the contract of this function.
        let readings = unsafe { room("readings", readings, count, env.instances() * each) }?;
        readings.chunks_exact_mut(each).enumerate().for_each(|(i, readings)| readings.copy_from_slice(&env.readings(i)));
        Ok(())
    };
    // SAFETY: `env` was opened and no other thread uses it, by the contract of this function.
    unsafe { guard_on(env, work) }
}

/// Makes one tick with given actions, `[episodes, agents, actions]`, in the units of the actuators, within their limits
/// and after the safety layer. All actions must be finite. `cost` receives the cost of the tick in each episode, `done`
/// 1 where an episode is over; either may be NULL.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `actions` has `count` numbers, `cost` and `done` one per episode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_step(
    env: *mut CinocEnv,
    actions: *const Real,
    count: usize,
    cost: *mut f64,
    done: *mut u8,
) -> CinocCode {
    let work = |env: &mut CinocEnv| {
        let env = env.begun()?;
        // SAFETY: `actions` has `count` numbers, by the contract of this function.
        let actions = unsafe { numbers("actions", actions, count, env.action_len()) }?;
        finite("actions", actions)?;
        env.step(actions);
        // SAFETY: null or one per episode, by the contract of this function.
        unsafe { report(env, cost, done) }
    };
    // SAFETY: `env` was opened and no other thread uses it, by the contract of this function.
    unsafe { guard_on(env, work) }
}

/// Makes up to `ticks` ticks driven by a policy, which decides for all agents, and returns earlier once all episodes
/// are over. `cost` receives the cost of the last tick, `done` as in cinoc_env_step.
///
/// # Safety
/// `env` and `policy` were opened, and no other thread uses them; `cost` and `done` are NULL or have one number per
/// episode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_run(
    env: *mut CinocEnv,
    policy: *mut CinocPolicy,
    ticks: usize,
    cost: *mut f64,
    done: *mut u8,
) -> CinocCode {
    let work = |env: &mut CinocEnv| {
        let env = env.begun()?;
        // SAFETY: `policy` was opened and no other thread uses it, by the contract of this function.
        let own = unsafe { handle(policy) }?;
        if !own.problem.plant().serves(&*own.policy, &env.problem().plant()) {
            return wrong(
                "this policy was made for agents with other sensors or actuators; open the environment with cinoc_env_open_for",
            );
        }
        evaluate::check_policy(&*own.policy, env.agents(), env.instances())?;
        for tick in 0..ticks {
            if env.last_step().done.iter().all(|done| *done) {
                break;
            }
            match tick {
                0 => env.run(&*own.policy, &own.model.params, 1, &mut |_| {}),
                _ => env.run_cached(&*own.policy, &own.model.params, 1, &mut |_| {}),
            }
        }
        // SAFETY: null or one per episode, by the contract of this function.
        unsafe { report(env, cost, done) }
    };
    // SAFETY: `env` was opened and no other thread uses it, by the contract of this function.
    let code = unsafe { guard_on(env, work) };
    if code == CinocCode::Fault {
        // SAFETY: `policy` was opened and the call has ended.
        unsafe { mark_broken(policy) };
    }
    code
}

/// Writes the results of the last tick.
///
/// # Safety
/// `cost` and `done` are null or have one number per episode.
unsafe fn report(env: &Env, cost: *mut f64, done: *mut u8) -> Result<(), Failure> {
    let (step, episodes) = (env.last_step(), env.instances());
    if !cost.is_null() {
        // SAFETY: one per episode, by the contract of this function.
        unsafe { room("cost", cost, episodes, episodes) }?.copy_from_slice(step.cost);
    }
    if !done.is_null() {
        // SAFETY: one per episode, by the contract of this function.
        let done = unsafe { room("done", done, episodes, episodes) }?;
        done.iter_mut().zip(step.done).for_each(|(to, from)| *to = u8::from(*from));
    }
    Ok(())
}

/// Copies numbers of an episode.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has `count` numbers.
unsafe fn read(
    env: *mut CinocEnv,
    episode: usize,
    out: *mut Real,
    count: usize,
    of: impl Fn(&Env, usize) -> &[Real],
) -> CinocCode {
    let work = |env: &mut CinocEnv| {
        let env = env.begun()?;
        if episode >= env.instances() {
            return wrong(format!("there is no episode {episode}; choose one from 0 to {}", env.instances() - 1));
        }
        let values = of(env, episode);
        // SAFETY: `out` has `count` numbers, by the contract of this function.
        unsafe { room("out", out, count, values.len()) }?.copy_from_slice(values);
        Ok(())
    };
    // SAFETY: `env` was opened and no other thread uses it, by the contract of this function.
    unsafe { guard_on(env, work) }
}

/// Copies the field of an episode, `[nodes]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_field(env: *mut CinocEnv, episode: usize, out: *mut Real, count: usize) -> CinocCode {
    // SAFETY: the contract of this function is that of `read`.
    unsafe { read(env, episode, out, count, Env::field) }
}

/// Copies the target of an episode, `[nodes]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_target(env: *mut CinocEnv, episode: usize, out: *mut Real, count: usize) -> CinocCode {
    // SAFETY: the contract of this function is that of `read`.
    unsafe { read(env, episode, out, count, Env::target) }
}

/// Copies the positions of the agents of an episode, `[agents, dimensions]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_positions(env: *mut CinocEnv, episode: usize, out: *mut Real, count: usize) -> CinocCode {
    // SAFETY: the contract of this function is that of `read`.
    unsafe { read(env, episode, out, count, Env::positions) }
}

/// Copies the actions of the last tick of an episode, `[agents, actions]`.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `out` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_actions(env: *mut CinocEnv, episode: usize, out: *mut Real, count: usize) -> CinocCode {
    // SAFETY: the contract of this function is that of `read`.
    unsafe { read(env, episode, out, count, Env::action) }
}

/// Writes the score of an episode that is over: the first measure of its problem.
///
/// # Safety
/// `env` was opened, and no other thread uses it; `score` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_score(env: *mut CinocEnv, episode: usize, score: *mut f64) -> CinocCode {
    let work = |env: &mut CinocEnv| {
        let env = env.begun()?;
        if episode >= env.instances() || !env.last_step().done[episode] {
            return wrong(format!("episode {episode} has no score yet; ask for one of an episode that is done"));
        }
        // SAFETY: `score` points to a number, by the contract of this function.
        unsafe { output("score", score, env.measures(episode)[0]) }
    };
    // SAFETY: `env` was opened and no other thread uses it, by the contract of this function.
    unsafe { guard_on(env, work) }
}
