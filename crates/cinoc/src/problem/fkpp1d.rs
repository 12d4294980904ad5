//! `fkpp1d`: the Fisher–KPP equation on an interval, tracked by mobile agents.

use super::Problem;
use super::heat1d::{self, grid, mobile_line, numbers};
use crate::config::{Config, number};
use crate::task::Profile;
use cinoc_pde::equation::FisherKpp;

/// The paper's setting.
pub(super) fn paper() -> Config {
    let mut config = heat1d::paper();
    config.problem = "fkpp1d".into();
    config.physics = numbers([("nodes", 100.0), ("length", 1.0), ("nu", 0.005), ("rho", 3.0), ("dt", 1e-3), ("ticks", 300.0)]);
    config.swarm.agents = 20;
    config.swarm.sigma = 0.05;
    config.cost.insert("radius".into(), 0.02);
    config
}

/// Our recipe; `docs/training.md` says what each change is worth.
pub(super) fn tune(config: &mut Config) {
    heat1d::tune_line(config);
    config.train.strength = [0.5, 6.0];
    config.train.updates = 800;
    config.train.validate_every = 20;
}

/// The problem of a configuration.
pub(super) fn build(config: Config) -> Problem {
    let grid = grid(&config);
    let physics = |name| number(&config.physics, name);
    let stepper = FisherKpp::new(grid.clone(), physics("nu"), physics("rho"), physics("dt"));
    mobile_line(config, grid, Box::new(stepper), Profile::Density)
}
