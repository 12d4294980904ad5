//! Sequences of faulty readings: an agent keeps its memory while sensors fail and return.

use super::c::{Folder, answer, compile};
use super::fault::{Fault, Kind, below};
use super::{Case, cases, state_with};
use cinoc::export::guard::{LEAST_STRENGTH, READING_BOUND};
use cinoc::export::{Program, Trial, c};
use cinoc::internal::random::{Rng, Stream};
use cinoc::{Real, Registry};
use std::time::Instant;

/// Ticks of a sequence.
const TICKS: usize = 40;

/// Number of sequences that C decides in one call.
const TOGETHER: usize = 100;

/// Largest difference of actions in a sequence, relative to the limits: rounding differences grow in the memory.
const CLOSE: f64 = 1e-4;

/// Returns the number of sequences of all policies; the environment variable `CINOC_SEQUENCES` asks for more.
fn sequences() -> usize {
    std::env::var("CINOC_SEQUENCES").map_or(3000, |text| text.parse().expect("a number of sequences"))
}

/// Readings of an agent in an episode, with a fault.
struct Sequence {
    kind: Kind,
    /// First tick after the fault.
    after: usize,
    memory: Vec<Real>,
    readings: Vec<Vec<Real>>,
}

impl Sequence {
    /// Draws a sequence from the episodes of a trial.
    fn drawn(case: &Case, trial: &Trial, program: &Program, index: usize) -> Self {
        let mut rng = Rng::new(5, Stream::Noise, index as u64);
        let (width, memory, length) = (program.readings(), program.memory(), case.problem.ticks.min(100));
        let whole = |&i: &usize| trial.first[i] && i % length + TICKS <= length;
        let starts: Vec<usize> = (0..trial.first.len() / 2).filter(whole).collect();
        let from = starts[below(&mut rng, starts.len())];
        let begin = below(&mut rng, TICKS / 2);
        let after = begin + 1 + below(&mut rng, TICKS / 2 - 1);
        let kind = Kind::ALL[index % Kind::ALL.len()];
        let mut fault = Fault::drawn(rng, kind, begin..after, program);
        let mut readings: Vec<Vec<Real>> = trial.readings.chunks_exact(width).skip(from).take(TICKS).map(<[_]>::to_vec).collect();
        readings.iter_mut().enumerate().for_each(|(tick, row)| fault.spoil(tick, row));
        Self { kind, after, memory: trial.memory[from * memory..(from + 1) * memory].to_vec(), readings }
    }

    /// Returns rows as the driver reads them.
    fn rows(&self) -> impl Iterator<Item = f64> {
        let row = |(tick, readings): (usize, &Vec<Real>)| {
            let first = if tick == 0 { 1.0 } else { 0.0 };
            [&[first], &self.memory.iter().map(|x| first * x).collect::<Vec<_>>()[..], readings].concat()
        };
        self.readings.iter().enumerate().flat_map(row).map(|x| x as f64)
    }

    /// Decides in every tick and returns actions and memories. After the fault nothing of it may still be held.
    fn decide(&self, program: &mut Program) -> Vec<f64> {
        let (mut state, mut found, memory) = (state_with(program, &self.memory), Vec::new(), program.memory());
        for (tick, row) in self.readings.iter().enumerate() {
            found.extend(program.run(row, &mut state).iter().map(|&x| x as f64));
            found.extend(state[..memory].iter().map(|&x| x as f64));
            assert!(state.iter().all(|x| x.abs() <= READING_BOUND), "{:?}: state after tick {tick}", self.kind);
            assert!(tick < self.after || state[memory..] == row[..], "{:?}: held in tick {tick}", self.kind);
        }
        found
    }

    /// Returns the number of ticks with an action beyond its limits, a memory that is not valid, or anything but zeros
    /// of an inactive agent.
    fn violations(&self, limits: &[Real], found: &[f64]) -> usize {
        let wrong = |(row, found): &(&Vec<Real>, &[f64])| {
            let (strength, (action, memory)) = (row[row.len() - 1], found.split_at(limits.len()));
            // No comparison with NaN is true.
            let within = action.iter().zip(limits).all(|(action, limit)| action.abs() <= *limit as f64);
            let valid = memory.iter().all(|x| x.abs() <= READING_BOUND as f64);
            let active = (LEAST_STRENGTH..=READING_BOUND).contains(&strength);
            !(within && valid && (active || found.iter().all(|x| *x == 0.0)))
        };
        self.readings.iter().zip(found.chunks_exact(found.len() / TICKS)).filter(wrong).count()
    }
}

/// Returns the largest difference between the actions of a sequence, relative to the limits.
fn off(a: &[f64], b: &[f64], limits: &[Real]) -> f64 {
    let each = a.len() / TICKS;
    let ticks = a.chunks_exact(each).zip(b.chunks_exact(each));
    let actions = ticks.flat_map(|(a, b)| a.iter().zip(b).zip(limits));
    actions.map(|((a, b), limit)| (a - b).abs() / *limit as f64).fold(0.0, f64::max)
}

#[test]
fn sequences_of_faults_keep_actions_and_memory_within_limits() {
    let (cases, began) = (cases(), Instant::now());
    let (mut count, mut violations, mut worst) = (0, 0, vec![0.0f64; Kind::ALL.len()]);
    for (name, case) in &cases {
        let (limits, each) = (case.problem.swarm.limits(), sequences().div_ceil(cases.len()));
        let (trial, mut programs) = (case.trial(10_000), [false, true].map(|plainly| case.program(plainly)));
        let text = c::source(&Registry::builtin(), &case.model, name).expect("a file");
        let folders = ["double", "float"].map(|real| Folder::new(&format!("{name}-sequences-{real}")));
        let [double, float] = [(&folders[0], "-O2"), (&folders[1], "-DCINOC_FLOAT")]
            .map(|(folder, flag)| compile(folder, "driver.c", &text, &["-O2", "-DWITH_MEMORY", flag]));
        for first in (0..each).step_by(TOGETHER) {
            let indices = first..each.min(first + TOGETHER);
            let drawn: Vec<_> = indices.map(|i| Sequence::drawn(case, &trial, &programs[0], i)).collect();
            let given: Vec<f64> = drawn.iter().flat_map(Sequence::rows).collect();
            let by_c = [&double, &float].map(|program| answer(program, &given));
            let size = by_c[0].len() / drawn.len();
            for (i, one) in drawn.iter().enumerate() {
                let [fused, plain] = programs.each_mut().map(|program| one.decide(program));
                let [double, float] = by_c.each_ref().map(|found| &found[i * size..(i + 1) * size]);
                let kind = Kind::ALL.iter().position(|kind| *kind == one.kind).expect("a kind");
                for found in [&fused, &plain, double, float] {
                    violations += one.violations(&limits, found);
                    worst[kind] = worst[kind].max(off(&plain, found, &limits));
                }
                count += 1;
            }
        }
        println!("{name}: {each} sequences, {:.0} s in all", began.elapsed().as_secs_f64());
    }
    println!("{count} sequences by the engine, fused and plain, and by C in double and float: {violations} violations");
    for (kind, worst) in Kind::ALL.iter().zip(worst) {
        println!("{kind:?}: actions differ by at most {worst:.1e} of the limit");
        // Beyond all usual magnitudes rounding differences are as large as actions.
        assert!(worst < CLOSE || !kind.mild(), "{kind:?}");
    }
    assert_eq!(violations, 0);
}
