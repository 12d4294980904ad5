//! `cinoc-fuzz COUNT SEED`: COUNT inputs for all targets together, one JSON line per target. `cinoc-fuzz COUNT SEED
//! TARGET`: COUNT inputs for one. `cinoc-fuzz 1 SEED TARGET NUMBER`: a single input again, also written to a file.

use cinoc_fuzz::target::all;
use cinoc_fuzz::watch::{Tally, watch};
use cinoc_fuzz::{Target, input};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "cinoc-fuzz COUNT SEED [TARGET [NUMBER]]";

fn main() -> ExitCode {
    // On a separate thread: panics on threads called fuzz are counted, and its stack has the default size.
    let work = std::thread::Builder::new().name("fuzz".into()).spawn(run).expect("a thread");
    match work.join() {
        Ok(Ok(0)) => ExitCode::SUCCESS,
        Ok(Ok(failed)) => {
            eprintln!("cinoc-fuzz: {failed} inputs failed; make one again with cinoc-fuzz 1 SEED TARGET NUMBER");
            ExitCode::FAILURE
        }
        Ok(Err(why)) => {
            eprintln!("cinoc-fuzz: {why}");
            ExitCode::FAILURE
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// Runs the command line; returns the number of failed inputs.
fn run() -> Result<u64, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let (Some(count), Some(seed)) = (number(0), number(1)) else {
        return Err(format!("give the number of inputs and a seed: {USAGE}"));
    };
    let mut targets = all();
    if let Some(name) = arguments.get(2) {
        let known: Vec<&str> = targets.iter().map(|(target, _)| target.name()).collect();
        let wrong = format!("there is no target {name:?}; choose one of: {}", known.join(", "));
        targets.retain(|(target, _)| target.name() == name);
        targets.first().ok_or(wrong)?;
        targets[0].1 = 1000;
    }
    let mut failed = 0;
    for (target, share) in &targets {
        let range = match number(3) {
            Some(one) => {
                let path = format!("{}-{seed}-{one}.bin", target.name());
                std::fs::write(&path, input(&**target, seed, one)).map_err(|error| format!("{path}: {error}"))?;
                eprintln!("cinoc-fuzz: the input is in {path}");
                one..one + 1
            }
            None => 0..(count * share).div_ceil(1000),
        };
        let tally = watch(&**target, seed, range, &mut screen(&**target, count * share / 1000));
        println!("{}", line(&**target, seed, &tally));
        tally.failures.iter().for_each(|failure| eprintln!("cinoc-fuzz: {}, input {failure}", target.name()));
        failed += tally.failed();
    }
    Ok(failed)
}

/// Prints progress now and then.
fn screen(target: &dyn Target, count: u64) -> impl FnMut(u64) {
    let (name, started, mut last) = (target.name(), Instant::now(), Instant::now());
    move |number| {
        if last.elapsed() > Duration::from_secs(5) {
            last = Instant::now();
            let done = number + 1;
            let left = started.elapsed().as_secs_f64() / done as f64 * count.saturating_sub(done) as f64;
            eprintln!("{name}: {done} of {count} inputs, {left:.0} s to go");
        }
    }
}

fn line(target: &dyn Target, seed: u64, tally: &Tally) -> serde_json::Value {
    let Tally { inputs, accepted, refused, panics, hangs, greedy, wrong, slowest, largest, longest, seconds, .. } = tally;
    let allowance = target.allowance();
    serde_json::json!({
        "target": target.name(), "inputs": inputs, "seed": seed, "accepted": accepted, "refused": refused, "panics": panics, "hangs": hangs,
        "too_much_memory": greedy, "wrong_answers": wrong, "slowest_seconds": (slowest.0 * 1e6).round() / 1e6, "slowest_input": slowest.1,
        "largest_allocation_bytes": largest.0, "largest_input": largest.1, "longest_file_bytes": longest,
        "allowed_bytes": format!("{} + {} per byte", allowance.fixed, allowance.per_byte), "seconds": (seconds * 10.0).round() / 10.0,
    })
}
