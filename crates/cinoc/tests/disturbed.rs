//! Sensor noise, lost readings, actuator noise and actuation delay.

mod common;

use cinoc::env::Env;
use cinoc::evaluate::{Request, scores};
use cinoc::internal::agents::Disturbance;
use cinoc::internal::place::Placement;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::rollout::{Control, Decide, GradientTargets, InitialCondition, Loss, Noise, Rollout, State, TickInputs, tick};
use cinoc::task::Transition;
use cinoc::train::Trainer;
use cinoc::{Problem, Real};
use cinoc_lab::inspect;
use cinoc_lab::optimum::{Goal, Horizon, Listen, OptimumRecord, RecedingRecord, Search, recede, search};
use cinoc_tape::{Arena, Params, Tape};
use common::{config, names, parts, problem, with_policy};
use std::sync::{Arc, Mutex};

const ALL: [&str; 3] = ["swarm.sensor_noise=0.05", "swarm.actuator_noise=0.02", "swarm.delay=2"];

/// The same with noise and bias of each agent's own sensors.
const OWN: [&str; 5] = [ALL[0], "swarm.sensor_noise_each=true", "swarm.sensor_bias=0.03", ALL[1], ALL[2]];

/// The same with lost readings, of which agents sense the age.
const LOST: [&str; 9] = [
    OWN[0],
    OWN[1],
    OWN[2],
    OWN[3],
    OWN[4],
    "swarm.lost.readings=0.3",
    "swarm.lost.views=0.1",
    "swarm.lost.sensors=0.2",
    "observe.ages=true",
];

fn env(problem: &Arc<Problem>, instances: usize, agents: usize) -> Env {
    let mut env = Env::new(problem.clone(), instances, agents, Threads::single()).expect("a small environment");
    env.reset(&vec![true; instances], &mut |i| InitialCondition { failures: vec![(4, 0)], ..begin(problem, agents, i) });
    env
}

fn begin(problem: &Problem, agents: usize, i: usize) -> InitialCondition {
    InitialCondition::drawn(problem, agents, 4, Stream::Train, i)
}

/// Returns actions within the limits.
fn some(problem: &Problem, count: usize, seed: u64) -> Vec<Real> {
    let limits = problem.swarm.limits();
    let numbers = cinoc_tape::check::noise(count, seed);
    numbers.iter().zip(limits.iter().cycle()).map(|(a, limit)| 0.4 * a.clamp(-1.0, 1.0) * limit).collect()
}

#[test]
fn derivatives_by_actions_start_and_places() {
    let (steps, limit) = if cfg!(double) { ([1e-3, 1e-4, 1e-5, 1e-6], 1e-6) } else { ([1.0, 1e-1, 1e-2, 1e-3], 5e-2) };
    for name in ["heat1d", "heat2d_obstacles", "ks1d", "density2d"] {
        for (input, error) in inspect::inputs(&problem(name, &ALL), 6, &steps) {
            assert!(error < limit, "{name}: the gradient with respect to {input} is off by {error:.1e}");
        }
    }
}

/// Gradients also hold with action repeat and a delay that is not a multiple of it, for all segments.
#[test]
fn derivatives_by_parameters() {
    let cases = [("heat1d", 1), ("heat1d", 3), ("ks1d", 2), ("density2d", 1)];
    for ((name, hold), all) in cases.iter().flat_map(|&case| [(case, &ALL[..]), (case, &OWN[..]), (case, &LOST[..])]) {
        let parts = parts(&with_policy(name, &[&["physics.ticks=9"], all].concat(), "recurrent"));
        let (problem, policy, agents) = (&parts.problem, &*parts.policy, 4);
        let mut params = policy.init(&mut Rng::new(3, Stream::Init, 0));
        let cost = |params: &Params, segment: usize, keep: bool, wanted: GradientTargets| {
            let mut rollout = Rollout::new(9 / hold, segment, keep, agents).action_repeat(hold);
            (0..2).for_each(|i| rollout.batch.begin(&InitialCondition { failures: vec![(5, 1)], ..begin(problem, agents, i) }));
            let episode = rollout.forward(problem, Control::Policy(policy, params), wanted, &mut |_| {});
            let gradient = if wanted.any() { episode.backward(Loss::cost(1.0)).params.to_vec() } else { Vec::new() };
            (rollout.costs.iter().sum::<f64>(), gradient)
        };
        let gradient = cost(&params, 1, true, GradientTargets::PARAMS).1;
        for (segment, keep) in [(1, false), (2, true), (3, false)] {
            assert!(
                cost(&params, segment, keep, GradientTargets::PARAMS).1 == gradient,
                "{name}: segments of {segment}, kept {keep}"
            );
        }
        let norm = gradient.iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
        let (steps, limit) = if cfg!(double) { ([1e-4, 1e-5, 1e-6], 1e-6) } else { ([1e-2, 1e-3, 1e-4], 3e-2) };
        let theta = params.theta().to_vec();
        let mut at = |step: f64| {
            let moved = theta.iter().zip(&gradient).map(|(x, g)| x + (step * *g as f64 / norm) as Real);
            params.theta_mut().iter_mut().zip(moved).for_each(|(to, x)| *to = x);
            params.refresh();
            cost(&params, 1, false, GradientTargets::default()).0
        };
        let measured = steps.map(|step| (at(step) - at(-step)) / (2.0 * step));
        let best = measured.iter().map(|found| (found - norm).abs()).fold(f64::INFINITY, f64::min);
        assert!(norm > 0.0 && best < limit * norm, "{name}, held {hold}: {measured:?} measured, {norm} by the sweep");
    }
}

/// Separate sensors: samples and slopes have the standard deviations of readings of the field and of differences
/// over two cells; agents at the same position read different noise, each with a bias that lasts for the episode.
#[test]
fn noise_of_own_sensors() {
    let deviation = |x: &[f64]| (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).sqrt();
    for (name, axes) in [("heat1d", 1), ("heat2d", 2), ("ks1d", 1)] {
        let observed = |changes: &[&str]| -> [Vec<Vec<Real>>; 2] {
            let problem = Arc::new(problem(name, changes));
            let (agents, nodes) = (40, problem.stepper.grid().count());
            let mut env = Env::new(problem.clone(), 1, agents, Threads::single()).expect("a small environment");
            let positions = problem.swarm.start(1).repeat(agents);
            let (start, target) = (vec![0.0; nodes], vec![0.0; nodes]);
            env.reset(&[true], &mut |_| InitialCondition {
                start: start.clone(),
                target: target.clone(),
                positions: positions.clone(),
                noise: 7,
                ..InitialCondition::default()
            });
            let (count, known) = (problem.swarm.features().patch.count(), problem.swarm.features().position);
            let look = |env: &mut Env| -> Vec<Vec<Real>> {
                let mut view = vec![0.0; agents * count];
                env.observe_split(&mut view, &mut vec![0.0; agents * known]);
                view.chunks_exact(count).map(<[Real]>::to_vec).collect()
            };
            let first = look(&mut env);
            env.step(&vec![0.0; env.action_len()]);
            [first, look(&mut env)]
        };
        let at_nodes = observed(&["swarm.sensor_noise=0.1"]);
        assert!(at_nodes[0].iter().all(|view| *view == at_nodes[0][0]), "{name}: noise of the field is shared");
        let own = observed(&["swarm.sensor_noise=0.1", "swarm.sensor_noise_each=true"]);
        assert!(own[0][0] != own[0][1] && own[0][0] != own[1][0], "{name}: every sensor and tick has its noise");
        let config = config(name, &[]);
        let number = |key: &str| config.get(key).and_then(|value| value.as_float()).expect(key);
        let problem = problem(name, &[]);
        let (gain, width, dx) = (number("observe.gain"), number("observe.window"), problem.stepper.grid().spacing(0));
        let channel = |views: &[Vec<Real>], slope: bool| -> Vec<f64> {
            let points = views[0].len() / (1 + axes);
            let is_slope = |i: usize| if axes == 1 { i >= points } else { !i.is_multiple_of(3) };
            let each = views.iter().flat_map(|view| view.iter().enumerate().filter(|(i, _)| is_slope(*i) == slope));
            each.map(|(_, x)| *x as f64).collect()
        };
        let [sample, slope] = [false, true].map(|slope| deviation(&channel(&own[0], slope)));
        assert!((sample / (0.1 * gain) - 1.0).abs() < 0.1, "{name}: {sample}");
        assert!((slope / (0.1 * gain * width / (2f64.sqrt() * dx)) - 1.0).abs() < 0.1, "{name}: {slope}");
        let [before, after] = observed(&["swarm.sensor_bias=0.1"]);
        assert!(before == after, "{name}: a bias lasts");
        let biases: Vec<f64> = before.iter().map(|view| view[0] as f64).collect();
        assert!((deviation(&biases) / (0.1 * gain) - 1.0).abs() < 0.3 && biases[0] != biases[1], "{name}: {biases:?}");
        assert!(channel(&before, true).iter().all(|x| *x == 0.0), "{name}: slopes have no bias");
    }
}

#[test]
fn steps_are_the_ticks_of_a_rollout() {
    for (name, all) in names().into_iter().flat_map(|name| [(name, &ALL[..]), (name, &OWN[..]), (name, &LOST[..])]) {
        let parts = parts(&with_policy(name, &[&["physics.ticks=6"], all].concat(), "recurrent"));
        let (problem, agents) = (&parts.problem, 5);
        let params = parts.policy.init(&mut Rng::new(2, Stream::Init, 0));
        let actions = some(problem, 6 * 3 * agents * problem.swarm.action_width(), 7);
        for control in [Control::Policy(&*parts.policy, &params), Control::Actions(&actions)] {
            let (mut env, mut seen) = (env(problem, 3, agents), Vec::new());
            let each = env.action_len();
            let mut go = |env: &mut Env, from: usize| {
                for now in actions.chunks_exact(each).skip(from) {
                    match control {
                        Control::Policy(policy, params) => env.run(policy, params, 1, &mut |_| {}),
                        Control::Actions(_) => drop(env.step(now)),
                    }
                    seen.extend((0..3).flat_map(|i| env.action(i).to_vec()));
                }
                (0..3).flat_map(|i| env.field(i).to_vec()).collect::<Vec<Real>>()
            };
            let mut first = go(&mut env, 0);
            let mut rollout = Rollout::new(6, 1, false, agents);
            (0..3).for_each(|i| rollout.batch.begin(&InitialCondition { failures: vec![(4, 0)], ..begin(problem, agents, i) }));
            let mut acted = Vec::new();
            rollout.forward(problem, control, GradientTargets::default(), &mut |scene| acted.extend_from_slice(scene.action));
            assert!(first == rollout.end().0, "{name}: the same end");
            // Pending actions are part of the state.
            env.reset(&[true; 3], &mut |i| InitialCondition { failures: vec![(4, 0)], ..begin(problem, agents, i) });
            let half = &actions[..3 * each];
            half.chunks_exact(each).for_each(|now| match control {
                Control::Policy(policy, params) => env.run(policy, params, 1, &mut |_| {}),
                Control::Actions(_) => drop(env.step(now)),
            });
            assert_eq!(env.pending(0).len(), agents * 2 * problem.swarm.action_width());
            let then = env.snapshot();
            let (one, other) = (go(&mut env, 3), {
                env.restore(&then);
                go(&mut env, 3)
            });
            assert!(one == first && other == first, "{name}: a snapshot holds what is pending");
            first.clear();
            assert!(seen[..acted.len()] == acted, "{name}: the same actions were carried out");
        }
    }
}

/// Delayed actions are bit-identical, only later; a failed agent does nothing, whatever is pending.
#[test]
fn a_delay_shifts_actions() {
    for name in names() {
        let [late, usual] = ["swarm.delay=3", "swarm.delay=0"].map(|delay| Arc::new(problem(name, &["physics.ticks=8", delay])));
        let (mut delayed, mut undelayed) = (env(&late, 2, 4), env(&usual, 2, 4));
        let (each, nothing) = (delayed.action_len(), vec![0.0; delayed.action_len()]);
        let actions = some(&late, 8 * each, 3);
        for tick in 0..8usize {
            let then = tick.checked_sub(3).map_or(&nothing[..], |then| &actions[then * each..][..each]);
            let cost = delayed.step(&actions[tick * each..][..each]).cost.to_vec();
            assert_eq!(cost, undelayed.step(then).cost, "{name}, tick {tick}");
            for i in 0..2 {
                let same = delayed.field(i) == undelayed.field(i) && delayed.positions(i) == undelayed.positions(i);
                assert!(same && delayed.action(i) == undelayed.action(i), "{name}, tick {tick}");
            }
        }
        let k = late.swarm.action_width();
        assert!(delayed.action(0)[..k].iter().all(|a| *a == 0.0) && delayed.action(0)[k..].iter().any(|a| *a != 0.0), "{name}");
    }
}

/// A repeated action has the delay and the noise of each of its ticks, as if decided in every one.
#[test]
fn held_decisions_are_disturbed_tick_by_tick() {
    for name in ["heat1d", "ks1d", "density2d"] {
        for (delay, noise) in [(3, 0.0), (4, 0.0), (1, 0.02), (2, 0.02), (0, 0.02)] {
            let changes = ["physics.ticks=12".into(), format!("swarm.delay={delay}"), format!("swarm.actuator_noise={noise}")];
            let problem = problem(name, &changes.iter().map(String::as_str).collect::<Vec<_>>());
            let each = 2 * 3 * problem.swarm.action_width();
            let actions = some(&problem, 4 * each, 3);
            let repeated: Vec<Real> = actions.chunks_exact(each).flat_map(|now| now.repeat(3)).collect();
            let ends = [(4, 3, &actions), (12, 1, &repeated)].map(|(ticks, hold, actions)| {
                let mut rollout = Rollout::new(ticks, 1, false, 3).action_repeat(hold);
                (0..2).for_each(|i| rollout.batch.begin(&begin(&problem, 3, i)));
                rollout.forward(&problem, Control::Actions(actions), GradientTargets::default(), &mut |_| {});
                (rollout.end().0.to_vec(), rollout.end().1.to_vec())
            });
            // Without noise the force is held too, at its initial position: that of a moving agent differs.
            let exact = noise > 0.0 || !problem.swarm.moves();
            assert!(ends[0].1 == ends[1].1 && (!exact || ends[0].0 == ends[1].0), "{name}: delay {delay}, noise {noise}");
        }
    }
}

#[test]
fn noise_is_normal_and_independent() {
    let problem = problem("ks1d", &["swarm.sensor_noise=0.5", "swarm.actuator_noise=2"]);
    let (nodes, ticks) = (problem.stepper.grid().count(), 400);
    let draw = |seed: u64, sensor: bool| -> Vec<Vec<f64>> {
        let tick = |tick: usize| {
            let mut out = Vec::new();
            match sensor {
                true => problem.swarm.sensor_noise(seed, tick, nodes, &mut out),
                false => problem.swarm.actuator_noise(seed, tick..tick + 1, nodes, &mut out),
            }
            out.iter().map(|x| *x as f64).collect()
        };
        (0..ticks).map(tick).collect()
    };
    let inner = |a: &[Vec<f64>], b: &[Vec<f64>]| -> f64 {
        let products = a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b));
        products.sum::<f64>() / (a.len() * nodes) as f64
    };
    // Five standard deviations of each mean.
    let few = 5.0 / ((ticks * nodes) as f64).sqrt();
    for (sensor, size) in [(true, 0.5), (false, 2.0)] {
        let one = draw(1, sensor);
        let mean = one.iter().flatten().sum::<f64>() / (ticks * nodes) as f64;
        assert!(mean.abs() < few * size, "{mean}");
        assert!((inner(&one, &one) / (size * size) - 1.0).abs() < 1.5 * few, "{}", inner(&one, &one));
        let next: f64 = inner(&one[1..], &one[..ticks - 1]) / (size * size);
        let neighbours: Vec<Vec<f64>> = one.iter().map(|x| [&x[1..], &x[..1]].concat()).collect();
        let apart = [inner(&one, &neighbours), inner(&one, &draw(2, sensor))].map(|x| x / (size * size));
        assert!(next.abs() < few && apart.iter().all(|x| x.abs() < few), "{next} {apart:?}");
        assert!(one == draw(1, sensor));
    }
    let across = inner(&draw(1, true), &draw(1, false));
    assert!(across.abs() < few, "sensors and actuators: {across}");
    // Instances of other seeds and splits have independent noise, in training in every update.
    let seeds = [(0, Stream::Test, 0), (1, Stream::Test, 0), (0, Stream::Validate, 0), (0, Stream::Test, 1)]
        .map(|(seed, stream, index)| InitialCondition::drawn(&problem, 2, seed, stream, index).noise);
    assert!((1..4).all(|i| seeds[..i].iter().all(|other| *other != seeds[i])), "{seeds:?}");
}

/// Sensor noise affects observations only; actuator noise, the actions of active agents.
#[test]
fn noise_is_where_it_belongs() {
    for name in names() {
        let [seen, pushed, usual] = ["swarm.sensor_noise=0.1", "swarm.actuator_noise=0.01", "swarm.delay=0"]
            .map(|change| Arc::new(problem(name, &["physics.ticks=6", change])));
        let [mut seeing, mut pushing, mut quiet] = [&seen, &pushed, &usual].map(|problem| env(problem, 1, 4));
        let actions = some(&usual, quiet.action_len(), 3);
        // A noisy observation is that of the field plus the noise.
        let beginning = begin(&seen, 4, 0);
        let mut noisy = Vec::new();
        seen.swarm.sensor_noise(beginning.noise, 0, beginning.start.len(), &mut noisy);
        noisy.iter_mut().zip(&beginning.start).for_each(|(noise, z)| *noise += z);
        let mut shown = env(&usual, 1, 4);
        shown.reset(&[true], &mut |_| InitialCondition { start: noisy.clone(), ..beginning.clone() });
        let [mut a, mut b] = [(); 2].map(|()| vec![Real::NAN; 4 * quiet.observation_len()]);
        seeing.observe(&mut a);
        shown.observe(&mut b);
        assert!(a == b, "{name}: what is seen");
        for tick in 0..6 {
            for env in [&mut seeing, &mut pushing, &mut quiet] {
                env.step(&actions);
            }
            assert!(seeing.field(0) == quiet.field(0), "{name}: given actions do not depend on observations");
            let (k, pushes) = (usual.swarm.action_width(), usual.swarm.push_width());
            let agents = pushing.action(0).chunks_exact(k).zip(quiet.action(0).chunks_exact(k)).enumerate();
            for (agent, (noisy, quiet)) in agents {
                let failed = agent == 0 && tick >= 4;
                assert!((0..k).all(|c| (noisy[c] != quiet[c]) == (c < pushes && !failed)), "{name}: {noisy:?} {quiet:?}");
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for name in ["heat1d", "ks1d"] {
        let run = |threads: usize| {
            let changes =
                ["physics.ticks=12", "train.batch=14", "train.shard=3", "train.updates=2", "train.validate_instances=5"];
            let config = config(name, &[&changes[..], &["train.hold=3"], &ALL].concat());
            let mut trainer = Trainer::new(parts(&config), 3, Threads::new(threads).unwrap()).unwrap();
            let costs = [(); 2].map(|()| trainer.step().unwrap().cost.to_bits());
            let request = Request { places: Placement::Random, ..Request::test(5, 11, 1) };
            let found = scores(&trainer.problem, &*trainer.policy, &trainer.params, &request, &Threads::new(threads).unwrap());
            (trainer.params.theta().to_vec(), costs, found.unwrap().scores().map(f64::to_bits).collect::<Vec<_>>())
        };
        assert!(run(1) == run(3), "{name}: three threads differ from one");
    }
}

/// Without disturbances a tick is limits, safety, force, step, motion and cost, without further operations.
#[test]
fn what_is_not_disturbed_costs_nothing() {
    for name in names() {
        let problem = problem(name, &[]);
        assert_eq!(problem.swarm.disturbance(), Disturbance::default());
        let beginning = begin(&problem, 3, 0);
        let nodes = problem.stepper.grid().nodes.clone();
        let field: Vec<usize> = std::iter::once(1).chain(nodes).collect();
        let k = problem.swarm.action_width();
        let last = [true, false].map(|by_tick| {
            let tape = Tape::new(Arena::default(), &[]);
            let [z, target] = [&beginning.start, &beginning.target].map(|x| tape.placeholder(field.as_slice(), x));
            let xi = tape.placeholder([1, 3, problem.swarm.dimensions()], &beginning.positions);
            let (previous, strength) = (tape.placeholder([1, 3, k], &vec![0.0; 3 * k]), tape.placeholder([1, 3], &[1.0; 3]));
            let action = tape.placeholder([1, 3, k], &vec![0.01; 3 * k]);
            let now = problem.task.timed().then(|| tape.placeholder([1], &[0.0]));
            let mut terms = Vec::new();
            if by_tick {
                let state = State { z, xi, previous, pending: None, memory: None, held: None, stock: None };
                let given = TickInputs {
                    start: z,
                    target,
                    strength,
                    now,
                    action_repeat: 1,
                    noise: Noise::default(),
                    ages: None,
                    arrivals: None,
                };
                tick(&problem, Decide::Action(action), state, given, &mut |term| terms.push(term.id()));
            } else {
                let (swarm, start) = (&problem.swarm, z);
                let action = swarm.filter(swarm.clamp(action, strength), xi, now);
                let force = swarm.actuate(action, xi);
                let (z, xi) = (problem.stepper.step(z, force), swarm.advance(xi, action));
                let now = now.map(|now| now + 1.0);
                let after = Transition { z, start, target, xi, action, previous, now };
                problem.task.cost(&after, &mut |term| terms.push(term.id()));
            }
            terms
        });
        assert_eq!(last[0], last[1], "{name}: equally many operations");
    }
}

struct Kept<T>(Mutex<Vec<T>>);

impl<T: Send> Listen<T> for Kept<T> {
    fn found(&self, found: Vec<T>) {
        self.0.lock().unwrap().extend(found);
    }
}

/// A search has the same delay and noise as an environment.
#[test]
fn optima_are_those_of_the_disturbed() {
    let parts =
        parts(&config("heat1d", &["physics.ticks=20", "swarm.actuator_noise=0.5", "swarm.sensor_noise=0.1", "swarm.delay=3"]));
    let (problem, policy) = (&parts.problem, &*parts.policy);
    let params = policy.init(&mut Rng::new(3, Stream::Init, 0));
    let request = Request::test(4, 2, 3);
    let kept = Kept(Mutex::<Vec<OptimumRecord>>::default());
    let how = Search { iterations: 5, ..Search::new(Goal::Score) };
    search(problem, Some((policy, &params)), &request, &[0, 1], &how, &Threads::single(), &kept).unwrap();
    let controlled = scores(problem, policy, &params, &request, &Threads::single()).unwrap();
    let mut found = kept.0.into_inner().unwrap();
    found.sort_by_key(|found| found.instance);
    for (found, score) in found.iter().zip(controlled.scores()) {
        let policy = found.policy.unwrap();
        assert!((policy / score - 1.0).abs() < 1e-3, "{policy} and {score}");
        let mut env = Env::new(problem.clone(), 1, 4, Threads::single()).unwrap();
        env.reset(&[true], &mut |_| request.beginning(problem, found.instance));
        for now in found.actions.chunks_exact(env.action_len()) {
            env.step(now);
        }
        assert!((found.optimum / env.measures(0)[0] - 1.0).abs() < 1e-4, "{} and {}", found.optimum, env.measures(0)[0]);
        assert!(found.optimum < found.uncontrolled && found.optimum <= policy);
        assert!(found.bound_unlimited_static.is_some_and(|bound| bound <= found.optimum), "unlimited pushes undo noise");
    }
}

/// A horizon as long as the episode finds its optimum for any decision interval: it takes pending actions into account.
#[test]
fn plans_know_what_is_pending() {
    let problem = Arc::new(problem("ks1d", &["physics.ticks=20", "data.test_states=2", "swarm.delay=3"]));
    let request = Request::test(problem.agents, 1, 5);
    let best = Kept(Mutex::<Vec<OptimumRecord>>::default());
    let how = Search { iterations: 500, ..Search::new(Goal::Cost) };
    search(&problem, None, &request, &[0], &how, &Threads::single(), &best).unwrap();
    let best = best.0.into_inner().unwrap().remove(0).optimum;
    for every in [20, 7, 1] {
        let kept = Kept(Mutex::<Vec<RecedingRecord>>::default());
        let horizon = Horizon { ahead: 20, every, iterations: 300 };
        recede(&problem, &request, &[0], &horizon, &Threads::single(), &kept).unwrap();
        let cost = kept.0.into_inner().unwrap().remove(0).cost;
        assert!((cost / best - 1.0).abs() < 0.01, "every {every}: {cost} and {best}");
    }
}

#[test]
fn agents_start_where_they_are_asked_to() {
    for name in names() {
        let problem = problem(name, &[]);
        let ask =
            |places: Placement, seed: u64, i: usize| Request { places, ..Request::test(30, 1, seed) }.beginning(&problem, i);
        let usual = ask(Placement::Lattice, 1, 0);
        assert_eq!(usual, InitialCondition::drawn(&problem, 30, 1, Stream::Test, 0));
        let lengths = &problem.stepper.grid().lengths;
        let [low, high] = problem.swarm.bounds(lengths);
        for places in [Placement::Random, Placement::Clustered] {
            let one = ask(places, 1, 0);
            assert_eq!(one, ask(places, 1, 0));
            assert!(one.positions != usual.positions && one.start == usual.start && one.noise == usual.noise, "{name}");
            assert!(one.positions != ask(places, 1, 1).positions && one.positions != ask(places, 2, 0).positions, "{name}");
            let d = lengths.len();
            let inside = |(i, x): (usize, &Real)| (low[i % d]..=high[i % d]).contains(&(*x as f64));
            assert!(one.positions.iter().enumerate().all(inside), "{name}: {:?}", one.positions);
        }
        // Uniform over the box: mean and variance of many positions.
        let many = Request { places: Placement::Random, ..Request::test(2000, 1, 1) }.beginning(&problem, 0);
        let d = lengths.len();
        let part = |(i, x): (usize, &Real)| (*x as f64 - low[i % d]) / (high[i % d] - low[i % d]) - 0.5;
        let parts: Vec<f64> = many.positions.iter().enumerate().map(part).collect();
        let mean = parts.iter().sum::<f64>() / parts.len() as f64;
        let square = parts.iter().map(|x| x * x).sum::<f64>() / parts.len() as f64;
        assert!(mean.abs() < 0.03 && (square - 1.0 / 12.0).abs() < 0.01, "{name}: {mean} {square}");
    }
}
