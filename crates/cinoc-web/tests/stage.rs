//! Changes that a visitor of a page can make, and their effects.

use cinoc::internal::library;
use cinoc::internal::random::Stream;
use cinoc::rollout::InitialCondition;
use cinoc::{Real, Registry};
use cinoc_web::{Brush, Lane, Stage, search};

/// Opens the shipped model of a problem at one of its training instances.
fn stage(name: &str) -> Stage {
    let mut stage = Stage::open(Registry::builtin(), library::bytes(name).expect("a model")).expect("a stage");
    let agents = stage.problem().agents;
    let drawn = InitialCondition::drawn(stage.problem(), agents, 1, Stream::Train, 0);
    stage.begin(&drawn.start, &drawn.target, agents).expect("a beginning");
    stage
}

/// Opens it at a given field, where the training instances of a problem take long to make.
fn waves(name: &str) -> Stage {
    let mut stage = Stage::open(Registry::builtin(), library::bytes(name).expect("a model")).expect("a stage");
    let grid = stage.problem().stepper.grid();
    let along = |i: usize, n: usize| (std::f64::consts::TAU * i as f64 / n as f64).sin();
    let rows = grid.nodes.get(1).copied().unwrap_or(1);
    let start: Vec<Real> = (0..grid.count()).map(|i| (along(i / rows, grid.nodes[0]) + along(i % rows, rows)) as Real).collect();
    let (target, agents) = (vec![0.0; start.len()], stage.problem().agents);
    stage.begin(&start, &target, agents).expect("a beginning");
    stage
}

fn run(stage: &mut Stage, lane: Lane, ticks: usize) -> f64 {
    (0..ticks).for_each(|_| stage.step(lane));
    stage.error(lane)
}

fn variance(field: &[Real]) -> f64 {
    let mean = field.iter().map(|&z| z as f64).sum::<f64>() / field.len() as f64;
    field.iter().map(|&z| (z as f64 - mean).powi(2)).sum::<f64>() / field.len() as f64
}

#[test]
fn a_painted_target_is_reached_to_within_a_tenth_of_its_variance() {
    let mut stage = stage("heat2d");
    run(&mut stage, Lane::Learned, 100);
    stage.clear_target();
    for (at, amount) in [([0.3, 0.35], 1.0), ([0.7, 0.65], -0.8), ([0.68, 0.28], 0.6)] {
        // The initial brush of a page; no agent can hold structures much finer than its push (0.15).
        stage.paint_target(Brush { at, width: 0.14, amount });
    }
    let wanted = variance(stage.env(Lane::Learned).target(0));
    let before = stage.error(Lane::Learned);
    let after = run(&mut stage, Lane::Learned, 300);
    assert!(before > wanted && after < 0.1 * wanted, "from {before} to {after}; the target's variance is {wanted}");
    let free = run(&mut stage, Lane::Uncontrolled, 300);
    assert!(free > 0.9 * wanted, "uncontrolled, the field does not get there: {free}");
}

#[test]
fn a_disturbance_is_answered() {
    let mut stage = stage("heat2d");
    let calm = run(&mut stage, Lane::Learned, 150);
    stage.disturb(Brush { at: [0.4, 0.6], width: 0.12, amount: 1.5 });
    let disturbed = stage.error(Lane::Learned);
    let after = run(&mut stage, Lane::Learned, 150);
    assert!(disturbed > 10.0 * calm && after < 0.01 * disturbed, "{calm}, {disturbed}, {after}");
}

#[test]
fn what_is_done_is_done_in_all_lanes_and_forgotten_when_they_start_anew() {
    let mut stage = stage("heat2d");
    assert!(stage.undisturbed());
    stage.set_alive(3, false);
    stage.place(5, [0.9, 0.9]);
    stage.disturb(Brush { at: [0.5, 0.5], width: 0.1, amount: 1.0 });
    for lane in Lane::ALL {
        let env = stage.env(lane);
        assert_eq!((env.strength(0)[3], env.strength(0)[4]), (0.0, 1.0));
        assert!((env.positions(0)[10] - 0.9).abs() < 1e-6 && (env.positions(0)[11] - 0.9).abs() < 1e-6);
        assert!(env.field(0) == stage.env(Lane::Learned).field(0));
    }
    assert!(!stage.undisturbed());
    stage.step(Lane::Learned);
    assert_eq!(stage.env(Lane::Learned).action(0)[9..12], [0.0; 3], "a failed agent does nothing");
    stage.set_alive(3, true);
    stage.step(Lane::Learned);
    assert_ne!(stage.env(Lane::Learned).action(0)[9], 0.0, "an agent that is active again acts");
    stage.restart();
    assert!(stage.undisturbed() && stage.env(Lane::Learned).positions(0) == stage.beginning().positions);
}

#[test]
fn an_agent_without_sensors_holds_its_readings_and_then_rests() {
    let mut stage = stage("heat2d");
    stage.set_sensors(3, false);
    assert!(stage.blind()[3] && !stage.blind()[4] && !stage.undisturbed());
    run(&mut stage, Lane::Learned, 7);
    let ages = stage.ages(Lane::Learned);
    assert_eq!((ages.len(), ages[3], ages[4]), (stage.problem().agents, 7.0, 0.0));
    assert_ne!(stage.env(Lane::Learned).action(0)[9], 0.0, "it acts on the readings that it holds");
    run(&mut stage, Lane::Learned, 5);
    assert_eq!(stage.env(Lane::Learned).action(0)[9..12], [0.0; 3], "readings that are too old do not serve");
    stage.set_sensors(3, true);
    run(&mut stage, Lane::Learned, 1);
    assert!(stage.env(Lane::Learned).action(0)[9] != 0.0 && stage.ages(Lane::Learned)[3] == 0.0);
    stage.set_sensors(3, false);
    stage.restart();
    run(&mut stage, Lane::Learned, 2);
    assert!(!stage.blind()[3] && stage.ages(Lane::Learned)[3] == 0.0, "sensors work when lanes begin");
    stage.set_sensors(3, false);
    stage.set_agents(8).expect("any number");
    assert!(stage.blind() == [false; 8] && stage.ages(Lane::Planned) == [0.0; 8]);
}

#[test]
fn fields_go_on_with_another_number_of_agents() {
    for name in ["heat1d", "heat2d"] {
        let mut stage = stage(name);
        run(&mut stage, Lane::Learned, 20);
        let field = stage.env(Lane::Learned).field(0).to_vec();
        let trained = stage.problem().agents;
        for agents in [trained / 4, 4 * trained] {
            stage.set_agents(agents).expect("any number");
            assert!(stage.env(Lane::Learned).field(0) == field, "{name}");
            assert_eq!(stage.env(Lane::Planned).agents(), agents);
        }
        let before = stage.error(Lane::Learned);
        let after = run(&mut stage, Lane::Learned, 200);
        assert!(after < 0.05 * before, "{name}: many agents still reach the target: {after} of {before}");
    }
}

/// Episodes end; a visitor wants to continue.
#[test]
fn lanes_have_no_end() {
    let mut stage = stage("fkpp1d");
    let ticks = stage.problem().ticks;
    let held = run(&mut stage, Lane::Learned, ticks + 50);
    assert_eq!(stage.env(Lane::Learned).ticks_elapsed(0), ticks + 50);
    assert!(held < 1e-3 && !stage.ended(Lane::Learned), "{held}");
}

#[test]
fn discs_are_dragged_and_agents_make_way() {
    let mut stage = stage("heat2d_obstacles");
    run(&mut stage, Lane::Learned, 60);
    stage.move_disc(0, [0.45, 0.55]).expect("there is room");
    let gap = |stage: &Stage| {
        let places = stage.env(Lane::Learned).positions(0).as_chunks::<2>().0;
        let gaps = stage.discs().into_iter().flat_map(|disc| places.iter().map(move |&xi| disc.bearing(xi).gap));
        gaps.fold(Real::INFINITY, Real::min)
    };
    assert!((stage.discs()[0].centre[0] - 0.45).abs() < 1e-6 && gap(&stage) > 0.0);
    for _ in 0..40 {
        stage.step(Lane::Learned);
        assert!(gap(&stage) > 0.0, "no agent enters a disc");
    }
    let error = stage.move_disc(0, [0.8, 0.5]).expect_err("another disc is there").to_string();
    assert!(error.contains("apart"), "{error}");
    assert!((stage.discs()[0].centre[0] - 0.45).abs() < 1e-6, "what is refused changes nothing");
}

#[test]
fn a_plan_is_found_carried_out_and_dropped() {
    let mut stage = stage("heat1d");
    run(&mut stage, Lane::Learned, 10);
    stage.mark(Lane::Learned);
    let mut heard = Vec::new();
    let actions = search(&stage, 25, &mut |progress| heard.push(progress)).expect("a plan");
    let last = heard.last().expect("a search tells how far it is");
    assert!(last.best < 0.5 * last.policy, "{last:?}");
    stage.set_plan(actions).expect("it fits");
    let ticks = stage.planned();
    assert_eq!(ticks, stage.problem().task.scored_at(stage.problem().ticks));
    let (learned, planned) = (run(&mut stage, Lane::Learned, ticks), run(&mut stage, Lane::Planned, ticks));
    assert!(planned < learned && (planned - last.best).abs() < 0.05 * last.best, "{planned}, {learned}, {last:?}");
    assert!(stage.ended(Lane::Planned) && !stage.ended(Lane::Learned));
    stage.step(Lane::Planned);
    assert_eq!(stage.env(Lane::Planned).ticks_elapsed(0), ticks, "a plan that is over does nothing");
    stage.set_agents(5).expect("any number");
    assert_eq!(stage.planned(), 0, "a plan is for its own agents");
    assert!(stage.set_plan(vec![0.0; 7]).is_err());
}

#[test]
fn brushes_mind_what_equations_keep() {
    let sum = |stage: &Stage| stage.env(Lane::Learned).field(0).iter().map(|&z| z as f64).sum::<f64>();
    for mut stage in [waves("ks1d"), waves("turbulence2d"), stage("density2d")] {
        let (name, before) = (stage.problem().name.clone(), sum(&stage));
        let [x, y] =
            [0, 1].map(|axis| stage.problem().stepper.grid().lengths.get(axis).map_or(0.0, |length| 0.4 * *length as f64));
        stage.disturb(Brush { at: [x, y], width: 0.1 * x, amount: 1.0 });
        let scale = stage.env(Lane::Learned).field(0).iter().map(|z| z.abs() as f64).sum::<f64>();
        assert!((sum(&stage) - before).abs() < 1e-4 * scale, "{name}: {before} became {}", sum(&stage));
    }
    let mut stage = stage("fkpp1d");
    stage.disturb(Brush { at: [0.5, 0.0], width: 0.1, amount: -9.0 });
    assert!(stage.env(Lane::Learned).field(0).iter().all(|z| *z >= 0.0), "a population is never negative");
}

#[test]
fn a_stroke_paints_a_target_once_and_in_all_lanes() {
    let mut stage = stage("heat2d");
    stage.clear_target();
    let largest = |stage: &Stage| stage.env(Lane::Learned).target(0).iter().fold(0.0, |most: Real, z| most.max(z.abs()));
    for _ in 0..3 {
        (0..20).for_each(|k| stage.stroke_target(Brush { at: [0.3 + 0.02 * k as f64, 0.5], width: 0.08, amount: 0.4 }));
    }
    assert!((largest(&stage) - 0.4).abs() < 0.01, "{}", largest(&stage));
    stage.lift();
    stage.stroke_target(Brush { at: [0.5, 0.5], width: 0.08, amount: -1e9 });
    assert!(largest(&stage) < 10.0, "no level beyond that of the targets agents were trained on");
    let before = stage.error(Lane::Planned);
    stage.lift();
    stage.stroke_field(Brush { at: [0.4, 0.6], width: 0.12, amount: 1.5 });
    assert!(stage.error(Lane::Planned) != before && !stage.undisturbed());
}

#[test]
fn facts_say_what_agents_do_and_observe() {
    for (name, pushes, window, moves) in [("heat2d", 1, 0.5, true), ("density2d", 2, 0.5, true), ("ks1d", 1, 0.6875, false)] {
        let stage = Stage::open(Registry::builtin(), library::bytes(name).expect("a model")).expect("a stage");
        let facts = stage.facts().expect("facts");
        assert_eq!((facts["pushes"].as_u64(), facts["moves"].as_bool()), (Some(pushes), Some(moves)), "{name}");
        assert_eq!(facts["window"]["width"].as_f64(), Some(window), "{name}");
        assert_eq!(facts["limits"].as_array().map(Vec::len), facts["width"].as_u64().map(|width| width as usize), "{name}");
        assert!(facts["sigma"].as_f64().is_some_and(|sigma| sigma > 0.0), "{name}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut stage = stage("heat1d");
    assert!(stage.begin(&[0.0; 3], &[0.0; 3], 8).is_err() && stage.set_agents(0).is_err());
    assert!(Stage::open(Registry::builtin(), b"no model").is_err());
    stage.set_alive(99, false);
    stage.set_sensors(99, false);
    stage.place(99, [0.5, 0.5]);
    assert!(stage.undisturbed(), "agents that are not there cannot be touched");
    let facts = stage.facts().expect("facts");
    assert_eq!(
        (facts["name"].as_str(), facts["agents"].as_u64(), facts["target"].as_bool()),
        (Some("heat1d"), Some(8), Some(true))
    );
}
