//! A warmed-up rollout allocates nothing, forward or backward.

mod common;

use cinoc::env::Env;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::rollout::{Control, GradientTargets, InitialCondition, Loss};
use common::{config, names, parts, rollout};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

#[allow(unsafe_code)]
// SAFETY: forwards everything to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is forwarded.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is forwarded.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is forwarded.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_tick_allocates_nothing() {
    let with_safety = ("heat2d_obstacles", &["physics.ticks=6", "obstacles.safety=true", "obstacles.seen=true"][..]);
    for (name, changes) in names().into_iter().map(|name| (name, &["physics.ticks=6"][..])).chain([with_safety]) {
        let parts = parts(&config(name, changes));
        let (problem, policy) = (&*parts.problem, &*parts.policy);
        let params = policy.init(&mut Rng::new(1, Stream::Init, 0));
        let actions = vec![0.01; 6 * 3 * problem.agents * problem.swarm.action_width()];
        for keep in [true, false] {
            for control in [Control::Policy(policy, &params), Control::Actions(&actions)] {
                let mut rollout = rollout(problem, 3, 1, keep);
                let mut update = || {
                    rollout.clear_gradient();
                    let wanted =
                        if matches!(control, Control::Policy(..)) { GradientTargets::PARAMS } else { GradientTargets::ALL };
                    rollout.forward(problem, control, wanted, &mut |_| {}).backward(Loss::cost(1.0));
                };
                update();
                let before = COUNT.with(Cell::get);
                update();
                let after = COUNT.with(Cell::get);
                assert_eq!(after - before, 0, "{name}, kept {keep}: allocations in a warm update");
            }
        }
    }
}

#[test]
fn a_warm_step_of_an_environment_allocates_nothing() {
    for name in names() {
        let problem = parts(&config(name, &["physics.ticks=20"])).problem;
        let agents = problem.agents;
        let mut env = Env::new(problem.clone(), 3, agents, Threads::single()).unwrap();
        env.reset(&[true; 3], &mut |i| InitialCondition::drawn(&problem, agents, 0, Stream::Train, i));
        let features = env.features();
        let views = if features.shared { 3 } else { 3 * agents };
        let (mut view, mut position) = (vec![0.0; views * features.patch.count()], vec![0.0; 3 * agents * features.position]);
        let actions = vec![0.01; env.action_len()];
        let mut count = || {
            let before = COUNT.with(Cell::get);
            env.observe_split(&mut view, &mut position);
            assert!(env.step(&actions).cost.iter().all(|cost| cost.is_finite()));
            COUNT.with(Cell::get) - before
        };
        (0..3).for_each(|_| _ = count());
        assert_eq!(count(), 0, "{name}: allocations in a warm step");
    }
}
