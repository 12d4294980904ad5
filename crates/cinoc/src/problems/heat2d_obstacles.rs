//! `heat2d_obstacles`: the heat equation on a square with three discs that the agents keep out of. The field does not feel them.

use super::common::{HeatPhysics, HeatPlane, Mobile};
use crate::geometry::Disc;
use crate::limit::{Safety, SafetySettings};
use crate::problem::{Definition, Explanation, Preset, Problem};
use crate::recipe::Recipe;
use crate::sense::Window;
use crate::task::{TrackingCost, TrackingData};
use crate::{Error, settings};

/// Room between a disc and a wall that an agent can pass through.
const LEAST: f64 = 0.02;

settings! {
    /// Discs that agents keep out of.
    pub struct Obstacles {
        /// The discs, [x, y, radius] each.
        discs: Vec<[f64; 3]> = (1..=64, -1e3..=1e3),
        /// How far from the edge of a disc an agent should stay.
        margin: f64 = 0.0..=1e3,
        /// Weight in the cost of coming nearer than that.
        weight: f64 = 0.0..=1e9,
        /// A safety layer keeps agents out of the discs, whatever the policy says.
        safety: bool = (),
        /// Distance from a disc that the safety layer keeps.
        clearance: f64 = 0.0..=1e3,
        /// Whether an agent sees how far and in which direction the nearest disc is.
        seen: bool = (),
    }
}

settings! {
    /// All settings of the problem.
    pub struct Heat2dObstacles {
        /// The heat equation on a square.
        physics: HeatPhysics = (),
        /// Agents that push and move.
        swarm: Mobile = (),
        /// Discs that agents keep out of.
        obstacles: Obstacles = (),
        /// What an agent sees.
        observe: Window = (),
        /// How start and target are drawn.
        data: TrackingData = (),
        /// Weights of the cost.
        cost: TrackingCost = (),
    }
}

impl Heat2dObstacles {
    fn parts(&self) -> HeatPlane {
        let Self { physics, swarm, observe, data, cost, .. } = self.clone();
        HeatPlane { physics, swarm, observe, data, cost }
    }

    fn safety(&self) -> SafetySettings {
        let Obstacles { clearance, margin, .. } = self.obstacles;
        SafetySettings { clearance, margin, tick_time: self.physics.dt, speed: self.swarm.v_limit }
    }
}

impl Definition for Heat2dObstacles {
    const NAME: &'static str = "heat2d_obstacles";
    const ABOUT: &'static str = "Heat equation on a square with three discs that the 16 mobile agents keep out of.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = ν(z_xx + z_yy) + f on [0, L]², z = 0 at the walls; Peaceman–Rachford. The field does not feel the discs.",
        sees: "the error z − z* and its two slopes on 8 × 8 points (the paper: 12 × 12) around the agent, the target and the force that would hold it (observe.target), how far it is to living neighbours in eight directions (observe.gaps); with obstacles.seen, distance and direction of the nearest disc.",
        acts: "a push u·exp(−|x−ξ|²/2σ²), |u| ≤ u_limit, and a velocity, each component ≤ v_limit; with obstacles.safety, what leads into a disc is taken out of the velocity.",
        score: "mean over the square of (z − z*)² after tick 100; beside it the share of agent-ticks inside a disc or its margin, and the smallest distance.",
    };

    fn preset(preset: Preset) -> (Self, Recipe) {
        let (HeatPlane { physics, swarm, observe, data, cost }, mut recipe) = HeatPlane::preset(preset);
        let ours = preset == Preset::Tuned;
        if ours {
            recipe.train.updates = 1200;
        }
        let obstacles = Obstacles {
            discs: vec![[0.15, 0.5, 0.08], [0.85, 0.5, 0.08], [0.5, 0.15, 0.08]],
            margin: 0.08,
            weight: 100.0,
            safety: ours,
            // The paper's margin is kept too, not only the disc.
            clearance: if ours { 0.08 } else { 0.005 },
            seen: ours,
        };
        (Self { physics, swarm, obstacles, observe, data, cost }, recipe)
    }

    /// Discs that make no sense, or that the safety layer cannot keep agents out of.
    fn check(&self) -> Result<(), Error> {
        self.parts().check()?;
        let Obstacles { discs, clearance, safety, .. } = &self.obstacles;
        let bad = |expected: String| Err(Error::bad("obstacles.discs", format!("{discs:?}"), expected));
        if discs.iter().any(|disc| disc[2] <= 0.0) {
            return bad("a list of [x, y, radius] with radii above 0, like [[0.5, 0.5, 0.1]]".into());
        }
        if !safety {
            return Ok(());
        }
        // Agents that slide along a wall may undercut a clearance that reaches beyond it, but not what is left between disc and wall.
        let (length, least) = (self.physics.length, clearance.min(LEAST));
        let inside = |[x, y, r]: &[f64; 3]| [x, y].into_iter().all(|c| c - r >= least && c + r <= length - least);
        if !discs.iter().all(inside) {
            return bad(format!("discs {least} or more from the walls while obstacles.safety is on"));
        }
        let gap = 2.0 * self.safety().reach();
        let apart = |[x, y, r]: &[f64; 3], [a, b, s]: &[f64; 3]| (x - a).hypot(y - b) >= r + s + gap;
        if (1..discs.len()).any(|i| discs[..i].iter().any(|other| !apart(&discs[i], other))) {
            return bad(format!("discs {gap:.3} or more apart while obstacles.safety is on"));
        }
        Ok(())
    }

    fn bytes(&self) -> f64 {
        self.parts().bytes()
    }

    fn build(&self) -> Problem {
        let Obstacles { discs, margin, weight, safety, clearance, seen } = &self.obstacles;
        let discs = Disc::all(discs);
        self.parts().build(Self::NAME, |grid, sight, task| {
            let sight = if *seen { sight.with_discs(&discs, *clearance) } else { sight };
            let layer = safety.then(|| Safety::new(discs.clone(), &grid.lengths, &self.safety()));
            (sight, layer, task.around(discs.clone(), *weight, *margin))
        })
    }
}
