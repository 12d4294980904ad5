//! Optimal actions: their values, that they are no worse than others, and independence of threads.

#[path = "../../cinoc/tests/common/mod.rs"]
mod common;

use cinoc::env::Env;
use cinoc::evaluate::{Request, scores};
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::policy::Policy;
use cinoc::{Problem, Real};
use cinoc_lab::optimum::{Goal, Horizon, Listen, Objective, OptimumRecord, Search, State, recede, search};
use cinoc_tape::Params;
use common::{config, names, parts, problem};
use std::sync::{Arc, Mutex};

struct Kept<T>(Mutex<Vec<T>>);

impl<T: Send> Listen<T> for Kept<T> {
    fn found(&self, found: Vec<T>) {
        self.0.lock().unwrap().extend(found);
    }
}

fn optima(
    problem: &Problem,
    policy: Option<(&dyn Policy, &Params)>,
    request: &Request,
    which: &[usize],
    how: Search,
    threads: usize,
) -> Vec<OptimumRecord> {
    let kept = Kept(Mutex::default());
    search(problem, policy, request, which, &how, &Threads::new(threads).unwrap(), &kept).unwrap();
    let mut found = kept.0.into_inner().unwrap();
    found.sort_by_key(|found| found.instance);
    found.iter_mut().for_each(|found| found.seconds = 0.0);
    found
}

fn short(iterations: usize) -> Search {
    Search { iterations, ..Search::new(Goal::Score) }
}

/// Returns the scores of given actions in an environment.
fn scored(problem: &Arc<Problem>, request: &Request, found: &[OptimumRecord]) -> Vec<f64> {
    let mut env = Env::new(problem.clone(), found.len(), request.agents, Threads::single()).unwrap();
    env.reset(&vec![true; found.len()], &mut |i| request.beginning(problem, found[i].instance));
    let each = request.agents * problem.swarm.action_width();
    for tick in 0..problem.ticks {
        let actions: Vec<Real> = found
            .iter()
            .flat_map(|f| f.actions.get(tick * each..(tick + 1) * each).map_or(vec![0.0; each], <[Real]>::to_vec))
            .collect();
        env.step(&actions);
    }
    (0..found.len()).map(|i| env.measures(i)[0]).collect()
}

#[test]
fn the_objective_is_the_score() {
    for name in names() {
        let problem = Arc::new(problem(name, &["physics.ticks=6"]));
        let request = Request::test(problem.agents, 2, 3);
        let found = optima(&problem, None, &request, &[0, 1], short(2), 1);
        for (found, score) in found.iter().zip(scored(&problem, &request, &found)) {
            assert!((found.optimum / score - 1.0).abs() < 1e-5, "{name}: {} and {score}", found.optimum);
        }
    }
}

#[test]
fn the_gradient_is_that_of_the_objective() {
    for (name, goal) in [("heat1d", Goal::Score), ("ks1d", Goal::Score), ("heat1d", Goal::Cost), ("density2d", Goal::Score)] {
        let problem = problem(name, &["physics.ticks=6"]);
        let request = Request::test(3, 2, 3);
        let mut objective = Objective::new(&problem, goal, 6, 3, 2).unwrap();
        objective.begin((0..2).map(|i| request.beginning(&problem, i)).collect());
        let mut rng = Rng::new(1, Stream::Init, 0);
        let x: Vec<Vec<f64>> = (0..2).map(|_| rng.normals(objective.unknowns())).collect();
        let along: Vec<Vec<f64>> = (0..2).map(|_| rng.normals(objective.unknowns())).collect();
        let mut at = |step: f64| {
            let moved = |(x, d): (&Vec<f64>, &Vec<f64>)| x.iter().zip(d).map(|(x, d)| x + step * d).collect::<Vec<f64>>();
            let points: Vec<Vec<f64>> = x.iter().zip(&along).map(moved).collect();
            let (mut values, mut gradients) = (vec![0.0; 2], vec![Vec::new(); 2]);
            objective.evaluate(&points.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut values, &mut gradients);
            (values, gradients)
        };
        let step = if size_of::<Real>() == 4 { 2e-3 } else { 1e-5 };
        let (_, gradients) = at(0.0);
        let (more, less) = (at(step).0, at(-step).0);
        for b in 0..2 {
            let slope: f64 = gradients[b].iter().zip(&along[b]).map(|(g, d)| g * d).sum();
            let difference = (more[b] - less[b]) / (2.0 * step);
            assert!((slope - difference).abs() < 0.02 * slope.abs().max(0.05), "{name} {goal:?}: {slope} and {difference}");
        }
    }
}

#[test]
fn the_best_is_no_worse_than_a_policy_and_than_nothing() {
    let parts = parts(&config("heat1d", &["physics.ticks=30"]));
    let params = parts.policy.init(&mut Rng::new(1, Stream::Init, 0));
    let request = Request { fail: 0.3, ..Request::test(4, 3, 5) };
    let policy = Some((&*parts.policy, &params));
    let found = optima(&parts.problem, policy, &request, &[0, 1, 2], short(60), 2);
    let by_policy = scores(&parts.problem, &*parts.policy, &params, &request, &Threads::single()).unwrap();
    let best = scored(&parts.problem, &request, &found);
    for (i, (found, policy)) in found.iter().zip(by_policy.scores()).enumerate() {
        assert!((found.policy.unwrap() / policy - 1.0).abs() < 1e-5, "the policy scores {policy}");
        assert!(found.optimum < 0.5 * policy && found.optimum < 0.5 * found.uncontrolled, "{found:?}");
        assert!((found.optimum / best[i] - 1.0).abs() < 1e-5, "failed agents stay failed: {} and {}", found.optimum, best[i]);
    }
}

#[test]
fn threads_and_company_change_no_bit() {
    for name in ["heat1d", "heat2d"] {
        let problem = problem(name, &["physics.ticks=12"]);
        let request = Request { fail: 0.3, ..Request::test(4, 5, 5) };
        let all = optima(&problem, None, &request, &[0, 1, 2, 3, 4], short(25), 1);
        assert_eq!(all, optima(&problem, None, &request, &[0, 1, 2, 3, 4], short(25), 2), "{name}: two threads");
        // After a stop the remaining instances are searched in other groups.
        assert_eq!(all[3..], optima(&problem, None, &request, &[3, 4], short(25), 1), "{name}: two of five");
    }
}

#[test]
fn unlimited_pushes_of_agents_that_stay_are_a_bound() {
    for (ticks, agents, fail) in [(20, 3, 0.0), (20, 4, 0.5), (2, 1, 0.0)] {
        let changes = [format!("physics.ticks={ticks}"), "swarm.v_limit=1e-9".into(), "swarm.u_limit=5000".into()];
        let problem = problem("heat1d", &changes.each_ref().map(String::as_str));
        let request = Request { fail, ..Request::test(agents, 2, 5) };
        let how = Search { tolerance: 1e-6, ..short(2000) };
        for found in optima(&problem, None, &request, &[0, 1], how, 1) {
            let bound = found.bound_unlimited_static.expect("the heat equation is linear");
            assert!(bound <= 1.0001 * found.optimum, "{bound} {}", found.optimum);
            // Two pushes of one agent do not reach their limits, so the bound is attained.
            assert!(ticks > 2 || found.optimum < 1.001 * bound, "{bound} {}", found.optimum);
        }
    }
    let nonlinear = problem("fkpp1d", &["physics.ticks=20"]);
    let found = optima(&nonlinear, None, &Request::test(3, 1, 5), &[0], short(2), 1);
    assert_eq!(found[0].bound_unlimited_static, None);
}

#[test]
fn searches_converge_and_say_so() {
    let problem = problem("ks1d", &["physics.ticks=20"]);
    let request = Request::test(problem.agents, 2, 5);
    let found = optima(&problem, None, &request, &[0, 1], short(1000), 2);
    let longer = optima(&problem, None, &request, &[0, 1], Search { tolerance: 1e-5, ..short(4000) }, 2);
    for (found, longer) in found.iter().zip(&longer) {
        assert!(found.converged && found.gradient_fall < 0.1, "{found:?}");
        assert!(found.optimum / longer.optimum < 1.01, "{found:?} {longer:?}");
    }
    let cut = optima(&problem, None, &request, &[0], short(3), 1);
    assert!(!cut[0].converged && cut[0].ended == State::Exhausted);
}

#[test]
fn a_horizon_as_long_as_the_episode_finds_its_optimum() {
    let problem = Arc::new(problem("ks1d", &["physics.ticks=20", "data.test_states=2"]));
    let request = Request::test(problem.agents, 2, 5);
    let best = optima(&problem, None, &request, &[0, 1], Search { goal: Goal::Cost, ..short(500) }, 1);
    let receding = |ahead: usize, every: usize| {
        let kept = Kept(Mutex::default());
        let horizon = Horizon { ahead, every, iterations: 300 };
        recede(&problem, &request, &[0, 1], &horizon, &Threads::single(), &kept).unwrap();
        kept.0.into_inner().unwrap()
    };
    for every in [20, 7, 1] {
        for (whole, best) in receding(20, every).iter().zip(&best) {
            assert!((whole.cost / best.optimum - 1.0).abs() < 0.01, "every {every}: {} and {}", whole.cost, best.optimum);
            assert_eq!((whole.decisions, whole.actions.len()), (20usize.div_ceil(every), 20 * problem.agents));
        }
    }
    for (near, best) in receding(2, 1).iter().zip(&best) {
        assert!(near.cost > best.optimum && near.score < near.uncontrolled, "{near:?}");
    }
}

#[test]
fn a_plan_at_the_limits_is_not_kept_for_ever() {
    let problem = Arc::new(problem("ks1d", &["physics.ticks=100", "data.test_states=2", "swarm.u_limit=1"]));
    let request = Request::test(problem.agents, 2, 5);
    let kept = Kept(Mutex::default());
    let horizon = Horizon { ahead: 10, every: 2, iterations: 50 };
    recede(&problem, &request, &[0, 1], &horizon, &Threads::single(), &kept).unwrap();
    for receded in kept.0.into_inner().unwrap() {
        assert!(receded.score < 0.6 * receded.uncontrolled, "{} of {}", receded.score, receded.uncontrolled);
    }
}

#[test]
fn what_is_not_finite_survives_a_file() {
    let problem = problem("heat1d", &["physics.ticks=4"]);
    let mut found = optima(&problem, None, &Request::test(2, 1, 5), &[0], short(2), 1).remove(0);
    (found.optimum, found.policy, found.bound_unlimited_static, found.actions) =
        (f64::INFINITY, Some(f64::INFINITY), None, Vec::new());
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<OptimumRecord>(&text).unwrap(), found, "{text}");
}
