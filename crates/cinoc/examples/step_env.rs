//! Episodes stepped by hand, and a plan improved by its gradient: the basis of receding horizons and reinforcement
//! learning. Run it with `cargo run --release -p cinoc --example step_env`.

use cinoc::env::Env;
use cinoc::internal::random::Stream;
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Loss, Rollout};
use cinoc::settings::Overlay;
use cinoc::{Error, Real, Registry};
use std::sync::Arc;

const TICKS: usize = 40;

fn main() -> Result<(), Error> {
    let registry = Registry::builtin();
    let config = registry.config("heat1d", Preset::Tuned, &Overlay::from_pairs([format!("physics.ticks={TICKS}")])?)?;
    let problem = Arc::new(registry.build(&config)?);
    let (agents, width) = (problem.agents, problem.swarm.action_width());
    let begin = |i: usize| InitialCondition::drawn(&problem, agents, 0, Stream::Test, i);

    // Two parallel episodes; actions are given, [instances, agents, push and velocity], and each tick returns its cost.
    let mut env = Env::new(problem.clone(), 2, agents, Threads::single())?;
    env.reset(&[true; 2], &mut |i| begin(i));
    let (mut view, mut position) =
        (vec![0.0; 2 * agents * env.features().patch.count()], vec![0.0; 2 * agents * env.features().position]);
    for tick in 1..=5 {
        env.observe_split(&mut view, &mut position);
        // Against the error at the position of each agent, the middle one of its samples.
        let seen = view.chunks_exact(env.features().patch.count());
        let actions: Vec<Real> = seen.flat_map(|seen| [-20.0 * seen[seen.len() / 4], 0.0]).collect();
        let step = env.step(&actions);
        println!("tick {tick}: cost {:.2e} and {:.2e}", step.cost[0], step.cost[1]);
    }

    // A plan for a whole episode, improved by gradient descent.
    let mut rollout = Rollout::new(TICKS, 1, true, agents);
    rollout.batch.begin(&begin(0));
    let mut plan: Vec<Real> = vec![0.0; TICKS * agents * width];
    let (mut first, mut last) = (None, 0.0);
    for round in 0..=60 {
        let wanted = GradientTargets { actions: true, ..GradientTargets::default() };
        let gradient =
            rollout.forward(&problem, Control::Actions(&plan), wanted, &mut |_| {}).backward(Loss::cost(1.0)).actions.to_vec();
        last = rollout.costs.iter().sum();
        first.get_or_insert(last);
        if round % 20 == 0 {
            println!("plan after {round} rounds: cost {last:.2e}");
        }
        let largest = gradient.iter().fold(Real::MIN_POSITIVE, |most, g| most.max(g.abs()));
        plan.iter_mut().zip(&gradient).for_each(|(action, g)| *action -= 2.0 * g / largest);
    }
    assert!(Some(last) < first.map(|first| 0.5 * first), "the gradient leads downhill");
    Ok(())
}
