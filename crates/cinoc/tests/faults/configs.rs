//! Random settings: refused with a sentence, or built, rolled out and trained.

use crate::dice::{Dice, keys};
use crate::watch::{Watch, cases};
use cinoc::env::Env;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::registry::Parts;
use cinoc::internal::threads::Threads;
use cinoc::policy::Policy;
use cinoc::problem::{Preset, Problem};
use cinoc::rollout::InitialCondition;
use cinoc::settings::Overlay;
use cinoc::train::Trainer;
use cinoc::{Config, Error, Real, Registry};
use std::sync::atomic::{AtomicUsize, Ordering};

/// CPU seconds allowed for building accepted settings: beyond, it is a hang.
pub const BUILD: f64 = 6.0;

/// Checks that an error is one sentence.
pub fn sentence(error: &Error) -> Result<(), String> {
    let text = error.to_string();
    match text.trim().is_empty() || text.contains('\n') || text.len() > 4000 {
        true => Err(format!("not a sentence: {text:?}")),
        false => Ok(()),
    }
}

/// Returns small settings for each problem, so that unchanged ones cost little.
fn small(problem: &str, preset: Preset) -> Vec<String> {
    let mut all =
        vec!["physics.ticks=3", "train.batch=2", "train.validate_instances=1", "train.updates=2", "train.checkpoint_every=1"];
    match problem {
        "heat2d" | "heat2d_obstacles" => all.extend(["physics.nodes=20", "policy.convolutions=[]"]),
        "density2d" => all.extend(["physics.nodes_x=16", "physics.nodes_y=20", "policy.convolutions=[3, 4]"]),
        "ks1d" => all.extend([
            "physics.nodes=32",
            "data.settle=1",
            "data.apart=0.5",
            "data.train_states=3",
            "data.test_states=2",
            "data.validation_states=2",
        ]),
        "ks2d" | "turbulence2d" => all.extend([
            "physics.nodes=32",
            "physics.substeps=2",
            "policy.convolutions=[]",
            "data.settle=0.2",
            "data.apart=0.1",
            "data.train_states=3",
            "data.test_states=2",
            "data.validation_states=2",
            "swarm.agents=9",
        ]),
        _ => {}
    }
    // The tuned recipes have no convolutions.
    all.into_iter().filter(|pair| preset == Preset::Paper || !pair.starts_with("policy.")).map(String::from).collect()
}

/// Estimates the multiplications of a tick of one instance, rather too many.
fn work(problem: &Problem, policy: &dyn Policy, agents: usize) -> f64 {
    let (nodes, count) = (problem.stepper.grid().count() as f64, agents as f64);
    let substeps = if problem.name == "turbulence2d" { problem.stepper.substeps().max(8) } else { problem.stepper.substeps() };
    let weights: f64 = policy.shapes().iter().map(|(_, shape)| shape.count() as f64).sum();
    200.0 * nodes * substeps as f64
        + 4.0 * count * nodes
        + 4.0 * count * count
        + 2.0 * count * weights
        + policy.flops(agents.min(1000)) as f64
}

/// Estimates the multiplications of drawing an instance.
fn drawing(config: &Config, problem: &Problem) -> f64 {
    let nodes = problem.stepper.grid().count() as f64;
    let Some(attractor) = problem.task.attractor() else { return nodes.powf(1.5) };
    let number = |key: &str| config.get(key).map_or(0.0, |x| x.as_float().unwrap_or_else(|| x.as_integer().unwrap_or(0) as f64));
    let largest = cinoc::internal::attractor::USES.iter().map(|purpose| attractor.size(*purpose)).max().unwrap_or(0) as f64;
    let runs = (largest / number("data.per_run")).ceil();
    let steps = number("data.settle") + number("data.per_run").min(largest) * number("data.apart");
    let own = number("data.nodes").max(1.0);
    2000.0 * nodes * runs * steps / problem.tick_time() + nodes * own.sqrt() * own
}

/// Largest amount of work that is tried out.
const AFFORDED: f64 = 2e7;

/// Numbers of settings that were accepted, rolled out and trained with: a test that refuses everything would find
/// nothing.
#[derive(Default)]
pub struct Counts(pub [AtomicUsize; 3]);

impl Counts {
    fn add(&self, i: usize) {
        self.0[i].fetch_add(1, Ordering::Relaxed);
    }
}

/// Tries out accepted settings.
pub fn try_out(registry: &Registry, config: &Config, counts: &Counts) -> Result<(), String> {
    counts.add(0);
    let again = registry.read(&config.to_toml(), "x").map_err(|error| format!("not read again: {error}"))?;
    if again != *config {
        return Err(format!("other settings when read again: {:?}", config.difference(&again)));
    }
    let parts = match registry.parts(config) {
        Ok(parts) => parts,
        Err(error) => return sentence(&error),
    };
    let cost = work(&parts.problem, &*parts.policy, parts.problem.agents);
    if cost < AFFORDED {
        counts.add(1);
        step(&parts)?;
    }
    if cost + drawing(config, &parts.problem) < AFFORDED {
        counts.add(2);
        train(if is_cheap(config, &parts) { parts } else { shortened(parts) })?;
    }
    Ok(())
}

/// Returns true if a whole update of these settings is fast.
pub fn is_cheap(config: &Config, parts: &Parts) -> bool {
    let Parts { problem, train, policy, validation, .. } = parts;
    let tick = |agents: &usize| work(problem, &**policy, *agents);
    let numbers = |listed: &[usize]| if listed.is_empty() { vec![problem.agents] } else { listed.to_vec() };
    let dearest = numbers(&train.agents).iter().map(tick).fold(0.0, f64::max);
    let disturbed = 1.0 + validation.len() as f64;
    let validation = numbers(&train.validate_agents).iter().map(tick).sum::<f64>() + disturbed * tick(&problem.agents);
    let update = train.batch as f64 * cinoc::train::training_ticks(problem, train) as f64 * dearest
        + train.validate_instances as f64 * problem.ticks as f64 * validation;
    update + drawing(config, problem) < 10.0 * AFFORDED
}

/// Runs two ticks from a field of noise with random parameters. Unless diverged, the result is finite.
fn step(parts: &Parts) -> Result<(), String> {
    let (problem, agents) = (&parts.problem, parts.problem.agents);
    let mut env = match Env::new(problem.clone(), 1, agents, Threads::single()) {
        Ok(env) => env,
        Err(error) => return sentence(&error),
    };
    let nodes = problem.stepper.grid().count();
    let mut rng = Rng::new(7, Stream::Test, 0);
    let mut field = || -> Vec<Real> { (0..nodes).map(|_| rng.normal() as Real).collect() };
    let beginning = InitialCondition {
        start: field(),
        target: field(),
        positions: problem.swarm.start(agents),
        ..InitialCondition::default()
    };
    let params = parts.policy.init(&mut Rng::new(1, Stream::Init, 0));
    env.reset(&[true], &mut |_| beginning.clone());
    env.run(&*parts.policy, &params, 2, &mut |_| {});
    let finite = env.field(0).iter().all(|z| z.is_finite());
    match finite || env.last_step().diverged[0] {
        true => Ok(()),
        false => Err("not finite, and not reported as diverged".into()),
    }
}

/// Shortens episodes and batches; all have the problem's own number of agents.
fn shortened(parts: Parts) -> Parts {
    let mut parts = parts.with_ticks(2);
    let train = &mut parts.train;
    (train.batch, train.validate_instances) = (train.batch.min(2), 1);
    (train.agents, train.validate_agents) = (vec![], vec![]);
    parts
}

/// Runs one update and one validation.
fn train(mut parts: Parts) -> Result<(), String> {
    parts.train.validate_every = 1;
    let done = Trainer::new(parts, 3, Threads::single()).and_then(|mut trainer| trainer.step());
    done.map_or_else(|error| sentence(&error), |_| Ok(()))
}

/// Draws a few keys of a problem, mostly with allowed values.
fn changes(registry: &Registry, dice: &mut Dice, problem: &str, preset: Preset) -> Vec<String> {
    let start = registry.config(problem, preset, &Overlay::default()).expect("a preset");
    let keys = keys(&registry.settings(&start).expect("a table"), "");
    let mut pairs = small(problem, preset);
    let strange = dice.one_in(4);
    for i in 0..1 + dice.below(4) {
        let (key, rule) = dice.choose(&keys);
        let value = if strange && i == 0 { dice.outside(&rule) } else { dice.allowed(&rule).to_string() };
        pairs.push(format!("{key}={value}"));
    }
    pairs
}

fn random(kind: &'static str, problems: &[&str], cases: u64) {
    let registry = Registry::builtin();
    let (mut watch, counts) = (Watch::new(kind), Counts::default());
    for case in 0..cases {
        let dice = &mut Dice::new(case);
        let (problem, preset) = (dice.choose(problems), dice.choose(&[Preset::Tuned, Preset::Paper]));
        let pairs = changes(&registry, dice, problem, preset);
        let changed = &pairs[small(problem, preset).len()..];
        watch.case(&format!("case {case}: {problem} {preset:?} {}", changed.join(" ")), BUILD, || {
            let config = Overlay::from_pairs(&pairs).and_then(|overlay| registry.config(problem, preset, &overlay));
            match config {
                Ok(config) => try_out(&registry, &config, &counts),
                Err(error) => sentence(&error),
            }
        });
    }
    let [accepted, rolled, trained] = counts.0.map(AtomicUsize::into_inner);
    println!("{kind}: {accepted} accepted, {rolled} rolled out, {trained} trained");
    watch.end(cases as usize);
    let least = cases as usize / 4;
    assert!(accepted > 2 * least && rolled > least && trained > least, "{accepted}, {rolled} and {trained} of {cases}");
}

#[test]
fn random_settings_on_lines() {
    random("settings on lines", &["heat1d", "fkpp1d", "ks1d"], cases(600));
}

#[test]
fn random_settings_in_the_plane() {
    random("settings in the plane", &["heat2d", "heat2d_obstacles", "density2d", "ks2d", "turbulence2d"], cases(800));
}
