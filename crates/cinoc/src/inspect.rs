//! Is a problem sound? Derivatives, gradient growth, memory and speed: what `cinoc check`, `bench` and `verify` print.

use crate::policy::{Policy, Uncontrolled};
use crate::random::{Rng, Stream};
use crate::rollout::{Batch, Outcome, Rollout, Scene};
use crate::task::Use;
use crate::train::{self, Trainer};
use crate::{Config, Error, Problem, Real};
use cinoc_tape::check::{Point, compare, noise};
use cinoc_tape::{Memory, Params, Shape, Tape, profile};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::Instant;

/// Error of the derivative of each part of a tick against central differences, relative.
pub fn parts(problem: &Problem) -> Vec<(&'static str, f64)> {
    let (size, agents) = (2, problem.config.swarm.agents.min(5));
    let (d, k) = (problem.swarm.dimensions(), problem.swarm.action_width());
    let instances: Vec<_> = (0..size).map(|i| problem.task.sample(&mut Rng::new(0, Stream::Test, i as u64), Use::Test)).collect();
    let field: Vec<usize> = std::iter::once(size).chain(problem.stepper.grid().nodes.iter().copied()).collect();
    let z: Vec<Real> = instances.iter().flat_map(|i| i.start.iter().copied()).collect();
    let target: Vec<Real> = instances.iter().flat_map(|i| i.target.iter().copied()).collect();
    let start = problem.swarm.start(agents);
    let xi: Vec<Real> =
        (0..size).flat_map(|_| start.iter().copied()).zip(noise(size * agents * d, 3)).map(|(x, n)| x + 0.003 * n).collect();
    let action = noise(size * agents * k, 4);
    let alive = vec![1.0; size * agents];
    let (f, x, a) = (Shape::new(&field), Shape::new(&[size, agents, d]), Shape::new(&[size, agents, k]));
    let (driven, force) = {
        let tape = Tape::new(Memory::default(), &[]);
        let force = problem.swarm.actuate(tape.constant(a, &action), tape.constant(x, &xi));
        (force.shape(), force.value())
    };
    // Away from zero, where a density has a kink.
    let inner: Vec<Real> = z.iter().map(|z| 0.05 + 0.9 * z).collect();
    // Interpolation and clamps have kinks: steps small enough not to cross one, large enough for the precision at hand.
    let step = if cfg!(feature = "f64") { 1e-7 } else { 2e-4 };
    let error = |point: Point, f: &cinoc_tape::check::Function| {
        let mut found: Vec<f64> = (0..5).map(|seed| compare(&point, f, step, seed).error).collect();
        found.sort_by(f64::total_cmp);
        found[2]
    };
    let swarm = &problem.swarm;
    vec![
        ("step", error(vec![(f, inner), (driven, force)], &|v| problem.stepper.step(v[0], v[1]))),
        ("force", error(vec![(a, action.clone()), (x, xi.clone())], &|v| swarm.actuate(v[0], v[1]))),
        ("move", error(vec![(x, xi.clone()), (a, action.clone())], &|v| swarm.advance(v[0], v[1]))),
        (
            "limits",
            error(vec![(a, action), (x, xi.clone())], &|v| {
                swarm.saturate(v[0], swarm.strength(v[0].tape().constant([size, agents], &alive), v[1]))
            }),
        ),
        (
            "observe",
            error(vec![(f, z.clone()), (f, target.clone()), (x, xi.clone())], &|v| swarm.observe(v[0], v[1], v[2]).patch()),
        ),
        ("position", error(vec![(f, z), (f, target), (x, xi)], &|v| swarm.observe(v[0], v[1], v[2]).position())),
    ]
}

/// Where instances come from long free runs, takes few of them after short ones: soon made, and good enough to check a problem with.
pub fn hasten(config: &mut Config) {
    for (name, value) in &mut config.data {
        match name.as_str() {
            "settle" | "apart" => *value *= 0.1,
            "train_states" | "validation_states" | "test_states" => *value = 6.0,
            _ => {}
        }
    }
}

/// A shortened copy of a problem.
fn shortened(config: &Config, ticks: usize, batch: usize) -> Result<Trainer, Error> {
    let mut config = config.clone();
    config.physics.insert("ticks".into(), ticks as f64);
    (config.train.batch, config.train.ticks) = (batch, 0);
    Trainer::new(Problem::new(config)?, 0, 0)
}

/// Error of the gradient of the whole cost by all parameters, along the gradient, for several steps of central differences.
pub fn sweep(config: &Config, ticks: usize, steps: &[f64]) -> Result<Vec<(f64, f64)>, Error> {
    let mut trainer = shortened(config, ticks, 4)?;
    trainer.rehearse(true)?;
    let theta = trainer.params.theta().to_vec();
    // Along the gradient itself: the change of the cost is largest there, and least lost in rounding.
    let exact = trainer.last_gradient().iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
    let direction: Vec<Real> = trainer.last_gradient().iter().map(|&g| (g as f64 / exact) as Real).collect();
    let mut found = Vec::new();
    for &step in steps {
        let mut at = |side: f64| {
            let moved = theta.iter().zip(&direction).map(|(t, d)| t + (side * step) as Real * d);
            trainer.params.theta_mut().iter_mut().zip(moved).for_each(|(t, m)| *t = m);
            trainer.params.refresh();
            trainer.rehearse(false)
        };
        let measured = (at(1.0)? - at(-1.0)?) / (2.0 * step);
        found.push((step, (measured - exact).abs() / exact.abs()));
    }
    Ok(found)
}

/// Norm of the gradient at fresh parameters for several horizons: how fast it grows is how chaotic the problem is.
pub fn growth(config: &Config, horizons: &[usize]) -> Result<Vec<(usize, f64)>, Error> {
    let norm = |ticks: usize| {
        let mut trainer = shortened(config, ticks, config.train.batch.min(8))?;
        trainer.rehearse(true)?;
        let square: f64 = trainer.last_gradient().iter().map(|&g| g as f64 * g as f64).sum();
        Ok((ticks, square.sqrt()))
    };
    horizons.iter().map(|&ticks| norm(ticks)).collect()
}

/// Bytes that one update needs for recorded values: kept whole, kept thriftily, and with each segment computed twice.
pub fn memory(problem: &Problem) -> Result<[usize; 3], Error> {
    let policy = problem.policy()?;
    let params = policy.init(&mut Rng::new(0, Stream::Init, 0));
    let train = &problem.config.train;
    let [whole, thrifty] = [false, true].map(|thrifty| train::episode_bytes(problem, &*policy, &params, train.batch, thrifty));
    Ok([whole, thrifty, whole / problem.ticks.div_ceil(train.segment)])
}

/// What an update costs.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Milliseconds of each update.
    pub update: Vec<f64>,
    /// Milliseconds of the loss alone.
    pub forward: Vec<f64>,
    /// Steps of the bare equation per second, best run.
    pub steps_per_second: f64,
    /// Multiplications and additions of the network in one update.
    pub flops: f64,
    /// What all threads together can do per second.
    pub peak: f64,
}

/// How the time of an update is spent.
#[derive(Clone, Debug)]
pub struct Operations {
    /// Milliseconds of an update, with a clock around every operation.
    pub whole: f64,
    /// Name of each operation and milliseconds of one thread, computing it and its derivative; the dearest first.
    pub each: Vec<(&'static str, f64, f64)>,
}

/// Times every operation of an update.
pub fn operations(config: &Config, threads: usize, updates: usize) -> Result<Operations, Error> {
    let mut trainer = Trainer::new(Problem::new(config.clone())?, 0, threads)?;
    trainer.rehearse(true)?;
    profile::enable(true);
    let since = Instant::now();
    for _ in 0..updates {
        trainer.rehearse(true)?;
    }
    let whole = since.elapsed().as_secs_f64() * 1e3 / updates as f64;
    profile::enable(false);
    let tables = trainer.each_thread(profile::take);
    let mut sums: BTreeMap<&'static str, [f64; 2]> = BTreeMap::new();
    for (name, spent) in tables.iter().flatten() {
        let sum = sums.entry(name).or_default();
        let share = 1e3 / (updates * tables.len()) as f64;
        sum[0] += spent.forward.as_secs_f64() * share;
        sum[1] += spent.backward.as_secs_f64() * share;
    }
    let mut each: Vec<_> = sums.into_iter().map(|(name, [forward, backward])| (name, forward, backward)).collect();
    each.sort_by(|a, b| (b.1 + b.2).total_cmp(&(a.1 + a.2)));
    Ok(Operations { whole, each })
}

/// Times updates, losses and the bare equation.
pub fn timing(config: &Config, threads: usize, updates: usize) -> Result<Timing, Error> {
    let mut config = config.clone();
    (config.train.updates, config.train.validate_every) = (usize::MAX, usize::MAX);
    let mut trainer = Trainer::new(Problem::new(config)?, 0, threads)?;
    let milliseconds = |since: Instant| since.elapsed().as_secs_f64() * 1e3;
    let (mut update, mut forward) = (Vec::new(), Vec::new());
    trainer.step()?;
    for _ in 0..updates {
        let since = Instant::now();
        trainer.step()?;
        update.push(milliseconds(since));
    }
    trainer.rehearse(false)?;
    for _ in 0..(updates / 2).max(3) {
        let since = Instant::now();
        trainer.rehearse(false)?;
        forward.push(milliseconds(since));
    }
    let Trainer { problem, policy, .. } = &trainer;
    let pool = train::pool(threads);
    let train = &problem.config.train;
    let (decisions, agents) = (train.batch * problem.ticks, problem.config.swarm.agents);
    let bare = (0..(updates / 2).max(3)).map(|_| bare_seconds(problem, &pool)).fold(f64::INFINITY, f64::min);
    let peaks: Vec<f64> = pool.broadcast(|_| cinoc_tape::kernel::peak::flops_per_second(0.2));
    Ok(Timing {
        update,
        forward,
        steps_per_second: (train.batch * problem.ticks * problem.substeps * problem.stepper.substeps()) as f64 / bare,
        // Forward once, backward twice: by the inputs and by the weights.
        flops: (3 * policy.flops(agents) * decisions) as f64,
        peak: peaks.iter().sum(),
    })
}

/// Seconds for one batch of free episodes.
fn bare_seconds(problem: &Problem, pool: &rayon::ThreadPool) -> f64 {
    let train = &problem.config.train;
    let shards: Vec<Rollout> = (0..train.batch.div_ceil(train.shard))
        .map(|s| {
            let mut rollout = Rollout::new(1, 1, false, 0);
            for i in s * train.shard..((s + 1) * train.shard).min(train.batch) {
                let instance = problem.task.sample(&mut Rng::new(0, Stream::Train, i as u64), Use::Training);
                rollout.batch.push(&instance.start, &instance.target, &[]);
            }
            rollout
        })
        .collect();
    let since = Instant::now();
    pool.install(|| {
        shards.into_par_iter().for_each(|shard| {
            let nodes = &problem.stepper.grid().nodes;
            let field: Vec<usize> = std::iter::once(shard.batch.size).chain(nodes.iter().copied()).collect();
            let (mut memory, mut z) = (Memory::default(), shard.batch.z);
            let (driven, nothing) = idle(problem, shard.batch.size);
            for _ in 0..problem.ticks {
                let tape = Tape::new(memory, &[]);
                {
                    let force = tape.constant(driven, &nothing);
                    let mut next = tape.constant(&field[..], &z);
                    for _ in 0..problem.substeps {
                        next = problem.stepper.step(next, force);
                    }
                    next.read(|value| z.copy_from_slice(value));
                }
                memory = tape.into_memory();
            }
            std::hint::black_box(z);
        });
    });
    since.elapsed().as_secs_f64()
}

/// What drives the equation while agents do nothing.
fn idle(problem: &Problem, size: usize) -> (Shape, Vec<Real>) {
    let (d, k) = (problem.swarm.dimensions(), problem.swarm.action_width());
    let tape = Tape::new(Memory::default(), &[]);
    let xi: Vec<Real> = (0..size).flat_map(|_| problem.swarm.start(1)).collect();
    let force = problem.swarm.actuate(tape.zeros([size, 1, k]), tape.constant([size, 1, d], &xi));
    (force.shape(), force.value())
}

/// One episode as numbers, tick by tick from the start, for drawing.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Fields.
    pub z: Vec<Vec<Real>>,
    /// Positions, `[agents, d]`.
    pub xi: Vec<Vec<Real>>,
    /// Actions, `[agents, k]`; one fewer than fields.
    pub action: Vec<Vec<Real>>,
    /// Who is alive.
    pub alive: Vec<Vec<bool>>,
    /// The field to be reached.
    pub target: Vec<Real>,
    /// Ticks at the beginning in which nobody acts.
    pub before: usize,
}

/// Rolls out one instance and keeps everything; the policy takes over after `before` ticks in which nobody acts.
pub fn trace(
    problem: &Problem,
    policy: &dyn Policy,
    params: &Params,
    request: &crate::evaluate::Request,
    instance: usize,
    before: usize,
) -> (Trace, Outcome) {
    let mut rollout = crate::evaluate::prepare(problem, request, &[instance]);
    let mut trace = Trace { target: rollout.batch.target.clone(), before, ..Trace::default() };
    let watch = |trace: &mut Trace, scene: &Scene| {
        trace.z.push(scene.z.to_vec());
        trace.xi.push(scene.xi.to_vec());
        trace.alive.push(scene.strength.iter().map(|a| *a > 0.0).collect());
        if scene.tick > 0 {
            trace.action.push(scene.action.to_vec());
        }
    };
    if before > 0 {
        let mut free = Rollout::new(before, 1, false, request.agents);
        free.batch = Batch { failure: None, ..rollout.batch.clone() };
        let nobody = Uncontrolled { action_width: problem.swarm.action_width() };
        let outcome = free.forward(problem, &nobody, &Params::default(), false, &mut |scene| watch(&mut trace, scene));
        if let Outcome::Diverged { .. } = outcome {
            return (trace, outcome);
        }
        rollout.batch.z.copy_from_slice(free.end().0);
        rollout.batch.xi.copy_from_slice(free.end().1);
        // The rollout begins with the moment that this one ended with.
        trace.z.pop();
        trace.xi.pop();
        trace.alive.pop();
    }
    let outcome = rollout.forward(problem, policy, params, false, &mut |scene| watch(&mut trace, scene));
    (trace, outcome)
}
