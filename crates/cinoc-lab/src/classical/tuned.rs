//! The choice of a classical controller among designs.

use super::{Controller, Filter, Linearised, Local, Lqr, windows};
use cinoc::evaluate::{Request, scores};
use cinoc::internal::agents::Losses;
use cinoc::internal::budget;
use cinoc::internal::random::Stream;
use cinoc::internal::threads::Threads;
use cinoc::rollout::InitialCondition;
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::{Config, Error, Problem, Registry};
use nalgebra::{DMatrix, DVector};

/// Weights of the effort that are tried, relative to the squared error.
pub const WEIGHTS: [f64; 17] =
    [1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// Unknown disturbances per tick that filters are designed for and that are tried, relative to the initial fields.
pub const DISTURBANCES: [f64; 8] = [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2];

/// Pushes of others that filters of single agents are designed for and that are tried, relative to the limits.
pub const OTHERS: [f64; 6] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

/// Readings of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readings {
    /// One controller of all agents reads the whole field.
    Whole,
    /// Each agent reads its own window and decides alone.
    Local,
}

/// A controller with its parameters and its score on the instances of the trials.
pub struct Tuned {
    /// The controller.
    pub model: Model,
    /// Weight of the effort.
    pub effort: f64,
    /// Disturbance that its filter is designed for, if it has one: of [`DISTURBANCES`], or of [`OTHERS`].
    pub disturbance: Option<f64>,
    /// Mean score on the instances of the trials.
    pub score: f64,
}

/// Instances and threads of trials.
pub struct Trials<'a> {
    /// Number of instances.
    pub instances: usize,
    /// Their seed.
    pub seed: u64,
    /// Threads.
    pub threads: &'a Threads,
}

/// Matrices as large as the Riccati equation's that its solution needs at a time.
const MATRICES: f64 = 16.0;

/// Designs a controller for each of these weights of the effort, and returns the one with the lowest mean score under
/// the disturbances of the configuration. With sensor noise those with Kalman filters, one for each of
/// [`DISTURBANCES`], are tried too, and with a delay they predict the field; with local readings each agent always has a
/// filter, one for each of [`OTHERS`]. `tell` learns of each design and its score.
pub fn tuned(
    registry: &Registry,
    config: &Config,
    weights: &[f64],
    readings: Readings,
    trials: &Trials,
    tell: &mut dyn FnMut(&Tuned),
) -> Result<Tuned, Error> {
    let problem = registry.parts(config)?.problem;
    let (agents, nodes) = (problem.agents, problem.stepper.grid().count());
    let disturbance = problem.swarm.disturbance();
    if disturbance.each_sensor || disturbance.lost != Losses::default() {
        let expected = "without swarm.sensor_noise_each and swarm.lost: a regulator reads the field, not samples of it";
        return Err(Error::bad("the sensors", "of samples", expected));
    }
    let states = match readings {
        Readings::Whole => nodes,
        Readings::Local => agents * (nodes + disturbance.delay * agents * problem.swarm.action_width()),
    };
    let square = |size: usize| size_of::<f64>() as f64 * (size * size) as f64;
    budget::check(&format!("a regulator of {states} states"), MATRICES * square(nodes) + 6.0 * square(states))?;
    let calm = Overlay::from_pairs(&calm(registry, config)?)?;
    let plant = Linearised::of(&registry.parts(&registry.change(config, &calm)?)?.problem, agents)?;
    let delay = disturbance.delay;
    let estimators = match readings {
        Readings::Whole => central(&problem, &plant, trials.seed),
        Readings::Local => local(&problem, config, &plant, trials.seed)?,
    };
    let mut best: Option<Tuned> = None;
    for &effort in weights {
        let Some(lqr) = Lqr::design(&plant, effort) else { continue };
        for (disturbance, estimator) in &estimators {
            let controller: Controller = match estimator {
                Estimator::None => lqr.controller(&plant, None, delay),
                Estimator::Whole(filter) => lqr.controller(&plant, Some(filter), delay),
                Estimator::Local(local) => local.controller(&lqr, &plant, delay),
            };
            let model = controller.model(registry, config, &plant)?;
            let (problem, policy) = model.build(registry)?;
            let request = Request::test(agents, trials.instances, trials.seed);
            let score = scores(&problem, &*policy, &model.params, &request, trials.threads)?.mean(0);
            let tried = Tuned { model, effort, disturbance: *disturbance, score };
            tell(&tried);
            if best.as_ref().is_none_or(|best| score < best.score) {
                best = Some(tried);
            }
        }
    }
    best.ok_or_else(|| Error::bad("the problem", &*problem.name, "one that a linear regulator can stabilise"))
}

/// Source of a controller's field.
enum Estimator {
    /// As it is read.
    None,
    /// By a filter of the whole field.
    Whole(Filter),
    /// By a filter of each agent.
    Local(Local),
}

/// Returns no filter and, if sensors have noise and the plant is not too large, one for each disturbance.
fn central(problem: &Problem, plant: &Linearised, seed: u64) -> Vec<(Option<f64>, Estimator)> {
    let (noise, nodes) = (problem.swarm.disturbance().sensor.powi(2), plant.field.nrows());
    let mut found = vec![(None, Estimator::None)];
    if noise == 0.0 || plant.modes.is_some() {
        return found;
    }
    let ([start, _], all) = (spreads(problem, plant, seed), DMatrix::identity(nodes, nodes));
    let design = |size: f64| Some((Some(size), Estimator::Whole(Filter::design(plant, &all, noise, &(&start * size))?)));
    found.extend(DISTURBANCES.into_iter().filter_map(design));
    found
}

/// Returns filters of single agents for each size of the pushes of others.
fn local(problem: &Problem, config: &Config, plant: &Linearised, seed: u64) -> Result<Vec<(Option<f64>, Estimator)>, Error> {
    let Some(width) = config.get("observe.window").and_then(|width| width.as_float()) else {
        return Err(Error::bad("the problem", &*problem.name, "one whose agents read a window (observe.window)"));
    };
    let [start, target] = spreads(problem, plant, seed);
    let (windows, noise) = (windows(problem, plant.agents, width), problem.swarm.disturbance().sensor.powi(2));
    let design =
        |size: f64| Some((Some(size), Estimator::Local(Local::design(plant, &windows, noise, size, [&start, &target])?)));
    Ok(OTHERS.into_iter().filter_map(design).collect())
}

/// Returns the second moments of initial fields and of targets.
fn spreads(problem: &Problem, plant: &Linearised, seed: u64) -> [DMatrix<f64>; 2] {
    const DRAWS: usize = 256;
    let nodes = plant.field.nrows();
    let mut sums = [(); 2].map(|()| DMatrix::identity(nodes, nodes) * 1e-9);
    for i in 0..DRAWS {
        let drawn = InitialCondition::drawn(problem, plant.agents, seed, Stream::Test, i);
        for (sum, field) in sums.iter_mut().zip([drawn.start, drawn.target]) {
            let field = DVector::from_iterator(nodes, field.iter().map(|&z| z as f64));
            *sum += &field * field.transpose() / DRAWS as f64;
        }
    }
    sums
}

/// Returns the changes that switch off noise, delay and lost readings, with which no plant is linearised.
fn calm(registry: &Registry, config: &Config) -> Result<Vec<String>, Error> {
    let off = ["swarm.sensor_noise=0.0", "swarm.sensor_bias=0.0", "swarm.actuator_noise=0.0", "swarm.actuator_bias=0.0"];
    let lost = ["readings", "views", "sensors", "blind", "messages"].map(|what| format!("swarm.lost.{what}=0.0"));
    let all = off.map(str::to_owned).into_iter().chain(lost).chain(["swarm.delay=0".to_owned()]);
    let known =
        |pair: &String| Overlay::from_pairs(std::slice::from_ref(pair)).and_then(|one| registry.change(config, &one)).is_ok();
    Ok(all.filter(known).collect())
}
