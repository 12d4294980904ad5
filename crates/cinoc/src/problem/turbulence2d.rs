//! `turbulence2d`: decaying turbulence on a torus, brought to rest by agents that stay in place.

use super::heat1d::numbers;
use super::{Problem, chaos, ks2d, parts};
use crate::config::{Config, number};
use crate::random::Rng;
use crate::sense::Sight;
use crate::task::Square;
use cinoc_pde::Grid;
use cinoc_pde::equation::Vorticity2d;
use cinoc_pde::sampler::random_vorticity;
use cinoc_pde::stepper::Substeps;
use std::f64::consts::TAU;

/// Where the energy of random flows lies, and how much there is.
const PEAK: f64 = 10.0 * TAU;
const ENERGY: f64 = 0.8;

/// The paper's setting.
pub(super) fn paper() -> Config {
    let physics = numbers([("nodes", 64.0), ("length", 1.0), ("nu", 5e-4), ("dt", 0.01), ("substeps", 8.0), ("ticks", 150.0)]);
    // Turbulence decays: every state needs a run of its own.
    let mut config = chaos::paper("turbulence2d", physics, [1.0, 1e-5], [2.0, 0.0, 1.0]);
    chaos::sizes(&mut config, [96, 16, 64]);
    (config.swarm.agents, config.swarm.sigma, config.swarm.u_limit) = (64, 0.05, 75.0);
    // Twenty samples along each axis, one cell apart.
    (config.observe.points, config.observe.window) = (20, 19.0 / 64.0);
    config.policy.convolutions = vec![32, 64];
    (config.policy.branch, config.policy.head) = (vec![32], 64);
    let train = &mut config.train;
    (train.batch, train.shard) = (4, 2);
    train.schedule = "warmup-cosine".into();
    (train.rate_start, train.rate, train.rate_end, train.warmup) = (1e-4, 5e-4, 1e-6, 20);
    config
}

/// Our recipe, with as many substeps as the flow asks for.
pub(super) fn tune(config: &mut Config) {
    ks2d::small_branch(config);
    config.swarm.staggered = true;
    config.cost.insert("last".into(), 20.0);
    let train = &mut config.train;
    // Trained with half of the agents dead, so that fewer suffice; with all alive it leaves more than a policy trained with all alive.
    train.dropout = 0.5;
    (train.rate, train.warmup, train.updates, train.validate_every, train.average) = (1e-3, 10, 100, 10, 0.9);
    config.physics.insert("substeps".into(), 0.0);
}

/// The problem of a configuration.
pub(super) fn build(config: Config) -> Problem {
    let physics = |name| number(&config.physics, name);
    let [grid, coarser] = chaos::tori(&config);
    let stepper = |grid: &Grid, substeps| Vorticity2d::stepper(grid.clone(), physics("nu"), physics("dt"), substeps);
    let by_flow = Substeps::Courant(Vorticity2d::COURANT);
    let begin = {
        let grid = coarser.clone();
        move |rng: &mut Rng| random_vorticity(&grid, PEAK, ENERGY, &rng.normals(grid.count()))
    };
    // The mirror image of a flow turns the other way.
    let pool = chaos::pool(&config, &grid, stepper(&coarser, by_flow), begin, -1.0);
    let substeps = match physics("substeps") as usize {
        0 => by_flow,
        fixed => Substeps::Fixed(fixed),
    };
    let (stepper, swarm) =
        (stepper(&grid, substeps), parts::still(&grid, &config.swarm, Sight::around(&grid, &parts::window(&config.observe))));
    chaos::assemble(config, stepper, swarm, pool, Square::EnstrophyLast)
}
