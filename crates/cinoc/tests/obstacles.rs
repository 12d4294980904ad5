//! Keep-out discs: their price and what is reported of them.

mod common;

use cinoc::disc::Disc;
use cinoc::problem::Problem;
use cinoc::random::Stream;
use cinoc::task::{Moment, Obstacle, Reduction};
use cinoc::{Real, evaluate};
use cinoc_tape::Shape;
use cinoc_tape::check::{assert_derivative, noise, pull_back};
use common::config;
use std::sync::Arc;

fn discs() -> Vec<Disc> {
    Disc::all(&[[0.3, 0.4, 0.1], [0.7, 0.6, 0.2]])
}

#[test]
fn the_price_is_a_mean_over_agents_and_discs() {
    let obstacle = Arc::new(Obstacle { discs: discs(), margin: 0.05 });
    let point = vec![(Shape::new(&[1, 3, 2]), vec![0.3, 0.52, 0.7, 0.75, 0.3, 0.4])];
    let (cost, bars) = pull_back(&point, &|v| v[0].apply(&obstacle), Some(&[1.0]));
    let expected = (0.03f64.powi(2) + 0.1f64.powi(2) + 0.15f64.powi(2)) / 6.0;
    assert!((cost[0] as f64 - expected).abs() < 1e-8, "{} not {expected}", cost[0]);
    // Outwards from the disc; at its centre there is no direction to flee.
    let expected = [0.0, -2.0 * 0.03 / 6.0, 0.0, -2.0 * 0.1 / 6.0, 0.0, 0.0];
    bars[0].iter().zip(expected).for_each(|(a, b)| assert!((*a as f64 - b).abs() < 1e-6, "{a} not {b}"));
    let xi: Vec<Real> = noise(16, 3).iter().map(|x| 0.5 + 0.3 * x).collect();
    assert_derivative(&[(&[2, 4, 2], &xi)], |v| v[0].apply(&obstacle));
}

#[test]
fn violations_and_clearance_are_reported() {
    let problem = Problem::new(config("heat2d_obstacles", &["physics.ticks=2"])).unwrap();
    let names = problem.task.measures();
    assert_eq!(names, ["mse100", "mse", "violations", "violations_margin", "clearance"]);
    assert_eq!((problem.task.reduction(0), problem.task.reduction(4)), (Reduction::Mean, Reduction::Smallest));
    let field = vec![0.0; 32 * 32];
    let mut measures = vec![0.0; 5];
    // One agent of two inside a disc, then one inside a margin.
    for (tick, xi) in [(1, [0.15, 0.45, 0.5, 0.9]), (2, [0.15, 0.4, 0.5, 0.9])] {
        problem.task.measure(&Moment { tick, ticks: 2, z: &field, target: &field, xi: &xi }, &mut measures);
    }
    let expected = [0.0, 0.0, 0.25, 0.5, -0.03];
    measures.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{measures:?}"));
}

#[test]
fn the_smallest_clearance_of_all_instances_counts() {
    let problem = Problem::new(config("heat2d_obstacles", &["physics.ticks=2"])).unwrap();
    let scores = evaluate::Scores {
        measures: vec![vec![1.0, 2.0, 0.0, 0.1, 0.02], vec![3.0, 4.0, 0.2, 0.3, -0.01]],
        efforts: Vec::new(),
        diverged: 0,
    };
    let overall: Vec<f64> = (0..5).map(|k| scores.overall(&*problem.task, k)).collect();
    assert_eq!(overall, [2.0, 3.0, 0.1, 0.2, -0.01]);
    let nobody = cinoc::policy::Uncontrolled { action_width: 3 };
    let request = evaluate::Request { agents: 16, instances: 3, seed: 1, stream: Stream::Test, fail: 0.0 };
    let row = evaluate::report(&problem, &nobody, &Default::default(), "nobody", &request, &cinoc::train::pool(1));
    // Agents that never move: 6 of 16 start inside a margin, none inside a disc.
    assert_eq!((row.measures["violations"], row.measures["violations_margin"]), (0.0, 6.0 / 16.0));
    assert!((row.measures["clearance"] - (0.0125f64.sqrt() - 0.08)).abs() < 1e-6);
}

#[test]
fn a_problem_with_obstacles_needs_some() {
    for changes in ["obstacles=[]", "obstacles=[[0.5, 0.5, 0.0]]"] {
        let message = Problem::new(config("heat2d_obstacles", &[changes])).err().expect("an error").to_string();
        assert!(message.contains("obstacles"), "{message}");
    }
    let moved = config("heat2d_obstacles", &["obstacles=[[0.5, 0.5, 0.1]]"]);
    assert_eq!(cinoc::Config::from_toml(&moved.to_toml(), "a test").unwrap(), moved);
}
