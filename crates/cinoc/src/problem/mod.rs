//! Control problems by name. A new one is a file here and a word in [`NAMES`] and [`defaults`].

mod chaos;
mod density2d;
mod fkpp1d;
mod heat1d;
mod heat2d;
mod heat2d_obstacles;
mod ks1d;
mod ks2d;
mod parts;
mod turbulence2d;

use crate::Error;
use crate::agents::Swarm;
use crate::config::{self, Config, Overlay};
use crate::policy::{self, Policy};
use crate::task::Task;
use cinoc_pde::Stepper;

/// Names of all problems.
pub const NAMES: &[&str] = &["heat1d", "fkpp1d", "heat2d", "heat2d_obstacles", "ks1d", "ks2d", "turbulence2d", "density2d"];

/// A control problem, ready to be rolled out.
pub struct Problem {
    /// All its settings.
    pub config: Config,
    /// The physics.
    pub stepper: Box<dyn Stepper>,
    /// The agents.
    pub swarm: Swarm,
    /// What is wanted.
    pub task: Box<dyn Task>,
    /// Decisions per episode.
    pub ticks: usize,
    /// Steps of the equation per decision.
    pub substeps: usize,
}

/// Which settings to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Our own recipe.
    Tuned,
    /// The setting of the paper as the specification fixes it.
    Paper,
}

/// The settings of a problem.
pub fn defaults(name: &str, preset: Preset) -> Result<Config, Error> {
    let mut config = match name {
        "heat1d" => heat1d::paper(),
        "fkpp1d" => fkpp1d::paper(),
        "heat2d" => heat2d::paper(),
        "heat2d_obstacles" => heat2d_obstacles::paper(),
        "ks1d" => ks1d::paper(),
        "ks2d" => ks2d::paper(),
        "turbulence2d" => turbulence2d::paper(),
        "density2d" => density2d::paper(),
        _ => {
            let nearest = NAMES.iter().find(|known| config::distance(name, known) <= 2);
            let known = nearest.map_or_else(|| NAMES.join(", "), |known| format!("{known} (did you mean that?)"));
            return Err(Error::UnknownProblem { name: name.into(), known });
        }
    };
    if preset == Preset::Tuned {
        match name {
            "heat1d" => heat1d::tune(&mut config),
            "heat2d" => heat2d::tune(&mut config),
            "heat2d_obstacles" => heat2d_obstacles::tune(&mut config),
            "ks1d" => ks1d::tune(&mut config),
            "ks2d" => ks2d::tune(&mut config),
            "turbulence2d" => turbulence2d::tune(&mut config),
            "density2d" => density2d::tune(&mut config),
            _ => fkpp1d::tune(&mut config),
        }
    }
    Ok(config)
}

/// One line about a problem.
pub fn about(name: &str) -> &'static str {
    match name {
        "heat1d" => "Heat equation on an interval: 8 mobile agents drive the temperature to a random target.",
        "fkpp1d" => "Fisher–KPP reaction front: 20 mobile agents shape a growing population.",
        "heat2d" => "Heat equation on a square: 16 mobile agents drive the temperature to a random target.",
        "heat2d_obstacles" => "The same with three discs that the agents keep out of.",
        "ks1d" => "Kuramoto–Sivashinsky chaos on a ring: 8 agents that stay in place bring it to rest.",
        "ks2d" => "Kuramoto–Sivashinsky chaos on a torus: 100 agents that stay in place bring it to rest.",
        "turbulence2d" => "Decaying turbulence on a torus: 64 agents that stay in place make it decay at once.",
        "density2d" => "Density on a rectangle: 9 mobile agents blow a cloud to where it should be.",
        _ => "",
    }
}

impl Problem {
    /// Builds what a configuration describes.
    pub fn new(config: Config) -> Result<Self, Error> {
        check(&config)?;
        match config.problem.as_str() {
            "heat1d" => Ok(heat1d::build(config)),
            "fkpp1d" => Ok(fkpp1d::build(config)),
            "heat2d" | "heat2d_obstacles" => Ok(heat2d::build(config)),
            "ks1d" => Ok(ks1d::build(config)),
            "ks2d" => Ok(ks2d::build(config)),
            "turbulence2d" => Ok(turbulence2d::build(config)),
            "density2d" => Ok(density2d::build(config)),
            name => defaults(name, Preset::Paper).map(|_| unreachable!("registered but not built: {name}")),
        }
    }

    /// The default settings of a problem with changes.
    pub fn configure(name: &str, preset: Preset, changes: &Overlay) -> Result<Config, Error> {
        let mut config = defaults(name, preset)?;
        // A choice may bring settings of its own, which the other changes then change.
        if changes.word("choice.view") == Some("patch") {
            density2d::see_patches(&mut config);
        }
        config::overlay(&config, changes)
    }

    /// The policy of the configuration.
    pub fn policy(&self) -> Result<Box<dyn Policy>, Error> {
        policy::build(&self.config, &self.swarm)
    }

    /// Time between two decisions.
    pub fn tick_time(&self) -> f64 {
        self.stepper.dt() as f64 * self.substeps as f64
    }
}

/// The words a problem leaves to choose, each with what it can be; the first is the default.
pub fn choices(name: &str) -> &'static [(&'static str, &'static [&'static str])] {
    match name {
        "density2d" => density2d::CHOICES,
        _ => &[],
    }
}

/// Values that would make no sense.
fn check(config: &Config) -> Result<(), Error> {
    let positive = [
        ("swarm.agents", config.swarm.agents),
        ("train.batch", config.train.batch),
        ("train.shard", config.train.shard),
        ("train.segment", config.train.segment),
        ("train.validate_every", config.train.validate_every),
        ("train.validate_instances", config.train.validate_instances),
        ("train.checkpoint_every", config.train.checkpoint_every),
        ("policy.head", config.policy.head),
        ("policy.stride", config.policy.stride),
    ];
    for (key, value) in positive {
        if value == 0 {
            return Err(Error::BadValue { key: key.into(), value: "0".into(), expected: "1 or more".into() });
        }
    }
    let bad =
        |key: &str, value: String, expected: &str| Err(Error::BadValue { key: key.into(), value, expected: expected.into() });
    let number = |name: &str| config.physics.get(name).copied();
    for name in ["nodes", "nodes_x", "nodes_y"] {
        if let Some(nodes) = number(name)
            && (nodes < 4.0 || nodes.fract() != 0.0)
        {
            return bad(&format!("physics.{name}"), nodes.to_string(), "a whole number of 4 or more");
        }
    }
    for (name, words) in choices(&config.problem) {
        let word = config.choice.get(*name).map_or("", String::as_str);
        if !words.contains(&word) {
            let known: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            return bad(&format!("choice.{name}"), format!("{word:?}"), &known.join(" or "));
        }
    }
    if let Some(diffusion) = number("diffusion")
        && diffusion > 0.25
    {
        return bad("physics.diffusion", diffusion.to_string(), "at most 0.25, above which a step is not stable");
    }
    if let Some(ticks) = number("ticks")
        && (ticks < 2.0 || ticks.fract() != 0.0)
    {
        return bad("physics.ticks", ticks.to_string(), "a whole number of 2 or more");
    }
    chaos::check(config)?;
    for (name, value) in &config.physics {
        if *value <= 0.0 && name != "substeps" {
            return bad(&format!("physics.{name}"), value.to_string(), "above 0");
        }
    }
    for (key, value) in [
        ("swarm.sigma", config.swarm.sigma),
        ("swarm.u_limit", config.swarm.u_limit),
        ("swarm.v_limit", config.swarm.v_limit),
        ("observe.window", config.observe.window),
        ("train.rate", config.train.rate),
        ("train.clip", config.train.clip),
    ] {
        if value <= 0.0 {
            return bad(key, value.to_string(), "above 0");
        }
    }
    if config.problem == "heat2d_obstacles" {
        heat2d_obstacles::check(config)?;
    } else if config.swarm.safety || config.observe.obstacles {
        let key = if config.swarm.safety { "swarm.safety" } else { "observe.obstacles" };
        return bad(key, "true".into(), "false: this problem has no obstacles");
    }
    let [weakest, strongest] = config.train.strength;
    if weakest <= 0.0 || strongest < weakest {
        return bad(
            "train.strength",
            format!("{:?}", config.train.strength),
            "two factors above 0, the smaller first, like [0.5, 2.0]",
        );
    }
    if !(0.0..1.0).contains(&config.train.average) {
        return bad("train.average", config.train.average.to_string(), "from 0 to below 1, like 0.95");
    }
    if !(2..=64).contains(&config.observe.points) {
        return bad("observe.points", config.observe.points.to_string(), "from 2 to 64");
    }
    if !["peak", "unit-mass"].contains(&config.swarm.kernel.as_str()) {
        return bad("swarm.kernel", format!("{:?}", config.swarm.kernel), "\"peak\" or \"unit-mass\"");
    }
    if !["exp", "warmup-cosine"].contains(&config.train.schedule.as_str()) {
        return bad("train.schedule", format!("{:?}", config.train.schedule), "\"exp\" or \"warmup-cosine\"");
    }
    Ok(())
}
