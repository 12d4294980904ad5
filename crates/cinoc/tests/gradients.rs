//! Gradients with respect to given actions, initial fields and positions, on all problems; custom losses on the
//! trajectory.

mod common;

use cinoc::Real;
use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::rollout::{Control, GradientTargets, Loss, Rollout, Share};
use cinoc_lab::inspect;
use common::{config, names, problem};

#[test]
fn by_actions_start_and_places() {
    let (steps, limit) = if cfg!(double) { ([1e-3, 1e-4, 1e-5, 1e-6], 1e-6) } else { ([1.0, 1e-1, 1e-2, 1e-3], 5e-2) };
    for name in names() {
        let problem = problem(name, &[]);
        for (input, error) in inspect::inputs(&problem, 6, &steps) {
            assert!(error < limit, "{name}: the gradient with respect to {input} is off by {error:.1e}");
        }
    }
}

/// `½ Σ_t |z_t|²`, defined by its cotangents only, tick by tick.
#[test]
fn of_an_own_loss() {
    for name in ["heat1d", "ks1d", "density2d"] {
        let problem = problem(name, &["physics.ticks=5"]);
        let agents = problem.agents;
        let instance = problem.task.sample(&mut Rng::new(1, Stream::Test, 0), Split::Test);
        let actions: Vec<Real> = cinoc_tape::check::noise(5 * agents * problem.swarm.action_width(), 2);
        let actions: Vec<Real> = actions.iter().map(|a| 0.04 * a).collect();
        let mut rollout = Rollout::new(5, 1, true, agents);
        rollout.batch.push(&instance.start, &instance.target, &problem.swarm.start(agents));
        let mut loss = |actions: &[Real], gradient: bool| {
            let (mut fields, mut sum) = (vec![Vec::new()], 0.0);
            let wanted = if gradient { GradientTargets::ALL } else { GradientTargets::default() };
            let episode = rollout.forward(&problem, Control::Actions(actions), wanted, &mut |scene| {
                if scene.tick > 0 {
                    sum += scene.z.iter().map(|&z| 0.5 * z as f64 * z as f64).sum::<f64>();
                    fields.push(scene.z.to_vec());
                }
            });
            if !gradient {
                return (sum, Vec::new());
            }
            let mut own = |at: &mut cinoc::rollout::TickCotangents| at.z.copy_from_slice(&fields[at.tick]);
            (sum, episode.backward(Loss { own: Some(&mut own), ..Loss::default() }).actions.to_vec())
        };
        let (_, gradient) = loss(&actions, true);
        let norm = gradient.iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
        assert!(norm > 0.0);
        let (step, limit) = if cfg!(double) { (1e-6, 1e-6) } else { (3e-3, 5e-2) };
        let mut at = |side: f64| {
            let moved: Vec<Real> =
                actions.iter().zip(&gradient).map(|(a, &g)| a + (side * step * g as f64 / norm) as Real).collect();
            loss(&moved, false).0
        };
        let measured = (at(1.0) - at(-1.0)) / (2.0 * step);
        assert!((measured - norm).abs() < limit * norm, "{name}: {measured} measured, {norm} by the sweep");
    }
}

/// With a loss of the last field alone, a decision n decisions earlier has its gradient times the n-th power of the decay.
#[test]
fn decaying_gradients_fade_with_time() {
    for name in ["heat1d", "density2d"] {
        let problem = problem(name, &["physics.ticks=5"]);
        let (agents, each) = (problem.agents, problem.agents * problem.swarm.action_width());
        let instance = problem.task.sample(&mut Rng::new(1, Stream::Test, 0), Split::Test);
        let actions: Vec<Real> = cinoc_tape::check::noise(5 * each, 2).iter().map(|a| 0.04 * a).collect();
        let gradient = |decay: f64| {
            let mut rollout = Rollout::new(5, 1, true, agents).gradient_decay(decay);
            rollout.batch.push(&instance.start, &instance.target, &problem.swarm.start(agents));
            let episode = rollout.forward(&problem, Control::Actions(&actions), GradientTargets::ALL, &mut |_| {});
            // No sum of all values: density2d conserves it.
            let weight = |tick: usize, i: usize| if tick == 5 { (i % 7) as Real } else { 0.0 };
            let mut own = |at: &mut cinoc::rollout::TickCotangents| {
                let tick = at.tick;
                at.z.iter_mut().enumerate().for_each(|(i, z)| *z = weight(tick, i));
            };
            episode.backward(Loss { own: Some(&mut own), ..Loss::default() }).actions.to_vec()
        };
        let (usual, faded) = (gradient(1.0), gradient(0.5));
        for (tick, (usual, faded)) in usual.chunks_exact(each).zip(faded.chunks_exact(each)).enumerate() {
            // Powers of two are exact.
            let expected: Vec<Real> = usual.iter().map(|g| g * (0.5 as Real).powi(4 - tick as i32)).collect();
            assert!(usual.iter().any(|&g| g != 0.0) && faded == expected, "{name}, decision {tick}");
        }
    }
}

/// Single-tick rollouts, each starting where the last ended, reproduce the episode; a sweep may be repeated, whatever
/// was kept.
#[test]
fn an_episode_in_parts_is_the_episode() {
    for name in names() {
        let parts = common::parts(&common::with_policy(name, &["physics.ticks=4"], "recurrent"));
        let (problem, agents, policy) = (&parts.problem, parts.problem.agents, &*parts.policy);
        let params = policy.init(&mut Rng::new(2, Stream::Init, 0));
        let control = Control::Policy(policy, &params);
        let mut whole = common::rollout(problem, 2, 1, true);
        whole.batch.fail_agent(1, 2);
        whole.forward(problem, control, GradientTargets::ALL, &mut |_| {});
        let shares = [0.7, -1.3];
        let loss = || Loss { cost: Share::Each(&shares), own: None };
        whole.sweep(problem, control, loss());
        whole.clear_gradient();
        // Again, and without keeping the recording: the same bits.
        let expected = whole.sweep(problem, control, loss()).params.to_vec();
        let mut again = common::rollout(problem, 2, 1, false);
        again.batch.fail_agent(1, 2);
        again.forward(problem, control, GradientTargets::ALL, &mut |_| {});
        again.sweep(problem, control, loss());
        again.clear_gradient();
        assert_eq!(again.sweep(problem, control, loss()).params, expected, "{name}: swept twice, nothing kept");
        let (mut costs, mut end) = (vec![0.0; whole.costs.len()], None::<[Vec<Real>; 4]>);
        for tick in 0..4 {
            let mut part = Rollout::new(1, 1, true, agents).part(tick, 4);
            part.batch = whole.batch.clone();
            if let Some([z, xi, previous, memory]) = end {
                let batch = &mut part.batch;
                (batch.start, batch.positions, batch.previous, batch.memory) = (z, xi, previous, memory);
            }
            let mut action = Vec::new();
            part.forward(problem, control, GradientTargets::ALL, &mut |scene| action = scene.action.to_vec());
            costs.iter_mut().zip(&part.costs).for_each(|(sum, now)| *sum += now);
            let (z, xi) = part.end();
            end = Some([z.to_vec(), xi.to_vec(), action, part.remembered().to_vec()]);
        }
        let [z, xi, ..] = end.expect("four ticks");
        assert!((z.as_slice(), xi.as_slice()) == whole.end(), "{name}: the end is the same");
        // A task may measure relative to the initial field: a part has its own, equal up to rounding (a mass drift of
        // 1e-28 is rounding).
        let total: f64 = whole.costs.iter().sum();
        let close = costs.iter().zip(&whole.costs).all(|(a, b)| (a - b).abs() <= 1e-4 * b.abs() + 1e-12 * total);
        assert!(close, "{name}: {costs:?}, not {:?}", whole.costs);
    }
}

#[test]
#[should_panic(expected = "cannot be swept backwards")]
fn what_was_not_wanted_cannot_be_had() {
    let problem = problem("heat1d", &["physics.ticks=2"]);
    let mut rollout = Rollout::new(2, 1, true, 1);
    rollout.batch.push(&[0.0; 100], &[0.0; 100], &[0.5]);
    rollout.forward(&problem, Control::Actions(&[0.0; 4]), GradientTargets::default(), &mut |_| {}).backward(Loss::cost(1.0));
}

/// With another length of the domain, agents, margins and fields scale with it, and the policy acts the same.
#[test]
fn a_longer_domain_is_the_same_domain_scaled() {
    // Lengths doubled, diffusivity times four: in units of the length nothing changes.
    let one = problem("heat1d", &["physics.ticks=20"]);
    let two = problem(
        "heat1d",
        &[
            "physics.ticks=20",
            "physics.length=2",
            "physics.nu=0.8",
            "swarm.sigma=0.2",
            "swarm.v_limit=4",
            "observe.window=0.16",
            "data.start_length=0.4",
            "data.target_length=0.8",
            "cost.radius=0.1",
        ],
    );
    let policy = common::parts(&config("heat1d", &[])).policy;
    let params = policy.init(&mut Rng::new(1, Stream::Init, 0));
    let costs = [&one, &two].map(|problem| {
        let mut rollout = common::rollout(problem, 3, 1, false);
        rollout.forward(problem, Control::Policy(&*policy, &params), GradientTargets::default(), &mut |_| {});
        assert!(rollout.end().1.iter().all(|xi| *xi <= problem.stepper.grid().lengths[0]));
        rollout.costs.iter().take(6).sum::<f64>()
    });
    assert!((costs[0] - costs[1]).abs() < 1e-2 * costs[0], "{costs:?}");
}
