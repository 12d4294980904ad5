//! Lost readings: held, aged, and an agent without any rests.

mod common;

use cinoc::env::Env;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::policy::Policy;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Rollout};
use cinoc::{Problem, Real};
use cinoc_tape::Params;
use common::{names, parts, with_policy};
use std::sync::Arc;

const AGENTS: usize = 4;

fn built(name: &str, changes: &[&str]) -> (Arc<Problem>, Box<dyn Policy>, Params) {
    // Agents that share a view share its sensors.
    let separate: &[&str] = if name == "density2d" { &["observe.view=patch"] } else { &[] };
    let parts = parts(&with_policy(name, &[changes, separate].concat(), "recurrent"));
    let params = parts.policy.init(&mut Rng::new(2, Stream::Init, 0));
    (parts.problem, parts.policy, params)
}

fn env(problem: &Arc<Problem>) -> Env {
    let mut env = Env::new(problem.clone(), 2, AGENTS, Threads::single()).expect("a small environment");
    env.reset(&[true; 2], &mut |i| InitialCondition::drawn(problem, AGENTS, 4, Stream::Train, i));
    env
}

fn act(env: &mut Env, policy: &dyn Policy, params: &Params, ticks: usize) {
    env.run(policy, params, ticks, &mut |_| {});
}

fn fields(env: &Env) -> Vec<Real> {
    (0..2).flat_map(|i| env.field(i).to_vec()).collect()
}

/// Where nothing is lost, the way through held readings gives the bits of the plain one.
#[test]
fn losses_that_never_happen_change_nothing() {
    for name in names() {
        for senses in [&[][..], &["observe.ages=true", "observe.roughness=true"], &["observe.fitted_slopes=true"]] {
            let ends = ["swarm.lost.readings=0", "swarm.lost.readings=1e-12"].map(|lost| {
                let (problem, policy, params) = built(name, &[&["physics.ticks=6", lost][..], senses].concat());
                let mut env = env(&problem);
                act(&mut env, &*policy, &params, 6);
                let mut rollout = Rollout::new(3, 1, false, AGENTS).action_repeat(2);
                rollout.batch.begin(&InitialCondition::drawn(&problem, AGENTS, 4, Stream::Train, 0));
                rollout.forward(&problem, Control::Policy(&*policy, &params), GradientTargets::default(), &mut |_| {});
                (fields(&env), rollout.end().0.to_vec())
            });
            let [(env, end), (other_env, other_end)] = &ends;
            // Immobile agents on a ring observe in another order of sums, unless they hold readings.
            let close = if name == "ks1d" && senses.is_empty() { 1e-4 } else { 0.0 };
            let near = |a: &[Real], b: &[Real]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= close);
            assert!(near(env, other_env) && near(end, other_end), "{name}, {senses:?}");
        }
    }
}

/// The last readings of sensors that are switched off are held: a field that then changes is not seen.
#[test]
fn readings_are_held_and_age() {
    for name in ["heat1d", "heat2d", "ks1d", "density2d"] {
        let (problem, policy, params) = built(name, &["physics.ticks=60"]);
        let (features, points) = (problem.swarm.features(), problem.swarm.points());
        let mut env = env(&problem);
        let view = |env: &mut Env| {
            let mut view = vec![0.0; 2 * AGENTS * features.patch.count()];
            env.observe_split(&mut view, &mut vec![0.0; 2 * AGENTS * features.position]);
            view[..AGENTS * features.patch.count()].to_vec()
        };
        assert!(env.ages(0).is_empty());
        env.set_sensor(0, 1, None, false);
        env.set_sensor(0, 2, Some(points - 1), false);
        assert!(env.ages(0).iter().all(|age| *age == 0.0), "{name}: the next tick is still read");
        act(&mut env, &*policy, &params, 1);
        let before = view(&mut env);
        let shifted: Vec<Real> = env.field(0).iter().map(|z| z + 1.0).collect();
        env.set_field(0, &shifted);
        let after = view(&mut env);
        let ages = env.ages(0).to_vec();
        for (m, ages) in ages.chunks_exact(points).enumerate() {
            let lost = |point: usize| m == 1 || (m == 2 && point == points - 1);
            assert!((0..points).all(|point| ages[point] == Real::from(u8::from(lost(point)))), "{name}: {ages:?}");
        }
        let of = |view: &[Real], m: usize| view[m * features.patch.count()..][..features.patch.count()].to_vec();
        assert!(of(&before, 1) == of(&after, 1), "{name}: a blind agent sees what it saw");
        assert!(of(&before, 0)[0] != of(&after, 0)[0] && of(&before, 2)[0] != of(&after, 2)[0], "{name}");
    }
}

#[test]
fn agents_without_readings_rest_and_return() {
    for name in names() {
        for senses in ["observe.ages=false", "observe.ages=true"] {
            let (problem, policy, params) = built(name, &["physics.ticks=60", senses]);
            let mut env = env(&problem);
            env.set_sensor(0, 1, None, false);
            let width = problem.swarm.action_width();
            let rests = |env: &Env, i: usize, m: usize| env.action(i)[m * width..][..width].iter().all(|a| *a == 0.0);
            act(&mut env, &*policy, &params, 11);
            assert!(!rests(&env, 0, 1), "{name}: ten old readings still serve");
            act(&mut env, &*policy, &params, 1);
            assert!(rests(&env, 0, 1) && !rests(&env, 0, 0) && !rests(&env, 1, 1), "{name}");
            assert!(env.strength(0)[1] == 1.0, "{name}: it has not failed");
            act(&mut env, &*policy, &params, 5);
            let snapshot = env.snapshot();
            act(&mut env, &*policy, &params, 3);
            let end = fields(&env);
            env.restore(&snapshot);
            act(&mut env, &*policy, &params, 3);
            assert!(fields(&env) == end, "{name}: a snapshot holds the readings");
            env.set_sensor(0, 1, None, true);
            act(&mut env, &*policy, &params, 1);
            assert!(!rests(&env, 0, 1), "{name}: it returns");
            env.set_sensor(0, 0, None, false);
            env.reset(&[true, false], &mut |i| InitialCondition::drawn(&problem, AGENTS, 4, Stream::Train, i));
            assert!(env.ages(0).iter().all(|age| *age == 0.0), "{name}: a new episode has new sensors");
        }
    }
}
