//! What problems that bring a chaotic field to rest share: agents that stay in place, states of free runs, rest as the aim.

use super::Static;
use crate::agents::Swarm;
use crate::attractor::{Attractor, Recipe as Runs};
use crate::policy::Recurrent;
use crate::problem::Problem;
use crate::random::Rng;
use crate::recipe::{Schedule, Train};
use crate::sense::Window;
use crate::task::{RestCost, Square, Stabilise};
use crate::{Error, Real, settings};
use cinoc_pde::{Grid, Stepper};

settings! {
    /// The states that instances start from: taken from long free runs. Every seed has runs of its own, and so has each of training, validation and test.
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
    /// Few of them, soon made.
    pub fn shrink(&mut self) {
        (self.settle, self.apart) = (0.1 * self.settle, 0.1 * self.apart);
        (self.train_states, self.validation_states, self.test_states) = (6, 6, 6);
    }
}

/// Refuses more steps or states than anybody would wait for.
pub fn states_fit(states: &States, dt: f64) -> Result<(), Error> {
    for (key, time) in [("data.settle", states.settle), ("data.apart", states.apart)] {
        if time / dt > 1e8 {
            return Err(Error::bad(key, time.to_string(), format!("at most {}: a hundred million ticks", 1e8 * dt)));
        }
    }
    Ok(())
}

/// Refuses grids that the fast transforms are not made for: without them a tick takes many times as long.
pub fn nodes_fit(key: &str, nodes: usize, divisor: usize) -> Result<(), Error> {
    if nodes.is_multiple_of(divisor) {
        return Ok(());
    }
    Err(Error::bad(key, nodes.to_string(), format!("a multiple of {divisor}, like 64 or 96")))
}

/// Refuses a view of the target where it is rest.
pub fn rest_needs_no_view(observe: &Window) -> Result<(), Error> {
    if observe.target {
        return Err(Error::bad("observe.target", "true", "false: the target of this problem is rest, and everybody knows it"));
    }
    Ok(())
}

/// The parts of such a problem.
pub struct Rest<'a> {
    pub data: &'a States,
    pub cost: &'a RestCost,
    pub square: Square,
    pub agents: usize,
    pub ticks: usize,
}

impl Rest<'_> {
    /// Puts a problem together. `runs` names everything that its states depend on besides the settings of `data`, the grid and the time step;
    /// `free` is the equation of the free runs and `begin` draws where one starts. A mirror image multiplies the field by `mirror`.
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
        let attractor = Attractor::new(Runs {
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

    /// The paper's view.
    pub fn view(points: usize, window: f64) -> Window {
        Window::new(points, window)
    }
}

/// What helps on every ring and torus: agents that answer everywhere alike, remember, know how far their living neighbours are, push less where they
/// are many, and learn with other numbers of agents, stronger pushes and deaths.
pub fn calm(swarm: &mut Static, observe: &mut Window, train: &mut Train) -> Recurrent {
    observe.position = false;
    swarm.crowd = 1.0;
    // Too strong an answer makes a field at rest flutter, and costs little over a whole episode; stronger pushes make it dear.
    (train.strength, train.strength_share) = ([1.0, 2.0], 0.5);
    train.schedule = Schedule::WarmupCosine;
    (train.rate_start, train.rate, train.rate_end, train.warmup) = (1e-4, 2e-3, 5e-5, 10);
    train.validate_every = 25;
    // Chaos is stirred up easily: learning begins gently.
    Recurrent { memory_ticks: [2.0, 100.0], output_scale: 0.1, ..Recurrent::default() }
}

/// The square torus of a problem, and that of the free runs, which may be coarser.
pub fn tori(nodes: usize, coarser: usize, length: f64) -> [Grid; 2] {
    [nodes, if coarser > 0 { coarser } else { nodes }].map(|nodes| Grid::torus([nodes; 2], [length as Real; 2]))
}

settings! {
    /// The same for problems in the plane.
    pub struct PlaneStates {
        /// Time from the start of a run to its first state.
        settle: f64 = 0.0..=1e6,
        /// Time from one state of a run to the next.
        apart: f64 = 0.0..=1e6,
        /// States taken from each run.
        per_run: usize = 1..=100_000,
        /// Nodes along each axis of the free runs, so that a finer grid can be given the same states; 0: those of the problem.
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
    /// Without the grid.
    pub fn states(&self) -> States {
        let Self { settle, apart, per_run, train_states, validation_states, test_states, .. } = *self;
        States { settle, apart, per_run, train_states, validation_states, test_states }
    }

    /// Few of them, soon made.
    pub fn shrink(&mut self) {
        let mut states = self.states();
        states.shrink();
        let States { settle, apart, per_run, train_states, validation_states, test_states } = states;
        *self = Self { settle, apart, per_run, nodes: self.nodes, train_states, validation_states, test_states };
    }

    /// Bytes of all states and of the grids.
    pub fn bytes(&self, nodes: usize) -> f64 {
        let states = self.train_states.max(self.validation_states).max(self.test_states) as f64;
        let coarser = if self.nodes > 0 { self.nodes } else { nodes } as f64;
        size_of::<Real>() as f64 * (states * coarser * coarser + 200.0 * (nodes * nodes) as f64)
    }

    /// Refuses states that make no sense on a torus of so many nodes.
    pub fn check(&self, nodes: usize, dt: f64) -> Result<(), Error> {
        nodes_fit("physics.nodes", nodes, 32)?;
        nodes_fit("data.nodes", self.nodes, 32)?;
        if self.nodes > nodes {
            return Err(Error::bad("data.nodes", self.nodes.to_string(), format!("0, or up to physics.nodes, {nodes}")));
        }
        states_fit(&self.states(), dt)
    }
}
