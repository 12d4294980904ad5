//! Gradients through the solver.

use crate::border::{CinocCode, finite, guard_on, numbers, room, wrong};
use crate::env::CinocEnv;
use cinoc::Real;
use cinoc::rollout::{Control, GradientTargets, Loss, Outcome, Rollout};

/// Computes the cost of given actions over the next `ticks` ticks, from the present state of the episodes, and its
/// gradient with respect to the actions. `actions` and `gradient` are `[ticks, episodes, agents, actions]`, `cost` is
/// `[episodes]`. The environment does not change. Actuator noise, which cannot be known in advance, is zero here.
///
/// # Safety
/// `env` was opened, and no other thread uses it; arrays have the given lengths and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_gradient(
    env: *mut CinocEnv,
    ticks: usize,
    actions: *const Real,
    count: usize,
    cost: *mut f64,
    gradient: *mut Real,
) -> CinocCode {
    let work = |env: &mut CinocEnv| {
        let env = env.begun()?;
        let (problem, episodes, agents) = (env.problem().clone(), env.instances(), env.agents());
        if problem.swarm.disturbance().delay > 0 {
            return wrong("actions are delayed here, and pending ones would be lost; set swarm.delay=0");
        }
        let left = (0..episodes).map(|i| problem.ticks.saturating_sub(env.ticks_elapsed(i))).min().unwrap_or(0);
        if ticks == 0 || ticks > left {
            return wrong(format!("ticks cannot be {ticks}; it must be from 1 to {left}, the remaining ticks of the episodes"));
        }
        let each = env.action_len() / episodes;
        let needed = ticks.saturating_mul(env.action_len());
        // SAFETY: arrays have the given lengths, by the contract of this function.
        let (actions, gradient) =
            unsafe { (numbers("actions", actions, count, needed)?, room("gradient", gradient, count, needed)?) };
        // SAFETY: one number per episode, by the contract of this function.
        let cost = unsafe { room("cost", cost, episodes, episodes) }?;
        finite("actions", actions)?;
        for (i, cost) in cost.iter_mut().enumerate() {
            let place = |tick: usize| (tick * episodes + i) * each..(tick * episodes + i + 1) * each;
            let own: Vec<Real> = (0..ticks).flat_map(|tick| &actions[place(tick)]).copied().collect();
            let mut rollout = Rollout::new(ticks, 1, true, agents).part(env.ticks_elapsed(i), problem.ticks);
            rollout.batch.quiet = true;
            rollout.batch.push(env.field(i), env.target(i), env.positions(i));
            rollout.batch.seed(env.noise(i));
            rollout.batch.strength = env.strength(i).to_vec();
            rollout.batch.previous = env.action(i).to_vec();
            rollout.batch.stock = env.stock(i).to_vec();
            let wanted = GradientTargets { actions: true, ..GradientTargets::default() };
            let episode = rollout.forward(&problem, Control::Actions(&own), wanted, &mut |_| {});
            if let Outcome::Diverged { tick } = episode.outcome {
                return wrong(format!("episode {i} diverges at tick {tick}; give smaller actions, or fewer ticks"));
            }
            let found = episode.backward(Loss::cost(1.0)).actions.to_vec();
            (0..ticks).for_each(|tick| gradient[place(tick)].copy_from_slice(&found[tick * each..(tick + 1) * each]));
            *cost = rollout.costs.iter().sum();
        }
        Ok(())
    };
    // SAFETY: `env` was opened and no other thread uses it, by the contract of this function.
    unsafe { guard_on(env, work) }
}
