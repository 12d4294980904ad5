//! Stationary linear-quadratic regulators that track a target.

use super::{Linearised, riccati};
use cinoc::evaluate::{Request, Scores, scores};
use cinoc::internal::budget;
use cinoc::internal::threads::Threads;
use cinoc::run::{Model, ModelKind};
use cinoc::settings::Overlay;
use cinoc::{Config, Error, Real, Registry};
use cinoc_tape::{Params, Shape};
use nalgebra::DMatrix;

/// Gains of a regulator: push = −K·z + F·z*.
pub struct Lqr {
    /// K: pushes against the field.
    pub feedback: DMatrix<f64>,
    /// F: pushes against the target.
    pub feedforward: DMatrix<f64>,
}

/// Weights of the effort that are tried, relative to the squared error.
pub const WEIGHTS: [f64; 17] =
    [1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

impl Lqr {
    /// Designs the regulator for the cost |z − z*|²/n + `effort`·|u|²/m per tick, with n nodes and m pushes; `None` if the
    /// Riccati equation has no solution that can be found.
    pub fn design(plant: &Linearised, effort: f64) -> Option<Self> {
        let Linearised { field: a, pushes: b, .. } = plant;
        let (nodes, pushes) = (a.nrows(), b.ncols());
        let q = DMatrix::identity(nodes, nodes) / nodes as f64;
        let weight = effort / pushes as f64;
        let p = riccati(a, b, &q, weight)?;
        let onto = b.transpose() * &p;
        let inverse = (DMatrix::identity(pushes, pushes) * weight + &onto * b).lu();
        let feedback = inverse.solve(&(&onto * a))?;
        // The costate of a constant target: v = (A − B·K)ᵀ·v + Q·z*.
        let closed = a - b * &feedback;
        let costate = (DMatrix::identity(nodes, nodes) - closed.transpose()).lu().solve(&q)?;
        let feedforward = inverse.solve(&(b.transpose() * costate))?;
        Some(Self { feedback, feedforward })
    }

    /// Returns the gains as a model of a problem's configuration.
    fn model(&self, registry: &Registry, config: &Config, plant: &Linearised, agents: usize) -> Result<Model, Error> {
        let changes = ["policy.kind=\"state_feedback\"".to_owned(), format!("swarm.agents={agents}")];
        let config = registry.change(config, &Overlay::from_pairs(&changes)?)?;
        let parts = registry.parts(&config)?;
        let (name, shape) = parts.policy.shapes().remove(0);
        let [inputs, outputs] = *shape.sizes() else { unreachable!("a matrix") };
        let nodes = plant.field.nrows();
        let mut gains = vec![0.0 as Real; inputs * outputs];
        for (push, (&column, unit)) in plant.columns.iter().zip(&plant.unit).enumerate() {
            for node in 0..nodes {
                gains[node * outputs + column] = (-self.feedback[(push, node)] / unit) as Real;
                gains[(nodes + node) * outputs + column] = (self.feedforward[(push, node)] / unit) as Real;
            }
        }
        let mut params = Params::default();
        params.push(&name, Shape::new(&[inputs, outputs]), &gains);
        Ok(Model { config, kind: ModelKind::Best, params, seed: 0, update: 0, validation: None })
    }
}

/// A regulator with its weight of the effort and its score on the instances of the search.
pub struct Tuned {
    /// The regulator.
    pub model: Model,
    /// Weight of the effort.
    pub effort: f64,
    /// Mean score on the instances of the search.
    pub score: f64,
}

/// Matrices as large as the Riccati equation's that its solution needs at a time.
const MATRICES: f64 = 16.0;

/// Designs a regulator for each of these weights, and returns the one with the lowest mean score on validation
/// instances, under the disturbances of the configuration.
pub fn tuned(
    registry: &Registry,
    config: &Config,
    weights: &[f64],
    instances: usize,
    seed: u64,
    threads: &Threads,
    tell: &mut dyn FnMut(f64, f64),
) -> Result<Tuned, Error> {
    let problem = registry.parts(config)?.problem;
    let agents = problem.agents;
    let nodes = problem.stepper.grid().count() as f64;
    budget::check(&format!("a regulator of {nodes} nodes"), MATRICES * size_of::<f64>() as f64 * nodes * nodes)?;
    let calm = Overlay::from_pairs(&calm(registry, config)?)?;
    let plant = Linearised::of(&registry.parts(&registry.change(config, &calm)?)?.problem, agents)?;
    let mut best: Option<Tuned> = None;
    for &effort in weights {
        let Some(lqr) = Lqr::design(&plant, effort) else { continue };
        let model = lqr.model(registry, config, &plant, agents)?;
        let (problem, policy) = model.build(registry)?;
        let request = Request::test(agents, instances, seed);
        let found: Scores = scores(&problem, &*policy, &model.params, &request, threads)?;
        let score = found.mean(0);
        tell(effort, score);
        if best.as_ref().is_none_or(|best| score < best.score) {
            best = Some(Tuned { model, effort, score });
        }
    }
    best.ok_or_else(|| Error::bad("the problem", &*problem.name, "one that a linear regulator can stabilise"))
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
