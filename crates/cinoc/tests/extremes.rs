//! Extreme positions: nothing panics, and NaN is detected.

mod common;

use cinoc::Real;
use cinoc::internal::actuate::{Actuate, Flow2d, Kernel, Push};
use cinoc::internal::sense::{Observe1d, Sense, Sight, Visible, Window};
use cinoc::policy::ZeroControl;
use cinoc::rollout::{Control, GradientTargets, Outcome, Rollout};
use cinoc_pde::Grid;
use cinoc_tape::check::{assert_derivative, noise, pull_back};
use cinoc_tape::{Arena, Shape, Tape};
use common::{names, problem};
use std::sync::Arc;

/// Lines and planes, with walls and without.
fn grids() -> [Grid; 4] {
    let (nodes, lengths) = ([12, 20], [1.0, 1.25]);
    [Grid::walls(21, 1.0), Grid::periodic(32, 22.0), Grid::plane(nodes, lengths, false), Grid::torus(nodes, lengths)]
}

fn window(points: usize, window: f64) -> Window {
    Window::new(points, window)
}

/// Positions from small to the largest of either sign, near the ends of domains and where floats are sparser than
/// nodes.
fn positions() -> Vec<Real> {
    let far = [0.0, 1e-40, 0.5, 1.0, 1.25, 22.0, 1e3, 16_777_217.0, 1e9, 1e17, 1e30, 3e38];
    let mut all: Vec<Real> = far.iter().flat_map(|x| [*x as Real, -*x as Real]).collect();
    all.extend([1.0, 1.25, 22.0].iter().flat_map(|x: &Real| [x.next_down(), x.next_up(), -x.next_up()]));
    all.extend([Real::MAX, Real::MIN, Real::INFINITY, Real::NEG_INFINITY, Real::NAN]);
    all
}

#[test]
fn views_and_forces_at_any_position() {
    for grid in grids() {
        let (d, positions) = (grid.dimensions(), positions());
        let xi: Vec<Real> = positions.iter().flat_map(|x| vec![*x; d]).collect();
        let (agents, field) = (positions.len(), std::iter::once(1).chain(grid.nodes.iter().copied()).collect::<Vec<_>>());
        for (points, width) in [(5, 0.3), (20, 1.9), (2, 0.01)] {
            let sight = Sight::around(&grid, &window(points, width * grid.lengths[0] as f64));
            let point = vec![(Shape::new(&field), noise(grid.count(), 1)), (Shape::new(&[1, agents, d]), xi.clone())];
            let numbers = sight.features().patch.count() * agents;
            let (seen, _) = pull_back(
                &point,
                &|v| sight.observe(&Visible::new(v[0], v[0] * 0.0, v[1], v[1])).patch(),
                Some(&vec![1.0; numbers]),
            );
            let finite = |m: &usize| positions[*m].is_finite();
            for m in (0..agents).filter(finite) {
                assert!(
                    seen[m * numbers / agents..(m + 1) * numbers / agents].iter().all(|x| x.is_finite()),
                    "{grid:?} {}",
                    positions[m]
                );
            }
            // The two-step view of immobile agents.
            let tape = Tape::new(Arena::default(), &[]);
            let (z, xi) = (tape.zeros(Shape::new(&field)), tape.constant([1, agents, d], &xi));
            sight.observe(&Visible::new(z, z, xi, xi)).patch().value();
        }
        for moving in [false, true] {
            for sigma in [0.01, 0.2, 1e30] {
                let push = Push { sigma, kernel: Kernel::Peak }.on(&grid, moving);
                check_force(&grid, &*push, &xi);
            }
        }
    }
    let plane = &grids()[2];
    check_force(plane, &Arc::new(Flow2d::new(plane, 0.1, 1.0)), &positions().iter().flat_map(|x| [*x, *x]).collect::<Vec<_>>());
}

/// For a single agent: the force is finite at a finite position, and NaN at NaN.
fn check_force(grid: &Grid, push: &dyn Actuate, xi: &[Real]) {
    let d = grid.dimensions();
    for at in xi.chunks_exact(d) {
        let point = vec![(Shape::new(&[1, 1, 2]), vec![1.0; 2]), (Shape::new(&[1, 1, d]), at.to_vec())];
        let count = pull_back(&point, &|v| push.force(v[0], v[1]), None).0.len();
        let (force, _) = pull_back(&point, &|v| push.force(v[0], v[1]), Some(&vec![1.0; count]));
        if at[0].is_finite() {
            assert!(force.iter().all(|f| f.is_finite()), "{grid:?} {at:?}");
        }
        assert!(!at[0].is_nan() || force.iter().any(|f| f.is_nan()), "{grid:?}: the force of an agent at NaN");
    }
}

#[test]
fn agents_at_nan_are_detected_as_diverged() {
    for name in names() {
        let problem = problem(name, &["physics.ticks=3"]);
        let zero = ZeroControl { action_width: problem.swarm.action_width() };
        let mut rollout = Rollout::new(3, 1, false, 2);
        let field = vec![0.5; problem.stepper.grid().count()];
        let mut xi = problem.swarm.start(2);
        xi[0] = Real::NAN;
        rollout.batch.push(&field, &field, &xi);
        let params = Default::default();
        let outcome = rollout.forward(&problem, Control::Policy(&zero, &params), GradientTargets::default(), &mut |_| {}).outcome;
        assert!(matches!(outcome, Outcome::Diverged { tick: 1 }), "{name}: {outcome:?}");
    }
}

#[test]
fn nan_velocities_give_nan_positions() {
    let problem = problem("heat2d", &["physics.ticks=3"]);
    let tape = Tape::new(Arena::default(), &[]);
    let xi = tape.constant([1, 1, 2], &[0.4, 0.6]);
    let moved = problem.swarm.advance(xi, tape.constant([1, 1, 3], &[0.0, Real::NAN, 1e9])).value();
    assert!(moved[0].is_nan() && moved[1] == 1.0);
}

#[test]
fn four_nodes_suffice_for_a_view() {
    for grid in [Grid::walls(4, 1.0), Grid::periodic(4, 1.0)] {
        let observe = Arc::new(Observe1d::new(&grid, &window(4, 0.4)));
        assert_derivative(&[(&[1, 4], &noise(4, 1)), (&[1, 4], &noise(4, 2)), (&[1, 2, 1], &[0.31, 0.72])], |v| {
            v[0].tape().record(&observe, [v[0], v[1], v[2]])
        });
    }
    problem("heat1d", &["physics.nodes=4"]);
}

#[test]
fn agents_start_across_a_longer_interval() {
    for (in_cells, expected) in [("false", [0.4, 0.8, 1.2, 1.6]), ("true", [0.25, 0.75, 1.25, 1.75])] {
        let changes = ["physics.length=2", "swarm.agents=4", &format!("swarm.start_in_cells={in_cells}")];
        let start = problem("heat1d", &changes).swarm.start(4);
        assert!(start.iter().zip(expected).all(|(a, b)| (*a as f64 - b).abs() < 1e-6), "{start:?}");
    }
}
