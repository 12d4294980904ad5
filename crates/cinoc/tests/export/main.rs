//! Exported policies decide as the engine does.

mod c;
mod fault;
mod missing;
mod recovery;
mod refused;
mod sequences;

use cinoc::env::Env;
use cinoc::export::{Program, Trial, trial};
use cinoc::internal::library;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::policy::Policy;
use cinoc::problem::Preset;
use cinoc::rollout::InitialCondition;
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::{Problem, Real, Registry};
use std::sync::Arc;

/// Largest difference of two computations, relative to the largest action. In single precision each of them is up to
/// 1e-6 from exact.
const CLOSE: f64 = if cfg!(double) { 1e-11 } else { 2e-6 };

/// Number of decisions compared for each model.
const DECISIONS: usize = 10_000;

struct Case {
    model: Model,
    problem: Arc<Problem>,
    policy: Box<dyn Policy>,
}

/// What policies of tests sense of their own readings: all of it with slopes that are read, all of it with fitted ones,
/// and fitted slopes alone.
const SENSES: [(&str, &str, &[&str]); 5] = [
    ("heat1d-sensing", "heat1d", &["observe.ages=true", "observe.roughness=true"]),
    ("heat2d-sensing", "heat2d", &["observe.ages=true", "observe.roughness=true"]),
    ("heat1d-fitted", "heat1d", &["observe.ages=true", "observe.roughness=true", "observe.fitted_slopes=true"]),
    ("heat2d-fitted", "heat2d", &["observe.ages=true", "observe.roughness=true", "observe.fitted_slopes=true"]),
    ("ks1d-fitted", "ks1d", &["observe.fitted_slopes=true"]),
];

/// Returns an untrained policy with these settings.
fn sensing(name: &str, senses: &[&str]) -> Case {
    let registry = Registry::builtin();
    let mut model = library::find(&registry, name).expect("a model");
    let changes = Overlay::from_pairs(senses).expect("settings");
    model.config = registry.shrink(&registry.change(&model.config, &changes).expect("settings")).expect("settings");
    let (problem, policy) = registry.parts(&model.config).map(|parts| (parts.problem, parts.policy)).expect("a problem");
    model.params = policy.init(&mut Rng::new(3, Stream::Init, 0));
    Case { model, problem, policy }
}

/// A problem file whose agents have limits beyond ranges.
const LIMITS: &str = r#"
[domain]
size = [1.0, 1.0]
cells = [16, 16]
[fields]
z = "random(0.3)"
[equations]
z = "0.02*lap(z) + push + water"
[agents]
number = 9
push = { width = 0.1, range = [-1, 3], rate = 8 }
water = { shape = "disc", radius = 0.15, range = [0, 2], tank = 0.3, refill = 0.2 }
move = { speed = 0.5 }
see = { also = ["z", "x - t"] }
[task]
cost = { error = "mean(z^2)" }
score = "mean(z^2)"
[time]
tick = 0.05
ticks = 40
"#;

/// Returns an untrained policy for a problem file.
fn written(text: &str, changes: &[&str]) -> Case {
    let registry = Registry::builtin();
    let mut model = shipped("heat1d").model;
    let changes = Overlay::from_pairs(changes).expect("settings");
    model.config = registry.open_text(text, "written.toml", Preset::Tuned, &changes).expect("settings");
    let (problem, policy) = registry.parts(&model.config).map(|parts| (parts.problem, parts.policy)).expect("a problem");
    model.params = policy.init(&mut Rng::new(3, Stream::Init, 0));
    Case { model, problem, policy }
}

/// Returns an untrained policy of mobile agents in a box that sense the ages of their readings.
fn cube() -> Case {
    let text = include_str!("../../../../examples/problems/heat_cube.toml").replace("[16, 16, 16]", "[8, 9, 10]");
    written(&text.replace("number = 27", "number = 12\nmove = { speed = 0.5 }"), &["observe.ages=true"])
}

/// Returns an untrained policy of mobile agents in a channel, periodic along x, that sense gaps and crowds.
fn channel() -> Case {
    let sides = "cells = [16, 16]\nleft = \"periodic\"\nright = \"periodic\"";
    let text = LIMITS.replace("cells = [16, 16]", sides).replace("size = [1.0, 1.0]", "size = [1.0, 0.8]");
    written(&text.replace("see = {", "see = { gaps = 0.3,"), &["swarm.crowd=1.5", "swarm.crowd_width=1.5"])
}

/// Returns all shipped policies, some on a line and in the plane that sense their own readings, and three of files.
fn cases() -> Vec<(String, Case)> {
    let shipped = names().into_iter().map(|name| (name.to_owned(), shipped(name)));
    let sensing = SENSES.iter().map(|(name, problem, senses)| ((*name).to_owned(), sensing(problem, senses)));
    let written = [("written".to_owned(), written(LIMITS, &[])), ("cube".to_owned(), cube()), ("channel".to_owned(), channel())];
    shipped.chain(sensing).chain(written).collect()
}

/// Loads a shipped model. Uncontrolled runs of chaotic problems are short: the initial state does not matter here.
fn shipped(name: &str) -> Case {
    loaded(name)
}

/// Loads a model by name, file or run folder.
fn loaded(name: &str) -> Case {
    let registry = Registry::builtin();
    let mut model = library::find(&registry, name).expect("a model");
    model.config = registry.shrink(&model.config).expect("settings");
    let (problem, policy) = model.build(&registry).expect("a problem");
    Case { model, problem, policy }
}

fn names() -> Vec<&'static str> {
    library::names(&Registry::builtin()).collect()
}

impl Case {
    fn trial(&self, decisions: usize) -> Trial {
        trial(&self.problem, &*self.policy, &self.model.params, decisions, 7).expect("a trial")
    }

    fn program(&self, plainly: bool) -> Program {
        Program::record(&self.problem, &*self.policy, &self.model.params, plainly).expect("a program")
    }

    /// Returns the largest difference between actions, relative to the limits.
    fn off(&self, actions: &[f64], trial: &Trial) -> f64 {
        assert_eq!(actions.len(), trial.actions.len());
        let limits = self.problem.swarm.limits();
        let each = actions.iter().zip(&trial.actions).enumerate();
        each.map(|(i, (a, b))| (a - *b as f64).abs() / limits[i % limits.len()] as f64).fold(0.0, f64::max)
    }
}

/// Returns the state of an agent with this memory, before its first reading.
fn state_with(program: &Program, memory: &[Real]) -> Vec<Real> {
    [memory, &vec![0.0; program.readings()]].concat()
}

#[test]
fn plain_operations_decide_the_same() {
    for (name, case) in cases() {
        let (trial, mut program) = (case.trial(2000), case.program(true));
        assert!(trial.first.len() == 2000 && trial.actions.iter().all(|x| x.is_finite()));
        let (width, mut state, mut all) = (program.readings(), Vec::new(), Vec::new());
        for (i, first) in trial.first.iter().enumerate() {
            if *first {
                state = state_with(&program, &trial.memory[i * program.memory()..(i + 1) * program.memory()]);
            }
            all.extend(program.run(&trial.readings[i * width..(i + 1) * width], &mut state).iter().map(|&x| x as f64));
        }
        let off = case.off(&all, &trial);
        assert!(off < CLOSE, "{name}: off by {off:.1e} of the limit");
    }
}

/// Slopes that are fitted to the errors are no readings.
#[test]
fn fitted_slopes_need_not_be_measured() {
    for (name, case) in cases() {
        let measured = case.program(true).inputs().iter().any(|input| input.instrument.name == "slope");
        let text = cinoc::export::c::source(&Registry::builtin(), &case.model, &name).expect("a file");
        assert!(measured != name.ends_with("fitted") && measured == text.contains("seen->slope"), "{name}");
    }
}

#[test]
fn an_agent_alone_does_what_it_does_in_a_swarm() {
    for (name, case) in cases() {
        let (problem, mut program, limits) = (&case.problem, case.program(false), case.problem.swarm.limits());
        let (agents, k, h) = (problem.agents, program.width(), program.memory());
        let mut env = Env::new(problem.clone(), 1, agents, Threads::single()).expect("an environment");
        env.reset(&[true], &mut |i| InitialCondition::drawn(problem, agents, 5, Stream::Test, i));
        (0..agents).for_each(|agent| env.set_strength(0, agent, 0.4 + 0.1 * (agent % 7) as Real));
        let mut off = 0.0f64;
        for tick in 0..30 {
            if tick == 20 {
                env.set_strength(0, 2, 0.0);
            }
            let (readings, memory) = (env.readings(0), env.memory(0).to_vec());
            let memory = if memory.is_empty() { vec![0.0; agents * h] } else { memory };
            env.run(&*case.policy, &case.model.params, 1, &mut |_| {});
            for m in 0..agents {
                let (width, mut own) = (program.readings(), state_with(&program, &memory[m * h..(m + 1) * h]));
                let action = program.run(&readings[m * width..(m + 1) * width], &mut own);
                for c in 0..k {
                    off = off.max(((action[c] - env.action(0)[m * k + c]) / limits[c]).abs() as f64);
                }
                let after = &env.memory(0)[m * h..(m + 1) * h];
                own.iter().zip(after).for_each(|(a, b)| off = off.max((a - b).abs() as f64 * 1e-2));
            }
        }
        // Readings are rounded where the engine's observations are not.
        assert!(off < 2.0 * CLOSE, "{name}: off by {off:.1e} of the limit");
    }
}

/// The paper's policies observe images or whole fields; they have convolutions and no memory.
#[test]
fn other_policies_are_written_with_plain_operations_too() {
    let registry = Registry::builtin();
    for name in registry.problems() {
        let config = registry.config(name, Preset::Paper, &Default::default()).expect("settings");
        let parts = registry.parts(&registry.shrink(&config).expect("settings")).expect("a problem");
        let params = parts.policy.init(&mut Rng::new(1, Stream::Init, 0));
        let [mut fused, mut plain] =
            [false, true].map(|plainly| Program::record(&parts.problem, &*parts.policy, &params, plainly).expect("a program"));
        plain.instructions().expect("plain operations");
        let (mut rng, limits) = (Rng::new(1, Stream::Noise, 0), parts.problem.swarm.limits());
        for _ in 0..20 {
            let readings: Vec<Real> = rng.normals(fused.readings()).iter().map(|x| x.abs() as Real).collect();
            let [a, b] = [&mut fused, &mut plain].map(|program| program.run(&readings, &mut vec![0.0; readings.len()]));
            let off = a.iter().zip(&b).zip(&limits).map(|((a, b), limit)| ((a - b).abs() / limit) as f64).fold(0.0, f64::max);
            assert!(off < 2.0 * CLOSE, "{name}: off by {off:.1e} of the limit");
        }
    }
}
