//! Environment steps per second without Python: actions in, costs and observations out, finished episodes restart.
//! `peers/compare_env` compares them with the same steps through Gymnasium; prints one line of JSON.
//!
//! Run it with `cargo run --release -p cinoc --example env_steps [PROBLEM] [ENVIRONMENTS] [THREADS] [SECONDS]`.

use cinoc::env::Env;
use cinoc::internal::random::Stream;
use cinoc::internal::threads::Threads;
use cinoc::problem::Preset;
use cinoc::rollout::InitialCondition;
use cinoc::settings::Overlay;
use cinoc::{Error, Problem, Real, Registry};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

/// Sets of actions that are used in turn.
const SETS: usize = 16;
/// Steps whose costs are printed, so that contestants can be seen to compute the same.
const COMPARED: usize = 5;
/// Episodes are measured whole if one takes at most this multiple of the requested seconds.
const PATIENCE: f64 = 3.0;

/// Returns pseudo-random numbers in [-1, 1) that are the same in every language.
fn scattered(count: usize) -> Vec<Real> {
    let mix = |k: u32| {
        let x = k.wrapping_add(1).wrapping_mul(0x9e37_79b9);
        let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
        let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
        x ^ (x >> 16)
    };
    (0..count).map(|k| ((mix(k as u32) >> 8) as f64 / f64::from(1 << 23) - 1.0) as Real).collect()
}

/// A vector environment as in Gymnasium.
struct Stepping {
    problem: Arc<Problem>,
    env: Env,
    limits: Vec<Real>,
    actions: Vec<Real>,
    physical: Vec<Real>,
    seen: Vec<Real>,
    rewards: Vec<f64>,
    /// Episodes that ended in the step before.
    over: Vec<bool>,
    /// Next instance of each episode.
    next: Vec<usize>,
    made: usize,
}

impl Stepping {
    fn new(problem: Arc<Problem>, instances: usize, threads: usize) -> Result<Self, Error> {
        let env = Env::new(problem.clone(), instances, problem.agents, Threads::new(threads)?)?;
        Ok(Self {
            limits: problem.swarm.limits(),
            actions: scattered(SETS * env.action_len()),
            physical: vec![0.0; env.action_len()],
            seen: vec![0.0; instances * env.agents() * env.observation_len()],
            rewards: vec![0.0; instances],
            over: vec![false; instances],
            next: (0..instances).map(|i| i << 32).collect(),
            made: 0,
            problem,
            env,
        })
    }

    fn reset(&mut self, which: &[bool]) {
        let chosen: Vec<usize> = (0..which.len()).filter(|&i| which[i]).collect();
        let (problem, next) = (&*self.problem, &self.next);
        let drawn = |k: usize| InitialCondition::drawn(problem, problem.agents, 0, Stream::Train, next[chosen[k]]);
        let mut beginnings = self.env.threads().map(chosen.len(), drawn).into_iter();
        self.env.reset(which, &mut |_| beginnings.next().expect("one for each mark"));
        for &i in &chosen {
            (self.next[i], self.over[i], self.rewards[i]) = (self.next[i] + 1, false, 0.0);
        }
    }

    fn begin(&mut self) {
        self.reset(&vec![true; self.over.len()]);
        self.env.observe(&mut self.seen);
    }

    fn step(&mut self) {
        let (k, count) = (self.limits.len(), self.physical.len());
        let actions = &self.actions[self.made % SETS * count..][..count];
        for (to, from) in self.physical.chunks_exact_mut(k).zip(actions.chunks_exact(k)) {
            (0..k).for_each(|c| to[c] = from[c].clamp(-1.0, 1.0) * self.limits[c]);
        }
        let step = self.env.step_and_observe(&self.physical, &mut self.seen);
        self.rewards.iter_mut().zip(step.cost).for_each(|(reward, cost)| *reward = -cost);
        let before = std::mem::replace(&mut self.over, step.done.to_vec());
        if before.iter().any(|over| *over) {
            self.reset(&before);
            self.env.observe(&mut self.seen);
        }
        self.made += 1;
    }
}

fn argument<T: FromStr>(number: usize, otherwise: T) -> T {
    let Some(text) = std::env::args().nth(number) else { return otherwise };
    text.parse().unwrap_or_else(|_| panic!("{text} is no value of argument {number}"))
}

fn main() -> Result<(), Error> {
    let name = argument(1, "heat1d".to_string());
    let (instances, threads, seconds) = (argument(2, 16), argument(3, 1), argument(4, 0.5));
    let registry = Registry::builtin();
    let problem = Arc::new(registry.build(&registry.config(&name, Preset::Paper, &Overlay::default())?)?);
    let mut stepping = Stepping::new(problem.clone(), instances, threads)?;
    stepping.begin();
    let mut seconds_of = |times: usize| {
        let since = Instant::now();
        (0..times).for_each(|_| stepping.step());
        (since.elapsed().as_secs_f64(), stepping.rewards.iter().sum::<f64>() / instances as f64)
    };
    let (times, rewards): (Vec<f64>, Vec<f64>) = (0..COMPARED).map(|_| seconds_of(1)).unzip();
    let each = times[1..].iter().copied().fold(f64::INFINITY, f64::min);
    // The call after the last tick begins the next episode.
    let calls = problem.ticks + 1;
    let whole = calls as f64 * each <= PATIENCE * seconds;
    if whole {
        stepping.begin();
    }
    let (mut made, mut episodes, since) = (0, 0, Instant::now());
    while made < 3 || since.elapsed().as_secs_f64() < seconds {
        (0..if whole { calls } else { 1 }).for_each(|_| stepping.step());
        made += if whole { problem.ticks } else { 1 };
        episodes += usize::from(whole);
    }
    let taken = since.elapsed().as_secs_f64();
    let result = serde_json::json!({
        "problem": name, "envs": instances, "agents": problem.agents, "ticks": problem.ticks, "threads": threads,
        "steps": made, "episodes": episodes, "seconds": taken, "ms_per_step": 1e3 * taken / made as f64, "rewards": rewards,
    });
    println!("{result}");
    Ok(())
}
