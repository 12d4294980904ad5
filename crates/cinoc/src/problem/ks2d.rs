//! `ks2d`: the Kuramoto–Sivashinsky equation on a torus, brought to rest by agents that stay in place.

use super::heat1d::numbers;
use super::{Problem, chaos, parts};
use crate::config::{Config, number};
use crate::random::Rng;
use crate::sense::Sight;
use crate::task::Square;
use cinoc_pde::equation::KuramotoSivashinsky2d;
use cinoc_pde::sampler::waves_with_noise;
use std::f64::consts::TAU;

/// Substeps of a tick in free runs. Errors of the fourth order: states are as good as with the twenty that strong forces get.
const FREE_SUBSTEPS: usize = 4;

/// The paper's setting.
pub(super) fn paper() -> Config {
    let physics = numbers([("nodes", 64.0), ("length", 32.0), ("dt", 0.1), ("substeps", 20.0), ("ticks", 50.0)]);
    let mut config = chaos::paper("ks2d", physics, [100.0, 1e-4], [200.0, 20.0, 6.0]);
    chaos::sizes(&mut config, [96, 32, 64]);
    (config.swarm.agents, config.swarm.sigma, config.swarm.u_limit) = (100, 1.2, 10.0);
    // Twelve samples along each axis, half a unit of length apart.
    (config.observe.points, config.observe.window) = (12, 5.5);
    config.policy.convolutions = vec![16, 32];
    (config.policy.branch, config.policy.head) = (vec![32], 64);
    let train = &mut config.train;
    (train.batch, train.shard) = (4, 2);
    train.schedule = "warmup-cosine".into();
    (train.rate_start, train.rate, train.rate_end, train.warmup) = (5e-4, 1e-3, 1e-5, 50);
    config
}

/// Our recipe; `docs/training.md` says what each change is worth.
pub(super) fn tune(config: &mut Config) {
    small_branch(config);
    // A square lattice of a hundred agents does not feel one of the waves that grow; the most even one feels all.
    config.swarm.staggered = true;
    // An agent that sees more than one wave learns to answer some shorter waves with the wrong sign: denser swarms then drive them.
    config.observe.window = 4.0;
    // A hundred agents stand too far apart for their pushes to overlap much.
    (config.swarm.crowd_width, config.swarm.crowd) = (2.0, 3.0);
    // The score is the energy at the end; most of the mean is that of the beginning.
    config.cost.insert("last".into(), 1000.0);
    let train = &mut config.train;
    train.strength_share = 1.0;
    (train.rate, train.warmup, train.updates, train.validate_every, train.average) = (2e-3, 10, 200, 20, 0.9);
}

/// What helps on every torus, and a branch without convolutions.
pub(super) fn small_branch(config: &mut Config) {
    chaos::tune(config);
    config.policy.convolutions = vec![];
    config.policy.branch = vec![64, 64];
}

/// The problem of a configuration.
pub(super) fn build(config: Config) -> Problem {
    let physics = |name| number(&config.physics, name);
    let ([grid, coarser], tick) = (chaos::tori(&config), physics("dt"));
    let begin = {
        let grid = coarser.clone();
        move |rng: &mut Rng| {
            let phases = std::array::from_fn(|_| rng.uniform(0.0, TAU));
            waves_with_noise(&grid, phases, &rng.normals(grid.count()))
        }
    };
    let free = KuramotoSivashinsky2d::stepper(coarser, tick, FREE_SUBSTEPS);
    let pool = chaos::pool(&config, &grid, free, begin, 1.0);
    let stepper = KuramotoSivashinsky2d::stepper(grid.clone(), tick, (physics("substeps") as usize).max(1));
    let swarm = parts::still(&grid, &config.swarm, Sight::around(&grid, &parts::window(&config.observe)));
    chaos::assemble(config, stepper, swarm, pool, Square::EnergyLast)
}
