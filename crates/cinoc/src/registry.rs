//! Problems and policies by name, and their settings.

use crate::error::{shortened, shown};
use crate::file;
use crate::policy::{Centralised, DeepONet, Pi, Policy, PolicyDefinition, Recurrent, StateFeedback, Uncontrolled};
use crate::problem::{Definition, Description, Explanation, Preset, Problem, Sweeps};
use crate::problems::{Density2d, Fkpp1d, Heat1d, Heat2d, Heat2dObstacles, Ks1d, Ks2d, Turbulence2d};
use crate::recipe::{Train, section};
use crate::settings::{Config, Kind, Overlay, Rule, Setting, Settings, fill, invalid, nearest, parse};
use crate::{Error, budget, disk, vary};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use toml::{Table, Value};

/// Problems and policies by name.
///
/// ```
/// use cinoc::Registry;
///
/// let registry = Registry::builtin();
/// assert!(registry.problems().any(|name| name == "heat1d"));
/// assert_eq!(Registry::empty().problems().count(), 0);
/// ```
///
/// Another crate adds its own in one line each: `Registry::builtin().problem::<MyProblem>().policy::<MyPolicy>()`.
#[derive(Clone)]
pub struct Registry {
    problems: Vec<ProblemEntry>,
    policies: Vec<PolicyEntry>,
}

/// A type-erased problem definition.
#[derive(Clone, Copy)]
struct ProblemEntry {
    name: &'static str,
    about: &'static str,
    explanation: Explanation,
    sweeps: fn() -> Sweeps,
    table: fn(&Table) -> Result<Vec<Setting>, Error>,
    shipped: Preset,
    preset: fn(Preset) -> (Table, Table, Train),
    check: fn(&Table) -> Result<(), Error>,
    build: fn(&str, &Table) -> Result<Problem, Error>,
    shrink: fn(&mut Table),
    resize: fn(&mut Table, usize, usize) -> bool,
    enlarge: fn(&mut Table, usize) -> bool,
}

/// Problems whose settings hold a problem file.
static WRITTEN: ProblemEntry = ProblemEntry {
    name: "a problem file",
    about: "",
    explanation: Explanation { equation: "", sees: "", acts: "", score: "" },
    sweeps: Sweeps::default,
    table: file::table,
    shipped: Preset::Tuned,
    preset: |_| (Table::new(), Table::new(), Train::default()),
    check: file::check,
    build: file::build,
    shrink: |_| {},
    resize: |_, _, _| false,
    enlarge: |_, _| false,
};

#[derive(Clone, Copy)]
struct PolicyEntry {
    name: &'static str,
    about: &'static str,
    table: fn() -> Vec<Setting>,
    preset: fn() -> Table,
    build: fn(&Table, &Problem) -> Built<dyn Policy>,
}

/// Result of a builder.
type Built<T> = Result<Box<T>, Error>;

/// Objects built from a configuration.
#[doc(hidden)]
pub struct Parts {
    /// The problem.
    pub problem: Arc<Problem>,
    /// Its policy.
    pub policy: Box<dyn Policy>,
    /// Training settings.
    pub train: Train,
    /// Variants of the problem that training draws from; none: the problem alone.
    pub variants: Vec<Arc<Problem>>,
    /// Variants that validation counts beside the problem.
    pub validation: Vec<Arc<Problem>>,
}

impl Parts {
    /// Sets the number of ticks of an episode; variants are dropped.
    #[doc(hidden)]
    pub fn with_ticks(mut self, ticks: usize) -> Self {
        let problem = Arc::get_mut(&mut self.problem).expect("the problem is not shared yet");
        (problem.ticks, self.train.ticks) = (ticks, 0);
        self.variants.clear();
        self
    }

    /// Sets the number of agents, the same in all training instances; variants are dropped.
    #[doc(hidden)]
    pub fn with_agents(mut self, agents: usize) -> Self {
        self.train.agents.clear();
        self.variants.clear();
        Arc::get_mut(&mut self.problem).expect("the problem is not shared yet").agents = agents;
        self
    }
}

/// Memory that a problem needs per node of its grid, in bytes, of the problem that needs the most.
const BYTES_PER_NODE: f64 = 400.0;

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
    /// Creates an empty registry.
    pub fn empty() -> Self {
        Self { problems: Vec::new(), policies: Vec::new() }
    }

    /// Creates a registry of the problems and policies of this crate.
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
            .policy::<Pi>()
            .policy::<StateFeedback>()
            .policy::<Uncontrolled>()
    }

    /// Registers a problem, replacing one of the same name.
    pub fn problem<D: Definition>(mut self) -> Self {
        self.problems.retain(|entry| entry.name != D::NAME);
        self.problems.push(ProblemEntry {
            name: D::NAME,
            about: D::ABOUT,
            explanation: D::EXPLANATION,
            sweeps: D::sweeps,
            table: |_| Ok(D::table()),
            shipped: D::SHIPPED,
            preset: |preset| {
                let (settings, recipe) = D::preset(preset);
                (plain(&settings), recipe.policy, recipe.train)
            },
            check: |tree| typed::<D>(tree).check(),
            build: |_, tree| {
                let settings = typed::<D>(tree);
                settings.check()?;
                budget::check("these settings", settings.bytes())?;
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

    /// Registers a policy, replacing one of the same name.
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

    /// Returns the names of the problems.
    pub fn problems(&self) -> impl Iterator<Item = &'static str> {
        self.problems.iter().map(|entry| entry.name)
    }

    /// Returns the names of the policies, each with a one-line description.
    pub fn policies(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.policies.iter().map(|entry| (entry.name, entry.about))
    }

    /// Returns the one-line description of a problem.
    #[doc(hidden)]
    pub fn about(&self, problem: &str) -> Result<&'static str, Error> {
        Ok(self.entry(problem)?.about)
    }

    /// Returns the equation, observations, actions and score of a problem, in words.
    #[doc(hidden)]
    pub fn describe(&self, config: &Config) -> Result<Description, Error> {
        if file::is_written(config.tree()) {
            return file::describe(config.tree());
        }
        let entry = self.entry(config.problem())?;
        Ok(entry.explanation.of(entry.about))
    }

    /// Returns the settings that studies vary in a problem.
    #[doc(hidden)]
    pub fn sweeps(&self, config: &Config) -> Result<Sweeps, Error> {
        Ok((self.entry_of(config.problem(), config.tree())?.sweeps)())
    }

    /// Returns the settings that studies vary in a problem of this name.
    #[doc(hidden)]
    pub fn sweeps_of(&self, name: &str) -> Result<Sweeps, Error> {
        Ok((self.entry(name)?.sweeps)())
    }

    fn entry(&self, name: &str) -> Result<&ProblemEntry, Error> {
        self.problems.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let known = self.problems().map(str::to_owned).collect();
            Error::UnknownProblem { name: shortened(name), nearest: nearest(name, self.problems()), known }
        })
    }

    /// Returns the entry of a problem by its settings.
    fn entry_of(&self, name: &str, tree: &Table) -> Result<&ProblemEntry, Error> {
        if file::is_written(tree) { Ok(&WRITTEN) } else { self.entry(name) }
    }

    fn policy_entry(&self, kind: &str) -> Result<&PolicyEntry, Error> {
        self.policies.iter().find(|entry| entry.name == kind).ok_or_else(|| {
            let all: Vec<&str> = self.policies().map(|(name, _)| name).collect();
            Error::bad("policy.kind", format!("{kind:?}"), format!("one of {}", all.join(", ")))
        })
    }

    /// Returns every key of a problem with this kind of policy.
    #[doc(hidden)]
    fn table(&self, problem: &ProblemEntry, tree: &Table) -> Result<Vec<Setting>, Error> {
        let policy = self.policy_entry(kind(tree))?;
        let kinds = self.policies().collect();
        let own = |key, about: &str, rule| Setting { key, about: about.into(), rule, absent: None };
        let mut inner = vec![own("kind", "Kind of the policy.", Rule::Word(kinds))];
        inner.extend((policy.table)());
        let mut table = (problem.table)(tree)?;
        table.push(own(POLICY, policy.about, Rule::Section(inner)));
        table.push(own(TRAIN, "Training.", <Train as Kind>::rule(())));
        Ok(table)
    }

    /// Returns every key of a configuration, with its documentation and allowed values.
    #[doc(hidden)]
    pub fn settings(&self, config: &Config) -> Result<Vec<Setting>, Error> {
        self.table(self.entry_of(config.problem(), config.tree())?, config.tree())
    }

    /// Opens the settings of a problem, given by name or by a TOML file that names one, with changes.
    ///
    /// A name that ends in `.toml` is a file: a problem of its own, with a section `[equations]`; or a line
    /// `problem = "..."`, optionally `preset = "paper"`, and any settings to change. `changes` take precedence over the
    /// file. Endless files are refused.
    ///
    /// ```
    /// # fn main() -> Result<(), cinoc::Error> {
    /// use cinoc::{Registry, problem::Preset, settings::Overlay};
    ///
    /// let changes = Overlay::from_pairs(["train.updates=5"])?;
    /// let config = Registry::builtin().open("heat1d", Preset::Tuned, &changes)?;
    /// assert_eq!(config.get("train.updates").and_then(|value| value.as_integer()), Some(5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(&self, name_or_path: impl AsRef<Path>, preset: Preset, changes: &Overlay) -> Result<Config, Error> {
        let path = name_or_path.as_ref();
        if Self::is_file(path) {
            return self.open_text(&disk::read_text(path)?, &path.to_string_lossy(), preset, changes);
        }
        self.config(&path.to_string_lossy(), preset, changes)
    }

    /// Opens settings from the text of a file as [`Registry::open`] does; `place` names it in errors.
    #[doc(hidden)]
    pub fn open_text(&self, text: &str, place: &str, preset: Preset, changes: &Overlay) -> Result<Config, Error> {
        if file::is_problem(&parse(text, place)?) {
            if matches!(preset, Preset::Paper | Preset::Robust) {
                let reason = "a problem file has one recipe; leave the preset out, and change settings of policy and train";
                return Err(Error::ProblemFile { place: shown(place), key: "preset".into(), reason: reason.into() });
            }
            return self.open_problem(file::open(text, place)?, changes);
        }
        let mut all = Overlay::from_toml(text, place)?;
        let Some(Value::String(name)) = all.take("problem") else {
            let example = self.problems().next().unwrap_or_default();
            return Err(invalid(place, &format!("it names no problem, as a line like `problem = {example:?}` does")));
        };
        let preset = match all.take("preset") {
            Some(Value::String(word)) => word.parse()?,
            Some(other) => return Err(bad_preset(&other.to_string())),
            None => preset,
        };
        all.extend(changes);
        self.config(&name, preset, &all)
    }

    /// Returns the settings of an opened problem file with changes.
    fn open_problem(&self, opened: file::Opened, changes: &Overlay) -> Result<Config, Error> {
        let file::Opened { name, mut tree, policy, train, changes: mut all } = opened;
        tree.insert(POLICY.into(), Value::Table(policy));
        tree.insert(TRAIN.into(), Value::Table(plain(&train)));
        all.extend(changes);
        self.changed(&name, tree, all)
    }

    /// Returns true if [`Registry::open`] reads a file of that name.
    #[doc(hidden)]
    pub fn is_file(name_or_path: impl AsRef<Path>) -> bool {
        name_or_path.as_ref().extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
    }

    /// Returns the settings of a problem with changes.
    pub fn config(&self, name: &str, preset: Preset, changes: &Overlay) -> Result<Config, Error> {
        let entry = self.entry(name)?;
        let preset = if preset == Preset::Shipped { entry.shipped } else { preset };
        let (mut tree, policy, train) = (entry.preset)(preset);
        tree.insert(POLICY.into(), Value::Table(policy));
        tree.insert(TRAIN.into(), Value::Table(plain(&train)));
        self.changed(name, tree, changes.clone())
    }

    /// Returns a configuration with changes.
    #[doc(hidden)]
    pub fn change(&self, config: &Config, changes: &Overlay) -> Result<Config, Error> {
        self.changed(config.problem(), config.tree().clone(), changes.clone())
    }

    fn changed(&self, name: &str, mut tree: Table, mut changes: Overlay) -> Result<Config, Error> {
        let entry = self.entry_of(name, &tree)?;
        // Another kind of policy brings its own settings, to which the other changes are then applied.
        if let Some(asked) = changes.take("policy.kind") {
            let asked = self.policy_entry(&asked.as_str().map_or_else(|| asked.to_string(), str::to_owned))?;
            if asked.name != kind(&tree) {
                tree.insert(POLICY.into(), Value::Table((asked.preset)()));
            }
        }
        let table = self.table(entry, &tree)?;
        changes.apply(&mut tree, &table)?;
        let config = Config::new(name, tree, &table)?;
        (entry.check)(config.tree())?;
        Ok(config)
    }

    /// Reads a complete configuration as [`Config::to_toml`] wrote it; `place` names it in errors.
    #[doc(hidden)]
    pub fn read(&self, text: &str, place: &str) -> Result<Config, Error> {
        let (name, mut tree) = Config::parse(text, place)?;
        let entry = self.entry_of(&name, &tree)?;
        let table = self.table(entry, &tree)?;
        fill(&mut tree, &table);
        let config = Config::new(&name, tree, &table)?;
        (entry.check)(config.tree())?;
        Ok(config)
    }

    /// Builds the problem of a configuration.
    pub fn build(&self, config: &Config) -> Result<Problem, Error> {
        (self.entry_of(config.problem(), config.tree())?.build)(config.problem(), config.tree())
    }

    /// Builds the policy of a configuration for its problem.
    #[doc(hidden)]
    pub fn build_policy(&self, config: &Config, problem: &Problem) -> Built<dyn Policy> {
        let section = config.tree()[POLICY].as_table().expect("settings were checked");
        (self.policy_entry(kind(config.tree()))?.build)(section, problem)
    }

    /// Builds everything that a configuration describes.
    #[doc(hidden)]
    pub fn parts(&self, config: &Config) -> Result<Parts, Error> {
        let problem = self.build(config)?;
        let policy = self.build_policy(config, &problem)?;
        let train: Train = config.section(TRAIN);
        let drawn = vary::draw(&train.vary, train.variants)?;
        let changes = |line: &String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let judged: Vec<_> = train.validate_variants.iter().map(changes).collect();
        let build = |key: &str, all: &[Vec<String>]| -> Result<Vec<_>, Error> {
            all.iter().map(|changes| self.variant(config, &problem, &*policy, key, changes)).collect()
        };
        let count = (drawn.len() + judged.len()) as f64;
        budget::check("these variants", BYTES_PER_NODE * count * problem.stepper.state_count() as f64)?;
        let (variants, validation) = (build("train.vary", &drawn)?, build("train.validate_variants", &judged)?);
        Ok(Parts { problem: Arc::new(problem), policy, train, variants, validation })
    }

    /// Builds a variant of a problem that the same policy can act on.
    fn variant(
        &self,
        config: &Config,
        problem: &Problem,
        policy: &dyn Policy,
        key: &str,
        changes: &[String],
    ) -> Result<Arc<Problem>, Error> {
        let bad = |expected: &str| Error::bad(key, format!("{:?}", changes.join(" ")), expected);
        let section = |pair: &String| pair.split(['.', '=']).next().map(|section| section.trim().to_owned());
        if changes.iter().filter_map(section).any(|section| [POLICY, TRAIN].contains(&&*section)) {
            return Err(bad("changes of settings of the problem, not of policy or train"));
        }
        let built = self.build(&self.change(config, &Overlay::from_pairs(changes)?)?)?;
        if built.agents != problem.agents {
            return Err(bad("without swarm.agents; train.agents has the numbers of agents"));
        }
        if !problem.plant().serves(policy, &built.plant()) || built.task.terms() != problem.task.terms() {
            return Err(bad("changes that leave the inputs and outputs of the policy and the terms of the cost as they are"));
        }
        Ok(Arc::new(built))
    }

    /// Shortens what takes long to prepare, for quick checks of a problem.
    #[doc(hidden)]
    pub fn shrink(&self, config: &Config) -> Result<Config, Error> {
        let (entry, mut tree) = (self.entry_of(config.problem(), config.tree())?, config.tree().clone());
        (entry.shrink)(&mut tree);
        self.changed(config.problem(), tree, Overlay::default())
    }

    /// Sets the number of agents and the nodes of the grid at equal cost per agent.
    #[doc(hidden)]
    pub fn resize(&self, config: &Config, agents: usize, nodes: usize) -> Result<Config, Error> {
        let (entry, mut tree) = (self.entry_of(config.problem(), config.tree())?, config.tree().clone());
        // Numbers too large for a file exceed every bound.
        let [agents, nodes] = [agents, nodes].map(|size| size.min(i64::MAX as usize));
        if !(entry.resize)(&mut tree, agents, nodes) {
            return Err(Error::bad("the problem", entry.name, "one that can be resized, like heat2d"));
        }
        self.changed(config.problem(), tree, Overlay::default())
    }

    /// Returns a domain `times` as long along each axis, with equal nodes and agents per area.
    #[doc(hidden)]
    pub fn enlarge(&self, config: &Config, times: usize) -> Result<Config, Error> {
        let (entry, mut tree) = (self.entry_of(config.problem(), config.tree())?, config.tree().clone());
        // Larger than any domain that could be computed, and small enough to be squared.
        if !(entry.enlarge)(&mut tree, times.min(1 << 20)) {
            return Err(Error::bad("the problem", entry.name, "one with domains of any size, like heat2d or ks2d"));
        }
        self.changed(config.problem(), tree, Overlay::default())
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "shipped" => Ok(Self::Shipped),
            "tuned" => Ok(Self::Tuned),
            "robust" => Ok(Self::Robust),
            "paper" => Ok(Self::Paper),
            _ => Err(bad_preset(&format!("{word:?}"))),
        }
    }
}

fn bad_preset(value: &str) -> Error {
    Error::bad("preset", value, "\"shipped\", \"tuned\", \"robust\" or \"paper\"")
}

/// Returns the kind of policy of a tree.
fn kind(tree: &Table) -> &str {
    tree.get(POLICY).and_then(|policy| policy.get("kind")).and_then(Value::as_str).unwrap_or_default()
}
