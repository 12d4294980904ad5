//! A control problem: physics, agents and what is wanted, ready to be rolled out; and how a problem is defined.

use crate::Error;
use crate::agents::Swarm;
use crate::policy::Plant;
use crate::recipe::Recipe;
use crate::settings::Settings;
use crate::task::Task;
use cinoc_pde::Stepper;

/// A control problem, ready to be rolled out.
pub struct Problem {
    /// Its name.
    pub name: String,
    /// The physics. One step of it is one tick.
    pub stepper: Box<dyn Stepper>,
    /// The agents.
    pub swarm: Swarm,
    /// What is wanted.
    pub task: Box<dyn Task>,
    /// How many agents there are in training; any other number works too.
    pub agents: usize,
    /// Decisions per episode.
    pub ticks: usize,
}

impl Problem {
    /// What a policy has to know of it.
    pub fn plant(&self) -> Plant {
        let everything = 2 * self.stepper.grid().count() + self.agents * self.swarm.dimensions();
        let (features, action_width) = (self.swarm.features(), self.swarm.action_width());
        Plant { features, action_width, agents: self.agents, everything }
    }

    /// Time between two decisions.
    pub fn tick_time(&self) -> f64 {
        self.stepper.dt() as f64
    }
}

/// Which settings to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Our own recipe.
    Tuned,
    /// The setting of the paper as the specification fixes it.
    Paper,
}

/// What a user should know of a problem before reading its settings, a sentence or two each.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// The equation, where it holds, and its boundary conditions.
    pub equation: &'static str,
    /// What each agent sees.
    pub sees: &'static str,
    /// What it does.
    pub acts: &'static str,
    /// How an episode is scored.
    pub score: &'static str,
}

/// A coefficient of the equation and the values that studies give it.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// Its key among the settings.
    pub key: &'static str,
    /// What it is called in formulas.
    pub symbol: &'static str,
    /// The key of what agents believe it to be, if they know of it at all: studies leave them in their belief.
    pub believed: Option<&'static str>,
    /// The values.
    pub values: &'static [f64],
}

/// A published curve of errors against the number of agents.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The number of agents that the policy was trained with.
    pub trained: usize,
    /// Numbers of agents, each with the error in percent of that with the trained number.
    pub percent: &'static [(usize, f64)],
}

/// What studies vary in a problem, besides what every problem has.
#[derive(Clone, Copy, Debug)]
pub struct Sweeps {
    /// How large the field is, roughly: noise is measured by it.
    pub size: f64,
    /// Coefficients of the equation.
    pub physics: &'static [Sweep],
    /// Nodes along an axis, each with the settings that make such a grid.
    pub resolution: &'static [(usize, &'static [&'static str])],
    /// Whether a field that is zero everywhere is where the problem can rest, so that its stability there can be asked for.
    pub certified: bool,
    /// The paper's errors with other numbers of agents.
    pub published: Option<Published>,
}

impl Default for Sweeps {
    fn default() -> Self {
        Self { size: 1.0, physics: &[], resolution: &[], certified: false, published: None }
    }
}

/// A problem as a file: its settings (the sections of a configuration), presets, checks and builder.
///
/// One line makes it known to everything else: [`Registry::problem`](crate::Registry::problem).
pub trait Definition: Settings {
    /// Its name on the command line and in files.
    const NAME: &'static str;

    /// One line about it.
    const ABOUT: &'static str;

    /// What is controlled, seen, done and scored.
    const EXPLANATION: Explanation;

    /// Settings to start from, and how to train with them.
    fn preset(preset: Preset) -> (Self, Recipe);

    /// What studies vary in it.
    fn sweeps() -> Sweeps {
        Sweeps::default()
    }

    /// Refuses combinations of settings that make no sense; each by itself has been checked already.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Bytes that building and one instance take at the least, before anything is allocated. Grids and tables of the size of a few fields need
    /// not be counted.
    fn bytes(&self) -> f64 {
        0.0
    }

    /// Puts the problem together.
    fn build(&self) -> Problem;

    /// Makes what takes long to prepare, like free runs of a chaotic equation, short: good enough to check a problem with.
    fn shrink(&mut self) {}

    /// Another number of agents and `nodes` nodes along each axis, such that an agent costs what it did; false where that is not offered.
    fn resize(&mut self, _agents: usize, _nodes: usize) -> bool {
        false
    }

    /// A domain so many times as long along each axis, with as many nodes and agents per area as before and nothing else changed: a policy that
    /// was trained on the old one meets the same around each agent. False where that is not offered.
    fn enlarge(&mut self, _times: usize) -> bool {
        false
    }
}
