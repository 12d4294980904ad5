//! What tracking problems on an interval share.

use super::Mobile;
use crate::actuate::Kernel;
use crate::policy::{DeepONet, Fusion};
use crate::problem::Problem;
use crate::recipe::{Schedule, Train};
use crate::sense::{Holding, Sight, Window};
use crate::task::{Profile, Tracking, TrackingCost, TrackingData};
use cinoc_pde::Stepper;

/// The parts of a tracking problem on an interval.
pub struct Interval<'a> {
    pub swarm: &'a Mobile,
    pub observe: &'a Window,
    pub data: &'a TrackingData,
    pub cost: &'a TrackingCost,
    pub profile: Profile,
    pub holding: Holding,
    pub ticks: usize,
    pub tick_time: f64,
}

impl Interval<'_> {
    /// The problem of an equation.
    pub fn problem(&self, name: &str, stepper: impl Stepper + 'static) -> Problem {
        let grid = stepper.grid().clone();
        let sight = Sight::around(&grid, self.observe).with_target(&grid, self.observe, self.holding);
        let swarm = self.swarm.swarm(&grid, sight, self.tick_time);
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

    /// The paper's agents.
    pub fn agents(agents: usize, sigma: f64) -> Mobile {
        Mobile {
            agents,
            sigma,
            kernel: Kernel::Peak,
            u_limit: 40.0,
            v_limit: 2.0,
            start_in_cells: false,
            start_margin: 0.2,
            start_margin_other: 0.1,
            crowd: 0.0,
            crowd_width: 1.0,
        }
    }

    /// The paper's view.
    pub fn view() -> Window {
        Window::new(20, 0.08)
    }
}

/// What helps on every interval: steeper answers to small errors, agents near the walls, other places and strengths, a falling rate.
pub fn tune_line(swarm: &mut Mobile, observe: &mut Window, policy: &mut DeepONet, train: &mut Train) {
    policy.fusion = Fusion::Product;
    observe.gain = 4.0;
    (swarm.start_margin, swarm.start_margin_other) = (0.05, 0.05);
    train.schedule = Schedule::WarmupCosine;
    (train.rate_start, train.rate, train.rate_end, train.warmup) = (1e-4, 2e-3, 0.0, 20);
    train.start_jitter = 0.05;
    train.average = 0.95;
}
