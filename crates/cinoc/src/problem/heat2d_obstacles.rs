//! `heat2d_obstacles`: the same with three discs that the agents keep out of. The field does not feel them.

use super::heat2d;
use crate::Error;
use crate::config::{Config, number};

/// The paper's setting.
pub(super) fn paper() -> Config {
    let mut config = heat2d::paper();
    config.problem = "heat2d_obstacles".into();
    config.obstacles = vec![[0.15, 0.5, 0.08], [0.85, 0.5, 0.08], [0.5, 0.15, 0.08]];
    config.cost.insert("obstacle".into(), 100.0);
    config.cost.insert("margin".into(), 0.08);
    config
}

/// Our recipe.
pub(super) fn tune(config: &mut Config) {
    heat2d::tune(config);
    config.swarm.safety = true;
    config.observe.obstacles = true;
}

/// Discs that make no sense, or that the safety layer cannot keep agents out of.
pub(super) fn check(config: &Config) -> Result<(), Error> {
    let discs = &config.obstacles;
    let bad = |expected: String| Err(Error::BadValue { key: "obstacles".into(), value: format!("{discs:?}"), expected });
    if discs.is_empty() || discs.iter().any(|disc| disc[2] <= 0.0) {
        return bad("a list of [x, y, radius], like [[0.5, 0.5, 0.1]]".into());
    }
    if !config.swarm.safety {
        return Ok(());
    }
    let (length, clearance) = (number(&config.physics, "length"), config.swarm.clearance);
    let inside = |[x, y, r]: &[f64; 3]| [x, y].into_iter().all(|c| c - r >= clearance && c + r <= length - clearance);
    if !discs.iter().all(inside) {
        return bad(format!("discs {clearance} or more from the walls while swarm.safety is on"));
    }
    let gap = 2.0 * heat2d::safety_settings(config).reach();
    let apart = |[x, y, r]: &[f64; 3], [a, b, s]: &[f64; 3]| (x - a).hypot(y - b) >= r + s + gap;
    if (1..discs.len()).any(|i| discs[..i].iter().any(|other| !apart(&discs[i], other))) {
        return bad(format!("discs {gap:.3} or more apart while swarm.safety is on"));
    }
    Ok(())
}
