//! Missing and absurd readings: held, never an action or a memory that is not finite.

use super::c::{Folder, answer, compile};
use super::{CLOSE, Case, DECISIONS, cases, names, shipped, state_with};
use cinoc::Real;
use cinoc::Registry;
use cinoc::export::guard::READING_BOUND;
use cinoc::export::{Program, Trial, c};
use cinoc::internal::random::{Rng, Stream};

/// Readings that no sensor should give.
const ABSURD: [Real; 16] = [
    Real::NAN,
    -Real::NAN,
    Real::INFINITY,
    Real::NEG_INFINITY,
    Real::MAX,
    Real::MIN,
    1e38,
    -1e20,
    1e7,
    -READING_BOUND,
    READING_BOUND,
    Real::MIN_POSITIVE,
    -1e-40,
    -0.0,
    -1.0,
    1e5,
];

/// Replaces a random share of the numbers of each decision, up to all of them, by absurd ones.
fn absurd(trial: &Trial, width: usize) -> Vec<Real> {
    let mut readings = trial.readings.clone();
    for (i, row) in readings.chunks_exact_mut(width).enumerate() {
        let mut rng = Rng::new(3, Stream::Noise, i as u64);
        let share = rng.uniform(0.0, 1.2);
        for reading in row {
            if rng.uniform(0.0, 1.0) < share {
                *reading = ABSURD[rng.uniform(0.0, ABSURD.len() as f64) as usize % ABSURD.len()];
            }
        }
    }
    readings
}

/// Rows as the driver reads them; every hundredth decision sets a memory that is not finite.
fn rows(case: &Case, program: &Program, readings: &[Real]) -> Vec<f64> {
    let (width, memory) = (program.readings(), program.memory());
    let mut all = Vec::new();
    for (i, row) in readings.chunks_exact(width).enumerate() {
        let broken = i % 100 == 50;
        all.push(f64::from(u8::from(broken)));
        all.extend((0..memory).map(|k| if broken { [f64::NAN, f64::INFINITY, 1.0][(k + i) % 3] } else { 0.0 }));
        all.extend(row.iter().map(|&x| x as f64));
    }
    assert!(!case.problem.swarm.limits().is_empty());
    all
}

/// Panics unless actions are finite and within limits, and memories finite; an inactive agent has zeros.
fn check(name: &str, case: &Case, program: &Program, readings: &[Real], found: &[f64]) {
    let (limits, memory, width) = (case.problem.swarm.limits(), program.memory(), program.readings());
    let each = limits.len() + memory;
    assert_eq!(found.len() / each, readings.len() / width, "{name}: a result for each decision");
    for (i, (row, found)) in readings.chunks_exact(width).zip(found.chunks_exact(each)).enumerate() {
        for (action, limit) in found.iter().zip(&limits) {
            assert!(action.abs() <= *limit as f64, "{name}: decision {i}: action {action}, limit {limit}");
        }
        assert!(found.iter().all(|x| x.is_finite()), "{name}: decision {i}: memory {:?}", &found[limits.len()..]);
        let strength = row[width - 1];
        if !(strength > 0.0 && strength <= READING_BOUND) {
            assert!(found.iter().all(|x| *x == 0.0), "{name}: decision {i}: strength {strength}: {found:?}");
        }
    }
}

#[test]
fn absurd_readings_never_give_an_action_or_memory_that_is_not_finite() {
    for (name, case) in cases() {
        let (name, folder) = (&name[..], Folder::new(&format!("{name}-absurd")));
        let trial = case.trial(DECISIONS);
        for plainly in [false, true] {
            let mut program = case.program(plainly);
            let (width, memory) = (program.readings(), program.memory());
            let readings = absurd(&trial, width);
            assert_eq!(readings.len() / width, DECISIONS);
            let (mut state, mut found) = (vec![0.0; program.state()], Vec::new());
            for (i, row) in readings.chunks_exact(width).enumerate() {
                if i % 100 == 50 {
                    state[i % memory.max(1)] = Real::NAN;
                }
                found.extend(program.run(row, &mut state).iter().map(|&x| x as f64));
                found.extend(state[..memory].iter().map(|&x| x as f64));
                assert!(state.iter().all(|x| x.is_finite()), "{name}: state after decision {i}");
            }
            check(name, &case, &program, &readings, &found);
        }
        let program = case.program(true);
        let readings = absurd(&trial, program.readings());
        let (text, given) =
            (c::source(&Registry::builtin(), &case.model, name).expect("a file"), rows(&case, &program, &readings));
        for flag in ["-O2", "-DCINOC_FLOAT"] {
            let found = answer(&compile(&folder, "driver.c", &text, &[flag, "-DWITH_MEMORY"]), &given);
            check(name, &case, &program, &readings, &found);
        }
        println!("{name}: {DECISIONS} absurd decisions by the engine, fused and plain, and by C in double and float");
    }
}

/// Returns the readings of each sample that has a mask: that of the mask, the error and the slopes, if they are read.
pub fn samples(program: &Program) -> Vec<Vec<usize>> {
    let mut from = 0;
    let ranges = program.inputs().iter().map(|input| {
        from += input.instrument.count;
        (input.instrument.name, from - input.instrument.count, input.instrument.count)
    });
    let ranges: Vec<_> = ranges.collect();
    let of = |name: &str| ranges.iter().find(|range| range.0 == name);
    let (Some(lost), Some(error)) = (of("lost"), of("error")) else { return Vec::new() };
    let (slope, axes) = of("slope").map_or((0, 0), |slope| (slope.1, slope.2 / error.2));
    let point = |k: usize| [vec![lost.1 + k, error.1 + k], (0..axes).map(|c| slope + k * axes + c).collect()].concat();
    (0..lost.2).map(point).collect()
}

/// A sensor that drops out is read as if it still gave its last value.
#[test]
fn missing_readings_are_held() {
    for (name, case) in cases() {
        let (name, folder) = (&name[..], Folder::new(&format!("{name}-missing")));
        let (mut trial, mut program) = (case.trial(2000), case.program(false));
        let (width, memory) = (program.readings(), program.memory());
        let samples = samples(&program);
        // The strength, the last reading, is not held.
        let (mut sent, mut held) = (trial.readings.clone(), vec![0.0; width]);
        trial.actions.clear();
        let mut states = [program.state(); 2].map(|size| vec![0.0; size]);
        for (i, first) in trial.first.iter().enumerate() {
            if *first {
                states = [(); 2].map(|()| state_with(&program, &trial.memory[i * memory..(i + 1) * memory]));
                held.fill(0.0);
            }
            let (row, mut rng) = (&mut sent[i * width..(i + 1) * width], Rng::new(4, Stream::Noise, i as u64));
            let mut missing = vec![false; width];
            for (reading, missing) in row[..width - 1].iter_mut().zip(&mut missing) {
                *missing = rng.uniform(0.0, 1.0) < 0.03;
                if *missing {
                    *reading = ABSURD[rng.uniform(0.0, 9.0) as usize % 9];
                }
            }
            // A sample is lost as a whole, which the explicit readings tell by the mask.
            for point in &samples {
                let lost = point.iter().any(|&i| missing[i]);
                point.iter().for_each(|&i| missing[i] = lost);
            }
            (0..width).filter(|&i| !missing[i]).for_each(|i| held[i] = row[i]);
            samples.iter().for_each(|point| held[point[0]] = Real::from(u8::from(missing[point[0]])));
            let [dropped, explicit] = &mut states;
            let actions = program.run(row, dropped);
            assert_eq!(actions, program.run(&held, explicit), "{name}: decision {i}");
            assert_eq!(dropped, explicit, "{name}: state after decision {i}");
            trial.actions.extend(actions);
        }
        let text = c::source(&Registry::builtin(), &case.model, name).expect("a file");
        let row = |all: &[Real], i: usize| all[all.len() / trial.first.len() * i..][..all.len() / trial.first.len()].to_vec();
        let given = (0..trial.first.len()).flat_map(|i| {
            let set = [if trial.first[i] { 1.0 } else { 0.0 }];
            [&set, &row(&trial.memory, i)[..], &row(&sent, i)].concat()
        });
        let given: Vec<f64> = given.map(|x| x as f64).collect();
        let off = case.off(&answer(&compile(&folder, "driver.c", &text, &["-O1"]), &given), &trial);
        assert!(off < CLOSE, "{name}: off by {off:.1e} of the limit");
    }
}

/// A strength beyond [0, 1] is limited: actions stay within the limits of the actuators.
#[test]
fn strengths_are_limited() {
    let case = shipped("heat1d");
    let mut program = case.program(true);
    let (trial, width) = (case.trial(200), program.readings());
    for row in trial.readings.chunks_exact(width) {
        let mut at = |strength: Real| {
            let (mut row, mut state) = (row.to_vec(), vec![0.0; program.state()]);
            row[width - 1] = strength;
            program.run(&row, &mut state)
        };
        let full = at(1.0);
        for strength in [1.5, 1e5, 1e6] {
            assert_eq!(at(strength), full);
        }
        for strength in [-1.0, 0.0, Real::NAN, Real::INFINITY, 1e30] {
            assert!(at(strength).iter().all(|x| *x == 0.0));
        }
    }
}

/// A path cannot leave the comment of the C file, which is plain ASCII and says how wide a push is.
#[test]
fn the_comment_holds_whatever_the_model_is_called() {
    let case = shipped("heat1d");
    let name = "x*/;int injected(void){return 7;}/*??/\n#error \u{1b}[31m\u{e9}";
    let text = c::source(&Registry::builtin(), &case.model, name).expect("a file");
    let comment = &text[..text.find("*/").expect("its end")];
    assert!(comment.contains("x%2A/;int injected(void)") && comment.contains("sigma = 0.1"), "{comment}");
    assert!(text[comment.len()..].starts_with("*/\n#ifndef CINOC_POLICY"), "nothing follows the comment");
    assert!(text.is_ascii() && !text.contains("??"));
    compile(&Folder::new("named"), "driver.c", &text, &["-Wcomment", "-trigraphs"]);
    for name in names() {
        assert!(c::source(&Registry::builtin(), &shipped(name).model, name).expect("a file").is_ascii(), "{name}");
    }
}
