//! `meanfield`: convergence of the gradient of a finite swarm to that of infinitely many agents.
//!
//! The paper's theorem: agents at independent random positions that push with 1/M of a strength each have, for M → ∞,
//! the gradient of the continuous limit. Here the limit is a lattice so fine that its pushes are an integral to many
//! digits, and the distance to it is measured for swarms at random positions (a Monte-Carlo sum: M^(−1/2) is expected)
//! and on coarser lattices. The theorem applies to the paper's policy, memoryless and without observation of
//! neighbours; agents are static, and the cost is that of the field alone.

use super::{Bench, Case, Chart, IMMOBILE, Row, Scale, Study, Subject};
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::registry::Parts;
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, Loss, Outcome, Rollout};
use cinoc::settings::Overlay;
use cinoc::train::Trainer;
use cinoc::{Error, Problem, Real};
use cinoc_tape::Params;

/// Multiples of the trained number of agents, up to half of the number that represents the limit: beyond, the distance
/// would be one to a finite swarm.
const TIMES: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// Number of random swarms for each number of agents.
const DRAWS: usize = 16;

/// Agents along each axis that represent infinitely many, on a line and in the plane.
const LIMIT: [usize; 2] = [1024, 40];

/// Settings of the theorem, as far as a problem has such keys.
const SETTING: [&str; 7] =
    [IMMOBILE, "cost.effort=0", "cost.collide=0", "cost.bound=0", "cost.accel=0", "physics.ticks=50", "train.updates=40"];

pub const STUDY: Study = Study {
    name: "meanfield",
    about: "How far the gradient of M agents is from that of infinitely many, with pushes of 1/M each.",
    x: Scale::log("agents M"),
    y: Scale::log("distance of gradients, relative"),
    chart: Chart::Lines,
    effort: false,
    cases,
    measure,
};

const UNTRAINED: &str = "random places, untrained";
const TRAINED: &str = "random places, trained";
const LATTICE: &str = "lattice, trained";

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    // Agents that must move to act have no such limit.
    if subject.number("swarm.u_limit").is_none() {
        return Ok(Vec::new());
    }
    Ok([UNTRAINED, TRAINED, LATTICE].map(|line| Case { line: line.into(), ..Case::default() }).into())
}

fn measure(bench: &Bench, case: &Case) -> Result<Vec<Row>, Error> {
    let parts = parts(bench)?;
    let seed = bench.model.seed;
    let params = match case.line.as_str() {
        UNTRAINED => parts.policy.init(&mut Rng::new(seed, Stream::Init, 0)),
        _ => trained(bench, seed)?,
    };
    let gradient = |places: &[Real]| gradient(&parts, &params, bench.seed, places);
    let d = parts.problem.swarm.dimensions();
    let infinite = lattice(&parts.problem, LIMIT[d - 1]);
    let limit = gradient(&infinite)?;
    let size = norm(&limit);
    let mut rows = Vec::new();
    let numbers = TIMES.map(|times| times * parts.problem.agents);
    for agents in numbers.into_iter().filter(|agents| 2 * agents * d <= infinite.len()) {
        let side = (agents as f64).powf(1.0 / d as f64).round() as usize;
        let swarms: Vec<Vec<Real>> = match case.line == LATTICE {
            true => vec![lattice(&parts.problem, side)],
            false => (0..DRAWS).map(|draw| random(&parts.problem, agents, bench.seed, draw)).collect(),
        };
        let (agents, draws) = (swarms[0].len() / d, swarms.len());
        let parted = bench.threads.map(draws, |i| gradient(&swarms[i]));
        let mut squares = Vec::with_capacity(draws);
        for one in parted {
            let difference: Vec<Real> = one?.iter().zip(&limit).map(|(a, b)| a - b).collect();
            squares.push((norm(&difference) / size).powi(2));
        }
        let value = (squares.iter().sum::<f64>() / draws as f64).sqrt();
        let ends = |fold: fn(f64, f64) -> f64| squares.iter().copied().reduce(fold).unwrap_or(f64::NAN).sqrt();
        let row = Row { x: agents as f64, value, low: ends(f64::min), high: ends(f64::max), ..Row::of(case, agents, draws) };
        rows.push(row);
    }
    if rows.is_empty() {
        let most = infinite.len() / (2 * d);
        return Err(Error::bad(
            "swarm.agents of the paper's preset",
            parts.problem.agents.to_string(),
            format!("at most {most}"),
        ));
    }
    Ok(rows)
}

/// Builds the problem and the policy of the theorem.
fn parts(bench: &Bench) -> Result<Parts, Error> {
    let name = bench.model.config.problem();
    let mut config = bench.registry.config(name, Preset::Paper, &Overlay::default())?;
    for change in SETTING {
        // Not every problem has every key.
        if let Ok(changed) = bench.registry.change(&config, &Overlay::from_pairs([change])?) {
            config = changed;
        }
    }
    bench.registry.parts(&config)
}

/// Returns the parameters after a short training.
fn trained(bench: &Bench, seed: u64) -> Result<Params, Error> {
    let mut trainer = Trainer::new(parts(bench)?, seed, bench.threads.try_clone()?)?;
    while !trainer.finished() {
        trainer.step()?;
    }
    Ok(trainer.last())
}

/// Computes the gradient of the cost of one instance with respect to the parameters, for a static swarm at these
/// positions.
fn gradient(parts: &Parts, params: &Params, seed: u64, places: &[Real]) -> Result<Vec<Real>, Error> {
    let Parts { problem, policy, .. } = parts;
    let agents = places.len() / problem.swarm.dimensions();
    let mut rollout = Rollout::new(problem.ticks, 1, false, agents);
    let instance = problem.task.sample(&mut Rng::new(seed, Stream::Test, 0), cinoc::internal::random::Split::Test);
    rollout.batch.push(&instance.start, &instance.target, places);
    rollout.batch.strength.fill(problem.agents as Real / agents as Real);
    rollout.clear_gradient();
    let episode = rollout.forward(problem, Control::Policy(&**policy, params), GradientTargets::PARAMS, &mut |_| {});
    if episode.outcome != Outcome::Finished {
        return Err(Error::bad("the number of agents", agents.to_string(), "another: an episode diverged"));
    }
    Ok(episode.backward(Loss::cost(1.0)).params.to_vec())
}

/// Returns the centres of equal cells, `side` along each axis.
fn lattice(problem: &Problem, side: usize) -> Vec<Real> {
    let lengths = &problem.stepper.grid().lengths;
    let count = side.pow(lengths.len() as u32);
    let at = |i: usize, axis: usize| {
        let cell = i / side.pow(axis as u32) % side;
        (cell as Real + 0.5) / side as Real * lengths[axis]
    };
    (0..count).flat_map(|i| (0..lengths.len()).map(move |axis| at(i, axis))).collect()
}

/// Returns independent positions, uniformly distributed over the domain.
fn random(problem: &Problem, agents: usize, seed: u64, draw: usize) -> Vec<Real> {
    let lengths = &problem.stepper.grid().lengths;
    let mut rng = Rng::new(seed, Stream::Places, draw as u64);
    (0..agents).flat_map(|_| lengths.iter()).map(|length| rng.uniform(0.0, *length as f64) as Real).collect()
}

fn norm(x: &[Real]) -> f64 {
    x.iter().map(|x| (*x as f64).powi(2)).sum::<f64>().sqrt()
}
