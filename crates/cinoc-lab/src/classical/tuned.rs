//! The choice of a classical controller among designs.

use super::{Filter, Linearised, Lqr};
use cinoc::evaluate::{Request, scores};
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

/// A controller with its parameters and its score on the instances of the search.
pub struct Tuned {
    /// The controller.
    pub model: Model,
    /// Weight of the effort.
    pub effort: f64,
    /// Disturbance that its filter is designed for, if it has one.
    pub disturbance: Option<f64>,
    /// Mean score on the instances of the search.
    pub score: f64,
}

/// Instances and threads of a search.
pub struct Search<'a> {
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
/// the disturbances of the configuration. With sensor noise they have Kalman filters, one for each of
/// [`DISTURBANCES`], and with a delay they predict the field. `tell` learns of each design and its score.
pub fn tuned(
    registry: &Registry,
    config: &Config,
    weights: &[f64],
    search: &Search,
    tell: &mut dyn FnMut(&Tuned),
) -> Result<Tuned, Error> {
    let problem = registry.parts(config)?.problem;
    let (agents, nodes) = (problem.agents, problem.stepper.grid().count());
    let bytes = MATRICES * size_of::<f64>() as f64 * (nodes * nodes) as f64;
    budget::check(&format!("a regulator of {nodes} nodes"), bytes)?;
    let calm = Overlay::from_pairs(&calm(registry, config)?)?;
    let plant = Linearised::of(&registry.parts(&registry.change(config, &calm)?)?.problem, agents)?;
    let filters = filters(&problem, &plant, search.seed);
    let mut best: Option<Tuned> = None;
    for &effort in weights {
        let Some(lqr) = Lqr::design(&plant, effort) else { continue };
        for (disturbance, filter) in &filters {
            let controller = lqr.controller(&plant, filter.as_ref(), problem.swarm.disturbance().delay);
            let model = controller.model(registry, config, &plant)?;
            let (problem, policy) = model.build(registry)?;
            let request = Request::test(agents, search.instances, search.seed);
            let score = scores(&problem, &*policy, &model.params, &request, search.threads)?.mean(0);
            let tried = Tuned { model, effort, disturbance: *disturbance, score };
            tell(&tried);
            if best.as_ref().is_none_or(|best| score < best.score) {
                best = Some(tried);
            }
        }
    }
    best.ok_or_else(|| Error::bad("the problem", &*problem.name, "one that a linear regulator can stabilise"))
}

/// Returns a filter for each disturbance, or none if sensors have no noise.
fn filters(problem: &Problem, plant: &Linearised, seed: u64) -> Vec<(Option<f64>, Option<Filter>)> {
    let noise = problem.swarm.disturbance().sensor.powi(2);
    if noise == 0.0 {
        return vec![(None, None)];
    }
    let spread = spread(problem, plant, seed);
    let designed =
        DISTURBANCES.iter().filter_map(|&size| Some((Some(size), Some(Filter::design(plant, noise, &(&spread * size))?))));
    designed.collect()
}

/// Returns the second moments of initial fields.
fn spread(problem: &Problem, plant: &Linearised, seed: u64) -> DMatrix<f64> {
    const DRAWS: usize = 256;
    let nodes = plant.field.nrows();
    let mut sum = DMatrix::identity(nodes, nodes) * 1e-9;
    for i in 0..DRAWS {
        let start = InitialCondition::drawn(problem, plant.agents, seed, Stream::Test, i).start;
        let field = DVector::from_iterator(nodes, start.iter().map(|&z| f64::from(z)));
        sum += &field * field.transpose() / DRAWS as f64;
    }
    sum
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
