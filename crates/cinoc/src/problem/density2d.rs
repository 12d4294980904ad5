//! `density2d`: a density on a rectangle, carried to its target by agents that blow.

use super::heat1d::{self, numbers};
use super::{Problem, parts};
use crate::actuate::Flow2d;
use crate::agents::{Advance, Swarm};
use crate::config::{Config, number};
use crate::geometry::Rectangle;
use crate::limit::LengthLimit;
use crate::place::Inside;
use crate::sense::Sight;
use crate::task::MomentMatching;
use cinoc_pde::calculus::TransportScheme;
use cinoc_pde::equation::Transport2d;
use cinoc_pde::{Grid, Real};
use std::sync::Arc;

/// The words to choose from.
pub(super) const CHOICES: &[(&str, &[&str])] = &[("scheme", &["conservative", "backward"]), ("view", &["field", "patch"])];

/// How much lower than at the other walls the agents' first lattice ends at the upper one.
const HEADROOM: f64 = 0.1;

/// The paper's setting.
pub(super) fn paper() -> Config {
    let mut config = heat1d::paper();
    config.problem = "density2d".into();
    config.choice = CHOICES.iter().map(|(name, words)| ((*name).to_owned(), words[0].to_owned())).collect();
    config.physics = numbers([
        ("nodes_x", 64.0),
        ("nodes_y", 80.0),
        ("length_x", 1.0),
        ("length_y", 1.25),
        ("drift", 0.003),
        ("gain", 0.3),
        ("diffusion", 0.01),
        ("motion", 0.01),
        ("margin", 0.1),
        ("ticks", 150.0),
    ]);
    config.swarm.agents = 9;
    config.swarm.sigma = 0.2;
    config.swarm.v_limit = 0.8;
    (config.swarm.start_margin, config.swarm.start_margin_other) = (0.15, 0.15);
    // For agents that see patches: twelve samples along each axis, one cell of the x axis apart.
    (config.observe.points, config.observe.window) = (12, 11.0 / 63.0);
    (config.policy.convolutions, config.policy.stride, config.policy.branch) = (vec![16, 32], 2, vec![64]);
    config.policy.head = 64;
    config.data = numbers([
        ("start_low", 0.2),
        ("start_high", 0.5),
        ("target_x_low", 0.4),
        ("target_x_high", 0.8),
        ("target_y_low", 0.5),
        ("target_y_high", 1.0),
        ("apart", 0.25),
        ("sigma_low", 0.08),
        ("sigma_high", 0.14),
        ("amplitude_low", 0.7),
        ("amplitude_high", 1.0),
    ]);
    config.cost = numbers([
        ("w_mean", 4.0),
        ("w_last", 8.0),
        ("mass", 6.0),
        ("track", 0.0),
        ("effort", 1e-3),
        ("collide", 14.0),
        ("accel", 0.1),
        ("radius", 0.15),
    ]);
    (config.train.batch, config.train.shard, config.train.updates) = (4, 2, 1000);
    config
}

/// Our recipe; `docs/training.md` says what each change is worth.
pub(super) fn tune(config: &mut Config) {
    config.policy.fusion = "product".into();
    // A wind of 0.03 carries as far as half a cell per tick allows: with the full range nearly all actions are too strong, and then only
    // their direction matters.
    config.swarm.v_limit = 0.05;
    // Two piles can have the moments of a blob.
    config.cost.insert("track".into(), 100.0);
    let train = &mut config.train;
    train.schedule = "warmup-cosine".into();
    (train.rate_start, train.rate, train.rate_end, train.warmup) = (1e-4, 2e-3, 0.0, 20);
    (train.updates, train.average, train.validate_every) = (200, 0.95, 20);
    // Whoever has learned from other places, and blows less among many, can be one of many.
    train.start_jitter = 0.2;
    config.swarm.crowd = 1.5;
}

/// What the network needs when agents see patches instead of the whole field.
pub(super) fn see_patches(config: &mut Config) {
    (config.policy.stride, config.policy.branch) = (1, vec![32]);
}

/// The problem of a configuration.
pub(super) fn build(config: Config) -> Problem {
    let physics = |name| number(&config.physics, name);
    let lengths = [physics("length_x"), physics("length_y")];
    let nodes = [physics("nodes_x"), physics("nodes_y")].map(|n| n as usize);
    let grid = Grid::plane(nodes, lengths.map(|length| length as Real), false);
    let scheme = if config.choice["scheme"] == "backward" { TransportScheme::Backward } else { TransportScheme::Conservative };
    let stepper = Transport2d::new(grid.clone(), [0.0, physics("drift")], physics("diffusion"), scheme);
    let inside = |margin: f64, headroom: f64| Rectangle {
        low: [margin, margin],
        high: [lengths[0] - margin, lengths[1] - margin - headroom],
    };
    let (start, home) = (inside(config.swarm.start_margin, HEADROOM), inside(physics("margin"), 0.0));
    let window = parts::window(&config.observe);
    let sight = match config.choice["view"].as_str() {
        "patch" => Sight::around(&grid, &window),
        _ => Sight::whole(&grid, window.gain, window.position),
    };
    let real = |corner: [f64; 2]| corner.map(|x| x as Real).to_vec();
    // Agents blow in the direction they move in: the action is the velocity. They add nothing to the field.
    let swarm = Swarm::new(
        2,
        Box::new(Inside(start)),
        Box::new(sight.with_centroids(&grid)),
        Box::new(LengthLimit::new(config.swarm.v_limit)),
        Box::new(Arc::new(Flow2d::new(&grid, config.swarm.sigma, physics("gain")))),
    )
    .moving(Advance::new(physics("motion") as Real, real(home.low), real(home.high)))
    .crowding(parts::crowd(&grid, &config.swarm));
    let task = MomentMatching::new(&grid, &config.data, &config.cost);
    let ticks = physics("ticks") as usize;
    Problem { config, stepper: Box::new(stepper), swarm, task: Box::new(task), ticks, substeps: 1 }
}
