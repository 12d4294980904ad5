//! Scores of the shipped models, to the last digit; scores of diverged episodes.

use cinoc::evaluate::{Request, report, scores};
use cinoc::internal::library;
use cinoc::internal::random::Rng;
use cinoc::internal::sense::Observation;
use cinoc::internal::threads::Threads;
use cinoc::policy::{Context, Decision, Policy, ZeroControl};
use cinoc::run::Model;
use cinoc::settings::Overlay;
use cinoc::{Real, Registry};
use cinoc_tape::{Leaves, Params, Shape};

fn shipped(name: &str) -> Model {
    library::find(&Registry::builtin(), name).unwrap_or_else(|error| panic!("{error}"))
}

/// Expected scores of a shipped model on 50 instances of seed 3000.
#[cfg(not(double))]
struct Row {
    mean: f64,
    worst: f64,
    median: f64,
    uncontrolled: f64,
    ratio: f64,
    measures: &'static [(&'static str, f64)],
}

#[cfg(not(double))]
impl Row {
    /// Compares to the last digit: in single precision the bits of a model never change.
    fn check(&self, name: &str) {
        let model = shipped(name);
        let (problem, policy) = model.build(&Registry::builtin()).expect("a problem");
        let request = Request::test(problem.agents, 50, 3000);
        let found = report(&problem, &*policy, &model.params, name, &request, &Threads::new(0).unwrap()).unwrap();
        assert_eq!(found.diverged, 0);
        assert_eq!((found.score.mean, found.score.worst, found.score.median), (self.mean, self.worst, self.median), "{name}");
        assert_eq!((found.uncontrolled.mean, found.ratio), (self.uncontrolled, self.ratio), "{name}");
        assert_eq!(found.measures.into_iter().collect::<Vec<_>>(), self.measures, "{name}");
    }
}

#[cfg(not(double))]
#[test]
fn heat1d() {
    Row {
        mean: 9.1396660694029e-08,
        worst: 3.6770351295845915e-07,
        median: 5.696316792606764e-08,
        uncontrolled: 0.3751659746321211,
        ratio: 2.436166040474497e-07,
        measures: &[("mse", 9.1396660694029e-08)],
    }
    .check("heat1d:sharp");
}

#[cfg(not(double))]
#[test]
fn fkpp1d() {
    Row {
        mean: 1.9230603229726556e-08,
        worst: 9.202157706825936e-08,
        median: 7.460856172218195e-09,
        uncontrolled: 0.09243460005739051,
        ratio: 2.0804550696153517e-07,
        measures: &[("mse", 1.9230603229726556e-08)],
    }
    .check("fkpp1d:sharp");
}

#[cfg(not(double))]
#[test]
fn heat2d() {
    Row {
        mean: 2.957714008945311e-06,
        worst: 1.1401180835050273e-05,
        median: 2.2436180955310715e-06,
        uncontrolled: 0.18376506366194337,
        ratio: 1.6095083309123222e-05,
        measures: &[("mse", 1.777926176548902e-06), ("mse100", 2.957714008945311e-06)],
    }
    .check("heat2d:sharp");
}

#[cfg(not(double))]
#[test]
fn heat2d_obstacles() {
    Row {
        mean: 4.726657074595543e-06,
        worst: 2.4906613276927643e-05,
        median: 3.846773035523028e-06,
        uncontrolled: 0.18376506366194337,
        ratio: 2.57211952065642e-05,
        measures: &[
            ("clearance", 0.080999955534935),
            ("mse", 4.148245188141112e-06),
            ("mse100", 4.726657074595543e-06),
            ("too_close", 0.06946250000000004),
            ("violations", 0.0),
            ("violations_margin", 0.0),
        ],
    }
    .check("heat2d_obstacles:sharp");
}

#[cfg(not(double))]
#[test]
fn density2d() {
    Row {
        mean: 0.0004519822670987437,
        worst: 0.00897275426417137,
        median: 0.00013055174322382118,
        uncontrolled: 0.03137528766427746,
        ratio: 0.014405677230279265,
        measures: &[
            ("mass_drift", 2.1549545350385556e-08),
            ("mse", 0.0004519822670987437),
            ("w", 0.005276026944196432),
            ("w2", 0.011200392625626571),
        ],
    }
    .check("density2d:sharp");
}

/// Returns `ks1d` with actuators strong enough to make it diverge, and states that are quickly computed.
fn strong() -> Model {
    let changes = ["swarm.u_limit=1e6", "data.settle=20", "data.apart=5", "data.test_states=8"];
    shipped("ks1d:sharp")
        .with(&Registry::builtin(), &Overlay::from_pairs(changes).unwrap())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Checks that a report has words for values that are not finite, and nothing missing.
fn plain(report: &cinoc::evaluate::Report) -> serde_json::Value {
    let json = serde_json::to_value(report).unwrap();
    fn check(value: &serde_json::Value, path: &str) {
        match value {
            serde_json::Value::Null => panic!("{path} is null"),
            serde_json::Value::Object(inner) => inner.iter().for_each(|(key, value)| check(value, &format!("{path}.{key}"))),
            _ => {}
        }
    }
    check(&json, "report");
    json
}

#[test]
fn what_diverges_has_the_worst_score() {
    let model = strong();
    let (problem, policy) = model.build(&Registry::builtin()).unwrap();
    let request = Request::test(problem.agents, 6, 1);
    let threads = Threads::single();
    let found = report(&problem, &*policy, &model.params, "ks1d", &request, &threads).unwrap();
    assert_eq!((found.diverged, found.instances), (6, 6));
    for worst in [found.score.mean, found.score.std, found.score.median, found.ratio, found.ratio_median, found.effort] {
        assert_eq!(worst, f64::INFINITY, "{found:?}");
    }
    assert!(found.measures.values().all(|worst| *worst == f64::INFINITY), "{found:?}");
    // The same instances are finite without control.
    let free = scores(&problem, &ZeroControl { action_width: 1 }, &Params::default(), &request, &threads).unwrap();
    assert!(free.diverged == 0 && free.mean(0) == found.uncontrolled.mean && free.mean(0) > 0.5, "{}", free.mean(0));
    let json = plain(&found);
    for key in ["mean", "std", "median"] {
        assert_eq!(json["score"][key], "inf", "{json}");
    }
    assert_eq!((&json["ratio"], &json["measures"]["energy_last"]), (&"inf".into(), &"inf".into()), "{json}");
    assert_eq!(json["uncontrolled"]["mean"].as_f64(), Some(found.uncontrolled.mean));
}

/// A policy that pushes at the limit wherever the field is not zero.
struct Wild;

impl Policy for Wild {
    fn shapes(&self) -> Vec<(String, Shape)> {
        Vec::new()
    }

    fn init(&self, _: &mut Rng) -> Params {
        Params::default()
    }

    fn act<'t>(&self, _: &Leaves<'t>, seen: &Observation<'t>, _: &Context<'t>) -> Decision<'t> {
        let patch = seen.patch();
        let shape = patch.shape().with_last(1);
        (patch.sum_keeping(2).reshape(shape) * 1e6).into()
    }
}

/// One diverged instance of four: the mean is infinite, the median is not, and both are over all four.
#[test]
fn one_diverged_episode_is_one_of_all() {
    let problem = strong().build(&Registry::builtin()).unwrap().0;
    // An unstable wave: three periods on the ring.
    let wave = |i: usize| (std::f64::consts::TAU * 3.0 * i as f64 / 128.0).sin() as Real;
    let nodes = problem.stepper.grid().count();
    let zero = vec![0.0; nodes];
    let starts = vec![zero.clone(), zero.clone(), (0..nodes).map(wave).collect(), zero];
    let request = Request { starts, ..Request::test(problem.agents, 4, 1) };
    let found = report(&problem, &Wild, &Params::default(), "wild", &request, &Threads::single()).unwrap();
    assert_eq!((found.diverged, found.score.mean, found.score.median), (1, f64::INFINITY, 0.0), "{found:?}");
    let alone = Request { starts: vec![request.starts[2].clone()], instances: 1, ..request };
    let free = scores(&problem, &ZeroControl { action_width: 1 }, &Params::default(), &alone, &Threads::single()).unwrap();
    assert!(free.mean(0) > 0.1 && (found.uncontrolled.mean - free.mean(0) / 4.0).abs() < 1e-12, "{found:?}");
    let json = plain(&found);
    assert_eq!((&json["score"]["mean"], json["score"]["median"].as_f64()), (&"inf".into(), Some(0.0)), "{json}");
}
