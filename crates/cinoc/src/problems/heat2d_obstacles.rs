//! `heat2d_obstacles`: the heat equation on a square with three discs, fixed or moving, that agents keep out of. The
//! discs do not affect the field.

use super::common::{Heat2dPhysics, HeatPlane, Mobile};
use crate::geometry::{Disc, Discs};
use crate::limit::{Safety, SafetySettings};
use crate::problem::{Definition, Explanation, Preset, Problem, Sweeps};
use crate::recipe::Recipe;
use crate::sense::Window;
use crate::task::{TrackingCost, TrackingData};
use crate::{Error, settings};

settings! {
    /// Discs that agents keep out of.
    pub struct Obstacles {
        /// The discs, [x, y, radius] each.
        discs: Vec<[f64; 3]> = (1..=64, -1e3..=1e3),
        /// Distance that agents should keep from a disc.
        margin: f64 = 0.0..=1e3,
        /// Cost weight of coming closer than that.
        weight: f64 = 0.0..=1e9,
        /// Safety layer, which keeps agents out of the discs for any policy.
        safety: bool = (),
        /// Distance from a disc that the safety layer enforces.
        clearance: f64 = 0.0..=1e3,
        /// Agents observe distance and direction of the nearest disc.
        seen: bool = (),
        /// Radius of the circle on which each disc moves around its position; 0: discs are fixed.
        #[absent = 0.0]
        orbit: f64 = 0.0..=1e3,
        /// Period of that motion, in ticks.
        #[absent = 200.0]
        orbit_ticks: f64 = 1.0..=1e9,
    }
}

settings! {
    /// All settings of the problem.
    pub struct Heat2dObstacles {
        /// The heat equation on a square.
        physics: Heat2dPhysics = (),
        /// Agents that push and move.
        swarm: Mobile = (),
        /// Discs that agents keep out of.
        obstacles: Obstacles = (),
        /// Observation of an agent.
        observe: Window = (),
        /// Distribution of initial fields and targets.
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
        let Obstacles { clearance, margin, orbit, orbit_ticks, .. } = self.obstacles;
        let disc_speed = std::f64::consts::TAU * orbit / orbit_ticks / self.physics.dt;
        SafetySettings { clearance, margin, tick_time: self.physics.dt, speed: self.swarm.v_limit, disc_speed }
    }

    fn discs(&self) -> Discs {
        let Obstacles { discs, orbit, orbit_ticks, .. } = &self.obstacles;
        Discs::circling(Disc::all(discs), *orbit, *orbit_ticks)
    }
}

impl Definition for Heat2dObstacles {
    const NAME: &'static str = "heat2d_obstacles";
    const ABOUT: &'static str = "Heat equation on a square with three discs that the 16 mobile agents keep out of.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = ν(z_xx + z_yy) + f on [0, L]², z = 0 at the walls; Peaceman–Rachford. The discs do not affect the field.",
        sees: "the error z − z* and its two slopes on 8 × 8 points (the paper: 12 × 12) around the agent, the target and the force that would hold it (observe.target), the gaps to active neighbours in eight directions (observe.gaps); with obstacles.seen, distance and direction of the nearest disc.",
        acts: "a push u·exp(−|x−ξ|²/2σ²), |u| ≤ u_limit, and a velocity, each component ≤ v_limit; with obstacles.safety, the part of the velocity that leads into a disc is removed.",
        score: "mean over the square of (z − z*)² after tick 100; also the fraction of agent-ticks inside a disc or its margin, and the smallest distance.",
    };

    fn sweeps() -> Sweeps {
        HeatPlane::sweeps()
    }

    const SHIPPED: Preset = Preset::Robust;

    fn preset(preset: Preset) -> (Self, Recipe) {
        let (HeatPlane { physics, swarm, observe, data, cost }, mut recipe) = HeatPlane::preset(preset);
        let ours = preset != Preset::Paper;
        match preset {
            Preset::Tuned => recipe.train.updates = 1200,
            Preset::Robust => recipe.train.updates = 1600,
            Preset::Paper | Preset::Shipped => {}
        }
        let obstacles = Obstacles {
            discs: vec![[0.15, 0.5, 0.08], [0.85, 0.5, 0.08], [0.5, 0.15, 0.08]],
            margin: 0.08,
            weight: 100.0,
            safety: ours,
            // The clearance includes the paper's margin and a little more, since agents slide along it.
            clearance: if ours { 0.081 } else { 0.005 },
            seen: ours,
            orbit: 0.0,
            orbit_ticks: 200.0,
        };
        (Self { physics, swarm, obstacles, observe, data, cost }, recipe)
    }

    /// Rejects invalid discs, and discs that the safety layer cannot keep agents out of.
    fn check(&self) -> Result<(), Error> {
        self.parts().check()?;
        let Obstacles { discs, clearance, safety, orbit, .. } = &self.obstacles;
        let bad = |expected: String| Err(Error::bad("obstacles.discs", format!("{discs:?}"), expected));
        if discs.iter().any(|disc| disc[2] <= 0.0) {
            return bad("a list of [x, y, radius] with radii above 0, like [[0.5, 0.5, 0.1]]".into());
        }
        if !safety {
            return Ok(());
        }
        let settings = self.safety();
        if settings.disc_speed > self.swarm.v_limit {
            let needed = settings.disc_speed / self.swarm.v_limit * self.obstacles.orbit_ticks;
            let slower = format!("{needed:.0} or more, so that discs are no faster than agents, while obstacles.safety is on");
            return Err(Error::bad("obstacles.orbit_ticks", self.obstacles.orbit_ticks.to_string(), slower));
        }
        let length = self.physics.length;
        let inside = |[x, y, r]: &[f64; 3]| [x, y].into_iter().all(|c| c - r >= *orbit && c + r <= length - orbit);
        if !discs.iter().all(inside) {
            return bad("discs that stay inside the walls while obstacles.safety is on".into());
        }
        // A disc too close to a wall is extended to it, and so is the strip that agents keep out of.
        let strip = |[x, y, r]: &[f64; 3]| {
            [x, y].map(|c| {
                let size = r + orbit + clearance;
                [if *c < size { 0.0 } else { *c }, if c + size > length { length } else { *c }]
            })
        };
        let gap = 2.0 * settings.reach() + 2.0 * orbit;
        let apart = |one: &[f64; 3], other: &[f64; 3]| {
            let (p, q) = (strip(one), strip(other));
            let [x, y] = [0, 1].map(|c| (p[c][0] - q[c][1]).max(q[c][0] - p[c][1]).max(0.0));
            x.hypot(y) >= one[2] + other[2] + gap
        };
        if (1..discs.len()).any(|i| discs[..i].iter().any(|other| !apart(&discs[i], other))) {
            return bad(format!("discs {gap:.3} or more apart while obstacles.safety is on"));
        }
        Ok(())
    }

    fn bytes(&self) -> f64 {
        self.parts().bytes()
    }

    fn build(&self) -> Problem {
        let Obstacles { margin, weight, safety, clearance, seen, .. } = &self.obstacles;
        let discs = self.discs();
        self.parts().build(Self::NAME, |grid, sight, task| {
            let sight = if *seen { sight.with_discs(discs.clone(), *clearance) } else { sight };
            let layer = safety.then(|| Safety::new(discs.clone(), &grid.lengths, &self.safety()));
            (sight, layer, task.around(discs, *weight, *margin))
        })
    }
}
