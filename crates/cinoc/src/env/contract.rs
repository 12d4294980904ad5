//! A check of the contract of policies, which are recorded once and replayed.

use super::Env;
use crate::Problem;
use crate::policy::Policy;
use crate::random::Stream;
use crate::rollout::InitialCondition;
use crate::threads::Threads;
use cinoc_tape::Params;
use std::sync::Arc;

/// Number of compared ticks: enough to reveal values frozen in the first.
const TICKS: usize = 6;

/// Checks that a policy recorded once and replayed acts as one recorded in every tick; for tests of policies.
///
/// # Panics
/// If the policy breaks the contract of [`Policy::act`]: something differs from tick to tick that it did not declare.
pub fn assert_replayable(problem: &Arc<Problem>, policy: &dyn Policy, params: &Params) {
    let agents = problem.agents;
    let ticks = TICKS.min(problem.ticks);
    let begin = || {
        let mut env = Env::new(problem.clone(), 2, agents, Threads::single()).expect("two episodes fit into memory");
        env.reset(&[true; 2], &mut |i| InitialCondition::drawn(problem, agents, 0, Stream::Train, i));
        env
    };
    let (mut replayed, mut recorded) = (begin(), begin());
    let mut actions = Vec::new();
    replayed.run(policy, params, ticks, &mut |env| actions.push([env.action(0).to_vec(), env.action(1).to_vec()]));
    for (tick, expected) in actions.iter().enumerate() {
        recorded.run(policy, params, 1, &mut |_| {});
        for (i, replayed) in expected.iter().enumerate() {
            assert!(
                recorded.action(i) == replayed,
                "at tick {} this policy acts differently if recorded again than if its first tick is replayed: whatever differs from \
                 tick to tick must come from what it sees or from what it declared",
                tick + 1
            );
        }
    }
}
