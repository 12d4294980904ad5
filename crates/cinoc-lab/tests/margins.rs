//! Gain and delay margins, norms, and failed agents, against loops that can be solved by hand, each other, and runs.

use cinoc::env::Env;
use cinoc::internal::agents::Disturbance;
use cinoc::internal::library;
use cinoc::internal::random::Stream;
use cinoc::internal::threads::Threads;
use cinoc::prelude::*;
use cinoc::rollout::InitialCondition;
use cinoc::settings::Overlay;
use cinoc_lab::stability::{self, Margins, Norms, Options, Rest};
use std::sync::Arc;

/// Separate nodes on a ring, each with an agent: `z' = keep·z + u`.
struct Nodes {
    grid: Grid,
    keep: Real,
}

impl Stepper for Nodes {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn dt(&self) -> Real {
        1.0
    }

    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t> {
        z * self.keep + force
    }
}

/// An agent at each node.
struct AtNodes;

impl Place for AtNodes {
    fn start(&self, agents: usize) -> Vec<Real> {
        (0..agents).map(|i| i as Real).collect()
    }
}

/// A task that has to do with nothing here.
struct Nothing;

impl Task for Nothing {
    fn sample(&self, _: &mut Rng, _: Split) -> Instance {
        Instance { start: Vec::new(), target: Vec::new() }
    }

    fn terms(&self) -> &[&'static str] {
        &["error"]
    }

    fn cost<'t>(&self, after: &Transition<'t>, add: &mut dyn FnMut(Var<'t>)) {
        add(after.z.square().mean_keeping(1));
    }

    fn measures(&self) -> &[&'static str] {
        &["error"]
    }

    fn measure(&self, _: &Status, _: &mut [f64]) {}
}

/// Proportional control `u = −tanh(gain·z)` of the node at which an agent is.
struct Proportional(Real);

impl Policy for Proportional {
    fn shapes(&self) -> Vec<(String, Shape)> {
        Vec::new()
    }

    fn declared(&self) -> PolicyInputs {
        PolicyInputs { everything: true, ..PolicyInputs::default() }
    }

    fn act<'t>(&self, _: &Leaves<'t>, _: &Observation<'t>, context: &Context<'t>) -> Decision<'t> {
        let z = context.everything.expect("it was declared").z;
        let &[batch, nodes] = z.shape().sizes() else { panic!("fields on a ring") };
        (z.reshape([batch, nodes, 1]) * -self.0).into()
    }
}

fn nodes(agents: usize, keep: Real, delay: usize) -> Problem {
    let grid = Grid::periodic(agents, agents as Real);
    let sight = Sight::around(&grid, &Window { position: false, ..Window::new(4, 0.5) });
    // Pushes that do not reach the next node.
    let push = Push { sigma: 0.02, kernel: Kernel::Peak };
    let swarm = Swarm::new(1, Box::new(AtNodes), Box::new(sight), Box::new(EachLimit::new(&[1.0])), push.on(&grid, false));
    Problem {
        name: "nodes".into(),
        swarm: swarm.with_disturbance(Disturbance { delay, ..Disturbance::default() }),
        stepper: Box::new(Nodes { grid, keep }),
        task: Box::new(Nothing),
        agents,
        ticks: 10,
    }
}

fn with_margins(failed: &[usize]) -> Options {
    Options { failed: failed.to_vec(), margins: true, norms: false }
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() < tolerance, "{what}: {found}, expected {expected}");
}

fn assert_gains(found: Option<Margins>, expected: [f64; 2], what: &str) {
    let found = found.unwrap_or_else(|| panic!("{what}: no margins")).gain;
    (0..2).for_each(|i| assert_close(found[i], expected[i], 0.02 * expected[i] + 1e-6, what));
}

/// With k times the gain 0.5 and d ticks of delay the factors per tick solve `z^(d+1) − 1.1·z^d + 0.5·k = 0`. Without delay
/// `z = 1.1 − 0.5·k` is in the unit circle for 0.2 < k < 4.2, with one tick for 0.2 < k < 2. On the circle the modulus
/// gives `cos ω = (1 + 1.1² − 0.5²)/2.2`, ω = 0.472, and the phase d = 2.41: two ticks are stable, three are not.
#[test]
fn margins_of_separate_nodes_are_those_of_their_root_locus() {
    let (policy, params) = (Proportional(0.5), Params::default());
    for (delay, gains, further, factor) in [(0, [0.2, 4.2], 2, 0.6), (1, [0.2, 2.0], 1, 0.5f64.sqrt())] {
        let problem = nodes(6, 1.1, delay);
        let found = stability::swarm(&problem, &policy, &params, 6, &with_margins(&[])).unwrap();
        let what = format!("a delay of {delay}");
        assert_eq!((found.agents_per_cell, found.cell_nodes), (1, 1));
        assert_gains(found.margins, gains, &what);
        assert_eq!(found.margins.unwrap().delay, further, "{what}");
        assert_close(found.here().all, f64::ln(factor), 1e-3, &what);
        assert_close(found.uncontrolled, f64::ln(1.1), 1e-3, &what);
        let whole = stability::whole(&problem, &policy, &params, 6).unwrap();
        assert_close(whole.growth.all, f64::ln(factor), 1e-3, &what);
    }
    let late = stability::swarm(&nodes(6, 1.1, 3), &policy, &params, 6, &with_margins(&[])).unwrap();
    assert!(late.growth.all > 0.0 && late.margins.is_none(), "three ticks: {:?}", late.growth);
    // A loop that may be switched off, and delayed at will.
    let calm = stability::swarm(&nodes(6, 0.9, 0), &Proportional(0.05), &params, 6, &with_margins(&[])).unwrap();
    assert_eq!(calm.margins, Some(Margins { gain: [0.0, f64::INFINITY], delay: Margins::MOST_DELAY }));
}

/// The nodes of failed agents are uncontrolled. Failures in a regular pattern make a cell of it.
#[test]
fn failed_agents_make_larger_cells() {
    let (policy, params) = (Proportional(0.5), Params::default());
    for (failed, per_cell) in [(&[][..], 1), (&[0, 4, 8], 4), (&[1, 3, 5, 7, 9, 11], 2), (&[0, 1, 5], 12)] {
        let found = stability::swarm(&nodes(12, 0.9, 0), &policy, &params, 12, &with_margins(failed)).unwrap();
        assert_eq!(found.agents_per_cell, per_cell, "{failed:?}");
        let factor: f64 = if failed.is_empty() { 0.4 } else { 0.9 };
        assert_close(found.here().all, factor.ln(), 1e-3, &format!("{failed:?}"));
        assert_close(found.growth.all, factor.ln(), 1e-3, &format!("{failed:?}, infinite"));
        assert_gains(found.margins, [0.0, 3.8], &format!("{failed:?}"));
        let growing = stability::swarm(&nodes(12, 1.1, 0), &policy, &params, 12, &with_margins(failed)).unwrap();
        assert_eq!(growing.margins.is_some(), failed.is_empty(), "{failed:?}");
    }
    assert!(stability::swarm(&nodes(12, 0.9, 0), &policy, &params, 12, &with_margins(&[12])).is_err());
}

/// A swarm with failed agents as a cell of a lattice, as a whole ring, and in a run of the full nonlinear problem.
#[test]
fn runs_with_failed_agents_grow_and_decay_as_predicted() {
    let (registry, model) = (Registry::builtin(), library::find(&Registry::builtin(), "ks1d:sharp").unwrap());
    for (agents, failed) in [(12, [1, 5, 6]), (8, [0, 3, 4])] {
        let (problem, policy) = (registry.build(&model.config).unwrap(), registry.parts(&model.config).unwrap().policy);
        let options = Options { failed: failed.to_vec(), margins: false, norms: false };
        let found = stability::swarm(&problem, &*policy, &model.params, agents, &options).unwrap();
        assert!(found.agents_per_cell == agents && found.margins.is_none());
        let rest = Rest::without(&problem, &*policy, &model.params, agents, &failed).unwrap();
        let seen = stability::simulate(problem, &*policy, &model.params, &rest, 3000).unwrap();
        let predicted = found.here();
        assert_close(seen.slow, predicted.slow, 0.1 * predicted.slow.abs(), &format!("{agents} agents"));
        assert!(found.infinite().unwrap().slow > predicted.slow - 1e-3, "{agents} agents: {:?}", found.growth);
    }
}

/// Returns the mean change of an action from tick to tick at the end of a run from a small disturbance of the rest state.
fn chatter(problem: Problem, policy: &dyn Policy, params: &Params, rest: &Rest) -> f64 {
    let (nodes, agents, width) = (problem.stepper.grid().count(), rest.places.len(), problem.swarm.action_width());
    let mut env = Env::new(Arc::new(problem), 1, agents, Threads::single()).unwrap().without_time_limit(true);
    let mut rng = Rng::new(1, Stream::Test, 0);
    env.reset(&[true], &mut |_| InitialCondition {
        start: rest.x[..nodes].iter().map(|x| (x + 1e-3 * rng.normal()) as Real).collect(),
        target: vec![0.0; nodes],
        positions: rest.places.clone(),
        ..InitialCondition::default()
    });
    env.set_memory(0, &rest.x[nodes..].iter().map(|&x| x as Real).collect::<Vec<_>>());
    let (mut last, mut changes) = (Vec::new(), Vec::new());
    env.run(policy, params, 3000, &mut |env| {
        let pushes: Vec<f64> = env.action(0).chunks_exact(width).map(|action| action[0] as f64).collect();
        changes.push(pushes.iter().zip(&last).map(|(a, b): (&f64, &f64)| (a - b).abs()).sum::<f64>() / agents as f64);
        last = pushes;
    });
    changes[2900..].iter().sum::<f64>() / 100.0
}

/// The shipped model tolerates a delay of one tick and chatters with two, in runs as in the linearised loop.
#[test]
fn delays_beyond_the_margin_make_runs_chatter() {
    let (registry, model) = (Registry::builtin(), library::find(&Registry::builtin(), "heat1d:sharp").unwrap());
    let (problem, policy) = model.build(&registry).unwrap();
    let margins = stability::swarm(&problem, &*policy, &model.params, 8, &with_margins(&[])).unwrap().margins.unwrap();
    assert_eq!(margins.delay, 1);
    let rest = Rest::of(&problem, &*policy, &model.params, 8).unwrap();
    for delay in 0..=2 {
        let changes = [format!("swarm.delay={delay}"), "swarm.v_limit=1e-9".into()];
        let config = registry.change(&model.config, &Overlay::from_pairs(changes).unwrap()).unwrap();
        let late = registry.build(&config).unwrap();
        let predicted = stability::whole(&late, &*policy, &model.params, 8).unwrap().growth;
        assert!((predicted.all < 0.0) == (delay <= margins.delay), "a delay of {delay}: {predicted:?}");
        let seen = chatter(late, &*policy, &model.params, &rest);
        println!("a delay of {delay}: {seen} per tick, {predicted:?}");
        assert!((seen < 1e-3) == (delay <= margins.delay), "a delay of {delay}: {seen} per tick");
    }
}

/// A larger limit of pushes is a larger gain.
#[test]
fn gains_up_to_the_margin_are_stable() {
    let (registry, model) = (Registry::builtin(), library::find(&Registry::builtin(), "ks1d:sharp").unwrap());
    let analysed = |gain: f64, margins: bool| {
        let config = registry.change(&model.config, &Overlay::from_pairs([format!("swarm.u_limit={gain}")]).unwrap()).unwrap();
        let options = Options { margins, ..Options::default() };
        stability::lattice_with(&registry, &config, &model.params, 2.75, &options).unwrap()
    };
    let [low, high] = analysed(1.0, true).margins.unwrap().gain;
    for (gain, stable) in [(0.95 * low, false), (1.05 * low, true), (0.95 * high, true), (1.05 * high, false)] {
        let growth = analysed(gain, false).here();
        assert!((growth.all < 0.0) == stable, "{gain} in {low} to {high}: {growth:?}");
    }
}

/// With `z' = a·z − g·z[delay] + w` a field without delay is an autoregressive process of order one, with a delay of a tick
/// of order two. A load acts by the mean of 1 and a.
#[test]
fn norms_are_those_of_autoregressive_processes() {
    let norms = |keep: Real, gain: Real, delay: usize| {
        let (problem, options) = (nodes(6, keep, delay), Options { norms: true, ..Options::default() });
        stability::swarm(&problem, &Proportional(gain), &Params::default(), 6, &options).unwrap().norms
    };
    for (keep, gain) in [(0.9, 0.0), (0.9, 0.5), (1.2, 0.5), (0.4, 1.2)] {
        let (found, a) = (norms(keep, gain, 0).unwrap(), keep as f64 - gain as f64);
        let taken = 0.5 * (1.0 + keep as f64);
        assert_close(found.h2, taken / (1.0 - a * a).sqrt(), 1e-5, "order one, H2");
        assert_close(found.h_infinity, taken / (1.0 - a.abs()), 1e-3, "order one, H-infinity");
    }
    let (keep, gain) = (0.9f64, 0.3f64);
    let (found, taken) = (norms(keep as Real, gain as Real, 1).unwrap(), 0.5 * (1.0 + keep));
    let variance = (1.0 + gain) / ((1.0 - gain) * ((1.0 + gain).powi(2) - keep * keep));
    assert_close(found.h2, taken * variance.sqrt(), 1e-5, "order two, H2");
    // |1 − keep·q + gain·q²|² with q = e^{−iω} is least where its derivative in cos ω is zero.
    let cosine = keep * (1.0 + gain) / (4.0 * gain);
    let least = (1.0 - gain).powi(2) + keep * keep - 2.0 * keep * (1.0 + gain) * cosine + 4.0 * gain * cosine * cosine;
    assert_close(found.h_infinity, taken / least.sqrt(), 1e-3, "order two, H-infinity");
    assert!(norms(1.2, 0.1, 0).is_none(), "an unstable loop has no norms");
}

/// A steady load in the slowest wave of `heat1d` is divided by its rate of decay; white noise gives each wave its share, of
/// half the inverse of its rate in continuous time.
#[test]
fn norms_of_heat_are_those_of_its_waves() {
    let heat = cinoc::problem("heat1d").unwrap();
    let found = Norms::uncontrolled(heat.problem()).unwrap().unwrap();
    let (nu, tick) = (0.2, 1e-3);
    let nodes = heat.problem().stepper.grid().count();
    let cells = (nodes - 1) as f64;
    let rate = |k: usize| nu * (2.0 - 2.0 * (std::f64::consts::PI * k as f64 / cells).cos()) * cells.powi(2);
    assert_close(found.h_infinity, 1.0 / rate(1), 1e-4, "H-infinity");
    // A wall takes up half of a load and keeps it until the next tick.
    let waves: f64 = (1..nodes - 1).map(|k| 0.5 / rate(k)).sum();
    assert_close(found.h2, ((waves + 2.0 * 0.25 * tick) / nodes as f64).sqrt(), 1e-4, "H2");
}
