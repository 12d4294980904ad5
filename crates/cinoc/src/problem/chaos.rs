//! What problems on chaotic equations share: still agents, a pool of states, rest as the aim.

use super::Problem;
use super::heat1d::{self, numbers};
use crate::agents::Swarm;
use crate::config::{Config, Numbers, number};
use crate::pool::{Pool, Recipe};
use crate::random::Rng;
use crate::task::{Square, Stabilise};
use crate::{Error, Real};
use cinoc_pde::{Grid, Stepper};

/// The settings that a chaotic problem starts from: those of `heat1d` without motion.
///
/// `settle` and `apart` are times: from the start of a run to its first state, and from one state to the next; `nodes` along each axis is the
/// grid of the runs if it is not 0, so that a finer one can be given the same states.
pub(super) fn paper(problem: &str, physics: Numbers, cost: [f64; 2], [settle, apart, per_run]: [f64; 3]) -> Config {
    let mut config = heat1d::paper();
    config.problem = problem.into();
    config.physics = physics;
    config.cost = numbers([("track", cost[0]), ("effort", cost[1]), ("last", 0.0)]);
    config.data = numbers([("settle", settle), ("apart", apart), ("per_run", per_run), ("nodes", 0.0)]);
    // Agents stay in the middles of their cells, whatever these say.
    (config.swarm.start_margin, config.swarm.start_margin_other, config.swarm.v_limit) = (0.0, 0.0, 1.0);
    config
}

/// What helps on every torus: agents that answer everywhere alike, push less where they are many, and learn with stronger pushes too.
pub(super) fn tune(config: &mut Config) {
    config.policy.fusion = "product".into();
    config.observe.position = false;
    config.swarm.crowd = 1.0;
    // Too strong an answer makes a field at rest flutter, and costs little over a whole episode; pushes up to four times as strong make it dear.
    (config.train.strength, config.train.strength_share) = ([1.0, 4.0], 0.5);
}

/// How many states there are for training, validation and test.
pub(super) fn sizes(config: &mut Config, [train, validation, test]: [usize; 3]) {
    config.data.extend(numbers([
        ("train_states", train as f64),
        ("validation_states", validation as f64),
        ("test_states", test as f64),
    ]));
    config.train.validate_instances = validation;
}

/// The pool of a configuration: runs of `stepper` from `begin`.
pub(super) fn pool(
    config: &Config,
    shown_on: &Grid,
    stepper: impl Stepper + 'static,
    begin: impl Fn(&mut Rng) -> Vec<Real> + Send + Sync + 'static,
    mirror: Real,
) -> Pool {
    let data = |name| number(&config.data, name);
    let steps = |time: f64| (time / stepper.dt() as f64).round() as usize;
    Pool::new(Recipe {
        name: format!("{} with nu {:?}, substeps {}", config.problem, config.physics.get("nu"), stepper.substeps()),
        settle: steps(data("settle")),
        apart: steps(data("apart")),
        per_run: data("per_run") as usize,
        sizes: ["train_states", "validation_states", "test_states"].map(|name| data(name) as usize),
        shown_on: shown_on.clone(),
        stepper: Box::new(stepper),
        begin: Box::new(begin),
        mirror,
    })
}

/// The torus of a configuration, and that of the runs that its states come from.
pub(super) fn tori(config: &Config) -> [Grid; 2] {
    let (nodes, length) = (number(&config.physics, "nodes"), number(&config.physics, "length") as Real);
    let coarser = number(&config.data, "nodes");
    [nodes, if coarser > 0.0 { coarser } else { nodes }].map(|nodes| Grid::torus([nodes as usize; 2], [length; 2]))
}

/// Puts a problem together.
pub(super) fn assemble(config: Config, stepper: impl Stepper + 'static, swarm: Swarm, pool: Pool, square: Square) -> Problem {
    let task = Stabilise::new(pool, &config.cost, square);
    let ticks = number(&config.physics, "ticks") as usize;
    Problem { config, stepper: Box::new(stepper), swarm, task: Box::new(task), ticks, substeps: 1 }
}

/// Values that a chaotic problem cannot have.
pub(super) fn check(config: &Config) -> Result<(), Error> {
    if !config.data.contains_key("per_run") {
        return Ok(());
    }
    let bad = |key: String, value: f64, expected: &str| {
        Err(Error::BadValue { key, value: value.to_string(), expected: expected.into() })
    };
    let nodes = number(&config.physics, "nodes");
    if nodes % 16.0 != 0.0 {
        return bad("physics.nodes".into(), nodes, "a multiple of 16, like 64 or 128");
    }
    let coarser = number(&config.data, "nodes");
    if coarser != 0.0 && (coarser % 16.0 != 0.0 || coarser > nodes || coarser < 0.0 || config.problem == "ks1d") {
        return bad("data.nodes".into(), coarser, "0, or in the plane a multiple of 16 up to physics.nodes");
    }
    if let Some(&substeps) = config.physics.get("substeps")
        && (substeps < 0.0 || substeps.fract() != 0.0)
    {
        return bad("physics.substeps".into(), substeps, "a whole number; 0 where the equation can choose it");
    }
    for name in ["per_run", "train_states", "validation_states", "test_states"] {
        let value = number(&config.data, name);
        if value < 1.0 || value.fract() != 0.0 {
            return bad(format!("data.{name}"), value, "a whole number of 1 or more");
        }
    }
    for name in ["settle", "apart"] {
        let value = number(&config.data, name);
        if value < 0.0 {
            return bad(format!("data.{name}"), value, "a time of 0 or more");
        }
    }
    Ok(())
}
