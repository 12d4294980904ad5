//! `ks1d`: the Kuramoto–Sivashinsky equation on a ring, brought to rest by agents that stay in place.

use super::heat1d::numbers;
use super::{Problem, chaos, parts};
use crate::config::{Config, number};
use crate::random::Rng;
use crate::sense::Sight;
use crate::task::Square;
use cinoc_pde::equation::KuramotoSivashinsky1d;
use cinoc_pde::sampler::white_noise;
use cinoc_pde::{Grid, Real};

/// The paper's setting.
pub(super) fn paper() -> Config {
    let physics = numbers([("nodes", 128.0), ("length", 22.0), ("dt", 0.05), ("ticks", 200.0)]);
    let mut config = chaos::paper("ks1d", physics, [10.0, 1e-3], [1000.0, 100.0, 8.0]);
    chaos::sizes(&mut config, [512, 32, 64]);
    (config.swarm.agents, config.swarm.sigma, config.swarm.u_limit) = (8, 1.0, 1.0);
    // Four grid spacings.
    config.observe.window = 0.6875;
    config.train.shard = 16;
    config
}

/// Our recipe; `docs/training.md` says what each change is worth.
pub(super) fn tune(config: &mut Config) {
    chaos::tune(config);
    config.train.updates = 300;
}

/// The problem of a configuration.
pub(super) fn build(config: Config) -> Problem {
    let physics = |name| number(&config.physics, name);
    let grid = Grid::periodic(physics("nodes") as usize, physics("length") as Real);
    let stepper = || KuramotoSivashinsky1d::stepper(grid.clone(), physics("dt"));
    let nodes = grid.count();
    // The mirror image of −z moves as the equation says.
    let pool = chaos::pool(&config, &grid, stepper(), move |rng: &mut Rng| white_noise(&rng.normals(nodes), 0.01), -1.0);
    let (stepper, swarm) = (stepper(), parts::still(&grid, &config.swarm, Sight::around(&grid, &parts::window(&config.observe))));
    chaos::assemble(config, stepper, swarm, pool, Square::EnergyMean)
}
