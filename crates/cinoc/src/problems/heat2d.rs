//! `heat2d`: the heat equation on a square, tracked by mobile agents.

use super::common::{Heat2dPhysics, HeatPlane, Mobile};
use crate::problem::{Definition, Explanation, Preset, Problem, Published, Sweeps};
use crate::recipe::Recipe;
use crate::sense::Window;
use crate::task::{TrackingCost, TrackingData};
use crate::{Error, settings};

settings! {
    /// All settings of the problem.
    pub struct Heat2d {
        /// The heat equation on a square.
        physics: Heat2dPhysics = (),
        /// Agents that push and move.
        swarm: Mobile = (),
        /// Observation of an agent.
        observe: Window = (),
        /// Distribution of initial fields and targets.
        data: TrackingData = (),
        /// Weights of the cost.
        cost: TrackingCost = (),
    }
}

impl Heat2d {
    fn parts(&self) -> HeatPlane {
        let Self { physics, swarm, observe, data, cost } = self.clone();
        HeatPlane { physics, swarm, observe, data, cost }
    }

    fn of(HeatPlane { physics, swarm, observe, data, cost }: HeatPlane) -> Self {
        Self { physics, swarm, observe, data, cost }
    }
}

impl Definition for Heat2d {
    const NAME: &'static str = "heat2d";
    const ABOUT: &'static str = "Heat equation on a square: 16 mobile agents drive the temperature to a random target.";
    const EXPLANATION: Explanation = Explanation {
        equation: "z_t = ν(z_xx + z_yy) + f on [0, L]², z = 0 at the walls; Peaceman–Rachford.",
        sees: "the error z − z* and its two slopes on 8 × 8 points (the paper: 12 × 12) around the agent, the target and the force that would hold it (observe.target), the gaps to active neighbours in eight directions (observe.gaps); with observe.position, the position of the agent.",
        acts: "a push u·exp(−|x−ξ|²/2σ²), |u| ≤ u_limit, added to the force f, and a velocity, each component ≤ v_limit.",
        score: "mean over the square of (z − z*)² after tick 100, as in the published table; also after the last tick.",
    };

    fn sweeps() -> Sweeps {
        Sweeps {
            rests_at_zero: true,
            published: Some(Published { trained: 16, percent: &[(16, 100.0), (256, 53.5)] }),
            ..HeatPlane::sweeps()
        }
    }

    const SHIPPED: Preset = Preset::Robust;

    fn preset(preset: Preset) -> (Self, Recipe) {
        let (parts, recipe) = HeatPlane::preset(preset);
        (Self::of(parts), recipe)
    }

    fn check(&self) -> Result<(), Error> {
        self.parts().check()
    }

    fn bytes(&self) -> f64 {
        self.parts().bytes()
    }

    fn build(&self) -> Problem {
        self.parts().build(Self::NAME, |_, sight, task| (sight, None, task))
    }

    fn resize(&mut self, agents: usize, nodes: usize) -> bool {
        let mut parts = self.parts();
        parts.resize(agents, nodes);
        *self = Self::of(parts);
        true
    }

    fn enlarge(&mut self, times: usize) -> bool {
        let Heat2dPhysics { nodes, length, .. } = &mut self.physics;
        (*nodes, *length) = ((*nodes - 1).saturating_mul(times).saturating_add(1), *length * times as f64);
        self.swarm.agents = self.swarm.agents.saturating_mul(times * times).min(i64::MAX as usize);
        true
    }
}
