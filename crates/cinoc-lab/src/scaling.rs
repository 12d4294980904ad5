//! Scaling of time and memory of one tick with the number of agents, the grid and both, as printed by `cinoc scale`.
//!
//! ```
//! use cinoc_lab::scaling::LinearFit;
//!
//! // Milliseconds of a tick with one, two and four thousand agents.
//! let fit = LinearFit::through(&[(1e3, 3.0), (2e3, 5.0), (4e3, 9.0)]);
//! assert!((fit.fixed - 1.0).abs() < 1e-9 && (fit.at(8e3) - 17.0).abs() < 1e-9);
//! ```

use cinoc::env::Env;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::threads::Threads;
use cinoc::rollout::InitialCondition;
use cinoc::{Config, Error, Real, Registry};
use cinoc_tape::profile;
use std::time::{Duration, Instant};

/// Ticks of a timed episode. The first of each is recorded and not timed; the others are representative of a long
/// episode.
const EPISODE: usize = 5;

/// Minimum time and number of ticks for each size: many where they are short, few where they are long.
const LEAST: (Duration, usize) = (Duration::from_millis(700), 16);

/// Maximum time for ticks that take seconds; at least one episode is timed.
const MOST: Duration = Duration::from_secs(20);

/// Timings of single ticks of one instance.
pub struct Ticks {
    /// Milliseconds of each tick.
    pub ms: Vec<f64>,
    /// Bytes of the environment: the episode, the recorded tick, working space.
    pub bytes: usize,
    /// Milliseconds of a tick by operation, the longest first; of the thread that waits for the others.
    pub operations: Vec<(&'static str, f64)>,
}

/// Times single ticks (observe, act, push, step, move, cost; no gradient) of one instance, after a warm-up. Several
/// threads work inside of the instance.
///
/// Agents start at random positions: in lattice order, neighbours in memory would be neighbours in space and cheaper
/// than later in an episode.
pub fn ticks(registry: &Registry, config: &Config, threads: Threads) -> Result<Ticks, Error> {
    let parts = registry.parts(config)?.with_ticks(EPISODE);
    let (problem, policy) = (&parts.problem, &*parts.policy);
    let params = policy.init(&mut Rng::new(0, Stream::Init, 0));
    let (agents, lengths) = (problem.agents, &problem.stepper.grid().lengths);
    let mut beginning = InitialCondition::drawn(problem, agents, 0, Stream::Test, 0);
    let mut rng = Rng::new(0, Stream::Test, 1);
    let place = |(i, place): (usize, &mut Real)| *place = rng.uniform(0.0, lengths[i % lengths.len()] as f64) as Real;
    beginning.positions.iter_mut().enumerate().for_each(place);
    problem.swarm.settle(&mut beginning.positions);
    let mut env = Env::new(problem.clone(), 1, agents, threads)?;
    let episode = |env: &mut Env, count: usize, times: &mut Vec<f64>| {
        env.reset(&[true], &mut |_| beginning.clone());
        profile::enable(true);
        let mut since = Clock::start();
        env.run(policy, &params, count, &mut |env| {
            if env.ticks_elapsed(0) > 1 {
                times.push(since.milliseconds());
            }
            since = Clock::start();
        });
        profile::enable(false);
        match env.last_step().diverged[0] {
            false => Ok(()),
            true => {
                let expected = format!("smaller: tick {} diverged", env.ticks_elapsed(0));
                Err(Error::bad("the number of agents", agents.to_string(), expected))
            }
        }
    };
    episode(&mut env, 2, &mut Vec::new())?;
    env.threads().broadcast(profile::take);
    let (mut ms, mut episodes, started) = (Vec::new(), 0, Instant::now());
    // Long ticks are timed less often: they vary less.
    while started.elapsed() < LEAST.0 || (ms.len() < LEAST.1 && started.elapsed() < MOST) {
        episode(&mut env, EPISODE, &mut ms)?;
        episodes += 1;
    }
    let mut spent = std::collections::BTreeMap::new();
    for (name, time) in env.threads().broadcast(profile::take).into_iter().flatten() {
        *spent.entry(name).or_insert(0.0) += time.forward.time.as_secs_f64() * 1e3 / (episodes * EPISODE) as f64;
    }
    let mut operations: Vec<_> = spent.into_iter().collect();
    operations.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(Ticks { ms, bytes: env.bytes(), operations })
}

/// Measures the working time of this thread, without the time it waits for a processor (on Linux; elsewhere wall time).
struct Clock {
    since: Instant,
    waited: Duration,
}

impl Clock {
    fn start() -> Self {
        // A preemption between these two lines counts: better too much than too little.
        let since = Instant::now();
        Self { since, waited: waited() }
    }

    fn milliseconds(&self) -> f64 {
        let waited = waited() - self.waited;
        self.since.elapsed().saturating_sub(waited).as_secs_f64() * 1e3
    }
}

/// Returns the time that this thread was ready to run but did not.
fn waited() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split_whitespace().nth(1).and_then(|text| text.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// A linear model `time = fixed + per·work`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFit {
    /// Constant part.
    pub fixed: f64,
    /// Time per unit of work.
    pub per: f64,
    /// Largest relative residual of a point.
    pub worst: f64,
}

impl LinearFit {
    /// Fits points `(work, time)` by least squares of relative errors; neither part is negative.
    pub fn through(points: &[(f64, f64)]) -> Self {
        // Divided by its time, each point demands fixed·p + per·q = 1.
        let sums = points
            .iter()
            .map(|(work, time)| (1.0 / time, work / time))
            .fold([0.0; 5], |s, (p, q)| [s[0] + p * p, s[1] + p * q, s[2] + q * q, s[3] + p, s[4] + q]);
        let [pp, pq, qq, p, q] = sums;
        let determinant = pp * qq - pq * pq;
        let both = ((p * qq - q * pq) / determinant, (q * pp - p * pq) / determinant);
        let (fixed, per) = match both {
            (fixed, per) if fixed >= 0.0 && per >= 0.0 => both,
            (fixed, _) if fixed < 0.0 => (0.0, q / qq),
            _ => (p / pp, 0.0),
        };
        let line = Self { fixed, per, worst: 0.0 };
        let away = |(work, time): &(f64, f64)| (line.at(*work) / time - 1.0).abs();
        Self { worst: points.iter().map(away).fold(0.0, f64::max), ..line }
    }

    /// Returns the predicted time of an amount of work.
    pub fn at(&self, work: f64) -> f64 {
        self.fixed + self.per * work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc::problem::Preset;
    use cinoc::settings::Overlay;

    #[test]
    fn lines_are_found_and_their_errors_told() {
        let exact: Vec<(f64, f64)> = [1.0, 10.0, 1e4].iter().map(|work| (*work, 3.0 + 0.5 * work)).collect();
        let line = LinearFit::through(&exact);
        assert!((line.fixed - 3.0).abs() < 1e-9 && (line.per - 0.5).abs() < 1e-9 && line.worst < 1e-9, "{line:?}");
        let quadratic: Vec<(f64, f64)> = [1.0, 10.0, 1e2, 1e3].iter().map(|work| (*work, work * work)).collect();
        assert!(LinearFit::through(&quadratic).worst > 0.5);
        // Decreasing times: no meaningful line, but a valid answer.
        let line = LinearFit::through(&[(1.0, 2.0), (2.0, 1.0)]);
        assert!(line.per == 0.0 && line.fixed > 0.0, "{line:?}");
        assert_eq!(LinearFit::through(&[(2.0, 1.0), (4.0, 4.0)]).fixed, 0.0);
    }

    #[test]
    fn an_agent_touches_as_many_cells_on_every_grid() {
        let registry = Registry::builtin();
        let tuned = |name| registry.config(name, Preset::Tuned, &Overlay::default()).unwrap();
        let config = tuned("heat2d");
        let other = registry.resize(&config, 64, 125).unwrap();
        let close = |key: &str, expected: f64| {
            let found = other.get(key).and_then(|x| x.as_float()).unwrap();
            assert!((found - expected).abs() < 1e-12, "{key}: {found} not {expected}");
        };
        close("swarm.sigma", 0.15 / 4.0);
        close("observe.window", 0.5 / 4.0);
        close("cost.radius", 0.04);
        let tiny = registry.resize(&config, 3, 8).unwrap();
        let found = ticks(&registry, &tiny, Threads::new(2).unwrap()).unwrap();
        assert!(found.ms.iter().all(|ms| *ms > 0.0) && found.bytes > 0 && found.operations.len() > 5);
        let large = registry.enlarge(&config, 8).unwrap();
        let numbers = ["physics.nodes", "swarm.agents"].map(|key| large.get(key).and_then(|x| x.as_integer()).unwrap());
        assert_eq!((numbers, large.get("physics.length").and_then(|x| x.as_float())), ([249, 1024], Some(8.0)));
        let large = registry.enlarge(&tuned("ks2d"), 8).unwrap();
        let numbers = ["physics.nodes", "swarm.agents"].map(|key| large.get(key).and_then(|x| x.as_integer()).unwrap());
        assert_eq!((numbers, large.get("physics.length").and_then(|x| x.as_float())), ([512, 6400], Some(256.0)));
        assert!(registry.enlarge(&config, usize::MAX).is_err());
        let error = registry.enlarge(&tuned("heat1d"), 2).unwrap_err().to_string();
        assert!(error.contains("ks2d"), "{error}");
        let error = registry.resize(&tuned("heat1d"), 8, 32).unwrap_err().to_string();
        assert!(error.contains("heat2d"), "{error}");
    }
}
