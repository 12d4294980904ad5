//! Traces as figures take them.

use crate::draw::{Clock, Episode, Episode1d, Episode2d};
use anyhow::{Result, bail};
use cinoc::internal::geometry::Disc;
use cinoc::internal::trace::Trace;
use cinoc::{Problem, Real};

/// The figure of a trace and of the same instance without control.
pub fn episode(problem: &Problem, title: String, controlled: Trace, free: &Trace) -> Result<Episode> {
    Ok(match problem.stepper.grid().dimensions() {
        1 => Episode::Line(line(problem, title, controlled, free)),
        2 | 3 => Episode::Plane(plane(problem, title, controlled, free)),
        d => bail!("fields in {d} dimensions cannot be drawn; use --export"),
    })
}

/// Numbers in single precision.
fn plain(x: &[Real]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

/// The first field of states.
fn shown(problem: &Problem, z: &[Vec<Real>]) -> Vec<Vec<f32>> {
    z.iter().map(|z| plain(&z[..problem.stepper.grid().count()])).collect()
}

fn rows(x: &[Vec<Real>]) -> Vec<Vec<f32>> {
    x.iter().map(|row| plain(row)).collect()
}

/// The first two of every `d` numbers.
fn pairs(x: &[Vec<Real>], d: usize) -> Vec<Vec<[f32; 2]>> {
    x.iter().map(|row| row.chunks_exact(d).map(|p| [p[0] as f32, p[1] as f32]).collect()).collect()
}

/// Component `c` of every action of `k` components.
fn component(actions: &[Vec<Real>], k: usize, c: usize) -> Vec<Vec<f32>> {
    actions.iter().map(|a| a.iter().skip(c).step_by(k).map(|&x| x as f32).collect()).collect()
}

fn clock(problem: &Problem, trace: &Trace) -> Clock {
    let scored = problem.task.scored_at(problem.ticks);
    let marked = scored < problem.ticks && problem.task.square_in_score(scored, problem.ticks) == Some(1.0);
    let unit = problem.task.plot_labels().time;
    let (tick, begins) = (problem.tick_time() as f32, trace.begins as f32);
    Clock { tick, before: trace.before, scored: marked.then_some(trace.before + scored), unit, begins }
}

fn line(problem: &Problem, title: String, controlled: Trace, free: &Trace) -> Episode1d {
    let (grid, k) = (problem.stepper.grid(), problem.swarm.action_width());
    Episode1d {
        title,
        measure: problem.task.plot_labels(),
        length: grid.lengths[0] as f32,
        clock: clock(problem, &controlled),
        periodic: grid.periodic[0],
        target: plain(&controlled.target[..grid.count()]),
        uncontrolled: shown(problem, &free.z),
        controlled: shown(problem, &controlled.z),
        xi: rows(&controlled.xi),
        alive: controlled.alive,
        u: component(&controlled.action, k, 0),
        v: if k > 1 { component(&controlled.action, k, 1) } else { vec![Vec::new(); controlled.action.len()] },
    }
}

fn plane(problem: &Problem, title: String, controlled: Trace, free: &Trace) -> Episode2d {
    let (grid, k) = (problem.stepper.grid(), problem.swarm.action_width());
    let d = grid.dimensions();
    let velocity = |a: &Vec<Real>| a.chunks_exact(k).map(|a| [a[k - d] as f32, a[k - d + 1] as f32]).collect();
    let discs = |tick: usize| problem.task.obstacles(tick.saturating_sub(controlled.before)).into_iter();
    let disc = |d: Disc| [d.centre[0], d.centre[1], d.radius].map(|x| x as f32);
    let obstacles = (0..controlled.z.len()).map(|tick| discs(tick).map(disc).collect()).collect();
    // Agents that only have a velocity act by it: their intensity is its length.
    let speed = |a: &Vec<Real>| a.chunks_exact(k).map(|a| a[0].hypot(a[1]) as f32).collect();
    Episode2d {
        title,
        measure: problem.task.plot_labels(),
        lengths: [grid.lengths[0] as f32, grid.lengths[1] as f32],
        shape: [grid.nodes[0], grid.nodes[1]],
        depth: (d > 2).then(|| (grid.nodes[2], grid.positions(2)[grid.nodes[2] / 2] as f32)),
        periodic: [grid.periodic[0], grid.periodic[1]],
        clock: clock(problem, &controlled),
        target: plain(&controlled.target[..grid.count()]),
        uncontrolled: shown(problem, &free.z),
        controlled: shown(problem, &controlled.z),
        xi: pairs(&controlled.xi, d),
        alive: controlled.alive,
        u: if k == 2 { controlled.action.iter().map(speed).collect() } else { component(&controlled.action, k, 0) },
        v: if k > 1 { controlled.action.iter().map(velocity).collect() } else { vec![Vec::new(); controlled.action.len()] },
        obstacles,
    }
}
