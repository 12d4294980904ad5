//! Environments: stepping, observing, snapshots and the contract of policies.

mod common;

use cinoc::env::{Env, assert_replayable};
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::sense::Observation;
use cinoc::internal::threads::Threads;
use cinoc::policy::{Context, Decision, Policy, PolicyInputs};
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Loss, Rollout};
use cinoc::{Problem, Real};
use cinoc_tape::{Arena, Leaves, Params, Shape, Tape};
use common::{config, names, parts, with_policy};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn env(problem: &Arc<Problem>, instances: usize, agents: usize) -> Env {
    let mut env = Env::new(problem.clone(), instances, agents, Threads::single()).expect("a small environment");
    env.reset(&vec![true; instances], &mut |i| InitialCondition::drawn(problem, agents, 4, Stream::Train, i));
    env
}

/// Rollouts and environments make bit-identical ticks, with a policy or with given actions.
#[test]
fn steps_are_the_ticks_of_a_rollout() {
    for name in names() {
        let parts = parts(&config(name, &["physics.ticks=5"]));
        let (problem, agents) = (&parts.problem, parts.problem.agents);
        let params = parts.policy.init(&mut Rng::new(2, Stream::Init, 0));
        let mut by_policy = env(problem, 11, agents);
        let mut actions = Vec::new();
        by_policy.run(&*parts.policy, &params, 5, &mut |env| (0..11).for_each(|i| actions.extend_from_slice(env.action(i))));
        let mut rollout = Rollout::new(5, 1, false, agents);
        (0..11).for_each(|i| rollout.batch.begin(&InitialCondition::drawn(problem, agents, 4, Stream::Train, i)));
        rollout.forward(problem, Control::Policy(&*parts.policy, &params), GradientTargets::default(), &mut |_| {});
        let end = |env: &Env| -> Vec<Real> { (0..11).flat_map(|i| env.field(i).to_vec()).collect() };
        assert!(end(&by_policy) == rollout.end().0, "{name}: a policy drives both to the same end");
        // The actions of a policy lie within the limits: given again they change nothing (with a safety layer, nothing
        // but rounding).
        let mut by_actions = env(problem, 11, agents);
        let mut cost = 0.0;
        for now in actions.chunks_exact(by_actions.action_len()) {
            cost += by_actions.step(now).cost.iter().sum::<f64>();
        }
        assert!(end(&by_actions) == end(&by_policy), "{name}: given the same actions the end is the same");
        let total: f64 = rollout.costs.iter().sum();
        assert!((cost - total).abs() < 1e-9 * total.abs(), "{name}: costs add up to {cost}, not {total}");
        assert!(by_actions.last_step().done.iter().all(|done| *done));
        assert_eq!(by_actions.measures(3), by_policy.measures(3));
    }
}

/// Limits apply to every action, whatever its size and source; failed agents do nothing; no agent enters a disc.
#[test]
fn limits_hold_for_every_action() {
    for (name, changes) in
        [("heat1d", &[][..]), ("heat2d_obstacles", &["obstacles.safety=true"]), ("ks1d", &[]), ("density2d", &[])]
    {
        let problem = parts(&config(name, &[&["physics.ticks=40"][..], changes].concat())).problem;
        let (agents, k) = (problem.agents, problem.swarm.action_width());
        let mut env = env(&problem, 2, agents);
        env.set_strength(1, 0, 0.0);
        for tick in 0..40 {
            let wild: Vec<Real> = cinoc_tape::check::noise(env.action_len(), tick).iter().map(|a| a * 1e6).collect();
            let done = env.step(&wild).diverged.contains(&true);
            assert!(!done, "{name}: limits keep a field finite");
        }
        let largest = env.action(0).iter().fold(0.0, |most: Real, a| most.max(a.abs()));
        assert!(largest > 0.0 && largest <= 40.0, "{name}: {largest}");
        assert_eq!(&env.action(1)[..k], vec![0.0; k], "{name}: failed agents do nothing");
        if name == "heat2d_obstacles" {
            assert_eq!(env.measures(0)[2], 0.0, "no agent was inside a disc");
        }
    }
}

/// Agents that fail at tick 0 begin inactive, so that a state read before the first tick shows it; a strength never
/// raises an action above its limits; prescribed actions leave the memory of a policy as it is.
#[test]
fn strengths_and_memory_are_those_of_the_state() {
    let parts = parts(&with_policy("heat1d", &["physics.ticks=8"], "recurrent"));
    let (problem, agents) = (&parts.problem, parts.problem.agents);
    let params = parts.policy.init(&mut Rng::new(2, Stream::Init, 0));
    let mut env = env(problem, 2, agents);
    let drawn = |i| InitialCondition::drawn(problem, agents, 4, Stream::Train, i);
    env.reset(&[true; 2], &mut |i| InitialCondition { failures: vec![(0, 3)], ..drawn(i) });
    assert_eq!(env.strength(1)[3], 0.0);
    env.set_strength(1, 3, 1.0);
    env.run(&*parts.policy, &params, 2, &mut |_| {});
    let width = problem.swarm.action_width();
    let push = |env: &Env, i: usize| env.action(i)[3 * width];
    assert!(push(&env, 0) == 0.0 && push(&env, 1) != 0.0, "a repaired agent acts");
    for (given, limited) in [(7.0, 1.0), (-1.0, 0.0), (Real::NAN, 0.0), (Real::INFINITY, 0.0), (0.25, 0.25)] {
        env.set_strength(0, 0, given);
        assert_eq!(env.strength(0)[0], limited);
    }
    let before = env.memory(1).to_vec();
    assert!(before.iter().any(|m| *m != 0.0));
    env.step(&vec![0.0; env.action_len()]);
    assert_eq!(env.memory(1), before);
}

/// Some episodes restart while others continue; a snapshot restores everything.
#[test]
fn episodes_are_independent_and_can_be_restored() {
    let problem = parts(&config("heat1d", &["physics.ticks=6"])).problem;
    let mut env = env(&problem, 10, 5);
    let actions = cinoc_tape::check::noise(env.action_len(), 3);
    let fields = |env: &Env| -> Vec<Vec<Real>> { (0..10).map(|i| env.field(i).to_vec()).collect() };
    env.step(&actions);
    env.step(&actions);
    let (then, before) = (env.snapshot(), fields(&env));
    let mut which = [false; 10];
    which[9] = true;
    env.reset(&which, &mut |i| InitialCondition::drawn(&problem, 5, 4, Stream::Train, i));
    assert_eq!((env.ticks_elapsed(9), env.ticks_elapsed(0)), (0, 2));
    env.step(&actions);
    let after = fields(&env);
    env.restore(&then);
    assert_eq!(fields(&env), before);
    assert_eq!((env.ticks_elapsed(9), env.ticks_elapsed(0)), (2, 2));
    env.step(&actions);
    let again = fields(&env);
    assert!(again[..9] == after[..9] && again[9] != after[9], "only the restarted episode differs");
    for _ in 0..4 {
        env.step(&actions);
    }
    assert!(env.last_step().done[0] && env.ticks_elapsed(0) == 6);
    let end = env.measures(0).to_vec();
    assert_eq!(env.step(&actions).cost[0], 0.0, "an ended episode costs nothing more");
    assert_eq!(env.measures(0), end);
    let field = env.field(0).to_vec();
    env.step(&actions);
    assert!(env.field(0) == field, "an ended episode stays unchanged");
}

/// Custom fields, positions and failures.
#[test]
fn an_episode_begins_where_it_is_told_to() {
    let problem = parts(&config("heat1d", &["physics.ticks=4"])).problem;
    let mut env = Env::new(problem.clone(), 1, 3, Threads::single()).expect("a small environment");
    let start: Vec<Real> = (0..100).map(|i| (i as Real * 0.3).sin()).collect();
    let own = InitialCondition {
        start: start.clone(),
        target: vec![0.5; 100],
        positions: vec![0.1, 0.2, 0.7],
        failures: vec![(2, 1)],
        noise: 0,
    };
    env.reset(&[true], &mut |_| own.clone());
    assert!(env.field(0) == start && env.target(0) == vec![0.5; 100] && env.positions(0) == [0.1, 0.2, 0.7]);
    let actions = vec![1.0; env.action_len()];
    let pushes: Vec<bool> = (0..4)
        .map(|_| {
            env.step(&actions);
            env.action(0)[2] != 0.0
        })
        .collect();
    assert_eq!(pushes, [true, true, false, false], "agent 1 fails at tick 2");
}

/// Observations have the announced sizes.
#[test]
fn what_is_seen_has_the_announced_sizes() {
    for name in names() {
        let problem = parts(&config(name, &["physics.ticks=3"])).problem;
        let mut env = env(&problem, 9, 4);
        let features = env.features();
        let views = if features.shared { 9 } else { 9 * 4 };
        let mut view = vec![Real::NAN; views * features.patch.count()];
        let mut position = vec![Real::NAN; 9 * 4 * features.position];
        env.observe_split(&mut view, &mut position);
        assert!(view.iter().chain(&position).all(|x| x.is_finite()), "{name}");
    }
}

/// A policy that decides from `observe` acts as one that drives the episodes, including memory, failures and crowding.
#[test]
fn a_look_is_all_that_a_policy_needs() {
    for name in names() {
        for kind in ["deeponet", "recurrent"] {
            let parts = parts(&with_policy(name, &["physics.ticks=5"], kind));
            let (problem, agents, n) = (&parts.problem, parts.problem.agents, 3);
            let params = parts.policy.init(&mut Rng::new(2, Stream::Init, 0));
            let begin = |i: usize| {
                let mut beginning = InitialCondition::drawn(problem, agents, 4, Stream::Train, i);
                beginning.failures = vec![(i + 1, 0)];
                beginning
            };
            let [mut driven, mut stepped] = [(); 2].map(|()| env(problem, n, agents));
            [&mut driven, &mut stepped].into_iter().for_each(|env| env.reset(&[true; 3], &mut |i| begin(i)));
            let (features, width, h) = (stepped.features(), stepped.observation_len(), parts.policy.declared().memory);
            let (seen, known) = (features.patch.count(), features.position);
            let (mut looked, mut memory) = (vec![Real::NAN; n * agents * width], vec![0.0; n * agents * h]);
            for _ in 0..5 {
                stepped.observe(&mut looked);
                let rows = || looked.chunks_exact(width);
                let viewers = if features.shared { agents } else { 1 };
                let view: Vec<Real> = rows().step_by(viewers).flat_map(|x| x[..seen].to_vec()).collect();
                let position: Vec<Real> = rows().flat_map(|x| x[seen..seen + known].to_vec()).collect();
                let strength: Vec<Real> = rows().map(|x| x[seen + known]).collect();
                let tape = Tape::new(Arena::default(), params.shared());
                let view =
                    if features.shared { tape.placeholder([n, seen], &view) } else { tape.placeholder([n, agents, seen], &view) };
                let shown = Observation::from_parts(&features, view, tape.placeholder([n, agents, known], &position));
                let context =
                    Context { memory: (h > 0).then(|| tape.placeholder([n, agents, h], &memory)), ..Context::default() };
                let decision = parts.policy.act(&params.leaves(&tape, false), &shown, &context);
                let action = problem.swarm.saturate(decision.raw, tape.placeholder([n, agents], &strength)).value();
                memory = decision.memory.map_or(Vec::new(), |memory| memory.value());
                memory.chunks_exact_mut(h.max(1)).zip(&strength).filter(|(_, s)| **s == 0.0).for_each(|(m, _)| m.fill(0.0));
                stepped.step(&action);
            }
            driven.run(&*parts.policy, &params, 5, &mut |_| {});
            for i in 0..n {
                let size = driven.field(i).iter().fold(1.0, |m: Real, z| m.max(z.abs()));
                let close = |a: &[Real], b: &[Real]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e3 * Real::EPSILON * size);
                let same = close(driven.field(i), stepped.field(i)) && close(driven.positions(i), stepped.positions(i));
                assert!(same, "{name}, {kind}: instance {i}");
                assert_eq!(driven.strength(i), stepped.strength(i), "{name}: the same agents have failed");
            }
        }
    }
}

/// `step` and `observe` in one call equal both in turn.
#[test]
fn a_step_and_a_look_in_one() {
    for name in names() {
        let problem = parts(&config(name, &["physics.ticks=3"])).problem;
        let begin = |i: usize| InitialCondition::drawn(&problem, 4, 4, Stream::Train, i);
        let [mut one, mut other] = [(); 2].map(|()| env(&problem, 9, 4));
        [&mut one, &mut other].into_iter().for_each(|env| env.reset(&[true; 9], &mut |i| begin(i)));
        let [mut a, mut b] = [(); 2].map(|()| vec![Real::NAN; 9 * 4 * one.observation_len()]);
        for tick in 0..4 {
            let actions: Vec<Real> = (0..one.action_len()).map(|i| 0.01 * ((i * 7 + tick) % 11) as Real).collect();
            let cost = one.step_and_observe(&actions, &mut a).cost.to_vec();
            assert_eq!(cost, other.step(&actions).cost, "{name}");
            other.observe(&mut b);
            assert!(a == b, "{name}, tick {tick}");
        }
    }
}

/// A policy with every declared input: a leaky sum of observations, noise and the clock.
struct Remembering {
    usual: Box<dyn Policy>,
    features: usize,
}

const WIDTH: usize = 3;

impl Policy for Remembering {
    fn shapes(&self) -> Vec<(String, Shape)> {
        let mut shapes = self.usual.shapes();
        shapes.push(("memory.w".into(), Shape::new(&[self.features, WIDTH])));
        shapes.push(("memory.b".into(), Shape::new(&[WIDTH])));
        shapes
    }

    fn init(&self, rng: &mut Rng) -> Params {
        let mut params = self.usual.init(rng);
        let weights: Vec<Real> = (0..self.features * WIDTH).map(|_| 0.1 * rng.normal() as Real).collect();
        params.push("memory.w", [self.features, WIDTH], &weights);
        params.push("memory.b", [WIDTH], &[0.1; WIDTH]);
        params
    }

    fn declared(&self) -> PolicyInputs {
        PolicyInputs { memory: WIDTH, noise: 1, clock: true, ..PolicyInputs::default() }
    }

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, context: &Context<'t>) -> Decision<'t> {
        let (memory, noise, clock) = (context.memory.unwrap(), context.noise.unwrap(), context.clock.unwrap());
        let pieces = self.usual.shapes().len();
        let news = seen.each_agent(seen.patch().matmul(theta.get(pieces))) + theta.get(pieces + 1);
        let agents = memory.shape().sizes()[1];
        let clock = clock.repeat_rows(agents);
        let memory = memory * 0.9 + news * 0.1;
        let raw = self.usual.act(theta, seen, &Context::default()).raw;
        let width = raw.shape().last();
        let extra = (memory.sum_keeping(2).repeat(1) + noise * 0.1 + clock * 0.2).reshape([raw.shape().rows()]).repeat(width);
        Decision { raw: raw + extra.reshape(raw.shape()), memory: Some(memory) }
    }
}

fn remembering(name: &str, ticks: usize) -> (Arc<Problem>, Remembering) {
    let ticks = format!("physics.ticks={ticks}");
    let parts = parts(&config(name, &[&ticks]));
    let features = parts.problem.swarm.features();
    (parts.problem, Remembering { usual: parts.policy, features: features.patch.count() })
}

/// The derivative through the memory agrees with central differences; failed agents have no memory; all segments give
/// the same.
#[test]
fn memory_has_its_part_in_the_gradient() {
    for name in names() {
        let (problem, policy) = remembering(name, 6);
        assert_replayable(&problem, &policy, &policy.init(&mut Rng::new(3, Stream::Init, 0)));
        let mut params = policy.init(&mut Rng::new(3, Stream::Init, 0));
        let agents = problem.agents.min(6);
        let gradient = |params: &Params, segment: usize, keep: bool| {
            let mut rollout = Rollout::new(6, segment, keep, agents);
            for i in 0..2 {
                let begin = InitialCondition::drawn(&problem, agents, 1, Stream::Train, i);
                rollout.batch.begin(&InitialCondition { failures: vec![(3, 1)], ..begin });
            }
            let control = Control::Policy(&policy, params);
            let found = rollout.forward(&problem, control, GradientTargets::PARAMS, &mut |_| {}).backward(Loss::cost(1.0));
            let found = found.params.to_vec();
            (rollout.costs.iter().sum::<f64>(), found)
        };
        let (_, exact) = gradient(&params, 1, true);
        for (segment, keep) in [(1, false), (2, true), (4, false), (6, true)] {
            assert!(gradient(&params, segment, keep).1 == exact, "{name}: segments of {segment}, kept {keep}");
        }
        // Along the gradient with respect to the weights of the memory.
        let memory = params.slice("memory.w", &exact).expect("a piece").to_vec();
        let norm = memory.iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
        // The best of some step sizes: large ones show curvature and kinks, small ones rounding, and a wrong gradient
        // agrees with none.
        let (steps, limit) = if cfg!(double) { ([1e-4, 1e-5, 1e-6], 1e-6) } else { ([1e-2, 1e-3, 1e-4], 3e-2) };
        let weights = params.iter().find(|(name, ..)| *name == "memory.w").expect("a piece").2.to_vec();
        let mut at = |moved: f64| {
            let moved: Vec<Real> = weights.iter().zip(&memory).map(|(w, g)| w + (moved * *g as f64 / norm) as Real).collect();
            assert!(params.set("memory.w", &moved));
            gradient(&params, 1, false).0
        };
        let measured = steps.map(|step| (at(step) - at(-step)) / (2.0 * step));
        let best = measured.iter().map(|found| (found - norm).abs()).fold(f64::INFINITY, f64::min);
        assert!(norm > 0.0 && best < limit * norm, "{name}: {measured:?} measured, {norm} by the sweep");
    }
}

/// A policy with a counter, which is frozen when replayed.
struct Counting(AtomicUsize);

impl Policy for Counting {
    fn shapes(&self) -> Vec<(String, Shape)> {
        Vec::new()
    }

    fn init(&self, _: &mut Rng) -> Params {
        Params::default()
    }

    fn act<'t>(&self, _: &Leaves<'t>, seen: &Observation<'t>, _: &Context<'t>) -> Decision<'t> {
        let now = self.0.fetch_add(1, Ordering::Relaxed) as Real;
        let shape = seen.position().shape().with_last(2);
        (seen.position().tape().zeros(shape) + 0.1 * now).into()
    }
}

#[test]
#[should_panic(expected = "must come from what it sees or from what it declared")]
fn a_policy_with_a_counter_is_caught() {
    let problem = parts(&config("heat1d", &["physics.ticks=6"])).problem;
    assert_replayable(&problem, &Counting(AtomicUsize::new(0)), &Params::default());
}

/// External changes take effect from the next tick on, as if the episode had begun with them.
#[test]
fn fields_targets_and_places_can_be_changed_on_the_way() {
    for name in ["heat1d", "ks1d", "heat2d"] {
        let parts = parts(&config(name, &["physics.ticks=8"]));
        let (problem, agents) = (&parts.problem, parts.problem.agents);
        let params = parts.policy.init(&mut Rng::new(2, Stream::Init, 0));
        let other = InitialCondition::drawn(problem, agents, 9, Stream::Train, 5);
        let positions: Vec<Real> = other.positions.iter().map(|x| 0.9 * x).collect();
        let mut changed = env(problem, 3, agents);
        // These policies have no memory, so an earlier tick matters only for the clock.
        changed.run(&*parts.policy, &params, 2, &mut |_| {});
        let before = changed.field(2).to_vec();
        changed.set_field(1, &other.start);
        changed.set_target(1, &other.target);
        changed.set_positions(1, &positions);
        changed.run_cached(&*parts.policy, &params, 1, &mut |_| {});
        let mut begun = env(problem, 1, agents);
        begun.reset(&[true], &mut |_| InitialCondition { positions: positions.clone(), ..other.clone() });
        begun.run(&*parts.policy, &params, 1, &mut |_| {});
        assert!(changed.field(1) == begun.field(0) && changed.positions(1) == begun.positions(0), "{name}");
        assert!(changed.field(2) != before, "{name}: the others continue");
        assert_eq!((changed.ticks_elapsed(1), changed.target(1)), (3, &*other.target), "{name}");
    }
}

/// Episodes without a time limit continue after their last tick; the others stay unchanged.
#[test]
fn endless_episodes_do_not_end() {
    let problem = parts(&config("heat1d", &["physics.ticks=3"])).problem;
    for endless in [false, true] {
        let mut env = env(&problem, 1, 4).without_time_limit(endless);
        let actions = vec![0.5; env.action_len()];
        for _ in 0..5 {
            env.step(&actions);
        }
        assert_eq!((env.ticks_elapsed(0), env.last_step().done[0]), if endless { (5, false) } else { (3, true) });
    }
}

/// An episode continues in a problem with other discs.
#[test]
fn an_episode_goes_on_in_another_problem_of_the_same_sizes() {
    let build =
        |discs: &str| parts(&config("heat2d_obstacles", &["obstacles.safety=true", "obstacles.clearance=0.01", discs])).problem;
    let (here, there) = (build("obstacles.discs=[[0.2, 0.2, 0.1]]"), build("obstacles.discs=[[0.7, 0.7, 0.1]]"));
    let mut env = env(&here, 1, here.agents);
    env.step(&vec![1.0; env.action_len()]);
    let positions: Vec<Real> = env.positions(0).to_vec();
    env.set_problem(there.clone());
    // Straight towards the centre of the disc, which is now in the way.
    for _ in 0..60 {
        let towards = |xi: &[Real]| [0.0, 100.0 * (0.7 - xi[0]), 100.0 * (0.7 - xi[1])];
        let actions: Vec<Real> = env.positions(0).chunks_exact(2).flat_map(towards).collect();
        env.step(&actions);
    }
    let disc = there.task.obstacles(0)[0];
    let gaps = env.positions(0).as_chunks::<2>().0.iter().map(|&xi| disc.bearing(xi).gap);
    let nearest = gaps.fold(Real::INFINITY, Real::min);
    assert!(nearest > 0.0 && nearest < 0.05 && env.positions(0) != positions, "{nearest}");
}

#[test]
#[should_panic(expected = "the same sizes")]
fn a_problem_of_other_sizes_is_refused() {
    let mut env = env(&parts(&config("heat1d", &[])).problem, 1, 4);
    env.set_problem(parts(&config("heat1d", &["physics.nodes=37"])).problem);
}
