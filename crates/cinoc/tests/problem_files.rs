//! Problems as files: against hand-written problems, derivatives, determinism, errors.

use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, Loss, Rollout};
use cinoc::run::{Model, Origin, Run};
use cinoc::settings::Overlay;
use cinoc::task::mean_square;
use cinoc::{Config, Problem, Real, Registry, Threads};
use cinoc_lab::convergence::convergence;
use cinoc_lab::inspect;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

const HEAT: &str = r#"
[domain]
size = [1.0]
cells = [200]
left = { value = 0 }
right = { value = 0 }
[constants]
nu = 0.2
[fields]
z = "sin(3.14159265*x)"
[equations]
z = "nu*lap(z) + push"
[agents]
number = 8
push = { width = 0.1, range = [-40, 40] }
move = { speed = 2.0 }
[task]
target = "0.5*random(0.4)"
cost = { error = "mean((z - target)^2)", effort = "1e-4*mean(push.u^2 + 0.1*move.x^2)" }
score = "mean((z - target)^2)"
[time]
tick = 0.001
ticks = 60
"#;

fn open(text: &str, changes: &[&str]) -> Result<Config, cinoc::Error> {
    Registry::builtin().open_text(text, "some/heat.toml", Preset::Tuned, &Overlay::from_pairs(changes)?)
}

fn problem(text: &str) -> Problem {
    Registry::builtin().build(&open(text, &[]).unwrap()).unwrap()
}

fn refused(text: &str) -> String {
    let config = open(text, &[]);
    config.and_then(|config| Registry::builtin().build(&config).map(drop)).expect_err("refused").to_string()
}

/// A field under constant actions of eight agents, as seen at the positions `x`.
fn driven(problem: &Problem, start: fn(f64) -> f64, cells: bool, pushes: [Real; 2]) -> impl Fn(f64) -> f64 + use<> {
    let (grid, ticks) = (problem.stepper.grid().clone(), 60);
    let shift = if cells { 0.5 * grid.spacing(0) } else { 0.0 };
    let x: Vec<f64> = grid.positions(0).iter().map(|x| x + shift).collect();
    let start: Vec<Real> = x.iter().map(|x| start(*x) as Real).collect();
    let positions: Vec<Real> = (0..8).map(|i| ((i as f64 + 0.5) / 8.0 - shift) as Real).collect();
    let actions: Vec<Real> = (0..ticks * 8).flat_map(|i| [pushes[i % 2], 0.0]).collect();
    let mut rollout = Rollout::new(ticks, 1, false, 8);
    rollout.batch.push(&start, &vec![0.0; start.len()], &positions);
    let mut last = Vec::new();
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| last = scene.z.to_vec());
    move |at: f64| {
        let i = x.partition_point(|x| *x < at).clamp(1, x.len() - 1);
        let share = (at - x[i - 1]) / (x[i] - x[i - 1]);
        (1.0 - share) * last[i - 1] as f64 + share * last[i] as f64
    }
}

fn difference(a: impl Fn(f64) -> f64, b: impl Fn(f64) -> f64) -> f64 {
    let at = (0..33).map(|i| 0.02 + 0.03 * i as f64);
    let [apart, size] = at.fold([0.0; 2], |[apart, size], x| [apart + (a(x) - b(x)).powi(2), size + b(x).powi(2)]);
    (apart / size).sqrt()
}

#[test]
fn heat_as_text_is_the_hand_written_equation() {
    let start = |x: f64| (PI * x).sin() + 0.3 * (3.0 * PI * x).sin();
    let own = cinoc::problem("heat1d").unwrap().with(&["physics.nodes=201"]).unwrap();
    let written = problem(HEAT);
    assert_eq!((written.name.as_str(), written.agents, written.swarm.action_width()), ("heat", 8, 2));
    let apart = difference(driven(&written, start, true, [8.0, -4.0]), driven(own.problem(), start, false, [8.0, -4.0]));
    assert!(apart < 1e-3, "{apart}");
}

/// The hand-written one holds the density to [0, 1], which it does not leave here.
#[test]
fn fisher_kpp_as_text_is_the_hand_written_equation() {
    let start = |x: f64| 0.5 * (PI * x).sin().powi(2);
    let text = HEAT
        .replace("nu = 0.2", "nu = 0.005\nrho = 3")
        .replace("lap(z)", "lap(z) + rho*z*(1 - z)")
        .replace("width = 0.1", "width = 0.05");
    let own = cinoc::problem("fkpp1d").unwrap().with(&["physics.nodes=201"]).unwrap();
    let apart = difference(driven(&problem(&text), start, true, [4.0, 2.0]), driven(own.problem(), start, false, [4.0, 2.0]));
    assert!(apart < 4e-3, "{apart}");
}

/// A text with all that a slice of the language has: a map, an exchange, transport, a nonlinear term, a one-sided range.
fn busy() -> String {
    HEAT.replace("right = { value = 0 }", "right = { exchange = 0.5, outside = \"-nu\" }")
        .replace(
            "nu = 0.2",
            "nu = { value = 0.02, range = [0.01, 0.04] }\nspeed = 0.3\n[maps]\nlayer = \"where(x < 0.4, 0.3, 1)\"",
        )
        .replace("nu*lap(z) + push", "div(nu*layer*grad(z)) - speed*dx(z) + z - z^3 - 0.1*z*mean(z) + layer*push")
        .replace("[-40, 40]", "[-2, 6]")
        .replace("sin(3.14159265*x)", "random(0.2) + x")
        .replace("move = {", "see = { error = \"z - target\", window = 0.3 }\nmove = {")
        .replace("cells = [200]", "cells = [40]")
        .replace("tick = 0.001", "tick = 0.02")
}

#[test]
fn derivatives_of_a_rollout_are_exact() {
    for (name, error) in inspect::inputs(&problem(&busy()), 5, &[1e-1, 1e-2, 1e-3]) {
        assert!(error < 2e-2, "{name}: {error}");
    }
    let plane = include_str!("../../../examples/problems/allen_cahn.toml")
        .replace("[1.0]", "[1.0, 1.5]")
        .replace("[64]", "[16, 24]")
        .replace("epsilon*lap(z)", "epsilon*lap(z) - 0.01*dot(grad(z), grad(z)) + 0.001*div((1 + z^2)*grad(z))");
    for (name, error) in inspect::inputs(&problem(&plane), 3, &[1e-1, 1e-2, 1e-3]) {
        assert!(error < 2e-2, "{name}: {error}");
    }
}

#[test]
fn pushes_stay_within_a_one_sided_range() {
    let problem = problem(&HEAT.replace("[-40, 40]", "[0, 5]"));
    let actions: Vec<Real> = (0..8).flat_map(|i| [10.0 * (i as Real - 4.0), 9.0]).collect();
    let mut rollout = Rollout::new(1, 1, false, 8);
    let zero = vec![0.0; 200];
    rollout.batch.push(&zero, &zero, &problem.swarm.start(8));
    let mut seen = Vec::new();
    rollout.forward(&problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| seen = scene.action.to_vec());
    assert_eq!(seen, (0..8).flat_map(|i| [[0.0, 5.0][usize::from(i > 4)], 2.0]).collect::<Vec<Real>>());
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("cinoc-files-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn trained(config: &Config, name: &str, threads: usize, stop: Option<usize>) -> Vec<u8> {
    let (registry, folder) = (Registry::builtin(), folder(name));
    let origin = Origin { config: config.clone(), preset: String::new(), seed: 1 };
    let mut run = Run::start(&registry, &folder, origin, Threads::new(threads).unwrap()).unwrap();
    while !run.trainer.finished() {
        run.step().unwrap();
        if Some(run.trainer.update) == stop {
            run.close().unwrap();
            drop(run);
            run = Run::resume(&registry, &folder, Threads::new(threads).unwrap()).unwrap();
        }
    }
    run.close().unwrap();
    drop(run);
    let bytes = std::fs::read(folder.join("model.safetensors")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    bytes
}

#[test]
fn training_has_the_same_bits_on_any_threads_and_after_a_stop_and_its_model_holds_the_file() {
    let small = ["train.updates=4", "train.batch=8", "train.validate_every=2", "train.validate_instances=4", "train.variants=4"];
    let config = open(&busy(), &[&small[..], &["physics.ticks=12"]].concat()).unwrap();
    assert_eq!(config.get("train.vary").unwrap().to_string(), r#"["constants.nu = 0.01..0.04"]"#);
    let bytes = trained(&config, "one", 1, None);
    assert!(bytes == trained(&config, "two", 2, None), "two threads");
    assert!(bytes == trained(&config, "stopped", 1, Some(2)), "after a stop");
    let registry = Registry::builtin();
    let model = Model::from_bytes(&registry, &bytes, Path::new("model.safetensors")).unwrap();
    assert_eq!(model.config, config);
    let changed = model.with(&registry, &Overlay::from_pairs(["constants.nu=0.5", "physics.cells=[80]"]).unwrap()).unwrap();
    let (problem, _) = changed.build(&registry).unwrap();
    assert_eq!((problem.stepper.grid().count(), problem.ticks), (80, 12));
}

#[test]
fn gradients_reach_the_start_through_substeps() {
    let problem = problem(&HEAT.replace("tick = 0.001", "tick = 0.001\norder = 1\nsubsteps = 3"));
    let mut rollout = Rollout::new(3, 1, true, 8);
    let z: Vec<Real> = vec![0.5; 200];
    rollout.batch.push(&z, &vec![0.0; 200], &problem.swarm.start(8));
    let actions = vec![0.0; 3 * 16];
    let episode = rollout.forward(&problem, Control::Actions(&actions), GradientTargets::ALL, &mut |_| {});
    let gradients = episode.backward(Loss::cost(1.0));
    assert!(gradients.start.iter().all(|g| *g > 0.0) && mean_square(gradients.start, &vec![0.0; 200]) > 0.0);
}

/// dz/dt = cos(t) + push without actions: z = sin(t), by ticks, action repeats and substeps alike.
#[test]
fn equations_may_depend_on_time() {
    let text = HEAT
        .replace("nu*lap(z) + push", "cos(t) + push")
        .replace("right = { value = 0 }", "")
        .replace("left = { value = 0 }", "");
    let text = text.replace("sin(3.14159265*x)", "0").replace("tick = 0.001", "tick = 0.05");
    for (changes, repeat) in [("order = 2", 1), ("order = 2\nsubsteps = 3", 1), ("order = 1", 3)] {
        let problem = problem(&text.replace("ticks = 60", &format!("ticks = 60\n{changes}")));
        let decisions = 60 / repeat;
        let mut rollout = Rollout::new(decisions, 1, false, 8).action_repeat(repeat);
        rollout.batch.push(&[0.0; 200], &[0.0; 200], &problem.swarm.start(8));
        let mut last = 0.0;
        let actions = vec![0.0; decisions * 16];
        rollout.forward(&problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| last = scene.z[0] as f64);
        assert!((last - 3f64.sin()).abs() < 1e-3, "{changes}: {last}");
    }
}

#[test]
fn mistakes_are_shown_at_their_place() {
    for (from, to, expected) in [
        ("nu*lap(z) + push", "nu*lap(q) + push", "heat.toml, equations.z: q is not known\n  nu*lap(q) + push\n         ^"),
        ("nu*lap(z) + push", "nu*lap(z)", "the equation does not use push"),
        ("cells = [200]", "cells = [2]", "some/heat.toml, domain.cells: it must be"),
        ("cells = [200]", "cels = [200]", "domain.cells: it is missing"),
        ("width = 0.1", "width = -1", "agents.push.width: it cannot be -1"),
        ("[-40, 40]", "[1, 40]", "agents.push.range"),
        ("left = { value = 0 }", "left = { value = 0, fluxx = 1 }", "domain.left.fluxx: it is not known"),
        ("left = { value = 0 }", "left = { value = \"nue\" }", "nue is not known"),
        (
            "left = { value = 0 }",
            "left = \"periodic\"",
            "domain.left: left and right are periodic together or not at all; write right = \"periodic\" too",
        ),
        ("nu = 0.2", "nu = \"a lot\"", "constants.nu: it must be a number"),
        ("nu = 0.2", "x = 0.2", "x is declared twice"),
        ("nu = 0.2", "nu = { value = 3, range = [0, 1] }", "constants.nu.range"),
        ("random(0.4)", "random(-1)", "task.target"),
        ("random(0.4)", "random(0)", "task.target"),
        ("score = \"mean((z - target)^2)\"", "score = \"z\"", "task.score"),
        ("sin(3.14159265*x)", "z", "fields.z.start"),
        ("ticks = 60", "ticks = 60\nhours = 2", "time.hours: it is not known"),
        ("[time]", "[tiem]", "time: it is missing"),
        ("nu*lap(z) + push", "z/0 - 1e30*z^3 + push", "steps in a tick"),
    ] {
        assert!(HEAT.contains(from), "{from}");
        let text = refused(&HEAT.replacen(from, to, 1));
        assert!(text.contains(expected), "{to}: {text}");
    }
}

#[test]
fn presets_of_other_problems_are_refused() {
    let asked = Registry::builtin().open_text(HEAT, "some/heat.toml", Preset::Paper, &Overlay::default());
    assert!(asked.unwrap_err().to_string().starts_with("some/heat.toml, preset: a problem file has one recipe"));
}

/// Texts that are cut or changed anywhere are answered, whatever they say.
#[test]
fn damaged_files_are_answered() {
    let text = busy();
    let registry = Registry::builtin();
    let answer = |text: &str| drop(open(text, &[]).and_then(|config| registry.build(&config).map(drop)));
    for at in (0..text.len()).step_by(7) {
        answer(&text[..at]);
        answer(&[&text[..at], "-", &text[at + 1..]].concat());
        answer(&[&text[..at], "9", &text[at + 1..]].concat());
    }
    let config = open(&text, &[]).unwrap().to_toml();
    for at in (0..config.len()).step_by(31).filter(|at| config.is_char_boundary(*at)) {
        drop(registry.read(&config[..at], "a model"));
    }
    let other = open(HEAT, &["file.text=\"[equations]\""]);
    assert!(other.is_err());
    let immobile = HEAT.replace("move = { speed = 2.0 }\n", "");
    let swapped = open(HEAT, &[]).unwrap().to_toml().replace("move = { speed = 2.0 }", "");
    assert!(registry.read(&swapped, "a model").is_err() && open(&immobile, &[]).is_err(), "texts and settings must agree");
}

#[test]
fn smooth_problems_are_of_second_order_and_first_where_asked() {
    let text = HEAT.replace("nu = 0.2", "nu = 0.02").replace("push = { width = 0.1", "push = { width = 0.2");
    let text = text.replace("nu*lap(z)", "nu*lap(z) + z - z^3").replace("cells = [200]", "cells = [48]");
    let text = text.replace("tick = 0.001", "tick = 0.2").replace("[-40, 40]", "[-2, 2]");
    let found = |text: &str| convergence(&Registry::builtin(), &open(text, &[]).unwrap()).unwrap().unwrap();
    let second = found(&text);
    assert!((second.cells.order() - 2.0).abs() < 0.2, "{second:?}");
    assert!((second.steps.order() - 2.0).abs() < 0.4, "{second:?}");
    let first = found(&text.replace("ticks = 60", "ticks = 60\norder = 1"));
    assert!((first.steps.order() - 1.0).abs() < 0.3, "{first:?}");
}

/// Swift-Hohenberg from the onset: exp(-i x) grows by r.
#[test]
fn backward_diffusion_is_implicit_with_a_fourth_order_that_outweighs_it() {
    let text = include_str!("../../../examples/problems/swift_hohenberg.toml");
    let config = open(text, &[]).unwrap();
    let described = Registry::builtin().describe(&config).unwrap().numerics.join("\n");
    assert!(described.contains("-2*lap(z): implicit with the fourth order"), "{described}");
    let line = text.replace("[25.13274, 25.13274]", "[6.2831853]").replace("[32, 32]", "[64]").replace(" - z^3", "");
    let small = line.replace("0.6*random(1.5)", "1e-3*cos(x)").replace("width = 1.5", "width = 0.5");
    let small =
        small.replace("window = 5.0", "window = 2.0").replace("number = 36", "number = 4").replace("ticks = 80", "ticks = 16");
    let problem = problem(&small);
    let z = driven_from_start(&problem);
    let growth = (z[0] as f64 / 1e-3).ln() / 4.0;
    assert!((growth - 0.3).abs() < 3e-3, "{growth}");
}

/// The field at the end of an episode without actions.
fn driven_from_start(problem: &Problem) -> Vec<Real> {
    let start = problem.task.sample(&mut Rng::new(0, Stream::Test, 0), Split::Test).start;
    let mut rollout = Rollout::new(problem.ticks, 1, false, problem.agents);
    rollout.batch.push(&start, &vec![0.0; start.len()], &problem.swarm.start(problem.agents));
    let actions = vec![0.0; problem.ticks * problem.agents * problem.swarm.action_width()];
    let mut last = Vec::new();
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| last = scene.z.to_vec());
    last
}
