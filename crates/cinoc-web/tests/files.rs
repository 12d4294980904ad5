//! Models of problem files on a stage: their fields, their score, and what a brush changes.

use cinoc::env::Env;
use cinoc::internal::random::{Rng, Stream};
use cinoc::problem::Preset;
use cinoc::rollout::InitialCondition;
use cinoc::run::{Model, ModelKind};
use cinoc::settings::Overlay;
use cinoc::{Real, Registry, Threads};
use cinoc_web::{Brush, Lane, Stage};

/// Two fields of different units, a solid block and a score of the second one that changes in time.
const FILE: &str = r#"
[domain]
size = [2.0, 1.0]
cells = [16, 8]
left = { exchange = 1.0, outside = "280 + 5*sin(t)" }
solid = "min(x - 1.5, y - 0.5) > 0"
[fields]
T = { start = "300 + random(0.5)" }
fuel = { start = "where(T > 300, 0.5, 1)" }
[equations]
T = "0.05*lap(T) + fuel + push"
fuel = "-0.1*fuel"
[agents]
number = 4
push = { width = 0.3, range = [0, 40] }
see = { window = 0.6, points = 3 }
[task]
target = "310"
cost = { error = "mean((T - target)^2)" }
score = "mean((T - target)^2)*(1 + sin(t)^2) + mean(fuel)"
[time]
tick = 0.05
ticks = 20
"#;

/// A stage of the file with a new policy, at a test instance, and the model.
fn stage() -> (Stage, Model, InitialCondition) {
    let registry = Registry::builtin();
    let config = registry.open_text(FILE, "fuel.toml", Preset::Tuned, &Overlay::default()).expect("a file");
    let problem = registry.build(&config).expect("a problem");
    let params = registry.build_policy(&config, &problem).expect("a policy").init(&mut Rng::new(1, Stream::Init, 0));
    let model = Model { config, kind: ModelKind::Best, params, seed: 1, update: 0, validation: None };
    let mut stage = Stage::open(registry, &model.bytes()).expect("a stage");
    let beginning = InitialCondition::drawn(stage.problem(), 4, 1, Stream::Train, 0);
    stage.begin(&beginning.start, &beginning.target, 4).expect("a beginning");
    (stage, model, beginning)
}

#[test]
fn a_stage_has_the_fields_and_the_score_of_an_episode() {
    let (mut stage, model, beginning) = stage();
    let (problem, policy) = model.build(&Registry::builtin()).expect("a problem");
    let ticks = problem.ticks;
    let mut env = Env::new(problem, 1, 4, Threads::single()).expect("an episode");
    env.reset(&[true], &mut |_| beginning.clone());
    env.run(&*policy, &model.params, ticks, &mut |_| {});
    (0..ticks).for_each(|_| [Lane::Learned, Lane::Uncontrolled].into_iter().for_each(|lane| stage.step(lane)));
    assert!(stage.env(Lane::Learned).field(0) == env.field(0), "the same fields");
    assert_eq!(env.field(0).len(), 2 * 16 * 8);
    assert!((stage.error(Lane::Learned) / env.measures(0)[0] - 1.0).abs() < 1e-6, "the score of the last tick");
    let facts = stage.facts().expect("facts");
    assert_eq!((facts["title"].as_str(), facts["nodes"].to_string()), (Some("score"), "[16,8]".to_owned()));
    let fields = stage.problem().task.plot_fields().expect("a file");
    assert_eq!((&fields.names[..], fields.sees_target), (&["T".to_owned(), "fuel".to_owned()][..], true));
    assert_eq!(fields.solid.iter().filter(|solid| **solid).count(), 4 * 4);
}

#[test]
fn brushes_change_the_first_field_within_its_range() {
    let (mut stage, ..) = stage();
    let fields = |stage: &Stage| stage.env(Lane::Learned).field(0).to_vec();
    let before = fields(&stage);
    stage.stroke_field(Brush { at: [0.5, 0.5], width: 0.1, amount: 320.0 });
    let after = fields(&stage);
    let (count, largest) = (16 * 8, |z: &[Real]| z.iter().copied().fold(0.0, Real::max));
    assert!((318.0..321.0).contains(&largest(&after[..count])), "painted to {}", largest(&after[..count]));
    assert!(before[count..] == after[count..], "the second field is unchanged");
    let changed = before[..count].iter().zip(&after).filter(|(a, b)| a != b).count();
    assert!(changed < count / 2, "no sum is kept where the field is not conserved: {changed} cells changed");
    stage.lift();
    stage.stroke_target(Brush { at: [0.5, 0.5], width: 0.1, amount: 330.0 });
    let target = stage.env(Lane::Learned).target(0).to_vec();
    assert!(largest(&target[..count]) > 325.0 && largest(&target[count..]) == 0.0, "a target above the old one");
    stage.clear_target();
    let target = stage.env(Lane::Learned).target(0);
    assert!(target[..count].iter().all(|z| *z == target[0]) && (310.0..330.0).contains(&target[0]), "a uniform target");
}
