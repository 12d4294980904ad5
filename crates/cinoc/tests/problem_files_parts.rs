//! Parts of problem files: units, zones, times at which episodes begin.

use cinoc::env::Env;
use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Rollout};
use cinoc::run::{Origin, Run};
use cinoc::settings::Overlay;
use cinoc::task::Instance;
use cinoc::{Config, Problem, Real, Registry, Threads};
use std::sync::Arc;

const ROOMS: &str = r#"
[domain]
size = [4.0, 2.0]
cells = [8, 4]
unit = "m"
[constants]
k = { value = 0.1, unit = "m²/h" }
[maps]
shade = { text = "x/4", unit = "%" }
[zones]
office = "x < 2 && y < 1"
hall = "x > 2 || y > 1"
[fields]
T = { start = "where(office, 3, 1) + 2*hall", unit = "K" }
[equations]
T = "k*lap(T) + heat"
[agents]
number = 8
heat = { shape = "cell", range = [-4, 4], unit = "kW" }
see = { window = 0.6, points = 4, also = ["office", "mean(T, office)"] }
[task]
cost = { error = "mean((T - 1)^2, office)", effort = "1e-4*mean(heat.u^2)" }
score = "mean(T, office) + 10*max(T, hall) + 100*sum(office)"
[time]
tick = 0.5
ticks = 4
unit = "h"
"#;

const HOURS: &str = r#"
[domain]
size = [1.0]
cells = [16]
sides = "periodic"
[series]
wave = "cos(t)"
[fields]
z = "0"
[equations]
z = "wave + push"
[agents]
number = 4
push = { width = 0.1, range = [-4, 4] }
see = { also = ["t", { text = "wave", ahead = 3, scale = 1 }] }
[task]
cost = { error = "mean((z - sin(t))^2)" }
score = "t + 0*mean(z)"
[time]
tick = 0.05
ticks = 20
start = [10, 50]
"#;

fn open(text: &str, changes: &[&str]) -> Result<Config, cinoc::Error> {
    Registry::builtin().open_text(text, "some/rooms.toml", Preset::Tuned, &Overlay::from_pairs(changes)?)
}

fn problem(text: &str) -> Problem {
    Registry::builtin().build(&open(text, &[]).unwrap()).unwrap()
}

fn refused(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    let config = open(&text.replacen(from, to, 1), &[]);
    config.and_then(|config| Registry::builtin().build(&config).map(drop)).expect_err("refused").to_string()
}

fn env(problem: &Arc<Problem>, threads: usize) -> Env {
    let mut env = Env::new(problem.clone(), 6, problem.agents, Threads::new(threads).unwrap()).unwrap();
    let agents = problem.agents;
    env.reset(&[true; 6], &mut |i| InitialCondition::drawn(problem, agents, 3, Stream::Test, i));
    env
}

#[test]
fn units_reach_plots_and_descriptions() {
    let problem = problem(ROOMS);
    let labels = problem.task.plot_labels();
    assert_eq!((labels.field, labels.action, labels.length, labels.time), ("T (K)", "mean |heat| (kW)", "m", "h"));
    assert_eq!((labels.title, labels.axis), ("mean square of the field, T in K", "mean T²"));
    let about = Registry::builtin().describe(&open(ROOMS, &[]).unwrap()).unwrap();
    let units = "units: positions in m, t in h, T in K, heat in kW, shade in %, k in m²/h";
    assert!(about.numerics.iter().any(|line| line == units), "{:?}", about.numerics);
    assert!(about.acts.contains("u from -4 to 4 kW"), "{}", about.acts);
    for unit in ["\"\"", "3", "\" K\"", "\"a unit of seventeen\"", "\"K\\n\""] {
        let text = refused(ROOMS, "unit = \"K\"", &format!("unit = {unit}"));
        assert!(text.contains("fields.T.unit: it cannot be"), "{unit}: {text}");
    }
}

#[test]
fn zones_are_maps_conditions_and_parts_of_means() {
    let problem = problem(ROOMS);
    let Instance { start, target } = problem.task.sample(&mut Rng::new(0, Stream::Test, 0), Split::Test);
    // Four cells along x, two along y are the office; the hall is the rest.
    let inside = |i: usize| i / 4 < 4 && i % 4 < 2;
    assert!(start.iter().enumerate().all(|(i, z)| *z == 3.0 && (inside(i) || i < 32)), "{start:?}");
    assert_eq!(target.len(), 32);
    // Without diffusion and actions the field stays: score 2 + 50 + 800, cost 1.
    let config = open(&ROOMS.replace("k*lap(T) + heat", "heat"), &[]).unwrap();
    let problem = Arc::new(Registry::builtin().build(&config).unwrap());
    let mut env = env(&problem, 1);
    env.set_field(0, &(0..32).map(|i| if inside(i) { 2.0 } else { 5.0 }).collect::<Vec<Real>>());
    let zero = vec![0.0; env.action_len()];
    for _ in 0..4 {
        env.step(&zero);
    }
    assert_eq!(env.measures(0)[0], 2.0 + 50.0 + 800.0);
    let cost = env.last_step().terms[problem.task.terms().iter().position(|term| *term == "error").unwrap() * 6];
    assert_eq!(cost, 1.0);
}

/// Heat of cells, spread evenly over a zone by the equation.
#[test]
fn a_zone_is_warmed_evenly() {
    let problem = problem(&ROOMS.replace("k*lap(T) + heat", "office*mean(heat, office)"));
    let mut rollout = Rollout::new(4, 1, false, 8);
    rollout.batch.push(&[0.0; 32], &[0.0; 32], &problem.swarm.start(8));
    let mut last = Vec::new();
    let actions = vec![1.0; 4 * 8];
    rollout.forward(&problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| last = scene.z.to_vec());
    let warm: Vec<usize> = (0..32).filter(|i| last[*i] != 0.0).collect();
    assert_eq!(warm, [0, 1, 4, 5, 8, 9, 12, 13]);
    assert!(warm.iter().all(|i| last[*i] == last[0]), "{last:?}");
}

#[test]
fn mistakes_in_zones_are_shown_at_their_place() {
    for (from, to, expected) in [
        (
            "x < 2 && y < 1",
            "x < 2 & y < 1",
            "rooms.toml, zones.office: & is not understood\n  x < 2 & y < 1\n        ^\nwrite &&",
        ),
        ("x < 2 && y < 1", "x < 2 && z < 1", "zones.office: z is not known\n  x < 2 && z < 1\n           ^"),
        ("x < 2 && y < 1", "x < 0", "zones.office: no cell is in this zone"),
        ("x < 2 && y < 1", "T < 2", "zones.office: T is not known"),
        ("office = \"x < 2 && y < 1\"", "office = [\"x\", \"y\"]", "zones.office: it must be a condition"),
        ("office = ", "k = \"x < 1\"\noffice = ", "k is declared twice"),
        (
            "mean((T - 1)^2, office)",
            "mean((T - 1)^2, ofice)",
            "ofice is not known\n  mean((T - 1)^2, ofice)\n                  ^^^^^\nwrite office",
        ),
        ("mean((T - 1)^2, office)", "mean((T - 1)^2, x < 2)", "x < 2 is not a zone"),
    ] {
        let text = refused(ROOMS, from, to);
        assert!(text.contains(expected), "{to}: {text}");
    }
}

/// Episodes begin at their own times, on any number of threads and in rollouts as in environments: the score is the
/// last time.
#[test]
fn each_instance_begins_at_its_own_time() {
    let problem = Arc::new(problem(HOURS));
    let begins = |env: &Env| (0..6).map(|i| env.begins(i)).collect::<Vec<_>>();
    let mut envs = [env(&problem, 1), env(&problem, 2)];
    let times = begins(&envs[0]);
    assert_eq!(times, begins(&envs[1]));
    assert!(times.iter().all(|t| (10.0..50.0).contains(t)) && times.windows(2).all(|pair| pair[0] != pair[1]), "{times:?}");
    let mut seen = [0, 1].map(|i| vec![0.0; envs[i].observation_len() * 6 * 4]);
    envs.iter_mut().zip(&mut seen).for_each(|(env, seen)| env.observe(seen));
    assert_eq!(seen[0], seen[1]);
    for (i, t) in times.iter().enumerate() {
        // The time, the wave three units ahead, and the strength are the last readings.
        let readings = envs[0].readings(i);
        let [.., time, wave, _] = readings[..readings.len() / 4] else { unreachable!() };
        assert!((time as f64 - t).abs() < 1e-5 && (wave as f64 - (t + 3.0).cos()).abs() < 1e-5, "{time} {wave} at {t}");
    }
    let zero = vec![0.0; envs[0].action_len()];
    for env in &mut envs {
        for _ in 0..20 {
            env.step(&zero);
        }
    }
    let mut rollout = Rollout::new(20, 1, false, 4);
    (0..6).for_each(|i| rollout.batch.begin(&InitialCondition::drawn(&problem, 4, 3, Stream::Test, i)));
    let mut last = Vec::new();
    let actions = vec![0.0; 20 * 6 * 4];
    rollout.forward(&problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| last = scene.z.to_vec());
    for (i, t) in times.iter().enumerate() {
        assert!((envs[0].measures(i)[0] - t - 1.0).abs() < 1e-5);
        assert_eq!([envs[1].field(i), &last[16 * i..][..16]], [envs[0].field(i); 2]);
        let expected = (t + 1.0).sin() - t.sin();
        assert!((last[16 * i] as f64 - expected).abs() < 1e-3, "{} instead of {expected}", last[16 * i]);
    }
    let state = envs[0].snapshot();
    envs[0].reset(&[true; 6], &mut |i| InitialCondition::drawn(&problem, 4, 4, Stream::Test, i));
    assert_ne!(begins(&envs[0]), times);
    envs[0].restore(&state);
    assert_eq!(begins(&envs[0]), times);
}

#[test]
fn training_from_drawn_times_has_the_same_bits_on_any_threads_and_after_a_stop() {
    let small = ["train.updates=4", "train.batch=8", "train.validate_every=2", "train.validate_instances=4"];
    let config = open(HOURS, &small).unwrap();
    let trained = |name: &str, threads: usize, stop: Option<usize>| {
        let (registry, folder) =
            (Registry::builtin(), std::env::temp_dir().join(format!("cinoc-hours-{name}-{}", std::process::id())));
        let _ = std::fs::remove_dir_all(&folder);
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
    };
    let bytes = trained("one", 1, None);
    assert!(bytes == trained("two", 2, None), "two threads");
    assert!(bytes == trained("stopped", 1, Some(2)), "after a stop");
}

#[test]
fn times_have_a_range() {
    for (from, to, expected) in [
        ("start = [10, 50]", "start = [50, 10]", "time.start: it must be a time, or the earliest and the latest one"),
        ("start = [10, 50]", "start = \"8\"", "time.start: it must be a time"),
        ("start = [10, 50]", "start = [0, 1e9]", "time.start: it can be at most a million ticks"),
        ("ahead = 3", "ahead = -3", "agents.see.also.ahead: it cannot be -3"),
        ("text = \"wave\"", "text = \"z\"", "agents.see.also: z does not depend on time"),
    ] {
        let text = refused(HOURS, from, to);
        assert!(text.contains(expected), "{to}: {text}");
    }
    let fixed = problem(&HOURS.replace("[10, 50]", "8"));
    assert_eq!(fixed.task.begins(1) * 0.05, 8.0);
}
