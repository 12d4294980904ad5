//! Problem files with one periodic axis: a channel with walls.

use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, Rollout};
use cinoc::settings::Overlay;
use cinoc::{Problem, Real, Registry};
use cinoc_lab::convergence::convergence;
use cinoc_lab::inspect;
use std::f64::consts::{PI, TAU};

/// Periodic in x; a wall below, a given value above.
const CHANNEL: &str = r#"
[domain]
size   = [2.0, 1.0]
cells  = [16, 12]
left   = "periodic"
right  = "periodic"
bottom = "insulated"
top    = { value = 0 }
[constants]
k = 0.05
[maps]
wind = ["0.4*(1 - y^2)", "0"]
[fields]
z = "random(0.3)"
[equations]
z = "k*lap(z) - div(wind*z) + push"
[agents]
number = 6
push = { width = 0.15, range = [-2, 2] }
move = { speed = 3.0 }
see  = { window = 0.4, gaps = 0.4, position = true, also = ["y"] }
[task]
target = "0.2*random(0.4)"
cost   = { error = "mean((z - target)^2)", effort = "1e-3*mean(push.u^2 + move.x^2)" }
score  = "mean((z - target)^2)"
[time]
tick  = 0.02
ticks = 20
"#;

fn open(text: &str, changes: &[&str]) -> Result<cinoc::Config, cinoc::Error> {
    Registry::builtin().open_text(text, "channel.toml", Preset::Tuned, &Overlay::from_pairs(changes)?)
}

fn problem(text: &str, changes: &[&str]) -> Problem {
    Registry::builtin().build(&open(text, changes).unwrap()).unwrap()
}

/// The field and the positions after the ticks, from a start, with one action for all agents.
fn after(problem: &Problem, ticks: usize, start: &[Real], positions: &[Real], action: &[Real]) -> [Vec<Real>; 2] {
    let agents = positions.len() / 2;
    let mut rollout = Rollout::new(ticks, 1, false, agents);
    rollout.batch.push(start, &vec![0.0; start.len()], positions);
    let actions = action.repeat(ticks * agents);
    let mut last = [Vec::new(), Vec::new()];
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| {
        last = [scene.z.to_vec(), scene.xi.to_vec()];
    });
    last
}

/// A wave in x times a cosine in y decays and is carried along with known rates.
#[test]
fn waves_in_a_channel_are_of_second_order() {
    let (k, speed, time) = (0.05, 0.5, 0.2);
    let text = CHANNEL.replace("0.4*(1 - y^2)", "0.5");
    let mode = |[x, y]: [f64; 2], t: f64| {
        let rate = k * (PI * PI + 0.25 * PI * PI);
        (-rate * t).exp() * (TAU * (x - speed * t) / 2.0).sin() * (0.5 * PI * y).cos()
    };
    let errors = [[32, 16], [64, 32]].map(|[nx, ny]| {
        let problem = problem(&text, &[&format!("physics.cells=[{nx}, {ny}]"), "physics.dt=0.01"]);
        let centre = |i: usize| [(i / ny) as f64 * 2.0 / nx as f64, ((i % ny) as f64 + 0.5) / ny as f64];
        let start: Vec<Real> = (0..nx * ny).map(|i| mode(centre(i), 0.0) as Real).collect();
        let [z, _] = after(&problem, 20, &start, &problem.swarm.start(6), &[0.0; 3]);
        z.iter().enumerate().map(|(i, z)| (*z as f64 - mode(centre(i), time)).abs()).sum::<f64>() / z.len() as f64
    });
    assert!(errors[1] < 0.32 * errors[0] && errors[1] < 2e-3, "{errors:?}");
}

#[test]
fn derivatives_of_a_rollout_are_exact() {
    let exchanged = |line: &str| {
        let pairs = [("left ", "bottom "), ("bottom ", "left "), ("right ", "top "), ("top ", "right ")];
        let pair = pairs.iter().find(|(from, _)| line.starts_with(from));
        pair.map_or(line.to_owned(), |(from, to)| line.replacen(from, to, 1))
    };
    let across: Vec<String> = CHANNEL.lines().map(exchanged).collect();
    let across = across.join("\n").replace("\"0.4*(1 - y^2)\", \"0\"", "\"0\", \"0.4*x\"");
    for text in [CHANNEL, &across] {
        for (name, error) in inspect::inputs(&problem(text, &[]), 4, &[1e-1, 1e-2, 1e-3]) {
            assert!(error < 2e-2, "{name}: {error}");
        }
    }
}

/// An agent that leaves through a periodic side enters at the other and pushes on both sides of it; walls hold it.
#[test]
fn agents_cross_periodic_sides_only() {
    let problem = problem(CHANNEL, &[]);
    let grid = problem.stepper.grid().clone();
    assert_eq!((grid.periodic.clone(), grid.lengths[0]), (vec![true, false], 2.0));
    let zero = vec![0.0; grid.count()];
    let [z, xi] = after(&problem, 3, &zero, &[1.9, 0.4], &[2.0, 3.0, 3.0]);
    assert!((xi[0] - 0.08).abs() < 1e-5 && (xi[1] - 0.58).abs() < 1e-5, "{xi:?}");
    // The push is at x = 1.9, 1.96 and 0.02: both ends of the axis are warm, the middle is not.
    let row = |i: usize| z[i * 12..][..12].iter().sum::<Real>();
    assert!(row(0) > 10.0 * row(8).abs() && row(15) > 10.0 * row(8).abs(), "{} {} {}", row(0), row(8), row(15));
    let [_, xi] = after(&problem, 30, &zero, &[0.1, 0.4], &[0.0, -3.0, 3.0]);
    assert!((0.0..=2.0).contains(&xi[0]) && xi[1] == grid.lengths[1], "{xi:?}");
    // What agents see, and how they push, is the same whichever way around they are.
    let [there, back] = [1.95, -0.05].map(|x| after(&problem, 2, &zero, &[x, 0.4], &[1.0, 0.0, 0.0])[0].clone());
    assert!(there.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-5));
}

/// A box that is shorter than the periodic axis has ends.
#[test]
fn agents_stay_within_their_box() {
    for (within, expected) in [("[[0.5, 0.2], [1.5, 0.8]]", 1.5), ("[[0, 0.2], [2, 0.8]]", 0.2)] {
        let text = CHANNEL.replace("speed = 3.0", &format!("speed = 3.0, within = {within}"));
        let problem = problem(&text, &[]);
        let zero = vec![0.0; problem.stepper.grid().count()];
        let [_, xi] = after(&problem, 20, &zero, &[1.0, 0.4], &[0.0, 3.0, 0.0]);
        assert!((xi[0] - expected).abs() < 1e-4, "{within}: {xi:?}");
    }
}

#[test]
fn convergence_in_cells_is_of_second_order() {
    let text =
        CHANNEL.replace("random(0.3)", "cos(3.14159265*x)*cos(1.57079633*y)").replace("0.2*random(0.4)", "0.2*cos(1.57079633*y)");
    let found = convergence(&Registry::builtin(), &open(&text, &["physics.cells=[32, 24]"]).unwrap()).unwrap().unwrap();
    assert!((found.cells.order() - 2.0).abs() < 0.45, "{found:?}");
}

#[test]
fn half_periodic_axes_are_refused() {
    for (from, to, expected) in [
        ("right  = \"periodic\"", "", "domain.left: left and right are periodic together or not at all; write right ="),
        ("left   = \"periodic\"", "", "domain.right: right and left are periodic together or not at all; write left ="),
        ("top    = { value = 0 }", "top = \"periodic\"", "domain.top: top and bottom are periodic together"),
        ("left   = \"periodic\"", "sides = \"periodic\"\nleft = \"periodic\"", "domain.left: all sides are periodic"),
    ] {
        let refused = open(&CHANNEL.replacen(from, to, 1), &[]).expect_err("refused").to_string();
        assert!(refused.contains(expected), "{to}: {refused}");
    }
}
