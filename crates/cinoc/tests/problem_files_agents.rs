//! Agents of problem files: several channels, their limits, what agents see, and where they are.

use cinoc::env::Env;
use cinoc::export::{Program, trial};
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::sense::{Observation, Visible};
use cinoc::policy::{Context, Decision, Policy};
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Rollout};
use cinoc::run::{Origin, Run};
use cinoc::settings::Overlay;
use cinoc::{Config, Problem, Real, Registry, Threads};
use cinoc_lab::inspect;
use cinoc_tape::{Arena, Leaves, Params, Shape, Tape};
use std::sync::Arc;

const ROOM: &str = r#"
[domain]
size = [2.0]
cells = [40]
[constants]
k = { value = 0.05, range = [0.03, 0.08] }
[maps]
half = "where(x < 1, 1, 0)"
[fields]
z = "0.5 + 0.3*random(0.5)"
[equations]
z = "k*lap(z) + half*push + 2*(1 - half)*heat"
[agents]
number = 6
push = { width = 0.1, range = [-4, 4] }
heat = { shape = "disc", radius = 0.15, range = [0, 5] }
move = { speed = 1.0 }
[task]
target = "0.4*random(0.5)"
cost = { error = "mean((z - target)^2)", effort = "1e-2*mean(push.u^2 + 0.5*heat.u^2 + 0.1*move.x^2)" }
score = "mean((z - target)^2)"
[time]
tick = 0.05
ticks = 20
"#;

/// Limits of all kinds; a push of 0.04 is as large as the rate in a tick.
const LIMITED: [(&str, &str); 3] = [
    ("range = [-4, 4] }", "range = [-4, 4], rate = 0.8 }"),
    ("range = [0, 5] }", "range = [0, 5], tank = 0.5, refill = 0.2 }"),
    ("number = 6", "number = 6\nlimit = { push = 4.0, heat = 8.0 }\nsee = { also = [\"z\", \"k*t\"], shared = true }"),
];

fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(ROOM.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

fn open(text: &str, changes: &[&str]) -> Result<Config, cinoc::Error> {
    Registry::builtin().open_text(text, "some/room.toml", Preset::Tuned, &Overlay::from_pairs(changes)?)
}

fn problem(text: &str) -> Problem {
    Registry::builtin().build(&open(text, &[]).unwrap()).unwrap()
}

fn refused(text: &str) -> String {
    let config = open(text, &[]);
    config.and_then(|config| Registry::builtin().build(&config).map(drop)).expect_err("refused").to_string()
}

/// The field after some ticks of the same action of every agent, from zero.
fn driven(problem: &Problem, action: &[Real]) -> Vec<Real> {
    let (n, agents, ticks) = (problem.stepper.grid().count(), problem.agents, 4);
    let mut rollout = Rollout::new(ticks, 1, false, agents);
    rollout.batch.push(&vec![0.0; n], &vec![0.0; n], &problem.swarm.start(agents));
    let actions: Vec<Real> = (0..ticks * agents).flat_map(|_| action.to_vec()).collect();
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |_| {});
    rollout.end().0.to_vec()
}

#[test]
fn each_channel_acts_where_the_equation_uses_it() {
    let problem = problem(&ROOM.replace("k*lap(z) + ", "").replace("k = {", "unused = {"));
    assert_eq!((problem.swarm.action_width(), problem.swarm.push_width(), problem.swarm.limits()), (3, 2, vec![4.0, 5.0, 1.0]));
    let [push, heat, both] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]].map(|action| driven(&problem, &action));
    assert!(push[20..].iter().all(|z| *z == 0.0) && push[..20].iter().all(|z| *z > 0.0));
    assert!(heat[..20].iter().all(|z| *z == 0.0) && heat[20..].iter().sum::<Real>() > 0.0);
    assert!(both.iter().zip(push.iter().zip(&heat)).all(|(both, (push, heat))| (both - push - heat).abs() < 1e-5));
    // Six discs of 0.3 on a line of 2, twice, for 0.2 units of time; three of them are in the right half.
    let heated: Real = heat.iter().sum::<Real>() * 0.05;
    assert!((heated - 3.0 * 0.3 * 2.0 * 0.2).abs() < 0.02, "{heated}");
}

#[test]
fn one_channel_of_any_name_is_the_push() {
    let one = |name: &str| {
        let text = ROOM.replace("heat = { shape = \"disc\", radius = 0.15, range = [0, 5] }\n", "");
        let text = text.replace(" + 2*(1 - half)*heat", "").replace(" + 0.5*heat.u^2", "");
        driven(&problem(&text.replace("push", name)), &[3.0, 0.5])
    };
    assert_eq!(
        one("push").iter().map(|z| z.to_bits()).collect::<Vec<_>>(),
        one("water").iter().map(|z| z.to_bits()).collect::<Vec<_>>()
    );
}

#[test]
fn derivatives_of_a_rollout_are_exact_with_limits_active_and_not() {
    let free =
        [("tank = 0.5", "tank = 50.0"), ("rate = 0.8", "rate = 80.0"), ("push = 4.0, heat = 8.0", "push = 40.0, heat = 80.0")];
    let rated =
        [("tank = 0.5", "tank = 50.0"), ("rate = 0.8", "rate = 0.3"), ("push = 4.0, heat = 8.0", "push = 40.0, heat = 80.0")];
    let shared =
        [("tank = 0.5", "tank = 50.0"), ("rate = 0.8", "rate = 0.5"), ("push = 4.0, heat = 8.0", "push = 0.07, heat = 0.03")];
    let empty = [("tank = 0.5, refill = 0.2", "tank = 0.002, refill = 0.01"), ("rate = 0.8", "rate = 80.0")];
    for more in [&free[..], &rated, &shared, &empty] {
        let text = more.iter().fold(changed(&LIMITED), |text, (from, to)| text.replacen(from, to, 1));
        // Inner points of the ramps of discs, and a cost that is not small.
        let text = text.replace("1e-2*mean", "mean");
        for (name, error) in inspect::inputs(&problem(&text), 5, &[1e-1, 1e-2, 1e-3]) {
            assert!(error < 2e-2, "{more:?}: {name}: {error}");
        }
    }
}

/// Answers absurd numbers.
struct Absurd;

impl Policy for Absurd {
    fn shapes(&self) -> Vec<(String, Shape)> {
        vec![("raw".into(), [6, 3].into())]
    }

    fn act<'t>(&self, theta: &Leaves<'t>, seen: &Observation<'t>, _: &Context<'t>) -> Decision<'t> {
        let batch = seen.position().shape().sizes()[0];
        theta.get(0).reshape([1, 18]).repeat_rows(batch).reshape([batch, 6, 3]).into()
    }
}

fn absurd(rng: &mut Rng) -> Real {
    match rng.uniform(0.0, 8.0) as usize {
        0 => Real::NAN,
        1 => Real::INFINITY,
        2 => Real::NEG_INFINITY,
        3 => Real::MAX,
        4 => -1e30,
        _ => (10.0 * rng.normal()) as Real,
    }
}

#[test]
fn applied_actions_are_possible_whatever_is_answered() {
    for levels in [None, Some(3)] {
        let levels = levels.map_or("rate = 0.8".to_owned(), |levels| format!("levels = {levels}"));
        let text = changed(&LIMITED).replace("rate = 0.8", &levels).replace("k*lap(z) + half*push", "k*lap(z) - z + half*push");
        let problem = Arc::new(problem(&text));
        for by_policy in [false, true] {
            let mut env = Env::new(problem.clone(), 1, 6, Threads::single()).unwrap().without_time_limit(true);
            env.reset(&[true], &mut |i| InitialCondition::drawn(&problem, 6, 1, Stream::Test, i));
            let (mut rng, mut tanks) = (Rng::new(3, Stream::Noise, 0), [0.5; 6]);
            for tick in 0..300 {
                if tick == 150 {
                    env.set_strength(0, 2, 0.0);
                }
                let before = env.action(0).to_vec();
                let actions: Vec<Real> = (0..18).map(|_| if tick % 7 < 3 { 1e9 } else { absurd(&mut rng) }).collect();
                if by_policy {
                    let mut params = Params::default();
                    params.push("raw", [6, 3], &actions);
                    env.run(&Absurd, &params, 1, &mut |_| {});
                } else {
                    env.step(&actions);
                }
                let after = env.action(0);
                let mut sums = [0.0; 2];
                for (m, (before, after)) in before.chunks_exact(3).zip(after.chunks_exact(3)).enumerate() {
                    let [push, heat, speed] = [after[0], after[1], after[2]].map(|x| x as f64);
                    assert!(push.abs() <= 4.0 && (0.0..=5.0).contains(&heat) && speed.abs() <= 1.0, "{after:?}");
                    if env.strength(0)[m] == 0.0 {
                        assert_eq!(after, [0.0; 3]);
                    } else if levels.starts_with("rate") {
                        assert!((push - before[0] as f64).abs() <= 0.04 * (1.0 + 1e-4), "{before:?} {after:?}");
                    }
                    tanks[m] = (tanks[m] + 0.05 * (0.2 - heat)).min(0.5);
                    assert!(tanks[m] > -1e-4 && (tanks[m] / 0.5 - env.stock(0)[m] as f64).abs() < 1e-3, "{tanks:?}");
                    sums = [sums[0] + push.abs(), sums[1] + heat];
                }
                assert!(sums[0] <= 4.0 * (1.0 + 1e-5) && sums[1] <= 8.0 * (1.0 + 1e-5), "tick {tick}: {sums:?}");
                assert!(!env.last_step().diverged[0] && env.field(0).iter().all(|z| z.is_finite()));
            }
        }
    }
}

#[test]
fn levels_are_kept_and_pass_derivatives() {
    let text = ROOM
        .replace("range = [-4, 4] }", "range = [-4, 4], levels = 5 }")
        .replace("range = [0, 5] }", "range = [0, 5], levels = 2 }");
    let problem = problem(&text);
    let (n, mut seen) = (40, Vec::new());
    let actions: Vec<Real> =
        [[-3.1, 2.0, 0.3], [0.9, 2.6, 0.0], [-0.9, 9.0, 0.0], [1.1, -1.0, 0.0], [7.0, 2.4, 0.0], [3.2, 4.0, -9.0]].concat();
    let mut rollout = Rollout::new(1, 1, true, 6);
    rollout.batch.push(&vec![0.5; n], &vec![0.0; n], &problem.swarm.start(6));
    let episode =
        rollout.forward(&problem, Control::Actions(&actions), GradientTargets::ALL, &mut |scene| seen = scene.action.to_vec());
    let gradients = episode.backward(cinoc::rollout::Loss::cost(1.0)).actions.to_vec();
    let expected =
        [[-4.0, 0.0, 0.3], [0.0, 5.0, 0.0], [0.0, 5.0, 0.0], [2.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 5.0, -1.0]].concat();
    assert_eq!(seen, expected);
    assert!(gradients[0] != 0.0 && gradients[4] != 0.0 && gradients[12] == 0.0, "{gradients:?}");
}

#[test]
fn training_has_the_same_bits_on_one_and_two_threads() {
    let small = ["train.updates=3", "train.batch=8", "train.validate_every=2", "train.validate_instances=4", "train.variants=4"];
    let config = open(&changed(&LIMITED), &[&small[..], &["physics.ticks=12"]].concat()).unwrap();
    let trained = |threads: usize| {
        let (registry, name) = (Registry::builtin(), format!("cinoc-file-agents-{threads}-{}", std::process::id()));
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        let origin = Origin { config: config.clone(), preset: String::new(), seed: 1 };
        let mut run = Run::start(&registry, &folder, origin, Threads::new(threads).unwrap()).unwrap();
        while !run.trainer.finished() {
            run.step().unwrap();
        }
        run.close().unwrap();
        drop(run);
        let bytes = std::fs::read(folder.join("model.safetensors")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        bytes
    };
    assert!(trained(1) == trained(2));
}

/// Readings of the agents' instrument of this name, `[agents, count]`, from the field `z` at the positions of the start.
fn readings(problem: &Problem, z: &[Real], name: &str) -> Vec<Real> {
    let (grid, agents) = (problem.stepper.grid(), problem.agents);
    let tape = Tape::new(Arena::default(), &[]);
    let field = Shape::new(&[&[1], &grid.nodes[..]].concat());
    let xi = tape.constant([1, agents, grid.dimensions()], &problem.swarm.start(agents));
    let strength = tape.constant([1, agents], &vec![1.0; agents]);
    let now = Some(tape.constant([1], &[10.0]));
    let visible = Visible { now, ..Visible::new(tape.constant(field, z), tape.zeros(field), xi, strength) };
    let at = problem.swarm.instruments().iter().position(|one| one.name == name).unwrap();
    problem.swarm.readings(&visible)[at].value()
}

#[test]
fn agents_see_texts_at_their_position() {
    let text = ROOM
        .replace("number = 6", "positions = [[0.3, 0.4], [1.61, 0.77], [0.5, 0.5]]")
        .replace("size = [2.0]", "size = [2.0, 1.0]")
        .replace("cells = [40]", "cells = [20, 10]")
        .replace(
            "push = {",
            "see = { also = [{ text = \"z\", scale = 1 }, \"3*x - y + k*t\", { text = \"2*k*t\", scale = 10 }] }\npush = {",
        );
    let problem = problem(&text);
    // Linear in x and y of the file, whose cells have their centres at half a cell.
    let z: Vec<Real> = (0..200).map(|i| 0.1 * ((i / 10) as Real + 0.5) + 2.0 * 0.1 * ((i % 10) as Real + 0.5)).collect();
    for (m, [x, y]) in [[0.3, 0.4], [1.61, 0.77], [0.5, 0.5]].into_iter().enumerate() {
        for (name, exact) in [("also_z", x + 2.0 * y), ("also_2", 3.0 * x - y + 0.05 * 0.5), ("also_3", 2.0 * 0.05 * 0.5)] {
            let found = readings(&problem, &z, name)[m];
            assert!((found - exact as Real).abs() < 1e-5, "{name} of agent {m}: {found}, not {exact}");
        }
    }
    let features = problem.swarm.features();
    assert_eq!((features.signal, features.position), (3, features.signal_from + 3));
}

#[test]
fn agents_see_their_last_action_their_tank_and_the_used_share() {
    let problem = Arc::new(problem(&changed(&LIMITED)));
    let mut env = Env::new(problem.clone(), 1, 6, Threads::single()).unwrap();
    env.reset(&[true], &mut |i| InitialCondition::drawn(&problem, 6, 1, Stream::Test, i));
    env.step(&[0.02, 3.0, -0.5].repeat(6));
    let instruments = problem.swarm.instruments();
    let (mut from, row) = (0, env.readings(0));
    let mut seen = |name: &str| {
        from = 0;
        let one = instruments.iter().find(|one| {
            let found = one.name == name;
            from += if found { 0 } else { one.count };
            found
        });
        row[from..from + one.unwrap().count].to_vec()
    };
    assert_eq!(seen("last"), env.action(0)[..3]);
    let heat = 8.0 / 6.0;
    let close = |a: &[Real], b: &[f64]| a.iter().zip(b).all(|(a, b)| (*a as f64 - b).abs() < 1e-4);
    assert!(close(&seen("last"), &[0.02, heat, -0.5]), "{:?}", seen("last"));
    assert!(close(&seen("level"), &[1.0 + 0.05 * (0.2 - heat) / 0.5]), "{:?}", seen("level"));
    assert!(close(&seen("shared"), &[0.03, 1.0]), "{:?}", seen("shared"));
    // The observation of a policy has the same, in its units, before the strength.
    let each = env.observation_len();
    let mut all = vec![0.0; 6 * each];
    env.observe(&mut all);
    let shown: Vec<f64> = vec![0.02 / 4.0, heat / 5.0, -0.5, 1.0 + 0.05 * (0.2 - heat) / 0.5, 0.03, 1.0];
    assert!(close(&all[each - 1 - shown.len()..each - 1], &shown), "{:?}", &all[each - 1 - shown.len()..each - 1]);
}

#[test]
fn agents_stay_where_they_are_put() {
    let text =
        changed(&[("number = 6", "positions = [0.3, 0.62, 0.9]"), ("speed = 1.0 }", "speed = 1.0, within = [0.25, 1.0] }")]);
    let problem = Arc::new(problem(&text));
    assert_eq!(problem.agents, 3);
    let close = |a: &[Real], b: &[Real]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    // Cells are 0.05 wide, and positions count from the first centre.
    assert!(close(&problem.swarm.start(3), &[0.275, 0.595, 0.875]));
    assert!(problem.swarm.start(5).iter().all(|x| (0.225..=0.975).contains(x)), "{:?}", problem.swarm.start(5));
    let mut env = Env::new(problem.clone(), 1, 3, Threads::single()).unwrap();
    env.reset(&[true], &mut |i| InitialCondition::drawn(&problem, 3, 1, Stream::Test, i));
    for _ in 0..18 {
        env.step(&[0.0, 0.0, -1.0, 0.0, 0.0, 0.1, 0.0, 0.0, 1.0]);
    }
    assert!(close(env.positions(0), &[0.225, 0.685, 0.975]), "{:?}", env.positions(0));
}

/// The plain operations of exports, and a single agent, do what a tick does; what one agent cannot do alone is refused.
#[test]
fn exports_keep_limits_or_are_refused() {
    let alone = changed(&LIMITED).replace("limit = { push = 4.0, heat = 8.0 }\n", "").replace(", shared = true", "");
    for text in [alone.clone(), alone.replace("tank = 0.5, refill = 0.2", "levels = 4")] {
        let parts = Registry::builtin().parts(&open(&text, &[]).unwrap()).unwrap();
        let mut params = parts.policy.init(&mut Rng::new(3, Stream::Init, 0));
        params.theta_mut().iter_mut().for_each(|x| *x *= 2.0);
        params.refresh();
        let trial = trial(&parts.problem, &*parts.policy, &params, 2000, 7).unwrap();
        let mut program = Program::record(&parts.problem, &*parts.policy, &params, true).unwrap();
        program.instructions().unwrap();
        let (width, mut state, mut apart) = (program.readings(), Vec::new(), 0);
        for (i, first) in trial.first.iter().enumerate() {
            if *first {
                state = [&trial.memory[i * program.memory()..][..program.memory()], &vec![0.0; width]].concat();
            }
            let action = program.run(&trial.readings[i * width..][..width], &mut state);
            // An answer next to the edge of two levels may be rounded to either.
            apart += usize::from(action.iter().zip(&trial.actions[3 * i..]).any(|(a, b)| (a - b).abs() > 2e-5));
        }
        assert!(apart <= 2, "{apart} of {}", trial.first.len());
        let mut env = Env::new(parts.problem.clone(), 1, 6, Threads::single()).unwrap();
        env.reset(&[true], &mut |i| InitialCondition::drawn(&parts.problem, 6, 5, Stream::Test, i));
        for _ in 0..15 {
            let (readings, memory) = (env.readings(0), env.memory(0).to_vec());
            env.run(&*parts.policy, &params, 1, &mut |_| {});
            for m in 0..6 {
                let h = program.memory();
                let own = if memory.is_empty() { vec![0.0; h] } else { memory[m * h..][..h].to_vec() };
                let action = program.run(&readings[m * width..][..width], &mut [own, vec![0.0; width]].concat());
                let apart = action.iter().zip(&env.action(0)[3 * m..]).map(|(a, b)| (a - b).abs()).fold(0.0, Real::max);
                assert!(apart < 1e-4, "{action:?} {:?}", env.action(0));
            }
        }
    }
    let parts = Registry::builtin().parts(&open(&changed(&LIMITED), &[]).unwrap()).unwrap();
    let params = parts.policy.init(&mut Rng::new(3, Stream::Init, 0));
    let text = Program::record(&parts.problem, &*parts.policy, &params, true).err().unwrap().to_string();
    assert!(text.contains("its agents share a limit"), "{text}");
}

#[test]
fn descriptions_name_channels_and_limits() {
    let registry = Registry::builtin();
    let described = registry.describe(&open(&changed(&LIMITED), &["swarm.u_limit=2"]).unwrap()).unwrap();
    for part in [
        "a push u*exp",
        "u from -2 to 2, changing by at most 0.8 per unit of time, at most 4 in sum",
        "a heat u in a disc of radius 0.15, u from 0 to 5, from a tank of 0.5 that is refilled by 0.2",
        "a velocity",
    ] {
        assert!(described.acts.contains(part), "{part}: {}", described.acts);
    }
    assert!(
        described.sees.contains("among them z, k*t, its last action, its tank of heat, the used share"),
        "{}",
        described.sees
    );
}

#[test]
fn mistakes_are_shown_at_their_place() {
    for (from, to, expected) in [
        ("+ 2*(1 - half)*heat", "", "room.toml, equations.z: the equation does not use heat"),
        ("2*(1 - half)*heat", "2*(1 - half)*heet", "equations.z: heet is not known"),
        ("number = 6", "nubmer = 6", "agents.number: it is missing"),
        ("number = 6", "number = 6\nnubmer = 6", "agents.nubmer: it is not known; did you mean number?"),
        ("number = 6", "number = 6\nsees = { window = 0.3 }", "agents.sees: it is not known; a channel needs a range"),
        ("number = 6", "number = 6\nlimit = { pull = 3 }", "agents.limit.pull: there is no such channel"),
        ("number = 6", "number = 6\nlimit = { push = -3 }", "agents.limit.push: it must be a number above 0"),
        ("radius = 0.15", "width = 0.15", "agents.heat.radius: it is missing"),
        ("radius = 0.15", "radius = 0.15, width = 1", "agents.heat.width: it is not known"),
        ("\"disc\"", "\"square\"", "agents.heat.shape"),
        ("range = [0, 5]", "range = [1, 5]", "agents.heat.range: it must be two numbers with 0"),
        ("range = [-4, 4]", "range = [-4, 4], levels = 2", "agents.push.levels: 0 must be one of the levels"),
        ("range = [-4, 4]", "range = [-4, 4], levels = 3, rate = 1", "agents.push.rate: a channel has levels or a rate"),
        ("range = [-4, 4]", "range = [-4, 4], refill = 3", "agents.push.refill: there is no tank"),
        ("range = [-4, 4]", "range = [-4, 4], rate = 0", "agents.push.rate"),
        ("number = 6", "number = 6\nsee = { also = [\"zz\"] }", "agents.see.also: zz is not known\n  zz\n  ^^"),
        ("number = 6", "number = 6\nsee = { also = [\"grad(z)\"] }", "agents.see.also"),
        ("number = 6", "number = 6\nsee = { also = \"z\" }", "agents.see.also: it must be a list of texts"),
        ("number = 6", "number = 6\nsee = { also = [{ text = \"z\", scale = 0 }] }", "agents.see.also.scale"),
        ("number = 6", "number = 6\nsee = { shared = true }", "agents.see.shared: agents share no limit"),
        ("number = 6", "positions = [[0.3, 0.5]]", "agents.positions: it must be a list of points, like [0.2, 0.7]"),
        ("number = 6", "positions = [0.3, 2.5]", "agents.positions: [2.5] is outside of the domain"),
        ("number = 6", "number = 3\npositions = [0.3, 0.5]", "agents.number: there are 2 positions"),
        ("speed = 1.0", "speed = 1.0, within = [1.0, 0.5]", "agents.move.within: it must be the lower and the upper corner"),
        ("speed = 1.0", "speed = 1.0, within = [1.0]", "agents.move.within"),
    ] {
        let text = refused(&changed(&[(from, to)]));
        assert!(text.contains(expected), "{to}: {text}");
    }
    for (name, expected) in [("k", "agents: k is declared twice"), ("max", "agents: max is a function"), ("hé at", "not a name")]
    {
        let text = refused(&ROOM.replace("heat = {", &format!("\"{name}\" = {{")).replace("heat", name));
        assert!(text.contains(expected), "{name}: {text}");
    }
    let outside = changed(&[("number = 6", "positions = [0.3, 1.9]"), ("speed = 1.0", "speed = 1.0, within = [0.1, 1.0]")]);
    assert!(refused(&outside).contains("[1.9] is outside of the box"), "{}", refused(&outside));
}

/// Texts that are cut or changed anywhere are answered, whatever they say.
#[test]
fn damaged_files_are_answered() {
    let text = changed(&LIMITED).replace("number = 6", "positions = [0.3, 0.5, 0.6, 1.0, 1.2, 1.9]");
    let first = text.find("[agents]").unwrap();
    let answer = |text: &str| drop(open(text, &[]).and_then(|config| Registry::builtin().build(&config).map(drop)));
    for at in (first..text.find("[task]").unwrap()).step_by(3) {
        answer(&[&text[..at], "-", &text[at + 1..]].concat());
        answer(&[&text[..at], "9", &text[at + 1..]].concat());
        answer(&[&text[..at], "\"", &text[at..]].concat());
    }
}
