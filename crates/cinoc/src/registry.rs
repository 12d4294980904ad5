//! The problems and policies a program knows.

use crate::error::shortened;
use crate::policy::{Centralised, DeepONet, Policy, PolicyDefinition, Recurrent, Uncontrolled};
use crate::problem::{Definition, Explanation, Preset, Problem, Sweeps};
use crate::problems::{Density2d, Fkpp1d, Heat1d, Heat2d, Heat2dObstacles, Ks1d, Ks2d, Turbulence2d};
use crate::recipe::{Train, section};
use crate::settings::{Config, Kind, Overlay, Rule, Setting, Settings, distance, fill};
use crate::{Error, memory};
use std::sync::Arc;
use toml::{Table, Value};

/// Problems and policies by name. Those of another crate are added in one line each:
///
/// ```ignore
/// cinoc_cli::run(Registry::builtin().problem::<MyProblem>().policy::<MyPolicy>())
/// ```
#[derive(Clone)]
pub struct Registry {
    problems: Vec<ProblemEntry>,
    policies: Vec<PolicyEntry>,
}

/// A definition without its type.
#[derive(Clone, Copy)]
struct ProblemEntry {
    name: &'static str,
    about: &'static str,
    explanation: Explanation,
    sweeps: fn() -> Sweeps,
    table: fn() -> Vec<Setting>,
    preset: fn(Preset) -> (Table, Table, Train),
    check: fn(&Table) -> Result<(), Error>,
    build: fn(&Table) -> Result<Problem, Error>,
    shrink: fn(&mut Table),
    resize: fn(&mut Table, usize, usize) -> bool,
    enlarge: fn(&mut Table, usize) -> bool,
}

#[derive(Clone, Copy)]
struct PolicyEntry {
    name: &'static str,
    about: &'static str,
    table: fn() -> Vec<Setting>,
    preset: fn() -> Table,
    build: fn(&Table, &Problem) -> Built<dyn Policy>,
}

/// What a builder gives.
type Built<T> = Result<Box<T>, Error>;

/// Everything that a configuration describes.
pub struct Parts {
    /// What is controlled.
    pub problem: Arc<Problem>,
    /// What decides.
    pub policy: Box<dyn Policy>,
    /// How it is trained.
    pub train: Train,
}

impl Parts {
    /// The same with episodes of another length.
    pub fn with_ticks(mut self, ticks: usize) -> Self {
        let problem = Arc::get_mut(&mut self.problem).expect("nobody shares it yet");
        (problem.ticks, self.train.ticks) = (ticks, 0);
        self
    }

    /// The same trained with another number of agents, and with no other.
    pub fn with_agents(mut self, agents: usize) -> Self {
        self.train.agents.clear();
        Arc::get_mut(&mut self.problem).expect("nobody shares it yet").agents = agents;
        self
    }
}

/// Sections that every configuration has besides those of its problem.
const POLICY: &str = "policy";
const TRAIN: &str = "train";

fn typed<T: Settings>(table: &Table) -> T {
    let keys: Vec<&str> = T::table().iter().map(|setting| setting.key).collect();
    let own: Table = table.iter().filter(|(key, _)| keys.contains(&key.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect();
    own.try_into().expect("settings were checked against their table")
}

fn plain<T: Settings>(settings: &T) -> Table {
    Table::try_from(settings).expect("settings are plain data")
}

impl Registry {
    /// Knows nothing.
    pub fn empty() -> Self {
        Self { problems: Vec::new(), policies: Vec::new() }
    }

    /// Knows what comes with this crate.
    pub fn builtin() -> Self {
        Self::empty()
            .problem::<Heat1d>()
            .problem::<Fkpp1d>()
            .problem::<Heat2d>()
            .problem::<Heat2dObstacles>()
            .problem::<Ks1d>()
            .problem::<Ks2d>()
            .problem::<Turbulence2d>()
            .problem::<Density2d>()
            .policy::<DeepONet>()
            .policy::<Recurrent>()
            .policy::<Centralised>()
            .policy::<Uncontrolled>()
    }

    /// Knows one problem more; one of the same name is replaced.
    pub fn problem<D: Definition>(mut self) -> Self {
        self.problems.retain(|entry| entry.name != D::NAME);
        self.problems.push(ProblemEntry {
            name: D::NAME,
            about: D::ABOUT,
            explanation: D::EXPLANATION,
            sweeps: D::sweeps,
            table: D::table,
            preset: |preset| {
                let (settings, recipe) = D::preset(preset);
                (plain(&settings), recipe.policy, recipe.train)
            },
            check: |tree| typed::<D>(tree).check(),
            build: |tree| {
                let settings = typed::<D>(tree);
                settings.check()?;
                memory::afford("these settings", settings.bytes())?;
                Ok(settings.build())
            },
            shrink: |tree| {
                let mut settings = typed::<D>(tree);
                settings.shrink();
                tree.extend(plain(&settings));
            },
            resize: |tree, agents, nodes| {
                let mut settings = typed::<D>(tree);
                let offered = settings.resize(agents, nodes);
                tree.extend(plain(&settings));
                offered
            },
            enlarge: |tree, times| {
                let mut settings = typed::<D>(tree);
                let offered = settings.enlarge(times);
                tree.extend(plain(&settings));
                offered
            },
        });
        self
    }

    /// Knows one policy more; one of the same name is replaced.
    pub fn policy<P: PolicyDefinition>(mut self) -> Self {
        self.policies.retain(|entry| entry.name != P::NAME);
        self.policies.push(PolicyEntry {
            name: P::NAME,
            about: P::ABOUT,
            table: P::table,
            preset: || section(&P::preset()),
            build: |tree, problem| typed::<P>(tree).build(&problem.plant()),
        });
        self
    }

    /// Names of the problems.
    pub fn problems(&self) -> impl Iterator<Item = &'static str> {
        self.problems.iter().map(|entry| entry.name)
    }

    /// Names of the policies, each with a line about it.
    pub fn policies(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.policies.iter().map(|entry| (entry.name, entry.about))
    }

    /// One line about a problem.
    pub fn about(&self, problem: &str) -> Result<&'static str, Error> {
        Ok(self.entry(problem)?.about)
    }

    /// What is controlled, seen, done and scored.
    pub fn explanation(&self, problem: &str) -> Result<Explanation, Error> {
        Ok(self.entry(problem)?.explanation)
    }

    /// What studies vary in a problem.
    pub fn sweeps(&self, problem: &str) -> Result<Sweeps, Error> {
        Ok((self.entry(problem)?.sweeps)())
    }

    fn entry(&self, name: &str) -> Result<&ProblemEntry, Error> {
        self.problems.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let nearest = self.problems().min_by_key(|known| distance(name, known)).filter(|known| distance(name, known) <= 2);
            let all = || self.problems().collect::<Vec<_>>().join(", ");
            let known = nearest.map_or_else(all, |known| format!("{known} (did you mean that?)"));
            Error::UnknownProblem { name: shortened(name), known }
        })
    }

    fn policy_entry(&self, kind: &str) -> Result<&PolicyEntry, Error> {
        self.policies.iter().find(|entry| entry.name == kind).ok_or_else(|| {
            let all: Vec<&str> = self.policies().map(|(name, _)| name).collect();
            Error::bad("policy.kind", format!("{kind:?}"), format!("one of {}", all.join(", ")))
        })
    }

    /// Every key of a problem with this kind of policy.
    fn table(&self, problem: &ProblemEntry, policy: &PolicyEntry) -> Vec<Setting> {
        let kinds = self.policies().collect();
        let own = |key, about: &str, rule| Setting { key, about: about.into(), rule, absent: None };
        let mut inner = vec![own("kind", "Which kind of policy.", Rule::Word(kinds))];
        inner.extend((policy.table)());
        let mut table = (problem.table)();
        table.push(own(POLICY, policy.about, Rule::Section(inner)));
        table.push(own(TRAIN, "How it is trained.", <Train as Kind>::rule(())));
        table
    }

    /// Every key of a configuration, with its explanation and the values it may take.
    pub fn settings(&self, config: &Config) -> Result<Vec<Setting>, Error> {
        Ok(self.table(self.entry(config.problem())?, self.policy_entry(kind(config.tree()))?))
    }

    /// The settings of a problem with changes.
    pub fn config(&self, name: &str, preset: Preset, changes: &Overlay) -> Result<Config, Error> {
        let entry = self.entry(name)?;
        let (mut tree, policy, train) = (entry.preset)(preset);
        tree.insert(POLICY.into(), Value::Table(policy));
        tree.insert(TRAIN.into(), Value::Table(plain(&train)));
        self.changed(entry, tree, changes.clone())
    }

    /// A configuration with changes.
    pub fn change(&self, config: &Config, changes: &Overlay) -> Result<Config, Error> {
        self.changed(self.entry(config.problem())?, config.tree().clone(), changes.clone())
    }

    fn changed(&self, entry: &ProblemEntry, mut tree: Table, mut changes: Overlay) -> Result<Config, Error> {
        // Another kind of policy brings settings of its own, which the other changes then change.
        if let Some(asked) = changes.take("policy.kind") {
            let asked = self.policy_entry(&asked.as_str().map_or_else(|| asked.to_string(), str::to_owned))?;
            if asked.name != kind(&tree) {
                tree.insert(POLICY.into(), Value::Table((asked.preset)()));
            }
        }
        let table = self.table(entry, self.policy_entry(kind(&tree))?);
        changes.apply(&mut tree, &table)?;
        let config = Config::new(entry.name, tree, &table)?;
        (entry.check)(config.tree())?;
        Ok(config)
    }

    /// Reads a complete configuration as [`Config::to_toml`] wrote it; `place` names it in errors.
    pub fn read(&self, text: &str, place: &str) -> Result<Config, Error> {
        let (name, mut tree) = Config::parse(text, place)?;
        let entry = self.entry(&name)?;
        let table = self.table(entry, self.policy_entry(kind(&tree))?);
        fill(&mut tree, &table);
        let config = Config::new(&name, tree, &table)?;
        (entry.check)(config.tree())?;
        Ok(config)
    }

    /// Builds the problem of a configuration.
    pub fn build(&self, config: &Config) -> Result<Problem, Error> {
        (self.entry(config.problem())?.build)(config.tree())
    }

    /// Builds the policy of a configuration for its problem.
    pub fn build_policy(&self, config: &Config, problem: &Problem) -> Built<dyn Policy> {
        let section = config.tree()[POLICY].as_table().expect("settings were checked");
        (self.policy_entry(kind(config.tree()))?.build)(section, problem)
    }

    /// Builds everything that a configuration describes.
    pub fn parts(&self, config: &Config) -> Result<Parts, Error> {
        let problem = self.build(config)?;
        let policy = self.build_policy(config, &problem)?;
        Ok(Parts { problem: Arc::new(problem), policy, train: config.section(TRAIN) })
    }

    /// The same configuration with what takes long to prepare made short: good enough to check a problem with.
    pub fn shrink(&self, config: &Config) -> Result<Config, Error> {
        let (entry, mut tree) = (self.entry(config.problem())?, config.tree().clone());
        (entry.shrink)(&mut tree);
        self.changed(entry, tree, Overlay::default())
    }

    /// The same configuration with another number of agents and another grid, such that an agent costs what it did.
    pub fn resize(&self, config: &Config, agents: usize, nodes: usize) -> Result<Config, Error> {
        let (entry, mut tree) = (self.entry(config.problem())?, config.tree().clone());
        // Numbers that no file can hold are beyond every bound.
        let [agents, nodes] = [agents, nodes].map(|size| size.min(i64::MAX as usize));
        if !(entry.resize)(&mut tree, agents, nodes) {
            return Err(Error::bad("the problem", entry.name, "one that can be resized, like heat2d"));
        }
        self.changed(entry, tree, Overlay::default())
    }

    /// The same configuration on a domain so many times as long along each axis, with as many nodes and agents per area.
    pub fn enlarge(&self, config: &Config, times: usize) -> Result<Config, Error> {
        let (entry, mut tree) = (self.entry(config.problem())?, config.tree().clone());
        // Beyond any domain that could be computed, and small enough to be squared.
        if !(entry.enlarge)(&mut tree, times.min(1 << 20)) {
            return Err(Error::bad("the problem", entry.name, "one with domains of any size, like heat2d or ks2d"));
        }
        self.changed(entry, tree, Overlay::default())
    }
}

/// Which kind of policy a tree asks for.
fn kind(tree: &Table) -> &str {
    tree.get(POLICY).and_then(|policy| policy.get("kind")).and_then(Value::as_str).unwrap_or_default()
}
