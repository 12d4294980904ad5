//! A problem with its settings, ready to be evaluated, stepped and trained.

use crate::env::Env;
use crate::evaluate::{self, Report, Request};
use crate::library;
use crate::problem::Preset;
use crate::random::Stream;
use crate::rollout::InitialCondition;
use crate::run::{Model, Origin, Run};
use crate::settings::Overlay;
use crate::threads::Threads;
use crate::train::Progress;
use crate::{Config, Error, Problem, Registry};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Opens a shipped problem by its name, with the settings that its policy was trained with.
///
/// ```
/// let problem = cinoc::problem("heat1d")?;
/// assert_eq!((problem.name(), problem.agents()), ("heat1d", 8));
/// # Ok::<(), cinoc::Error>(())
/// ```
pub fn problem(name: &str) -> Result<Scenario, Error> {
    Scenario::named(Registry::builtin(), name)
}

/// Loads a trained policy: the name of a shipped one, a model file or a run folder.
///
/// ```
/// let policy = cinoc::pretrained("heat1d")?;
/// assert_eq!(policy.config.problem(), "heat1d");
/// # Ok::<(), cinoc::Error>(())
/// ```
pub fn pretrained(name: &str) -> Result<Model, Error> {
    library::find(&Registry::builtin(), name)
}

/// A problem with its settings, ready to be evaluated, stepped and trained.
///
/// ```
/// let problem = cinoc::problem("heat1d")?.with(&["physics.ticks=60"])?;
/// let policy = cinoc::pretrained("heat1d")?;
/// let report = problem.evaluate(&policy).agents(16).instances(4).run()?;
/// assert!(report.ratio < 0.1, "{} of the uncontrolled error", report.ratio);
/// # Ok::<(), cinoc::Error>(())
/// ```
#[derive(Clone)]
pub struct Scenario {
    registry: Registry,
    config: Config,
    problem: Arc<Problem>,
}

impl Scenario {
    /// A problem of `registry` with the settings of its shipped policy.
    pub fn named(registry: Registry, name: &str) -> Result<Self, Error> {
        let config = registry.config(name, Preset::Shipped, &Overlay::default())?;
        Self::new(registry, config)
    }

    /// The problem that `config` describes.
    pub fn new(registry: Registry, config: Config) -> Result<Self, Error> {
        let problem = Arc::new(registry.build(&config)?);
        Ok(Self { registry, config, problem })
    }

    /// Returns the problem with changed settings, each written as `key=value`.
    ///
    /// ```
    /// let noisy = cinoc::problem("heat1d")?.with(&["swarm.sensor_noise=0.01"])?;
    /// assert_eq!(noisy.config().get("swarm.sensor_noise").and_then(|value| value.as_float()), Some(0.01));
    /// # Ok::<(), cinoc::Error>(())
    /// ```
    pub fn with(&self, changes: &[&str]) -> Result<Self, Error> {
        let config = self.registry.change(&self.config, &Overlay::from_pairs(changes)?)?;
        Self::new(self.registry.clone(), config)
    }

    /// Name of the problem.
    pub fn name(&self) -> &str {
        &self.problem.name
    }

    /// Number of agents in training.
    pub fn agents(&self) -> usize {
        self.problem.agents
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The physics, the agents and the task.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// A batch of episodes to step, on one thread, at the first instances of the training split.
    ///
    /// ```
    /// let mut env = cinoc::problem("heat1d")?.env(4)?;
    /// let actions = vec![0.0; env.action_len()];
    /// let step = env.step(&actions);
    /// assert!(step.cost.iter().all(|cost| *cost > 0.0) && !step.done[0]);
    /// # Ok::<(), cinoc::Error>(())
    /// ```
    pub fn env(&self, instances: usize) -> Result<Env, Error> {
        let mut env = Env::new(self.problem.clone(), instances, self.agents(), Threads::single())?;
        env.reset(&vec![true; instances], &mut |i| InitialCondition::drawn(&self.problem, self.agents(), 0, Stream::Train, i));
        Ok(env)
    }

    /// An evaluation of a policy on held-out instances.
    pub fn evaluate<'a>(&'a self, model: &'a Model) -> Evaluation<'a> {
        let request = Request::test(self.agents(), 40, 0);
        Evaluation { scenario: self, model, request, threads: 1 }
    }

    /// A training run.
    pub fn train(&self) -> Training<'_> {
        Training { scenario: self.clone(), changes: Vec::new(), seed: 0, threads: 0, progress: None }
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Scenario").field("problem", &self.name()).field("agents", &self.agents()).finish_non_exhaustive()
    }
}

/// An evaluation of a policy on held-out instances; made by [`Scenario::evaluate`].
#[must_use = "nothing is computed before `run`"]
#[derive(Debug)]
pub struct Evaluation<'a> {
    scenario: &'a Scenario,
    model: &'a Model,
    request: Request,
    threads: usize,
}

impl Evaluation<'_> {
    /// Number of agents; by default that of training.
    pub fn agents(mut self, agents: usize) -> Self {
        self.request.agents = agents;
        self
    }

    /// Number of instances; 40 by default.
    pub fn instances(mut self, instances: usize) -> Self {
        self.request.instances = instances;
        self
    }

    /// Seed of the instances; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.request.seed = seed;
        self
    }

    /// Fraction of the agents that fail halfway to the score; 0 by default.
    pub fn failures(mut self, fraction: f64) -> Self {
        self.request.fail = fraction;
        self
    }

    /// Number of threads, 0 for all cores; 1 by default. Scores do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Scores the policy, and the same instances without control.
    pub fn run(self) -> Result<Report, Error> {
        let Self { scenario, model, request, threads } = self;
        if request.instances == 0 {
            return Err(Error::bad("instances", "0", "1 or more"));
        }
        if !(0.0..=1.0).contains(&request.fail) {
            return Err(Error::bad("failures", request.fail.to_string(), "a fraction from 0 to 1"));
        }
        let policy = scenario.registry.build_policy(&model.config, &scenario.problem)?;
        model.check_shapes(&*policy)?;
        let name = model.config.problem();
        evaluate::report(&scenario.problem, &*policy, &model.params, name, &request, &Threads::new(threads)?)
    }
}

/// A callback for the progress of a training run.
type OnProgress<'a> = Box<dyn FnMut(&Progress) + 'a>;

/// A training run; made by [`Scenario::train`].
///
/// ```no_run
/// let problem = cinoc::problem("heat1d")?;
/// let training = problem.train().updates(200).on_progress(|p| println!("{}: {}", p.update, p.cost));
/// let policy = training.run("runs/mine")?;
/// println!("validation score {:?}", policy.validation);
/// # Ok::<(), cinoc::Error>(())
/// ```
#[must_use = "nothing is computed before `run`"]
pub struct Training<'a> {
    scenario: Scenario,
    changes: Vec<String>,
    seed: u64,
    threads: usize,
    progress: Option<OnProgress<'a>>,
}

impl<'a> Training<'a> {
    /// Number of updates; by default that of the recipe.
    pub fn updates(self, updates: usize) -> Self {
        self.set("train.updates", updates)
    }

    /// Changes a setting, for example `.set("train.rate", 1e-3)`.
    pub fn set(mut self, key: &str, value: impl fmt::Display) -> Self {
        self.changes.push(format!("{key}={value}"));
        self
    }

    /// Seed of the initial weights and of all instances; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Number of threads; 0, the default, takes all cores. The trained policy does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Calls `f` after every update.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(Box::new(f));
        self
    }

    /// Trains in a new run folder, with checkpoints, and returns the policy that scored best on validation instances.
    pub fn run(mut self, folder: impl AsRef<Path>) -> Result<Model, Error> {
        let Scenario { registry, config, .. } = &self.scenario;
        let config = registry.change(config, &Overlay::from_pairs(&self.changes)?)?;
        let origin = Origin { config, preset: String::new(), seed: self.seed };
        let mut run = Run::start(registry, folder.as_ref(), origin, Threads::new(self.threads)?)?;
        while !run.trainer.finished() {
            let progress = run.step()?;
            self.progress.iter_mut().for_each(|f| f(&progress));
        }
        run.close()?;
        Ok(run.model())
    }
}

#[cfg(test)]
mod tests {
    /// Requests that cannot be answered are errors, not panics or NaN.
    #[test]
    fn evaluations_check_what_they_are_asked() {
        let (problem, policy) = (crate::problem("heat1d").unwrap(), crate::pretrained("heat1d").unwrap());
        let with = |changes: &[&str]| problem.clone().with(changes).unwrap();
        assert!(problem.evaluate(&policy).instances(0).run().is_err());
        for fraction in [1.5, -1.0, f64::NAN] {
            assert!(problem.evaluate(&policy).failures(fraction).run().is_err());
        }
        let text = with(&["observe.points=16"]).evaluate(&policy).run().unwrap_err().to_string();
        assert!(text.contains("do not fit"), "{text}");
        assert!(problem.evaluate(&crate::pretrained("ks1d").unwrap()).run().is_err());
        assert!(with(&["physics.ticks=4"]).evaluate(&policy).instances(1).run().is_ok());
    }
}
