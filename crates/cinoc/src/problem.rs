//! Control problems: physics, agents and task, and the trait that defines a problem by its settings.

use crate::Error;
use crate::agents::Swarm;
use crate::policy::Plant;
use crate::recipe::Recipe;
use crate::settings::Settings;
use crate::task::Task;
use cinoc_pde::Stepper;

/// A control problem, ready to be rolled out.
///
/// ```
/// let scenario = cinoc::problem("heat1d")?;
/// let problem = scenario.problem();
/// assert_eq!((problem.agents, problem.ticks), (8, 300));
/// assert_eq!(problem.stepper.grid().count(), 100);
/// # Ok::<(), cinoc::Error>(())
/// ```
pub struct Problem {
    /// The name.
    pub name: String,
    /// The physics. One step of it is one tick.
    pub stepper: Box<dyn Stepper>,
    /// The agents.
    pub swarm: Swarm,
    /// The task: instances, cost and score.
    pub task: Box<dyn Task>,
    /// Number of agents in training; a policy may be used with any other number.
    pub agents: usize,
    /// Decisions per episode.
    pub ticks: usize,
}

impl Problem {
    /// Returns the sizes that a policy is built for.
    pub fn plant(&self) -> Plant {
        let everything = 2 * self.stepper.state_count() + self.agents * self.swarm.dimensions();
        let (features, action_width) = (self.swarm.features(), self.swarm.action_width());
        Plant { features, action_width, agents: self.agents, everything, neighbours: self.swarm.neighbours() }
    }

    /// Returns the time between two decisions.
    pub fn tick_time(&self) -> f64 {
        self.stepper.dt() as f64
    }
}

/// A set of default settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Settings of the shipped policy: robust ones, unless that was trained without disturbances.
    Shipped,
    /// Settings of policies that were trained without disturbances.
    Tuned,
    /// Settings of policies that tolerate noise, delay, lost readings and other coefficients.
    Robust,
    /// Settings of the paper.
    Paper,
}

/// A short description of a problem, a sentence or two per field.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// The equation, its domain and its boundary conditions.
    pub equation: &'static str,
    /// Observation of each agent.
    pub sees: &'static str,
    /// Action of each agent.
    pub acts: &'static str,
    /// Score of an episode.
    pub score: &'static str,
}

/// A problem in words, as `cinoc list` prints it.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(hidden)]
pub struct Description {
    /// One-line description.
    pub about: String,
    /// The equation, its domain and its boundary conditions.
    pub equation: String,
    /// Observation of each agent.
    pub sees: String,
    /// Action of each agent.
    pub acts: String,
    /// Score of an episode.
    pub score: String,
    /// Numerical treatment of the equation, where it was chosen for a problem file.
    pub numerics: Vec<String>,
}

impl Explanation {
    /// Returns it with a one-line description.
    pub(crate) fn of(self, about: &str) -> Description {
        let [about, equation, sees, acts, score] = [about, self.equation, self.sees, self.acts, self.score].map(str::to_owned);
        Description { about, equation, sees, acts, score, numerics: Vec::new() }
    }
}

/// A coefficient of the equation and the values that studies assign to it.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Sweep {
    /// Its settings key.
    pub key: &'static str,
    /// Its symbol in formulas.
    pub symbol: &'static str,
    /// Settings key of the agents' own estimate of the coefficient, if they use one; studies keep it at the nominal
    /// value.
    pub believed: Option<&'static str>,
    /// The values.
    pub values: &'static [f64],
}

/// A published curve of errors against the number of agents.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Published {
    /// Number of agents that the policy was trained with.
    pub trained: usize,
    /// Numbers of agents, each with its error in percent of the error with the trained number.
    pub percent: &'static [(usize, f64)],
}

/// Problem-specific parameters that studies vary.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Sweeps {
    /// Typical magnitude of the field, the unit of noise in studies.
    pub size: f64,
    /// Coefficients of the equation.
    pub physics: &'static [Sweep],
    /// Grid resolutions: nodes along an axis, each with the settings that produce such a grid.
    pub resolution: &'static [(usize, &'static [&'static str])],
    /// True if the zero field is an equilibrium of the problem, so that the linear stability analysis applies.
    pub rests_at_zero: bool,
    /// The paper's errors with other numbers of agents.
    pub published: Option<Published>,
}

impl Default for Sweeps {
    fn default() -> Self {
        Self { size: 1.0, physics: &[], resolution: &[], rests_at_zero: false, published: None }
    }
}

/// A problem defined by its settings (the sections of a configuration), presets, checks and a builder.
///
/// [`Registry::problem`](crate::Registry::problem) registers it; [`settings!`](crate::settings!) declares the struct.
pub trait Definition: Settings {
    /// Name on the command line and in files.
    const NAME: &'static str;

    /// One-line description.
    const ABOUT: &'static str;

    /// Equation, observation, action and score.
    const EXPLANATION: Explanation;

    /// Settings of the shipped policy, which [`Preset::Shipped`] stands for.
    const SHIPPED: Preset = Preset::Tuned;

    /// Returns default settings and a training recipe for them. [`Preset::Shipped`] is never asked for.
    fn preset(preset: Preset) -> (Self, Recipe);

    /// Returns the problem-specific parameters that studies vary.
    #[doc(hidden)]
    fn sweeps() -> Sweeps {
        Sweeps::default()
    }

    /// Rejects inconsistent combinations of settings; the range of each setting has already been checked.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Estimates the memory, in bytes, of the problem and one instance, before anything is allocated. Tables of the
    /// size of a few fields may be omitted.
    #[doc(hidden)]
    fn bytes(&self) -> f64 {
        0.0
    }

    /// Builds the problem.
    fn build(&self) -> Problem;

    /// Shortens expensive preparations, such as uncontrolled runs of a chaotic equation, for quick checks.
    #[doc(hidden)]
    fn shrink(&mut self) {}

    /// Changes the number of agents and of nodes along each axis at constant cost per agent. Returns false if
    /// unsupported.
    #[doc(hidden)]
    fn resize(&mut self, _agents: usize, _nodes: usize) -> bool {
        false
    }

    /// Enlarges the domain by a factor along each axis at constant density of nodes and agents, so that each agent's
    /// surroundings stay as in training. Returns false if unsupported.
    #[doc(hidden)]
    fn enlarge(&mut self, _times: usize) -> bool {
        false
    }
}
