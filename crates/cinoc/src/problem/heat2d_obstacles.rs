//! `heat2d_obstacles`: the same with three discs that the agents keep out of. The field does not feel them.

use super::heat2d;
use crate::config::Config;

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
}
