//! Shared parts of tracking problems on an interval.

use super::Mobile;
use crate::problem::Problem;
use crate::recipe::{Schedule, Train};
use crate::sense::{Holding, Sight, Window};
use crate::task::{Profile, Tracking, TrackingCost, TrackingData};
use cinoc_pde::Stepper;

/// The parts of a tracking problem on an interval.
pub struct LineDomain<'a> {
    pub swarm: &'a Mobile,
    pub observe: &'a Window,
    pub data: &'a TrackingData,
    pub cost: &'a TrackingCost,
    pub profile: Profile,
    pub holding: Holding,
    pub ticks: usize,
    pub tick_time: f64,
}

impl LineDomain<'_> {
    /// Builds the problem for an equation.
    pub fn problem(&self, name: &str, stepper: impl Stepper + 'static) -> Problem {
        let grid = stepper.grid().clone();
        let sight = Sight::around(&grid, self.observe).with_target(&grid, self.observe, self.holding);
        let swarm = self.swarm.swarm(&grid, sight, self.tick_time).with_self_sensing(self.observe.self_sensing());
        let task = Tracking::new(&grid, self.data, self.cost, self.profile);
        Problem {
            name: name.into(),
            stepper: Box::new(stepper),
            swarm,
            task: Box::new(task),
            agents: self.swarm.agents,
            ticks: self.ticks,
        }
    }

    /// Returns the paper's agents.
    pub fn agents(agents: usize, sigma: f64) -> Mobile {
        Mobile { start_margin: 0.2, ..Mobile::new(agents, sigma, 40.0, 2.0) }
    }

    /// Returns the paper's observation.
    pub fn view() -> Window {
        Window::new(20, 0.08)
    }
}

/// Applies the recipe of all tracking problems: observation of the target and of gaps to neighbours, a cost on the
/// final error, and training with varying numbers of agents, strengths, positions and failures.
pub fn tune_tracking(observe: &mut Window, cost: &mut TrackingCost, train: &mut Train) {
    (observe.gain, observe.target) = (4.0, true);
    (cost.effort, cost.final_log, cost.final_root) = (1e-4, 0.1, 2.0);
    train.schedule = Schedule::WarmupCosine;
    (train.hold, train.average) = (2, 0.98);
    (train.strength, train.strength_each, train.strength_many) = ([0.8, 1.6], 0.2, 2.0);
    train.validate_fail = 0.3;
}

/// Applies the recipe of tracking problems on an interval.
pub fn tune_line(swarm: &mut Mobile, observe: &mut Window, cost: &mut TrackingCost, train: &mut Train) {
    tune_tracking(observe, cost, train);
    (observe.points, observe.window) = (12, 0.14);
    (swarm.start_margin, swarm.start_margin_other) = (0.05, 0.05);
    (cost.final_floor, cost.final_root) = (3e-7, 1.5);
    (train.rate_start, train.rate, train.rate_end, train.warmup) = (2e-4, 2e-3, 7e-5, 30);
    (train.deaths, train.blocks, train.clustered) = (0.6, 0.5, 0.4);
    train.validate_every = 50;
}
