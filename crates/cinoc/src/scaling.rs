//! How the time of one tick grows with the number of agents and with the grid: what `cinoc scale` prints.

use crate::random::{Rng, Stream};
use crate::rollout::{Outcome, Rollout};
use crate::task::Use;
use crate::{Config, Error, Problem, Real};
use std::time::{Duration, Instant};

/// Ticks of the episodes that are timed. The first of each is recorded and not timed; the others are like all ticks of a long episode.
const EPISODE: usize = 5;

/// Each size is timed for at least so long and so many ticks: many where they are short, few where they are long.
const LEAST: (Duration, usize) = (Duration::from_millis(700), 16);

/// The settings of a problem in the plane for another number of agents and `nodes × nodes` nodes, so that an agent costs what it cost.
///
/// The width of a push and the window of an agent keep their size in cells: fixed in space, they would touch ever more nodes of a finer grid.
/// Agents mind each other within a distance ∝ 1/√agents: fixed, each would have ever more neighbours.
pub fn resized(config: &Config, agents: usize, nodes: usize) -> Result<Config, Error> {
    let mut config = config.clone();
    let grid = Problem::new(config.clone())?.stepper.grid().clone();
    if grid.dimensions() != 2 {
        let expected = "a problem on a rectangle, like heat2d".into();
        return Err(Error::BadValue { key: "the problem".into(), value: config.problem, expected });
    }
    let mut other = grid.clone();
    other.nodes = vec![nodes; 2];
    let finer = other.spacing(0) / grid.spacing(0);
    config.swarm.sigma *= finer;
    config.observe.window *= finer;
    if let Some(radius) = config.cost.get_mut("radius") {
        *radius *= (config.swarm.agents as f64 / agents as f64).sqrt();
    }
    config.swarm.agents = agents;
    config.physics.insert("nodes".into(), nodes as f64);
    config.physics.insert("ticks".into(), EPISODE as f64);
    Ok(config)
}

/// Milliseconds of single ticks (observe, act, push, step, move, cost; no gradient) of one instance on one thread, after a warm-up.
///
/// Agents begin at random places: in the order of a lattice, neighbours in memory would be neighbours in space and cheaper than after a while.
pub fn tick_times(config: &Config) -> Result<Vec<f64>, Error> {
    let problem = Problem::new(config.clone())?;
    let policy = problem.policy()?;
    let params = policy.init(&mut Rng::new(0, Stream::Init, 0));
    let instance = problem.task.sample(&mut Rng::new(0, Stream::Test, 0), Use::Test);
    let (agents, lengths) = (config.swarm.agents, &problem.stepper.grid().lengths);
    let mut rng = Rng::new(0, Stream::Test, 1);
    let place = |i: usize| rng.uniform(0.0, lengths[i % lengths.len()] as f64) as Real;
    let mut xi: Vec<Real> = (0..agents * lengths.len()).map(place).collect();
    problem.swarm.settle(&mut xi);
    let mut rollout = Rollout::new(problem.ticks, 1, false, agents);
    rollout.batch.push(&instance.start, &instance.target, &xi);
    let mut episode = |times: &mut Vec<f64>| {
        let mut since = Clock::start();
        let outcome = rollout.forward(&problem, &*policy, &params, false, &mut |scene| {
            if scene.tick > 1 {
                times.push(since.milliseconds());
            }
            since = Clock::start();
        });
        match outcome {
            Outcome::Finished => Ok(()),
            Outcome::Diverged { tick } => {
                let key = "the number of agents".to_owned();
                Err(Error::BadValue { key, value: agents.to_string(), expected: format!("smaller: tick {tick} diverged") })
            }
        }
    };
    episode(&mut Vec::new())?;
    let (mut times, started) = (Vec::new(), Instant::now());
    while started.elapsed() < LEAST.0 || times.len() < LEAST.1 {
        episode(&mut times)?;
    }
    Ok(times)
}

/// Measures how long this thread works, without the time it waits for a processor that others use (on Linux; elsewhere all time counts).
struct Clock {
    since: Instant,
    waited: Duration,
}

impl Clock {
    fn start() -> Self {
        // If others come in between these two, their time counts: better too much than too little.
        let since = Instant::now();
        Self { since, waited: waited() }
    }

    fn milliseconds(&self) -> f64 {
        let waited = waited() - self.waited;
        self.since.elapsed().saturating_sub(waited).as_secs_f64() * 1e3
    }
}

/// How long this thread has been ready to run but did not.
fn waited() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split_whitespace().nth(1).and_then(|text| text.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// `time = fixed + per·work`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// What does not grow.
    pub fixed: f64,
    /// Time per unit of work.
    pub per: f64,
    /// The largest relative distance of a point from the line.
    pub worst: f64,
}

impl Line {
    /// The line through points `(work, time)` with the least sum of squared relative errors; neither part is negative.
    pub fn through(points: &[(f64, f64)]) -> Self {
        // Divided by its time, each point asks for fixed·p + per·q = 1.
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

    /// The time of so much work.
    pub fn at(&self, work: f64) -> f64 {
        self.fixed + self.per * work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Preset, defaults};

    #[test]
    fn lines_are_found_and_their_errors_told() {
        let exact: Vec<(f64, f64)> = [1.0, 10.0, 1e4].iter().map(|work| (*work, 3.0 + 0.5 * work)).collect();
        let line = Line::through(&exact);
        assert!((line.fixed - 3.0).abs() < 1e-9 && (line.per - 0.5).abs() < 1e-9 && line.worst < 1e-9, "{line:?}");
        let quadratic: Vec<(f64, f64)> = [1.0, 10.0, 1e2, 1e3].iter().map(|work| (*work, work * work)).collect();
        assert!(Line::through(&quadratic).worst > 0.5);
        // Falling times: no line that could be meant, but a sane answer.
        let line = Line::through(&[(1.0, 2.0), (2.0, 1.0)]);
        assert!(line.per == 0.0 && line.fixed > 0.0, "{line:?}");
        assert_eq!(Line::through(&[(2.0, 1.0), (4.0, 4.0)]).fixed, 0.0);
    }

    #[test]
    fn an_agent_touches_as_many_cells_on_every_grid() {
        let config = defaults("heat2d", Preset::Tuned).unwrap();
        let other = resized(&config, 64, 125).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} not {b}");
        close(other.swarm.sigma, 0.15 / 4.0);
        close(other.observe.window, 11.0 / 124.0);
        close(other.cost["radius"], 0.04);
        assert!(tick_times(&resized(&config, 3, 8).unwrap()).unwrap().iter().all(|ms| *ms > 0.0));
        let error = resized(&defaults("heat1d", Preset::Tuned).unwrap(), 8, 32).unwrap_err().to_string();
        assert!(error.contains("heat2d"), "{error}");
    }
}
