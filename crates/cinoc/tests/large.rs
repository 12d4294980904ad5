//! Large fields: threads share one instance and change no bit.

mod common;

use cinoc::env::Env;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::registry::Parts;
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Loss, Rollout};
use cinoc::settings::Overlay;
use cinoc::{Real, Registry};
use common::names;

/// Sizes for which every parallel operation uses several threads.
fn changes(problem: &str) -> &'static [&'static str] {
    match problem {
        "heat2d" | "heat2d_obstacles" => &[
            "physics.nodes=272",
            "swarm.agents=1200",
            "swarm.sigma=0.02",
            "observe.window=0.06",
            "observe.gaps=0.03",
            "cost.radius=0.01",
        ],
        "ks2d" => &["physics.nodes=288", "physics.length=144.0", "physics.substeps=1", "swarm.agents=1200"],
        "turbulence2d" => {
            &["physics.nodes=288", "physics.substeps=1", "swarm.agents=700", "swarm.sigma=0.02", "observe.window=0.06"]
        }
        "density2d" => &["physics.nodes_x=272", "physics.nodes_y=272", "swarm.agents=600"],
        "ks1d" => &["physics.nodes=1024", "physics.length=176.0", "swarm.agents=1200"],
        _ => &["swarm.agents=1200", "cost.radius=0.001"],
    }
}

fn parts(problem: &str) -> Parts {
    let registry = Registry::builtin();
    let mut all = vec!["physics.ticks=2"];
    all.extend(changes(problem));
    if matches!(problem, "ks1d" | "ks2d" | "turbulence2d") {
        all.extend(["data.settle=0", "data.apart=0", "data.per_run=1", "data.train_states=1", "data.test_states=1"]);
    }
    let config = registry.config(problem, Preset::Tuned, &Overlay::from_pairs(all).unwrap()).unwrap();
    registry.parts(&config).unwrap()
}

/// Agents at random positions, some of them failed.
fn beginning(parts: &Parts) -> InitialCondition {
    let (problem, mut rng) = (&parts.problem, Rng::new(0, Stream::Test, 1));
    let mut beginning = InitialCondition::drawn(problem, problem.agents, 0, Stream::Test, 0);
    let lengths = &problem.stepper.grid().lengths;
    for (i, place) in beginning.positions.iter_mut().enumerate().filter(|_| problem.swarm.moves()) {
        *place = rng.uniform(0.0, lengths[i % lengths.len()] as f64) as Real;
    }
    problem.swarm.settle(&mut beginning.positions);
    beginning.failures.extend([(0, 3), (1, 7)]);
    beginning
}

#[test]
fn any_number_of_threads_steps_a_large_field_alike() {
    for name in names() {
        let parts = parts(name);
        let (problem, policy) = (&parts.problem, &*parts.policy);
        let params = policy.init(&mut Rng::new(1, Stream::Init, 0));
        let start = beginning(&parts);
        let run = |threads: usize| {
            let mut env = Env::new(problem.clone(), 1, problem.agents, Threads::new(threads).unwrap()).unwrap();
            env.reset(&[true], &mut |_| start.clone());
            env.run(policy, &params, problem.ticks, &mut |_| {});
            assert!(!env.last_step().diverged[0], "{name}");
            let bits = |x: &[Real]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let state = [env.field(0), env.positions(0), env.action(0), env.last_step().terms].map(bits);
            (state, env.measures(0).iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        let one = run(1);
        for threads in [2, 3, 5] {
            assert!(run(threads) == one, "{name}: {threads} threads differ from one");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_gradient_of_a_large_field() {
    for name in names() {
        let parts = parts(name);
        let (problem, policy) = (&*parts.problem, &*parts.policy);
        let params = policy.init(&mut Rng::new(1, Stream::Init, 0));
        let InitialCondition { start, target, positions, .. } = beginning(&parts);
        let run = |threads: usize| {
            let mut rollout = [Rollout::new(problem.ticks, 1, true, problem.agents)];
            rollout[0].batch.push(&start, &target, &positions);
            Threads::new(threads).unwrap().for_each(&mut rollout, |_, rollout| {
                let wanted = GradientTargets { start: true, ..GradientTargets::PARAMS };
                rollout.forward(problem, Control::Policy(policy, &params), wanted, &mut |_| {}).backward(Loss::cost(1.0));
            });
            rollout[0].gradient().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let one = run(1);
        for threads in [2, 5] {
            assert!(run(threads) == one, "{name}: {threads} threads differ from one");
        }
    }
}
