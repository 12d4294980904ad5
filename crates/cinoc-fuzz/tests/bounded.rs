//! A few thousand fixed inputs for each target, for the gate. `experiments/all.py fuzz` reads a million.

use cinoc_fuzz::target::all;
use cinoc_fuzz::watch::watch;

/// Inputs for all targets together.
const COUNT: u64 = 50_000;

fn bounded(name: &str) {
    let (target, share) = all().into_iter().find(|(target, _)| target.name() == name).expect("a target");
    let work = move || watch(&*target, 1, 0..COUNT * share / 1000, &mut |_| {});
    let thread = std::thread::Builder::new().name(format!("fuzz {name}"));
    let tally = std::thread::scope(|scope| thread.spawn_scoped(scope, work).expect("a thread").join().expect("an end"));
    println!("{name}: {tally:?}");
    assert_eq!(tally.failed(), 0, "{name}:\n{}", tally.failures.join("\n"));
    // A target that accepts everything, or nothing, finds nothing.
    assert!(tally.accepted > tally.inputs / 100, "{} of {} accepted", tally.accepted, tally.inputs);
    assert!(tally.refused > tally.inputs / 10 || name == "runs", "{} of {} refused", tally.refused, tally.inputs);
}

macro_rules! bounded {
    ($($name:ident),*) => { $(#[test] fn $name() { bounded(stringify!($name)); })* };
}

bounded!(settings, problems, models, checkpoints, caches, npy, png, runs, studies, optima);

#[test]
fn every_target_is_here() {
    assert_eq!(all().len(), 10);
    assert_eq!(all().iter().map(|(_, share)| share).sum::<u64>(), 1000);
}
