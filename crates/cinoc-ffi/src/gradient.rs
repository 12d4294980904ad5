//! Gradients through the solver.

use crate::border::{CinocCode, finite, guard, handle, numbers, room, wrong};
use crate::env::CinocEnv;
use cinoc::Real;
use cinoc::rollout::{Control, Loss, Outcome, Rollout, Wanted};

/// What given actions would cost in the next `ticks` ticks, from where episodes are now, and the gradient of that by the actions. Both are
/// `[ticks, episodes, agents, actions]`; `cost` has room for one number per episode. The environment stays as it is.
///
/// # Safety
/// `env` was opened, and no other thread uses it; arrays are as long as said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cinoc_env_gradient(
    env: *mut CinocEnv,
    ticks: usize,
    actions: *const Real,
    count: usize,
    cost: *mut f64,
    gradient: *mut Real,
) -> CinocCode {
    guard(|| {
        // SAFETY: as the caller says.
        let env = unsafe { handle("env", env) }?.begun()?;
        let (problem, episodes, agents) = (env.problem().clone(), env.instances(), env.agents());
        if problem.swarm.disturbance().delay > 0 {
            return wrong("actions are delayed here, and what is pending would be lost; set swarm.delay=0");
        }
        let left = (0..episodes).map(|i| problem.ticks.saturating_sub(env.tick(i))).min().unwrap_or(0);
        if ticks == 0 || ticks > left {
            return wrong(format!("ticks cannot be {ticks}; it must be from 1 to {left}, what is left of the episodes"));
        }
        let each = env.actions() / episodes;
        let needed = ticks.saturating_mul(env.actions());
        // SAFETY: likewise.
        let (actions, gradient) =
            unsafe { (numbers("actions", actions, count, needed)?, room("gradient", gradient, count, needed)?) };
        // SAFETY: likewise.
        let cost = unsafe { room("cost", cost, episodes, episodes) }?;
        finite("actions", actions)?;
        for (i, cost) in cost.iter_mut().enumerate() {
            let place = |tick: usize| (tick * episodes + i) * each..(tick * episodes + i + 1) * each;
            let own: Vec<Real> = (0..ticks).flat_map(|tick| &actions[place(tick)]).copied().collect();
            let mut rollout = Rollout::new(ticks, 1, true, agents).part(env.tick(i), problem.ticks);
            rollout.batch.push(env.field(i), env.target(i), env.positions(i));
            rollout.batch.strength = env.strength(i).to_vec();
            rollout.batch.previous = env.action(i).to_vec();
            let wanted = Wanted { actions: true, ..Wanted::default() };
            let episode = rollout.forward(&problem, Control::Actions(&own), wanted, &mut |_| {});
            if let Outcome::Diverged { tick } = episode.outcome {
                return wrong(format!("episode {i} diverges at tick {tick}; give smaller actions, or fewer ticks"));
            }
            let found = episode.backward(Loss::cost(1.0)).actions.to_vec();
            (0..ticks).for_each(|tick| gradient[place(tick)].copy_from_slice(&found[tick * each..(tick + 1) * each]));
            *cost = rollout.costs.iter().sum();
        }
        Ok(())
    })
}
