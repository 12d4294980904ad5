//! Problem files with several fields: order in time, sides, derivatives, determinism, errors.

use cinoc::internal::random::{Rng, Split, Stream};
use cinoc::problem::Preset;
use cinoc::rollout::{Control, GradientTargets, Rollout};
use cinoc::run::{Origin, Run};
use cinoc::settings::Overlay;
use cinoc::{Config, Problem, Real, Registry, Threads};
use cinoc_lab::inspect;
use std::f64::consts::TAU;

/// Two coupled linear fields on a ring.
const PAIR: &str = r#"
[domain]
size = [1.0]
cells = [32]
sides = "periodic"
[fields]
w = { start = "cos(6.283185307*x)" }
u = { start = "0" }
[equations]
w = "0.02*lap(w) - 0.3*w + 2*u"
u = "0.01*lap(u) - 1.5*w - 0.5*u + push"
[agents]
number = 4
push = { width = 0.1, range = [-2, 2] }
[task]
target = "0.5*random(0.3)"
cost = { error = "mean((w - target)^2)", other = "0.1*mean(u^2)", effort = "1e-2*mean(push.u^2)" }
score = "mean((w - target)^2 + u^2)"
[time]
tick = 0.2
ticks = 10
"#;

fn open(text: &str, changes: &[&str]) -> Result<Config, cinoc::Error> {
    Registry::builtin().open_text(text, "some/pair.toml", Preset::Tuned, &Overlay::from_pairs(changes)?)
}

fn problem(text: &str) -> Problem {
    Registry::builtin().build(&open(text, &[]).unwrap()).unwrap()
}

fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(PAIR.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

/// The state after all ticks without control, from the start of the file.
fn uncontrolled(problem: &Problem) -> Vec<Real> {
    let instance = problem.task.sample(&mut Rng::new(1, Stream::Test, 0), Split::Test);
    let mut rollout = Rollout::new(problem.ticks, 1, false, problem.agents);
    rollout.batch.push(&instance.start, &instance.target, &problem.swarm.start(problem.agents));
    let actions = vec![0.0; problem.ticks * problem.agents * problem.swarm.action_width()];
    let mut last = Vec::new();
    rollout.forward(problem, Control::Actions(&actions), GradientTargets::default(), &mut |scene| last = scene.z.to_vec());
    last
}

/// `exp(A·t)·[1, 0]` by its series.
fn exact(a: [[f64; 2]; 2], t: f64) -> [f64; 2] {
    let (mut sum, mut term) = ([1.0, 0.0], [1.0, 0.0]);
    for k in 1..60 {
        term = a.map(|row| (row[0] * term[0] + row[1] * term[1]) * t / k as f64);
        sum = [sum[0] + term[0], sum[1] + term[1]];
    }
    sum
}

/// A wave of the ring is an eigenvector of the discrete Laplacian, so all of the error is that of time stepping.
#[test]
fn coupled_fields_are_of_second_order_in_time() {
    let laplacian = -(2.0 - 2.0 * (TAU / 32.0).cos()) * 32.0 * 32.0;
    let both = [[0.02 * laplacian - 0.3, 2.0], [-1.5, 0.01 * laplacian - 0.5]];
    let one = [both[0], [-1.5, 0.25]];
    let none = [[0.1, 2.0], one[1]];
    let growing = ("0.01*lap(u) - 1.5*w - 0.5*u", "0.25*u - 1.5*w");
    for (changes, matrix) in [(vec![], both), (vec![growing], one), (vec![growing, ("0.02*lap(w) - 0.3*w", "0.1*w")], none)] {
        for (order, expected) in [(1, 0.9..1.2), (2, 1.8..2.3)] {
            let errors = [2, 4].map(|substeps| {
                let time = format!("ticks = 10\norder = {order}\nsubsteps = {substeps}");
                let last = uncontrolled(&problem(&changed(&[&changes[..], &[("ticks = 10", &time)]].concat())));
                let [w, u] = exact(matrix, 2.0);
                // Cell 0 is at x = 0.
                (last[0] as f64 - w).hypot(last[32] as f64 - u)
            });
            let observed = (errors[0] / errors[1]).log2();
            assert!(expected.contains(&observed) && errors[1] < 0.3, "{changes:?}, order {order}: {observed}, {errors:?}");
        }
    }
}

/// Fields that do not interact are those of two files, each with its own sides.
#[test]
fn fields_have_their_own_sides() {
    let [heat, held] = ["0.02*lap(w) + push", "0.05*lap(u) - dx(u)/5"];
    let both = changed(&[
        ("sides = \"periodic\"", "left = { value = 1 }"),
        ("u = { start = \"0\" }", "u = { start = \"x\", left = \"insulated\", right = { exchange = 0.2, outside = 3 } }"),
        ("0.02*lap(w) - 0.3*w + 2*u", heat),
        ("0.01*lap(u) - 1.5*w - 0.5*u + push", held),
        ("[equations]", "v = \"x\"\n[equations]\nv = \"0.01*lap(v)\""),
        ("ticks = 10", "ticks = 10\nsubsteps = 4"),
    ]);
    let last = uncontrolled(&problem(&both));
    let single = |name: &str, start: &str, equation: &str, sides: &str| {
        let text = both.lines().filter(|line| !["w =", "u =", "v ="].iter().any(|start| line.starts_with(start)));
        let text: String = text.flat_map(|line| [line, "\n"]).collect();
        let text = text.replace("left = { value = 1 }", sides).replace("[fields]", &format!("[fields]\n{name} = \"{start}\""));
        let text = text.replace("[equations]", &format!("[equations]\n{name} = \"{equation}\""));
        let cost = format!("cost = {{ error = \"mean({name}^2)\" }}\nscore = \"mean({name}^2)\"\n[time]");
        let lines = text.lines().filter(|line| !line.starts_with("cost") && !line.starts_with("score"));
        uncontrolled(&problem(&lines.flat_map(|line| [line, "\n"]).collect::<String>().replace("[time]", &cost)))
    };
    assert_eq!(last[..32], single("w", "cos(6.283185307*x)", heat, "left = { value = 1 }"));
    let sides = "right = { exchange = 0.2, outside = 3 }";
    assert_eq!(last[32..64], single("u", "x", &format!("{held} + push"), sides));
    // A field without explicit terms.
    assert_eq!(last[64..], single("v", "x", "0.01*lap(v) + push", "left = { value = 1 }"));
}

/// `z'' = lap(z)` as two fields keeps its energy for many periods of its shortest waves.
#[test]
fn waves_do_not_grow() {
    let text = changed(&[
        ("0.02*lap(w) - 0.3*w + 2*u", "u"),
        ("0.01*lap(u) - 1.5*w - 0.5*u + push", "lap(w) + push"),
        ("cos(6.283185307*x)", "random(0.02)"),
        ("ticks = 10", "ticks = 20"),
    ]);
    let start =
        |text: &str| uncontrolled(&problem(&text.replace("ticks = 20", "ticks = 2").replace("tick = 0.2", "tick = 1e-6")));
    let energy = |state: &[Real]| -> f64 {
        let (w, u) = state.split_at(32);
        let slope = |i: usize| 32.0 * (w[(i + 1) % 32] - w[i]) as f64;
        (0..32).map(|i| slope(i).powi(2) + (u[i] as f64).powi(2)).sum()
    };
    let (before, after) = (energy(&start(&text)), energy(&uncontrolled(&problem(&text))));
    assert!(after < 1.3 * before && after > 0.8 * before, "{before} {after}");
}

/// Reactions, transport, a map, an exchange of one field, means and both fields seen.
fn busy() -> String {
    changed(&[
        ("sides = \"periodic\"", "left = { value = 0.2 }"),
        (
            "[fields]",
            "[constants]\nk = { value = 0.02, range = [0.01, 0.04] }\n[maps]\nlayer = \"where(x < 0.4, 0.3, 1)\"\n[fields]",
        ),
        ("cos(6.283185307*x)", "random(0.2)"),
        ("u = { start = \"0\" }", "u = { start = \"x*random(0.3)\", right = { exchange = 0.5, outside = \"-k\" } }"),
        ("0.02*lap(w) - 0.3*w + 2*u", "div(k*layer*grad(w)) + w*u - w^3 + 0.3*push*u"),
        ("0.01*lap(u) - 1.5*w - 0.5*u + push", "k*lap(u) - 0.2*dx(u) + 0.1*lap(w) - u*mean(w) + push"),
        ("push = {", "see = { error = \"w - target + 0.3*u\", window = 0.3 }\npush = {"),
        ("tick = 0.2", "tick = 0.05"),
    ])
}

#[test]
fn derivatives_of_a_rollout_are_exact() {
    for (name, error) in inspect::inputs(&problem(&busy()), 5, &[1e-1, 1e-2, 1e-3]) {
        assert!(error < 2e-2, "{name}: {error}");
    }
    let plane = changed(&[
        ("[1.0]", "[1.0, 1.5]"),
        ("[32]", "[12, 16]"),
        ("cos(6.283185307*x)", "random(0.4)"),
        ("start = \"0\"", "start = \"random(0.3)\""),
        ("- 0.3*w + 2*u", "- 0.3*w*u^2 - dot(grad(u), grad(w))/20"),
    ]);
    for (name, error) in inspect::inputs(&problem(&plane), 3, &[1e-1, 1e-2, 1e-3]) {
        assert!(error < 2e-2, "{name}: {error}");
    }
}

#[test]
fn the_first_field_of_the_file_has_the_target_and_others_have_none() {
    let problem = problem(PAIR);
    assert_eq!((problem.stepper.fields(), problem.stepper.state_count(), problem.stepper.grid().count()), (2, 64, 32));
    assert_eq!(problem.stepper.state_axes(), [2, 32]);
    let instance = problem.task.sample(&mut Rng::new(1, Stream::Test, 0), Split::Test);
    assert!((instance.start[0] - 1.0).abs() < 1e-6 && instance.start[32..].iter().all(|u| *u == 0.0));
    assert!(instance.target[..32].iter().any(|z| *z != 0.0) && instance.target[32..].iter().all(|z| *z == 0.0));
    let described = Registry::builtin().describe(&open(PAIR, &[]).unwrap()).unwrap();
    assert!(described.equation.starts_with("dw/dt = 0.02*lap(w)") && described.equation.contains("; du/dt = "));
    assert!(described.sees.starts_with("w - target and its slopes"), "{}", described.sees);
    let numerics = described.numerics.join("\n");
    assert!(numerics.contains("dw/dt: 0.02*lap(w): implicit diffusion") && numerics.contains("coupling to w"), "{numerics}");
}

fn trained(config: &Config, threads: usize) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("cinoc-fields-{threads}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let origin = Origin { config: config.clone(), preset: String::new(), seed: 1 };
    let mut run = Run::start(&Registry::builtin(), &folder, origin, Threads::new(threads).unwrap()).unwrap();
    while !run.trainer.finished() {
        run.step().unwrap();
    }
    run.close().unwrap();
    drop(run);
    let bytes = std::fs::read(folder.join("model.safetensors")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    bytes
}

#[test]
fn training_has_the_same_bits_on_any_threads() {
    let small = ["train.updates=3", "train.batch=8", "train.validate_every=2", "train.validate_instances=4", "train.variants=4"];
    let config = open(&busy(), &small).unwrap();
    assert!(trained(&config, 1) == trained(&config, 2));
}

#[test]
fn mistakes_are_shown_at_their_place() {
    for (from, to, expected) in [
        ("u = \"0.01*lap(u) - 1.5*w - 0.5*u + push\"", "", "equations.u: it is missing; write u = \"…\""),
        (
            "[agents]",
            "v = \"push\"\n[agents]",
            "equations.v: there is no such field; remove it, or add it to [fields], which has w, u",
        ),
        ("- 0.5*u + push", "- 0.5*u", "pair.toml, equations: no equation uses push"),
        ("2*u", "2*v", "equations.w: v is not known\n  0.02*lap(w) - 0.3*w + 2*v"),
        ("start = \"cos(6.283185307*x)\"", "start = \"u\"", "fields.w.start: u is not known"),
        ("start = \"0\"", "start = \"0\", left = { value = 1 }", "fields.u.left: an axis is periodic for all fields or for none"),
        ("start = \"0\"", "start = \"0\", sides = \"periodic\"", "fields.u.sides: it is not known"),
        ("0.5*random(0.3)", "w + u", "task.target: w is not known"),
        ("mean((w - target)^2 + u^2)", "mean(w - target) + u", "task.score"),
        ("w = { start = \"cos(6.283185307*x)\" }\nu = { start = \"0\" }", "", "pair.toml, fields: one to 8 fields"),
        ("tick = 0.2", "tick = 1e6", "steps in a tick"),
    ] {
        let text = open(&changed(&[(from, to)]), &[]).and_then(|config| Registry::builtin().build(&config).map(drop));
        let text = text.expect_err(to).to_string();
        assert!(text.contains(expected), "{to}: {text}");
    }
}
