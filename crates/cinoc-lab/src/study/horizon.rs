//! `horizon`: episodes ten times as long as the trained ones, to see if the field stays at its target.

use super::measure::Ready;
use super::{Bench, Case, Chart, Row, Scale, Study, Subject};
use cinoc::Error;
use cinoc::env::Env;
use cinoc::evaluate::SHARD;
use cinoc::policy::{Policy, ZeroControl};
use cinoc_tape::Params;

/// Length of an episode in trained ones.
const TIMES: usize = 10;

/// Points per trained episode.
const POINTS: usize = 4;

pub const STUDY: Study = Study {
    name: "horizon",
    about: "Episodes ten times as long as the trained ones: does the field stay at its target?",
    x: Scale::linear("time in trained episodes"),
    y: Scale::log("mean square of z − z*"),
    chart: Chart::Lines,
    effort: false,
    cases,
    measure,
};

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let ticks = subject.problem.ticks;
    // A quarter of the usual instances: an episode costs ten usual ones.
    let instances = Some((subject.problem.task.instances() / 4).max(8));
    let used = vec![format!("physics.ticks={}", TIMES * ticks)];
    let case = |times: f64| {
        let agents = subject.agents(times);
        Case { line: format!("{agents} agents"), x: 0.0, used: used.clone(), agents: Some(agents), instances, ..Case::default() }
    };
    Ok(if subject.allows(&used) { [0.5, 1.0, 2.0].map(case).into() } else { Vec::new() })
}

/// Measures the mean square of `z − z*` over time, under control; that of the uncontrolled instances is in the rows as
/// `uncontrolled`.
fn measure(bench: &Bench, case: &Case) -> Result<Vec<Row>, Error> {
    let ready = bench.ready(case)?;
    let (_, policy) = ready.model.build(bench.registry)?;
    let controlled = squares(bench, &ready, &*policy, &ready.model.params)?;
    let zero_control = ZeroControl { action_width: ready.problem.swarm.action_width() };
    let free = squares(bench, &ready, &zero_control, &Params::default())?;
    let (agents, instances) = (ready.request.agents, ready.request.instances);
    let row = |(point, (seen, free)): (usize, (Seen, Seen))| {
        let (x, value) = ((point + 1) as f64 / POINTS as f64, seen.square);
        let of = Row::of(case, agents, instances);
        Row { x, value, score: value, uncontrolled: free.square, diverged: seen.diverged, ..of }
    };
    Ok(controlled.into_iter().zip(free).enumerate().map(row).collect())
}

/// All instances at one point in time.
struct Seen {
    /// Mean over instances; infinite once one diverged.
    square: f64,
    diverged: usize,
}

/// Returns all points in time order.
fn squares(bench: &Bench, ready: &Ready, policy: &dyn Policy, params: &Params) -> Result<Vec<Seen>, Error> {
    let Ready { problem, request, .. } = ready;
    let count = TIMES * POINTS;
    let own = bench.threads.ranks().own(request.instances.div_ceil(SHARD));
    let parts = bench.threads.map(own.len(), |s| {
        let first = (own.start + s) * SHARD;
        let size = SHARD.min(request.instances - first);
        let mut env = Env::new(problem.clone(), size, request.agents, cinoc::internal::threads::Threads::single())?;
        let begins: Vec<_> = (0..size).map(|i| request.beginning(problem, first + i)).collect();
        env.reset(&vec![true; size], &mut |i| begins[i].clone());
        let mut sums = vec![[0.0; 2]; count];
        for (point, [square, diverged]) in sums.iter_mut().enumerate() {
            let until = (point + 1) * problem.ticks / count;
            env.run(policy, params, until - point * problem.ticks / count, &mut |_| {});
            for (i, begin) in begins.iter().enumerate() {
                match env.last_step().diverged[i] {
                    true => (*square, *diverged) = (f64::INFINITY, *diverged + 1.0),
                    false => *square += mean_square(env.field(i), &begin.target),
                }
            }
        }
        Ok::<Vec<f64>, Error>(sums.concat())
    });
    // In the order of shards, independent of threads and ranks: the order decides the last bits of a sum.
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let all = bench.threads.ranks().numbers(&parts.concat())?;
    let total = |at: usize| all.chunks_exact(2 * count).map(|part| part[at]).sum::<f64>();
    let seen =
        |point: usize| Seen { square: total(2 * point) / request.instances as f64, diverged: total(2 * point + 1) as usize };
    Ok((0..count).map(seen).collect())
}

fn mean_square(z: &[cinoc::Real], target: &[cinoc::Real]) -> f64 {
    z.iter().zip(target).map(|(z, target)| ((*z - *target) as f64).powi(2)).sum::<f64>() / z.len() as f64
}
