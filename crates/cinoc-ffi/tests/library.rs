//! The library, called as from C.

#![allow(unsafe_code, reason = "calls across the border")]

use cinoc::Real;
use cinoc_ffi::*;
use std::ffi::{CStr, CString};
use std::ptr::null_mut;

fn message() -> String {
    // SAFETY: a string of this thread, which is read at once.
    unsafe { CStr::from_ptr(cinoc_message()) }.to_str().expect("UTF-8").to_owned()
}

fn policy(name: &str) -> *mut CinocPolicy {
    let (name, mut policy) = (CString::new(name).expect("a name"), null_mut());
    // SAFETY: a string, and room for a pointer.
    let code = unsafe { cinoc_policy_open(name.as_ptr(), std::ptr::null(), &mut policy) };
    assert_eq!(code, CinocCode::Ok, "{}", message());
    policy
}

/// `CINOC_HEADER=write cargo test -p cinoc-ffi` writes it.
#[cfg(not(double))]
#[test]
fn the_header_is_that_of_the_functions() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a configuration");
    let mut bytes = Vec::new();
    cbindgen::generate_with_config(folder, config).expect("a header").write(&mut bytes);
    let (path, new) = (folder.join("include/cinoc.h"), String::from_utf8(bytes).expect("text"));
    if std::env::var_os("CINOC_HEADER").is_some() {
        std::fs::write(&path, &new).expect("the header can be written");
    }
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(old == new, "include/cinoc.h is out of date; write it with CINOC_HEADER=write cargo test -p cinoc-ffi");
}

#[test]
fn separate_decisions_equal_those_of_the_engine() {
    let policy = policy("heat1d");
    let (mut envs, mut sizes, mut own) = ([null_mut(); 2], CinocEnvSizes::default(), CinocPolicySizes::default());
    // SAFETY: handles that were opened here, and arrays as long as said.
    unsafe {
        for env in &mut envs {
            assert_eq!(cinoc_env_open_for(policy, 2, 0, 1, env), CinocCode::Ok);
            assert_eq!(cinoc_env_reset(*env, 3, 0), CinocCode::Ok);
        }
        assert_eq!(cinoc_env_sizes(envs[0], &mut sizes), CinocCode::Ok);
        assert_eq!(cinoc_policy_sizes(policy, &mut own), CinocCode::Ok);
        assert_eq!((sizes.episodes, sizes.agents, sizes.actions, sizes.readings), (2, 8, own.actions, own.readings));
        let all = sizes.episodes * sizes.agents;
        let (mut seen, mut memory) = (vec![0.0; all * own.readings], vec![0.0; all * own.memory]);
        let mut actions: Vec<Real> = vec![0.0; all * own.actions];
        let [mut alone, mut together] = [(); 2].map(|()| vec![0.0 as Real; sizes.nodes]);
        for _ in 0..sizes.ticks {
            assert_eq!(cinoc_env_observe(envs[0], seen.as_mut_ptr(), seen.len()), CinocCode::Ok);
            for m in 0..all {
                let (readings, memory) = (&seen[m * own.readings..], &mut memory[m * own.memory..]);
                let action = &mut actions[m * own.actions..];
                let (s, h, a) = (readings.as_ptr(), memory.as_mut_ptr(), action.as_mut_ptr());
                assert_eq!(cinoc_policy_act(policy, s, own.readings, h, own.memory, a, own.actions), CinocCode::Ok);
            }
            assert_eq!(cinoc_env_step(envs[0], actions.as_ptr(), actions.len(), null_mut(), null_mut()), CinocCode::Ok);
        }
        let mut done = [0; 2];
        assert_eq!(cinoc_env_run(envs[1], policy, sizes.ticks, null_mut(), done.as_mut_ptr()), CinocCode::Ok);
        assert_eq!(done, [1; 2]);
        for episode in 0..2 {
            assert_eq!(cinoc_env_field(envs[0], episode, alone.as_mut_ptr(), alone.len()), CinocCode::Ok);
            assert_eq!(cinoc_env_field(envs[1], episode, together.as_mut_ptr(), together.len()), CinocCode::Ok);
            let off = alone.iter().zip(&together).map(|(a, b)| (a - b).abs() as f64).fold(0.0, f64::max);
            assert!(off < if cfg!(double) { 1e-10 } else { 1e-4 }, "off by {off:e}");
            let mut score = 0.0;
            assert_eq!(cinoc_env_score(envs[0], episode, &mut score), CinocCode::Ok);
            assert!(score < 1e-5, "{score:e}");
        }
        envs.into_iter().for_each(|env| cinoc_env_close(env));
        cinoc_policy_close(policy);
    }
}

#[test]
fn gradients_are_central_differences() {
    let (name, mut env, ticks, count) = (CString::new("heat1d").expect("a name"), null_mut(), 5, 5 * 2 * 8 * 2);
    let actions: Vec<Real> = (0..count).map(|i| (i as f64).sin() as Real).collect();
    let (mut cost, mut gradient) = ([0.0; 2], vec![0.0; count]);
    // SAFETY: a string, and room for a pointer.
    unsafe {
        assert_eq!(cinoc_env_open(name.as_ptr(), std::ptr::null(), 2, 8, 1, &mut env), CinocCode::Ok);
        assert_eq!(cinoc_env_reset(env, 0, 0), CinocCode::Ok);
    }
    let (h, limit) = if cfg!(double) { (1e-4, 1e-7) } else { (1e-1, 2e-2) };
    // SAFETY: a handle that was opened here, and arrays as long as said.
    let mut at = |actions: &[Real], gradient: &mut [Real]| unsafe {
        assert_eq!(
            cinoc_env_gradient(env, ticks, actions.as_ptr(), count, cost.as_mut_ptr(), gradient.as_mut_ptr()),
            CinocCode::Ok
        );
        cost[0] + cost[1]
    };
    at(&actions, &mut gradient);
    let size: f64 = gradient.iter().map(|g| g.abs() as f64).sum();
    let mut unused = vec![0.0; count];
    let mut moved = |by: f64| {
        let moved: Vec<Real> = actions.iter().enumerate().map(|(i, a)| a + (by * (3.0 * i as f64).cos()) as Real).collect();
        at(&moved, &mut unused)
    };
    let measured = (moved(h) - moved(-h)) / (2.0 * h);
    let exact: f64 = gradient.iter().enumerate().map(|(i, g)| *g as f64 * (3.0 * i as f64).cos()).sum();
    assert!((measured - exact).abs() < limit * size, "{measured} is not {exact}, of {size}");
    // SAFETY: it is not used again.
    unsafe { cinoc_env_close(env) };
}

#[test]
fn mistakes_are_explained() {
    let (none, mut env, mut opened) = (CString::new("heat3d").expect("a name"), null_mut(), null_mut());
    let (heat, wrong) = (CString::new("heat1d").expect("a name"), CString::new("physics.nodes=many").expect("text"));
    // SAFETY: strings, room for pointers, handles that were opened here or are null.
    unsafe {
        let refused = |code: CinocCode, expected: &str| {
            assert_eq!(code, CinocCode::Mistake);
            assert!(message().contains(expected), "{}", message());
        };
        refused(cinoc_env_open(none.as_ptr(), std::ptr::null(), 1, 0, 1, &mut env), "choose one of: heat1d");
        refused(cinoc_policy_open(none.as_ptr(), std::ptr::null(), &mut opened), "give a .safetensors file");
        refused(cinoc_env_open(std::ptr::null(), std::ptr::null(), 1, 0, 1, &mut env), "problem is NULL; give a string");
        refused(cinoc_env_open(heat.as_ptr(), wrong.as_ptr(), 1, 0, 1, &mut env), "physics.nodes cannot be");
        refused(cinoc_env_open(heat.as_ptr(), std::ptr::null(), 0, 0, 1, &mut env), "1 or more each");
        refused(cinoc_env_reset(null_mut(), 0, 0), "open one first");
        assert_eq!(cinoc_env_open(heat.as_ptr(), std::ptr::null(), 1, 0, 1, &mut env), CinocCode::Ok);
        refused(cinoc_env_step(env, [0.0].as_ptr(), 1, null_mut(), null_mut()), "call cinoc_env_reset first");
        assert_eq!(cinoc_env_reset(env, 0, 0), CinocCode::Ok);
        refused(cinoc_env_step(env, [0.0].as_ptr(), 1, null_mut(), null_mut()), "actions has 1 numbers; give 16");
        refused(cinoc_env_step(env, [Real::NAN; 16].as_ptr(), 16, null_mut(), null_mut()), "give finite numbers");
        refused(cinoc_env_field(env, 7, [0.0].as_mut_ptr(), 1), "choose one from 0 to 0");
        refused(cinoc_env_score(env, 0, &mut 0.0), "has no score yet");
        refused(cinoc_env_gradient(env, 301, [0.0].as_ptr(), 1, &mut 0.0, [0.0].as_mut_ptr()), "from 1 to 300");
        cinoc_env_close(env);
        cinoc_env_close(null_mut());
    }
}

/// Missing, absurd and huge readings are accepted; actions and memories stay finite.
#[test]
fn no_reading_gives_an_action_that_is_not_finite() {
    let plain = ["heat1d:sharp", "heat2d_obstacles:sharp", "ks1d:sharp", "density2d:sharp", "density2d"];
    let aware = ["heat1d", "fkpp1d", "heat2d_obstacles", "ks1d", "turbulence2d"];
    for (name, senses_age) in plain.map(|name| (name, false)).into_iter().chain(aware.map(|name| (name, true))) {
        let (policy, mut own) = (policy(name), CinocPolicySizes::default());
        // SAFETY: a handle that was opened here, and arrays of the given lengths.
        unsafe {
            assert_eq!(cinoc_policy_sizes(policy, &mut own), CinocCode::Ok);
            let (mut memory, mut action) = (vec![0.0; own.memory], vec![0.0; own.actions]);
            let mut act = |readings: &[Real], memory: &mut [Real]| {
                let (m, a) = (memory.as_mut_ptr(), action.as_mut_ptr());
                let code = cinoc_policy_act(policy, readings.as_ptr(), own.readings, m, own.memory, a, own.actions);
                assert_eq!(code, CinocCode::Ok, "{}", message());
                assert!(memory.iter().chain(&action).all(|x| x.is_finite()), "{name}: {action:?}, {memory:?}");
                action.clone()
            };
            for bad in [Real::NAN, Real::INFINITY, Real::MAX, -1e37, 1e20, 1e6] {
                let mut readings = vec![bad; own.readings];
                readings[own.readings - 1] = 1.0;
                act(&readings, &mut memory);
            }
            // A sensor that fails after a good tick: its last reading is held.
            let good: Vec<Real> = (0..own.readings).map(|i| if i + 1 == own.readings { 1.0 } else { 0.01 * i as Real }).collect();
            let [mut dropped, mut healthy] = [(); 2].map(|()| vec![0.0; own.memory]);
            [&mut dropped, &mut healthy].into_iter().for_each(|memory| drop(act(&good, memory)));
            let mut bad = good.clone();
            bad[3] = Real::NAN;
            let same = act(&bad, &mut dropped) == act(&good, &mut healthy) && dropped == healthy;
            assert!(same || senses_age, "{name}: a held reading is that of the tick before");
            // A memory that the host spoiled is reset.
            memory[0] = Real::NAN;
            act(&good, &mut memory);
            cinoc_policy_close(policy);
        }
    }
}

#[test]
fn a_run_ends_with_its_episodes() {
    let (policy, mut env, mut sizes) = (policy("heat1d"), null_mut(), CinocEnvSizes::default());
    // SAFETY: handles that were opened here, and arrays of the given lengths.
    unsafe {
        assert_eq!(cinoc_env_open_for(policy, 2, 0, 1, &mut env), CinocCode::Ok);
        assert_eq!(cinoc_env_sizes(env, &mut sizes), CinocCode::Ok);
        assert_eq!(cinoc_env_reset(env, 3, 0), CinocCode::Ok);
        let [mut ended, mut later] = [(); 2].map(|()| vec![0.0 as Real; sizes.nodes]);
        for field in [&mut ended, &mut later] {
            let mut done = [0; 2];
            assert_eq!(cinoc_env_run(env, policy, usize::MAX, null_mut(), done.as_mut_ptr()), CinocCode::Ok);
            assert_eq!(done, [1; 2]);
            assert_eq!(cinoc_env_field(env, 0, field.as_mut_ptr(), field.len()), CinocCode::Ok);
        }
        assert_eq!(ended, later, "nothing happens after the end");
        cinoc_env_close(env);
        cinoc_policy_close(policy);
    }
}

#[test]
fn handles_are_null_after_a_failure() {
    let none = CString::new("heat3d").expect("a name");
    let (mut env, mut policy) = (std::ptr::dangling_mut(), std::ptr::dangling_mut());
    // SAFETY: a string, and addresses of pointers, which are not followed.
    unsafe {
        assert_eq!(cinoc_env_open(none.as_ptr(), std::ptr::null(), 1, 0, 1, &mut env), CinocCode::Mistake);
        assert!(env.is_null());
        env = std::ptr::dangling_mut();
        assert_eq!(cinoc_env_open_for(null_mut(), 1, 0, 1, &mut env), CinocCode::Mistake);
        assert!(env.is_null());
        assert_eq!(cinoc_policy_open(none.as_ptr(), std::ptr::null(), &mut policy), CinocCode::Mistake);
        assert!(policy.is_null());
    }
}
