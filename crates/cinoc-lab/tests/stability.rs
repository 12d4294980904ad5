//! Growth rates of the linearised closed loop, against those of the equations, each other, and runs.

use cinoc::internal::library;
use cinoc::policy::ZeroControl;
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::tape::Params;
use cinoc::{Problem, Registry};
use cinoc_lab::stability::{self, Ring, Stability};
use std::f64::consts::{PI, TAU};

fn problem(name: &str, changes: &[&str]) -> Problem {
    let registry = Registry::builtin();
    let config = registry.config(name, Preset::Tuned, &Overlay::from_pairs(changes).unwrap()).unwrap();
    registry.build(&config).unwrap()
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() < tolerance, "{what}: {found}, expected {expected}");
}

/// On a ring the waves of phase θ per cell are those with wave numbers (θ + 2πm)/s, and each grows at k² − k⁴.
#[test]
fn where_agents_do_nothing_waves_grow_as_the_equation_says() {
    let ring = problem("ks1d", &["physics.length=16.5", "physics.nodes=96"]);
    let found = Stability::of_lattice(&ring, &ZeroControl { action_width: 1 }, &Params::default(), 6).unwrap();
    assert_eq!((found.cell_nodes, found.agents_per_cell), (16, 1));
    assert_close(found.growth.slow, 0.25, 1e-3, "the fastest wave");
    assert_close(found.uncontrolled, 0.25, 1e-3, "the fastest wave without agents");
    assert!(found.offset == 0.0 && found.far < 1e-4, "{} {}", found.offset, found.far);
    for phase in [0.0, 0.7, 2.0, PI] {
        let symbol = |m: i32| {
            let k = (phase + TAU * m as f64) / 2.75;
            k * k - k.powi(4)
        };
        let expected = (-3..3).map(symbol).fold(f64::NEG_INFINITY, f64::max);
        assert_close(found.at(&[phase]).slow, expected, 2e-3, &format!("phase {phase}"));
    }
}

/// On a torus, with q = |k|² and q − q², for a lattice whose rows are shifted against each other.
#[test]
fn waves_on_a_torus_grow_as_the_equation_says() {
    let torus = problem("ks2d", &["physics.length=16", "physics.nodes=32"]);
    let found = Stability::of_lattice(&torus, &ZeroControl { action_width: 1 }, &Params::default(), 16).unwrap();
    assert_eq!((found.cell_nodes, found.agents_per_cell), (64, 1));
    assert_close(found.growth.all, 0.25, 2e-3, "the fastest wave");
    // Waves that fit: whole numbers of them along each axis.
    let fits = |cells: f64| {
        let grows = |m: i32| {
            let k = [m % 9 - 4, m / 9 - 4].map(|m| TAU * m as f64 / (16.0 * cells));
            let q = k[0] * k[0] + k[1] * k[1];
            q - q * q
        };
        (0..81).map(grows).fold(f64::NEG_INFINITY, f64::max)
    };
    for cells in [1.0, 2.0] {
        assert_close(found.ring(16.0 * cells).unwrap().all, fits(cells), 2e-3, &format!("{cells} times the torus"));
    }
    assert!(found.ring(17.0).is_err(), "no whole cells");
}

/// Between walls the slowest decay of heat is that of half a wave.
#[test]
fn heat_decays_as_the_equation_says() {
    let line = problem("heat1d", &[]);
    let found = stability::whole(&line, &ZeroControl { action_width: 2 }, &Params::default(), 3).unwrap();
    assert_close(found.growth.all, -0.2 * PI * PI, 1e-2, "heat on a line");
    assert!(found.stable() && found.growth.all == found.uncontrolled);
    assert!(Stability::of_lattice(&line, &ZeroControl { action_width: 2 }, &Params::default(), 3).is_err(), "walls");
}

/// One cell gives the growth on a longer ring than it was computed on, equal to that of the whole ring.
#[test]
fn a_cell_tells_the_growth_on_other_rings() {
    let (registry, model) = (Registry::builtin(), library::find(&Registry::builtin(), "ks1d:sharp").unwrap());
    let cell = stability::lattice(&registry, &model.config, &model.params, 3.3).unwrap();
    assert_eq!(cell.agents_per_cell, 1);
    let ring = Ring { length: 3.3 * 16.0, nodes: 16 * cell.cell_nodes, agents: 16 };
    assert!(Ring::choose(&registry, &model.config, 3.3).unwrap().agents < ring.agents);
    let parts = registry.parts(&ring.config(&registry, &model.config).unwrap()).unwrap();
    let whole = stability::whole(&parts.problem, &*parts.policy, &model.params, ring.agents).unwrap();
    assert_close(cell.ring(ring.length).unwrap().slow, whole.growth.slow, 1e-3, "sixteen agents");
}

/// The shipped model: up to nine eighths of the trained spacing all disturbances decay, at four thirds of it waves over
/// two cells grow; a run of the full nonlinear problem agrees.
#[test]
fn runs_grow_and_decay_as_predicted() {
    let (registry, model) = (Registry::builtin(), library::find(&Registry::builtin(), "ks1d:sharp").unwrap());
    for (spacing, stable) in [(3.1, true), (3.6667, false)] {
        let found = stability::lattice(&registry, &model.config, &model.params, spacing).unwrap();
        assert!(found.stable() == stable && found.far < 1e-4, "{spacing}: {:?}, far {}", found.growth, found.far);
        let ring = Ring::choose(&registry, &model.config, spacing).unwrap();
        let predicted = found.ring(ring.length).unwrap();
        let config = ring.config(&registry, &model.config).unwrap();
        let (problem, policy) = (registry.build(&config).unwrap(), registry.parts(&config).unwrap().policy);
        let rest = stability::Rest::of(&problem, &*policy, &model.params, ring.agents).unwrap();
        let seen = stability::simulate(problem, &*policy, &model.params, &rest, 4000).unwrap();
        assert_close(seen.slow, predicted.slow, 0.1 * predicted.slow.abs(), &format!("spacing {spacing}"));
        assert!((seen.all < 0.0) == stable, "{spacing}: {seen:?}");
    }
}

/// Agents that move are held at rest: then field and memory behave as predicted in single precision, too.
#[test]
fn fields_of_agents_held_at_rest_decay_as_predicted() {
    let (registry, model) = (Registry::builtin(), library::find(&Registry::builtin(), "heat1d:sharp").unwrap());
    let parts = registry.parts(&model.config).unwrap();
    let found = stability::whole(&parts.problem, &*parts.policy, &model.params, 8).unwrap();
    assert!(found.still && found.moving.is_some());
    // Agents return slower than the field decays, but keep little of its disturbance.
    let (moving, tail) = (found.moving.unwrap(), found.tail.unwrap());
    assert!(moving > found.uncontrolled && (1e-6..0.01).contains(&tail), "{moving}, {tail}");
    let rest = stability::Rest::of(&parts.problem, &*parts.policy, &model.params, 8).unwrap();
    let held = problem("heat1d", &["swarm.v_limit=1e-9"]);
    // The length of a run in the study: faster modes have decayed by then.
    let seen = stability::simulate(held, &*parts.policy, &model.params, &rest, 5000).unwrap();
    assert_close(seen.slow, found.growth.slow, 0.1 * found.growth.slow.abs(), "eight agents");
}
