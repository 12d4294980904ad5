//! Given actions clamped to the actuator limits.

mod common;

use cinoc::Real;
use cinoc::internal::limit::{Clamp, ClampLength, EachLimit, LengthLimit, Limit};
use cinoc_tape::check::{assert_derivative, noise, pull_back};
use cinoc_tape::{Arena, Shape, Tape, Var};
use common::{agree, names, problem};
use std::sync::Arc;

fn clamped_actions(limit: &dyn Limit, action: &[Real], strength: &[Real]) -> Vec<Real> {
    let tape = Tape::new(Arena::default(), &[]);
    let action = tape.constant([1, strength.len(), limit.width()], action);
    limit.clamp(action, tape.constant([1, strength.len()], strength)).value()
}

#[test]
fn each_component_is_clamped() {
    let clamp = Arc::new(Clamp::new(vec![4.0, 2.0]));
    let action = vec![1.0, -1.5, 5.0, 2.5, -9.0, 0.3, 4.0, -2.0, 0.5, 0.7];
    // The third agent has failed; the strength of the others has no effect.
    let strength = [1.0, 0.3, 0.0, 7.0, 1.0];
    let point = vec![(Shape::new(&[1, 5, 2]), action)];
    agree(point.clone(), &|v| v[0].tape().record(&clamp, [v[0], v[0].tape().constant([1, 5], &strength)]), &|v| {
        let (push, velocity) = (v[0].columns(0, 1).clamp(-4.0, 4.0), v[0].columns(1, 2).clamp(-2.0, 2.0));
        push.join(velocity) * v[0].tape().constant([5, 2], &[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]).reshape([1, 5, 2])
    });
    // The derivative is one on the limit.
    let (_, bars) =
        pull_back(&point, &|v| v[0].tape().record(&clamp, [v[0], v[0].tape().constant([1, 5], &[1.0; 5])]), Some(&[1.0; 10]));
    assert_eq!(bars[0], [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn a_velocity_is_clamped_and_shortened() {
    let limit: Real = 0.8;
    let clamp = Arc::new(ClampLength::new(limit as f64));
    // Within the limit; too long; too long after a component is clamped; failed; one component clamped and the other
    // zero.
    let action = [0.3, -0.4, 0.7, -0.6, 3.0, 0.5, -0.7, 0.7, 0.0, 2.0];
    let strength = [1.0, 0.2, 3.0, 0.0, 1.0];
    agree(
        vec![(Shape::new(&[1, 5, 2]), action.to_vec())],
        &|v| v[0].tape().record(&clamp, [v[0], v[0].tape().constant([1, 5], &strength)]),
        &|v| {
            let clamped = v[0].clamp(-limit, limit).reshape([10]);
            let agent = |m: usize| {
                let v = clamped.columns(2 * m, 2 * m + 2);
                let length = v.square().sum().sqrt();
                if length.value()[0] > limit { v / length.reshape([1]).repeat(2).reshape([2]) * limit } else { v }
            };
            let each = (0..5).map(|m| agent(m) * if strength[m] > 0.0 { 1.0 } else { 0.0 });
            each.reduce(|a, b| a.join(b)).expect("five agents").reshape([1, 5, 2])
        },
    );
    assert_derivative(&[(&[1, 5, 2], &action)], |v| v[0].tape().record(&clamp, [v[0], v[0].tape().constant([1, 5], &strength)]));
    let found = clamped_actions(&LengthLimit::new(0.8), &[3.0, 4.0, 0.6, -0.8], &[1.0, 1.0]);
    let root = 0.8 * (0.5 as Real).sqrt();
    found.iter().zip([root, root, 0.48, -0.64]).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{found:?}"));
}

#[test]
fn nan_is_kept_unless_the_agent_failed() {
    let nan = Real::NAN;
    let found = clamped_actions(&EachLimit::new(&[4.0, 2.0]), &[nan, 1.0, nan, nan, 1.0, nan], &[1.0, 0.0, 1.0]);
    assert!(found[0].is_nan() && found[1] == 1.0 && found[2..4] == [0.0, 0.0] && found[4] == 1.0 && found[5].is_nan());
    let found = clamped_actions(&LengthLimit::new(0.8), &[nan, 0.1, nan, nan, Real::INFINITY, 0.0], &[1.0, 0.0, 1.0]);
    assert!(found[0].is_nan() && found[1].is_nan() && found[2..] == [0.0, 0.0, 0.8, 0.0], "{found:?}");
    for limit in [Box::new(EachLimit::new(&[4.0, 2.0])) as Box<dyn Limit>, Box::new(LengthLimit::new(0.8))] {
        let found = clamped_actions(&*limit, &[Real::MAX, Real::MIN, Real::NEG_INFINITY, 1e-40 as Real], &[1.0, 1.0]);
        assert!(found.iter().all(|x| x.abs() <= 4.0), "{found:?}");
    }
}

/// Saturated policy outputs are within the limits to the bit.
#[test]
fn saturated_actions_are_unchanged() {
    const AGENTS: usize = 20_000;
    let wide = |width: usize| -> Vec<Real> {
        // Mostly moderate values, some far beyond, where tanh is one.
        noise(AGENTS * width, 9).iter().enumerate().map(|(i, x)| x * [0.5, 1.0, 2.0, 4.0, 8.0, 40.0][i % 6]).collect()
    };
    let limits: [Box<dyn Limit>; 4] = [
        Box::new(EachLimit::new(&[40.0, 5.0, 5.0])),
        Box::new(EachLimit::new(&[0.7])),
        Box::new(LengthLimit::new(0.05)),
        Box::new(LengthLimit::new(1.3)),
    ];
    for limit in limits {
        let tape = Tape::new(Arena::default(), &[]);
        let raw = tape.constant([1, AGENTS, limit.width()], &wide(limit.width()));
        let active = tape.constant([1, AGENTS], &[1.0; AGENTS]);
        let action = limit.saturate(raw, active);
        let bits = |v: Var<'_>| v.value().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(action) == bits(limit.clamp(action, active)));
    }
    for name in names() {
        let problem = problem(name, &[]);
        let (tape, width) = (Tape::new(Arena::default(), &[]), problem.swarm.action_width());
        let (raw, active) = (tape.constant([1, 40, width], &wide(width)[..40 * width]), tape.constant([1, 40], &[1.0; 40]));
        let action = problem.swarm.saturate(raw, active);
        assert_eq!(action.value(), problem.swarm.clamp(action, active).value(), "{name}");
    }
}
