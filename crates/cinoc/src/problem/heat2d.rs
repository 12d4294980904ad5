//! `heat2d`: the heat equation on a square, tracked by mobile agents.

use super::heat1d::{self, numbers};
use super::{Problem, parts};
use crate::config::{Config, number};
use crate::geometry::Disc;
use crate::limit::{Safety, SafetySettings};
use crate::sense::Sight;
use crate::task::{Profile, Tracking};
use cinoc_pde::equation::Heat2d;
use cinoc_pde::{Grid, Real};

/// The paper's setting.
pub(super) fn paper() -> Config {
    let mut config = heat1d::paper();
    config.problem = "heat2d".into();
    config.physics = numbers([("nodes", 32.0), ("length", 1.0), ("nu", 0.2), ("dt", 1e-3), ("ticks", 300.0)]);
    config.swarm.agents = 16;
    config.swarm.sigma = 0.15;
    config.swarm.v_limit = 5.0;
    (config.swarm.start_margin, config.swarm.start_margin_other) = (0.2, 0.2);
    // Twelve samples along each axis, one cell apart.
    config.observe.points = 12;
    config.observe.window = 11.0 / 31.0;
    config.policy.convolutions = vec![16, 32];
    config.policy.branch = vec![32];
    config.policy.head = 64;
    config.data = numbers([("start_length", 0.25), ("target_length", 0.4), ("nearer", 0.0)]);
    config.cost.insert("collide".into(), 20.0);
    config.cost.insert("radius".into(), 0.08);
    config.train.batch = 16;
    config
}

/// Our recipe; `docs/training.md` says what each change is worth.
pub(super) fn tune(config: &mut Config) {
    heat1d::tune_line(config);
    // Cell centres: from there sixteen steady pushes can hold a target about three times better than from the paper's places.
    config.swarm.start_in_cells = true;
    // Sixteen in cells are no crowd; more push as strongly as sixteen would.
    config.swarm.crowd = 2.2;
    // Whoever does not know its place answers everywhere alike, so that other places need no learning.
    config.observe.position = false;
    config.observe.gain = 1.0;
    config.policy.convolutions = vec![];
    config.policy.branch = vec![64, 64];
    config.policy.odd = true;
    config.policy.output_scale = 0.3;
    let train = &mut config.train;
    train.mirror = true;
    (train.batch, train.strength, train.strength_share) = (32, [0.5, 4.0], 0.5);
    // The score is read at tick 100.
    (train.updates, train.ticks, train.validate_every, train.validate_instances) = (120, 100, 10, 96);
}

/// How the safety layer keeps agents out of discs.
pub(super) fn safety_settings(config: &Config) -> SafetySettings {
    SafetySettings {
        clearance: config.swarm.clearance,
        margin: number(&config.cost, "margin"),
        tick_time: number(&config.physics, "dt"),
        speed: config.swarm.v_limit,
    }
}

/// The problem of a configuration, with keep-out discs if it has any.
pub(super) fn build(config: Config) -> Problem {
    let physics = |name| number(&config.physics, name);
    let (nodes, length, dt) = (physics("nodes") as usize, physics("length") as Real, physics("dt"));
    let grid = Grid::plane([nodes; 2], [length; 2], false);
    let stepper = Heat2d::new(grid.clone(), physics("nu"), dt);
    let mut sight = Sight::around(&grid, &parts::window(&config.observe));
    let mut safety = None;
    let mut task = Tracking::new(&grid, &config.data, &config.cost, Profile::Bridge).scored_early();
    if !config.obstacles.is_empty() {
        let (discs, margin) = (Disc::all(&config.obstacles), number(&config.cost, "margin"));
        if config.observe.obstacles {
            sight = sight.with_discs(&discs, config.swarm.clearance);
        }
        safety = config.swarm.safety.then(|| Safety::new(discs.clone(), &grid.lengths, &safety_settings(&config)));
        task = task.around(discs, margin);
    }
    let swarm = parts::mobile(&grid, &config.swarm, sight, dt);
    let swarm = match safety {
        Some(safety) => swarm.safe(safety),
        None => swarm,
    };
    let ticks = physics("ticks") as usize;
    Problem { config, stepper: Box::new(stepper), swarm, task: Box::new(task), ticks, substeps: 1 }
}
