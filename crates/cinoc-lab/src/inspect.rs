//! Checks of a problem: derivatives, gradient growth, memory and speed, as printed by `cinoc check`, `bench` and
//! `verify`.

use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::internal::registry::Parts;
use cinoc::internal::sense::Visible;
use cinoc::internal::threads::Threads;
use cinoc::rollout::{Control, GradientTargets, Loss, Rollout};
use cinoc::train::{self, Trainer};
use cinoc::{Config, Error, Problem, Real, Registry};
use cinoc_tape::check::{Point, compare, noise};
use cinoc_tape::{Arena, Shape, Tape, Var, profile};
use std::collections::BTreeMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Relative error of the derivative of each part of a tick against central differences.
pub fn parts(problem: &Problem) -> Vec<(&'static str, f64)> {
    let (size, agents) = (2, problem.agents.min(5));
    let (d, k) = (problem.swarm.dimensions(), problem.swarm.action_width());
    let instances: Vec<_> =
        (0..size).map(|i| problem.task.sample(&mut Rng::new(0, Stream::Test, i as u64), Split::Test)).collect();
    let z: Vec<Real> = instances.iter().flat_map(|i| i.start.iter().copied()).collect();
    let target: Vec<Real> = instances.iter().flat_map(|i| i.target.iter().copied()).collect();
    let start = problem.swarm.start(agents);
    let xi: Vec<Real> =
        (0..size).flat_map(|_| start.iter().copied()).zip(noise(size * agents * d, 3)).map(|(x, n)| x + 0.003 * n).collect();
    let action = noise(size * agents * k, 4);
    let alive = vec![1.0; size * agents];
    let (f, x, a) = (problem.stepper.state(size), Shape::new(&[size, agents, d]), Shape::new(&[size, agents, k]));
    let (driven, force) = {
        let tape = Tape::new(Arena::default(), &[]);
        let force = problem.swarm.actuate(tape.constant(a, &action), tape.constant(x, &xi));
        (force.shape(), force.value())
    };
    // Away from zero, where a density has a kink.
    let inner: Vec<Real> = z.iter().map(|z| 0.05 + 0.9 * z).collect();
    // Interpolation and clamps have kinks: steps small enough not to cross one, large enough for the precision at hand.
    let step = if cfg!(double) { 1e-7 } else { 2e-4 };
    let error = |point: Point, f: &cinoc_tape::check::VarFn| {
        let mut found: Vec<f64> = (0..5).map(|seed| compare(&point, f, step, seed).error).collect();
        found.sort_by(f64::total_cmp);
        found[2]
    };
    let swarm = &problem.swarm;
    let now = vec![0.0; size];
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
            error(vec![(f, z.clone()), (f, target.clone()), (x, xi.clone())], &|v| {
                swarm.observe(&see(problem, v, &alive, &now)).patch()
            }),
        ),
        ("position", error(vec![(f, z), (f, target), (x, xi)], &|v| swarm.observe(&see(problem, v, &alive, &now)).position())),
    ]
}

/// Returns a field, a target and positions as agents observe them at the start, all of them active.
fn see<'t>(problem: &Problem, v: &[Var<'t>], alive: &[Real], now: &[Real]) -> Visible<'t> {
    let tape = v[0].tape();
    let strength = tape.constant([now.len(), alive.len() / now.len()], alive);
    let now = problem.task.timed().then(|| tape.constant([now.len()], now));
    Visible { now, ..Visible::new(v[0], v[1], v[2], strength) }
}

/// Creates a trainer with short episodes and small batches.
fn shortened(registry: &Registry, config: &Config, ticks: usize, batch: usize) -> Result<Trainer, Error> {
    let mut parts = registry.parts(config)?.with_ticks(ticks);
    parts.train.batch = parts.train.batch.min(batch);
    // The gradient itself, not what training makes of it.
    (parts.train.clip_shard, parts.train.gradient_decay) = (0.0, 1.0);
    Trainer::new(parts, 0, Threads::new(0)?)
}

/// Relative error of the gradient of the cost with respect to all parameters, along the gradient, for several steps of
/// central differences.
pub fn sweep(registry: &Registry, config: &Config, ticks: usize, steps: &[f64]) -> Result<Vec<(f64, f64)>, Error> {
    let mut trainer = shortened(registry, config, ticks, 4)?;
    trainer.time_update()?;
    let theta = trainer.params.theta().to_vec();
    // Along the gradient itself the change of the cost is largest, and least affected by rounding.
    let exact = trainer.last_gradient().iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
    let direction: Vec<Real> = trainer.last_gradient().iter().map(|&g| (g as f64 / exact) as Real).collect();
    let mut found = Vec::new();
    for &step in steps {
        let mut at = |side: f64| {
            let moved = theta.iter().zip(&direction).map(|(t, d)| t + (side * step) as Real * d);
            trainer.params.theta_mut().iter_mut().zip(moved).for_each(|(t, m)| *t = m);
            trainer.params.refresh();
            trainer.time_cost()
        };
        let measured = (at(1.0)? - at(-1.0)?) / (2.0 * step);
        found.push((step, (measured - exact).abs() / exact.abs()));
    }
    Ok(found)
}

/// Norm of the gradient at fresh parameters for several horizons. Its growth shows how chaotic the problem is.
pub fn growth(registry: &Registry, config: &Config, horizons: &[usize]) -> Result<Vec<(usize, f64)>, Error> {
    // Checks memory for the longest horizon before the shorter ones are computed.
    if let Some(&longest) = horizons.iter().max() {
        let mut parts = registry.parts(config)?.with_ticks(longest);
        parts.train.batch = parts.train.batch.min(8);
        train::afford(&parts.problem, &*parts.policy, &parts.train, parts.train.batch.div_ceil(parts.train.shard))?;
    }
    let norm = |ticks: usize| {
        let mut trainer = shortened(registry, config, ticks, 8)?;
        trainer.time_update()?;
        let square: f64 = trainer.last_gradient().iter().map(|&g| g as f64 * g as f64).sum();
        Ok((ticks, square.sqrt()))
    };
    horizons.iter().map(|&ticks| norm(ticks)).collect()
}

/// Number of instances of which the median is taken.
const INSTANCES: usize = 3;

/// Relative error of the gradient with respect to actions, initial fields and initial positions of a short episode
/// against central differences, each along its own gradient: the median over a few instances, at the best of several
/// steps. Steps are relative to the size of the input; too large a step shows curvature and kinks, too small a one
/// rounding, and a wrong gradient agrees with none.
pub fn inputs(problem: &Problem, ticks: usize, steps: &[f64]) -> [(&'static str, f64); 3] {
    let agents = problem.agents;
    let width = ticks * agents * problem.swarm.action_width();
    let names = ["actions", "start", "places"];
    let mut errors = vec![[[0.0; INSTANCES]; 3]; steps.len()];
    for instance in 0..INSTANCES as u64 {
        let drawn = problem.task.sample(&mut Rng::new(0, Stream::Test, instance), Split::Test);
        // Away from zero, where a density has a kink.
        let start = drawn.start.iter().map(|z| 0.05 + 0.9 * z).collect();
        let jitter = noise(agents * problem.swarm.dimensions(), 5 + instance);
        let places: Vec<Real> = problem.swarm.start(agents).iter().zip(jitter).map(|(x, n)| x + 0.003 * n).collect();
        // Inside the limits, away from the kinks at zero.
        let actions: Vec<Real> = noise(width, 9 + instance).iter().map(|a| 0.04 * a).collect();
        let mut rollout = Rollout::new(ticks, 1, true, agents);
        let mut cost = |actions: &[Real], start: &[Real], places: &[Real], gradient: bool| -> (f64, [Vec<Real>; 3]) {
            rollout.batch.clear();
            rollout.batch.push(start, &drawn.target, places);
            let wanted = if gradient { GradientTargets::ALL } else { GradientTargets::default() };
            let episode = rollout.forward(problem, Control::Actions(actions), wanted, &mut |_| {});
            let found = match gradient {
                true => {
                    let found = episode.backward(Loss::cost(1.0));
                    [found.actions.to_vec(), found.start.to_vec(), found.positions.to_vec()]
                }
                false => Default::default(),
            };
            (rollout.costs.iter().sum(), found)
        };
        let inputs: [Vec<Real>; 3] = [actions, start, places];
        let (_, gradients) = cost(&inputs[0], &inputs[1], &inputs[2], true);
        for (k, gradient) in gradients.iter().enumerate() {
            let norm = gradient.iter().map(|&g| g as f64 * g as f64).sum::<f64>().sqrt();
            if norm == 0.0 {
                continue;
            }
            let size = inputs[k].iter().fold(1e-3, |most: f64, &x| most.max(x.abs() as f64));
            for (step, errors) in steps.iter().zip(&mut errors) {
                let mut at = |side: f64| {
                    let mut moved = inputs.clone();
                    moved[k].iter_mut().zip(gradient).for_each(|(x, &g)| *x += (side * step * size * g as f64 / norm) as Real);
                    cost(&moved[0], &moved[1], &moved[2], false).0
                };
                let measured = (at(1.0) - at(-1.0)) / (2.0 * step * size);
                errors[k][instance as usize] = (measured - norm).abs() / norm;
            }
        }
    }
    let median = |mut found: [f64; INSTANCES]| {
        found.sort_by(f64::total_cmp);
        found[INSTANCES / 2]
    };
    std::array::from_fn(|k| (names[k], errors.iter().map(|errors| median(errors[k])).fold(f64::INFINITY, f64::min)))
}

/// Bytes that one update needs for recorded values: everything kept, without recomputable values, and with each segment
/// computed twice.
pub fn memory(parts: &Parts) -> [usize; 3] {
    let Parts { problem, policy, train, .. } = parts;
    let params = policy.init(&mut Rng::new(0, Stream::Init, 0));
    let bytes = |rematerialise| train::episode_bytes(problem, &**policy, &params, train, train.batch, rematerialise);
    let [whole, lean] = [false, true].map(bytes);
    [whole, lean, whole / train::training_ticks(problem, train).div_ceil(train.segment)]
}

/// Time of an update.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Milliseconds of each update.
    pub update: Vec<f64>,
    /// Milliseconds of the forward pass alone.
    pub forward: Vec<f64>,
    /// For each update, the number of agents and of instances of each shard.
    pub shards: Vec<Vec<[usize; 2]>>,
    /// Steps of the bare equation per second, best run.
    pub steps_per_second: f64,
    /// Multiply-adds of the network in one update.
    pub flops: f64,
    /// Multiply-adds per second that all threads reach together.
    pub peak: f64,
}

/// Time of an update by operation.
#[derive(Clone, Debug)]
pub struct Operations {
    /// Milliseconds of an update, with a clock around every operation.
    pub whole: f64,
    /// All operations, the most expensive first.
    pub each: Vec<Operation>,
}

/// All operations of one name in an update, divided by the number of threads that go through shards.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Name.
    pub name: &'static str,
    /// Forward pass.
    pub forward: Direction,
    /// Backward pass.
    pub backward: Direction,
}

impl Operation {
    /// Returns the milliseconds of both passes.
    pub fn ms(&self) -> f64 {
        self.forward.ms + self.backward.ms
    }
}

/// Cost of one pass of an operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direction {
    /// Milliseconds.
    pub ms: f64,
    /// Multiply-adds of layers and convolutions.
    pub flops: f64,
    /// Bytes of inputs, results, saved values and cotangents.
    pub bytes: f64,
}

/// Times every operation of an update.
pub fn operations(parts: Parts, threads: usize, updates: usize) -> Result<Operations, Error> {
    let threads = Threads::new(threads)?;
    let count = threads.count();
    let mut trainer = Trainer::new(parts, 0, threads)?;
    trainer.time_update()?;
    profile::enable(true);
    let since = Instant::now();
    for _ in 0..updates {
        trainer.time_update()?;
    }
    let whole = since.elapsed().as_secs_f64() * 1e3 / updates as f64;
    profile::enable(false);
    let tables = trainer.each_thread(profile::take);
    // Where there are fewer shards than threads, the others help and are not profiled.
    let part = 1.0 / (updates * count.min(trainer.shard_sizes().count())) as f64;
    let add = |share: &mut Direction, pass: &profile::Pass| {
        share.ms += 1e3 * part * pass.time.as_secs_f64();
        share.flops += part * pass.flops as f64;
        share.bytes += part * pass.bytes as f64;
    };
    let mut sums: BTreeMap<&'static str, [Direction; 2]> = BTreeMap::new();
    for (name, spent) in tables.iter().flatten() {
        let [forward, backward] = sums.entry(name).or_default();
        add(forward, &spent.forward);
        add(backward, &spent.backward);
    }
    let mut each: Vec<_> = sums.into_iter().map(|(name, [forward, backward])| Operation { name, forward, backward }).collect();
    each.sort_by(|a, b| b.ms().total_cmp(&a.ms()));
    Ok(Operations { whole, each })
}

/// Times updates, forward passes and the uncontrolled equation.
pub fn timing(mut parts: Parts, threads: usize, updates: usize) -> Result<Timing, Error> {
    (parts.train.updates, parts.train.validate_every) = (usize::MAX, usize::MAX);
    let mut trainer = Trainer::new(parts, 0, Threads::new(threads)?)?;
    let milliseconds = |since: Instant| since.elapsed().as_secs_f64() * 1e3;
    let (mut update, mut forward, mut shards) = (Vec::new(), Vec::new(), Vec::new());
    trainer.step()?;
    for _ in 0..updates {
        let since = Instant::now();
        trainer.step()?;
        update.push(milliseconds(since));
        shards.push(trainer.shard_sizes().collect());
    }
    trainer.time_cost()?;
    for _ in 0..(updates / 2).max(3) {
        let since = Instant::now();
        trainer.time_cost()?;
        forward.push(milliseconds(since));
    }
    let Trainer { problem, policy, train, .. } = &trainer;
    let threads = Threads::new(threads)?;
    let decisions = train.batch * train::training_ticks(problem, train);
    let bare = (0..(updates / 2).max(3)).map(|_| bare_seconds(&trainer, &threads)).fold(f64::INFINITY, f64::min);
    let peaks = threads.map(threads.count(), |_| cinoc_tape::kernel::peak::flops_per_second(0.2));
    Ok(Timing {
        update,
        forward,
        shards,
        steps_per_second: (train.batch * problem.ticks * problem.stepper.substeps()) as f64 / bare,
        // Forward once, backward twice: with respect to the inputs and to the weights.
        flops: 3.0 * policy.flops(problem.agents) as f64 * decisions as f64,
        peak: peaks.iter().sum(),
    })
}

/// Seconds of whole updates and of each of their shards.
#[derive(Clone, Debug)]
pub struct Shards {
    /// Number of trained parameters: the length of the vectors summed over shards.
    pub parameters: usize,
    /// For each update, its total time and that of each shard of this process.
    pub updates: Vec<(f64, Vec<f64>)>,
}

/// Times updates and their shards.
pub fn shards(mut parts: Parts, threads: Threads, updates: usize) -> Result<Shards, Error> {
    (parts.train.updates, parts.train.validate_every) = (usize::MAX, usize::MAX);
    let mut trainer = Trainer::new(parts, 0, threads)?;
    let wall = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    trainer.clock = Some(wall);
    trainer.step()?;
    let mut timed = || {
        let since = wall();
        trainer.step()?;
        Ok((wall() - since, trainer.shard_seconds().collect()))
    };
    let updates = (0..updates).map(|_| timed()).collect::<Result<_, Error>>()?;
    Ok(Shards { parameters: trainer.params.theta().len(), updates })
}

/// Returns the seconds of one batch of uncontrolled episodes.
fn bare_seconds(trainer: &Trainer, threads: &Threads) -> f64 {
    let Trainer { problem, train, .. } = trainer;
    let mut shards: Vec<(usize, Vec<Real>)> = (0..train.batch.div_ceil(train.shard))
        .map(|s| {
            let indices = s * train.shard..((s + 1) * train.shard).min(train.batch);
            let start = |i: usize| problem.task.sample(&mut Rng::new(0, Stream::Train, i as u64), Split::Training).start;
            (indices.len(), indices.flat_map(start).collect())
        })
        .collect();
    let since = Instant::now();
    threads.for_each(&mut shards, |_, (size, z)| {
        let field = problem.stepper.state(*size);
        let mut memory = Arena::default();
        let (driven, nothing) = idle(problem, *size);
        for _ in 0..problem.ticks {
            let tape = Tape::new(memory, &[]);
            {
                let next = problem.stepper.step(tape.constant(field, z), tape.constant(driven, &nothing));
                next.read(|value| z.copy_from_slice(value));
            }
            memory = tape.into_arena();
        }
    });
    std::hint::black_box(&shards);
    since.elapsed().as_secs_f64()
}

/// Returns the forcing of the equation under zero control.
fn idle(problem: &Problem, size: usize) -> (Shape, Vec<Real>) {
    let (d, k) = (problem.swarm.dimensions(), problem.swarm.action_width());
    let tape = Tape::new(Arena::default(), &[]);
    let xi: Vec<Real> = (0..size).flat_map(|_| problem.swarm.start(1)).collect();
    let force = problem.swarm.actuate(tape.zeros([size, 1, k]), tape.constant([size, 1, d], &xi));
    (force.shape(), force.value())
}
