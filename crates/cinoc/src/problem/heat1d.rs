//! `heat1d`: the heat equation on an interval, tracked by mobile agents.

use super::{Problem, parts};
use crate::config::{Config, Numbers, ObserveConfig, PolicyConfig, SwarmConfig, TrainConfig, Words, number};
use crate::sense::Sight;
use crate::task::{Profile, Tracking};
use cinoc_pde::equation::Heat1d;
use cinoc_pde::{Grid, Real, Stepper};

/// Names with numbers.
pub(super) fn numbers<const N: usize>(pairs: [(&str, f64); N]) -> Numbers {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The paper's setting.
pub(super) fn paper() -> Config {
    Config {
        problem: "heat1d".into(),
        choice: Words::new(),
        obstacles: Vec::new(),
        physics: numbers([("nodes", 100.0), ("length", 1.0), ("nu", 0.2), ("dt", 1e-3), ("ticks", 300.0)]),
        swarm: SwarmConfig {
            agents: 8,
            sigma: 0.1,
            kernel: "peak".into(),
            u_limit: 40.0,
            v_limit: 2.0,
            start_in_cells: false,
            staggered: false,
            start_margin: 0.2,
            start_margin_other: 0.1,
            safety: false,
            clearance: 0.005,
            crowd: 0.0,
            crowd_width: 1.0,
        },
        observe: ObserveConfig { points: 20, window: 0.08, through_position: true, gain: 1.0, obstacles: false, position: true },
        policy: PolicyConfig {
            kind: "deeponet".into(),
            branch: vec![64, 64],
            convolutions: vec![],
            stride: 1,
            trunk: vec![32, 32],
            head: 32,
            fusion: "concat".into(),
            odd: false,
            output_scale: 1.0,
        },
        data: numbers([("start_length", 0.2), ("target_length", 0.4), ("nearer", 0.0)]),
        cost: numbers([("track", 5.0), ("effort", 1e-3), ("bound", 100.0), ("collide", 1.0), ("accel", 0.1), ("radius", 0.05)]),
        train: TrainConfig {
            batch: 32,
            updates: 500,
            approach: 1.0,
            ticks: 0,
            schedule: "exp".into(),
            rate: 1e-3,
            rate_start: 0.0,
            rate_end: 0.0,
            warmup: 0,
            half_life: 2000.0,
            clip: 1.0,
            average: 0.0,
            validate_agents: vec![],
            validate_every: 25,
            validate_instances: 64,
            checkpoint_every: 10,
            mirror: false,
            start_jitter: 0.0,
            dropout: 0.0,
            strength: [1.0, 1.0],
            strength_share: 1.0,
            shard: 8,
            segment: 1,
            memory_mb: 1024,
        },
    }
}

/// Our recipe; `docs/training.md` says what each change is worth.
pub(super) fn tune(config: &mut Config) {
    tune_line(config);
    config.observe.window = 0.14;
    config.data.insert("nearer".into(), 1.0);
    // The heat equation does not care about the sign of a field.
    config.train.mirror = true;
    config.train.strength = [0.7, 4.0];
    config.train.validate_every = 10;
}

/// What helps on every interval: steeper answers to small errors, agents near the walls, other places and strengths, a falling rate.
pub(super) fn tune_line(config: &mut Config) {
    config.policy.fusion = "product".into();
    config.observe.gain = 4.0;
    (config.swarm.start_margin, config.swarm.start_margin_other) = (0.05, 0.05);
    let train = &mut config.train;
    train.schedule = "warmup-cosine".into();
    (train.rate_start, train.rate, train.rate_end, train.warmup) = (1e-4, 2e-3, 0.0, 20);
    train.start_jitter = 0.05;
    train.average = 0.95;
}

/// The problem of a configuration.
pub(super) fn build(config: Config) -> Problem {
    let grid = grid(&config);
    let physics = |name| number(&config.physics, name);
    let stepper = Heat1d::new(grid.clone(), physics("nu"), physics("dt"));
    mobile_line(config, grid, Box::new(stepper), Profile::Bridge)
}

/// The interval of a configuration.
pub(super) fn grid(config: &Config) -> Grid {
    Grid::walls(number(&config.physics, "nodes") as usize, number(&config.physics, "length") as Real)
}

/// What all tracking problems on an interval share.
pub(super) fn mobile_line(config: Config, grid: Grid, stepper: Box<dyn Stepper>, profile: Profile) -> Problem {
    let sight = Sight::around(&grid, &parts::window(&config.observe));
    let swarm = parts::mobile(&grid, &config.swarm, sight, number(&config.physics, "dt"));
    let task = Tracking::new(&grid, &config.data, &config.cost, profile);
    let ticks = number(&config.physics, "ticks") as usize;
    Problem { config, stepper, swarm, task: Box::new(task), ticks, substeps: 1 }
}
