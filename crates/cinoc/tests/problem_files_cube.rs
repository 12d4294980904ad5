//! Problem files in three dimensions: exact solutions, derivatives, determinism, moving agents, mistakes.

use cinoc::evaluate::{Request, scores};
use cinoc::internal::place::Placement;
use cinoc::policy::ZeroControl;
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, Loss, Rollout};
use cinoc::run::{Origin, Run};
use cinoc::settings::Overlay;
use cinoc::{Config, Problem, Real, Registry, Threads};
use cinoc_lab::inspect;
use std::f64::consts::PI;
use std::sync::Arc;
use std::time::Instant;

const CUBE: &str = r#"
[domain]
size = [1.0, 0.8, 1.2]
cells = [12, 8, 10]
[constants]
k = { value = 0.05, range = [0.02, 0.1] }
[maps]
inside = "smoothstep(0, 0.3, z)"
[fields]
T = "random(0.5)"
[equations]
T = "k*lap(T) + push"
[agents]
number = 8
push = { width = 0.2, range = [-4, 4] }
see = { window = 0.4 }
[task]
target = "random(0.5)"
cost = { error = "mean((T - target)^2)", effort = "1e-4*mean(push.u^2)" }
score = "mean((T - target)^2)"
[time]
tick = 0.05
ticks = 10
"#;

fn open(text: &str, changes: &[&str]) -> Result<Config, cinoc::Error> {
    Registry::builtin().open_text(text, "some/cube.toml", Preset::Tuned, &Overlay::from_pairs(changes)?)
}

fn problem(text: &str, changes: &[&str]) -> Problem {
    Registry::builtin().build(&open(text, changes).unwrap()).unwrap()
}

/// A moving swarm, a nonlinear term with a map, transport along z and an exchange.
fn busy() -> String {
    CUBE.replace("[constants]", "top = { exchange = 0.5, outside = 0.3 }\n[constants]")
        .replace("k*lap(T) + push", "k*lap(T) - 0.2*dz(T) + T - T^3 - 0.1*mean(T)*inside + push")
        .replace("see =", "move = { speed = 1.0 }\nsee =")
        .replace("mean(push.u^2)", "mean(push.u^2 + move.x^2 + move.z^2)")
}

/// The field after the ticks without actions, from a start given as a function of x, y and z.
fn decayed(problem: &Problem, ticks: usize, start: impl Fn([f64; 3]) -> f64) -> Vec<([f64; 3], f64)> {
    let grid = problem.stepper.grid();
    let shift = |axis: usize| if grid.periodic[axis] { 0.0 } else { 0.5 };
    let place = |i: usize| {
        let stride = |axis: usize| grid.nodes[axis + 1..].iter().product::<usize>();
        [0, 1, 2].map(|axis| ((i / stride(axis) % grid.nodes[axis]) as f64 + shift(axis)) * grid.spacing(axis))
    };
    let z: Vec<Real> = (0..grid.count()).map(|i| start(place(i)) as Real).collect();
    let mut rollout = Rollout::new(ticks, 1, false, problem.agents);
    rollout.batch.push(&z, &vec![0.0; z.len()], &problem.swarm.start(problem.agents));
    let actions = vec![0.0; ticks * problem.agents * problem.swarm.action_width()];
    let mut last = Vec::new();
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| last = scene.z.to_vec());
    last.iter().enumerate().map(|(i, z)| (place(i), *z as f64)).collect()
}

/// A product of cosines decays with the known rate; the error is of second order in the size of cells.
#[test]
fn products_of_cosines_decay() {
    let text = CUBE.replace("tick = 0.05", "tick = 0.02");
    for sides in ["", "sides = \"periodic\"", "left = \"periodic\"\nright = \"periodic\""] {
        let text = text.replace("[constants]", &format!("{sides}\n[constants]"));
        let waves = |axis: usize| if sides.starts_with("sides") || (axis == 0 && !sides.is_empty()) { 2.0 * PI } else { PI };
        let waves = [waves(0), waves(1) / 0.8, waves(2) / 1.2];
        let rate = 0.05 * waves.iter().map(|wave| wave.powi(2)).sum::<f64>();
        let mode = |at: [f64; 3]| (0..3).map(|axis| (waves[axis] * at[axis]).cos()).product::<f64>();
        let errors = [[8, 8, 8], [16, 16, 16]].map(|cells| {
            let after = decayed(&problem(&text, &[&format!("physics.cells={cells:?}")]), 10, mode);
            let exact = (-rate * 0.2).exp();
            after.iter().map(|(at, z)| (z - exact * mode(*at)).abs()).fold(0.0, f64::max)
        });
        assert!(errors[1] < 0.3 * errors[0] && errors[1] < 0.01, "{sides}: {errors:?}");
    }
}

#[test]
fn derivatives_of_a_rollout_are_exact() {
    let channel = busy().replace("[constants]", "left = \"periodic\"\nright = \"periodic\"\n[constants]");
    for text in [busy(), channel, CUBE.replace("[constants]", "sides = \"periodic\"\n[constants]")] {
        let problem = problem(&text, &["physics.ticks=5"]);
        for (name, error) in inspect::inputs(&problem, 3, &[1e-1, 1e-2, 1e-3]) {
            assert!(error < 2e-2, "{name}: {error}");
        }
    }
}

#[test]
fn training_has_the_same_bits_on_one_and_two_threads() {
    let small = ["train.updates=2", "train.batch=8", "train.validate_every=2", "train.validate_instances=2", "observe.ages=true"];
    let more = ["swarm.sensor_noise_each=true", "swarm.sensor_noise=0.1", "swarm.lost.readings=0.2", "observe.position=true"];
    let (registry, config) = (Registry::builtin(), open(&busy(), &[&small[..], &more].concat()).unwrap());
    let bytes = [1, 2].map(|threads| {
        let folder = std::env::temp_dir().join(format!("cinoc-cube-{threads}-{}", std::process::id()));
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
    });
    assert!(bytes[0] == bytes[1]);
}

/// An agent that moves up heats where it is.
#[test]
fn agents_move_in_the_cube() {
    let problem = problem(&busy().replace("number = 8", "number = 1").replace("random(0.5)", "0"), &[]);
    let (grid, ticks) = (problem.stepper.grid().clone(), 8);
    let mut rollout = Rollout::new(ticks, 1, false, 1);
    let zero = vec![0.0; grid.count()];
    rollout.batch.push(&zero, &zero, &[0.5, 0.4, 0.2]);
    let actions: Vec<Real> = (0..ticks).flat_map(|_| [4.0, 0.0, 0.0, 1.0]).collect();
    let (mut xi, mut z) = (Vec::new(), Vec::new());
    rollout.forward(&problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| {
        (xi, z) = (scene.xi.to_vec(), scene.z.to_vec());
    });
    assert!(
        (xi[2] - 0.2 - ticks as Real * 0.05).abs() < 1e-5 || (xi[2] - 0.2 - (ticks - 1) as Real * 0.05).abs() < 1e-5,
        "{xi:?}"
    );
    let hottest = (0..z.len()).max_by(|a, b| z[*a].total_cmp(&z[*b])).unwrap();
    let place = [hottest / 80 % 12, hottest / 10 % 8, hottest % 10];
    let apart = (0..3).map(|axis| (place[axis] as f64 * grid.spacing(axis) - xi[axis] as f64).abs()).fold(0.0, f64::max);
    assert!(apart < 0.25, "{place:?}, {xi:?}");
}

/// Placements, failures and swarms of other sizes, as for any problem.
#[test]
fn swarms_of_any_size_are_evaluated() {
    let problem = Arc::new(problem(&busy(), &["physics.ticks=3"]));
    let idle = ZeroControl { action_width: problem.swarm.action_width() };
    for agents in [1, 5, 27] {
        for places in [Placement::Lattice, Placement::Random, Placement::Clustered] {
            let request = Request { fail: 0.3, places, ..Request::test(agents, 2, 1) };
            let found = scores(&problem, &idle, &Default::default(), &request, &Threads::new(1).unwrap()).unwrap();
            assert!(found.scores().all(f64::is_finite), "{agents} agents");
        }
    }
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let refused = |text: &str, changes: &[&str]| {
        let built = open(text, changes).and_then(|config| Registry::builtin().build(&config).map(drop));
        built.expect_err("refused").to_string()
    };
    for (from, to, expected) in [
        ("[1.0, 0.8, 1.2]", "[1.0, 0.8, 1.2, 1.0]", "domain.size: it must be one to three lengths"),
        ("[12, 8, 10]", "[12, 8]", "domain.cells: it must be a list of 3 whole numbers"),
        ("[12, 8, 10]", "[400, 400, 400]", "at most 4194304 cells in all"),
        ("k = {", "z = {", "constants.z: z is the third coordinate of a box; choose another name, like T"),
        ("inside =", "z =", "maps.z: z is the third coordinate"),
        ("window = 0.4", "window = 0.4, gaps = 0.5", "agents.see.gaps: gaps to neighbours are not observed in three dimensions"),
        ("window = 0.4", "window = 0.4, points = 9", "agents.see.points: it can be at most 8 in three dimensions"),
        ("[constants]", "front = \"periodic\"\n[constants]", "front and back are periodic together"),
    ] {
        let text = refused(&CUBE.replacen(from, to, 1), &[]);
        assert!(text.contains(expected), "{to}: {text}");
    }
    let field = CUBE.replace("T = ", "z = ").replace("(T", "(z");
    assert!(refused(&field, &[]).contains("cube.toml, fields.z: z is the third coordinate"));
    for (change, expected) in [
        ("observe.gaps=0.1", "0 in three dimensions"),
        ("swarm.crowd=1.5", "0 in three dimensions"),
        ("observe.points=20", "at most 8"),
        ("observe.roughness=true", "false in three dimensions"),
        ("observe.fitted_slopes=true", "false in three dimensions"),
        ("physics.cells=[300, 300, 300]", "at most 4194304 cells"),
        ("physics.cells=[64, 64]", "3 numbers, one for each axis"),
    ] {
        let text = refused(CUBE, &[change]);
        assert!(text.contains(expected), "{change}: {text}");
    }
    let talking = open(CUBE, &["policy.messages=2"]).and_then(|config| Registry::builtin().parts(&config).map(drop));
    assert!(talking.expect_err("refused").to_string().contains("policy.messages"));
}

/// Prints the time of a tick and of an update of the example with 64³ cells:
/// `cargo test -p cinoc --test problem_files_cube -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn times_of_a_large_cube() {
    let text = include_str!("../../../examples/problems/heat_cube.toml");
    let problem = problem(text, &["physics.cells=[64, 64, 64]", "physics.ticks=4"]);
    let (count, agents) = (problem.stepper.grid().count(), problem.agents);
    let z: Vec<Real> = (0..count).map(|i| (i as f64 / count as f64).sin() as Real).collect();
    let mut rollout = Rollout::new(4, 1, true, agents);
    let actions = vec![1.0; 4 * agents * problem.swarm.action_width()];
    for round in 0..3 {
        rollout.batch.clear();
        rollout.batch.push(&z, &vec![0.0; count], &problem.swarm.start(agents));
        let clock = Instant::now();
        let episode = rollout.forward(&problem, Control::Actions(&actions), GradientTargets::ALL, &mut |_| {});
        let forward = clock.elapsed().as_secs_f64();
        episode.backward(Loss::cost(1.0));
        let [forward, backward] = [forward, clock.elapsed().as_secs_f64() - forward].map(|time| 250.0 * time);
        println!("round {round}: a tick forwards {forward:.1} ms, backwards {backward:.1} ms");
    }
    for threads in [1, 2] {
        let changes = ["physics.cells=[64, 64, 64]", "physics.ticks=4", "train.batch=1", "train.shard=1", "train.updates=3"];
        let changes = [&changes[..], &["train.validate_every=1000", "train.validate_instances=1", "train.vary=[]"]].concat();
        let folder = std::env::temp_dir().join(format!("cinoc-cube-{threads}-{}", std::process::id()));
        let origin = Origin { config: open(text, &changes).unwrap(), preset: String::new(), seed: 1 };
        let mut run = Run::start(&Registry::builtin(), &folder, origin, Threads::new(threads).unwrap()).unwrap();
        for update in 0..2 {
            let clock = Instant::now();
            run.step().unwrap();
            println!("{threads} threads, update {update} of 4 ticks: {:.0} ms", 1e3 * clock.elapsed().as_secs_f64());
        }
        drop(run);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
