//! Studies: valid cases for every problem, and their results.

#[path = "../../cinoc/tests/common/mod.rs"]
mod common;

use cinoc::internal::library;
use cinoc::internal::threads::Threads;
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::{Config, Registry};
use cinoc_lab::study::{ALL, Bench, Case, Study, Subject, UncontrolledScores, find, score};

fn model(registry: &Registry, problem: &str) -> Model {
    library::find(registry, problem).unwrap()
}

fn cases(registry: &Registry, study: &Study, config: &Config) -> Vec<Case> {
    let problem = registry.build(config).unwrap();
    (study.cases)(&Subject { registry, config, problem: &problem }).unwrap()
}

fn bench<'a>(registry: &'a Registry, model: &'a Model, threads: &'a Threads, free: &'a UncontrolledScores) -> Bench<'a> {
    Bench { registry, model, seed: 5, instances: Some(3), threads, uncontrolled: free }
}

#[test]
fn every_study_has_cases_that_can_be_built() {
    let registry = Registry::builtin();
    let threads = Threads::single();
    for problem in registry.problems() {
        let model = model(&registry, problem);
        for study in ALL {
            let cases = cases(&registry, study, &model.config);
            let points: Vec<(&str, f64)> = cases.iter().map(|case| (case.line.as_str(), case.x)).collect();
            for (i, case) in cases.iter().enumerate() {
                let distinct = study.name == "horizon" || study.name == "meanfield" || !points[..i].contains(&points[i]);
                assert!(distinct, "{problem}, {}: two cases at {:?}", study.name, points[i]);
                // Trained cases begin from the recipe, others from the policy.
                let trained = case.trained.iter().flatten().chain(&case.used);
                let changed = registry.change(&model.config, &Overlay::from_pairs(trained).unwrap());
                changed.unwrap_or_else(|error| panic!("{problem}, {}, {case:?}: {error}", study.name));
                if case.trained.is_none() && case.x <= 1.0 {
                    bench(&registry, &model, &threads, &UncontrolledScores::default()).ready(case).unwrap();
                }
            }
        }
    }
    for (name, few) in
        [("cardinality", 8), ("failure", 8), ("noise", 8), ("delay", 8), ("view", 8), ("effort", 8), ("positions", 8)]
    {
        let study = find(name).unwrap();
        let with = registry.problems().filter(|problem| !cases(&registry, study, &model(&registry, problem).config).is_empty());
        assert!(with.count() >= few, "{name} exists for too few problems");
    }
}

#[test]
fn an_unknown_study_is_refused_with_the_known_ones() {
    let error = find("cardinal").err().unwrap().to_string();
    assert!(error.contains("cardinality") && error.contains("meanfield"), "{error}");
}

#[test]
fn the_score_of_a_case_is_that_of_an_evaluation() {
    let registry = Registry::builtin();
    let (model, threads, free) = (model(&registry, "heat1d:sharp"), Threads::single(), UncontrolledScores::default());
    let bench = bench(&registry, &model, &threads, &free);
    let case = Case { agents: Some(6), fail: 0.34, fail_at: 0.5, used: vec!["physics.ticks=30".into()], ..Case::default() };
    let row = &score(&bench, &case).unwrap()[0];
    let ready = bench.ready(&case).unwrap();
    let (_, policy) = ready.model.build(&registry).unwrap();
    let report = cinoc::evaluate::report(&ready.problem, &*policy, &model.params, "", &ready.request, &threads).unwrap();
    assert_eq!((row.value, row.score, row.agents, row.instances), (report.ratio, report.score.mean, 6, 3));
    assert_eq!(report.dead, 2);
}

/// Cached uncontrolled scores change no row: neither that of another policy on the same instances, nor that of other
/// instances.
#[test]
fn policies_are_compared_with_instances_of_their_own_case() {
    let registry = Registry::builtin();
    let (one, threads, free) = (model(&registry, "heat1d:sharp"), Threads::single(), UncontrolledScores::default());
    let blind = Overlay::from_pairs(["observe.window=0.05"]).unwrap();
    let other = model(&registry, "heat1d:sharp").with(&registry, &blind).unwrap();
    let case = |key: &str| Case { used: vec!["physics.ticks=30".into(), key.into()], ..Case::default() };
    let cases = [case("physics.nu=0.1"), case("physics.nu=0.3"), case("swarm.actuator_noise=5")];
    let mut alone = Vec::new();
    for (model, case) in [&one, &other].iter().flat_map(|model| cases.iter().map(move |case| (model, case))) {
        let row = score(&bench(&registry, model, &threads, &free), case).unwrap().remove(0);
        assert_eq!(row, score(&bench(&registry, model, &threads, &UncontrolledScores::default()), case).unwrap()[0]);
        alone.push(row.uncontrolled);
    }
    assert_eq!(alone[..3], alone[3..]);
    assert!(alone[0] != alone[1] && alone[0] != alone[2]);
}

/// Ten episodes in one: the first of them ends with the error of a single episode.
#[test]
fn a_long_horizon_passes_through_the_usual_end() {
    let registry = Registry::builtin();
    let (model, threads, free) = (model(&registry, "heat1d:sharp"), Threads::new(2).unwrap(), UncontrolledScores::default());
    let bench = bench(&registry, &model, &threads, &free);
    let study = find("horizon").unwrap();
    let usual = Case { agents: Some(8), ..Case::default() };
    let wanted = score(&bench, &usual).unwrap()[0].score;
    let long = cases(&registry, study, &model.config).into_iter().find(|case| case.agents == Some(8)).unwrap();
    let rows = (study.measure)(&bench, &long).unwrap();
    assert_eq!(rows.len(), 40);
    let first = rows.iter().find(|row| row.x == 1.0).unwrap();
    assert!((first.value / wanted - 1.0).abs() < 1e-3, "{} and {wanted}", first.value);
    assert!(rows.iter().all(|row| row.uncontrolled > 1e3 * row.value || row.x < 1.0), "it stays");
}

/// The theorem: at random positions the distance falls like M^(−1/2); on a lattice it falls much faster.
#[test]
fn gradients_converge_to_those_of_infinitely_many_agents() {
    let registry = Registry::builtin();
    let (model, threads, free) = (model(&registry, "heat1d:sharp"), Threads::new(2).unwrap(), UncontrolledScores::default());
    let study = find("meanfield").unwrap();
    let slope = |line: &str| {
        let case = cases(&registry, study, &model.config).into_iter().find(|case| case.line == line).unwrap();
        let rows = (study.measure)(&bench(&registry, &model, &threads, &free), &case).unwrap();
        let (first, last) = (rows.first().unwrap(), rows.last().unwrap());
        (last.value / first.value).ln() / (last.x / first.x).ln()
    };
    let random = slope("random places, untrained");
    assert!((-0.75..-0.3).contains(&random), "{random}");
}
