//! Shared parts of problems that stabilise a chaotic field at zero: fixed agents, and states of uncontrolled runs.

use super::Static;
use crate::agents::Swarm;
use crate::attractor::{Attractor, FreeRuns};
use crate::policy::Recurrent;
use crate::problem::Problem;
use crate::random::Rng;
use crate::recipe::{Schedule, Train};
use crate::sense::Window;
use crate::task::{RestCost, Square, Stabilise};
use crate::{Error, Real, settings};
use cinoc_pde::{Grid, Stepper};

settings! {
    /// States that instances start from, taken from long uncontrolled runs. Each seed has separate runs for training,
    /// validation and test.
    pub struct States {
        /// Time from the start of a run to its first state.
        settle: f64 = 0.0..=1e6,
        /// Time from one state of a run to the next.
        apart: f64 = 0.0..=1e6,
        /// States taken from each run.
        per_run: usize = 1..=100_000,
        /// States for training.
        train_states: usize = 1..=100_000,
        /// States for validation.
        validation_states: usize = 1..=100_000,
        /// States for tests.
        test_states: usize = 1..=100_000,
    }
}

impl States {
    /// Reduces the number of states and the length of runs, for quick checks.
    pub fn shrink(&mut self) {
        (self.settle, self.apart) = (0.1 * self.settle, 0.1 * self.apart);
        (self.train_states, self.validation_states, self.test_states) = (6, 6, 6);
    }
}

/// Rejects runs that would take too long.
pub fn states_fit(states: &States, dt: f64) -> Result<(), Error> {
    for (key, time) in [("data.settle", states.settle), ("data.apart", states.apart)] {
        if time / dt > 1e8 {
            return Err(Error::bad(key, time.to_string(), format!("at most {}: a hundred million ticks", 1e8 * dt)));
        }
    }
    Ok(())
}

/// Rejects grids unsuited to fast transforms, on which a tick would take many times as long.
pub fn nodes_fit(key: &str, nodes: usize, divisor: usize) -> Result<(), Error> {
    if nodes.is_multiple_of(divisor) {
        return Ok(());
    }
    Err(Error::bad(key, nodes.to_string(), format!("a multiple of {divisor}, like 64 or 96")))
}

/// Rejects an observation of the target, which is zero.
pub fn rest_needs_no_view(observe: &Window) -> Result<(), Error> {
    if observe.target {
        return Err(Error::bad("observe.target", "true", "false: the target of this problem is zero"));
    }
    Ok(())
}

/// The parts of a stabilisation problem.
pub struct Rest<'a> {
    pub data: &'a States,
    pub cost: &'a RestCost,
    pub square: Square,
    pub agents: usize,
    pub ticks: usize,
}

impl Rest<'_> {
    /// Builds a problem. `runs` describes everything that its states depend on besides the settings of `data`, the grid
    /// and the time step; `free` is the equation of the uncontrolled runs and `begin` samples their initial fields. A
    /// mirror image multiplies the field by `mirror`.
    pub fn problem(
        &self,
        name: &str,
        stepper: impl Stepper + 'static,
        swarm: Swarm,
        runs: String,
        free: impl Stepper + 'static,
        begin: impl Fn(&mut Rng) -> Vec<Real> + Send + Sync + 'static,
        mirror: Real,
    ) -> Problem {
        let States { settle, apart, per_run, train_states, validation_states, test_states } = *self.data;
        let steps = |time: f64| (time / free.dt() as f64).round() as usize;
        let attractor = Attractor::new(FreeRuns {
            name: runs,
            settle: steps(settle),
            apart: steps(apart),
            per_run,
            sizes: [train_states, validation_states, test_states],
            shown_on: stepper.grid().clone(),
            stepper: Box::new(free),
            begin: Box::new(begin),
            mirror,
        });
        Problem {
            name: name.into(),
            stepper: Box::new(stepper),
            swarm,
            task: Box::new(Stabilise::new(attractor, self.cost, self.square)),
            agents: self.agents,
            ticks: self.ticks,
        }
    }

    /// Returns the paper's observation.
    pub fn view(points: usize, window: f64) -> Window {
        Window::new(points, window)
    }
}

/// Applies the recipe on rings and tori: translation-invariant agents with memory, which observe the gaps to active
/// neighbours, push less where they are crowded, and train with varying numbers of agents, stronger pushes and
/// failures.
pub fn calm(swarm: &mut Static, observe: &mut Window, train: &mut Train) -> Recurrent {
    observe.position = false;
    swarm.crowd = 1.0;
    // Too high a gain destabilises the field at rest, at little cost over a whole episode; training with stronger
    // pushes penalises it.
    (train.strength, train.strength_share) = ([1.0, 2.0], 0.5);
    train.schedule = Schedule::WarmupCosine;
    (train.rate_start, train.rate, train.rate_end, train.warmup) = (1e-4, 2e-3, 5e-5, 10);
    train.validate_every = 25;
    // Chaos is easily excited: initial actions are small.
    Recurrent { memory_ticks: [2.0, 100.0], output_scale: 0.1, ..Recurrent::default() }
}

/// Returns the square torus of a problem, and that of the uncontrolled runs, which may be coarser.
pub fn tori(nodes: usize, coarser: usize, length: f64) -> [Grid; 2] {
    [nodes, if coarser > 0 { coarser } else { nodes }].map(|nodes| Grid::torus([nodes; 2], [length as Real; 2]))
}

settings! {
    /// States that instances start from, for problems in the plane.
    pub struct PlaneStates {
        /// Time from the start of a run to its first state.
        settle: f64 = 0.0..=1e6,
        /// Time from one state of a run to the next.
        apart: f64 = 0.0..=1e6,
        /// States taken from each run.
        per_run: usize = 1..=100_000,
        /// Nodes along each axis of the uncontrolled runs, whose states a finer grid can use; 0: those of the problem.
        nodes: usize = 0..=8192,
        /// States for training.
        train_states: usize = 1..=100_000,
        /// States for validation.
        validation_states: usize = 1..=100_000,
        /// States for tests.
        test_states: usize = 1..=100_000,
    }
}

impl PlaneStates {
    /// Returns the states without the grid.
    pub fn states(&self) -> States {
        let Self { settle, apart, per_run, train_states, validation_states, test_states, .. } = *self;
        States { settle, apart, per_run, train_states, validation_states, test_states }
    }

    /// Reduces the number of states and the length of runs, for quick checks.
    pub fn shrink(&mut self) {
        let mut states = self.states();
        states.shrink();
        let States { settle, apart, per_run, train_states, validation_states, test_states } = states;
        *self = Self { settle, apart, per_run, nodes: self.nodes, train_states, validation_states, test_states };
    }

    /// Estimates the memory of states and grids, in bytes.
    pub fn bytes(&self, nodes: usize) -> f64 {
        let states = self.train_states.max(self.validation_states).max(self.test_states) as f64;
        let coarser = if self.nodes > 0 { self.nodes } else { nodes } as f64;
        size_of::<Real>() as f64 * (states * coarser * coarser + 200.0 * (nodes * nodes) as f64)
    }

    /// Rejects states that are inconsistent with a torus of `nodes` nodes.
    pub fn check(&self, nodes: usize, dt: f64) -> Result<(), Error> {
        nodes_fit("physics.nodes", nodes, 32)?;
        nodes_fit("data.nodes", self.nodes, 32)?;
        if self.nodes > nodes {
            return Err(Error::bad("data.nodes", self.nodes.to_string(), format!("0, or up to physics.nodes, {nodes}")));
        }
        states_fit(&self.states(), dt)
    }
}
