//! Reduction of pushes in crowds.

mod common;

use cinoc::Real;
use cinoc::internal::limit::{Crowd, Saturate, SaturateLength};
use cinoc_pde::Grid;
use cinoc_tape::check::{assert_derivative, noise, pull_back};
use cinoc_tape::{Arena, Shape, Tape};
use common::problem;
use std::sync::Arc;

fn shared(share: &Arc<Crowd>, strength: &[Real], xi: &[Real]) -> Vec<Real> {
    let (tape, agents) = (Tape::new(Arena::default(), &[]), strength.len());
    let strength = tape.constant([1, agents], strength);
    tape.record(share, [strength, tape.constant([1, agents, xi.len() / agents], xi)]).value().to_vec()
}

#[test]
fn derivatives_of_shared_strengths() {
    for grid in [Grid::plane([8; 2], [1.0; 2], false), Grid::torus([8; 2], [1.0; 2])] {
        let share = Arc::new(Crowd::new(&grid, 0.15, 1.2));
        let xi: Vec<Real> = noise(16, 3).iter().map(|x| 0.5 + 0.3 * x).collect();
        let strength = [1.0, 0.5, 2.0, 1.0, 1.0, 1.5, 1.0, 0.7];
        assert_derivative(&[(&[2, 4], &strength), (&[2, 4, 2], &xi)], |v| v[0].tape().record(&share, [v[0], v[1]]));
    }
    let saturate = Arc::new(Saturate::new(vec![40.0, 5.0, 5.0]));
    let (raw, strength) = (noise(12, 5), [1.0, 0.5, 2.0, 0.3]);
    assert_derivative(&[(&[1, 4, 3], &raw), (&[1, 4], &strength)], |v| v[0].tape().record(&saturate, [v[0], v[1]]));
    let saturate = Arc::new(SaturateLength::new(0.8));
    assert_derivative(&[(&[1, 4, 2], &raw[..8]), (&[1, 4], &strength)], |v| v[0].tape().record(&saturate, [v[0], v[1]]));
}

/// Two coincident agents have half the strength each; failed agents do not count and stay failed; an isolated agent has
/// full strength.
#[test]
fn coincident_agents_share_one_strength() {
    let share = Arc::new(Crowd::new(&Grid::plane([8; 2], [1.0; 2], false), 0.1, 1.0));
    let xi = [0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.8, 0.8];
    assert_eq!(shared(&share, &[1.0, 1.0, 0.0, 1.0], &xi), [0.5, 0.5, 0.0, 1.0]);
    // The ends of a ring are neighbours.
    let ring = Arc::new(Crowd::new(&Grid::periodic(16, 22.0), 1.0, 1.0));
    let [a, b, isolated] = shared(&ring, &[1.0; 3], &[0.25, 21.75, 11.0])[..] else { panic!("three strengths") };
    assert!(a == b && a < 0.6 && isolated == 1.0, "{a} {b} {isolated}");
}

/// On a ring and on tori, large and small, the sums over neighbouring cells equal those over all pairs.
#[test]
fn crowding_on_tori_equals_that_of_all_pairs() {
    for (grid, sigma) in [
        (Grid::periodic(64, 22.0), 0.02),
        (Grid::torus([32, 32], [1.0, 1.0]), 0.02),
        (Grid::torus([32, 32], [1.0, 0.5]), 0.1),
        (Grid::torus([32, 32], [32.0, 32.0]), 4.4),
        (Grid::torus([32, 32], [1.0, 1.0]), 0.5),
        (Grid { periodic: vec![true, false], ..Grid::torus([32, 32], [1.0, 0.5]) }, 0.05),
        (Grid { periodic: vec![false, true], ..Grid::torus([32, 32], [1.0, 0.5]) }, 0.02),
    ] {
        let (agents, d) = (1500, grid.dimensions());
        // Some agents failed, and some are outside the domain.
        let strength: Vec<Real> = noise(agents, 1).iter().map(|x| if *x < -0.8 { 0.0 } else { 1.5 + x }).collect();
        let coordinates = noise(agents * d, 2).into_iter().enumerate();
        let xi: Vec<Real> = coordinates.map(|(i, x)| (0.5 + 0.7 * x) * grid.lengths[i % d]).collect();
        let (threshold, y_bar) = (1.2, noise(agents, 3));
        let share = Arc::new(Crowd::new(&grid, sigma, threshold));
        let point = vec![(Shape::new(&[1, agents]), strength.clone()), (Shape::new(&[1, agents, d]), xi.clone())];
        let (found, bars) = pull_back(&point, &|v| v[0].tape().record(&share, [v[0], v[1]]), Some(&y_bar));
        let apart = |i: usize, j: usize, c: usize| {
            let (length, difference) = (grid.lengths[c] as f64, xi[i * d + c] as f64 - xi[j * d + c] as f64);
            if grid.periodic[c] { difference - length * (difference / length).round() } else { difference }
        };
        let squared = 6.0 * sigma * sigma;
        let near = |i: usize, j: usize| (1.0 - (0..d).map(|c| apart(i, j, c).powi(2)).sum::<f64>() / squared).max(0.0);
        let active: Vec<usize> = (0..agents).filter(|&j| strength[j] > 0.0).collect();
        let crowds: Vec<f64> = (0..agents).map(|i| active.iter().map(|&j| near(i, j).powi(2)).sum()).collect();
        let limit = if cfg!(double) { 1e-10 } else { 2e-4 };
        for i in 0..agents {
            let expected = strength[i] as f64 / (crowds[i] / threshold).max(1.0);
            assert!((found[i] as f64 - expected).abs() < limit, "{grid:?} agent {i}: {} not {expected}", found[i]);
        }
        // An agent's position affects its own crowding and that of its neighbours.
        let crowd_bar = |i: usize| match crowds[i] > threshold {
            true => -y_bar[i] as f64 * strength[i] as f64 * threshold / crowds[i].powi(2),
            false => 0.0,
        };
        let activity = |i: usize| if strength[i] > 0.0 { 1.0 } else { 0.0 };
        let mut plain = vec![0.0; agents * d];
        for (i, j) in (0..agents).flat_map(|i| (0..agents).map(move |j| (i, j))).filter(|&(i, j)| near(i, j) > 0.0) {
            let term = near(i, j) * (activity(j) * crowd_bar(i) + activity(i) * crowd_bar(j));
            (0..d).for_each(|c| plain[i * d + c] -= 4.0 / squared * term * apart(i, j, c));
        }
        let size = plain.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (a, b) in bars[1].iter().zip(&plain) {
            assert!((*a as f64 - b).abs() < 10.0 * limit * size, "{grid:?}: {a} not {b}, of {size}");
        }
    }
}

/// All pairs and neighbouring cells give the same crowding; the total strength is independent of the number of agents.
#[test]
fn total_strength_is_independent_of_the_number_of_agents() {
    let share = Arc::new(Crowd::new(&Grid::plane([32; 2], [1.0; 2], false), 0.15, 2.2));
    let mean = |agents: usize| {
        let xi = problem("heat2d", &["swarm.start_in_cells=true"]).swarm.start(agents);
        let strength = shared(&share, &vec![1.0; agents], &xi);
        for (i, s) in strength.iter().enumerate() {
            let near = |j: usize| {
                let squared: Real = (0..2).map(|c| (xi[2 * i + c] - xi[2 * j + c]).powi(2)).sum();
                (1.0 - squared / 0.135).max(0.0).powi(2)
            };
            let crowd: Real = (0..agents).map(near).sum();
            assert!((s - 1.0 / (crowd / 2.2).max(1.0)).abs() < 1e-4, "agent {i} of {agents}");
        }
        strength.iter().sum::<Real>()
    };
    let (few, many) = (mean(144), mean(576));
    assert!((many / few - 1.0).abs() < 0.05, "{few} and {many} strengths in all");
}
