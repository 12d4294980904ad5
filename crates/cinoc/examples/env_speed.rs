//! Time of environment steps beside the same ticks in a rollout without gradient, in alternation, on one thread.
//!
//! Run it with `cargo run --release -p cinoc --example env_speed [INSTANCES]`.

use cinoc::env::Env;
use cinoc::internal::random::Stream;
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Rollout};
use cinoc::settings::Overlay;
use cinoc::{Error, Real, Registry};
use std::time::Instant;

const TICKS: usize = 50;
const ROUNDS: usize = 8;

fn main() -> Result<(), Error> {
    let instances = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(256);
    let registry = Registry::builtin();
    let config = registry.config("heat1d", Preset::Paper, &Overlay::default())?;
    let problem = registry.parts(&config)?.with_ticks(TICKS).problem;
    let agents = problem.agents;
    let beginnings: Vec<InitialCondition> =
        (0..instances).map(|i| InitialCondition::drawn(&problem, agents, 0, Stream::Train, i)).collect();
    let mut env = Env::new(problem.clone(), instances, agents, Threads::single())?;
    let actions: Vec<Real> = (0..env.action_len()).map(|i| (i as Real * 0.7).sin()).collect();
    let all = actions.repeat(TICKS);
    let mut rollout = Rollout::new(TICKS, 1, false, agents);
    beginnings.iter().for_each(|beginning| rollout.batch.begin(beginning));
    let seconds = |work: &mut dyn FnMut()| {
        let since = Instant::now();
        work();
        since.elapsed().as_secs_f64()
    };
    let (mut stepped, mut rolled) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        env.reset(&vec![true; instances], &mut |i| beginnings[i].clone());
        let a = seconds(&mut || {
            (0..TICKS).for_each(|_| assert!(!env.step(&actions).diverged[0]));
        });
        let b = seconds(&mut || {
            rollout.forward(&problem, Control::Actions(&all), GradientTargets::default(), &mut |_| {});
        });
        // The first round warms up.
        if round > 0 {
            stepped.push(a);
            rolled.push(b);
        }
    }
    let summary = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        (1e3 * times[0], 1e3 * times[times.len() / 2])
    };
    let ((a, a_median), (b, b_median)) = (summary(&mut stepped), summary(&mut rolled));
    println!("{instances} instances, {TICKS} ticks, {ROUNDS} rounds: an environment takes {a:.1} ms (median {a_median:.1}),");
    println!(
        "a rollout without gradient {b:.1} ms (median {b_median:.1}); ratio {:.2} (medians {:.2})",
        a / b,
        a_median / b_median
    );
    Ok(())
}
